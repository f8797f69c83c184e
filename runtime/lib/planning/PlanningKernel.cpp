//===- PlanningKernel.cpp - Plans from lengths on the device --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled for nvptx64, freestanding. A planning CTA a queue: all find the same
// cuts, each in its own shared memory, and write their own queue. So they need
// not wait for each other.
//
//===----------------------------------------------------------------------===//

#include "WriteQueues.h"

using namespace dfrt::planning;

extern __attribute__((address_space(3))) uint64_t dfrt_planning_arena[];

namespace {
struct DeviceThreads {
  static constexpr bool kAlone = false;
  uint32_t index() const { return __nvvm_read_ptx_sreg_tid_x(); }
  uint32_t count() const { return __nvvm_read_ptx_sreg_ntid_x(); }
  void sync() const { __syncthreads(); }
  /// Within warps by shuffles, then over warps.
  void scan(uint32_t (&values)[kMaxSums], uint32_t (&totals)[kMaxSums],
            uint32_t *memory) const {
    uint32_t lane = index() % 32, warp = index() / 32, warps = count() / 32;
    for (uint32_t v = 0; v < kMaxSums; ++v) {
      uint32_t sum = values[v];
      for (uint32_t step = 1; step < 32; step *= 2) {
        uint32_t other = __nvvm_shfl_sync_up_i32(~0u, sum, step, 0);
        sum += lane >= step ? other : 0;
      }
      if (lane == 31)
        memory[v * kMaxThreads + warp] = sum;
      values[v] = sum - values[v];
      totals[v] = 0;
    }
    sync();
    for (uint32_t w = 0; w < warps; ++w)
      for (uint32_t v = 0; v < kMaxSums; ++v) {
        uint32_t sum = memory[v * kMaxThreads + w];
        values[v] += w < warp ? sum : 0;
        totals[v] += sum;
      }
    sync();
  }
};
} // namespace

extern "C" __attribute__((nvptx_kernel)) void dfrt_plan(Launch launch) {
  plan(launch, reinterpret_cast<uint8_t *>((uint64_t *)dfrt_planning_arena),
       DeviceThreads(), __nvvm_read_ptx_sreg_ctaid_x(),
       __nvvm_read_ptx_sreg_nctaid_x());
}
