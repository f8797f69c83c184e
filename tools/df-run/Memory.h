//===- Memory.h - What a plan and a kernel keep where -----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds up the shared memory of every CTA and the global memory of a launch, and
// compares it with the limits: what the topology offers, and what the kernels
// of the artifact need and take.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_MEMORY_H
#define DF_RUN_MEMORY_H

#include "Json.h"

#include "dataflow/Schedule/Schedule.h"
#include "dfrt/Artifact.h"

#include <string>
#include <vector>

namespace dfrt {

struct MemoryLayout {
  /// Shared memory of a CTA: `limit` holds `reserved` and the slots.
  uint64_t limit = 0, reserved = 0;
  struct Cta {
    uint32_t cta = 0;
    uint64_t slots = 0; ///< number of shared slots, over the whole launch
    uint64_t bytes = 0; ///< behind the last of them
    uint32_t barriers = 0;
  };
  std::vector<Cta> ctas; ///< those with slots or barriers
  uint64_t fullest = 0;  ///< bytes of slots of the fullest
  /// Global memory of the launch.
  uint64_t globalSlots = 0, globalBytes = 0, flags = 0;

  struct Fit {
    std::string kernel;
    uint64_t reserved = 0; ///< the parts and what aligns them
    Kernel::Reserved parts;
    uint64_t scratchBytes = 0; ///< in global memory, a CTA
    uint32_t maxBarriers = 0;
    std::string differences; ///< why it cannot execute the plan, or ""
    std::vector<std::string> remarks;
  };
  std::vector<Fit> kernels;
  std::vector<std::string>
      problems; ///< limits that are exceeded; none if legal

  uint64_t total() const { return reserved + fullest; }
};

/// `plan`: the packed bytes of `schedule`. A program without kernels is laid
/// out for the topology alone.
MemoryLayout layOutMemory(const Problem &problem, const Schedule &schedule,
                          const std::vector<Kernel> &kernels,
                          const std::vector<uint8_t> &plan);

/// A line, and one for each problem.
std::string toText(const MemoryLayout &layout);
Json toJson(const MemoryLayout &layout);

} // namespace dfrt

#endif // DF_RUN_MEMORY_H
