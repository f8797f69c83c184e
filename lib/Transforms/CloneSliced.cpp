//===- CloneSliced.cpp - A handler for one slice --------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The clone is changed in place: values that the analysis calls sliced get the
// type of a slice, and where such a value meets a whole one, the whole one is
// cut.
//
//===----------------------------------------------------------------------===//

#include "SliceAnalysis.h"
#include "dataflow/Transforms/Separability.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::df;

namespace {

class Slicer {
public:
  Slicer(Region &body, SliceAnalysis &analysis, uint32_t slices)
      : body(body), analysis(analysis), slices(slices),
        builder(body.getContext()) {}

  /// Changes the body; `slice` becomes argument number `position`.
  void run(unsigned position, ArrayRef<SliceState> results);

private:
  void rewrite(Operation *op);
  void rewriteLinalg(linalg::LinalgOp op);
  void rewriteInsertSlice(tensor::InsertSliceOp op);
  /// Makes `op`, a write of a whole value to an output, happen for slice 0.
  void writeOnce(Operation *op);
  void rewriteExtractSlice(tensor::ExtractSliceOp op);
  /// Cuts `operand`, if it is whole, along `dim`.
  void cut(OpOperand &operand, int64_t dim);
  Value makeNarrow(Value whole, int64_t dim);
  RankedTensorType shrink(Type type, int64_t dim) const;
  /// The first index of the slice along a dimension of this extent.
  Value offset(int64_t extent);

  Region &body;
  SliceAnalysis &analysis;
  int64_t slices;
  OpBuilder builder;
  Value slice;
  DenseMap<int64_t, Value> offsets;
  /// Sliced values that already have the type of a slice.
  DenseSet<Value> narrow;
};

} // namespace

RankedTensorType Slicer::shrink(Type type, int64_t dim) const {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape[dim] /= slices;
  return tensor.clone(shape);
}

Value Slicer::offset(int64_t extent) {
  Value &value = offsets[extent];
  if (!value) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&body.front());
    Location loc = slice.getLoc();
    Value width = arith::ConstantIndexOp::create(builder, loc, extent / slices);
    value = arith::MulIOp::create(builder, loc, slice, width);
  }
  return value;
}

/// The slice of a whole value. Values without contents of their own are made
/// narrow at once.
Value Slicer::makeNarrow(Value whole, int64_t dim) {
  auto type = cast<RankedTensorType>(whole.getType());
  RankedTensorType narrow = shrink(type, dim);
  Location loc = whole.getLoc();
  if (whole.getDefiningOp<tensor::EmptyOp>())
    return tensor::EmptyOp::create(builder, loc, narrow.getShape(),
                                   narrow.getElementType());
  if (auto splat = whole.getDefiningOp<tensor::SplatOp>())
    return tensor::SplatOp::create(builder, loc, narrow, splat.getInput(),
                                   ValueRange());
  if (auto fill = whole.getDefiningOp<linalg::FillOp>()) {
    Value empty = tensor::EmptyOp::create(builder, loc, narrow.getShape(),
                                          narrow.getElementType());
    return linalg::FillOp::create(builder, loc, fill.getInputs(), empty)
        ->getResult(0);
  }
  DenseElementsAttr dense;
  if (matchPattern(whole, m_Constant(&dense)) && dense.isSplat())
    return arith::ConstantOp::create(builder, loc, dense.resizeSplat(narrow));
  SmallVector<OpFoldResult> starts(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> steps(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes;
  for (int64_t extent : narrow.getShape())
    sizes.push_back(builder.getIndexAttr(extent));
  starts[dim] = offset(type.getDimSize(dim));
  return tensor::ExtractSliceOp::create(builder, loc, narrow, whole, starts,
                                        sizes, steps);
}

void Slicer::cut(OpOperand &operand, int64_t dim) {
  if (analysis.state(operand.get()).isSliced())
    return;
  builder.setInsertionPoint(operand.getOwner());
  Value value = makeNarrow(operand.get(), dim);
  operand.set(value);
  narrow.insert(value);
  analysis.setState(value, SliceState::sliced(dim));
}

void Slicer::rewriteExtractSlice(tensor::ExtractSliceOp op) {
  int64_t dim = analysis.state(op.getSource()).dim;
  SliceState result = analysis.state(op.getResult());
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  sizes[dim] =
      builder.getIndexAttr(op.getSourceType().getDimSize(dim) / slices);
  builder.setInsertionPoint(op);
  Value value = tensor::ExtractSliceOp::create(
      builder, op.getLoc(), shrink(op.getType(), result.dim), op.getSource(),
      op.getMixedOffsets(), sizes, op.getMixedStrides());
  op.getResult().replaceAllUsesWith(value);
  narrow.insert(value);
  analysis.setState(value, result);
  // The state of a result that is gone must not outlive it.
  analysis.setState(op.getResult(), SliceState());
  op.erase();
}

void Slicer::rewriteLinalg(linalg::LinalgOp op) {
  int64_t loop = *analysis.findLoop(op);
  int64_t extent = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<ShapedType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [i, expression] : llvm::enumerate(map.getResults())) {
      if (!expression.isFunctionOfDim(loop))
        continue;
      if (analysis.state(operand.get()).isSliced())
        extent = cast<ShapedType>(operand.get().getType()).getDimSize(i);
      cut(operand, i);
    }
  }
  // Indices count from the start of the whole dimension.
  SmallVector<linalg::IndexOp> indices;
  op->walk([&](linalg::IndexOp index) {
    if (int64_t(index.getDim()) == loop)
      indices.push_back(index);
  });
  for (linalg::IndexOp index : indices) {
    Value start = offset(extent);
    builder.setInsertionPointAfter(index);
    auto moved = arith::AddIOp::create(builder, index.getLoc(),
                                       index.getResult(), start);
    index.getResult().replaceAllUsesExcept(moved, moved);
  }
}

void Slicer::writeOnce(Operation *op) {
  builder.setInsertionPoint(op);
  Location loc = op->getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      slice, zero);
  Value dest = isa<tensor::InsertOp>(op)
                   ? cast<tensor::InsertOp>(op).getDest()
                   : cast<tensor::InsertSliceOp>(op).getDest();
  auto branch = scf::IfOp::create(builder, loc, op->getResultTypes(), first,
                                  /*withElseRegion=*/true);
  op->getResult(0).replaceAllUsesWith(branch.getResult(0));
  op->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  builder.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(builder, loc, op->getResults());
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loc, dest);
}

void Slicer::rewriteInsertSlice(tensor::InsertSliceOp op) {
  SliceState source = analysis.state(op.getSource());
  SliceState result = analysis.state(op.getResult());
  if (!result.isSliced() && !source.isSliced())
    return writeOnce(op);
  int64_t dim = result.isSliced()
                    ? result.dim
                    : SliceAnalysis::bigDim(op.getDroppedDims(), source.dim);
  SmallVector<OpFoldResult> starts = op.getMixedOffsets();
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  SmallVector<OpFoldResult> steps = op.getMixedStrides();
  int64_t extent = *getConstantIntValue(sizes[dim]);
  int64_t small = SliceAnalysis::smallDim(op.getDroppedDims(), dim);
  if (result.isSliced()) {
    cut(op.getDestMutable(), dim);
    cut(op.getSourceMutable(), small);
    builder.setInsertionPoint(op);
  } else {
    builder.setInsertionPoint(op);
    Value start =
        getValueOrCreateConstantIndexOp(builder, op.getLoc(), starts[dim]);
    Value within = offset(extent);
    starts[dim] =
        arith::AddIOp::create(builder, op.getLoc(), start, within).getResult();
  }
  sizes[dim] = builder.getIndexAttr(extent / slices);
  Value value = tensor::InsertSliceOp::create(
      builder, op.getLoc(), op.getSource(), op.getDest(), starts, sizes, steps);
  if (narrow.contains(op.getDest()))
    narrow.insert(value);
  op.getResult().replaceAllUsesWith(value);
  analysis.setState(value, result);
  analysis.setState(op.getResult(), SliceState());
  op.erase();
}

void Slicer::rewrite(Operation *op) {
  if (auto yield = dyn_cast<scf::YieldOp>(op)) {
    for (OpOperand &operand : op->getOpOperands()) {
      Value result = op->getParentOp()->getResult(operand.getOperandNumber());
      if (SliceState state = analysis.state(result); state.isSliced())
        cut(operand, state.dim);
    }
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, argument] :
         llvm::zip(loop.getInitArgsMutable(), loop.getRegionIterArgs()))
      if (SliceState state = analysis.state(argument); state.isSliced())
        cut(init, state.dim);
    return;
  }
  if (isa<scf::IfOp>(op))
    return;
  if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
    if (analysis.state(insert.getResult()) == SliceState::output())
      writeOnce(op);
    return;
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    if (analysis.state(insert.getResult()) != SliceState())
      rewriteInsertSlice(insert);
    return;
  }
  if (op->getNumResults() == 0 || !analysis.state(op->getResult(0)).isSliced())
    return;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return rewriteLinalg(structured);
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
    return rewriteExtractSlice(extract);
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      cut(operand, analysis.state(op->getResult(0)).dim);
}

void Slicer::run(unsigned position, ArrayRef<SliceState> results) {
  slice = body.insertArgument(position, builder.getIndexType(), body.getLoc());
  SmallVector<Operation *> order;
  body.walk<WalkOrder::PreOrder>([&](Operation *op) { order.push_back(op); });
  for (Operation *op : order)
    rewrite(op);
  for (auto [operand, state] :
       llvm::zip(body.front().getTerminator()->getOpOperands(), results))
    if (state.isSliced())
      cut(operand, state.dim);
  for (Value value : analysis.slicedValues())
    if (!narrow.contains(value))
      value.setType(shrink(value.getType(), analysis.state(value).dim));
}

FailureOr<HandlerOp> mlir::df::cloneSliced(StageOpInterface stage,
                                           const Separability &separability) {
  auto handler =
      dyn_cast_or_null<HandlerOp>(stage.lookupHandler().getOperation());
  if (!handler)
    return failure();
  auto arguments = SliceAnalysis::argumentStates(stage, separability.dims);
  OwningOpRef<HandlerOp> clone = handler.clone();
  Region &body = clone->getBody();
  SliceAnalysis analysis;
  if (arguments.size() != body.getNumArguments() ||
      !analysis.run(body, arguments))
    return failure();
  bool isReduce = stage.getStageKind() == StageKind::reduce;
  SmallVector<SliceState> results;
  if (isReduce)
    results.assign(arguments.begin(),
                   arguments.begin() + separability.dims.size());
  else
    results.append(stage.getWrittenTensors().size(), SliceState::output());
  unsigned position = isReduce ? 0 : stage.lookupTasks().getAxes().size();
  Slicer(body, analysis, separability.slices).run(position, results);

  MLIRContext *context = handler.getContext();
  clone->setFunctionType(
      FunctionType::get(context, body.getArgumentTypes(),
                        body.front().getTerminator()->getOperandTypes()));
  if (ArrayAttr attributes = clone->getArgAttrsAttr()) {
    SmallVector<Attribute> entries(attributes.getValue());
    entries.insert(entries.begin() + position, DictionaryAttr::get(context));
    clone->setArgAttrsAttr(ArrayAttr::get(context, entries));
  }
  clone->setSymName((handler.getSymName() + "_sliced").str());
  clone->setVariantAttr(VariantAttr::get(context, VariantKind::sliced, 0));
  clone->setVariantOfAttr(FlatSymbolRefAttr::get(handler.getSymNameAttr()));
  return clone.release();
}
