//===- Artifact.cpp - A program as an artifact ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/Artifact.h"
#include "Kernels.h"
#include "dataflow/Conversion/ProgramFunctions.h"
#include "dataflow/Target/CPU.h"
#include "dataflow/Transforms/ProgramImport.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;
using namespace mlir::df;

#ifndef DATAFLOW_VERSION
#define DATAFLOW_VERSION "unknown"
#endif

FailureOr<dfrt::Artifact>
mlir::df::buildArtifact(ProgramOp program,
                        const DeviceTranslationOptions &options) {
  auto wants = [&](StringRef target) {
    return llvm::is_contained(options.targets, target);
  };
  for (const std::string &target : options.targets)
    if (target != "cpu" && target != "sm_90a")
      return program.emitError("no target '")
             << target << "', expected cpu or sm_90a";
  FailureOr<dfrt::Program> planned = importProgram(program);
  if (failed(planned))
    return failure();
  dfrt::Artifact artifact;
  artifact.producer =
      "dataflow " DATAFLOW_VERSION " (LLVM " LLVM_VERSION_STRING ")";
  artifact.program = *planned;
  for (auto kind :
       {dfrt::CodeBlob::Kind::cpu, dfrt::CodeBlob::Kind::cpuReference}) {
    if (!wants("cpu"))
      break;
    ProgramFunctions list(program, artifact.program);
    FailureOr<std::vector<HandlerFunction>> functions =
        list.collect(kind == dfrt::CodeBlob::Kind::cpuReference);
    if (failed(functions))
      return failure();
    FailureOr<dfrt::CodeBlob> blob =
        compileForCPU(*functions, kind, program.getLoc());
    if (failed(blob))
      return failure();
    artifact.code.push_back(std::move(*blob));
  }
  if (wants("sm_90a") && failed(addKernels(program, options, artifact)))
    return failure();
  return artifact;
}
