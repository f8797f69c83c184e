//===- ImportSlices.h - Which records are cut into slices ------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of importProgram that deals with separable reductions.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TRANSFORMS_IMPORTSLICES_H
#define DATAFLOW_LIB_TRANSFORMS_IMPORTSLICES_H

#include "dataflow/IR/Dataflow.h"

namespace mlir::df {

/// Sets `Stage::separable`, `Record::slices` and `Field::separable` of
/// `program`, whose stages are those of the list, where a reduce and all that
/// reads it have sliced variants. Records are not laid out yet, before and
/// after.
void importSlices(ArrayRef<StageOpInterface> stages, dfrt::Program &program);

} // namespace mlir::df

#endif // DATAFLOW_LIB_TRANSFORMS_IMPORTSLICES_H
