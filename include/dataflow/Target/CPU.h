//===- CPU.h - Handler bodies to x86-64 code --------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles the bodies of handlers and identity regions to one ELF shared object
// for x86-64-v3. Every function in it takes its arguments as an array of
// pointers (runtime/include/dfrt/Artifact.h lists them in order).
//
// A body is a region of one block with ordinary arith, math, scf, linalg and
// tensor operations, all of whose tensors have static shapes or are views of
// operands. It is bufferized; each buffer that this needs gets a place in the
// scratch memory which the caller provides, so the code never allocates. What
// the code generator does not support is an error at the operation in question.
//
// Floating-point formats narrower than 32 bits are storage formats: arithmetic
// on them is done in f32 and rounded (to nearest even) where the body says so.
//
// The `cpuReference` twin of a body computes in f64 throughout: records and
// outputs hold f64, operands keep their element type and are extended where
// they are read, and conversions between floating-point types vanish.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TARGET_CPU_H
#define DATAFLOW_TARGET_CPU_H

#include "dfrt/Artifact.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Region.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;

namespace df {

/// One function to compile. The arguments of `body` are the indices, the
/// operand tensors, the fields of each input, and the output tensors, in this
/// order; its terminator returns the fields of `output`, then the updated
/// output tensors.
struct CPUFunction {
  /// An input channel. A collected channel passes each field of the record
  /// stacked along a leading dynamic dimension.
  struct Input {
    dfrt::Record record;
    bool collected = false;
  };

  std::string symbol;
  Region *body = nullptr;
  unsigned indices = 0;
  unsigned operands = 0;
  std::vector<Input> inputs;
  std::optional<dfrt::Record> output;
  unsigned outputs = 0;
  /// The body works on one slice: separable fields are as wide as one slice,
  /// and the slices pointers point at it.
  bool sliced = false;
};

/// Registers what compileForCPU needs; it also does so itself, but a registry
/// may not be extended while passes run in parallel.
void registerCPUTargetDialects(DialectRegistry &registry);

/// Compiles `functions` into a blob of `kind` cpu or cpuReference. Emits
/// diagnostics at the operations at fault, or at `loc`. Runs ld.lld as a child
/// process. The bodies are not changed.
FailureOr<dfrt::CodeBlob> compileForCPU(ArrayRef<CPUFunction> functions,
                                        dfrt::CodeBlob::Kind kind,
                                        Location loc);

} // namespace df
} // namespace mlir

#endif // DATAFLOW_TARGET_CPU_H
