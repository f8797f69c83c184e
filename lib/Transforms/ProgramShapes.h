//===- ProgramShapes.h - Static shapes across stages ------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Carries shapes through a whole program: from handler bodies into records and
// channels and on to the handlers behind them.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TRANSFORMS_PROGRAMSHAPES_H
#define DATAFLOW_LIB_TRANSFORMS_PROGRAMSHAPES_H

#include "dataflow/IR/Dataflow.h"

namespace mlir::df {

/// Makes the unknown dimensions static that are constants once the parameters
/// are, in all handlers, identities, records and channels. Returns the number
/// of values and record fields changed. Fails, with a diagnostic, when shapes
/// disagree or a record field keeps an unknown dimension.
FailureOr<unsigned> refineProgramShapes(ProgramOp program);

} // namespace mlir::df

#endif // DATAFLOW_LIB_TRANSFORMS_PROGRAMSHAPES_H
