//===- BindExtents.h - Extents that are parameters --------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program may say which extents of its arguments its parameters give:
//
//   attributes {dataflow.extents = {x = [-1, "columns"], y = ["rows"]}}
//
// has one entry for each dimension: a parameter's name, a number, or -1 for an
// extent that is known at launch only. Once bound, they are part of the types:
// rows are a known distance apart, and the runtime refuses other tensors.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TRANSFORMS_BINDEXTENTS_H
#define DATAFLOW_LIB_TRANSFORMS_BINDEXTENTS_H

#include "dataflow/IR/Dataflow.h"

namespace mlir::df {

/// Gives the program's arguments the extents of `dataflow.extents`, with the
/// parameters' values in `bound`, and removes the attribute. Their uses in
/// handlers keep their types. Fails, after a diagnostic that names argument and
/// dimension, on what is no extent or contradicts the argument's type.
LogicalResult bindExtents(ProgramOp program, ArrayRef<NamedAttribute> bound);

} // namespace mlir::df

#endif // DATAFLOW_LIB_TRANSFORMS_BINDEXTENTS_H
