//===- VerifyFragments.h - Rules of parts that are laid out -----*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to this folder.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TRANSFORMS_VERIFYFRAGMENTS_H
#define DATAFLOW_LIB_TRANSFORMS_VERIFYFRAGMENTS_H

#include "dataflow/IR/Dataflow.h"

namespace mlir::df {

/// The rules D6 and D7 of `dataflow-verify-kernel`, for a compute part.
LogicalResult verifyFragments(PartOp part);

/// The rule D8, likewise.
LogicalResult verifyFollowing(PartOp part);

} // namespace mlir::df

#endif // DATAFLOW_LIB_TRANSFORMS_VERIFYFRAGMENTS_H
