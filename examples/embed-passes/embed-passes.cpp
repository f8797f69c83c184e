//===- embed-passes.cpp - Somebody else's compiler --------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   embed-passes squares.mlir ARTIFACT
//
// Registers our dialect beside its own, and then: lowers its own operations and
// runs our compile pipeline down to kernels; plans a batch, sends records by a
// transport of its own, lowers that and packs the plan; and writes an artifact
// with CPU code, which df-run or any engine can run.
//
//===----------------------------------------------------------------------===//

#include "Toy.h"

#include "dataflow/InitAll.h"
#include "dataflow/Pipelines/Pipelines.h"
#include "dataflow/Target/Artifact.h"
#include "dataflow/Target/Plan.h"
#include "dataflow/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <cstdio>

using namespace mlir;

template <typename OpT>
static unsigned count(ModuleOp module) {
  unsigned number = 0;
  module.walk([&](OpT) { ++number; });
  return number;
}

/// Our whole compile pipeline behind a pass of the foreign compiler.
static LogicalResult makeKernels(ModuleOp module) {
  PassManager manager(module.getContext());
  manager.addNestedPass<df::ProgramOp>(toy::createLowerSquares());
  df::CompilePipelineOptions options;
  df::buildCompilePipeline(manager, options);
  if (failed(manager.run(module)))
    return failure();
  std::printf("%u kernels\n", count<gpu::GPUModuleOp>(module));
  return success(count<gpu::GPUModuleOp>(module) > 0);
}

/// Plans a batch and lets the foreign transport carry what it can.
static LogicalResult planWithMailboxes(ModuleOp module) {
  PassManager planning(module.getContext());
  planning.addNestedPass<df::ProgramOp>(toy::createLowerSquares());
  df::PlanPipelineOptions options;
  options.values = "x[4x9000];lengths=9000,0,17,5000;sums[4]";
  options.ctas = 16;
  options.transport = "global";
  df::buildPlanPipeline(planning, options);
  if (failed(planning.run(module)))
    return failure();
  FailureOr<std::vector<uint8_t>> before = df::exportPlan(module);

  auto run = [&](std::unique_ptr<Pass> pass) {
    PassManager manager(module.getContext());
    manager.nest<df::ProgramOp>().addNestedPass<df::ScheduleOp>(
        std::move(pass));
    return manager.run(module);
  };
  if (failed(before) || failed(run(toy::createRouteMailboxes(/*reach=*/1))))
    return failure();
  unsigned mailboxes = 0;
  module.walk([&](df::TransferOp transfer) {
    mailboxes += isa_and_nonnull<toy::MailboxAttr>(transfer.getViaAttr());
  });
  unsigned transfers = count<df::TransferOp>(module);
  std::printf("%u of %u transfers by mailbox\n", mailboxes, transfers);
  if (!mailboxes || mailboxes == transfers)
    return module.emitError("mailboxes carry none or all of the records");

  // The planner packs what it knows: a foreign transport has to be lowered.
  {
    ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) {});
    if (succeeded(df::exportPlan(module)))
      return module.emitError("a foreign transport was packed");
  }
  if (failed(run(toy::createLowerMailboxes())))
    return failure();
  FailureOr<std::vector<uint8_t>> after = df::exportPlan(module);
  if (failed(after) || *after != *before)
    return module.emitError("the lowered plan differs");
  std::printf("plan of %zu bytes\n", after->size());
  return success();
}

/// CPU code of the prepared program, for df-run or an engine.
static LogicalResult writeArtifact(ModuleOp module, const char *path) {
  PassManager manager(module.getContext());
  manager.addNestedPass<df::ProgramOp>(toy::createLowerSquares());
  df::buildPreparePipeline(manager, df::PreparePipelineOptions());
  if (failed(manager.run(module)))
    return failure();
  df::DeviceTranslationOptions options;
  options.targets = {"cpu"};
  auto program = *module.getOps<df::ProgramOp>().begin();
  FailureOr<dfrt::Artifact> artifact = df::buildArtifact(program, options);
  if (failed(artifact))
    return failure();
  dfrt::Expected<std::vector<uint8_t>> bytes = dfrt::writeArtifact(*artifact);
  std::FILE *file = bytes ? std::fopen(path, "wb") : nullptr;
  if (!file)
    return module.emitError("cannot write the artifact");
  bool written =
      std::fwrite(bytes->data(), 1, bytes->size(), file) == bytes->size();
  return success(std::fclose(file) == 0 && written);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: embed-passes squares.mlir ARTIFACT\n");
    return 2;
  }
  DialectRegistry registry;
  df::registerAllDialects(registry);
  df::registerAllExtensions(registry);
  toy::registerToy(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  OwningOpRef<ModuleOp> compiled = module->clone(), planned = module->clone();
  bool succeeds = succeeded(makeKernels(*compiled)) &&
                  succeeded(planWithMailboxes(*planned)) &&
                  succeeded(writeArtifact(*module, argv[2]));
  return succeeds ? 0 : 1;
}
