//===- ArgumentExtents.cpp - Extents that handlers rely on ----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArgumentExtents.h"

#include "ShapeRefinement.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::df;

void ArgumentExtents::join(int64_t dimension, int64_t extent) {
  int64_t &known = extents[dimension];
  if (known == kUnseen)
    known = extent;
  else if (known != extent)
    known = kOpen;
}

void ArgumentExtents::open() { llvm::fill(extents, kOpen); }

void ArgumentExtents::addSlice(OffsetSizeAndStrideOpInterface slice) {
  for (int64_t d = 0, rank = extents.size(); d < rank; ++d) {
    bool whole = !slice.isDynamicOffset(d) && slice.getStaticOffset(d) == 0 &&
                 !slice.isDynamicSize(d) && !slice.isDynamicStride(d) &&
                 slice.getStaticStride(d) == 1;
    join(d, whole ? slice.getStaticSize(d) : kOpen);
  }
}

void ArgumentExtents::addUses(Value tensor) {
  for (OpOperand &use : tensor.getUses()) {
    Operation *user = use.getOwner();
    if (isa<StageOpInterface, YieldOp>(user))
      continue; // the handler's own uses are taken in by themselves
    if (auto dim = dyn_cast<tensor::DimOp>(user)) {
      // Whoever asks for an extent is ready for any.
      if (std::optional<int64_t> index = dim.getConstantIndex();
          index && *index >= 0 && *index < int64_t(extents.size()))
        extents[*index] = kOpen;
      else
        open();
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user)) {
      addSlice(slice);
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(user);
               insert && insert.getDest() == tensor) {
      addSlice(insert);
      addUses(insert.getResult());
    } else if (auto loop = dyn_cast<scf::ForOp>(user);
               loop && use.getOperandNumber() >= loop.getNumControlOperands()) {
      addUses(loop.getTiedLoopRegionIterArg(&use));
      addUses(loop.getTiedLoopResult(&use));
    } else if (!isa<scf::YieldOp>(user) ||
               !isa<scf::ForOp>(user->getParentOp())) {
      open(); // what a loop yields is its result, which was taken in above
    }
  }
}

std::optional<int64_t> ArgumentExtents::get(int64_t dimension) const {
  int64_t extent = extents[dimension];
  return extent >= 0 ? std::optional<int64_t>(extent) : std::nullopt;
}

unsigned mlir::df::refineArgumentTypes(ProgramOp program) {
  // A handler's view and every argument that some stage passes for it.
  SmallVector<std::pair<Value, Value>> views;
  SmallVector<Value> refined(program.getArguments());
  DenseMap<Value, ArgumentExtents> extents;
  auto extentsOf = [&](Value tensor) -> ArgumentExtents & {
    int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
    return extents.try_emplace(tensor, rank).first->second;
  };
  for (Value argument : program.getArguments())
    extentsOf(argument).addUses(argument);
  for (StageOpInterface stage : program.getStages()) {
    HandlerOpInterface handler = stage.lookupHandler();
    if (!handler || !handler.getHandlerBody().hasOneBlock())
      continue;
    auto inputs = handler.getHandlerBody().getArguments();
    size_t first = 0;
    if (TasksOp tasks = stage.lookupTasks();
        tasks && stage.getStageKind() != StageKind::reduce)
      first = tasks.getAxes().size();
    first += stage.getRangeSymbol() ? 2 : 0;
    auto read = stage.getReadTensors(), written = stage.getWrittenTensors();
    for (auto [argument, view] :
         llvm::zip(read, inputs.slice(first, read.size())))
      views.emplace_back(view, argument);
    for (auto [argument, view] :
         llvm::zip(written, inputs.take_back(written.size())))
      views.emplace_back(view, argument);
  }
  for (auto [view, argument] : views) {
    extentsOf(argument).addUses(view);
    if (!llvm::is_contained(refined, view))
      refined.push_back(view);
  }

  // A view and its arguments have one type: what one does not know, none does.
  DenseMap<Value, Type> types;
  for (Value tensor : refined)
    types[tensor] = tensor.getType();
  for (Value argument : program.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    SmallVector<int64_t> shape(type.getShape());
    for (auto [dimension, extent] : llvm::enumerate(shape))
      if (ShapedType::isDynamic(extent))
        extent = extentsOf(argument).get(dimension).value_or(extent);
    types[argument] = type.clone(shape);
  }
  for (auto [view, argument] : views)
    types[view] = types[argument];
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [view, argument] : views) {
      Type type = joinTypes(types[view], types[argument]);
      changed |= type != types[view] || type != types[argument];
      types[view] = types[argument] = type;
    }
  }
  unsigned count = 0;
  for (Value tensor : refined) {
    count += isa<ProgramOp>(tensor.getParentRegion()->getParentOp()) &&
             tensor.getType() != types[tensor];
    tensor.setType(types[tensor]);
  }
  return count;
}
