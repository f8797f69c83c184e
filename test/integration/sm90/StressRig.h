//===- StressRig.h - A kernel, its plans and a foreign kernel ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tests of a compiled kernel under load share. A `Machine` is the open
// device with the inputs of all batches and a foreign kernel that can hold
// multiprocessors. A `Rig` is one kernel of the artifact with a launch shape,
// plans of many batches, a launcher, a stream and outputs of its own; several
// can work at the same time.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_SM90_STRESSRIG_H
#define DATAFLOW_TEST_SM90_STRESSRIG_H

#include "StressBatches.h"

#include "dfrt/cuda/Graph.h"
#include "dfrt/cuda/Memory.h"

#include <functional>

namespace stress {

/// Longer than anything here should take, in seconds.
inline constexpr double kPatience = 15;
inline constexpr uint32_t kPlans = 200;

double now();
dfrt::Status wrong(const std::string &text);
/// Waits for what is in `stream`, but not for ever.
dfrt::Status wait(const dfrt::cuda::Stream &stream,
                  double patience = kPatience);
/// Calls as often as needed while staging buffers are in use.
dfrt::Status patiently(const std::function<dfrt_status()> &call);

/// Which number of CTAs and clusters, and which discipline.
struct Shape {
  uint32_t cluster = 1;
  bool ticket = false;
  uint32_t ctas = 0; ///< 0: one a multiprocessor
  bool watchdog = false;

  std::string name() const;
};

class Machine {
public:
  /// `unsupported` where there is no device.
  dfrt::Status open(const std::string &name);
  /// A foreign kernel takes `count` multiprocessors, with all their shared
  /// memory, until `letGo` or for `seconds`.
  dfrt::Status hold(uint32_t count, double seconds);
  dfrt::Status letGo();
  uint32_t multiprocessors() const { return device.report().multiprocessors; }

  Batches batches;
  dfrt::DeviceHandle handle;
  dfrt::cuda::Device device;
  dfrt::cuda::Stream foreign;
  std::vector<dfrt::cuda::Buffer> inputs; ///< by Argument; outputs are empty

private:
  std::unique_ptr<dfrt::cuda::ModuleCache> cache;
  dfrt::cuda::PinnedBuffer flag;
};

class Rig {
public:
  Rig(Machine &machine, const dfrt::ArtifactHandle &artifact)
      : machine(&machine), artifact(&artifact) {}

  dfrt::Status prepare(const Shape &shape, uint32_t planCount = kPlans);
  /// Fills the outputs with NaN.
  dfrt::Status poison() const;
  dfrt::Status upload(const dfrt::PlanHandle &plan) const;
  dfrt::Status launch() const;
  /// All three, of one of the plans.
  dfrt::Status start(uint32_t batch) const;
  /// Waits, and compares the outputs with those of the batch.
  dfrt::Status compare(uint32_t batch);

  dfrt_launch_shape shape = {};
  std::vector<dfrt::PlanHandle> plans;
  dfrt::KernelHandle kernel;
  dfrt::LauncherHandle launcher;
  dfrt::cuda::Stream stream;

private:
  Machine *machine;
  const dfrt::ArtifactHandle *artifact;
  dfrt::cuda::Buffer outputs[kArguments];
  std::vector<uint8_t> sums, tiles;
};

} // namespace stress

#endif // DATAFLOW_TEST_SM90_STRESSRIG_H
