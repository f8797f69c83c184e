//===- HostThreads.h - Planning by one thread of the host -------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_PLANNING_HOSTTHREADS_H
#define DFRT_LIB_PLANNING_HOSTTHREADS_H

#include "Tables.h"

namespace dfrt {
namespace planning {

struct HostThreads {
  static constexpr bool kAlone = true;
  uint32_t index() const { return 0; }
  uint32_t count() const { return 1; }
  void sync() const {}
  void scan(uint32_t (&values)[kMaxSums], uint32_t (&totals)[kMaxSums],
            uint32_t *) const {
    for (uint32_t v = 0; v < kMaxSums; ++v) {
      totals[v] = values[v];
      values[v] = 0;
    }
  }
};

/// As a launch has the places of its tables.
inline uint64_t addressOf(const void *data) {
  return reinterpret_cast<uintptr_t>(data);
}

/// Records are stored in units of 16 bytes.
struct alignas(16) HostUnit {
  uint8_t bytes[16];
};

} // namespace planning
} // namespace dfrt

#endif // DFRT_LIB_PLANNING_HOSTTHREADS_H
