//===- BoundedVariants.h - Handlers for tasks with few elements -*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the request `bounded` makes of a program: clones of handlers in which
// the parameter that is a range's tile has a smaller value. Private to this
// folder.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TRANSFORMS_BOUNDEDVARIANTS_H
#define DATAFLOW_LIB_TRANSFORMS_BOUNDEDVARIANTS_H

#include "dataflow/IR/Dataflow.h"

namespace mlir::df {

/// Makes the variants that the stages of `program` ask for; `bound` has the
/// values of its parameters, which are still in the bodies. Returns how many
/// there are. Fails, naming the stage, when the handler is foreign or two
/// stages ask for one handler by different parameters.
FailureOr<unsigned> makeBoundedVariants(ProgramOp program,
                                        ArrayRef<NamedAttribute> bound);

/// Tests that `stage` has a variant for each size that its request names and
/// that is below the tile of the range.
LogicalResult checkBoundedVariants(StageOpInterface stage);

} // namespace mlir::df

#endif // DATAFLOW_LIB_TRANSFORMS_BOUNDEDVARIANTS_H
