//===- PlanWriter.h - Plan bytes from a schedule ----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only writer of the records in ABI.h. It keeps its tables, so that a
// second plan of the same size needs no memory.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_PLANWRITER_H
#define DFRT_LIB_PLANWRITER_H

#include "PlanLayout.h"
#include "dataflow/Schedule/Message.h"

#include <cstring>

namespace dfrt {

/// Writes schedules that are known to be well-formed.
class PlanWriter {
public:
  /// `program`: of an image, all but schedule, places and topology. `place` is
  /// called with an instruction's number and its record, and fills in range and
  /// coordinates. `maxima` null: what is needed exactly. Fails when a section
  /// has too little room.
  template <typename Place>
  Status write(const PlanImage &program, const Topology &topology,
               const Schedule &schedule, Place place, const PlanMaxima *maxima,
               std::vector<uint8_t> &bytes);

private:
  Status begin(const PlanMaxima *maxima, std::vector<uint8_t> &buffer);
  void clearUnused();
  uint32_t addName(const std::string &name);
  void writeNames();
  void writeHeader();
  void writeBarriers();
  void writeTransfers();
  void writeReleases();
  void writeTables();
  template <typename Place>
  void writeCall(uint32_t identity, dfrt_instruction &record, Place &place);
  template <typename Place>
  void writeQueues(Place &place);
  template <typename Place>
  void writeTickets(uint32_t rest, Place &place);
  void seal();

  template <typename T>
  T *section(uint32_t s) {
    return reinterpret_cast<T *>(bytes + layout.offset[s]);
  }
  dfrt_plan_header &header() {
    return *reinterpret_cast<dfrt_plan_header *>(bytes);
  }
  uint64_t slotBytes(const Slot &slot) const;
  uint32_t barrierNumber(uint32_t barrier) const {
    return barrier == kNone ? DFRT_NONE : numberInCta[barrier];
  }
  uint32_t signalOf(const Slot &slot) const {
    return slot.space == Space::shared ? barrierNumber(slot.barrier)
                                       : slot.flag;
  }

  /// First and count of the run of each instruction in a sorted list; the
  /// first is 0 where the count is.
  struct Run {
    uint32_t first = 0, count = 0;
    void add(uint32_t position) {
      if (count++ == 0)
        first = position;
    }
  };
  struct Runs {
    Run transfers, releases, acquires;
  };
  /// Indices 0 to `count`-1 in `order`, sorted by `key`, equal keys in order.
  /// Keys are below `bound`.
  template <typename Key>
  void sortBy(size_t count, size_t bound, Key key);

  const PlanImage *program = nullptr;
  const Topology *topology = nullptr;
  const Schedule *schedule = nullptr;
  PlanMaxima room;
  PlanLayout layout;
  SectionEntries used;
  uint8_t *bytes = nullptr;
  uint32_t nameBytes = 0;
  std::vector<Runs> runs;            ///< [instructions]
  std::vector<uint32_t> numberInCta; ///< of each barrier
  std::vector<uint32_t> ctaOf;       ///< [instructions]
  std::vector<const Queue *> queueOf;
  std::vector<uint32_t> order, orderBegin; ///< of sortBy
};

template <typename Place>
void PlanWriter::writeCall(uint32_t identity, dfrt_instruction &record,
                           Place &place) {
  const Instruction &i = schedule->instructions[identity];
  const Runs &run = runs[identity];
  std::memset(&record, 0, sizeof(record)); // with what pads it
  record.opcode = DFRT_CALL;
  record.flags = i.draw ? DFRT_INSTRUCTION_DRAW : 0;
  record.stage = uint16_t(i.stage);
  record.variant = uint16_t(i.variant);
  record.task_low = uint32_t(i.task);
  record.task_high = uint32_t(i.task >> 32);
  record.tile_begin = i.tileBegin;
  record.tile_end = i.tileEnd;
  record.slice_begin = uint16_t(i.sliceBegin);
  record.slice_end = uint16_t(i.sliceEnd);
  record.first_operand = i.firstOperand;
  record.operand_count = i.operandCount;
  record.first_output = i.firstOutput;
  record.output_count = i.outputCount;
  record.first_transfer = run.transfers.first;
  record.transfer_count = run.transfers.count;
  record.first_acquire = run.acquires.first;
  record.acquire_count = run.acquires.count;
  record.first_release = run.releases.first;
  record.release_count = run.releases.count;
  record.identity = identity;
  place(identity, record);
}

/// EXIT is all zeros.
inline void writeExits(dfrt_instruction *records, size_t count) {
  std::memset(records, 0, count * sizeof(dfrt_instruction));
}

template <typename Place>
void PlanWriter::writeQueues(Place &place) {
  uint32_t rest = room.capacity[DFRT_SECTION_QUEUES];
  if (schedule->discipline == Discipline::ticket)
    return writeTickets(rest, place);
  queueOf.assign(topology->ctas, nullptr);
  for (const Queue &queue : schedule->queues)
    queueOf[queue.cta] = &queue;
  auto *queues = section<dfrt_queue>(DFRT_SECTION_QUEUES);
  auto *records = section<dfrt_instruction>(DFRT_SECTION_INSTRUCTIONS);
  writeExits(records + queueOf.size(), rest - queueOf.size());
  for (uint32_t q = 0; q < queueOf.size(); ++q) {
    uint32_t count = queueOf[q] ? uint32_t(queueOf[q]->instructions.size()) : 0;
    queues[q].cta = q;
    queues[q].count = count;
    queues[q].rest = rest;
    for (uint32_t j = 0; j < count; ++j)
      writeCall(queueOf[q]->instructions[j], records[j == 0 ? q : rest + j - 1],
                place);
    // EXIT in the place of the first instruction or behind the others.
    writeExits(records + (count ? rest + count - 1 : q), 1);
    rest += count;
  }
}

template <typename Place>
void PlanWriter::writeTickets(uint32_t rest, Place &place) {
  auto *records = section<dfrt_instruction>(DFRT_SECTION_INSTRUCTIONS);
  writeExits(records, rest + 1);
  dfrt_queue &queue = *section<dfrt_queue>(DFRT_SECTION_QUEUES);
  queue.cta = DFRT_NONE;
  queue.rest = rest;
  if (schedule->queues.empty())
    return;
  auto *draw = section<dfrt_draw>(DFRT_SECTION_DRAWS) - 1;
  for (uint32_t i : schedule->queues[0].instructions) {
    uint32_t index = rest + queue.count++;
    writeCall(i, records[index], place);
    if (schedule->instructions[i].draw)
      *++draw = {index, 0};
    ++draw->count;
  }
  writeExits(records + rest + queue.count, 1);
}

template <typename Place>
Status PlanWriter::write(const PlanImage &ofProgram, const Topology &shape,
                         const Schedule &made, Place place,
                         const PlanMaxima *maxima,
                         std::vector<uint8_t> &buffer) {
  program = &ofProgram;
  topology = &shape;
  schedule = &made;
  DFRT_TRY(begin(maxima, buffer));
  clearUnused();
  writeNames();
  writeHeader();
  writeBarriers();
  writeTransfers();
  writeReleases();
  writeQueues(place);
  writeTables();
  seal();
  return Status::success();
}

} // namespace dfrt

#endif // DFRT_LIB_PLANWRITER_H
