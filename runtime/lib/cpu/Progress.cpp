//===- Progress.cpp - Where CTAs are and what wakes them ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Executor.h"

#include "dataflow/Schedule/Message.h"

using namespace dfrt;
using namespace dfrt::cpu;

Progress::Progress(LaunchCode &launch)
    : launch(launch), plan(launch.plan), signals(launch.plan),
      ctas(launch.plan.header.ctas),
      flagWaiters(launch.plan.header.global_flags),
      done(launch.plan.callCount()) {
  for (uint32_t c = 0; c < ctas.size(); ++c) {
    ctas[c].queue = plan.ticket() ? 0 : c;
    ctas[c].end = plan.ticket() ? 0 : plan.queues[c].count;
    runnable.push_back(c);
  }
  unfinished = uint32_t(runnable.size());
}

bool Progress::draw(uint32_t index) {
  CtaState &cta = ctas[index];
  if (cta.next != cta.end || !plan.ticket())
    return false;
  if (drawCursor == plan.draws.size())
    return false;
  const dfrt_draw &draw = plan.draws[drawCursor++];
  cta.next = draw.first - plan.queues[0].rest;
  cta.end = cta.next + draw.count;
  return true;
}

Expected<const dfrt_instruction *> Progress::advance(uint32_t index) {
  CtaState &cta = ctas[index];
  if (cta.next == cta.end) {
    cta.finished = true;
    --unfinished;
    if (!plan.exitBarrier())
      launch.memory.abandon(index);
    return static_cast<const dfrt_instruction *>(nullptr);
  }
  const dfrt_instruction &instruction = plan.at(cta.queue, cta.next);
  Expected<Wait> wait = signals.missing(instruction);
  if (!wait)
    return wait.status();
  if (wait->kind == Wait::Kind::none)
    return &instruction;
  cta.blocked = true;
  cta.wait = *wait;
  if (wait->kind == Wait::Kind::operand &&
      plan.slots[wait->index].flag != DFRT_NONE)
    flagWaiters[plan.slots[wait->index].flag].push_back(index);
  return static_cast<const dfrt_instruction *>(nullptr);
}

void Progress::complete(uint32_t cta, const dfrt_instruction &instruction) {
  done[instruction.identity] = true;
  ++ctas[cta].next;
}

Status Progress::wake(uint32_t index) {
  CtaState &cta = ctas[index];
  if (!cta.blocked)
    return Status::success();
  Expected<Wait> wait = signals.missing(plan.at(cta.queue, cta.next));
  if (!wait)
    return wait.status();
  // It tries again, and may find another signal missing.
  if (wait->kind != cta.wait.kind || wait->index != cta.wait.index) {
    cta.blocked = false;
    runnable.push_back(index);
  }
  return Status::success();
}

Status Progress::checkAlive(const dfrt_transfer &transfer, uint32_t slot,
                            uint32_t cta) const {
  for (uint32_t index : {transfer.source, slot}) {
    const dfrt_slot &touched = plan.slots[index];
    uint32_t owner = touched.cta == DFRT_NONE ? cta : touched.cta;
    if (touched.space == DFRT_SPACE_SHARED && ctas[owner].finished &&
        !plan.exitBarrier())
      return failure(StatusCode::verificationFailed, "cpu: transfer ",
                     transfer.identity, " touches slot ", index,
                     " in shared memory of cta ", owner, ", which has exited");
  }
  return Status::success();
}

Status Progress::deliverSlot(const dfrt_transfer &transfer, uint32_t index,
                             uint32_t cta) {
  DFRT_TRY(signals.arriveSlot(index));
  const dfrt_slot &slot = plan.slots[index];
  if (slot.barrier != DFRT_NONE)
    DFRT_TRY(wake(slot.cta));
  if (slot.flag != DFRT_NONE) {
    std::vector<uint32_t> waiters = std::move(flagWaiters[slot.flag]);
    flagWaiters[slot.flag].clear();
    for (uint32_t waiter : waiters)
      DFRT_TRY(wake(waiter));
  }
  return Status::success();
}

Status Progress::deliverRelease(const dfrt_release &release) {
  DFRT_TRY(signals.arriveRelease(release));
  if (release.to_cta != DFRT_NONE)
    return wake(release.to_cta);
  for (uint32_t c = 0; c < ctas.size(); ++c)
    DFRT_TRY(wake(c));
  return Status::success();
}
