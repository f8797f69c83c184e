//===- Reductions.cpp - Reductions over threads ---------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes exchange by shuffles along the bits of their numbers that hold further
// elements; then every warp writes what it has, and every thread combines the
// values of all warps in the order of their numbers. Both sides of a shuffle
// combine the same two values, so all threads get the same bits.
//
//===----------------------------------------------------------------------===//

#include "Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;

bool df::fragments::isCombiner(Operation *op) {
  return isa_and_nonnull<arith::AddFOp, arith::AddIOp, arith::MulFOp,
                         arith::MulIOp, arith::MaximumFOp, arith::MinimumFOp,
                         arith::MaxNumFOp, arith::MinNumFOp, arith::MaxSIOp,
                         arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp,
                         arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op);
}

std::optional<Combiner> df::fragments::findCombiner(linalg::LinalgOp op,
                                                    unsigned number) {
  Value yielded = op.getBlock()->getTerminator()->getOperand(number);
  BlockArgument accumulator =
      op.getMatchingBlockArgument(op.getDpsInitOperand(number));
  Combiner combiner;
  combiner.op = yielded.getDefiningOp();
  if (!isCombiner(combiner.op) || combiner.op->getBlock() != op.getBlock() ||
      !accumulator.hasOneUse() || *accumulator.user_begin() != combiner.op ||
      !yielded.hasOneUse())
    return std::nullopt;
  combiner.accumulatorFirst = combiner.op->getOperand(0) == accumulator;
  combiner.element = combiner.op->getOperand(combiner.accumulatorFirst);
  return combiner;
}

OpOperand *df::fragments::reducedOperand(linalg::LinalgOp op) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (layoutOf(input->get().getType()) &&
        op.getMatchingIndexingMap(input).getNumResults() == op.getNumLoops())
      return input;
  return nullptr;
}

Value df::fragments::combine(FragmentLowering &lowering,
                             const Combiner &combiner, Value accumulator,
                             Value element) {
  if (combiner.accumulatorFirst)
    return lowering.applyScalar(combiner.op, {accumulator, element});
  return lowering.applyScalar(combiner.op, {element, accumulator});
}

Value df::fragments::combineTree(FragmentLowering &lowering,
                                 const Combiner &combiner,
                                 SmallVector<Value> values) {
  while (values.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      next.push_back(combine(lowering, combiner, values[i], values[i + 1]));
    if (values.size() % 2)
      next.push_back(values.back());
    values = std::move(next);
  }
  return values.front();
}

SmallVector<unsigned>
df::fragments::reducedBits(ArrayRef<FragmentLayout::Base> space,
                           ArrayRef<FragmentLayout::Base> result) {
  SmallVector<unsigned> bits;
  for (auto [bit, base] : llvm::enumerate(space))
    if (!base.isZero() && (bit >= result.size() || result[bit].isZero()))
      bits.push_back(unsigned(bit));
  return bits;
}

/// Where all threads of the CTA end up with one bit, an and or an or needs no
/// memory: barriers reduce predicates.
static StringRef predicateFunction(FragmentLowering &lowering,
                                   const Reduction &reduction,
                                   bool acrossWarps) {
  if (reduction.registers.size() != 1 ||
      !reduction.registers.front().getType().isInteger(1) ||
      reduction.result.replication() != reduction.result.threads())
    return "";
  if (isa<arith::OrIOp>(reduction.combiner.op))
    return acrossWarps ? "dfk_any_thread" : "dfk_any";
  if (isa<arith::AndIOp>(reduction.combiner.op))
    return acrossWarps ? "dfk_all_threads" : "dfk_all";
  return "";
}

/// `pointer`, moved by bytes.
static Value moved(FragmentLowering &lowering, Value pointer,
                   LLVM::GEPArg bytes) {
  OpBuilder &builder = lowering.builder;
  return LLVM::GEPOp::create(builder, lowering.loc, pointer.getType(),
                             builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

SmallVector<Exchange>
df::fragments::reduceThreads(FragmentLowering &lowering,
                             MutableArrayRef<Reduction> reductions,
                             const FragmentLayout &space) {
  using Bits = FragmentLowering::Bits;
  OpBuilder &builder = lowering.builder;
  SmallVector<Exchange> exchanges;
  for (Reduction &reduction : reductions) {
    const FragmentLayout &result = reduction.result;
    SmallVector<unsigned> lanes =
        reducedBits(space.laneBases(), result.laneBases());
    SmallVector<unsigned> warps =
        reducedBits(space.warpBases(), result.warpBases());
    SmallVector<unsigned> groups =
        reducedBits(space.groupBases(), result.groupBases());
    bool acrossWarps = !warps.empty() || !groups.empty();
    StringRef predicate = predicateFunction(lowering, reduction, acrossWarps);
    if (!predicate.empty() && (acrossWarps || !lanes.empty())) {
      reduction.registers.front() =
          lowering.call(predicate, builder.getI1Type(), reduction.registers);
      continue;
    }
    for (unsigned bit : lanes)
      for (Value &value : reduction.registers)
        value = combine(lowering, reduction.combiner, value,
                        lowering.shuffleXor(value, 1u << bit));
    if (!acrossWarps)
      continue;
    Value part = lowering.i32(0);
    unsigned position = 0;
    auto append = [&](Bits of, ArrayRef<unsigned> bits) {
      for (unsigned bit : bits)
        part = lowering.add(
            part, lowering.multiply(lowering.threadBit(of, bit),
                                    lowering.i32(int64_t(1) << position++)));
    };
    append(Bits::warp, warps);
    append(Bits::group, groups);
    Type element = reduction.registers.front().getType();
    Exchange exchange;
    exchange.reduction = &reduction;
    exchange.parts = 1u << position;
    exchange.bytes =
        llvm::alignTo(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) *
                          result.elements(),
                      16);
    exchange.site =
        lowering.allocateScratch(exchange.bytes * exchange.parts, 16);
    exchange.pointer = lowering.beginWritePointer(exchange.site);
    Value own = moved(lowering, exchange.pointer,
                      lowering.multiply(part, lowering.i32(exchange.bytes)));
    lowering.store(Fragment{result, reduction.registers},
                   lowering.sharedMemory(own, result.shape(), element, 16));
    exchanges.push_back(exchange);
  }
  return exchanges;
}

void df::fragments::finishExchange(FragmentLowering &lowering,
                                   const Exchange &exchange) {
  Reduction &reduction = *exchange.reduction;
  Type element = reduction.registers.front().getType();
  SmallVector<SmallVector<Value>> values(reduction.registers.size());
  for (unsigned number = 0; number < exchange.parts; ++number) {
    Value from =
        moved(lowering, exchange.pointer, int32_t(exchange.bytes * number));
    Fragment partial = lowering.load(
        lowering.sharedMemory(from, reduction.result.shape(), element, 16),
        reduction.result);
    for (auto [list, value] : llvm::zip(values, partial.registers))
      list.push_back(value);
  }
  for (auto [value, list] : llvm::zip(reduction.registers, values))
    value = combineTree(lowering, reduction.combiner, std::move(list));
  lowering.noteRead(exchange.site);
}

void df::fragments::mapReductions(FragmentLowering &lowering,
                                  ValueRange results,
                                  std::vector<Reduction> reductions,
                                  const FragmentLayout &space) {
  // Kept until the barrier behind which the reductions are finished.
  struct State {
    SmallVector<Value> results;
    std::vector<Reduction> reductions;
    SmallVector<Exchange> exchanges;
  };
  auto state = std::make_shared<State>(
      State{SmallVector<Value>(results), std::move(reductions), {}});
  state->exchanges = reduceThreads(lowering, state->reductions, space);
  auto complete = [&lowering, loc = lowering.loc, state] {
    lowering.loc = loc;
    for (const Exchange &exchange : state->exchanges)
      finishExchange(lowering, exchange);
    for (auto [value, reduction] :
         llvm::zip(state->results, state->reductions)) {
      for (auto [initial, own] :
           llvm::zip(reduction.initial, reduction.registers))
        own = combine(lowering, reduction.combiner, initial, own);
      lowering.map(value, Fragment{reduction.result, reduction.registers});
    }
  };
  if (state->exchanges.empty())
    complete();
  else
    lowering.defer(results, complete);
}
