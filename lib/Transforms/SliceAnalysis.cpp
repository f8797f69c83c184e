//===- SliceAnalysis.cpp - Which values of a body are sliced --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SliceAnalysis.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::df;

bool SliceAnalysis::fail(Operation *op, const Twine &what) {
  why = ("'" + op->getName().getStringRef() + "' " + what).str();
  return false;
}

int64_t SliceAnalysis::bigDim(const llvm::SmallBitVector &dropped,
                              int64_t dim) {
  for (unsigned i = 0; i < dropped.size(); ++i)
    if (!dropped.test(i) && dim-- == 0)
      return i;
  return -1;
}

int64_t SliceAnalysis::smallDim(const llvm::SmallBitVector &dropped,
                                int64_t dim) {
  if (dropped.test(dim))
    return -1;
  int64_t result = dim;
  for (int64_t i = 0; i < dim; ++i)
    result -= dropped.test(i);
  return result;
}

/// A whole value may stand where a sliced one does: the clone cuts it.
bool SliceAnalysis::join(SliceState &into, SliceState from, Operation *op) {
  using Kind = SliceState::Kind;
  if (into == from || (into.isSliced() && from.kind == Kind::whole))
    return true;
  if (into.kind == Kind::whole && from.isSliced()) {
    into = from;
    return true;
  }
  return fail(op, "mixes separable values of different dimensions, or a "
                  "separable value and an output");
}

SmallVector<Value> SliceAnalysis::slicedValues() const {
  SmallVector<Value> result;
  for (auto [value, state] : states)
    if (state.isSliced())
      result.push_back(value);
  return result;
}

SmallVector<SliceState> SliceAnalysis::argumentStates(StageOpInterface stage,
                                                      ArrayRef<int32_t> dims) {
  SmallVector<SliceState> result, fields;
  for (int32_t dim : dims)
    fields.push_back(dim < 0 ? SliceState() : SliceState::sliced(dim));
  if (stage.getStageKind() == StageKind::reduce) {
    result = fields;
  } else {
    unsigned leading =
        stage.lookupTasks().getAxes().size() + stage.getReadTensors().size();
    result.resize(leading);
  }
  llvm::append_range(result, fields);
  result.append(stage.getWrittenTensors().size(), SliceState::output());
  return result;
}

bool SliceAnalysis::run(Region &body, ArrayRef<SliceState> arguments) {
  states.clear();
  why.clear();
  for (auto [argument, state] : llvm::zip(body.getArguments(), arguments))
    states[argument] = state;
  return visitBlock(body.front());
}

bool SliceAnalysis::visitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (!visit(&op))
      return false;
  return true;
}

std::optional<int64_t> SliceAnalysis::findLoop(linalg::LinalgOp op) const {
  int64_t loop = -1;
  for (OpOperand &operand : op->getOpOperands()) {
    SliceState operandState = state(operand.get());
    if (!operandState.isSliced())
      continue;
    auto dim = dyn_cast<AffineDimExpr>(
        op.getMatchingIndexingMap(&operand).getResult(operandState.dim));
    if (!dim || (loop >= 0 && loop != int64_t(dim.getPosition())))
      return std::nullopt;
    loop = dim.getPosition();
  }
  if (loop >= 0 &&
      op.getIteratorTypesArray()[loop] != utils::IteratorType::parallel)
    return std::nullopt;
  return loop;
}

bool SliceAnalysis::visitLinalg(linalg::LinalgOp op) {
  std::optional<int64_t> loop = findLoop(op);
  if (!loop)
    return fail(op, "reduces along the separable dimension or mixes it with "
                    "another");
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<ShapedType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    int64_t position = -1;
    for (auto [i, expression] : llvm::enumerate(map.getResults())) {
      if (!expression.isFunctionOfDim(*loop))
        continue;
      if (!isa<AffineDimExpr>(expression) || position >= 0)
        return fail(op, "reads the separable dimension at computed indices");
      position = i;
    }
    SliceState operandState = state(operand.get());
    if (operandState.isSliced() && position != operandState.dim)
      return fail(op, "reads the separable dimension at another index");
    if (!op.isDpsInit(&operand))
      continue;
    if (position < 0)
      return fail(op, "has a result without the separable dimension");
    states[op.getTiedOpResult(&operand)] = SliceState::sliced(position);
  }
  return true;
}

/// Whether a slice op takes all of dimension `dim` of a tensor of `type`.
static bool coversDim(OffsetSizeAndStrideOpInterface op, ShapedType type,
                      int64_t dim) {
  return isConstantIntValue(op.getMixedOffsets()[dim], 0) &&
         isConstantIntValue(op.getMixedStrides()[dim], 1) &&
         isConstantIntValue(op.getMixedSizes()[dim], type.getDimSize(dim));
}

bool SliceAnalysis::visitExtractSlice(tensor::ExtractSliceOp op) {
  int64_t dim = state(op.getSource()).dim;
  int64_t to = smallDim(op.getDroppedDims(), dim);
  if (to < 0 || !coversDim(op, op.getSourceType(), dim))
    return fail(op, "takes a part of the separable dimension");
  states[op.getResult()] = SliceState::sliced(to);
  return true;
}

bool SliceAnalysis::visitInsertSlice(tensor::InsertSliceOp op) {
  using Kind = SliceState::Kind;
  SliceState source = state(op.getSource()), dest = state(op.getDest());
  if (source.kind == Kind::output)
    return fail(op, "copies an output tensor");
  if (dest.kind == Kind::output) {
    if (source.isSliced() &&
        !isConstantIntValue(
            op.getMixedStrides()[bigDim(op.getDroppedDims(), source.dim)], 1))
      return fail(op, "has a stride along the separable dimension");
    states[op.getResult()] = SliceState::output();
    return true;
  }
  // Into a temporary tensor: it becomes sliced along the matching dimension.
  int64_t dim =
      source.isSliced() ? bigDim(op.getDroppedDims(), source.dim) : dest.dim;
  if (dest.isSliced() && dest.dim != dim)
    return fail(op, "mixes separable values of different dimensions");
  if (!coversDim(op, op.getDestType(), dim))
    return fail(op, "fills a part of the separable dimension");
  states[op.getResult()] = SliceState::sliced(dim);
  return true;
}

bool SliceAnalysis::visitElementwise(Operation *op) {
  SliceState result;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) &&
        !join(result, state(operand), op))
      return false;
  for (Value value : op->getResults())
    states[value] = result;
  return true;
}

bool SliceAnalysis::visitBranch(Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
    if (!region->empty() && !visitBlock(region->front()))
      return false;
  for (OpResult result : branch->getResults()) {
    unsigned i = result.getResultNumber();
    SliceState joined = state(branch.thenYield().getOperand(i));
    if (!join(joined, state(branch.elseYield().getOperand(i)), op))
      return false;
    states[result] = joined;
  }
  return true;
}

bool SliceAnalysis::visitLoop(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  // A carried value becomes sliced at most once, so this ends.
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
      SliceState &carried = states[loop.getRegionIterArg(i)];
      if (carried == SliceState() && state(loop.getInitArgs()[i]) != carried)
        carried = state(loop.getInitArgs()[i]);
    }
    if (!visitBlock(*loop.getBody()))
      return false;
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
      SliceState carried = state(loop.getRegionIterArg(i)), before = carried;
      if (!join(carried, state(loop.getYieldedValues()[i]), op))
        return false;
      changed |= carried != before;
      states[loop.getRegionIterArg(i)] = carried;
      states[loop.getResult(i)] = carried;
    }
  }
  return true;
}

bool SliceAnalysis::visit(Operation *op) {
  using Kind = SliceState::Kind;
  if (isa<scf::IfOp>(op)) {
    if (state(op->getOperand(0)).kind != Kind::whole)
      return fail(op, "branches on a separable value");
    return visitBranch(op);
  }
  if (isa<scf::ForOp>(op))
    return visitLoop(op);

  bool sliced = false, output = false, scalar = false;
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands()) {
      Kind kind = state(operand).kind;
      sliced |= kind == Kind::sliced;
      output |= kind == Kind::output;
      // Bodies may not look into separable tensors themselves.
      scalar |= nested != op && kind != Kind::whole;
    }
  });
  if (!sliced && !output)
    return true;
  if (scalar)
    return fail(op, "reads a separable value or an output at any index");
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return visitInsertSlice(insert);
  if (auto insert = dyn_cast<tensor::InsertOp>(op);
      insert && output && !sliced) {
    states[insert.getResult()] = SliceState::output();
    return true;
  }
  if (output)
    return fail(op, "uses an output otherwise than to insert into it");
  for (Value value : op->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(value.getType());
        type && state(value).isSliced() && !type.hasStaticShape())
      return fail(op, "has a separable value without static shape");
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return visitLinalg(structured);
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
    return visitExtractSlice(extract);
  if (OpTrait::hasElementwiseMappableTraits(op))
    return visitElementwise(op);
  return fail(op, "is not known to work on one slice");
}
