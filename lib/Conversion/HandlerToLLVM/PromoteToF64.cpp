//===- PromoteToF64.cpp - The reference form of a body --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values are of two sorts: `stored` ones, which are operands of the program or
// views of them and keep their element type, and all others, whose floats
// become f64. Where an operation reads a stored value, an extension is
// inserted: in the body of a structured operation for its inputs, in front of
// the operation otherwise.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

static bool isFloatLike(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

static Type promoted(Type type) {
  if (!isFloatLike(type))
    return type;
  Type f64 = Float64Type::get(type.getContext());
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(f64);
  return f64;
}

static bool needsExtension(Type type) {
  return isFloatLike(type) && !getElementTypeOrSelf(type).isF64();
}

static bool isView(Operation *op) {
  return isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp,
             tensor::ExpandShapeOp, tensor::CastOp>(op);
}

namespace {

class Promotion {
public:
  Promotion(Region &body, MLIRContext *context)
      : body(body), rewriter(context) {}

  LogicalResult run(unsigned firstOperand, unsigned lastOperand);

private:
  LogicalResult visit(Operation *op);
  LogicalResult promoteConstant(arith::ConstantOp op);
  Value extend(Value value) {
    return arith::ExtFOp::create(rewriter, value.getLoc(),
                                 promoted(value.getType()), value);
  }
  /// Extends the stored operands of `op` in front of it.
  void extendOperands(Operation *op);
  void promoteArguments(Block &block) {
    for (BlockArgument argument : block.getArguments())
      if (!stored.contains(argument))
        argument.setType(promoted(argument.getType()));
  }

  Region &body;
  IRRewriter rewriter;
  DenseSet<Value> stored;
  SmallVector<Operation *> conversions;
};

} // namespace

void Promotion::extendOperands(Operation *op) {
  rewriter.setInsertionPoint(op);
  for (OpOperand &operand : op->getOpOperands())
    if (stored.contains(operand.get()) &&
        needsExtension(operand.get().getType()))
      operand.set(extend(operand.get()));
}

LogicalResult Promotion::promoteConstant(arith::ConstantOp op) {
  if (!isFloatLike(op.getType()))
    return success();
  const llvm::fltSemantics &f64 = llvm::APFloat::IEEEdouble();
  auto convert = [&](llvm::APFloat value) {
    bool lossy;
    value.convert(f64, llvm::APFloat::rmNearestTiesToEven, &lossy);
    return value;
  };
  TypedAttr attribute;
  if (auto scalar = dyn_cast<FloatAttr>(op.getValue())) {
    attribute =
        FloatAttr::get(promoted(op.getType()), convert(scalar.getValue()));
  } else if (auto dense = dyn_cast<DenseFPElementsAttr>(op.getValue())) {
    attribute = dense.mapValues(Float64Type::get(op.getContext()),
                                [&](const llvm::APFloat &value) {
                                  return convert(value).bitcastToAPInt();
                                });
  } else {
    return op.emitOpError("holds a constant that has no f64 form");
  }
  op.setValueAttr(attribute);
  op.getResult().setType(attribute.getType());
  return success();
}

LogicalResult Promotion::visit(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      promoteArguments(block);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return promoteConstant(constant);
  if (isView(op) && stored.contains(op->getOperand(0))) {
    stored.insert(op->getResult(0));
    return success();
  }
  if (isa<tensor::DimOp>(op))
    return success();
  // A padded operand keeps its type too; the padding is a number of that type.
  if (isa<tensor::PadOp>(op) && stored.contains(op->getOperand(0))) {
    stored.insert(op->getResult(0));
    return success();
  }
  if (auto pad = dyn_cast_or_null<tensor::PadOp>(op->getParentOp());
      pad && isa<tensor::YieldOp>(op) && stored.contains(pad.getResult())) {
    Type element = pad.getResultType().getElementType();
    if (needsExtension(element) && !stored.contains(op->getOperand(0))) {
      rewriter.setInsertionPoint(op);
      op->setOperand(0, arith::TruncFOp::create(rewriter, op->getLoc(), element,
                                                op->getOperand(0)));
    }
    return success();
  }
  if (isa<tensor::ExtractOp>(op) && stored.contains(op->getOperand(0))) {
    if (!needsExtension(op->getResult(0).getType()))
      return success();
    rewriter.setInsertionPointAfter(op);
    Value extended = extend(op->getResult(0));
    rewriter.replaceAllUsesExcept(op->getResult(0), extended,
                                  extended.getDefiningOp());
    stored.insert(op->getResult(0));
    return success();
  }
  if (auto bitcast = dyn_cast<arith::BitcastOp>(op))
    if (isFloatLike(bitcast.getType()) ||
        isFloatLike(bitcast.getIn().getType()))
      return op->emitOpError(
          "reads the bits of a float, which the f64 reference cannot follow");
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    rewriter.setInsertionPointToStart(generic.getBody());
    for (OpOperand *input : generic.getDpsInputOperands()) {
      if (!stored.contains(input->get()) ||
          !needsExtension(input->get().getType()))
        continue;
      BlockArgument argument = generic.getMatchingBlockArgument(input);
      argument.setType(getElementTypeOrSelf(input->get().getType()));
      Value extended = extend(argument);
      rewriter.replaceAllUsesExcept(argument, extended,
                                    extended.getDefiningOp());
      stored.insert(argument);
    }
    rewriter.setInsertionPoint(op);
    for (OpOperand &init : generic.getDpsInitsMutable())
      if (stored.contains(init.get()) && needsExtension(init.get().getType()))
        init.set(extend(init.get()));
  } else {
    extendOperands(op);
  }
  for (OpResult result : op->getResults())
    result.setType(promoted(result.getType()));
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    conversions.push_back(op);
  return success();
}

LogicalResult Promotion::run(unsigned firstOperand, unsigned lastOperand) {
  // Named operations hide conversions of their inputs; make them visible.
  SmallVector<linalg::LinalgOp> named;
  body.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp>(op.getOperation()))
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return op.emitOpError("has no generic form");
  }

  for (auto [number, argument] : llvm::enumerate(body.getArguments())) {
    if (number >= firstOperand && number < lastOperand)
      stored.insert(argument);
    else
      argument.setType(promoted(argument.getType()));
  }
  // Before anything is inserted: the order is that of the program.
  SmallVector<Operation *> order;
  body.walk<WalkOrder::PreOrder>([&](Operation *op) { order.push_back(op); });
  for (Operation *op : order)
    if (failed(visit(op)))
      return failure();
  for (Operation *op : conversions)
    rewriter.replaceOp(op, op->getOperand(0));
  return success();
}

LogicalResult df::handlers::promoteToF64(Region &body, MLIRContext *context,
                                         unsigned firstOperand,
                                         unsigned lastOperand) {
  return Promotion(body, context).run(firstOperand, lastOperand);
}
