//===- ProgramFunctions.h - The functions of a program ----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lists the functions that a specialised program needs: every variant of the
// handler of every stage, and the identity of every reduce.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_CONVERSION_PROGRAMFUNCTIONS_H
#define DATAFLOW_CONVERSION_PROGRAMFUNCTIONS_H

#include "dataflow/Conversion/HandlerToLLVM.h"
#include "dataflow/IR/Dataflow.h"

namespace mlir::df {

/// Replaces the operations of the program group in a copy of a handler, or of a
/// part of one, by ordinary ones. Fails, with a diagnostic, where the program
/// is not specialised.
LogicalResult expandProgramOps(Operation *handler);

/// Owns copies of the handlers, without operations of the dataflow dialect.
class ProgramFunctions {
public:
  /// `planned` is importProgram(program).
  ProgramFunctions(ProgramOp program, const dfrt::Program &planned)
      : program(program), planned(planned) {}

  /// The functions of all stages, in the order of the stages and variants; with
  /// `genericOnly`, of generic variants only (what the reference kind has).
  /// They live as long as this object. Fails, with a diagnostic, where the
  /// program is not specialised.
  FailureOr<std::vector<HandlerFunction>> collect(bool genericOnly);

  /// The arguments and results of the handler of `stage`, without symbol and
  /// body.
  HandlerFunction describe(const dfrt::Stage &stage) const;

private:
  FailureOr<Region *> prepareBody(HandlerOpInterface handler);

  ProgramOp program;
  const dfrt::Program &planned;
  std::vector<OwningOpRef<Operation *>> copies;
};

} // namespace mlir::df

#endif // DATAFLOW_CONVERSION_PROGRAMFUNCTIONS_H
