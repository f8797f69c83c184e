//===- ArgumentExtents.cpp - Extents that handlers rely on ----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArgumentExtents.h"

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
