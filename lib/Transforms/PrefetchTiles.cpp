//===- PrefetchTiles.cpp - Load the tiles of the next iteration -----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile that the compute role loads itself for a product (a slice of a record,
// gathered rows) would be waited for in every iteration of a loop. It is loaded
// ahead instead: the loop carries it in registers, and the loads of a later one
// are issued in front of the product, behind the staging of this one where it
// goes through shared memory, so that they are on their way meanwhile. Two
// iterations ahead where registers allow and the number of iterations is even:
// another CTA's record comes from the L2 cache, which takes longer than an
// iteration with few rows does. Such a loop is lowered two iterations at a
// time: to hand registers on would be to wait for what they are loaded with.
//
// A short loop that only loads (and computes on) tiles becomes straight code,
// if registers allow.
//
// Whatever else the loop loads (scales of rows and blocks) is loaded an
// iteration ahead, behind its last use: it takes the same registers.
//
// The last iterations load the last tile again: a place that exists.
//
//===----------------------------------------------------------------------===//

#include "AssignLayouts.h"

#include "dataflow/IR/UnrolledLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Iterators.h"

using namespace mlir;
using namespace mlir::df;

/// Most iterations that a tile is loaded ahead.
static constexpr int64_t kMostAhead = 2;

/// Registers of a thread that addresses of several iterations take, about.
static constexpr int64_t kAddressRegisters = 24;

/// Most iterations of a loop that becomes straight code.
static constexpr int64_t kMostWhole = 8;

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

/// A loop that runs twice at least, with known bounds, none below 0.
struct KnownLoop {
  scf::ForOp op;
  int64_t begin = 0, last = 0; ///< first and last value of the counter
  int64_t step = 1;

  /// The counter `iterations` behind the first one, at most the last.
  int64_t at(int64_t iterations) const {
    return std::min(begin + iterations * step, last);
  }
  int64_t iterations() const { return (last - begin) / step + 1; }

  static std::optional<KnownLoop> find(scf::ForOp op) {
    auto begin = getConstantIntValue(op.getLowerBound());
    auto end = getConstantIntValue(op.getUpperBound());
    auto step = getConstantIntValue(op.getStep());
    if (!begin || !end || !step || *begin < 0 || *step <= 0 ||
        *end <= *begin + *step)
      return std::nullopt;
    return KnownLoop{op, *begin, *begin + (*end - *begin - 1) / *step * *step,
                     *step};
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

/// Whether `op` reads memory: a tile that lies there, or elements.
static bool readsMemory(Operation *op) {
  if (auto convert = dyn_cast<ConvertLayoutOp>(op))
    return !getFragmentLayout(convert.getSource().getType()) &&
           !getSharedLayout(convert.getSource().getType());
  return op->walk([&](tensor::ExtractOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

static Value cloneSlice(OpBuilder &builder, scf::ForOp loop,
                        ArrayRef<Operation *> slice, Value counter, Value tile,
                        llvm::SmallPtrSetImpl<Operation *> *made = nullptr) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), counter);
  for (Operation *op : slice) {
    Operation *clone = builder.clone(*op, mapping);
    if (made)
      made->insert(clone);
  }
  return mapping.lookup(tile);
}

/// Carries `tile` round the loop, and those of the next `distance` - 1
/// iterations; that of the one behind them is loaded around `user`. Adds what
/// loads it to `made`.
static scf::ForOp prefetch(IRRewriter &rewriter, KnownLoop loop, Value tile,
                           Operation *user, ArrayRef<Operation *> slice,
                           int64_t distance,
                           llvm::SmallPtrSetImpl<Operation *> &made) {
  Location loc = tile.getLoc();
  rewriter.setInsertionPoint(loop.op);
  SmallVector<Value> first;
  for (int64_t i = 0; i < distance; ++i)
    first.push_back(cloneSlice(
        rewriter, loop.op, slice,
        arith::ConstantIndexOp::create(rewriter, loc, loop.at(i)), tile));
  if (isa<DotOp>(user) || user->hasTrait<OpTrait::IsTerminator>())
    rewriter.setInsertionPoint(user);
  else
    rewriter.setInsertionPointAfter(user);
  Value next = arith::AddIOp::create(
      rewriter, loc, loop.op.getInductionVar(),
      arith::ConstantIndexOp::create(rewriter, loc, distance * loop.step));
  next = arith::MinUIOp::create(
      rewriter, loc, next,
      arith::ConstantIndexOp::create(rewriter, loc, loop.last));
  Value following = cloneSlice(rewriter, loop.op, slice, next, tile, &made);
  auto result = cast<scf::ForOp>(*loop.op.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument> carried) {
        SmallVector<Value> yielded(carried.drop_front());
        yielded.push_back(following);
        return yielded;
      }));
  rewriter.replaceAllUsesWith(
      tile, result.getRegionIterArgs().take_back(distance).front());
  return result;
}

/// Whether anything but operations that nobody needs uses a result of `op`.
static bool isUsed(Operation *op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    return !isMemoryEffectFree(user) ||
           user->hasTrait<OpTrait::IsTerminator>() || isUsed(user);
  });
}

/// Whether `op` loads a tile into registers, or a number.
static bool isLoad(Operation *op) {
  if (auto convert = dyn_cast<ConvertLayoutOp>(op);
      convert && !getFragmentLayout(convert.getType()))
    return false;
  return isa<ConvertLayoutOp, linalg::GenericOp, tensor::ExtractOp>(op) &&
         op->getNumResults() == 1 && readsMemory(op);
}

namespace {

/// Has one loop load ahead.
class Prefetcher {
public:
  Prefetcher(IRRewriter &rewriter, PartOp part, KnownLoop loop,
             int64_t registers)
      : rewriter(rewriter), part(part), loop(loop), registers(registers) {}

  void run();

private:
  bool tryWhole();
  bool tryTile(Value tile, Operation *user, int64_t most);
  int64_t distanceOf(Value tile, int64_t most);
  Operation *lastUser(Value tile);

  IRRewriter &rewriter;
  PartOp part;
  KnownLoop loop;
  int64_t registers;
  int64_t unroll = 1; ///< most iterations that anything is loaded ahead
  llvm::SmallPtrSet<Operation *, 16> ahead; ///< what was made by `tryTile`
};

} // namespace

/// The last operation of the loop that uses `tile`; null if none does.
Operation *Prefetcher::lastUser(Value tile) {
  Operation *last = nullptr;
  for (Operation *user : tile.getUsers()) {
    Operation *here = loop.op.getBody()->findAncestorOpInBlock(*user);
    if (here && (!last || last->isBeforeInBlock(here)))
      last = here;
  }
  return last;
}

/// How many iterations ahead a tile may be loaded, at most `most`; 0 for not at
/// all. More than one only where registers are left for the addresses of
/// several iterations.
int64_t Prefetcher::distanceOf(Value tile, int64_t most) {
  int64_t taken = findPressure(part, registersOf, loop.op).registers;
  int64_t each = std::max<int64_t>(registersOf(tile), 1);
  int64_t distance = std::min<int64_t>(most, loop.iterations() - 1);
  if (distance > 1 &&
      (taken + distance * each > registers - kAddressRegisters ||
       loop.iterations() % distance))
    distance = 1;
  return taken + distance * each > registers ? 0 : distance;
}

/// `user` is the op around which the loads are issued.
bool Prefetcher::tryTile(Value tile, Operation *user, int64_t most) {
  llvm::SetVector<Operation *> slice;
  if (!tile.getDefiningOp() || tile.getParentBlock() != loop.op.getBody() ||
      !collectSlice(loop.op, tile, slice) ||
      llvm::none_of(slice, readsMemory)) // computed from nothing: not early
    return false;
  int64_t distance = distanceOf(tile, most);
  if (distance < 1)
    return false;
  SmallVector<Operation *> ordered(slice.takeVector());
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  loop.op = prefetch(rewriter, loop, tile, user, ordered, distance, ahead);
  unroll = std::max(unroll, distance);
  return true;
}

/// A short loop without products and streams is none any more where registers
/// allow: nothing that it loads waits for what an iteration before has loaded.
bool Prefetcher::tryWhole() {
  int64_t loaded = 0;
  for (Operation &op : loop.op.getBody()->without_terminator()) {
    if (!isMemoryEffectFree(&op) || isa<DotOp>(op) ||
        (op.getNumRegions() && !isa<linalg::LinalgOp>(op)))
      return false;
    if (isLoad(&op))
      loaded += std::max<int64_t>(registersOf(op.getResult(0)), 1);
  }
  int64_t taken = findPressure(part, registersOf, loop.op).registers;
  if (!loaded || loop.iterations() > kMostWhole ||
      taken + (loop.iterations() - 1) * loaded > registers - kAddressRegisters)
    return false;
  loop.op->setAttr(kUnrollAttrName,
                   rewriter.getI64IntegerAttr(loop.iterations()));
  return true;
}

void Prefetcher::run() {
  if (tryWhole())
    return;
  // Tiles that products read, and who reads them first.
  llvm::MapVector<Value, Operation *> tiles;
  for (Operation &user : *loop.op.getBody()) {
    if (auto convert = dyn_cast<ConvertLayoutOp>(user);
        convert && getSharedLayout(convert.getType()))
      tiles.insert({convert.getSource(), convert});
    else if (auto dot = dyn_cast<DotOp>(user))
      tiles.insert({dot.getA(), dot});
  }
  for (auto [tile, user] : tiles)
    if (registersOf(tile))
      tryTile(tile, user, kMostAhead);
  // Whatever else is loaded anew in each iteration. What others are loaded from
  // comes behind them, and may not be needed then.
  SmallVector<Operation *> others;
  for (Operation &op : llvm::reverse(*loop.op.getBody()))
    if (isLoad(&op) && !ahead.contains(&op))
      others.push_back(&op);
  for (Operation *op : others)
    if (isUsed(op))
      if (Operation *user = lastUser(op->getResult(0)))
        tryTile(op->getResult(0), user, 1);
  if (unroll > 1)
    loop.op->setAttr(kUnrollAttrName, rewriter.getI64IntegerAttr(unroll));
}

void mlir::df::prefetchTiles(PartOp part, unsigned registers) {
  IRRewriter rewriter(part.getContext());
  SmallVector<scf::ForOp> loops;
  part.getBody().walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp op : loops)
    if (std::optional<KnownLoop> loop = KnownLoop::find(op);
        loop && op.getInductionVar().getType().isIndex())
      Prefetcher(rewriter, part, *loop, registers).run();
  part.getBody().walk<WalkOrder::PostOrder, mlir::ReverseIterator>(
      [&](Operation *op) {
        if (isOpTriviallyDead(op))
          op->erase();
      });
}
