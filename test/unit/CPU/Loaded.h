//===- Loaded.h - Compiled bodies in this process ---------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses functions, compiles them with compileForCPU, opens the shared object
// from memory and calls its functions.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_CPU_LOADED_H
#define DATAFLOW_TEST_UNIT_CPU_LOADED_H

#include "dataflow/Target/CPU.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cputest {

using Kind = dfrt::CodeBlob::Kind;

/// A field with its element type and shape.
dfrt::Field field(std::string name, dfrt::ElementType element,
                  std::vector<int64_t> shape = {}, int32_t separable = -1);
/// A record of `fields`, laid out.
dfrt::Record record(std::vector<dfrt::Field> fields, uint32_t slices = 1);

/// A dense row-major tensor as the packed convention passes it.
struct Descriptor {
  std::vector<int64_t> words;
  Descriptor(void *data, std::vector<int64_t> shape, int64_t offset = 0);
};

/// A module of func.func bodies, in text.
class Source {
public:
  explicit Source(const std::string &text);

  /// The body of function `name`, to be filled in.
  mlir::df::HandlerFunction function(const std::string &name);
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// All errors so far, one a line.
  std::string errors;
};

/// A shared object opened from memory.
class Library {
public:
  explicit Library(const dfrt::CodeBlob &blob);
  ~Library();
  Library(const Library &) = delete;

  bool opened() const { return handle; }
  /// Calls `symbol` with the pointers in `arguments` and fresh, poisoned
  /// scratch memory behind them.
  void call(const std::string &symbol, std::vector<void *> arguments);

private:
  const dfrt::CodeBlob blob;
  void *handle = nullptr;
  /// Stays open: dlopen takes a path that it has seen for the same library.
  int file = -1;
};

} // namespace cputest

#endif // DATAFLOW_TEST_UNIT_CPU_LOADED_H
