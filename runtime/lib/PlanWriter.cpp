//===- PlanWriter.cpp - Plan bytes from a schedule ------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All sections but the instructions, which are written in PlanWriter.h.
//
//===----------------------------------------------------------------------===//

#include "PlanWriter.h"

#include "CRC32.h"

#include <algorithm>
#include <numeric>

using namespace dfrt;

/// Grows by half beyond `size`, so that a plan that is a little larger than
/// those before it needs no memory.
template <typename T>
static void setSize(std::vector<T> &list, size_t size) {
  if (size > list.capacity())
    list.reserve(size + size / 2);
  list.resize(size);
}

template <typename Key>
void PlanWriter::sortBy(size_t count, size_t bound, Key key) {
  setSize(order, count);
  bool sorted = true;
  for (uint32_t i = 0; i < count; ++i) {
    order[i] = i;
    sorted &= i == 0 || key(i - 1) <= key(i);
  }
  if (sorted)
    return;
  setSize(orderBegin, bound + 1);
  std::fill(orderBegin.begin(), orderBegin.end(), 0u);
  for (uint32_t i = 0; i < count; ++i)
    ++orderBegin[key(i) + 1];
  std::partial_sum(orderBegin.begin(), orderBegin.end(), orderBegin.begin());
  for (uint32_t i = 0; i < count; ++i)
    order[orderBegin[key(i)]++] = i;
}

Status PlanWriter::begin(const PlanMaxima *maxima,
                         std::vector<uint8_t> &buffer) {
  uint32_t queues = queueCount(*schedule, *topology);
  if (maxima)
    room = *maxima;
  used = usedEntries(*program, *topology, *schedule,
                     maxima ? maxima->capacity[DFRT_SECTION_QUEUES] : queues);
  for (uint32_t s = 0; s < DFRT_SECTION_COUNT; ++s) {
    if (!maxima)
      room.capacity[s] = uint32_t(std::min<uint64_t>(used[s], kNone));
    if (used[s] > room.capacity[s])
      return failure(StatusCode::resourceExhausted, "plan: section ",
                     sectionName(s), " needs ", used[s],
                     " entries, but has room for ", room.capacity[s]);
  }
  layout = layoutPlan(room);
  setSize(buffer, layout.totalBytes);
  bytes = buffer.data();
  nameBytes = 0;
  setSize(runs, schedule->instructions.size());
  std::fill(runs.begin(), runs.end(), Runs());
  return Status::success();
}

/// Zeros where no record is written: behind the entries of each section.
void PlanWriter::clearUnused() {
  std::memset(bytes, 0, layout.offset[0]);
  for (uint32_t s = 0; s < DFRT_SECTION_COUNT; ++s) {
    uint64_t begin = layout.offset[s] + used[s] * sectionEntryBytes(s);
    uint64_t end =
        s + 1 < DFRT_SECTION_COUNT ? layout.offset[s + 1] : layout.totalBytes;
    std::memset(bytes + begin, 0, end - begin);
  }
}

uint32_t PlanWriter::addName(const std::string &name) {
  uint32_t offset = nameBytes;
  std::memcpy(section<char>(DFRT_SECTION_NAMES) + offset, name.c_str(),
              name.size() + 1);
  nameBytes += uint32_t(name.size()) + 1;
  return offset;
}

void PlanWriter::writeNames() {
  header().program_name = addName(program->program);
  header().solver_name = addName(schedule->solver);
  auto *stages = section<dfrt_stage>(DFRT_SECTION_STAGES);
  for (size_t i = 0; i < program->stages.size(); ++i) {
    const PlanImage::StageInfo &stage = program->stages[i];
    dfrt_stage record = {};
    record.name = addName(stage.name);
    record.kind = uint32_t(stage.kind);
    record.head_bytes = stage.headBytes;
    record.slice_bytes = stage.sliceBytes;
    record.slices = stage.slices;
    stages[i] = record;
  }
}

void PlanWriter::writeHeader() {
  dfrt_plan_header &h = header();
  h.magic = DFRT_PLAN_MAGIC;
  h.version = DFRT_PLAN_VERSION;
  h.total_bytes = layout.totalBytes;
  h.fingerprint = program->fingerprint;
  if (schedule->discipline == Discipline::ticket)
    h.flags |= DFRT_PLAN_TICKET;
  if (schedule->exitBarrier)
    h.flags |= DFRT_PLAN_EXIT_BARRIER;
  h.ctas = topology->ctas;
  h.cluster_size = topology->clusterSize;
  h.global_flags = schedule->flags;
  h.shared_bytes = schedule->sharedBytes;
  h.global_bytes = schedule->globalBytes;
  h.reserved_bytes = topology->reservedBytes;
  h.shared_limit = topology->sharedBytes;
  for (uint32_t s = 0; s < DFRT_SECTION_COUNT; ++s)
    h.sections[s] = {layout.offset[s], uint32_t(used[s]), room.capacity[s]};
}

void PlanWriter::writeBarriers() {
  const std::vector<Barrier> &barriers = schedule->barriers;
  sortBy(barriers.size(), topology->ctas,
         [&](uint32_t i) { return barriers[i].cta; });
  auto *records = section<dfrt_barrier>(DFRT_SECTION_BARRIERS);
  auto *queues = section<dfrt_queue>(DFRT_SECTION_QUEUES);
  setSize(numberInCta, barriers.size());
  uint32_t position = 0;
  for (uint32_t q = 0; q < queueCount(*schedule, *topology); ++q) {
    queues[q] = {};
    queues[q].first_barrier = position;
    for (; position < order.size(); ++position) {
      const Barrier &barrier = barriers[order[position]];
      if (barrier.cta != q)
        break;
      records[position] = {barrier.arrivals, order[position]};
      numberInCta[order[position]] = queues[q].barrier_count++;
    }
  }
}

static uint16_t spaceOf(const Slot &slot) {
  return slot.space == Space::shared ? DFRT_SPACE_SHARED : DFRT_SPACE_GLOBAL;
}

uint64_t PlanWriter::slotBytes(const Slot &slot) const {
  return dfrt::slotBytes(*program, slot);
}

void PlanWriter::writeTransfers() {
  sortBy(schedule->transfers.size(), schedule->instructions.size(),
         [&](uint32_t i) { return schedule->transfers[i].instruction; });
  auto *records = section<dfrt_transfer>(DFRT_SECTION_TRANSFERS);
  for (uint32_t position = 0; position < order.size(); ++position) {
    const Transfer &transfer = schedule->transfers[order[position]];
    const Slot &source = schedule->slots[transfer.source];
    dfrt_transfer record = {};
    record.source = transfer.source;
    record.transport = uint16_t(transfer.transport);
    record.source_space = spaceOf(source);
    record.first_destination = transfer.firstDestination;
    record.destination_count = transfer.destinationCount;
    record.instruction = transfer.instruction;
    record.identity = order[position];
    record.source_offset = source.offset;
    record.source_slice_begin = uint16_t(source.sliceBegin);
    for (uint32_t d : schedule->destinationsOf(transfer)) {
      const Slot &slot = schedule->slots[d];
      record.bytes = slotBytes(slot);
      if (slot.space == Space::shared && slot.cta != kNone)
        record.cluster_mask |= uint16_t(1u << slot.cta % topology->clusterSize);
    }
    records[position] = record;
    runs[transfer.instruction].transfers.add(position);
  }
}

void PlanWriter::writeReleases() {
  const std::vector<Release> &releases = schedule->releases;
  if (releases.empty())
    return;
  size_t instructions = schedule->instructions.size();
  setSize(ctaOf, instructions);
  for (const Queue &queue : schedule->queues)
    for (uint32_t i : queue.instructions)
      ctaOf[i] = queue.cta;
  auto *records = section<dfrt_release>(DFRT_SECTION_RELEASES);
  auto put = [&](uint32_t position, uint32_t identity) {
    const Release &r = releases[identity];
    records[position] = {
        r.slot,  r.from,   r.to, ctaOf[r.to], barrierNumber(r.barrier),
        r.phase, identity, 0};
  };
  uint32_t position = 0;
  sortBy(releases.size(), instructions,
         [&](uint32_t r) { return releases[r].from; });
  for (uint32_t i : order) {
    runs[releases[i].from].releases.add(position);
    put(position++, i);
  }
  sortBy(releases.size(), instructions,
         [&](uint32_t r) { return releases[r].to; });
  for (uint32_t i : order) {
    runs[releases[i].to].acquires.add(position);
    put(position++, i);
  }
}

void PlanWriter::writeTables() {
  const std::vector<Slot> &all = schedule->slots;
  auto *operands = section<dfrt_operand>(DFRT_SECTION_OPERANDS);
  for (const Operand &operand : schedule->operands) {
    const Slot &slot = all[operand.slot];
    *operands++ = {operand.slot,
                   operand.row,
                   uint16_t(operand.wait ? DFRT_OPERAND_WAIT : 0),
                   spaceOf(slot),
                   uint16_t(slot.sliceBegin),
                   0,
                   slot.offset,
                   signalOf(slot),
                   slot.phase};
  }
  auto *outputs = section<dfrt_output>(DFRT_SECTION_OUTPUTS);
  for (uint32_t s : schedule->outputs)
    *outputs++ = {s, spaceOf(all[s]), uint16_t(all[s].sliceBegin),
                  all[s].offset};
  auto *destinations = section<dfrt_destination>(DFRT_SECTION_DESTINATIONS);
  for (uint32_t s : schedule->destinations) {
    const Slot &slot = all[s];
    *destinations++ = {s,
                       slot.cta,
                       slot.offset,
                       signalOf(slot),
                       spaceOf(slot),
                       uint16_t(slot.sliceBegin),
                       {0, 0}};
  }
  auto *slots = section<dfrt_slot>(DFRT_SECTION_SLOTS);
  for (const Slot &slot : all) {
    dfrt_slot &record = *slots++;
    std::memset(&record, 0, sizeof(record)); // with what pads it
    record.offset = slot.offset;
    record.bytes = slotBytes(slot);
    record.stage = uint16_t(slot.stage);
    record.space = spaceOf(slot);
    record.slice_begin = uint16_t(slot.sliceBegin);
    record.slice_end = uint16_t(slot.sliceEnd);
    record.cta = slot.cta;
    record.barrier = barrierNumber(slot.barrier);
    record.phase = slot.phase;
    record.flag = slot.flag;
  }
}

void PlanWriter::seal() {
  uint64_t hole = offsetof(dfrt_plan_header, checksum);
  header().checksum = crc32WithHole(bytes, layout.totalBytes, hole);
}
