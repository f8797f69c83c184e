//===- VerifyFollowing.cpp - Proof that a finalize is done or left --------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rule D8 of `dataflow-verify-kernel`: a part does all of a following finalize
// where it is told to, and nothing of it elsewhere.
//
//===----------------------------------------------------------------------===//

#include "VerifyFragments.h"
#include "dataflow/IR/FollowingPart.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::df;

LogicalResult mlir::df::verifyFollowing(PartOp part) {
  if (!getFollowing(part))
    return success();
  if (!part.getFragments())
    return part.emitOpError("D8: has a following finalize, but no fragments");
  BlockArgument follows = getFollows(part);
  scf::IfOp branch;
  if (follows.hasOneUse())
    branch = dyn_cast<scf::IfOp>(*follows.getUsers().begin());
  if (!branch || branch->getParentOp() != part)
    return part.emitOpError("D8: its last argument is not the condition of one "
                            "branch in its block");
  for (BlockArgument output : getFollowingOutputs(part))
    for (Operation *user : output.getUsers()) {
      bool leaves = branch.elseBlock() && user == branch.elseYield();
      if (!leaves &&
          !branch.getThenRegion().isAncestor(user->getParentRegion()))
        return user->emitOpError("D8: uses an output of the following finalize "
                                 "outside of its branch");
    }
  WalkResult result = branch.getThenRegion().walk([](Operation *op) {
    if (!isa<TakeOp, GiveOp>(op))
      return WalkResult::advance();
    op->emitOpError(
        "D8: uses a stream in the branch of the following finalize");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
