//===- LoadSlice.cpp - What a load role must know -------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A backward slice of a handler body: from the offsets and sizes of a load, and
// the bounds and conditions around it, to the instruction's fields and to
// elements of operands. Everything in it is pure and scalar, views of operands
// apart, so that the load role may compute it again, at any time.
//
//===----------------------------------------------------------------------===//

#include "SplitRoles.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::df;

static bool refuse(std::string &reason, const Twine &text) {
  reason = text.str();
  return false;
}

static std::string quoted(Operation *op) {
  return "'" + op->getName().getStringRef().str() + "'";
}

/// Ops that compute addresses: of scalars, and views of operands.
static bool isAddressOp(Operation *op) {
  if (isa<tensor::ExtractOp, tensor::DimOp, tensor::CastOp,
          tensor::ExtractSliceOp, affine::AffineApplyOp, affine::AffineMinOp,
          affine::AffineMaxOp, RangeTilesOp>(op))
    return true;
  return isa_and_nonnull<arith::ArithDialect, index::IndexDialect,
                         math::MathDialect>(op->getDialect()) &&
         !isa<ShapedType>(op->getResult(0).getType());
}

bool LoadSlice::need(Value value, Marks &into, std::string &reason) const {
  if (marks.values.contains(value) || !into.values.insert(value).second)
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *owner = argument.getOwner()->getParentOp();
    unsigned number = argument.getArgNumber();
    if (owner == frame.handler.getOperation())
      return number < frame.endOperand ||
             refuse(reason, "it depends on a record or an output");
    auto loop = dyn_cast<scf::ForOp>(owner);
    if (!loop)
      return refuse(reason, "it depends on an argument of " + quoted(owner));
    if (number == 0)
      return needOp(loop, into, reason);
    if (isa<ShapedType>(value.getType()))
      return refuse(reason, "it depends on a tensor that a loop carries");
    return needOp(loop, into, reason) &&
           need(loop.getInitArgs()[number - 1], into, reason) &&
           need(loop.getYieldedValues()[number - 1], into, reason);
  }
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return need(loop.getRegionIterArg(number), into, reason);
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (isa<ShapedType>(value.getType()))
      return refuse(reason, "it depends on a tensor that a branch yields");
    return needOp(branch, into, reason) &&
           need(branch.thenYield().getOperand(number), into, reason) &&
           need(branch.elseYield().getOperand(number), into, reason);
  }
  return needOp(op, into, reason);
}

bool LoadSlice::needOp(Operation *op, Marks &into, std::string &reason) const {
  if (marks.ops.contains(op) || !into.ops.insert(op).second)
    return true;
  if (!needAround(op, into, reason))
    return false;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return need(loop.getLowerBound(), into, reason) &&
           need(loop.getUpperBound(), into, reason) &&
           need(loop.getStep(), into, reason);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return need(branch.getCondition(), into, reason);
  if (!isAddressOp(op) || !isMemoryEffectFree(op))
    return refuse(reason, "it depends on " + quoted(op));
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return need(operand, into, reason);
  });
}

/// The loops and branches in which `op` lies.
bool LoadSlice::needAround(Operation *op, Marks &into,
                           std::string &reason) const {
  Operation *parent = op->getParentOp();
  if (parent == frame.handler.getOperation())
    return true;
  if (!isa<scf::ForOp, scf::IfOp>(parent))
    return refuse(reason, "it lies in " + quoted(parent));
  return needOp(parent, into, reason);
}

bool LoadSlice::add(tensor::ExtractSliceOp load, std::string &reason) {
  Marks added;
  if (!needAround(load, added, reason))
    return false;
  for (OperandRange values : {load.getOffsets(), load.getSizes()})
    for (Value value : values)
      if (!need(value, added, reason))
        return false;
  marks.ops.insert(added.ops.begin(), added.ops.end());
  marks.values.insert(added.values.begin(), added.values.end());
  return true;
}
