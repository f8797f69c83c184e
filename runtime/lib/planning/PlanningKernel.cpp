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

extern __attribute__((address_space(3))) uint64_t dfrt_planning_arena[];

namespace {
struct DeviceThreads {
  uint32_t index() const { return __nvvm_read_ptx_sreg_tid_x(); }
  uint32_t count() const { return __nvvm_read_ptx_sreg_ntid_x(); }
  void sync() const { __syncthreads(); }
};
} // namespace

extern "C" __attribute__((nvptx_kernel)) void
dfrt_plan(dfrt::planning::Launch launch) {
  dfrt::planning::plan(
      launch, reinterpret_cast<uint8_t *>((uint64_t *)dfrt_planning_arena),
      DeviceThreads(), __nvvm_read_ptx_sreg_ctaid_x(),
      __nvvm_read_ptx_sreg_nctaid_x());
}
