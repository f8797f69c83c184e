//===- ScalarFolding.h - Fold integer and index arithmetic ------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Less than a canonicalizer: scalars only, no patterns.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TRANSFORMS_SCALARFOLDING_H
#define DATAFLOW_LIB_TRANSFORMS_SCALARFOLDING_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir::df {

/// Folds those of `ops` that have no effects (divisions too, where they fold)
/// and yield one integer or index, and erases those that are dead then. `ops`
/// are in order: operands before users. Tensors stay as they are: a splat is
/// better code than the constant it folds to.
void foldScalars(ArrayRef<Operation *> ops);

} // namespace mlir::df

#endif // DATAFLOW_LIB_TRANSFORMS_SCALARFOLDING_H
