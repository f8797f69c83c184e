//===- ArtifactTranslation.cpp - df-translate --dataflow-to-artifact ------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/Artifact.h"
#include "dataflow/Target/CPU.h"
#include "mlir/Tools/mlir-translate/Translation.h"

using namespace mlir;
using namespace mlir::df;

static LogicalResult translate(Operation *root, raw_ostream &output) {
  SmallVector<ProgramOp> programs;
  root->walk([&](ProgramOp program) { programs.push_back(program); });
  if (programs.size() != 1)
    return root->emitError("expected one dataflow.program, found ")
           << programs.size();
  FailureOr<dfrt::Artifact> artifact = buildArtifact(programs.front());
  if (failed(artifact))
    return failure();
  dfrt::Expected<std::vector<uint8_t>> bytes = dfrt::writeArtifact(*artifact);
  if (!bytes)
    return programs.front().emitError() << bytes.status().message();
  output.write(reinterpret_cast<const char *>(bytes->data()), bytes->size());
  return success();
}

void mlir::df::registerToArtifactTranslation() {
  TranslateFromMLIRRegistration("dataflow-to-artifact",
                                "compile a specialised program to an artifact",
                                translate, [](DialectRegistry &registry) {
                                  registry.insert<DataflowDialect>();
                                  registerFuncHandlerExtension(registry);
                                  registerCPUTargetDialects(registry);
                                });
}
