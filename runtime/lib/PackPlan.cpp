//===- PackPlan.cpp - A schedule as plan bytes ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only writer of the records in ABI.h.
//
//===----------------------------------------------------------------------===//

#include "CRC32.h"
#include "PlanLayout.h"
#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace dfrt;

PlanImage dfrt::makePlanImage(const Problem &problem, Schedule made) {
  PlanImage image;
  const Program &program = problem.program;
  image.program = program.name;
  image.fingerprint = program.fingerprint();
  image.topology = problem.topology;
  for (const Stage &stage : program.stages)
    image.stages.push_back({stage.name, stage.kind, stage.record.headBytes,
                            stage.record.sliceBytes, stage.record.slices});
  image.schedule = std::move(made);
  const Schedule &schedule = image.schedule;
  image.places.resize(schedule.instructions.size());
  for (size_t i = 0; i < image.places.size(); ++i) {
    const Instruction &instruction = schedule.instructions[i];
    PlanImage::Place &place = image.places[i];
    if (instruction.stage >= program.stages.size())
      continue; // packPlan says so
    const Stage &stage = program.stages[instruction.stage];
    const TaskSet &tasks = problem.tasks[stage.domain];
    if (instruction.task >= tasks.tasks)
      continue;
    ArrayView<int64_t> at = tasks.at(instruction.task);
    place.coordinates.reserve(DFRT_MAX_AXES);
    place.coordinates.assign(at.begin(), at.end());
    if (place.coordinates.size() < DFRT_MAX_AXES)
      place.coordinates.resize(DFRT_MAX_AXES);
    if (stage.range == kNone)
      continue;
    const RangeSet &range = problem.ranges[stage.range];
    int64_t offset = range.offsets[instruction.task];
    int64_t limit = offset + range.lengths[instruction.task];
    place.rangeBegin =
        std::min(offset + instruction.tileBegin * range.tile, limit);
    place.rangeEnd = std::min(offset + instruction.tileEnd * range.tile, limit);
  }
  return image;
}

namespace {
class Packer {
public:
  Packer(const PlanImage &image, const PlanMaxima &maxima)
      : image(image), schedule(image.schedule), maxima(maxima),
        layout(layoutPlan(maxima)),
        used(usedEntries(image, maxima.capacity[DFRT_SECTION_QUEUES])) {}

  Expected<std::vector<uint8_t>> run() {
    DFRT_TRY(checkPlanImage(image, StatusCode::invalidArgument));
    DFRT_TRY(checkRoom());
    bytes.assign(layout.totalBytes, 0);
    packNames();
    packHeader();
    packBarriers();
    packTransfers();
    packReleases();
    packInstructions();
    packTables();
    uint64_t hole = offsetof(dfrt_plan_header, checksum);
    uint32_t checksum = crc32WithHole(bytes.data(), bytes.size(), hole);
    std::memcpy(bytes.data() + hole, &checksum, sizeof(checksum));
    return std::move(bytes);
  }

private:
  Status checkRoom() const {
    for (uint32_t s = 0; s < DFRT_SECTION_COUNT; ++s)
      if (used[s] > maxima.capacity[s])
        return failure(StatusCode::resourceExhausted, "plan: section ",
                       sectionName(s), " needs ", used[s],
                       " entries, but has room for ", maxima.capacity[s]);
    return Status::success();
  }

  template <typename T>
  T *section(uint32_t s) {
    return reinterpret_cast<T *>(bytes.data() + layout.offset[s]);
  }

  dfrt_plan_header &header() {
    return *reinterpret_cast<dfrt_plan_header *>(bytes.data());
  }

  uint32_t addName(const std::string &name) {
    uint32_t offset = nameBytes;
    std::memcpy(section<char>(DFRT_SECTION_NAMES) + offset, name.c_str(),
                name.size() + 1);
    nameBytes += uint32_t(name.size()) + 1;
    return offset;
  }

  void packNames() {
    header().program_name = addName(image.program);
    header().solver_name = addName(schedule.solver);
    auto *stages = section<dfrt_stage>(DFRT_SECTION_STAGES);
    for (size_t i = 0; i < image.stages.size(); ++i) {
      const PlanImage::StageInfo &stage = image.stages[i];
      stages[i].name = addName(stage.name);
      stages[i].kind = uint32_t(stage.kind);
      stages[i].head_bytes = stage.headBytes;
      stages[i].slice_bytes = stage.sliceBytes;
      stages[i].slices = stage.slices;
    }
  }

  void packHeader() {
    dfrt_plan_header &h = header();
    h.magic = DFRT_PLAN_MAGIC;
    h.version = DFRT_PLAN_VERSION;
    h.total_bytes = layout.totalBytes;
    h.fingerprint = image.fingerprint;
    if (schedule.discipline == Discipline::ticket)
      h.flags |= DFRT_PLAN_TICKET;
    if (schedule.exitBarrier)
      h.flags |= DFRT_PLAN_EXIT_BARRIER;
    h.ctas = image.topology.ctas;
    h.cluster_size = image.topology.clusterSize;
    h.global_flags = schedule.flags;
    h.shared_bytes = schedule.sharedBytes;
    h.global_bytes = schedule.globalBytes;
    h.reserved_bytes = image.topology.reservedBytes;
    h.shared_limit = image.topology.sharedBytes;
    for (uint32_t s = 0; s < DFRT_SECTION_COUNT; ++s)
      h.sections[s] = {layout.offset[s], uint32_t(used[s]), maxima.capacity[s]};
  }

  /// Indices 0 to n-1, sorted by `key`, equal keys in order.
  template <typename Key>
  static std::vector<uint32_t> sorted(size_t n, Key key) {
    std::vector<uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return std::make_pair(key(a), a) < std::make_pair(key(b), b);
    });
    return order;
  }

  /// First and count of the run of each instruction in a sorted list; the
  /// first is 0 where the count is.
  struct Runs {
    std::vector<uint32_t> first, count;
    explicit Runs(size_t instructions)
        : first(instructions), count(instructions) {}
    void add(uint32_t instruction, uint32_t position) {
      if (count[instruction]++ == 0)
        first[instruction] = position;
    }
  };

  void packBarriers() {
    std::vector<uint32_t> order =
        sorted(schedule.barriers.size(),
               [&](uint32_t i) { return schedule.barriers[i].cta; });
    auto *records = section<dfrt_barrier>(DFRT_SECTION_BARRIERS);
    auto *queues = section<dfrt_queue>(DFRT_SECTION_QUEUES);
    numberInCta.resize(order.size());
    uint32_t position = 0;
    for (uint32_t q = 0; q < queueCount(image); ++q) {
      queues[q].first_barrier = position;
      for (; position < order.size(); ++position) {
        const Barrier &barrier = schedule.barriers[order[position]];
        if (barrier.cta != q)
          break;
        records[position] = {barrier.arrivals, order[position]};
        numberInCta[order[position]] = queues[q].barrier_count++;
      }
    }
  }

  uint32_t barrierNumber(uint32_t barrier) const {
    return barrier == kNone ? DFRT_NONE : numberInCta[barrier];
  }

  static uint16_t spaceOf(const Slot &slot) {
    return slot.space == Space::shared ? DFRT_SPACE_SHARED : DFRT_SPACE_GLOBAL;
  }

  uint32_t signalOf(const Slot &slot) const {
    return slot.space == Space::shared ? barrierNumber(slot.barrier)
                                       : slot.flag;
  }

  void packTransfers() {
    std::vector<uint32_t> order =
        sorted(schedule.transfers.size(),
               [&](uint32_t i) { return schedule.transfers[i].instruction; });
    auto *records = section<dfrt_transfer>(DFRT_SECTION_TRANSFERS);
    for (uint32_t position = 0; position < order.size(); ++position) {
      const Transfer &transfer = schedule.transfers[order[position]];
      const Slot &source = schedule.slots[transfer.source];
      dfrt_transfer &record = records[position];
      record.source = transfer.source;
      record.transport = uint16_t(transfer.transport);
      record.source_space = spaceOf(source);
      record.first_destination = transfer.firstDestination;
      record.destination_count = transfer.destinationCount;
      record.instruction = transfer.instruction;
      record.identity = order[position];
      record.source_offset = source.offset;
      record.source_slice_begin = uint16_t(source.sliceBegin);
      for (uint32_t d : schedule.destinationsOf(transfer)) {
        const Slot &slot = schedule.slots[d];
        record.bytes = slotBytes(image, slot);
        if (slot.space == Space::shared && slot.cta != kNone)
          record.cluster_mask |=
              uint16_t(1u << slot.cta % image.topology.clusterSize);
      }
      transferRuns.add(transfer.instruction, position);
    }
  }

  void packReleases() {
    std::vector<uint32_t> ctaOf(schedule.instructions.size(), kNone);
    for (const Queue &queue : schedule.queues)
      for (uint32_t i : queue.instructions)
        ctaOf[i] = queue.cta;
    const std::vector<Release> &releases = schedule.releases;
    auto *records = section<dfrt_release>(DFRT_SECTION_RELEASES);
    auto put = [&](uint32_t position, uint32_t identity) {
      const Release &r = releases[identity];
      records[position] = {
          r.slot,  r.from,   r.to, ctaOf[r.to], barrierNumber(r.barrier),
          r.phase, identity, 0};
    };
    uint32_t position = 0;
    for (uint32_t i : sorted(releases.size(),
                             [&](uint32_t r) { return releases[r].from; })) {
      releaseRuns.add(releases[i].from, position);
      put(position++, i);
    }
    for (uint32_t i :
         sorted(releases.size(), [&](uint32_t r) { return releases[r].to; })) {
      acquireRuns.add(releases[i].to, position);
      put(position++, i);
    }
  }

  dfrt_instruction call(uint32_t identity) const {
    const Instruction &i = schedule.instructions[identity];
    const PlanImage::Place &place = image.places[identity];
    dfrt_instruction record = {};
    record.opcode = DFRT_CALL;
    record.flags = i.draw ? DFRT_INSTRUCTION_DRAW : 0;
    record.stage = uint16_t(i.stage);
    record.variant = uint16_t(i.variant);
    record.task_low = uint32_t(i.task);
    record.task_high = uint32_t(i.task >> 32);
    record.range_begin = place.rangeBegin;
    record.range_end = place.rangeEnd;
    record.tile_begin = i.tileBegin;
    record.tile_end = i.tileEnd;
    for (size_t a = 0; a < place.coordinates.size(); ++a)
      record.coordinates[a] = int32_t(place.coordinates[a]);
    record.slice_begin = uint16_t(i.sliceBegin);
    record.slice_end = uint16_t(i.sliceEnd);
    record.first_operand = i.firstOperand;
    record.operand_count = i.operandCount;
    record.first_output = i.firstOutput;
    record.output_count = i.outputCount;
    record.first_transfer = transferRuns.first[identity];
    record.transfer_count = transferRuns.count[identity];
    record.first_acquire = acquireRuns.first[identity];
    record.acquire_count = acquireRuns.count[identity];
    record.first_release = releaseRuns.first[identity];
    record.release_count = releaseRuns.count[identity];
    record.identity = identity;
    return record;
  }

  void packInstructions() {
    uint32_t rest = maxima.capacity[DFRT_SECTION_QUEUES];
    if (schedule.discipline == Discipline::ticket)
      return packTickets(rest);
    std::vector<const Queue *> queueOf(image.topology.ctas);
    for (const Queue &queue : schedule.queues)
      queueOf[queue.cta] = &queue;
    auto *queues = section<dfrt_queue>(DFRT_SECTION_QUEUES);
    auto *records = section<dfrt_instruction>(DFRT_SECTION_INSTRUCTIONS);
    for (uint32_t q = 0; q < queueOf.size(); ++q) {
      uint32_t count =
          queueOf[q] ? uint32_t(queueOf[q]->instructions.size()) : 0;
      queues[q].cta = q;
      queues[q].count = count;
      queues[q].rest = rest;
      for (uint32_t j = 0; j < count; ++j)
        records[j == 0 ? q : rest + j - 1] = call(queueOf[q]->instructions[j]);
      rest += count; // the last of them stays zero: EXIT
    }
  }

  void packTickets(uint32_t rest) {
    dfrt_queue &queue = *section<dfrt_queue>(DFRT_SECTION_QUEUES);
    queue.cta = DFRT_NONE;
    queue.rest = rest;
    if (schedule.queues.empty())
      return;
    auto *records = section<dfrt_instruction>(DFRT_SECTION_INSTRUCTIONS);
    auto *draw = section<dfrt_draw>(DFRT_SECTION_DRAWS) - 1;
    for (uint32_t i : schedule.queues[0].instructions) {
      uint32_t index = rest + queue.count++;
      records[index] = call(i);
      if (schedule.instructions[i].draw)
        (++draw)->first = index;
      ++draw->count;
    }
  }

  void packTables() {
    auto *operands = section<dfrt_operand>(DFRT_SECTION_OPERANDS);
    for (size_t i = 0; i < schedule.operands.size(); ++i) {
      const Operand &operand = schedule.operands[i];
      const Slot &slot = schedule.slots[operand.slot];
      operands[i] = {operand.slot,
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
    for (size_t i = 0; i < schedule.outputs.size(); ++i) {
      const Slot &slot = schedule.slots[schedule.outputs[i]];
      outputs[i] = {schedule.outputs[i], spaceOf(slot),
                    uint16_t(slot.sliceBegin), slot.offset};
    }
    auto *destinations = section<dfrt_destination>(DFRT_SECTION_DESTINATIONS);
    for (size_t i = 0; i < schedule.destinations.size(); ++i) {
      const Slot &slot = schedule.slots[schedule.destinations[i]];
      destinations[i] = {schedule.destinations[i],
                         slot.cta,
                         slot.offset,
                         signalOf(slot),
                         spaceOf(slot),
                         uint16_t(slot.sliceBegin),
                         {0, 0}};
    }
    auto *slots = section<dfrt_slot>(DFRT_SECTION_SLOTS);
    for (size_t i = 0; i < schedule.slots.size(); ++i) {
      const Slot &slot = schedule.slots[i];
      slots[i] = {slot.offset,
                  slotBytes(image, slot),
                  uint16_t(slot.stage),
                  spaceOf(slot),
                  uint16_t(slot.sliceBegin),
                  uint16_t(slot.sliceEnd),
                  slot.cta,
                  barrierNumber(slot.barrier),
                  slot.phase,
                  slot.flag,
                  0};
    }
  }

  const PlanImage &image;
  const Schedule &schedule;
  const PlanMaxima &maxima;
  PlanLayout layout;
  SectionEntries used;
  std::vector<uint8_t> bytes;
  uint32_t nameBytes = 0;
  std::vector<uint32_t> numberInCta; ///< of each barrier
  Runs transferRuns{schedule.instructions.size()};
  Runs releaseRuns{schedule.instructions.size()};
  Runs acquireRuns{schedule.instructions.size()};
};
} // namespace

Expected<std::vector<uint8_t>> dfrt::packPlan(const PlanImage &image,
                                              const PlanMaxima &maxima) {
  return Packer(image, maxima).run();
}
