//===- Linalg.cpp - Structured operations on fragments --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A structured operation is run for the elements that a thread holds of one of
// its tensors, which has all dimensions of the loops: a result, or for a
// reduction an input. All others must lie over threads as that tensor does,
// without the dimensions that they lack; then no element comes from elsewhere,
// and a broadcast is the choice of a register.
//
// A reduction goes over the registers of a thread, as a tree of neighbours,
// then over the lanes and the warps that hold further elements
// (Reductions.cpp).
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;

/// The loop of each dimension of an operand; nothing when the map does more
/// than to choose loops.
static std::optional<SmallVector<unsigned>> loopsOf(AffineMap map) {
  SmallVector<unsigned> loops;
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim || llvm::is_contained(loops, dim.getPosition()))
      return std::nullopt;
    loops.push_back(dim.getPosition());
  }
  return loops;
}

/// Whether `part`, whose dimensions are `loops`, lies over threads as `whole`
/// does, whose dimensions are `wholeLoops`.
static bool liesAs(const FragmentLayout &part, ArrayRef<unsigned> loops,
                   const FragmentLayout &whole, ArrayRef<unsigned> wholeLoops) {
  using Base = FragmentLayout::Base;
  auto agree = [&](ArrayRef<Base> mine, ArrayRef<Base> bases) {
    for (size_t bit = 0; bit < std::max(mine.size(), bases.size()); ++bit) {
      Base have = bit < mine.size() ? mine[bit] : Base();
      Base want = bit < bases.size() ? bases[bit] : Base();
      if (!want.isZero()) {
        const unsigned *at = llvm::find(loops, wholeLoops[want.dim]);
        want = at == loops.end()
                   ? Base()
                   : Base{uint32_t(at - loops.begin()), want.step};
      }
      if (have != want)
        return false;
    }
    return true;
  };
  return agree(part.laneBases(), whole.laneBases()) &&
         agree(part.warpBases(), whole.warpBases()) &&
         agree(part.groupBases(), whole.groupBases());
}

namespace {

/// Lowers one operation.
class LinalgLowering {
public:
  LinalgLowering(FragmentLowering &lowering, linalg::LinalgOp op)
      : lowering(lowering), op(op) {}

  LogicalResult lower();

private:
  struct Operand {
    const Fragment *fragment = nullptr; ///< null: a scalar
    Value scalar;
    SmallVector<unsigned> loops;
  };

  LogicalResult collect();
  LogicalResult chooseSpace();
  LogicalResult findCombiners();
  /// The register of a tensor that holds the element of register `number` of
  /// the tensor that is run over.
  FailureOr<unsigned> registerOf(const FragmentLayout &layout,
                                 ArrayRef<unsigned> loops, unsigned number);
  LogicalResult evaluate();
  Value indexValue(unsigned loop, unsigned number);
  /// How a scalar of the body depends on the loop `loop`: it grows by `factor`
  /// with each step and is a multiple of `multiple` where the loop is one of
  /// `begin`. Nothing when it depends on it in another way.
  struct Growth {
    int64_t factor = 0;
    uint64_t multiple = 1;
  };
  std::optional<Growth> growthOf(Value value, unsigned loop, uint64_t begin);
  unsigned gatherWidth(tensor::ExtractOp extract, const Memory &from);
  LogicalResult gather(tensor::ExtractOp extract,
                       function_ref<SmallVector<Value>(Value)> valuesOf,
                       SmallVector<Value> &elements);
  LogicalResult finish();

  FragmentLowering &lowering;
  linalg::LinalgOp op;
  SmallVector<Operand> inputs, outputs;
  std::vector<FragmentLayout> results;
  /// The tensor that is run over.
  std::optional<FragmentLayout> space;
  SmallVector<unsigned> spaceLoops;
  SmallVector<Combiner> combiners; ///< of reductions, one a result
  /// For every result and register that is run over, what the body yields, or
  /// what its combiner adds.
  SmallVector<SmallVector<Value>> yielded;
  llvm::DenseMap<unsigned, Value> threadIndices;
};

} // namespace

LogicalResult LinalgLowering::collect() {
  if (op.hasDynamicShape())
    return op.emitOpError("has no lowering to fragments: its shape is not "
                          "static");
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<SmallVector<unsigned>> loops =
        loopsOf(op.getMatchingIndexingMap(&operand));
    if (!loops)
      return op.emitOpError("has no lowering to fragments: operand ")
             << operand.getOperandNumber()
             << " is not read by a projected permutation";
    Operand entry;
    entry.loops = *loops;
    bool isInit = op.isDpsInit(&operand);
    if (!isa<RankedTensorType>(operand.get().getType())) {
      entry.scalar = lowering.scalar(operand.get());
    } else {
      entry.fragment = lowering.fragment(operand.get());
      if (!entry.fragment)
        return op.emitOpError("has no lowering to fragments: operand ")
               << operand.getOperandNumber() << " of type "
               << operand.get().getType() << " is not held in registers";
    }
    (isInit ? outputs : inputs).push_back(std::move(entry));
  }
  for (Type type : op->getResultTypes()) {
    std::optional<FragmentLayout> layout = layoutOf(type);
    if (!layout)
      return op.emitOpError("has no lowering to fragments: a result of type ")
             << type << " is not held in registers";
    results.push_back(*layout);
  }
  return success();
}

LogicalResult LinalgLowering::chooseSpace() {
  unsigned loops = op.getNumLoops();
  auto take = [&](const FragmentLayout &layout, ArrayRef<unsigned> order) {
    space = layout;
    spaceLoops.assign(order.begin(), order.end());
  };
  if (op.getNumReductionLoops() == 0) {
    for (auto [layout, output] : llvm::zip(results, outputs))
      if (!space && output.loops.size() == loops)
        take(layout, output.loops);
  } else {
    if (OpOperand *reduced = reducedOperand(op)) {
      const Operand &input = inputs[reduced->getOperandNumber()];
      take(input.fragment->layout, input.loops);
    }
  }
  if (!space)
    return op.emitOpError(
        "has no lowering to fragments: no tensor has all its loops");
  // An operand that no operation of the body reads may lie as it likes.
  for (auto [i, operand] : llvm::enumerate(op->getOpOperands())) {
    const Operand &entry =
        i < inputs.size() ? inputs[i] : outputs[i - inputs.size()];
    if (!entry.fragment || op.getMatchingBlockArgument(&operand).use_empty())
      continue;
    if (!liesAs(entry.fragment->layout, entry.loops, *space, spaceLoops))
      return op.emitOpError("operand ")
             << i << " of type " << operand.get().getType()
             << " lies over other threads than the elements it meets";
  }
  for (auto [i, layout] : llvm::enumerate(results))
    if (!liesAs(layout, outputs[i].loops, *space, spaceLoops))
      return op.emitOpError("result ")
             << i << " lies over other threads than the elements it is made of";
  return success();
}

FailureOr<unsigned> LinalgLowering::registerOf(const FragmentLayout &layout,
                                               ArrayRef<unsigned> loops,
                                               unsigned number) {
  FragmentLayout::Coordinates from = space->coordinates(number, 0);
  SmallVector<int64_t> position(op.getNumLoops(), 0), projected;
  for (auto [dim, loop] : llvm::enumerate(spaceLoops))
    position[loop] = from[dim];
  for (unsigned loop : loops)
    projected.push_back(position[loop]);
  FragmentLayout::Place place = layout.place(projected);
  if (place.lane || place.warp || place.group)
    return op.emitOpError("meets an element that another thread holds");
  return place.reg;
}

Value LinalgLowering::indexValue(unsigned loop, unsigned number) {
  unsigned dim = unsigned(llvm::find(spaceLoops, loop) - spaceLoops.begin());
  Value &thread = threadIndices[loop];
  OpBuilder &builder = lowering.builder;
  if (!thread)
    thread = arith::IndexCastUIOp::create(
        builder, lowering.loc, builder.getIndexType(),
        lowering.threadCoordinate(*space, dim));
  int64_t own = space->coordinates(number, 0)[dim];
  return own ? lowering.add(thread, lowering.index(own)) : thread;
}

std::optional<LinalgLowering::Growth>
LinalgLowering::growthOf(Value value, unsigned loop, uint64_t begin) {
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == op.getBlock()) {
    AffineMap map =
        op.getMatchingIndexingMap(op.getMatchingOpOperand(argument));
    if (map.isFunctionOfDim(loop))
      return std::nullopt;
    return Growth{};
  }
  Operation *definition = value.getDefiningOp();
  if (!definition || definition->getBlock() != op.getBlock())
    return Growth{0, knownMultiple(OpFoldResult(lowering.scalar(value)))};
  if (auto index = dyn_cast<linalg::IndexOp>(definition))
    return index.getDim() == loop ? Growth{1, begin} : Growth{};
  SmallVector<Growth> operands;
  for (Value operand : definition->getOperands()) {
    if (isa<RankedTensorType>(operand.getType()))
      continue;
    std::optional<Growth> growth = growthOf(operand, loop, begin);
    if (!growth)
      return std::nullopt;
    operands.push_back(*growth);
  }
  if (isa<arith::AddIOp>(definition))
    return Growth{operands[0].factor + operands[1].factor,
                  std::gcd(operands[0].multiple, operands[1].multiple)};
  if (llvm::any_of(operands, [](const Growth &g) { return g.factor != 0; }))
    return std::nullopt;
  return Growth{};
}

/// How many elements that a thread holds side by side a gather finds side by
/// side in memory, aligned to their size.
unsigned LinalgLowering::gatherWidth(tensor::ExtractOp extract,
                                     const Memory &from) {
  unsigned rank = space->rank(), dims = from.strides.size();
  if (rank == 0 || dims < (from.table ? 2u : 1u) || from.split >= 0 ||
      getConstantIntValue(from.strides.back()) != 1)
    return 1;
  uint64_t bytes = llvm::divideCeil(
      from.element.isIntOrFloat() ? from.element.getIntOrFloatBitWidth() : 64,
      8);
  if (from.element.isInteger(1) || bytes > 8)
    return 1;
  unsigned loop = spaceLoops.back();
  unsigned width = std::min<uint64_t>(space->contiguous(rank - 1), 16 / bytes);
  uint64_t common = from.alignment;
  for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
    std::optional<Growth> growth = growthOf(index, loop, width);
    bool last = dim + 1 == dims;
    if (!growth || growth->factor != (last ? 1 : 0))
      return 1;
    common =
        std::gcd<uint64_t>(common, last ? growth->multiple * bytes
                                        : from.strideDivisors[dim] * bytes);
  }
  while (width > 1 && common % (width * bytes) != 0)
    width /= 2;
  return width;
}

/// Elements of a tensor in memory, of which each register has its own.
LogicalResult
LinalgLowering::gather(tensor::ExtractOp extract,
                       function_ref<SmallVector<Value>(Value)> valuesOf,
                       SmallVector<Value> &elements) {
  const Memory *memory = lowering.memory(extract.getTensor());
  if (!memory)
    return extract.emitOpError("has no lowering in a body on fragments: its "
                               "tensor is not in memory");
  Memory from = *memory;
  unsigned width = gatherWidth(extract, from);
  uint64_t bytes = llvm::divideCeil(
      from.element.isIndex() ? 64 : from.element.getIntOrFloatBitWidth(), 8);
  SmallVector<SmallVector<Value>> indices;
  for (Value index : extract.getIndices())
    indices.push_back(valuesOf(index));
  for (unsigned number = 0; number < space->registers(); number += width) {
    SmallVector<Value> first;
    for (const SmallVector<Value> &own : indices)
      first.push_back(own[number]);
    llvm::append_range(
        elements, lowering.loadElements(from, first, width, bytes * width));
  }
  return success();
}

/// Runs the body for all registers, operation by operation, so that roundings
/// come in pairs.
LogicalResult LinalgLowering::evaluate() {
  size_t count = space->registers();
  Block *body = op.getBlock();
  llvm::DenseMap<Value, SmallVector<Value>> values;
  for (auto [i, operand] : llvm::enumerate(op->getOpOperands())) {
    const Operand &entry =
        i < inputs.size() ? inputs[i] : outputs[i - inputs.size()];
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty() ||
        (i >= inputs.size() && op.getNumReductionLoops()))
      continue;
    SmallVector<Value> &own = values[argument];
    if (!entry.fragment) {
      own.assign(count, entry.scalar);
      continue;
    }
    for (unsigned number = 0; number < count; ++number) {
      FailureOr<unsigned> reg =
          registerOf(entry.fragment->layout, entry.loops, number);
      if (failed(reg))
        return failure();
      own.push_back(entry.fragment->registers[*reg]);
    }
  }
  auto valuesOf = [&](Value value) {
    auto it = values.find(value);
    return it != values.end()
               ? it->second
               : SmallVector<Value>(count, lowering.scalar(value));
  };
  for (Operation &each : body->without_terminator()) {
    lowering.loc = each.getLoc();
    if (llvm::any_of(combiners,
                     [&](const Combiner &c) { return c.op == &each; }))
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(each)) {
      SmallVector<Value> own;
      for (unsigned number = 0; number < count; ++number)
        own.push_back(indexValue(unsigned(index.getDim()), number));
      values[index] = std::move(own);
      continue;
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(each)) {
      SmallVector<Value> own;
      if (failed(gather(extract, valuesOf, own)))
        return failure();
      values[extract] = std::move(own);
      continue;
    }
    if (each.getNumRegions() || each.getNumResults() != 1)
      return each.emitOpError("has no lowering in a body on fragments");
    SmallVector<SmallVector<Value>> operands;
    for (Value operand : each.getOperands())
      operands.push_back(valuesOf(operand));
    values[each.getResult(0)] =
        each.getNumOperands()
            ? lowering.applyElements(&each, operands, count)
            : SmallVector<Value>(count, lowering.applyScalar(&each, {}));
  }
  lowering.loc = op.getLoc();
  Operation *yield = body->getTerminator();
  for (unsigned i = 0; i < results.size(); ++i)
    yielded.push_back(valuesOf(combiners.empty() ? yield->getOperand(i)
                                                 : combiners[i].element));
  return success();
}

LogicalResult LinalgLowering::findCombiners() {
  if (op.getNumReductionLoops() == 0)
    return success();
  for (unsigned i = 0; i < results.size(); ++i) {
    std::optional<Combiner> combiner = findCombiner(op, i);
    if (!combiner)
      return op.emitOpError("has no lowering to fragments: result ")
             << i << " is no sum, product, minimum, maximum, and or or";
    combiners.push_back(*combiner);
  }
  return success();
}

LogicalResult LinalgLowering::finish() {
  if (combiners.empty()) {
    for (unsigned i = 0; i < results.size(); ++i) {
      Fragment result{results[i], SmallVector<Value>(results[i].registers())};
      for (unsigned number = 0; number < space->registers(); ++number) {
        FailureOr<unsigned> reg =
            registerOf(results[i], outputs[i].loops, number);
        if (failed(reg))
          return failure();
        result.registers[*reg] = yielded[i][number];
      }
      lowering.map(op->getResult(i), std::move(result));
    }
    return success();
  }
  std::vector<Reduction> reductions;
  for (unsigned i = 0; i < results.size(); ++i) {
    Reduction reduction{
        combiners[i], results[i], {}, outputs[i].fragment->registers};
    SmallVector<SmallVector<Value>> parts(results[i].registers());
    for (unsigned number = 0; number < space->registers(); ++number) {
      FailureOr<unsigned> reg =
          registerOf(results[i], outputs[i].loops, number);
      if (failed(reg))
        return failure();
      parts[*reg].push_back(yielded[i][number]);
    }
    for (SmallVector<Value> &list : parts)
      reduction.registers.push_back(
          combineTree(lowering, combiners[i], std::move(list)));
    reductions.push_back(std::move(reduction));
  }
  if (!lowering.isCarriedSum(op)) {
    mapReductions(lowering, op->getResults(), std::move(reductions), *space);
    return success();
  }
  Fragment shares{results.front(), {}};
  for (auto [initial, own] :
       llvm::zip(reductions.front().initial, reductions.front().registers))
    shares.registers.push_back(
        combine(lowering, combiners.front(), initial, own));
  lowering.map(op->getResult(0), std::move(shares));
  return success();
}

LogicalResult LinalgLowering::lower() {
  if (failed(collect()) || failed(chooseSpace()) || failed(findCombiners()))
    return failure();
  if (op.getNumReductionLoops())
    for (auto [i, output] : llvm::enumerate(outputs))
      if (output.fragment->layout != results[i])
        return op.emitOpError("the initial value of result ")
               << i << " lies otherwise than the result";
  if (failed(evaluate()))
    return failure();
  return finish();
}

LogicalResult FragmentLowering::lowerLinalg(linalg::LinalgOp op) {
  return LinalgLowering(*this, op).lower();
}
