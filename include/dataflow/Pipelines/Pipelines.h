//===- Pipelines.h - Passes in the order in which they work -----*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of the passes and which of them an option turns on, for `df-opt`
// and for compilers that embed the dialect. Every pipeline can be built on a
// pass manager of any operation that holds programs, or of a program itself.
//
//   dataflow-prepare  from an authored program to one that can be compiled:
//                     specialize-program, verify-program, specialize-handlers
//   dataflow-plan     from there to a verified schedule: bind-inputs and
//                     attach-topology where their options are given,
//                     schedule-program, select-transport, plan-slots,
//                     insert-releases, verify-schedule
//   dataflow-codegen  from a prepared program to device modules with its
//                     kernels: split-roles (with streams), assign-layouts
//                     (with streams and fragments) and verify-kernel,
//                     convert-dataflow-to-nvvm, verify-device; of a module
//                     that holds programs
//   dataflow-compile  dataflow-prepare, then dataflow-codegen
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_PIPELINES_PIPELINES_H
#define DATAFLOW_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

#include <string>

namespace mlir::df {

/// Options of `dataflow-prepare`.
struct PreparePipelineOptions
    : public PassPipelineOptions<PreparePipelineOptions> {
  Option<std::string> params{
      *this, "params", llvm::cl::init(""),
      llvm::cl::desc("Values of compile-time parameters, e.g. "
                     "width=64,element=bf16")};
  Option<std::string> buckets{
      *this, "buckets", llvm::cl::init("1,2,4"),
      llvm::cl::desc("Tile counts to specialise handlers for")};
};

/// Options of `dataflow-plan`.
struct PlanPipelineOptions : public PassPipelineOptions<PlanPipelineOptions> {
  Option<std::string> params{
      *this, "params", llvm::cl::init(""),
      llvm::cl::desc("Values of compile-time parameters, e.g. "
                     "width=64,element=bf16")};
  Option<std::string> buckets{
      *this, "buckets", llvm::cl::init("1,2,4"),
      llvm::cl::desc("Tile counts to specialise handlers for")};
  Option<std::string> values{
      *this, "values", llvm::cl::init(""),
      llvm::cl::desc("Inputs of the batch, e.g. lengths=130,64;x[2x300]; "
                     "without, those in the file")};
  Option<uint32_t> ctas{
      *this, "ctas", llvm::cl::init(0),
      llvm::cl::desc("CTAs of the device; 0: see the options below")};
  Option<uint32_t> clusterSize{*this, "cluster-size", llvm::cl::init(0),
                               llvm::cl::desc("CTAs of a cluster; 0: 1")};
  Option<uint64_t> sharedBytes{
      *this, "shared-bytes", llvm::cl::init(0),
      llvm::cl::desc("Shared memory of a CTA; 0: the default")};
  Option<uint64_t> reservedBytes{
      *this, "reserved-bytes", llvm::cl::init(131072),
      llvm::cl::desc("Part of the shared memory that slots may not use")};
  Option<std::string> chip{
      *this, "chip", llvm::cl::init(""),
      llvm::cl::desc("Chip to plan for; if neither this nor ctas, "
                     "cluster-size, shared-bytes or reserved-bytes is given, "
                     "the topology in the file")};
  Option<std::string> solver{*this, "solver", llvm::cl::init("stream"),
                             llvm::cl::desc("Name of the solver")};
  Option<std::string> combine{
      *this, "combine", llvm::cl::init("automatic"),
      llvm::cl::desc("How parts of a split task are combined: automatic, "
                     "scatter, fold or tree")};
  Option<std::string> transport{
      *this, "transport", llvm::cl::init("automatic"),
      llvm::cl::desc("Transport between CTAs: automatic, local, "
                     "cluster_shared, global or multicast")};
};

/// The options that `dataflow-codegen` and `dataflow-compile` share.
template <typename PipelineOptionsT>
struct CodegenOptions : public PassPipelineOptions<PipelineOptionsT> {
  template <typename ValueT>
  using Option = ::mlir::detail::PassOptions::Option<ValueT>;

  ::mlir::detail::PassOptions::ListOption<std::string> specializations{
      *this, "specializations",
      llvm::cl::desc("Which kernels: static, static_global, ticket (default: "
                     "what the program's requests leave)")};
  Option<bool> watchdog{*this, "watchdog", llvm::cl::init(false),
                        llvm::cl::desc("Bound every wait")};
  Option<bool> timeline{*this, "timeline", llvm::cl::init(false),
                        llvm::cl::desc("Record times of instructions")};
  Option<bool> streams{
      *this, "streams", llvm::cl::init(false),
      llvm::cl::desc("Let a load warp fetch tiles ahead of their use")};
  Option<bool> fragments{
      *this, "fragments", llvm::cl::init(true),
      llvm::cl::desc("With streams: lay tiles out over threads, for the "
                     "tensor cores")};
  Option<uint64_t> ringBytes{
      *this, "ring-bytes", llvm::cl::init(221184),
      llvm::cl::desc("Shared memory for the rings of all streams")};
};

/// Options of `dataflow-codegen`.
struct CodegenPipelineOptions : public CodegenOptions<CodegenPipelineOptions> {
};

/// Options of `dataflow-compile`.
struct CompilePipelineOptions : public CodegenOptions<CompilePipelineOptions> {
  Option<std::string> params{
      *this, "params", llvm::cl::init(""),
      llvm::cl::desc("Values of compile-time parameters, e.g. "
                     "width=64,element=bf16")};
  Option<std::string> buckets{
      *this, "buckets", llvm::cl::init("1,2,4"),
      llvm::cl::desc("Tile counts to specialise handlers for")};
};

/// Adds the passes of `dataflow-prepare` to `manager`.
void buildPreparePipeline(OpPassManager &manager,
                          const PreparePipelineOptions &options);

/// Adds the passes of `dataflow-plan` to `manager`.
void buildPlanPipeline(OpPassManager &manager,
                       const PlanPipelineOptions &options);

/// Adds the passes of `dataflow-codegen` to `manager`, which runs on modules.
void buildCodegenPipeline(OpPassManager &manager,
                          const CodegenPipelineOptions &options);

/// Adds the passes of `dataflow-compile` to `manager`, which runs on modules.
void buildCompilePipeline(OpPassManager &manager,
                          const CompilePipelineOptions &options);

/// Makes the pipelines known by name, once per process.
void registerPipelines();

} // namespace mlir::df

#endif // DATAFLOW_PIPELINES_PIPELINES_H
