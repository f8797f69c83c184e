//===- Artifact.h - A program as an artifact --------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A specialised `dataflow.program` becomes what the planner must know of it
// (`importProgram`) and the code of its handlers: for the cpu, every variant of
// every stage and the identities; for the f64 reference, the generic variants
// and the identities. The symbols are those that `importProgram` gives.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TARGET_ARTIFACT_H
#define DATAFLOW_TARGET_ARTIFACT_H

#include "dataflow/IR/Dataflow.h"
#include "dataflow/Target/PTX.h"
#include "dfrt/Artifact.h"

#include <functional>

namespace mlir::df {

/// Compiles `program`, all of whose types must be static but for operands, for
/// `options.targets`. Kernels of sm_90a are made beside the program and removed
/// again; device modules with `dataflow.kernel` that stand there are taken as
/// they are. Fails, with diagnostics, where importProgram, compileForCPU,
/// convertProgramToKernel or compileToPTX does; where there is no assembler, a
/// remark says that the artifact has no kernels.
FailureOr<dfrt::Artifact>
buildArtifact(ProgramOp program, const DeviceTranslationOptions &options);

/// Registers `--dataflow-to-artifact`: the bytes of the artifact of the only
/// program in the input, from the cache if there is one.
void registerToArtifactTranslation(
    std::function<DeviceTranslationOptions()> options);

} // namespace mlir::df

#endif // DATAFLOW_TARGET_ARTIFACT_H
