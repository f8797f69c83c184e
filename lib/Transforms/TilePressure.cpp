//===- TilePressure.cpp - Registers that tiles take at a time -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is alive behind an operation must fit into registers. An elementwise
// operation needs no more: it goes through its tiles element by element.
//
//===----------------------------------------------------------------------===//

#include "AssignLayouts.h"

#include "dataflow/IR/FollowingPart.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::df;

/// Whether `value` is there once `op` is done, in the same pass of its loops.
static bool isDefined(Value value, Operation *op) {
  Block *block = value.getParentBlock();
  Operation *around = block->findAncestorOpInBlock(*op);
  Operation *definition = value.getDefiningOp();
  if (!around || !definition)
    return around != nullptr;
  return definition == op ||
         (definition != around && definition->isBeforeInBlock(around));
}

/// Whether an op is part of a finalize that follows. What its part yields for
/// the handler is not used then.
static bool isInFollowing(Operation *op, PartOp part) {
  if (!getFollowing(part))
    return false;
  Operation *branch = part.getBody().front().findAncestorOpInBlock(*op);
  return branch != op && isa<scf::IfOp>(branch) &&
         cast<scf::IfOp>(branch).getCondition() == getFollows(part);
}

/// Whether `value` may be used once `op` is done.
static bool isUsedBehind(Value value, Operation *op) {
  bool follows = isInFollowing(op, op->getParentOfType<PartOp>());
  for (Operation *user : value.getUsers()) {
    if (follows && isa<YieldOp>(user))
      continue;
    Operation *here = op;
    // From the inside outwards, until both are in one block.
    for (Block *block = op->getBlock();; block = here->getBlock()) {
      if (Operation *there = block->findAncestorOpInBlock(*user)) {
        if (here != there && here->isBeforeInBlock(there))
          return true;
        break;
      }
      here = block->getParentOp();
    }
  }
  // The next pass of a loop around the op uses it again.
  for (Operation *loop = op->getParentOp();
       loop && loop->isProperAncestor(op) && !isa<PartOp>(loop);
       loop = loop->getParentOp())
    if (isa<scf::ForOp>(loop) &&
        !loop->getRegion(0).isAncestor(value.getParentRegion()) &&
        llvm::any_of(value.getUsers(), [&](Operation *user) {
          return loop->isProperAncestor(user);
        }))
      return true;
  return false;
}

TilePressure
mlir::df::findPressure(PartOp part,
                       llvm::function_ref<int64_t(Value)> registersOf,
                       Operation *within) {
  SmallVector<std::pair<Value, int64_t>> tiles;
  SmallVector<Operation *> ops;
  auto add = [&](ValueRange values) {
    for (Value value : values)
      if (int64_t registers = registersOf(value))
        tiles.push_back({value, registers});
  };
  part.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!within || within->isProperAncestor(op))
      ops.push_back(op);
    add(op->getResults());
    if (isa<linalg::LinalgOp>(op))
      return WalkResult::skip();
    for (Region &region : op->getRegions())
      add(region.getArguments());
    return WalkResult::advance();
  });
  TilePressure most;
  for (Operation *op : ops) {
    int64_t registers = 0;
    for (auto &[tile, count] : tiles)
      if (isDefined(tile, op) && isUsedBehind(tile, op))
        registers += count;
    if (registers > most.registers)
      most = {op, registers};
  }
  return most;
}
