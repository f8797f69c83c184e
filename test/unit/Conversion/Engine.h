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
#include <string>
#include <utility>
#include <vector>

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

/// `text`, each word wherever it stands replaced by what comes with it.
std::string
replaced(std::string text,
         const std::vector<std::pair<std::string, std::string>> &words);

/// Lowers the function `symbol` of `text`, a handler on fragments with one
/// output, for the device, and adds `run`, which calls it from outside: device
/// functions are internal. Null, and a failure of the test, if that does not
/// succeed.
mlir::OwningOpRef<mlir::ModuleOp> lowerFragments(const std::string &text,
                                                 const std::string &symbol,
                                                 unsigned operands,
                                                 mlir::MLIRContext &context);

/// Adds `run`, which calls the packed function `symbol`, to `module`.
void addRun(mlir::ModuleOp module, const std::string &symbol,
            mlir::MLIRContext &context);

/// `run` of such a module, which takes packed descriptors; null, and a failure
/// of the test, if it is not there.
using RunFunction = void (*)(void **);
RunFunction findRun(mlir::ExecutionEngine &engine);

} // namespace conversiontest

#endif // DATAFLOW_TEST_UNIT_CONVERSION_ENGINE_H
