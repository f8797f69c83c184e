//===- HandlerClones.h - Variants beside their handlers ---------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where passes put the variants that they make of handlers, and find those of
// earlier runs. Private to this folder.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TRANSFORMS_HANDLERCLONES_H
#define DATAFLOW_LIB_TRANSFORMS_HANDLERCLONES_H

#include "dataflow/IR/Dataflow.h"

namespace mlir::df {

/// The variant of this kind that `handler`, of a program, has already; or null.
HandlerOp findVariant(HandlerOpInterface handler, VariantAttr variant);

/// Puts a clone, which has no parent, behind its handler and the clones made
/// before.
void insertVariant(HandlerOp handler, HandlerOp clone);

} // namespace mlir::df

#endif // DATAFLOW_LIB_TRANSFORMS_HANDLERCLONES_H
