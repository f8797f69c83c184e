//===- Engine.h - Compiled code in this process -----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_CONVERSION_ENGINE_H
#define DATAFLOW_TEST_UNIT_CONVERSION_ENGINE_H

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace conversiontest {

/// A function of this process that compiled code calls by `name`.
struct Callee {
  template <typename FunctionT>
  Callee(const char *name, FunctionT *function)
      : name(name), address(llvm::orc::ExecutorAddr::fromPtr(function)) {}

  const char *name;
  llvm::orc::ExecutorAddr address;
};

/// Loads what handlers are written in and lowered to, up to LLVM IR.
void loadHandlerDialects(mlir::MLIRContext &context);

/// Compiles a module of the LLVM dialect; null, and a failure of the test, if
/// that does not succeed.
std::unique_ptr<mlir::ExecutionEngine>
makeEngine(mlir::ModuleOp module, const std::vector<Callee> &callees);

} // namespace conversiontest

#endif // DATAFLOW_TEST_UNIT_CONVERSION_ENGINE_H
