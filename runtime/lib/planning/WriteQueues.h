//===- WriteQueues.h - The bytes of a plan, queue by queue ------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes what one CTA has in every section, so that a planning CTA a queue does
// all of it without asking the others. Entries stand in the order of queues; an
// instruction's identity, a slot's number and a transfer's are its place there.
//
// Checksum 0: nobody who reads the plan on the device looks at it. `sealPlan`
// adds it to a plan that was read back.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_PLANNING_WRITEQUEUES_H
#define DFRT_LIB_PLANNING_WRITEQUEUES_H

#include "CountQueues.h"

namespace dfrt {
namespace planning {

/// Stores a record that begins with all its bytes 0, those that pad it too.
template <typename Record>
void store(Record &target, const Record &record) {
  __builtin_memcpy(__builtin_assume_aligned(&target, 16), &record,
                   sizeof(Record));
}
template <typename Record>
void clear(Record &record) {
  __builtin_memset(&record, 0, sizeof(Record));
}

template <typename Threads>
class Writer {
public:
  Writer(const Launch &launch, const Counter<Threads> &counter, Threads threads)
      : launch(launch), tables(launch.tables), counter(counter),
        threads(threads) {}

  /// The queue of `cta`. With `planned` false, and of all CTAs, an empty one.
  void write(uint32_t cta, bool planned) {
    self = cta;
    const uint32_t *calls = at<uint32_t>(tables.arena.calls);
    firstCall = planned ? calls[cta] : 0;
    callCount = planned ? calls[cta + 1] - firstCall : 0;
    operand = planned ? at<uint32_t>(tables.arena.operands)[cta] : 0;
    rest = tables.ctas + firstCall;
    if (threads.index() == 0) {
      store(section<dfrt_queue>(DFRT_SECTION_QUEUES)[cta],
            {cta, callCount, rest, 0, 0, {0, 0, 0}});
      // EXIT instead of the first instruction, or behind the others.
      dfrt_instruction exit;
      planning::clear(exit);
      store(recordAt(callCount), exit);
    }
    uint32_t position = 0;
    for (uint32_t l = 0; planned && l < tables.lineCount; ++l) {
      Stretch stretch = counter.stretchAt(l, counter.placeOf(l, cta));
      if (tables.lines[l].kind == LineKind::split)
        writePieces(l, stretch, position);
      else
        writeTiles(l, stretch, position);
    }
    for (uint32_t l = 0; planned && l < tables.lineCount; ++l)
      writeShares(l, position);
  }

  /// What belongs to no queue; `part` of `parts` of it. The last one has the
  /// header and what is the same in all plans.
  void writeRest(uint32_t part, uint32_t parts, bool planned) {
    State &s = counter.cutter.state();
    // What is not used is zero.
    for (uint32_t i = 0; i < kFilled; ++i) {
      uint32_t section = DFRT_SECTION_INSTRUCTIONS + i;
      uint64_t used = planned ? s.used[i] : i ? 0 : tables.ctas;
      clear(tables.offset[section] + used * tables.entryBytes[i],
            tables.offset[section + 1], part, parts);
    }
    if (part + 1 != parts)
      return;
    clear(tables.offset[0] + tables.ctas * sizeof(dfrt_queue), tables.offset[1],
          0, 1);
    copy(launch.plan, launch.frame, sizeof(dfrt_plan_header));
    uint64_t alike = tables.offset[DFRT_SECTION_RELEASES];
    copy(launch.plan + alike, launch.frame + sizeof(dfrt_plan_header),
         tables.totalBytes - alike);
    threads.sync();
    auto &header = *reinterpret_cast<dfrt_plan_header *>(launch.plan);
    uint32_t i = threads.index();
    for (; i < kFilled; i += threads.count())
      header.sections[DFRT_SECTION_INSTRUCTIONS + i].count = planned ? s.used[i]
                                                             : i ? 0
                                                                 : tables.ctas;
    if (threads.index() == 0 && planned) {
      header.global_flags =
          s.used[DFRT_SECTION_TRANSFERS - DFRT_SECTION_INSTRUCTIONS];
      header.global_bytes = s.units * kSlotAlignment;
    }
  }

private:
  template <typename T>
  T *at(uint32_t offset) const {
    return counter.template at<T>(offset);
  }
  template <typename T>
  T *section(uint32_t s) const {
    return reinterpret_cast<T *>(launch.plan + tables.offset[s]);
  }
  /// 16 bytes, in which all entries and sections begin.
  struct alignas(16) Words {
    uint64_t low, high;
  };

  /// This thread's part of [begin, end) of the plan, with those of `parts`
  /// planning CTAs.
  void clear(uint64_t begin, uint64_t end, uint32_t part,
             uint32_t parts) const {
    uint32_t thread = part * threads.count() + threads.index();
    Words *words = reinterpret_cast<Words *>(launch.plan + begin);
    uint32_t count = uint32_t((end - begin) / sizeof(Words));
    for (uint32_t w = thread; w < count; w += parts * threads.count())
      words[w] = {0, 0};
  }

  /// Copies whole words.
  void copy(uint64_t target, uint64_t source, uint64_t bytes) const {
    uint32_t count = uint32_t(bytes / sizeof(Words));
    for (uint32_t w = threads.index(); w < count; w += threads.count())
      reinterpret_cast<Words *>(target)[w] =
          reinterpret_cast<const Words *>(source)[w];
  }

  dfrt_instruction &recordAt(uint32_t position) const {
    return section<dfrt_instruction>(
        DFRT_SECTION_INSTRUCTIONS)[position ? rest + position - 1 : self];
  }

  /// A call without lists.
  void beginCall(const Line &line, uint32_t stage, uint32_t task,
                 uint32_t position, dfrt_instruction &call) const {
    planning::clear(call);
    call.opcode = DFRT_CALL;
    call.stage = uint16_t(stage);
    call.task_low = task;
    call.tile_end = 1;
    call.slice_end = 1;
    call.identity = firstCall + position;
    uint32_t coordinates[DFRT_MAX_AXES];
    counter.cutter.locate(line, task, coordinates);
    for (uint32_t axis = 0; axis < DFRT_MAX_AXES; ++axis)
      call.coordinates[axis] = int32_t(coordinates[axis]);
  }

  void setRange(const Line &line, uint32_t tileBegin, uint32_t tileEnd,
                dfrt_instruction &call) const {
    uint32_t coordinates[DFRT_MAX_AXES];
    for (uint32_t axis = 0; axis < DFRT_MAX_AXES; ++axis)
      coordinates[axis] = uint32_t(call.coordinates[axis]);
    int64_t length = counter.cutter.evaluate(line.length, coordinates);
    int64_t offset = counter.cutter.evaluate(line.offset, coordinates);
    auto element = [&](uint32_t tile) {
      int64_t at = int64_t(tile) * line.tile;
      return offset + (at < length ? at : length);
    };
    call.tile_begin = tileBegin;
    call.tile_end = tileEnd;
    call.range_begin = element(tileBegin);
    call.range_end = element(tileEnd);
  }

  /// A record of this CTA, published as transfer `transfer` if that is not
  /// DFRT_NONE.
  void writeSlot(uint32_t slot, uint64_t offset, uint64_t bytes, uint32_t stage,
                 uint32_t sliceBegin, uint32_t sliceEnd, uint32_t transfer,
                 uint32_t identity) const {
    store(section<dfrt_output>(DFRT_SECTION_OUTPUTS)[slot],
          {slot, DFRT_SPACE_GLOBAL, uint16_t(sliceBegin), offset});
    dfrt_slot record;
    planning::clear(record);
    record.offset = offset;
    record.bytes = bytes;
    record.stage = uint16_t(stage);
    record.space = DFRT_SPACE_GLOBAL;
    record.slice_begin = uint16_t(sliceBegin);
    record.slice_end = uint16_t(sliceEnd);
    record.cta = self;
    record.barrier = DFRT_NONE;
    record.flag = transfer;
    store(section<dfrt_slot>(DFRT_SECTION_SLOTS)[slot], record);
    if (transfer == DFRT_NONE)
      return;
    store(section<dfrt_transfer>(DFRT_SECTION_TRANSFERS)[transfer],
          {slot, DFRT_TRANSPORT_GLOBAL, DFRT_SPACE_GLOBAL, transfer, 1,
           identity, transfer, bytes, offset, uint16_t(sliceBegin), 0, 0});
    store(section<dfrt_destination>(DFRT_SECTION_DESTINATIONS)[transfer],
          {slot,
           self,
           offset,
           transfer,
           DFRT_SPACE_GLOBAL,
           uint16_t(sliceBegin),
           {0, 0}});
  }

  /// Reads a slot; `flag` DFRT_NONE: one of this CTA that is not published.
  void writeOperand(uint32_t index, uint32_t slot, uint64_t offset,
                    uint32_t sliceBegin, uint32_t flag, bool wait) const {
    store(section<dfrt_operand>(DFRT_SECTION_OPERANDS)[index],
          {slot, DFRT_NONE, uint16_t(wait ? DFRT_OPERAND_WAIT : 0),
           DFRT_SPACE_GLOBAL, uint16_t(sliceBegin), 0, offset, flag, 0});
  }

  /// Pieces; behind each of a whole task its finalize.
  void writePieces(uint32_t l, const Stretch &stretch, uint32_t &position) {
    const Line &line = tables.lines[l];
    const ArenaLayout::OfLine &places = tables.arena.lines[l];
    uint32_t firstSlot = at<uint32_t>(places.slots)[self];
    uint32_t firstTransfer = at<uint32_t>(places.transfers)[self];
    uint64_t firstByte = at<uint32_t>(places.units)[self] * kSlotAlignment;
    uint64_t pitch = slotUnits(line.recordBytes) * kSlotAlignment;
    for (uint32_t i = threads.index(); i < stretch.calls;
         i += threads.count()) {
      uint32_t task = stretch.begin.task + i;
      uint32_t tileBegin = i == 0 ? stretch.begin.tile : 0;
      bool continued = i == 0 && stretch.continued;
      bool open = i + 1 == stretch.calls && stretch.open;
      uint32_t tileEnd =
          open ? stretch.end.tile : counter.cutter.tilesOf(l, task);
      // Whole tasks have two instructions; all but the ends are whole.
      uint32_t whole =
          i > uint32_t(stretch.continued) ? i - uint32_t(stretch.continued) : 0;
      uint32_t where = position + i + whole, slot = firstSlot + i;
      uint64_t offset = firstByte + i * pitch;
      dfrt_instruction call;
      beginCall(line, line.stage, task, where, call);
      setRange(line, tileBegin, tileEnd, call);
      call.slice_end = uint16_t(line.slices);
      call.first_operand = operand + whole;
      call.first_output = slot;
      call.output_count = 1;
      uint32_t transfer = DFRT_NONE;
      if (continued || open) {
        transfer = firstTransfer + uint32_t(i != 0 && stretch.continued);
        call.first_transfer = transfer;
        call.transfer_count = 1;
      }
      store(recordAt(where), call);
      writeSlot(slot, offset, line.recordBytes, line.stage, 0, line.slices,
                transfer, call.identity);
      if (transfer != DFRT_NONE)
        continue;
      dfrt_instruction last;
      beginCall(line, line.finalize, task, where + 1, last);
      last.slice_end = uint16_t(line.finalSlices);
      last.first_operand = operand + whole;
      last.operand_count = 1;
      last.first_output = firstSlot + i + 1;
      store(recordAt(where + 1), last);
      writeOperand(operand + whole, slot, offset, 0, DFRT_NONE, false);
    }
    position += stretch.calls + stretch.whole();
    operand += stretch.whole();
    nextSlot = firstSlot + stretch.calls;
    nextByte = firstByte + stretch.calls * pitch;
  }

  /// Runs of tiles of one task each.
  void writeTiles(uint32_t l, const Stretch &stretch, uint32_t &position) {
    const Line &line = tables.lines[l];
    const ArenaLayout::OfLine &places = tables.arena.lines[l];
    const uint32_t *reads = at<uint32_t>(places.reads);
    uint32_t firstSlot = at<uint32_t>(places.slots)[self];
    uint32_t firstTransfer = at<uint32_t>(places.transfers)[self];
    uint64_t firstByte = at<uint32_t>(places.units)[self] * kSlotAlignment;
    uint64_t pitch = slotUnits(line.recordBytes) * kSlotAlignment;
    uint32_t firstTile = counter.tilesBefore(l, stretch.begin);
    uint32_t tiles = counter.tilesBefore(l, stretch.end) - firstTile;
    uint32_t firstRead = reads[stretch.begin.task];
    uint32_t skipped = counter.cutter.callsBefore(l, stretch.begin.task);
    for (uint32_t i = 0; i < stretch.calls; ++i) {
      uint32_t task = nthTask(l, skipped + i);
      uint32_t tileBegin = task == stretch.begin.task ? stretch.begin.tile : 0;
      uint32_t tileEnd = task == stretch.end.task
                             ? stretch.end.tile
                             : counter.cutter.tilesOf(l, task);
      uint32_t before =
          counter.cutter.tilesBefore(l, task) + tileBegin - firstTile;
      uint32_t where = position + i;
      uint32_t read = operand + reads[task] - firstRead;
      uint32_t count = reads[task + 1] - reads[task];
      if (threads.index() == 0) {
        dfrt_instruction call;
        beginCall(line, line.stage, task, where, call);
        setRange(line, tileBegin, tileEnd, call);
        call.slice_end = uint16_t(line.slices);
        call.first_operand = read;
        call.operand_count = line.source == DFRT_NONE ? 0 : count;
        call.first_output = line.makesRecords ? firstSlot + before : firstSlot;
        if (line.makesRecords) {
          call.output_count = tileEnd - tileBegin;
          call.first_transfer = firstTransfer + before;
          call.transfer_count = call.output_count;
        }
        store(recordAt(where), call);
      }
      if (line.makesRecords)
        for (uint32_t k = before + threads.index();
             k < before + tileEnd - tileBegin; k += threads.count())
          writeSlot(firstSlot + k, firstByte + k * pitch, line.recordBytes,
                    line.stage, 0, line.slices, firstTransfer + k,
                    firstCall + where);
      if (line.source != DFRT_NONE)
        readRecords(line, task, read);
    }
    position += stretch.calls;
    if (line.source != DFRT_NONE) {
      operand += reads[stretch.end.task] - firstRead;
      if (stretch.open)
        operand += reads[stretch.end.task + 1] - reads[stretch.end.task];
    }
    nextSlot = firstSlot + (line.makesRecords ? tiles : 0);
    nextByte = firstByte + (line.makesRecords ? tiles * pitch : 0);
  }

  /// The task with tiles that has `index` others before it.
  uint32_t nthTask(uint32_t l, uint32_t index) const {
    uint32_t low = 0, high = tables.lines[l].tasks;
    while (low < high) {
      uint32_t middle = (low + high) / 2;
      if (counter.cutter.callsBefore(l, middle + 1) > index)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  /// Operands from `first` on: all records that `task` reads of the line
  /// before.
  void readRecords(const Line &line, uint32_t task, uint32_t first) const {
    uint32_t l = line.source;
    uint32_t source = counter.cutter.sourceTask(line, task);
    const ArenaLayout::OfLine &places = tables.arena.lines[l];
    const Cut *cuts = counter.cutsOf(l);
    uint32_t count = counter.cutter.tilesOf(l, source);
    uint64_t pitch = slotUnits(tables.lines[l].recordBytes) * kSlotAlignment;
    for (uint32_t k = threads.index(); k < count; k += threads.count()) {
      // The last place that begins with this tile or before it.
      uint32_t low = 0, high = tables.ctas - 1;
      while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        bool beyond = cuts[middle].task > source ||
                      (cuts[middle].task == source && cuts[middle].tile > k);
        if (beyond)
          high = middle - 1;
        else
          low = middle;
      }
      uint32_t cta = counter.ctaAt(l, low);
      uint32_t index = counter.cutter.tilesBefore(l, source) + k -
                       counter.tilesBefore(l, cuts[low]);
      writeOperand(first + k, at<uint32_t>(places.slots)[cta] + index,
                   at<uint32_t>(places.units)[cta] * kSlotAlignment +
                       index * pitch,
                   0, at<uint32_t>(places.transfers)[cta] + index, cta != self);
    }
  }

  /// Shares of split tasks: a reduce and its finalize each.
  void writeShares(uint32_t l, uint32_t &position) {
    const Line &line = tables.lines[l];
    Share shares[kMaxShares];
    uint32_t count = counter.sharesAt(l, counter.placeOf(l, self), shares);
    for (uint32_t s = 0; s < count; ++s) {
      const Share &share = shares[s];
      uint32_t result = operand + share.parts;
      // Pieces and shares are written at the same time.
      if (threads.index() == 32 * (s + 1) % threads.count()) {
        bool sliced = share.sliceEnd - share.sliceBegin != line.slices;
        dfrt_instruction call;
        beginCall(line, line.reduce, share.task, position, call);
        call.variant = uint16_t(sliced ? line.slicedReduce : 0);
        call.slice_begin = uint16_t(share.sliceBegin);
        call.slice_end = uint16_t(share.sliceEnd);
        call.first_operand = operand;
        call.operand_count = share.parts;
        call.first_output = nextSlot;
        call.output_count = 1;
        store(recordAt(position), call);
        uint64_t bytes = counter.shareBytes(line, share);
        writeSlot(nextSlot, nextByte, bytes, line.reduce, share.sliceBegin,
                  share.sliceEnd, DFRT_NONE, 0);
        dfrt_instruction last;
        beginCall(line, line.finalize, share.task, position + 1, last);
        last.variant = uint16_t(sliced ? line.slicedFinalize : 0);
        last.slice_begin = sliced ? call.slice_begin : uint16_t(0);
        last.slice_end = sliced ? call.slice_end : uint16_t(line.finalSlices);
        last.first_operand = result;
        last.operand_count = 1;
        last.first_output = nextSlot + 1;
        store(recordAt(position + 1), last);
        writeOperand(result, nextSlot, nextByte, share.sliceBegin, DFRT_NONE,
                     false);
      }
      for (uint32_t p = threads.index(); p < share.parts; p += threads.count())
        readPart(l, share, p, operand + p);
      position += 2;
      operand += share.parts + 1;
      nextByte += slotUnits(counter.shareBytes(line, share)) * kSlotAlignment;
      ++nextSlot;
    }
  }

  /// Part `p` of a split task: the last piece of the first CTA, or the first
  /// one of a later CTA.
  void readPart(uint32_t l, const Share &share, uint32_t p,
                uint32_t index) const {
    const ArenaLayout::OfLine &places = tables.arena.lines[l];
    Stretch stretch = counter.stretchAt(l, share.firstPart + p);
    uint32_t cta = counter.ctaAt(l, share.firstPart + p);
    uint32_t piece = p ? 0 : stretch.calls - 1;
    uint32_t transfer = p ? 0 : stretch.published() - 1;
    uint64_t pitch = slotUnits(tables.lines[l].recordBytes) * kSlotAlignment;
    writeOperand(
        index, at<uint32_t>(places.slots)[cta] + piece,
        at<uint32_t>(places.units)[cta] * kSlotAlignment + piece * pitch, 0,
        at<uint32_t>(places.transfers)[cta] + transfer, cta != self);
  }

  const Launch &launch;
  const Tables &tables;
  const Counter<Threads> &counter;
  Threads threads;
  // Of the queue that is written.
  uint32_t self = 0;
  uint32_t firstCall = 0, callCount = 0, rest = 0;
  uint32_t operand = 0; ///< the next one
  uint32_t nextSlot = 0;
  uint64_t nextByte = 0;
};

/// Says what was wrong with a batch that was refused.
inline void describeFault(const State &state, Report &report) {
  report.line = state.line;
  report.task = state.task;
  report.value = state.value;
  report.limit = state.limit;
  report.fault = state.fault;
}

/// Plans: all of it with one planning CTA (`parts` 1), else the queues and the
/// part of the rest that fall to planning CTA `part`.
template <typename Threads>
void plan(const Launch &launch, uint8_t *arena, Threads threads, uint32_t part,
          uint32_t parts) {
  Counter<Threads> counter(launch, arena, threads);
  bool planned = counter.run();
  Writer<Threads> writer(launch, counter, threads);
  for (uint32_t cta = part; cta < launch.tables.ctas; cta += parts)
    writer.write(cta, planned);
  writer.writeRest(part, parts, planned);
  if (part || threads.index())
    return;
  Report &report = *reinterpret_cast<Report *>(launch.report);
  const State &state = counter.cutter.state();
  report.plans += 1;
  if (planned)
    return;
  report.refusals += 1;
  if (report.fault == kNoFault)
    describeFault(state, report);
}

} // namespace planning
} // namespace dfrt

#endif // DFRT_LIB_PLANNING_WRITEQUEUES_H
