//===- Pipelines.cpp - Passes in the order in which they work -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only order and options; the work is in the passes.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Pipelines/Pipelines.h"

#include "dataflow/Conversion/Passes.h"
#include "dataflow/IR/Dataflow.h"
#include "dataflow/Transforms/Passes.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::df;

/// Passes that are anchored on a program: all but those that make kernels.
static OpPassManager &onPrograms(OpPassManager &manager) {
  if (manager.getOpName() == ProgramOp::getOperationName())
    return manager;
  return manager.nest<ProgramOp>();
}

static void addPreparation(OpPassManager &programs, const std::string &params,
                           const std::string &buckets) {
  SpecializeProgramOptions specialize;
  specialize.params = params;
  programs.addPass(createSpecializeProgram(specialize));
  programs.addPass(createVerifyProgram());
  SpecializeHandlersOptions handlers;
  handlers.buckets = buckets;
  programs.addPass(createSpecializeHandlers(handlers));
}

void mlir::df::buildPreparePipeline(OpPassManager &manager,
                                    const PreparePipelineOptions &options) {
  addPreparation(onPrograms(manager), options.params, options.buckets);
}

void mlir::df::buildPlanPipeline(OpPassManager &manager,
                                 const PlanPipelineOptions &options) {
  OpPassManager &programs = onPrograms(manager);
  addPreparation(programs, options.params, options.buckets);
  if (!options.values.empty()) {
    BindInputsOptions bind;
    bind.values = options.values;
    programs.addPass(createBindInputs(bind));
  }
  if (options.ctas || options.clusterSize || options.sharedBytes ||
      options.reservedBytes != AttachTopologyOptions().reservedBytes ||
      !options.chip.empty()) {
    AttachTopologyOptions attach;
    attach.ctas = options.ctas;
    attach.clusterSize = options.clusterSize ? options.clusterSize : 1u;
    attach.sharedBytes = options.sharedBytes;
    attach.reservedBytes = options.reservedBytes;
    attach.chip = options.chip;
    programs.addPass(createAttachTopology(attach));
  }
  ScheduleProgramOptions schedule;
  schedule.solver = options.solver;
  schedule.combine = options.combine;
  programs.addPass(createScheduleProgram(schedule));
  SelectTransportOptions transport;
  transport.transport = options.transport;
  programs.addPass(createSelectTransport(transport));
  programs.addPass(createPlanSlots());
  programs.addPass(createInsertReleases());
  programs.addPass(createVerifySchedule());
}

/// The passes of `dataflow-codegen`; both pipelines have its options.
template <typename OptionsT>
static void addCodegen(OpPassManager &manager, const OptionsT &options) {
  if (options.streams) {
    OpPassManager &programs = onPrograms(manager);
    SplitRolesOptions split;
    split.ringBytes = options.ringBytes;
    programs.addPass(createSplitRoles(split));
    if (options.fragments)
      programs.addPass(createAssignLayouts());
    programs.addPass(createVerifyKernel());
  }
  ConvertDataflowToNVVMOptions convert;
  for (const std::string &name : options.specializations)
    convert.specializations.push_back(name);
  convert.watchdog = options.watchdog;
  convert.timeline = options.timeline;
  manager.addPass(createConvertDataflowToNVVM(convert));
  manager.addPass(createVerifyDevice());
}

void mlir::df::buildCodegenPipeline(OpPassManager &manager,
                                    const CodegenPipelineOptions &options) {
  addCodegen(manager, options);
}

void mlir::df::buildCompilePipeline(OpPassManager &manager,
                                    const CompilePipelineOptions &options) {
  addPreparation(onPrograms(manager), options.params, options.buckets);
  addCodegen(manager, options);
}

void mlir::df::registerPipelines() {
  PassPipelineRegistration<PreparePipelineOptions>(
      "dataflow-prepare",
      "Bind parameters, verify the program and specialise its handlers",
      buildPreparePipeline);
  PassPipelineRegistration<PlanPipelineOptions>(
      "dataflow-plan", "Make a verified schedule for one batch",
      buildPlanPipeline);
  PassPipelineRegistration<CodegenPipelineOptions>(
      "dataflow-codegen", "Make the kernels of prepared programs",
      buildCodegenPipeline);
  PassPipelineRegistration<CompilePipelineOptions>(
      "dataflow-compile", "Prepare programs and make their kernels",
      buildCompilePipeline);
}
