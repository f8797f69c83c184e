//===- Launcher.h - Launches of a kernel with changing plans ----*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launcher holds all that launches of one kernel in one stream need, made
// once from stated maxima: device memory for the plan and the workspace, a ring
// of pinned staging buffers, watchdog records where the kernel has them, and
// the kernel's parameter block. After that nothing is allocated, compiled or
// waited for: per batch one `upload` and one `launch`.
//
//   device memory   workspace (Workspace.h) | plan
//   its scratch     global slots | scratch of CTA 0, 1, ...
//
// Graphs. `upload` and `launch` may be captured. What is captured is a copy
// from one staging buffer, held from then on, of as many bytes as the maxima
// say; and a launch with the parameter block of that time. So between replays
// `restage` may put another plan of the same capacity into the held buffer, but
// other arguments need another capture (or cuGraphExecKernelNodeSetParams with
// `parameters`). A launcher that was captured belongs to the graph: launch
// nothing else with it while a replay runs, and upload a plan before a launch
// outside of the graph, as the device has the graph's.
// Instead of `upload`, `plan` makes the plan on the device, from the arguments'
// values there. Captured with the launch, each replay plans anew.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_CUDA_LAUNCHER_H
#define DFRT_CUDA_LAUNCHER_H

#include "dfrt/cuda/Kernel.h"
#include "dfrt/cuda/PlanningKernel.h"
#include "dfrt/cuda/Staging.h"
#include "dfrt/cuda/Timeline.h"
#include "dfrt/cuda/Watchdog.h"
#include "dfrt/cuda/Workspace.h"

namespace dfrt::cuda {

/// The most that any plan will need.
struct LaunchMaxima {
  uint32_t flags = 0;
  uint64_t slotBytes = 0;
  uint64_t collectedBytes = 0;
  uint64_t planBytes = 0;

  /// Raises the maxima to what `plan` needs.
  void include(const PlanFacts &plan);
  /// What of `plan` is more than the maxima; empty if nothing is.
  std::string exceededBy(const PlanFacts &plan) const;
};

/// Scratch of a CTA in bytes: the kernel's fixed part, and behind it the
/// stack of collected fields.
uint64_t scratchStride(const Kernel &kernel, const LaunchMaxima &maxima);

/// Device memory that a launcher needs.
Expected<uint64_t> requiredBytes(const Kernel &kernel, const LaunchShape &shape,
                                 const LaunchMaxima &maxima);

/// An argument of the program on the device.
struct KernelArgument {
  std::string name;
  uint64_t address = 0;
  ElementType element = ElementType::f32;
  std::vector<int64_t> shape;
  std::vector<int64_t> descriptor; ///< MLIR's, as words
};
KernelArgument makeArgument(const std::string &name, uint64_t address,
                            ElementType element,
                            const std::vector<int64_t> &shape);

/// The bytes of a kernel's parameter: `head`, the descriptors of the arguments
/// and the tensor maps. Fails when an argument does not suit the kernel.
Expected<std::vector<uint8_t>>
makeParameters(const Device &device, const Kernel &kernel,
               const dfrt_kernel_parameters &head,
               const std::vector<KernelArgument> &arguments);

struct LauncherState;

/// Launches one kernel in one shape. One thread at a time.
class Launcher {
public:
  struct Options {
    std::string name = "launcher";
    uint32_t staging = 3; ///< staging buffers
    /// Device memory of the caller, aligned to 256 bytes, that outlives the
    /// launcher; null: allocated.
    uint64_t memory = 0, memoryBytes = 0;
  };

  /// Makes one and initialises its workspace in `stream`.
  static Expected<Launcher> create(const LoadedKernel &kernel,
                                   const ChosenShape &shape,
                                   const LaunchMaxima &maxima,
                                   const Stream &stream,
                                   const Options &options);

  explicit operator bool() const { return state != nullptr; }
  const LoadedKernel &kernel() const;
  const ChosenShape &shape() const;
  const LaunchMaxima &maxima() const;

  /// Sets the arguments of the launches from now on. Nothing is compiled and
  /// the device is not touched; tensor maps are made here.
  Status bind(const std::vector<KernelArgument> &arguments) const;

  /// Makes `plan` the plan of the launches from now on, by a copy in `stream`.
  /// `busy` while all staging buffers are in use. Tests that kernel, shape and
  /// maxima fit the plan.
  Status upload(const uint8_t *plan, const PlanFacts &facts,
                const Stream &stream) const;

  /// Makes the plan of the launches from now on in `stream`, on the device,
  /// from the arguments that are bound now; the launcher keeps `planning`, for
  /// good where it is captured. Tests that kernel, shape and maxima fit the
  /// most that its plans need (`planFacts(planner)`), and that the arguments
  /// that it reads have the bound's shapes. In a capture: each replay plans; a
  /// launch outside of the graph needs a plan outside of it. What a plan is
  /// refused for is told by `planning.report`; the launch then computes
  /// nothing.
  Status plan(const PlanningKernel &planning, const Stream &stream) const;

  /// Waits for what is in `stream`, then reads the plan that the device has,
  /// and seals it if the device made it.
  Status readPlan(const Stream &stream, std::vector<uint8_t> &bytes) const;

  /// From the next launch on every CTA says when it began and ended, in
  /// dfrt_stamp[ctas] in device memory at `address`; 0 (the default): none
  /// does.
  void stamp(uint64_t address) const;

  /// From the next launch on the kernel, which has to be one with a timeline,
  /// records its instructions in `memory`, which the launcher keeps; an empty
  /// one ends that.
  Status trace(const Timeline &memory) const;

  /// Launches in `stream`; needs arguments and a plan.
  Status launch(const Stream &stream) const;

  /// Between replays: the next replay of a graph that captured `upload` brings
  /// this plan, which has the capacity of the captured one. `busy` while a
  /// replay may read the old one.
  Status restage(const uint8_t *plan, const PlanFacts &facts) const;
  /// A replay of that graph is in `stream` now.
  Status replayed(const Stream &stream) const;
  /// The graph is gone: its staging buffer serves uploads again.
  Status forget() const;

  /// Waits for the launches in `stream`. Fails with the error of a launch; the
  /// workspace has then to be initialised again.
  Status wait(const Stream &stream) const;
  /// After an error: puts the workspace into its first state.
  Status initialise(const Stream &stream) const;
  /// Says that a launch failed; `launch` fails until `initialise`.
  void invalidate() const;

  /// What a watchdog build left behind; empty without one.
  std::vector<WatchdogRecord> records() const;

  /// The parameter block of the present plan and arguments, for tests and for
  /// kernel nodes of graphs. Lives until the next call that changes it.
  const std::vector<uint8_t> &parameters() const;
  const Workspace &workspace() const;

private:
  std::shared_ptr<LauncherState> state;
};

} // namespace dfrt::cuda

#endif // DFRT_CUDA_LAUNCHER_H
