//===- Kernels.h - Kernels of an artifact -----------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TARGET_ARTIFACT_KERNELS_H
#define DATAFLOW_LIB_TARGET_ARTIFACT_KERNELS_H

#include "dataflow/Target/Artifact.h"

namespace mlir::df {

/// Makes the kernels of `program`, compiles and assembles them, and adds them
/// to `artifact` with their PTX and LLVM text. Device modules that stand beside
/// the program with what a kernel needs known (`dataflow.kernel`) are taken as
/// they are. Where there is no assembler a remark says so, and only the texts
/// are added.
LogicalResult addKernels(ProgramOp program,
                         const DeviceTranslationOptions &options,
                         dfrt::Artifact &artifact);

} // namespace mlir::df

#endif // DATAFLOW_LIB_TARGET_ARTIFACT_KERNELS_H
