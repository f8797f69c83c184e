//===- PrefetchTiles.cpp - Load the tiles of the next iteration -----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile that the compute role loads itself for a product (a slice of a record,
// gathered rows) would be waited for in every iteration of a loop. It is loaded
// an iteration ahead instead: the loop carries it in registers, and the loads
// of the next one are issued in front of the product, behind the staging of
// this one where it goes through shared memory, so that they are on their way
// meanwhile.
//
// The last iteration loads its own tile again: a place that exists.
//
//===----------------------------------------------------------------------===//

#include "AssignLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Iterators.h"

using namespace mlir;
using namespace mlir::df;

/// 32-bit registers of a thread that a tile takes; 0 for other values.
static int64_t registersOf(Value value) {
  std::optional<FragmentLayout> layout = getFragmentLayout(value.getType());
  if (!layout)
    return 0;
  unsigned bits = cast<RankedTensorType>(value.getType())
                      .getElementType()
                      .getIntOrFloatBitWidth();
  return llvm::divideCeil(int64_t(layout->registers()) * std::max(bits, 8u),
                          32);
}

namespace {

/// A loop that runs twice at least, with known bounds.
struct KnownLoop {
  scf::ForOp op;
  int64_t begin = 0, last = 0; ///< first and last value of the counter

  static std::optional<KnownLoop> find(scf::ForOp op) {
    auto begin = getConstantIntValue(op.getLowerBound());
    auto end = getConstantIntValue(op.getUpperBound());
    auto step = getConstantIntValue(op.getStep());
    if (!begin || !end || !step || *step <= 0 || *end <= *begin + *step)
      return std::nullopt;
    return KnownLoop{op, *begin, *begin + (*end - *begin - 1) / *step * *step};
  }
};

} // namespace

/// Adds the operations of the loop's body that compute `value`, in any order.
/// False when they depend on more than the loop's counter, or are not pure.
static bool collectSlice(scf::ForOp loop, Value value,
                         llvm::SetVector<Operation *> &slice) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument == loop.getInductionVar() ||
           argument.getOwner() != loop.getBody();
  Operation *op = value.getDefiningOp();
  if (!loop->isProperAncestor(op))
    return true;
  if (op->getBlock() != loop.getBody() || !isMemoryEffectFree(op) ||
      isa<TakeOp, DotOp>(op) ||
      (op->getNumRegions() != 0 && !isa<linalg::LinalgOp>(op)))
    return false;
  if (slice.contains(op))
    return true;
  auto needs = [&](ValueRange operands) {
    return llvm::all_of(operands, [&](Value operand) {
      return operand.getParentRegion()->isProperAncestor(&loop.getRegion()) ||
             operand.getParentBlock() != loop.getBody() ||
             collectSlice(loop, operand, slice);
    });
  };
  if (!needs(op->getOperands()))
    return false;
  WalkResult inner = op->walk([&](Operation *nested) {
    return nested == op || needs(nested->getOperands())
               ? WalkResult::advance()
               : WalkResult::interrupt();
  });
  if (inner.wasInterrupted())
    return false;
  slice.insert(op);
  return true;
}

/// Whether the slice loads anything: what is computed from nothing need not be
/// computed early.
static bool loads(const llvm::SetVector<Operation *> &slice) {
  return llvm::any_of(slice, [](Operation *op) {
    if (isa<ConvertLayoutOp>(op))
      return !getFragmentLayout(op->getOperand(0).getType()) &&
             !getSharedLayout(op->getOperand(0).getType());
    return op->walk([&](tensor::ExtractOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  });
}

static Value cloneSlice(OpBuilder &builder, scf::ForOp loop,
                        ArrayRef<Operation *> slice, Value counter,
                        Value tile) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), counter);
  for (Operation *op : slice)
    builder.clone(*op, mapping);
  return mapping.lookup(tile);
}

/// Carries `tile` round the loop; the next one is loaded around `user`.
static scf::ForOp prefetch(IRRewriter &rewriter, KnownLoop loop, Value tile,
                           Operation *user, ArrayRef<Operation *> slice) {
  Location loc = tile.getLoc();
  rewriter.setInsertionPoint(loop.op);
  Value first = cloneSlice(
      rewriter, loop.op, slice,
      arith::ConstantIndexOp::create(rewriter, loc, loop.begin), tile);
  if (isa<DotOp>(user))
    rewriter.setInsertionPoint(user);
  else
    rewriter.setInsertionPointAfter(user);
  Value next = arith::AddIOp::create(rewriter, loc, loop.op.getInductionVar(),
                                     loop.op.getStep());
  next = arith::MinUIOp::create(
      rewriter, loc, next,
      arith::ConstantIndexOp::create(rewriter, loc, loop.last));
  Value following = cloneSlice(rewriter, loop.op, slice, next, tile);
  auto made = cast<scf::ForOp>(*loop.op.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
        return SmallVector<Value>{following};
      }));
  rewriter.replaceAllUsesWith(tile, made.getRegionIterArgs().back());
  return made;
}

void mlir::df::prefetchTiles(PartOp part, unsigned registers) {
  IRRewriter rewriter(part.getContext());
  SmallVector<scf::ForOp> loops;
  part.getBody().walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp op : loops) {
    std::optional<KnownLoop> loop = KnownLoop::find(op);
    if (!loop || !op.getInductionVar().getType().isIndex())
      continue;
    // Tiles that products read, and who reads them first.
    llvm::MapVector<Value, Operation *> tiles;
    for (Operation &user : *op.getBody()) {
      if (auto convert = dyn_cast<ConvertLayoutOp>(user);
          convert && getSharedLayout(convert.getType()))
        tiles.insert({convert.getSource(), convert});
      else if (auto dot = dyn_cast<DotOp>(user))
        tiles.insert({dot.getA(), dot});
    }
    for (auto [tile, user] : tiles) {
      llvm::SetVector<Operation *> slice;
      if (!registersOf(tile) || !tile.getDefiningOp() ||
          tile.getParentBlock() != loop->op.getBody() ||
          !collectSlice(loop->op, tile, slice) || !loads(slice) ||
          findPressure(part, registersOf, loop->op).registers +
                  registersOf(tile) >
              int64_t(registers))
        continue;
      SmallVector<Operation *> ordered(slice.takeVector());
      llvm::sort(ordered, [](Operation *a, Operation *b) {
        return a->isBeforeInBlock(b);
      });
      loop->op = prefetch(rewriter, *loop, tile, user, ordered);
    }
  }
  part.getBody().walk<WalkOrder::PostOrder, mlir::ReverseIterator>(
      [&](Operation *op) {
        if (isOpTriviallyDead(op))
          op->erase();
      });
}
