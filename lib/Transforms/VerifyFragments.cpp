//===- VerifyFragments.cpp - Proof that tiles lie where they are used -----===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of `dataflow-verify-kernel` for parts that are laid out. Layouts
// are compared as they stand in the types; nothing is shared with the pass that
// chose them.
//
//===----------------------------------------------------------------------===//

#include "VerifyFragments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::df;

//===----------------------------------------------------------------------===//
// D6: places
//===----------------------------------------------------------------------===//

namespace {
enum class Home { memory, shared, fragment };
} // namespace

static Home getHome(Type type) {
  return getFragmentLayout(type) ? Home::fragment
         : getSharedLayout(type) ? Home::shared
                                 : Home::memory;
}

static StringRef getWord(Home home) {
  switch (home) {
  case Home::memory:
    return "memory";
  case Home::shared:
    return "shared memory";
  case Home::fragment:
    return "registers";
  }
  llvm_unreachable("all homes have a word");
}

/// Whether `op` can leave a tile at this place.
static bool canLeaveIn(Operation *op, Home home) {
  // What an op only renames stays where it is.
  if (isa<tensor::ExtractSliceOp, tensor::CastOp>(op))
    return home != Home::fragment &&
           getHome(op->getOperand(0).getType()) == home;
  if (isa<ConvertLayoutOp>(op))
    return true;
  switch (home) {
  case Home::memory:
    return isa<TakeOp, tensor::InsertSliceOp, scf::ForOp, scf::IfOp>(op);
  case Home::shared:
    return isa<TakeOp>(op) ||
           (isa<tensor::PadOp>(op) &&
            getHome(op->getOperand(0).getType()) == Home::shared);
  case Home::fragment:
    return isa<DotOp, scf::ForOp, scf::IfOp, tensor::SplatOp, tensor::EmptyOp,
               arith::ConstantOp, linalg::LinalgOp>(op) ||
           (isa<tensor::PadOp>(op) &&
            getHome(op->getOperand(0).getType()) == Home::memory) ||
           OpTrait::hasElementwiseMappableTraits(op);
  }
  llvm_unreachable("all homes were seen");
}

namespace {

/// Goes through one part.
class FragmentVerifier {
public:
  explicit FragmentVerifier(PartOp part) : part(part) {}
  LogicalResult verify();

private:
  LogicalResult verifyValue(Operation *op, Value value);
  LogicalResult verifyOp(Operation *op);
  LogicalResult verifyStructured(linalg::LinalgOp op);

  PartOp part;
  /// The threads of the first fragment; all others have the same.
  std::optional<std::pair<unsigned, unsigned>> threads;
  Operation *first = nullptr;
};

} // namespace

/// `value` is a result of `op`, or an argument of a block in it.
LogicalResult FragmentVerifier::verifyValue(Operation *op, Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return success();
  Home home = getHome(value.getType());
  if (!part.getFragments()) {
    if (home == Home::memory)
      return success();
    return op->emitOpError("D6: a tile of a part without fragments has a "
                           "layout, ")
           << value.getType();
  }
  if (!canLeaveIn(op, home))
    return op->emitOpError("D6: cannot leave a tile in ")
           << getWord(home) << ", got " << value.getType();
  std::optional<FragmentLayout> layout = getFragmentLayout(value.getType());
  if (!layout)
    return success();
  std::pair<unsigned, unsigned> here = {layout->warps(), layout->groups()};
  if (!threads) {
    threads = here;
    first = op;
  }
  if (threads == here)
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError("D6: has a tile over ")
      << here.second << " warpgroups of " << here.first
      << " warps, others of the part lie over " << threads->second << " of "
      << threads->first;
  diagnostic.attachNote(first->getLoc()) << "for example this op's";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// D7: tiles that are used together
//===----------------------------------------------------------------------===//

static InFlightDiagnostic emitMismatch(Operation *op, Type type,
                                       const FragmentLayout &expected) {
  return op->emitOpError("D7: takes or makes a tile as ")
         << type << ", but the others ask for "
         << FragmentAttr::get(op->getContext(), expected);
}

/// The loops that a map names, or nothing for a map of another kind; -1 stands
/// for a dimension of size 1 that no loop goes along.
static std::optional<SmallVector<int>> getLoops(AffineMap map) {
  SmallVector<int> loops;
  for (AffineExpr expr : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      if (llvm::is_contained(loops, int(dim.getPosition())))
        return std::nullopt;
      loops.push_back(dim.getPosition());
    } else if (auto zero = dyn_cast<AffineConstantExpr>(expr);
               zero && zero.getValue() == 0) {
      loops.push_back(-1);
    } else {
      return std::nullopt;
    }
  }
  return loops;
}

/// The layout of an operand, from that of the loops.
static FragmentLayout projectLayout(FragmentLayout layout,
                                    ArrayRef<int> loops) {
  SmallVector<unsigned> kept;
  for (unsigned dim = layout.rank(); dim-- > 0;)
    if (!llvm::is_contained(loops, int(dim)))
      layout = layout.slice(dim);
  for (int loop : loops)
    if (loop >= 0)
      kept.push_back(llvm::count_if(
          loops, [&](int other) { return other >= 0 && other < loop; }));
  layout = layout.permute(kept);
  for (auto [dim, loop] : llvm::enumerate(loops))
    if (loop < 0)
      layout = layout.expand(dim);
  return layout;
}

/// The layout of the loops, from that of an operand that has all of them.
static FragmentLayout liftLayout(FragmentLayout layout, ArrayRef<int> loops) {
  SmallVector<unsigned> places(
      llvm::count_if(loops, [](int l) { return l >= 0; }));
  for (unsigned dim = loops.size(); dim-- > 0;)
    if (loops[dim] < 0)
      layout = layout.slice(dim);
  unsigned place = 0;
  for (int loop : loops)
    if (loop >= 0)
      places[loop] = place++;
  return layout.permute(places);
}

LogicalResult FragmentVerifier::verifyStructured(linalg::LinalgOp op) {
  std::optional<FragmentLayout> space;
  SmallVector<std::pair<Type, SmallVector<int>>> tiles;
  auto add = [&](Type type, AffineMap map) -> LogicalResult {
    if (!isa<RankedTensorType>(type))
      return success();
    std::optional<SmallVector<int>> loops = getLoops(map);
    std::optional<FragmentLayout> layout = getFragmentLayout(type);
    if (!layout)
      return op->emitOpError("D7: takes a tile that is not in registers, ")
             << type;
    if (!loops)
      return op->emitOpError("D7: does not index a tile by its loops alone: ")
             << AffineMapAttr::get(map);
    if (!space && llvm::count_if(*loops, [](int l) { return l >= 0; }) ==
                      op.getNumLoops())
      space = liftLayout(*layout, *loops);
    tiles.push_back({type, std::move(*loops)});
    return success();
  };
  for (OpOperand &operand : op->getOpOperands())
    if (failed(
            add(operand.get().getType(), op.getMatchingIndexingMap(&operand))))
      return failure();
  for (OpResult result : op->getResults())
    if (failed(add(result.getType(), op.getIndexingMapMatchingResult(result))))
      return failure();
  // Without an operand of all loops each of them is free.
  if (!space)
    return success();
  for (auto &[type, loops] : tiles) {
    FragmentLayout expected = projectLayout(*space, loops);
    if (expected != getFragmentLayout(type))
      return emitMismatch(op, type, expected);
  }
  return success();
}

LogicalResult FragmentVerifier::verifyOp(Operation *op) {
  for (Value result : op->getResults())
    if (failed(verifyValue(op, result)))
      return failure();
  if (!part.getFragments())
    return success();
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return verifyStructured(structured);
  if (!OpTrait::hasElementwiseMappableTraits(op))
    return success();
  std::optional<FragmentLayout> layout;
  for (Value result : op->getResults())
    if (!layout)
      layout = getFragmentLayout(result.getType());
  if (!layout)
    return success();
  for (Type type :
       llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                SmallVector<Type>(op->getResultTypes())))
    if (isa<RankedTensorType>(type) && getFragmentLayout(type) != layout)
      return emitMismatch(op, type, *layout);
  return success();
}

LogicalResult FragmentVerifier::verify() {
  WalkResult result = part.getBody().walk([&](Operation *op) {
    if (failed(verifyOp(op)))
      return WalkResult::interrupt();
    // What structured ops have inside is scalar.
    if (isa<linalg::LinalgOp>(op))
      return WalkResult::advance();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (failed(verifyValue(op, argument)))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult mlir::df::verifyFragments(PartOp part) {
  return FragmentVerifier(part).verify();
}
