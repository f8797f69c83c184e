//===- ShapeMaterialization.cpp - Rewrite a body to its known shapes ------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rewriting half of ShapeRefinement: types in place, constants for values,
// static sizes for constant ones, casts where types must be others.
//
//===----------------------------------------------------------------------===//

#include "ShapeRefinement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::df;

/// Moves constants of the operand list `dynamic` to the `?` of `statics`, which
/// are its positions.
static void foldList(MutableOperandRange dynamic,
                     SmallVector<int64_t> &statics) {
  SmallVector<Value> rest;
  OperandRange operands = dynamic;
  auto next = operands.begin();
  for (int64_t &size : statics) {
    if (size != ShapedType::kDynamic)
      continue;
    Value operand = *next++;
    std::optional<int64_t> value = getConstantIntValue(OpFoldResult(operand));
    if (value && *value >= 0)
      size = *value;
    else
      rest.push_back(operand);
  }
  if (rest.size() != operands.size())
    dynamic.assign(rest);
}

void ShapeRefinement::foldSizes(Operation *op) {
  // The operand list of these has one entry for each `?` of the old type; the
  // new type says which of them are left.
  auto foldAgainstType = [&](MutableOperandRange dynamic, Type declared) {
    SmallVector<int64_t> sizes(cast<RankedTensorType>(declared).getShape());
    foldList(dynamic, sizes);
    op->getResult(0).setType(cast<RankedTensorType>(declared).clone(sizes));
  };
  TypeSwitch<Operation *>(op)
      .Case([&](tensor::EmptyOp empty) {
        foldAgainstType(empty.getDynamicSizesMutable(),
                        declaredTypes.lookup(op));
      })
      .Case([&](tensor::SplatOp splat) {
        foldAgainstType(splat.getDynamicSizesMutable(),
                        declaredTypes.lookup(op));
      })
      .Case([&](tensor::GenerateOp generate) {
        foldAgainstType(generate.getDynamicExtentsMutable(),
                        declaredTypes.lookup(op));
      })
      .Case<tensor::ExtractSliceOp, tensor::InsertSliceOp>([&](auto slice) {
        SmallVector<int64_t> offsets(slice.getStaticOffsets());
        SmallVector<int64_t> sizes(slice.getStaticSizes());
        SmallVector<int64_t> strides(slice.getStaticStrides());
        foldList(slice.getOffsetsMutable(), offsets);
        foldList(slice.getSizesMutable(), sizes);
        foldList(slice.getStridesMutable(), strides);
        slice.setStaticOffsets(offsets);
        slice.setStaticSizes(sizes);
        slice.setStaticStrides(strides);
      })
      .Case([&](tensor::PadOp pad) {
        SmallVector<int64_t> low(pad.getStaticLow()), high(pad.getStaticHigh());
        foldList(pad.getLowMutable(), low);
        foldList(pad.getHighMutable(), high);
        pad.setStaticLow(low);
        pad.setStaticHigh(high);
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        SmallVector<int64_t> shape(expand.getStaticOutputShape());
        foldList(expand.getOutputShapeMutable(), shape);
        // Sizes that follow from the source are no constants in the IR.
        SmallVector<Value> rest;
        auto next = expand.getOutputShape().begin();
        for (auto [i, size] : llvm::enumerate(shape)) {
          if (size != ShapedType::kDynamic)
            continue;
          Value operand = *next++;
          if (expand.getResultType().isDynamicDim(i))
            rest.push_back(operand);
          else
            size = expand.getResultType().getDimSize(i);
        }
        expand.getOutputShapeMutable().assign(rest);
        expand.setStaticOutputShape(shape);
      });
}

unsigned ShapeRefinement::materialize(TypeRange results) {
  Operation *terminator = region.front().getTerminator();
  for (auto [operand, type] : llvm::zip(terminator->getOpOperands(), results))
    want(operand, type);

  SmallVector<Operation *> ops;
  region.walk<WalkOrder::PreOrder>([&](Operation *op) {
    ops.push_back(op);
    if (op->getNumResults() == 1)
      declaredTypes[op] = op->getResult(0).getType();
  });

  for (auto &[value, type] : types)
    value.setType(type);

  // Constants in place, so that what has no other use can go.
  for (auto &[value, constant] : constants) {
    Operation *op = value.getDefiningOp();
    if (!op || isa<arith::ConstantOp>(op) || value.use_empty())
      continue;
    OpBuilder builder(op);
    Value replacement = arith::ConstantOp::create(
        builder, op->getLoc(), integerAttr(value.getType(), constant));
    value.replaceAllUsesWith(replacement);
  }

  for (Operation *op : ops) {
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands()) {
      auto it = wanted.find(&operand);
      if (it == wanted.end() || it->second == operand.get().getType())
        continue;
      operand.set(tensor::CastOp::create(builder, op->getLoc(), it->second,
                                         operand.get()));
    }
    foldSizes(op);
  }

  // Users come after what they use: backwards, one pass is enough.
  for (Operation *op : llvm::reverse(ops)) {
    if (auto cast = dyn_cast<tensor::CastOp>(op);
        cast && cast.getSource().getType() == cast.getType())
      cast.getResult().replaceAllUsesWith(cast.getSource());
    if (auto pad = dyn_cast<tensor::PadOp>(op);
        pad && pad.getSourceType() == pad.getType() &&
        llvm::all_of(pad.getMixedLowPad(), isZeroInteger) &&
        llvm::all_of(pad.getMixedHighPad(), isZeroInteger))
      pad.getResult().replaceAllUsesWith(pad.getSource());
    bool simplified =
        isa<tensor::CastOp, tensor::PadOp, arith::ConstantOp>(op) ||
        llvm::any_of(op->getResults(),
                     [&](Value result) { return constants.contains(result); });
    if (simplified && isOpTriviallyDead(op))
      op->erase();
  }
  unsigned count = types.size();
  types.clear();
  constants.clear();
  wanted.clear();
  declaredTypes.clear();
  return count;
}
