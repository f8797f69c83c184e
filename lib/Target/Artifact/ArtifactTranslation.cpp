//===- ArtifactTranslation.cpp - df-translate --dataflow-to-artifact ------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Conversion/DataflowToNVVM.h"
#include "dataflow/Target/Artifact.h"
#include "dataflow/Target/ArtifactCache.h"
#include "dataflow/Target/CPU.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::df;

static FailureOr<std::vector<uint8_t>>
compile(ProgramOp program, const DeviceTranslationOptions &options) {
  FailureOr<dfrt::Artifact> artifact = buildArtifact(program, options);
  if (failed(artifact))
    return failure();
  dfrt::Expected<std::vector<uint8_t>> bytes = dfrt::writeArtifact(*artifact);
  if (!bytes)
    return program.emitError() << bytes.status().message();
  return std::move(*bytes);
}

static LogicalResult translate(Operation *root, raw_ostream &output,
                               const DeviceTranslationOptions &options) {
  SmallVector<ProgramOp> programs;
  root->walk([&](ProgramOp program) { programs.push_back(program); });
  if (programs.size() != 1)
    return root->emitError("expected one dataflow.program, found ")
           << programs.size();
  ProgramOp program = programs.front();
  ArtifactCacheOptions cache;
  cache.folder = options.artifactCacheFolder;
  cache.bytes = options.ptxas.cacheBytes;
  cache.verbose = options.verboseCache;
  std::string key;
  if (!cache.folder.empty())
    key = artifactKey(root, describeDecisions(options), compilerIdentity());
  FailureOr<std::vector<uint8_t>> bytes = findOrCompile(
      key, cache, program.getLoc(), [&] { return compile(program, options); });
  if (failed(bytes))
    return failure();
  output << llvm::toStringRef(*bytes);
  return success();
}

void mlir::df::registerToArtifactTranslation(
    std::function<DeviceTranslationOptions()> options) {
  TranslateFromMLIRRegistration(
      "dataflow-to-artifact", "compile a specialised program to an artifact",
      [options](Operation *root, raw_ostream &output) {
        return translate(root, output,
                         options ? options() : DeviceTranslationOptions());
      },
      [](DialectRegistry &registry) {
        registry.insert<DataflowDialect>();
        registerFuncHandlerExtension(registry);
        registerCPUTargetDialects(registry);
        registerDataflowToNVVMDialects(registry);
        registerPTXTargetDialects(registry);
      });
}
