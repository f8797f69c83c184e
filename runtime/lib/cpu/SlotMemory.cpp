//===- SlotMemory.cpp - Slot arenas of a launch ---------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SlotMemory.h"

#include "dataflow/Schedule/Message.h"

#include <cstring>

using namespace dfrt;
using namespace dfrt::cpu;

static constexpr uint64_t kArenaAlignment = 128;
static constexpr int kPoison = 0xff;

static uint64_t alignArena(uint64_t bytes) {
  return (bytes + kArenaAlignment - 1) & ~(kArenaAlignment - 1);
}

Expected<uint64_t> cpu::workspaceBytes(const PlanView &plan) {
  constexpr uint64_t limit = uint64_t(1) << 56;
  uint64_t shared = plan.header.shared_bytes, global = plan.header.global_bytes;
  // shared_bytes and ctas were tested by readPlan; their product fits.
  if (shared > limit / 65536 || global > limit)
    return failure(StatusCode::resourceExhausted, "cpu: slot arenas of ",
                   shared, " bytes a cta and ", global,
                   " global bytes exceed 2^56");
  return alignArena(shared) * plan.header.ctas + alignArena(global);
}

SlotMemory::SlotMemory(const Program &program, const PlanView &plan,
                       uint8_t *workspace, bool poison)
    : program(program), plan(plan), shared(workspace),
      sharedStride(alignArena(plan.header.shared_bytes)), poison(poison),
      readsLeft(plan.slots.size()) {
  global = shared + sharedStride * plan.header.ctas;
  if (!poison)
    return;
  std::memset(workspace, kPoison,
              sharedStride * plan.header.ctas +
                  alignArena(plan.header.global_bytes));
  for (const dfrt_queue &queue : plan.queues)
    for (uint32_t j = 0; j < queue.count; ++j) {
      uint32_t q = uint32_t(&queue - plan.queues.begin());
      for (const dfrt_operand &operand : plan.operandsOf(plan.at(q, j)))
        ++readsLeft[operand.slot];
    }
  for (const dfrt_transfer &transfer : plan.transfers)
    readsLeft[transfer.source] += transfer.destination_count;
}

uint8_t *SlotMemory::address(uint32_t index, uint32_t cta) const {
  const dfrt_slot &slot = plan.slots[index];
  if (slot.space == DFRT_SPACE_GLOBAL)
    return global + slot.offset;
  uint32_t owner = slot.cta == DFRT_NONE ? cta : slot.cta;
  return shared + sharedStride * owner + slot.offset;
}

StoredRecord SlotMemory::slot(uint32_t index, uint32_t cta) const {
  const dfrt_slot &slot = plan.slots[index];
  return {&program.stages[slot.stage].record, address(index, cta),
          slot.slice_begin};
}

void SlotMemory::fill(uint32_t index, uint32_t cta) {
  if (poison)
    std::memset(address(index, cta), kPoison, plan.slots[index].bytes);
}

void SlotMemory::beginWrite(uint32_t index, uint32_t cta) { fill(index, cta); }

void SlotMemory::endRead(uint32_t index, uint32_t cta) {
  if (poison && --readsLeft[index] == 0)
    fill(index, cta);
}

void SlotMemory::transfer(const dfrt_transfer &transfer, uint32_t destination,
                          uint32_t cta) {
  if (destination != transfer.source) {
    const dfrt_slot &from = plan.slots[transfer.source];
    const dfrt_slot &to = plan.slots[destination];
    const Record &record = program.stages[from.stage].record;
    uint8_t *source = address(transfer.source, cta);
    uint8_t *target = address(destination, cta);
    uint64_t head = record.headBytes;
    uint64_t skip = record.sliceBytes * (to.slice_begin - from.slice_begin);
    // An illegal plan may let them overlap.
    std::memmove(target, source, head);
    std::memmove(target + head, source + head + skip, to.bytes - head);
    endRead(transfer.source, cta);
  } else if (poison) {
    --readsLeft[transfer.source]; // only the flag is set: nothing was read
  }
}

void SlotMemory::abandon(uint32_t cta) {
  if (poison)
    std::memset(shared + sharedStride * cta, kPoison, sharedStride);
}
