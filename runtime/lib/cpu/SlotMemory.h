//===- SlotMemory.h - Slot arenas of a launch -------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One arena a CTA, in place of its shared memory, and one global arena. With
// poison on, slot memory holds NaNs (all bits set) before it is written and
// from its last read on, so that a read at the wrong time shows in the result.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CPU_SLOTMEMORY_H
#define DFRT_LIB_CPU_SLOTMEMORY_H

#include "PlanView.h"
#include "Records.h"

#include <atomic>

namespace dfrt::cpu {

/// Bytes of the arenas of a plan, or an error when they exceed 2^56.
Expected<uint64_t> workspaceBytes(const PlanView &plan);

class SlotMemory {
public:
  /// `workspace` has workspaceBytes(plan) bytes.
  SlotMemory(const Program &program, const PlanView &plan, uint8_t *workspace,
             bool poison);

  /// A slot as the CTA that executes (or issues the transfer) sees it.
  StoredRecord slot(uint32_t index, uint32_t cta) const;

  /// Before the one write of a slot.
  void beginWrite(uint32_t index, uint32_t cta);
  /// After one of its reads; the last one ends its life.
  void endRead(uint32_t index, uint32_t cta);
  /// Copies what a transfer carries to one destination, and ends its read of
  /// the source. `cta` is the issuer.
  void transfer(const dfrt_transfer &transfer, uint32_t destination,
                uint32_t cta);
  /// The CTA's shared memory is gone.
  void abandon(uint32_t cta);

private:
  uint8_t *address(uint32_t index, uint32_t cta) const;
  void fill(uint32_t index, uint32_t cta);

  const Program &program;
  const PlanView &plan;
  uint8_t *shared;
  uint8_t *global;
  uint64_t sharedStride;
  bool poison;
  std::vector<std::atomic<uint32_t>> readsLeft;
};

} // namespace dfrt::cpu

#endif // DFRT_LIB_CPU_SLOTMEMORY_H
