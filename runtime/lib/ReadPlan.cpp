//===- ReadPlan.cpp - Plan bytes as a schedule ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only judge of foreign plan bytes. Fields are tested where they are read,
// relations between them by `checkPlanImage`; at the end the image is packed
// again and must give the same bytes, so that what neither of the two thought
// of (order, padding, unused entries) cannot slip through.
//
//===----------------------------------------------------------------------===//

#include "CRC32.h"
#include "PlanLayout.h"
#include "dataflow/Schedule/Message.h"

#include <cstring>

using namespace dfrt;

namespace {
template <typename... Parts>
Status fail(const Parts &...parts) {
  return failure(StatusCode::invalidFile, "plan: ", parts...);
}

class Reader {
public:
  Reader(const uint8_t *bytes, uint64_t size) : bytes(bytes), size(size) {}

  Expected<PlanImage> run() {
    DFRT_TRY(readHeader());
    DFRT_TRY(readStages());
    DFRT_TRY(readBarriers());
    DFRT_TRY(readTables());
    DFRT_TRY(readTransfers());
    DFRT_TRY(readReleases());
    DFRT_TRY(readQueues());
    DFRT_TRY(checkPlanImage(image, StatusCode::invalidFile));
    DFRT_TRY(compare());
    return std::move(image);
  }

private:
  /// Entry `index` of section `s`, copied out: the buffer may be unaligned.
  template <typename T>
  T entry(uint32_t s, uint64_t index) const {
    T value;
    std::memcpy(&value, bytes + header.sections[s].offset + index * sizeof(T),
                sizeof(T));
    return value;
  }
  uint32_t count(uint32_t s) const { return header.sections[s].count; }

  Status readHeader() {
    if (size < sizeof(header))
      return fail("has ", size, " bytes, but the header alone takes ",
                  sizeof(header));
    std::memcpy(&header, bytes, sizeof(header));
    if (header.magic != DFRT_PLAN_MAGIC)
      return fail("magic is ", header.magic, ", expected ", DFRT_PLAN_MAGIC);
    if (header.version != DFRT_PLAN_VERSION)
      return fail("version is ", header.version, ", but this library reads ",
                  DFRT_PLAN_VERSION);
    if (header.total_bytes != size)
      return fail("total_bytes is ", header.total_bytes, ", but there are ",
                  size);
    uint32_t checksum =
        crc32WithHole(bytes, size, offsetof(dfrt_plan_header, checksum));
    if (header.checksum != checksum)
      return fail("checksum is ", header.checksum, ", but the bytes have ",
                  checksum);
    if (header.flags & ~DFRT_PLAN_ALL_FLAGS)
      return fail("flags is ", header.flags, ", of which only ",
                  uint32_t(DFRT_PLAN_ALL_FLAGS), " is known");
    if (header.reserved0 != 0)
      return fail("reserved0 is ", header.reserved0, ", expected 0");
    for (uint8_t byte : header.reserved1)
      if (byte != 0)
        return fail("reserved1 is not 0");
    for (uint32_t s = 0; s < DFRT_SECTION_COUNT; ++s)
      maxima.capacity[s] = header.sections[s].capacity;
    PlanLayout layout = layoutPlan(maxima);
    for (uint32_t s = 0; s < DFRT_SECTION_COUNT; ++s) {
      const dfrt_section_entry &section = header.sections[s];
      if (section.offset != layout.offset[s])
        return fail("offset of section ", sectionName(s), " is ",
                    section.offset, ", expected ", layout.offset[s]);
      if (section.count > section.capacity)
        return fail("count of section ", sectionName(s), " is ", section.count,
                    ", above its capacity ", section.capacity);
    }
    if (layout.totalBytes != size)
      return fail("the capacities ask for ", layout.totalBytes,
                  " bytes, but there are ", size);

    image.fingerprint = header.fingerprint;
    image.topology.ctas = header.ctas;
    image.topology.clusterSize = header.cluster_size;
    image.topology.sharedBytes = header.shared_limit;
    image.topology.reservedBytes = header.reserved_bytes;
    if (Status status = check(image.topology); !status.ok())
      return fail("topology: ", status.message());
    schedule.discipline = header.flags & DFRT_PLAN_TICKET ? Discipline::ticket
                                                          : Discipline::fixed;
    schedule.exitBarrier = header.flags & DFRT_PLAN_EXIT_BARRIER;
    schedule.flags = header.global_flags;
    schedule.sharedBytes = header.shared_bytes;
    schedule.globalBytes = header.global_bytes;
    DFRT_TRY(readName("program_name", header.program_name, image.program));
    return readName("solver_name", header.solver_name, schedule.solver);
  }

  Status readName(const char *field, uint32_t offset, std::string &name) const {
    uint32_t names = count(DFRT_SECTION_NAMES);
    if (offset >= names)
      return fail(field, " is ", offset, ", but section names has ", names,
                  " bytes");
    const char *text = reinterpret_cast<const char *>(
        bytes + header.sections[DFRT_SECTION_NAMES].offset + offset);
    const void *end = std::memchr(text, 0, names - offset);
    if (!end)
      return fail(field, " at ", offset, " does not end");
    name.assign(text, static_cast<const char *>(end));
    return Status::success();
  }

  Status readStages() {
    for (uint32_t i = 0; i < count(DFRT_SECTION_STAGES); ++i) {
      auto record = entry<dfrt_stage>(DFRT_SECTION_STAGES, i);
      if (record.kind > uint32_t(StageKind::finalize))
        return fail("stages[", i, "].kind is ", record.kind);
      if (record.reserved != 0)
        return fail("stages[", i, "].reserved is ", record.reserved);
      PlanImage::StageInfo stage;
      stage.kind = StageKind(record.kind);
      stage.headBytes = record.head_bytes;
      stage.sliceBytes = record.slice_bytes;
      stage.slices = record.slices;
      DFRT_TRY(readName("stage name", record.name, stage.name));
      image.stages.push_back(std::move(stage));
    }
    return Status::success();
  }

  /// Also which queue they belong to, and what else a queue says before its
  /// instructions are looked at.
  Status readBarriers() {
    uint32_t expected =
        header.flags & DFRT_PLAN_TICKET ? 1 : image.topology.ctas;
    if (count(DFRT_SECTION_QUEUES) != expected)
      return fail("count of section queues is ", count(DFRT_SECTION_QUEUES),
                  ", expected ", expected);
    uint32_t n = count(DFRT_SECTION_BARRIERS);
    schedule.barriers.resize(n);
    std::vector<bool> seen(n);
    uint32_t next = 0;
    for (uint32_t q = 0; q < expected; ++q) {
      queues.push_back(entry<dfrt_queue>(DFRT_SECTION_QUEUES, q));
      const dfrt_queue &queue = queues.back();
      for (uint32_t word : queue.reserved)
        if (word != 0)
          return fail("queues[", q, "].reserved is not 0");
      uint32_t cta = header.flags & DFRT_PLAN_TICKET ? DFRT_NONE : q;
      if (queue.cta != cta)
        return fail("queues[", q, "].cta is ", queue.cta, ", expected ", cta);
      if (queue.first_barrier != next || queue.barrier_count > n - next)
        return fail("queues[", q, "] has ", queue.barrier_count,
                    " barriers from ", queue.first_barrier, " of ", n,
                    ", expected from ", next);
      for (; next < queue.first_barrier + queue.barrier_count; ++next) {
        auto record = entry<dfrt_barrier>(DFRT_SECTION_BARRIERS, next);
        if (record.identity >= n || seen[record.identity])
          return fail("barriers[", next, "].identity is ", record.identity,
                      ", which is taken or not below ", n);
        seen[record.identity] = true;
        barrierAt.push_back(record.identity);
        schedule.barriers[record.identity] = {queue.cta, record.arrivals};
      }
    }
    if (next != n)
      return fail("count of section barriers is ", n, ", but the queues have ",
                  next);
    return Status::success();
  }

  /// The barrier of the schedule that `number` within `cta` is.
  Status readBarrierNumber(const char *table, uint32_t index, uint32_t cta,
                           uint32_t number, uint32_t &barrier) const {
    barrier = kNone;
    if (number == DFRT_NONE)
      return Status::success();
    uint32_t limit = cta < queues.size() ? queues[cta].barrier_count : 0;
    if (number >= limit)
      return fail(table, "[", index, "].barrier is ", number,
                  ", but must be below ", limit);
    barrier = barrierAt[queues[cta].first_barrier + number];
    return Status::success();
  }

  Status readTables() {
    for (uint32_t i = 0; i < count(DFRT_SECTION_OPERANDS); ++i) {
      auto record = entry<dfrt_operand>(DFRT_SECTION_OPERANDS, i);
      if (record.flags & ~DFRT_OPERAND_ALL_FLAGS)
        return fail("operands[", i, "].flags is ", record.flags);
      if (record.reserved != 0)
        return fail("operands[", i, "].reserved is ", record.reserved);
      schedule.operands.push_back(
          {record.slot, record.row, (record.flags & DFRT_OPERAND_WAIT) != 0});
    }
    for (uint32_t i = 0; i < count(DFRT_SECTION_OUTPUTS); ++i)
      schedule.outputs.push_back(
          entry<dfrt_output>(DFRT_SECTION_OUTPUTS, i).slot);
    for (uint32_t i = 0; i < count(DFRT_SECTION_DESTINATIONS); ++i) {
      auto record = entry<dfrt_destination>(DFRT_SECTION_DESTINATIONS, i);
      if (record.reserved[0] != 0 || record.reserved[1] != 0)
        return fail("destinations[", i, "].reserved is not 0");
      schedule.destinations.push_back(record.slot);
    }
    for (uint32_t i = 0; i < count(DFRT_SECTION_SLOTS); ++i) {
      auto record = entry<dfrt_slot>(DFRT_SECTION_SLOTS, i);
      if (record.reserved != 0)
        return fail("slots[", i, "].reserved is ", record.reserved);
      if (record.space != DFRT_SPACE_SHARED &&
          record.space != DFRT_SPACE_GLOBAL)
        return fail("slots[", i, "].space is ", record.space);
      Slot slot;
      slot.stage = record.stage;
      slot.sliceBegin = record.slice_begin;
      slot.sliceEnd = record.slice_end;
      slot.space =
          record.space == DFRT_SPACE_SHARED ? Space::shared : Space::global;
      slot.cta = record.cta;
      slot.offset = record.offset;
      DFRT_TRY(readBarrierNumber("slots", i, record.cta, record.barrier,
                                 slot.barrier));
      slot.phase = record.phase;
      slot.flag = record.flag;
      if (slot.stage < image.stages.size() &&
          slotBytes(image, slot) != record.bytes)
        return fail("slots[", i, "].bytes is ", record.bytes,
                    ", but its record takes ", slotBytes(image, slot));
      schedule.slots.push_back(slot);
    }
    return Status::success();
  }

  Status readTransfers() {
    uint32_t n = count(DFRT_SECTION_TRANSFERS);
    schedule.transfers.resize(n);
    std::vector<bool> seen(n);
    for (uint32_t i = 0; i < n; ++i) {
      auto record = entry<dfrt_transfer>(DFRT_SECTION_TRANSFERS, i);
      if (record.identity >= n || seen[record.identity])
        return fail("transfers[", i, "].identity is ", record.identity,
                    ", which is taken or not below ", n);
      seen[record.identity] = true;
      if (record.transport < DFRT_TRANSPORT_LOCAL ||
          record.transport > DFRT_TRANSPORT_MULTICAST)
        return fail("transfers[", i, "].transport is ", record.transport);
      if (record.reserved != 0)
        return fail("transfers[", i, "].reserved is ", record.reserved);
      Transfer &transfer = schedule.transfers[record.identity];
      transfer.transport = Transport(record.transport);
      transfer.instruction = record.instruction;
      transfer.source = record.source;
      transfer.firstDestination = record.first_destination;
      transfer.destinationCount = record.destination_count;
    }
    return Status::success();
  }

  Status readReleases() {
    uint32_t n = count(DFRT_SECTION_RELEASES);
    if (n % 2)
      return fail("count of section releases is ", n, ", but must be even");
    n /= 2;
    schedule.releases.resize(n);
    std::vector<bool> seen(n);
    for (uint32_t i = 0; i < n; ++i) {
      auto record = entry<dfrt_release>(DFRT_SECTION_RELEASES, i);
      if (record.identity >= n || seen[record.identity])
        return fail("releases[", i, "].identity is ", record.identity,
                    ", which is taken or not below ", n);
      seen[record.identity] = true;
      if (record.reserved != 0)
        return fail("releases[", i, "].reserved is ", record.reserved);
      uint32_t barrier = kNone;
      DFRT_TRY(readBarrierNumber("releases", i, record.to_cta, record.barrier,
                                 barrier));
      schedule.releases[record.identity] = {record.slot, record.from, record.to,
                                            barrier, record.phase};
    }
    return Status::success();
  }

  Status readQueues() {
    uint32_t records = count(DFRT_SECTION_INSTRUCTIONS);
    uint32_t heads = maxima.capacity[DFRT_SECTION_QUEUES];
    bool ticket = schedule.discipline == Discipline::ticket;
    uint64_t total = 0;
    for (const dfrt_queue &queue : queues)
      total += queue.count;
    uint64_t needed = heads + total + (ticket ? 1 : 0);
    if (records != needed)
      return fail("count of section instructions is ", records,
                  ", but the queues ask for ", needed);
    schedule.instructions.resize(total);
    image.places.resize(total);
    std::vector<bool> seen(total);
    for (uint32_t q = 0; q < queues.size(); ++q) {
      const dfrt_queue &record = queues[q];
      if (record.rest > records || record.count > records - record.rest)
        return fail("queues[", q, "].rest is ", record.rest, " for ",
                    record.count, " of ", records, " instruction records");
      Queue queue;
      queue.cta = record.cta;
      for (uint32_t j = 0; j < record.count; ++j)
        DFRT_TRY(readInstruction(ticket   ? record.rest + j
                                 : j == 0 ? q
                                          : record.rest + j - 1,
                                 seen, queue.instructions));
      schedule.queues.push_back(std::move(queue));
    }
    return Status::success();
  }

  Status readInstruction(uint32_t index, std::vector<bool> &seen,
                         std::vector<uint32_t> &queue) {
    auto record = entry<dfrt_instruction>(DFRT_SECTION_INSTRUCTIONS, index);
    if (record.opcode != DFRT_CALL)
      return fail("instructions[", index, "].opcode is ", record.opcode,
                  ", expected ", uint32_t(DFRT_CALL));
    if (record.flags & ~DFRT_INSTRUCTION_ALL_FLAGS)
      return fail("instructions[", index, "].flags is ", record.flags);
    for (uint32_t word : record.reserved)
      if (word != 0)
        return fail("instructions[", index, "].reserved is not 0");
    if (record.identity >= seen.size() || seen[record.identity])
      return fail("instructions[", index, "].identity is ", record.identity,
                  ", which is taken or not below ", seen.size());
    seen[record.identity] = true;
    queue.push_back(record.identity);

    Instruction &instruction = schedule.instructions[record.identity];
    instruction.stage = record.stage;
    instruction.variant = record.variant;
    instruction.task = uint64_t(record.task_high) << 32 | record.task_low;
    instruction.tileBegin = record.tile_begin;
    instruction.tileEnd = record.tile_end;
    instruction.sliceBegin = record.slice_begin;
    instruction.sliceEnd = record.slice_end;
    instruction.firstOperand = record.first_operand;
    instruction.operandCount = record.operand_count;
    instruction.firstOutput = record.first_output;
    instruction.outputCount = record.output_count;
    instruction.draw = record.flags & DFRT_INSTRUCTION_DRAW;
    PlanImage::Place &place = image.places[record.identity];
    place.coordinates.assign(record.coordinates,
                             record.coordinates + DFRT_MAX_AXES);
    place.rangeBegin = record.range_begin;
    place.rangeEnd = record.range_end;
    return Status::success();
  }

  Status compare() const {
    Expected<std::vector<uint8_t>> packed = packPlan(image, maxima);
    if (!packed)
      return fail(packed.status().message());
    if (packed->size() == size && !std::memcmp(packed->data(), bytes, size))
      return Status::success();
    // The checksum differs with everything else, and says nothing.
    uint64_t checksum = offsetof(dfrt_plan_header, checksum);
    uint64_t at = 0;
    while (at < size && ((*packed)[at] == bytes[at] || at / 4 == checksum / 4))
      ++at;
    uint32_t s = 0;
    while (s + 1 < DFRT_SECTION_COUNT && header.sections[s + 1].offset <= at)
      ++s;
    if (at < sizeof(header))
      return fail("header byte ", at, " is not as packed");
    uint64_t inside = at - header.sections[s].offset;
    return fail(sectionName(s), "[", inside / sectionEntryBytes(s), "] byte ",
                inside % sectionEntryBytes(s), " is ", uint32_t(bytes[at]),
                ", but must be ", uint32_t((*packed)[at]));
  }

  const uint8_t *bytes;
  uint64_t size;
  dfrt_plan_header header;
  PlanMaxima maxima;
  PlanImage image;
  Schedule &schedule = image.schedule;
  std::vector<dfrt_queue> queues;
  std::vector<uint32_t> barrierAt; ///< [BARRIERS], in the schedule
};
} // namespace

Expected<PlanImage> dfrt::readPlan(const uint8_t *bytes, uint64_t size) {
  return Reader(bytes, size).run();
}
