//===- Signals.cpp - Barriers, flags and releases of a launch -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Signals.h"

#include "dataflow/Schedule/Message.h"

using namespace dfrt;
using namespace dfrt::cpu;

Signals::Signals(const PlanView &plan)
    : plan(plan), barriers(plan.barriers.size()),
      flags(plan.header.global_flags), released(plan.releases.size() / 2) {}

Expected<bool> Signals::complete(uint32_t cta, uint32_t barrier,
                                 uint32_t phase) const {
  const BarrierState &state = barriers[plan.barrierIndex(cta, barrier)];
  // The hardware sees the parity of the phase only.
  if (state.phase > uint64_t(phase) + 1)
    return failure(StatusCode::verificationFailed, "cpu: barrier ", barrier,
                   " of cta ", cta, " is in phase ", state.phase,
                   ", too far for a wait for phase ", phase);
  return state.phase > phase;
}

Expected<Wait> Signals::missing(const dfrt_instruction &instruction) const {
  for (const dfrt_release &release : plan.acquiresOf(instruction)) {
    if (release.barrier == DFRT_NONE) {
      if (!released[release.identity])
        return Wait{Wait::Kind::release, release.identity};
      continue;
    }
    Expected<bool> done =
        complete(release.to_cta, release.barrier, release.phase);
    if (!done)
      return done.status();
    if (!*done)
      return Wait{Wait::Kind::release, release.identity};
  }
  for (const dfrt_operand &operand : plan.operandsOf(instruction)) {
    if (!(operand.flags & DFRT_OPERAND_WAIT))
      continue;
    const dfrt_slot &slot = plan.slots[operand.slot];
    if (slot.barrier != DFRT_NONE) {
      Expected<bool> done = complete(slot.cta, slot.barrier, slot.phase);
      if (!done)
        return done.status();
      if (!*done)
        return Wait{Wait::Kind::operand, operand.slot};
    }
    if (slot.flag != DFRT_NONE && !flags[slot.flag])
      return Wait{Wait::Kind::operand, operand.slot};
  }
  return Wait();
}

Status Signals::arriveBarrier(uint32_t cta, uint32_t barrier, uint32_t phase) {
  uint32_t index = plan.barrierIndex(cta, barrier);
  BarrierState &state = barriers[index];
  if (state.phase != phase)
    return failure(StatusCode::verificationFailed, "cpu: barrier ", barrier,
                   " of cta ", cta, " is in phase ", state.phase,
                   ", but an arrival for phase ", phase, " came");
  if (++state.arrivals == plan.barriers[index].arrivals) {
    state.arrivals = 0;
    ++state.phase;
  }
  return Status::success();
}

Status Signals::arriveSlot(uint32_t index) {
  const dfrt_slot &slot = plan.slots[index];
  if (slot.flag != DFRT_NONE)
    flags[slot.flag] = true;
  if (slot.barrier != DFRT_NONE)
    return arriveBarrier(slot.cta, slot.barrier, slot.phase);
  return Status::success();
}

Status Signals::arriveRelease(const dfrt_release &release) {
  released[release.identity] = true;
  if (release.barrier != DFRT_NONE)
    return arriveBarrier(release.to_cta, release.barrier, release.phase);
  return Status::success();
}
