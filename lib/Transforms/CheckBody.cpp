//===- CheckBody.cpp - What the fragment path takes -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where tensors are, and which operations may stand on them there.
//
//===----------------------------------------------------------------------===//

#include "AssignLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::df;

//===----------------------------------------------------------------------===//
// Homes
//===----------------------------------------------------------------------===//

/// The values that a loop or branch hands out as, or hands in for, `value`;
/// empty for other values.
static SmallVector<Value> getSources(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op =
      argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    unsigned number = argument ? argument.getArgNumber() - 1
                               : cast<OpResult>(value).getResultNumber();
    return {loop.getInitArgs()[number], loop.getYieldedValues()[number]};
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    return {branch.thenYield().getOperand(number),
            branch.elseYield().getOperand(number)};
  }
  return {};
}

bool mlir::df::isStoreMask(tensor::ExtractSliceOp op) {
  return !op.getType().hasStaticShape() &&
         op.getSourceType().hasStaticShape() &&
         op.getType().getRank() == op.getSourceType().getRank() &&
         llvm::all_of(op.getMixedOffsets(), isZeroInteger) &&
         llvm::all_of(op.getMixedStrides(), isOneInteger) &&
         llvm::all_of(op->getUsers(), [&](Operation *user) {
           auto insert = dyn_cast<tensor::InsertSliceOp>(user);
           return insert && insert.getSource() == op.getResult() &&
                  insert.getDest() != op.getResult();
         });
}

const SharedLayout *TileHomes::layoutOf(TakeOp take) const {
  auto it = streams.find(take.getStreamAttr().getAttr());
  return it == streams.end() ? nullptr : &it->second;
}

SharedLayout TileHomes::stageLayout(Value tensor) const {
  while (!tensor.getDefiningOp<TakeOp>())
    tensor = tensor.getDefiningOp()->getOperand(0);
  return *layoutOf(tensor.getDefiningOp<TakeOp>());
}

TileHome TileHomes::find(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op && isa<PartOp>(tensor.getParentBlock()->getParentOp()))
    return TileHome::memory;
  if (SmallVector<Value> sources = getSources(tensor); !sources.empty())
    // Outputs may be updated in loops and branches; a tile that is computed
    // there is in registers, wherever the first one comes from.
    return llvm::all_of(
               sources,
               [&](Value source) { return of(source) == TileHome::memory; })
               ? TileHome::memory
               : TileHome::fragment;
  if (auto take = dyn_cast_or_null<TakeOp>(op))
    return layoutOf(take) ? TileHome::stage : TileHome::memory;
  if (isa_and_nonnull<tensor::PadOp>(op))
    return of(op->getOperand(0)) == TileHome::stage ? TileHome::stage
                                                    : TileHome::fragment;
  if (isa_and_nonnull<tensor::ExtractSliceOp, tensor::CastOp>(op)) {
    TileHome home = of(op->getOperand(0));
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    // A mask is taken of what is on its way to memory.
    if (slice && (home == TileHome::fragment || home == TileHome::uniform) &&
        isStoreMask(slice))
      return TileHome::memory;
    return home;
  }
  if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(op))
    return of(insert.getDest());
  if (isa_and_nonnull<tensor::SplatOp, tensor::EmptyOp>(op))
    return TileHome::uniform;
  return TileHome::fragment;
}

TileHome TileHomes::of(Value tensor) {
  // While a loop is looked through, what it carries counts as memory: only
  // another source can make it something else.
  auto [it, isNew] = known.insert({tensor, TileHome::memory});
  if (!isNew)
    return it->second;
  TileHome home = find(tensor);
  known[tensor] = home;
  return home;
}

BlockArgument mlir::df::findRoot(Value memory) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> pending = {memory};
  BlockArgument root;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (SmallVector<Value> sources = getSources(value); !sources.empty()) {
      llvm::append_range(pending, sources);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(op)) {
      pending.push_back(insert.getDest());
    } else if (isa_and_nonnull<tensor::ExtractSliceOp, tensor::CastOp>(op)) {
      pending.push_back(op->getOperand(0));
    } else {
      auto argument = dyn_cast<BlockArgument>(value);
      if (!argument || (root && root != argument))
        return {};
      root = argument;
    }
  }
  return root;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {

class BodyChecker {
public:
  BodyChecker(TileHomes &homes, Refusal &refusal)
      : homes(homes), refusal(refusal) {}

  LogicalResult checkBlock(Block &block);

private:
  LogicalResult refuse(Operation *op, const Twine &text) {
    return refusal.set(op, text);
  }
  LogicalResult checkOp(Operation *op);
  LogicalResult checkTypes(Operation *op);
  LogicalResult checkInner(Operation &inner);
  LogicalResult checkGeneric(linalg::GenericOp op);
  LogicalResult checkSlice(tensor::ExtractSliceOp op);
  LogicalResult checkPad(tensor::PadOp op);
  LogicalResult checkControlFlow(Operation *op);

  TileHomes &homes;
  Refusal &refusal;
};

} // namespace

static bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

/// Whether a value of a memory tensor was changed before: a load of it would
/// have to wait for other threads.
static bool isUpdated(Value memory) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> pending = {memory};
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (value.getDefiningOp<tensor::InsertSliceOp>())
      return true;
    if (SmallVector<Value> sources = getSources(value); !sources.empty())
      llvm::append_range(pending, sources);
    else if (Operation *op = value.getDefiningOp();
             op && isa<tensor::ExtractSliceOp, tensor::CastOp>(op))
      pending.push_back(op->getOperand(0));
  }
  return false;
}

/// Tensors in registers have static shapes; memory is not read after it was
/// written.
LogicalResult BodyChecker::checkTypes(Operation *op) {
  for (Value result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !homes.isFragment(result))
      continue;
    if (!type.hasStaticShape() || type.getNumElements() == 0)
      return refuse(op, "its result has no known shape");
    if (type.getRank() > int64_t(FragmentLayout::maxRank))
      return refuse(op, "its result has " + Twine(type.getRank()) +
                            " dimensions, at most " +
                            Twine(FragmentLayout::maxRank) +
                            " can lie over threads");
    if (!type.getElementType().isIntOrFloat())
      return refuse(op,
                    "its result's elements are not numbers of a fixed size");
  }
  if (isa<tensor::InsertSliceOp, tensor::ExtractSliceOp, tensor::DimOp,
          scf::ForOp, scf::IfOp, scf::YieldOp, YieldOp>(op))
    return success();
  for (Value operand : op->getOperands()) {
    if (!isTensor(operand) || homes.of(operand) != TileHome::memory)
      continue;
    if (isUpdated(operand))
      return refuse(op, "it reads an output that was written before");
    if (!isa<tensor::ExtractOp, tensor::PadOp>(op) &&
        !cast<RankedTensorType>(operand.getType()).hasStaticShape())
      return refuse(op, "it reads a tensor of unknown shape");
  }
  return success();
}

/// Whether an op may stand in the body of a structured one.
static bool isScalarMath(Operation &op) {
  return isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) ||
         isa<linalg::IndexOp, linalg::YieldOp>(op);
}

/// Whether the value that a body yields combines what it was given for the
/// output with something else, in a way that may be done in any order.
static bool isCombination(Value yielded, BlockArgument output) {
  Operation *op = yielded.getDefiningOp();
  return op && output.hasOneUse() && *output.getUsers().begin() == op &&
         isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp,
             arith::MaximumFOp, arith::MaxNumFOp, arith::MinimumFOp,
             arith::MinNumFOp, arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp,
             arith::MinUIOp, arith::OrIOp, arith::AndIOp>(op);
}

/// An operation in the body of a structured one. Elements of operands may be
/// taken, wherever they are: a gather.
LogicalResult BodyChecker::checkInner(Operation &inner) {
  auto extract = dyn_cast<tensor::ExtractOp>(inner);
  if (!extract)
    return isScalarMath(inner)
               ? success()
               : refuse(&inner, "it may not stand in the body of an operation "
                                "on tiles");
  if (homes.of(extract.getTensor()) != TileHome::memory)
    return refuse(&inner, "it takes elements of a tile out of registers");
  if (isUpdated(extract.getTensor()))
    return refuse(&inner, "it reads an output that was written before");
  return success();
}

LogicalResult BodyChecker::checkGeneric(linalg::GenericOp op) {
  for (Operation &inner : *op.getBody())
    if (failed(checkInner(inner)))
      return failure();
  size_t loops = op.getNumLoops();
  if (loops > FragmentLayout::maxRank)
    return refuse(op, "it has " + Twine(loops) + " loops, at most " +
                          Twine(FragmentLayout::maxRank) +
                          " can lie over threads");
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (llvm::any_of(ranges, ShapedType::isDynamic))
    return refuse(op, "its loops have no known bounds");
  bool whole = false;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isTensor(operand.get()))
      continue;
    std::optional<TileDims> dims =
        getTileDims(op.getMatchingIndexingMap(&operand));
    if (!dims)
      return refuse(op, "operand " + Twine(operand.getOperandNumber()) +
                            " is not indexed by loops alone");
    whole |= !llvm::is_contained(*dims, kUnitDim) && dims->size() == loops;
    // A dimension that the map leaves out must not be written in part.
    if (op.isDpsInit(&operand))
      for (auto [i, dim] : llvm::enumerate(*dims))
        if (dim == kUnitDim &&
            cast<RankedTensorType>(operand.get().getType()).getDimSize(i) != 1)
          return refuse(op, "it writes only a part of an output");
  }
  if (op.getNumReductionLoops() == 0)
    return success();
  if (!whole)
    return refuse(op, "no operand has all of its dimensions");
  Operation *yield = op.getBody()->getTerminator();
  for (auto [value, output] :
       llvm::zip(yield->getOperands(), op.getRegionOutputArgs()))
    if (!isCombination(value, output))
      return refuse(op, "it does not reduce by one sum, product, maximum, "
                        "minimum, and, or");
  return success();
}

LogicalResult BodyChecker::checkSlice(tensor::ExtractSliceOp op) {
  TileHome home = homes.of(op.getSource());
  if (home == TileHome::memory || isStoreMask(op))
    return success();
  if (home != TileHome::stage)
    return refuse(op, "a tile in registers cannot be cut");
  if (!llvm::all_of(op.getMixedStrides(), isOneInteger))
    return refuse(op, "it takes a stage in steps");
  // The valid rows of a stage: only padding may use them.
  RankedTensorType type = op.getType();
  SharedLayout layout = homes.stageLayout(op.getResult());
  unsigned bytes = type.getElementTypeBitWidth() / 8;
  ArrayRef<int64_t> offsets = op.getStaticOffsets();
  if (type.getRank() != 2 || llvm::any_of(offsets, ShapedType::isDynamic) ||
      !layout.windowOffset(offsets[0], offsets[1], bytes))
    return refuse(op, "it does not begin at an atom of the stage");
  if (type.hasStaticShape()) {
    if (layout.check(type.getShape(), bytes))
      return refuse(op, "it does not consist of whole atoms of the stage");
    return success();
  }
  if (!type.isDynamicDim(1) &&
      op.getSourceType().getDimSize(1) == type.getDimSize(1) &&
      llvm::all_of(op->getUsers(), llvm::IsaPred<tensor::PadOp>))
    return success();
  return refuse(op, "only rows in front of padding may be cut off a stage");
}

/// Zeros behind the valid rows of a stage, up to the shape of the stage, or one
/// value behind what memory has.
LogicalResult BodyChecker::checkPad(tensor::PadOp op) {
  if (homes.of(op.getSource()) == TileHome::memory) {
    if (!op.getConstantPaddingValue() ||
        !llvm::all_of(op.getMixedLowPad(), isZeroInteger))
      return refuse(op, "it pads with more than one value, or in front");
    return success();
  }
  if (homes.of(op.getSource()) != TileHome::stage)
    return refuse(op, "a tile in registers cannot be padded");
  auto slice = op.getSource().getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || slice.getSourceType().getShape() != op.getType().getShape() ||
      !isZeroInteger(slice.getMixedOffsets()[0]) ||
      !llvm::all_of(op.getMixedLowPad(), isZeroInteger) ||
      !isZeroInteger(op.getMixedHighPad()[1]))
    return refuse(op, "it does not pad the valid rows of a stage to the shape "
                      "of the stage");
  Value value = op.getConstantPaddingValue();
  if (!value ||
      !(matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero())))
    return refuse(op, "it does not pad with zeros");
  return success();
}

LogicalResult BodyChecker::checkControlFlow(Operation *op) {
  for (Value result : op->getResults())
    if (isTensor(result) && homes.of(result) == TileHome::memory &&
        !findRoot(result))
      return refuse(op, "it chooses between tensors in memory");
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(checkBlock(block)))
        return failure();
  return success();
}

LogicalResult BodyChecker::checkOp(Operation *op) {
  if (failed(checkTypes(op)))
    return failure();
  if (isa<scf::ForOp, scf::IfOp>(op))
    return checkControlFlow(op);
  if (isa<TakeOp, GiveOp, DotOp, tensor::SplatOp, tensor::EmptyOp,
          tensor::DimOp, scf::YieldOp, YieldOp, RangeTilesOp>(op))
    return success();
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return checkGeneric(generic);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return checkSlice(slice);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return checkPad(pad);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    if (homes.of(extract.getTensor()) == TileHome::memory ||
        extract.getTensor().getType().getRank() == 0)
      return success();
    return refuse(op, "it takes one element of a tile out of registers");
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    if (homes.of(insert.getDest()) != TileHome::memory)
      return refuse(op, "a tile in registers cannot be put together");
    auto mask = insert.getSource().getDefiningOp<tensor::ExtractSliceOp>();
    if (!insert.getSourceType().hasStaticShape() &&
        !(mask && isStoreMask(mask) &&
          homes.of(mask.getSource()) != TileHome::memory &&
          homes.of(mask.getSource()) != TileHome::stage))
      return refuse(op, "it stores a tensor of unknown shape");
    return success();
  }
  bool tiles = llvm::any_of(op->getOperands(), isTensor) ||
               llvm::any_of(op->getResults(), isTensor);
  if (op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
      isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
      (!tiles || OpTrait::hasElementwiseMappableTraits(op)))
    return success();
  return refuse(op, tiles ? "the fragment path does not have it"
                          : "only arithmetic, loops and branches may stand "
                            "between operations on tiles");
}

LogicalResult BodyChecker::checkBlock(Block &block) {
  for (Operation &op : block)
    if (failed(checkOp(&op)))
      return failure();
  return success();
}

LogicalResult mlir::df::checkBody(PartOp part, TileHomes &homes,
                                  Refusal &refusal) {
  return BodyChecker(homes, refusal).checkBlock(part.getBody().front());
}
