//===- Calls.h - Handler functions compiled and called ----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles handler functions for this processor, as the cpu target and as the
// device target have them, and calls them on the same data.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_CONVERSION_CALLS_H
#define DATAFLOW_TEST_UNIT_CONVERSION_CALLS_H

#include "Threads.h"
#include "dataflow/Conversion/HandlerToLLVM.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <string>
#include <vector>

namespace mlir {
class ExecutionEngine;
}

namespace conversiontest {

/// Functions in the memory of this process.
class Code {
public:
  /// Null, with diagnostics, if that fails.
  static std::unique_ptr<Code>
  compile(const std::vector<mlir::df::HandlerFunction> &functions,
          mlir::df::HandlerTarget target, mlir::MLIRContext &context);
  ~Code();

  using Function = void (*)(void **);
  Function find(const std::string &symbol) const;
  const mlir::df::HandlerFunctionInfo &info(const std::string &symbol) const;

private:
  Code() = default;
  std::unique_ptr<mlir::ExecutionEngine> engine;
  std::vector<mlir::df::HandlerFunctionInfo> infos;
};

/// What a call gets that its function does not say.
struct Sizes {
  int64_t dynamic = 8;          ///< of every dynamic dimension
  std::vector<int64_t> indices; ///< missing ones are 0
  int64_t integers = 4;         ///< integer data lies in [0, integers)
};

/// Arguments of one function, with random data.
class Call {
public:
  Call(const mlir::df::HandlerFunction &function, const Sizes &sizes);

  /// Runs `code` on fresh copies of the outputs. Threads 0: it is cpu code.
  /// A part gets `streams` of them for each thread, all 0.
  void run(const Code &code, unsigned threads, Order order,
           unsigned streams = 0);
  /// What the last run wrote.
  const std::vector<std::vector<uint8_t>> &results() const { return outputs; }
  /// The first difference of more than `tolerance` (relative to the largest
  /// number of the field) between the results and `expected`, or nothing.
  std::string difference(const std::vector<std::vector<uint8_t>> &expected,
                         double tolerance) const;

private:
  /// Consecutive numbers of one type in a buffer.
  struct Numbers {
    size_t buffer;
    dfrt::ElementType element;
    uint64_t offset, count;
    std::string name;
  };
  void addTensor(mlir::Type type, int64_t dynamic,
                 std::vector<std::vector<uint8_t>> &buffers,
                 std::vector<std::vector<int64_t>> &descriptors);
  void fill(std::vector<uint8_t> &buffer, dfrt::ElementType element,
            uint64_t offset, uint64_t count);

  const mlir::df::HandlerFunction &function;
  Sizes sizes;
  uint64_t random = 1;
  std::vector<int64_t> indices;
  int64_t stacked = 0; ///< records of a collected channel
  std::vector<std::vector<uint8_t>> operands, inputs, initial, outputs;
  std::vector<std::vector<int64_t>> operandWords, outputWords;
  std::vector<Numbers> numbers;
};

/// Compiles `functions` both ways and compares each, called with its `sizes`,
/// on 1, 3 and 32 threads in every order: bit by bit among each other, and with
/// `tolerance` to the cpu.
void expectEqual(const std::vector<mlir::df::HandlerFunction> &functions,
                 const std::vector<Sizes> &sizes, double tolerance,
                 mlir::MLIRContext &context);

} // namespace conversiontest

#endif // DATAFLOW_TEST_UNIT_CONVERSION_CALLS_H
