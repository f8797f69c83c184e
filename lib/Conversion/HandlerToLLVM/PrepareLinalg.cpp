//===- PrepareLinalg.cpp - Loop order and arithmetic of tensors -----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

/// A sum of products: the only reduction whose order is left to the vectoriser
/// (on the cpu) and whose steps may be fused.
static bool isContraction(linalg::GenericOp op) {
  return op.getNumReductionLoops() > 0 &&
         linalg::isaContractionOpInterface(
             cast<linalg::LinalgOp>(op.getOperation()));
}

static void setFastMath(linalg::GenericOp op, arith::FastMathFlags fastMath) {
  auto flags = arith::FastMathFlagsAttr::get(op.getContext(), fastMath);
  op.getBody()->walk([&](arith::ArithFastMathInterface arithmetic) {
    if (isa<arith::AddFOp, arith::MulFOp>(arithmetic.getOperation()))
      arithmetic->setAttr(arithmetic.getFastMathAttrName(), flags);
  });
}

/// How many accesses of `op` have no unit stride when loop `dim` is innermost.
static unsigned stridedAccesses(linalg::GenericOp op, unsigned dim) {
  unsigned count = 0;
  for (AffineMap map : op.getIndexingMapsArray()) {
    for (unsigned i = 0; i + 1 < map.getNumResults(); ++i)
      count += map.getResult(i).isFunctionOfDim(dim);
    if (map.getNumResults() == 0)
      continue;
    AffineExpr last = map.getResult(map.getNumResults() - 1);
    count += last.isFunctionOfDim(dim) && !isa<AffineDimExpr>(last);
  }
  return count;
}

/// Moves the loop with the fewest strided accesses innermost. Reduction loops
/// keep their order among each other unless the sum may be reordered.
static LogicalResult orderLoops(RewriterBase &rewriter, linalg::GenericOp op,
                                bool mayReorder) {
  unsigned loops = op.getNumLoops();
  if (loops < 2)
    return success();
  auto kinds = op.getIteratorTypesArray();
  unsigned best = loops - 1, bestCount = stridedAccesses(op, best);
  for (unsigned dim = loops - 1; dim-- > 0;) {
    bool passesReduction = false;
    for (unsigned other = dim + 1; other < loops; ++other)
      passesReduction |= kinds[other] == utils::IteratorType::reduction;
    if (kinds[dim] == utils::IteratorType::reduction && passesReduction &&
        !mayReorder)
      continue;
    unsigned count = stridedAccesses(op, dim);
    if (count < bestCount) {
      best = dim;
      bestCount = count;
    }
  }
  if (best == loops - 1)
    return success();
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < loops; ++dim)
    if (dim != best)
      order.push_back(dim);
  order.push_back(best);
  rewriter.setInsertionPoint(op);
  return linalg::interchangeGenericOp(rewriter, op, order);
}

/// A splat constant as a fill, so that no table of equal values is stored.
static void materializeSplats(ModuleOp module, RewriterBase &rewriter) {
  SmallVector<arith::ConstantOp> splats;
  module.walk([&](arith::ConstantOp op) {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
    if (type && dense && dense.isSplat())
      splats.push_back(op);
  });
  for (arith::ConstantOp op : splats) {
    rewriter.setInsertionPoint(op);
    auto dense = cast<DenseElementsAttr>(op.getValue());
    auto type = cast<RankedTensorType>(op.getType());
    Value value = arith::ConstantOp::create(
        rewriter, op.getLoc(),
        cast<TypedAttr>(dense.getSplatValue<Attribute>()));
    Value empty = tensor::EmptyOp::create(
        rewriter, op.getLoc(), type.getShape(), type.getElementType());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, value, empty);
  }
}

/// Gives each that starts from a filled tensor a tensor of its own. Empty
/// tensors become the places of results (bufferization); two results that start
/// from the same one would have one place.
static void separateFills(ModuleOp module, RewriterBase &rewriter) {
  SmallVector<linalg::FillOp> fills;
  module.walk([&](linalg::FillOp op) {
    if (op->getNumResults() == 1 && !op->getResult(0).hasOneUse() &&
        op.getOutputs().front().getDefiningOp<tensor::EmptyOp>())
      fills.push_back(op);
  });
  for (linalg::FillOp fill : fills) {
    Operation *empty = fill.getOutputs().front().getDefiningOp();
    for (OpOperand &use :
         llvm::make_early_inc_range(fill->getResult(0).getUses())) {
      auto reader = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
      if (reader && reader.isDpsInput(&use))
        continue;
      rewriter.setInsertionPoint(fill);
      IRMapping map;
      rewriter.clone(*empty, map);
      use.set(rewriter.clone(*fill, map)->getResult(0));
    }
    if (fill->use_empty())
      rewriter.eraseOp(fill);
  }
}

/// Whether `value` is memory that the body may not write.
static bool isReadOnly(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto toTensor = dyn_cast<bufferization::ToTensorOp>(op))
      return !toTensor.getWritable();
    if (!isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp,
             tensor::ExpandShapeOp, tensor::CastOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// Elementwise operations get an operand as output, whatever it is. Where that
/// one cannot be overwritten, a new tensor may become the place of the result;
/// else bufferization makes a copy.
static void dropReadOnlyOutputs(RewriterBase &rewriter, linalg::GenericOp op) {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    auto type = cast<RankedTensorType>(init.get().getType());
    if (!op.getMatchingBlockArgument(&init).use_empty() ||
        op.getNumReductionLoops() != 0 || !type.hasStaticShape() ||
        !isReadOnly(init.get()))
      continue;
    rewriter.setInsertionPoint(op);
    init.set(tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(),
                                     type.getElementType()));
  }
}

/// Bufferization takes an output that the body does not read for overwritten
/// altogether. Where the output's map leaves elements out, they would lose what
/// they held.
static LogicalResult refusePartialWrites(linalg::GenericOp op) {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    if (op.payloadUsesValueFromOperand(&init) ||
        init.get().getDefiningOp<tensor::EmptyOp>())
      continue;
    auto type = cast<ShapedType>(init.get().getType());
    llvm::SmallBitVector seen(op.getNumLoops());
    AffineMap map = op.getMatchingIndexingMap(&init);
    for (auto [dim, result] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(result);
      if (loop && !seen.test(loop.getPosition())) {
        seen.set(loop.getPosition());
        continue;
      }
      if (type.getDimSize(dim) != 1)
        return op.emitOpError("writes only a part of output ")
               << init.getOperandNumber() - op.getNumDpsInputs()
               << ", whose other elements would be lost: its map is "
               << AffineMapAttr::get(map)
               << "; read the output in the body, or use tensor.insert_slice";
    }
  }
  return success();
}

LogicalResult df::handlers::prepareLinalg(ModuleOp module,
                                          HandlerTarget target) {
  PassManager passes(module.getContext());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createConvertElementwiseToLinalgPass());
  if (failed(passes.run(module)))
    return failure();

  IRRewriter rewriter(module.getContext());
  materializeSplats(module, rewriter);
  separateFills(module, rewriter);
  SmallVector<linalg::LinalgOp> named;
  SmallVector<linalg::GenericOp> generics;
  module.walk([&](linalg::LinalgOp op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
      generics.push_back(generic);
    else
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::GenericOp> generic =
        linalg::generalizeNamedOp(rewriter, op);
    if (failed(generic))
      return op.emitOpError("has no generic form that could become loops");
    generics.push_back(*generic);
  }
  for (linalg::GenericOp op : generics) {
    if (failed(refusePartialWrites(op)))
      return failure();
    if (target == HandlerTarget::device)
      dropReadOnlyOutputs(rewriter, op);
    bool contraction = isContraction(op);
    bool mayReorder = contraction && target != HandlerTarget::device;
    if (contraction)
      setFastMath(op, mayReorder ? arith::FastMathFlags::reassoc |
                                       arith::FastMathFlags::contract
                                 : arith::FastMathFlags::contract);
    if (failed(orderLoops(rewriter, op, mayReorder)))
      return op.emitOpError("has loops that cannot be interchanged");
  }
  return success();
}
