//===- CPU.h - Handler bodies to x86-64 code --------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles the bodies of handlers and identity regions to one ELF shared object
// for x86-64-v3. Every function in it takes its arguments as an array of
// pointers (runtime/include/dfrt/Artifact.h lists them in order); what a body
// may hold, and what the `cpuReference` twin of a body is, says
// include/dataflow/Conversion/HandlerToLLVM.h.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TARGET_CPU_H
#define DATAFLOW_TARGET_CPU_H

#include "dataflow/Conversion/HandlerToLLVM.h"
#include "dfrt/Artifact.h"

namespace mlir {
class DialectRegistry;

namespace df {

/// Registers what compileForCPU needs; it also does so itself, but a registry
/// may not be extended while passes run in parallel.
void registerCPUTargetDialects(DialectRegistry &registry);

/// Compiles `functions` into a blob of `kind` cpu or cpuReference. Emits
/// diagnostics at the operations at fault, or at `loc`. Runs ld.lld as a child
/// process. The bodies are not changed.
FailureOr<dfrt::CodeBlob> compileForCPU(ArrayRef<HandlerFunction> functions,
                                        dfrt::CodeBlob::Kind kind,
                                        Location loc);

} // namespace df
} // namespace mlir

#endif // DATAFLOW_TARGET_CPU_H
