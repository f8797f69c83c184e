//===- CudaDevice.h - A CUDA device of the C API ----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an open CUDA device of the C API keeps: the modules it loaded, what
// probing it found, a stream of its own, and the launchers that dfrt_launch
// made, so that launching again allocates nothing.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CUDADEVICE_H
#define DFRT_LIB_CUDADEVICE_H

#include "Handles.h"

#include "dfrt/cuda/Launcher.h"

namespace dfrt {

class CudaDevice {
public:
  /// `library` is the driver's.
  static Expected<std::shared_ptr<CudaDevice>> open(const std::string &library,
                                                    int ordinal);

  const cuda::Device &device() const { return opened; }
  const cuda::DeviceProbe &probe() const { return probed; }
  /// {"device": name, "report": ..., "probe": ...}.
  std::string describe(const std::string &name) const;

  /// As Device::reopen; what the device kept is made anew.
  Status reopen();

  /// The caller's CUstream, or the device's own where it is null.
  Expected<cuda::Stream> stream(void *handle) const;

  /// Chooses a kernel and loads it.
  Expected<cuda::LoadedKernel> load(const Artifact &artifact,
                                    const cuda::KernelRequest &request);

  /// The kernel that plans with `planner`, on this device.
  Expected<cuda::PlanningKernel> loadPlanning(const DevicePlanner &planner);

  /// Device memory that launches of the plan need.
  Expected<uint64_t> workspaceBytes(const Artifact &artifact,
                                    const cuda::PlanFacts &facts) const;

  /// Launches `plan` on tensors in device memory; waits where
  /// `options.stream` is null.
  Status launch(const std::shared_ptr<ArtifactState> &artifact,
                const std::shared_ptr<PlanState> &plan,
                const dfrt_tensor *arguments, uint32_t count,
                const dfrt_launch_options &options);

private:
  /// A launcher that dfrt_launch made, and what it was made for.
  struct Kept {
    std::weak_ptr<ArtifactState> artifact;
    uint32_t ctas, clusterSize;
    bool ticket, resident;
    void *stream;
    void *memory;
    cuda::Launcher launcher;
    std::weak_ptr<PlanState> plan; ///< of its last upload
  };
  /// The launcher for this plan, kept or made now. Under the mutex.
  Expected<Kept *> launcherFor(const std::shared_ptr<ArtifactState> &artifact,
                               const cuda::PlanFacts &facts,
                               const dfrt_launch_options &options,
                               const cuda::Stream &stream);

  cuda::Device opened;
  cuda::DeviceProbe probed;
  cuda::Stream own;
  std::unique_ptr<cuda::ModuleCache> modules;
  std::mutex mutex; ///< of all below
  std::vector<Kept> kept;
};

/// The program's arguments as a kernel takes them. Fails as `checkTensors`.
Status kernelArguments(const Program &program, const dfrt_tensor *arguments,
                       uint32_t count,
                       std::vector<cuda::KernelArgument> &result);

/// `failed`, and behind it what waits of a watchdog build ran out. `plan` may
/// be null.
Status withWatchdog(const Status &failed, const cuda::Launcher &launcher,
                    const PlanState *plan);

/// The records of a launcher as text, with the names of `plan`.
std::string watchdogText(const cuda::Launcher &launcher, const PlanState *plan);

} // namespace dfrt

#endif // DFRT_LIB_CUDADEVICE_H
