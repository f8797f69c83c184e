//===- Jit.cpp - Artifacts from program text, in this process -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parse, prepare, look up, compile. The key of the cache is made of the
// prepared program, so that a parameter is a part of it.
//
//===----------------------------------------------------------------------===//

#include "Jit.h"

#include "dataflow/InitAll.h"
#include "dataflow/Pipelines/Pipelines.h"
#include "dataflow/Target/Artifact.h"
#include "dataflow/Target/ArtifactCache.h"
#include "dataflow/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

/// From an authored program to what buildArtifact takes.
static LogicalResult prepare(ModuleOp module, const JitOptions &options) {
  df::PreparePipelineOptions preparation;
  preparation.params = options.params;
  PassManager manager(module.getContext());
  df::buildPreparePipeline(manager, preparation);
  OpPassManager &programs = manager.nest<df::ProgramOp>();
  programs.addPass(df::createSplitRoles());
  programs.addPass(df::createAssignLayouts());
  programs.addPass(df::createVerifyKernel());
  return manager.run(module);
}

static FailureOr<std::vector<uint8_t>>
compile(df::ProgramOp program, const df::DeviceTranslationOptions &options) {
  FailureOr<dfrt::Artifact> artifact = df::buildArtifact(program, options);
  if (failed(artifact))
    return failure();
  dfrt::Expected<std::vector<uint8_t>> bytes = dfrt::writeArtifact(*artifact);
  if (!bytes)
    return program.emitError() << bytes.status().message();
  return std::move(*bytes);
}

/// The bytes of the artifact; failures are diagnostics.
static FailureOr<std::vector<uint8_t>> find(const std::string &text,
                                            const JitOptions &options,
                                            MLIRContext &context,
                                            bool &retrieved) {
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module || failed(prepare(*module, options)))
    return failure();
  auto programs = module->getOps<df::ProgramOp>();
  if (!llvm::hasSingleElement(programs))
    return module->emitError("expected one dataflow.program");
  df::ProgramOp program = *programs.begin();

  df::DeviceTranslationOptions device;
  device.targets = options.targets;
  device.ptxas.cacheFolder = options.cache;
  df::ArtifactCacheOptions cache;
  cache.folder = options.cache;
  std::string key;
  if (!cache.folder.empty())
    key = df::artifactKey(*module, df::describeDecisions(device),
                          df::compilerIdentity());
  retrieved = true;
  return df::findOrCompile(key, cache, program.getLoc(), [&] {
    retrieved = false;
    return compile(program, device);
  });
}

dfrt::Expected<dfrt::ArtifactHandle> buildOrRetrieve(const std::string &text,
                                                     const JitOptions &options,
                                                     bool &retrieved) {
  DialectRegistry registry;
  df::registerAllDialects(registry);
  df::registerAllExtensions(registry);
  MLIRContext context(registry);
  // Libraries of this project do not print: what they say arrives here.
  std::string complaints;
  ScopedDiagnosticHandler collect(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      llvm::raw_string_ostream(complaints)
          << (complaints.empty() ? "" : "; ") << diagnostic.getLocation()
          << ": " << diagnostic;
    return success();
  });
  FailureOr<std::vector<uint8_t>> bytes =
      find(text, options, context, retrieved);
  if (failed(bytes))
    return dfrt::Status(dfrt::StatusCode::invalidArgument, complaints);
  return dfrt::ArtifactHandle::fromMemory(bytes->data(), bytes->size());
}
