//===- PlanningKernel.h - Planning on a device ------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel that runs a `DevicePlanner` on a device. `Launcher::plan` puts it
// in front of the program's kernel, in a stream or into a graph.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_CUDA_PLANNINGKERNEL_H
#define DFRT_CUDA_PLANNINGKERNEL_H

#include "dfrt/DevicePlanner.h"
#include "dfrt/cuda/Kernel.h"
#include "dfrt/cuda/Memory.h"

namespace dfrt::cuda {

/// What the plans of `planner` ask for at most.
PlanFacts planFacts(const DevicePlanner &planner);

struct PlanningKernelState;

/// A planner on a device, loaded: everything that planning needs is allocated.
class PlanningKernel {
public:
  /// Loads the kernel, which the driver compiles, and waits until `stream` has
  /// brought the planner's tables. Fails with `unsupported` where the library
  /// was built without it.
  static Expected<PlanningKernel> create(const Device &device,
                                         ModuleCache &modules,
                                         const DevicePlanner &planner,
                                         const Stream &stream);

  explicit operator bool() const { return state != nullptr; }
  bool operator==(const PlanningKernel &other) const {
    return state == other.state;
  }
  const DevicePlanner &planner() const;

  /// Plans in `stream`: writes `planner().planBytes()` bytes at device address
  /// `plan`, from the tensors at the addresses of `inputs` (in the order of
  /// `planner().inputs()`).
  Status launch(uint64_t plan, const std::vector<uint64_t> &inputs,
                const Stream &stream) const;

  /// Waits for what is in `stream`, then says what was planned. What was
  /// refused is told once.
  Expected<DevicePlanReport> report(const Stream &stream) const;

private:
  std::shared_ptr<PlanningKernelState> state;
};

} // namespace dfrt::cuda

#endif // DFRT_CUDA_PLANNINGKERNEL_H
