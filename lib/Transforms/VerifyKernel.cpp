//===- VerifyKernel.cpp - Proof that the parts of a kernel agree ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shares with `dataflow-split-roles` only the question which values share the
// memory of a tile; that both parts agree is found from the parts themselves.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/Passes.h"

#include "SplitRoles.h"
#include "VerifyFragments.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::df {
#define GEN_PASS_DEF_VERIFYKERNEL
#include "dataflow/Transforms/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;

namespace {

/// Compares the load and the compute part of one handler.
class PartMatcher {
public:
  /// D1
  LogicalResult match(Block &load, Block &compute);

private:
  bool same(Value a, Value b);
  bool sameRange(scf::ForOp a, scf::ForOp b);
  LogicalResult matchOps(Operation *load, Operation *compute);

  /// Pairs that are the same, or are while that is being found out.
  llvm::DenseSet<std::pair<Value, Value>> pairs;
  /// Loops that run in step. Counters of others with the same bounds are not
  /// the same: of two nested loops, the outer one's is not the inner one's.
  llvm::DenseSet<std::pair<Operation *, Operation *>> loops;
};

} // namespace

/// Whether an op is, or holds, an access of a stream.
static bool usesStream(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<FillOp, TakeOp>(inner) ? WalkResult::interrupt()
                                          : WalkResult::advance();
      })
      .wasInterrupted();
}

static SmallVector<Operation *> streamOps(Block *block) {
  SmallVector<Operation *> ops;
  if (block)
    for (Operation &op : *block)
      if (usesStream(&op))
        ops.push_back(&op);
  return ops;
}

bool PartMatcher::sameRange(scf::ForOp a, scf::ForOp b) {
  return same(a.getLowerBound(), b.getLowerBound()) &&
         same(a.getUpperBound(), b.getUpperBound()) &&
         same(a.getStep(), b.getStep()) &&
         a.getUnsignedCmp() == b.getUnsignedCmp();
}

bool PartMatcher::same(Value a, Value b) {
  if (a.getType() != b.getType())
    return false;
  if (!pairs.insert({a, b}).second)
    return true;
  auto argument = dyn_cast<BlockArgument>(a);
  auto other = dyn_cast<BlockArgument>(b);
  if (argument && other) {
    Operation *owner = argument.getOwner()->getParentOp();
    Operation *otherOwner = other.getOwner()->getParentOp();
    if (isa<PartOp>(owner) && isa<PartOp>(otherOwner))
      return argument.getArgNumber() == other.getArgNumber();
    auto loop = dyn_cast<scf::ForOp>(owner);
    auto otherLoop = dyn_cast<scf::ForOp>(otherOwner);
    if (!loop || !otherLoop || !loops.contains({owner, otherOwner}))
      return false;
    unsigned i = argument.getArgNumber(), j = other.getArgNumber();
    if (i == 0 || j == 0)
      return i == j;
    return same(loop.getInitArgs()[i - 1], otherLoop.getInitArgs()[j - 1]) &&
           same(loop.getYieldedValues()[i - 1],
                otherLoop.getYieldedValues()[j - 1]);
  }
  if (argument || other)
    return false;
  Operation *op = a.getDefiningOp(), *second = b.getDefiningOp();
  unsigned i = cast<OpResult>(a).getResultNumber();
  unsigned j = cast<OpResult>(b).getResultNumber();
  if (op->getName() != second->getName())
    return false;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    auto otherLoop = cast<scf::ForOp>(second);
    if (!sameRange(loop, otherLoop))
      return false;
    loops.insert({op, second});
    return same(loop.getRegionIterArg(i), otherLoop.getRegionIterArg(j));
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    auto otherBranch = cast<scf::IfOp>(second);
    return same(branch.getCondition(), otherBranch.getCondition()) &&
           same(branch.thenYield().getOperand(i),
                otherBranch.thenYield().getOperand(j)) &&
           same(branch.elseYield().getOperand(i),
                otherBranch.elseYield().getOperand(j));
  }
  if (i != j || !isMemoryEffectFree(op) || op->getNumRegions() != 0 ||
      op->getNumOperands() != second->getNumOperands() ||
      op->getAttrDictionary() != second->getAttrDictionary())
    return false;
  return llvm::all_of(llvm::zip(op->getOperands(), second->getOperands()),
                      [&](auto operands) {
                        auto [x, y] = operands;
                        return same(x, y);
                      });
}

LogicalResult PartMatcher::matchOps(Operation *load, Operation *compute) {
  auto disagree = [&](Operation *op, Operation *with,
                      const Twine &text) -> LogicalResult {
    InFlightDiagnostic diagnostic = op->emitOpError("D1: ") << text;
    diagnostic.attachNote(with->getLoc()) << "this op is to match it";
    return diagnostic;
  };
  auto fill = dyn_cast<FillOp>(load);
  auto take = dyn_cast<TakeOp>(compute);
  if (fill && take) {
    if (fill.getStream() == take.getStream())
      return success();
    return disagree(fill, take,
                    "fills stream '" + fill.getStream() +
                        "', but the compute part takes from '" +
                        take.getStream() + "'");
  }
  auto loop = dyn_cast<scf::ForOp>(load);
  auto otherLoop = dyn_cast<scf::ForOp>(compute);
  if (loop && otherLoop) {
    if (!sameRange(loop, otherLoop))
      return disagree(loop, otherLoop,
                      "does not have the bounds of the compute part's loop");
    loops.insert({load, compute});
    return match(*loop.getBody(), *otherLoop.getBody());
  }
  auto branch = dyn_cast<scf::IfOp>(load);
  auto otherBranch = dyn_cast<scf::IfOp>(compute);
  if (branch && otherBranch) {
    if (!same(branch.getCondition(), otherBranch.getCondition()))
      return disagree(
          branch, otherBranch,
          "does not have the condition of the compute part's branch");
    if (failed(match(*branch.thenBlock(), *otherBranch.thenBlock())))
      return failure();
    Block empty;
    return match(branch.elseBlock() ? *branch.elseBlock() : empty,
                 otherBranch.elseBlock() ? *otherBranch.elseBlock() : empty);
  }
  return disagree(load, compute, "does not match the compute part");
}

LogicalResult PartMatcher::match(Block &load, Block &compute) {
  SmallVector<Operation *> fills = streamOps(&load);
  SmallVector<Operation *> takes = streamOps(&compute);
  for (auto [a, b] : llvm::zip(fills, takes))
    if (failed(matchOps(a, b)))
      return failure();
  if (fills.size() == takes.size())
    return success();
  Operation *extra =
      fills.size() > takes.size() ? fills[takes.size()] : takes[fills.size()];
  return extra->emitOpError("D1: has nothing that matches it in the ")
         << (fills.size() > takes.size() ? "compute" : "load") << " part";
}

/// D2: no other access between the ops of a take and its give.
static LogicalResult verifyOrder(Block &block) {
  llvm::StringMap<TakeOp> held;
  for (Operation &op : block) {
    if (auto take = dyn_cast<TakeOp>(op)) {
      auto [it, inserted] = held.insert({take.getStream(), take});
      if (!inserted) {
        InFlightDiagnostic diagnostic =
            take.emitOpError("D2: takes from stream '")
            << take.getStream() << "' before the last tile was given back";
        diagnostic.attachNote(it->second.getLoc()) << "the tile is taken here";
        return diagnostic;
      }
    } else if (auto give = dyn_cast<GiveOp>(op)) {
      if (!held.erase(give.getStream()))
        return give.emitOpError("D2: gives back to stream '")
               << give.getStream()
               << "', but no tile was taken from it in this block";
    }
    WalkResult result = op.walk([&](Operation *inner) {
      if (inner == &op || !isa<TakeOp, GiveOp>(inner))
        return WalkResult::advance();
      StringRef stream = isa<TakeOp>(inner) ? cast<TakeOp>(inner).getStream()
                                            : cast<GiveOp>(inner).getStream();
      auto it = held.find(stream);
      if (it == held.end())
        return WalkResult::advance();
      InFlightDiagnostic diagnostic =
          inner->emitOpError("D2: uses stream '")
          << stream << "' before the last tile was given back";
      diagnostic.attachNote(it->second.getLoc()) << "the tile is taken here";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        if (failed(verifyOrder(inner)))
          return failure();
  }
  for (auto &[stream, take] : held)
    return take.emitOpError("D2: the tile of stream '")
           << stream << "' is not given back in its block";
  return success();
}

/// D3
static LogicalResult verifyUses(TakeOp take) {
  std::string reason;
  Operation *last = findLastUse(take.getTile(), reason);
  if (!last)
    return take.emitOpError("D3: ") << reason;
  for (Operation *op = take->getNextNode(); op; op = op->getNextNode()) {
    auto give = dyn_cast<GiveOp>(op);
    if (!give || give.getStream() != take.getStream())
      continue;
    if (last->isBeforeInBlock(give))
      return success();
    InFlightDiagnostic diagnostic =
        give.emitOpError("D3: gives the tile back before its last use");
    diagnostic.attachNote(last->getLoc()) << "it is used here";
    return diagnostic;
  }
  return success();
}

/// D4
static LogicalResult verifyLoadOp(Operation *op) {
  if (isa<FillOp, scf::ForOp, scf::IfOp>(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return success();
  if (!isMemoryEffectFree(op) || op->getNumRegions() != 0)
    return op->emitOpError("D4: is more than an address needs, in a load part");
  return success();
}

/// D5
static LogicalResult verifyRings(KernelOp kernel) {
  auto topology =
      kernel->getParentOfType<ProgramOp>()->getAttrOfType<TopologyAttr>(
          "dataflow.topology");
  if (!topology || kernel.getRingBytes() <= topology.getSharedBytes())
    return success();
  return kernel.emitOpError("D5: rings have ")
         << kernel.getRingBytes() << " bytes, shared memory has "
         << topology.getSharedBytes();
}

LogicalResult mlir::df::verifyKernel(KernelOp kernel) {
  if (failed(verifyRings(kernel)))
    return failure();
  for (PartOp part : kernel.getParts()) {
    if (part.getRole() == PartRole::load) {
      WalkResult result = part.getBody().walk([](Operation *op) {
        return failed(verifyLoadOp(op)) ? WalkResult::interrupt()
                                        : WalkResult::advance();
      });
      PartOp other =
          kernel.getPart(part.getHandlerAttr().getAttr(), PartRole::compute);
      if (result.wasInterrupted() ||
          failed(PartMatcher().match(part.getBody().front(),
                                     other.getBody().front())))
        return failure();
      continue;
    }
    bool alone =
        !kernel.getPart(part.getHandlerAttr().getAttr(), PartRole::load);
    if (alone) {
      Block empty;
      if (failed(PartMatcher().match(empty, part.getBody().front())))
        return failure();
    }
    if (failed(verifyOrder(part.getBody().front())) ||
        failed(verifyFragments(part)) || failed(verifyFollowing(part)))
      return failure();
    WalkResult result = part.getBody().walk([](TakeOp take) {
      return failed(verifyUses(take)) ? WalkResult::interrupt()
                                      : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

namespace {

struct VerifyKernelPass : public df::impl::VerifyKernelBase<VerifyKernelPass> {
  using VerifyKernelBase::VerifyKernelBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (auto kernel : getOperation().getBody().getOps<KernelOp>())
      if (failed(verifyKernel(kernel)))
        return signalPassFailure();
  }
};

} // namespace
