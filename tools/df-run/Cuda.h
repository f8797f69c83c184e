//===- Cuda.h - Runs and measures plans on a GPU ----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel decides how much shared memory a plan leaves to it, and the device
// how many CTAs there are; so kernel and launch shape are chosen before the
// plan is made, or, for a plan from a file, to suit that plan.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_CUDA_H
#define DF_RUN_CUDA_H

#include "Execute.h"

#include "dfrt/cuda/Launcher.h"
#include "dfrt/cuda/Measure.h"

namespace dfrt {

/// A GPU with a kernel of the artifact.
class CudaRunner {
public:
  /// Opens the device of `options`.
  static Expected<std::unique_ptr<CudaRunner>>
  open(const LoadedArtifact &artifact, const Options &options);

  /// Chooses kernel and launch shape: for `plan`, or, where it is null, for a
  /// plan by the solver of `options`, whose topology is then set.
  Status choose(const cuda::PlanFacts *plan, Options &options);

  /// Copies the arguments of a point to the device, and the plan; or has the
  /// device make it, if the options say so, and compares it with `plan`.
  Status prepare(const Plan &plan, Tensors &tensors, const Options &options);

  /// What `prepare` does with another plan of the same arguments.
  Status load(const Plan &plan, const Options &options);
  Expected<cuda::Meter> meter(unsigned samples);
  /// Microseconds of a launch of the plan from a cold L2.
  Expected<double> coldTime(const cuda::Meter &meter);

  /// As `dfrt::execute`: `options.repeat` runs, outputs poisoned before each.
  Expected<RunSummary> execute(Tensors &tensors, const Options &options,
                               Progress &progress);

  /// Measures the prepared launch; `bytes` is what the batch moves.
  Expected<Measurement> measure(uint64_t bytes, Tensors &tensors,
                                RunSummary &run, const Options &options,
                                Progress &progress);

  /// Records launches of the prepared plan, `plan`, from a cold L2: the one of
  /// median length. The kernel has to be one with a timeline.
  Expected<LaunchTrace> trace(const Plan &plan, Tensors &tensors,
                              RunSummary &run, Progress &progress);

private:
  /// Plans on the device, in the launcher.
  Status planOnDevice(const cuda::PlanningKernel &planning, const Plan &plan);
  explicit CudaRunner(const LoadedArtifact &artifact) : artifact(artifact) {}
  /// One launch, and its microseconds between two events.
  Expected<double> launch(Tensors &tensors);
  /// Fills the outputs on the device with NaN.
  Status poison(Tensors &tensors);
  Status download(Tensors &tensors);
  /// `failed`, with what a watchdog build left behind.
  Status explained(const Status &failed) const;

  const LoadedArtifact &artifact;
  cuda::Device device;
  cuda::DeviceProbe probe;
  std::unique_ptr<cuda::ModuleCache> modules;
  cuda::Stream stream;
  cuda::LoadedKernel kernel;
  cuda::ChosenShape shape;

  // Of one point.
  std::vector<cuda::Buffer> buffers;
  std::vector<cuda::KernelArgument> arguments;
  cuda::Launcher launcher;
  cuda::PlanFacts facts;
  std::vector<uint8_t> plan;
  std::unique_ptr<RepeatedOutputs> outputs;
};

} // namespace dfrt

#endif // DF_RUN_CUDA_H
