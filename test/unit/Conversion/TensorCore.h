//===- TensorCore.h - A model of a CTA with tensor cores --------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the code that is written for shared tiles and wgmma on all threads of a
// few warpgroups, in lock step. The matrix instructions are modelled after the
// PTX ISA: what descriptors mean, how addresses are swizzled, and which thread
// holds which element. The compiler's own layouts are not used.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_CONVERSION_TENSORCORE_H
#define DATAFLOW_TEST_UNIT_CONVERSION_TENSORCORE_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <map>
#include <string>
#include <vector>

namespace tensorcore {

/// The bits of a number of `type` next to `value`, and back.
uint64_t encode(mlir::Type type, double value);
double decode(mlir::Type type, uint64_t bits);

class Machine {
public:
  explicit Machine(unsigned groups)
      : threads(128 * groups), memory(size_t(1) << 18) {}

  const unsigned threads;
  std::vector<uint8_t> memory;
  /// What the code did that the hardware forbids.
  std::vector<std::string> problems;
  /// How often each instruction was run, by the first words of its name.
  std::map<std::string, unsigned> counts;

  /// Gives `value`, a scalar, to each thread.
  void set(mlir::Value value, llvm::function_ref<uint64_t(unsigned)> bits);
  /// Runs the operations of `block`.
  void run(mlir::Block &block);
  /// What a thread holds.
  uint64_t get(mlir::Value value, unsigned thread) const;

  /// Elements of `bytes` bytes at an address.
  uint64_t load(uint64_t address, unsigned bytes) const;
  void store(uint64_t address, unsigned bytes, uint64_t value);

private:
  /// A value's parts (elements of a vector, fields of a struct), thread by
  /// thread.
  using Cells = std::vector<std::vector<uint64_t>>;

  void runOp(mlir::Operation &op);
  void runLoop(mlir::scf::ForOp loop);
  void runAssembly(mlir::LLVM::InlineAsmOp op);
  struct Instruction;
  void wgmma(Instruction &instruction);
  void matrices(Instruction &instruction, bool store);
  void problem(const std::string &text) { problems.push_back(text); }
  Cells &make(mlir::Value value, size_t parts);
  const Cells &cells(mlir::Value value) const;

  llvm::DenseMap<mlir::Value, Cells> values;
  std::vector<bool> active = std::vector<bool>(threads, true);
  /// Accumulators of instructions, with the number of the group that must have
  /// ended before they are read.
  llvm::DenseMap<mlir::Value, size_t> inFlight;
  size_t groups = 0; ///< that were committed
  bool fenced = false;
};

} // namespace tensorcore

#endif // DATAFLOW_TEST_UNIT_CONVERSION_TENSORCORE_H
