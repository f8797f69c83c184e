//===- Watchdog.h - Who waits for what when a kernel is stuck ---*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a watchdog build of a kernel every wait is bounded. A wait that runs out
// leaves a record and ends the kernel by a store to address 0 (never `trap`,
// which would cost every kernel its register budgets). That loses the context,
// and device memory with it, so records go to pinned host memory, which stays
// readable until the device is reopened. Each CTA has one record a role: no two
// writers share one, and no atomic crosses the bus.
//
// On the host the numbers become names: the plan says which slot, transfer and
// instruction a barrier's phase or a flag stands for.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_CUDA_WATCHDOG_H
#define DFRT_CUDA_WATCHDOG_H

#include "dfrt/KernelABI.h"
#include "dfrt/PlanImage.h"
#include "dfrt/cuda/Memory.h"

namespace dfrt::cuda {

/// Roles, waits and the record are those of KernelABI.h.
using WatchdogRecord = dfrt_watchdog_record;

/// The records as text, one line a record, with the plan's names where `plan`
/// is given. `ctas` of the launch; CTAs without a record are counted in the
/// first line.
std::string describeWatchdog(const std::vector<WatchdogRecord> &records,
                             uint32_t ctas, const PlanImage *plan = nullptr);

/// Where a kernel leaves its records.
class Watchdog {
public:
  static Expected<Watchdog> create(const Device &device, uint32_t ctas);

  explicit operator bool() const { return bool(memory); }
  /// Of the record of CTA c and role r: plus (c * DFRT_WATCHDOG_ROLES + r)
  /// times the size of a record.
  uint64_t deviceAddress() const { return memory.deviceAddress(); }
  uint32_t ctas() const { return launched; }
  /// Before a launch; no kernel that writes here may be running.
  void clear() const;
  /// The complete records, by CTA and role. Empty: no wait ran out.
  std::vector<WatchdogRecord> records() const;

private:
  PinnedBuffer memory;
  uint32_t launched = 0;
};

} // namespace dfrt::cuda

#endif // DFRT_CUDA_WATCHDOG_H
