//===- Kernel.h - A kernel of an artifact on a device -----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An artifact holds several kernels of one program. Which of them is taken is
// decided before any code is loaded: architecture, threads, shared memory,
// clusters and, where a plan is at hand, everything that the plan asks of its
// kernel. A refusal names each kernel and all that is wrong with it.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_CUDA_KERNEL_H
#define DFRT_CUDA_KERNEL_H

#include "dfrt/ABI.h"
#include "dfrt/Artifact.h"
#include "dfrt/KernelABI.h"
#include "dfrt/cuda/Launch.h"

namespace dfrt::cuda {

/// What a plan asks of kernel, launch shape and memory.
struct PlanFacts {
  uint64_t fingerprint = 0; ///< of its program
  bool ticket = false;
  bool exitBarrier = false;
  uint32_t ctas = 0, clusterSize = 1;
  uint32_t transports = 0; ///< bit `Transport` for each one used
  uint32_t barriers = 0;   ///< of the CTA with most
  uint32_t flags = 0;
  uint64_t sharedBytes = 0;    ///< slot arena of a CTA
  uint64_t reservedBytes = 0;  ///< what it left to the kernel
  uint64_t globalBytes = 0;    ///< global slot arena
  uint64_t collectedBytes = 0; ///< largest stack of collected fields
  uint64_t planBytes = 0;
  uint64_t sections[DFRT_SECTION_COUNT] = {}; ///< offsets in the plan
  /// CTAs of different clusters wait for each other: all have to be resident.
  bool resident = false;
};

/// Reads the facts of a plan that `readPlan` accepted for `program`.
PlanFacts planFacts(const Program &program, const uint8_t *plan);

/// Which kernel is wanted. Fields that are 0 or null ask for nothing.
struct KernelRequest {
  std::string symbol;
  const PlanFacts *plan = nullptr; ///< the kernel can execute this plan
  uint32_t disciplines = 0;        ///< bit 0 static, bit 1 ticket
  uint32_t clusterSize = 1;        ///< it takes clusters of this size
  bool watchdog = false;           ///< its waits are bounded
  bool timeline = false;           ///< it records a timeline
};

/// Index of the first of `kernels` that the device can run and the request
/// asks for; one with bounded waits or a timeline that were not asked for is
/// the last choice. `program` is what messages call the program.
Expected<uint32_t> chooseKernel(const std::string &program,
                                const std::vector<Kernel> &kernels,
                                const DeviceReport &device,
                                const KernelRequest &request);

/// What differs between what `plan` needs and what `kernel` is; empty if
/// nothing does.
std::string planDifferences(const Kernel &kernel, const PlanFacts &plan);

struct LoadedKernelState;

/// A kernel of a program, loaded.
class LoadedKernel {
public:
  /// Checks `kernel` against the device, loads `code` through `cache` and looks
  /// the kernel up. `program` and `fingerprint` are those of the artifact.
  static Expected<LoadedKernel> load(const Device &device, ModuleCache &cache,
                                     const Kernel &kernel, const CodeBlob &code,
                                     const std::string &program,
                                     uint64_t fingerprint);

  explicit operator bool() const { return state != nullptr; }
  const Device &device() const;
  const Kernel &record() const;
  const Function &function() const;
  const std::string &program() const;
  uint64_t fingerprint() const;

  /// Tests that the kernel can execute the plan: same program, discipline,
  /// transports, reservation, barriers and cluster. Names each difference.
  Status check(const PlanFacts &plan) const;

  /// One JSON object: the record, and what the driver says of the code.
  std::string json() const;

private:
  std::shared_ptr<const LoadedKernelState> state;
};

/// What the caller would like of a launch shape.
struct KernelShapeRequest {
  uint32_t ctas = 0;        ///< 0: one a multiprocessor
  uint32_t clusterSize = 1; ///< the largest that will do
  uint32_t smallestCluster = 1;
  uint64_t sharedBytes = 0; ///< of a CTA, reservation included; 0: all there is
  /// All CTAs have to be resident at once: what static plans need whose CTAs
  /// wait for each other. A ticket plan makes progress with any of them.
  bool resident = true;
  Cooperation cooperation = Cooperation::preferred;
};

/// Chooses the shape that launches of `kernel` have: `chooseShape` with the
/// kernel's threads, and a number of CTAs that the cluster size divides and
/// that can be resident at once, where the caller names none.
Expected<ChosenShape> chooseKernelShape(const LoadedKernel &kernel,
                                        const DeviceProbe &probe,
                                        const KernelShapeRequest &request);

} // namespace dfrt::cuda

#endif // DFRT_CUDA_KERNEL_H
