//===- Stages.h - The steps of CPU code generation --------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// compileForCPU calls these in the order in which they stand here. Private to
// this folder.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TARGET_CPU_STAGES_H
#define DATAFLOW_LIB_TARGET_CPU_STAGES_H

#include "dataflow/Target/CPU.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::df::cpu {

/// Optimises and assembles. `object` receives a relocatable ELF file.
LogicalResult emitObject(ModuleOp module, SmallVectorImpl<char> &object);

/// Links a relocatable file into a shared object that exports `symbols`.
FailureOr<std::vector<uint8_t>> linkSharedObject(ArrayRef<char> object,
                                                 Location loc);

} // namespace mlir::df::cpu

#endif // DATAFLOW_LIB_TARGET_CPU_STAGES_H
