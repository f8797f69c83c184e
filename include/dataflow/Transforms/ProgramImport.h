//===- ProgramImport.h - From a dataflow.program to the planner -*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a specialised program off the IR: the one place that knows how ops turn
// into the planner's `Program`. Passes plan with the result, the artifact
// stores it, and the runtime plans with what is stored; so the same program has
// the same fingerprint everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TRANSFORMS_PROGRAMIMPORT_H
#define DATAFLOW_TRANSFORMS_PROGRAMIMPORT_H

#include "dataflow/IR/Dataflow.h"
#include "dataflow/Schedule/Problem.h"

#include <optional>

namespace mlir::df {

/// The storage type of a scalar or of a tensor's elements, if a plan can name
/// it.
std::optional<dfrt::ElementType> getElementType(Type type);

/// A handler and what it is specialised for.
struct HandlerVariant {
  HandlerOpInterface handler;
  dfrt::Variant variant; ///< symbol included
};

/// The handler of `stage` and its clones, in the order of `Stage::variants`:
/// generic, tile counts ascending, exact lengths ascending, sliced (only if
/// `separable`), for few elements ascending (only if the stage asks for such).
/// Symbols are "<stage>$<index>".
SmallVector<HandlerVariant> getVariants(StageOpInterface stage, bool separable);

/// Symbol of the function that yields the identity of the reduce `stage`.
std::string getIdentitySymbol(StageOpInterface stage);

/// The planner's view of `program`, which must be specialised (what
/// `dataflow-verify-program` tests). Fails, with a diagnostic on the op, on a
/// request that no pass obeys and on whatever `dfrt::check` refuses.
FailureOr<dfrt::Program> importProgram(ProgramOp program);

/// `importProgram`, evaluated on the inputs of `dataflow.inputs` for the
/// topology of `dataflow.topology` or, if given, for `topology`. Fails, with a
/// diagnostic on the program, when an attribute is missing or malformed and on
/// whatever `dfrt::instantiate` refuses.
FailureOr<dfrt::Problem> importProblem(ProgramOp program,
                                       TopologyAttr topology = {});

} // namespace mlir::df

#endif // DATAFLOW_TRANSFORMS_PROGRAMIMPORT_H
