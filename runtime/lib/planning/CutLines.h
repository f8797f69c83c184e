//===- CutLines.h - Where each CTA's stretch of a line begins ---*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the lengths, forms prefix sums of the costs and cuts. The load that no
// CTA exceeds is the least of `kCandidates` that suffices: for one load, each
// CTA in turn takes as much as it may, and a load that suffices does so when it
// is larger. Each candidate is tried by one thread, so the result does not
// depend on how many threads there are.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_PLANNING_CUTLINES_H
#define DFRT_LIB_PLANNING_CUTLINES_H

#include "Tables.h"

namespace dfrt {
namespace planning {

constexpr int64_t kMaxExtent = int64_t(1) << 60; // as kMaxRangeExtent

/// `Threads`: `index`, `count` and `sync` of the threads that plan together.
template <typename Threads>
class Cutter {
public:
  Cutter(const Launch &launch, uint8_t *arena, Threads threads)
      : launch(launch), tables(launch.tables), arena(arena), threads(threads) {}

  /// Fills costs and cuts of all lines. False, with the fault in the state,
  /// when the inputs of the batch are out of bounds.
  bool run() {
    State &s = state();
    if (threads.index() == 0) {
      s.fault = kNoFault;
      s.first[0] = 0;
    }
    for (uint32_t l = 0; l < tables.lineCount; ++l) {
      sumCosts(l);
      if (s.fault != kNoFault)
        return false;
      cut(l);
    }
    return true;
  }

  template <typename T>
  T *at(uint32_t offset) const {
    return reinterpret_cast<T *>(arena + offset);
  }
  State &state() const { return *at<State>(tables.arena.state); }

  /// Coordinates of a task.
  static void locate(const Line &line, uint32_t task, uint32_t *coordinates) {
    // Axes that there are not have extent 1.
    for (uint32_t axis = DFRT_MAX_AXES; axis-- > 0;) {
      coordinates[axis] = task % line.extents[axis];
      task /= line.extents[axis];
    }
  }

  int64_t evaluate(const Value &value, const uint32_t *coordinates) const {
    if (value.input == DFRT_NONE)
      return value.constant;
    int64_t element = 0;
    for (uint32_t axis = 0; axis < DFRT_MAX_AXES; ++axis)
      element += value.strides[axis] * coordinates[axis];
    uint64_t base = launch.inputs[value.input];
    if (value.bytes == 8)
      return reinterpret_cast<const int64_t *>(base)[element];
    return reinterpret_cast<const int32_t *>(base)[element];
  }

  /// The task whose records task `task` of `line` reads.
  static uint32_t sourceTask(const Line &line, uint32_t task) {
    uint32_t coordinates[DFRT_MAX_AXES];
    locate(line, task, coordinates);
    int64_t source = 0;
    for (uint32_t axis = 0; axis < DFRT_MAX_AXES; ++axis)
      source += line.sourceStrides[axis] * coordinates[axis];
    return uint32_t(source);
  }

  uint32_t tilesOf(uint32_t l, uint32_t task) const {
    return tilesBefore(l, task + 1) - tilesBefore(l, task);
  }
  /// Tiles of the tasks before `task`.
  uint32_t tilesBefore(uint32_t l, uint32_t task) const {
    uint64_t cost = at<uint64_t>(tables.arena.lines[l].costs)[task];
    uint64_t calls = callsBefore(l, task);
    return uint32_t((cost - calls * tables.lines[l].start) / kTileUnits);
  }
  /// Tasks before `task` that have calls.
  uint32_t callsBefore(uint32_t l, uint32_t task) const {
    return tables.lines[l].kind == LineKind::split
               ? task
               : at<uint32_t>(tables.arena.lines[l].filled)[task];
  }

  /// Sums of `values` over the threads before this one, and over all of them.
  template <uint32_t Count>
  void scan(uint64_t (&values)[Count], uint64_t (&totals)[Count]) {
    uint64_t *sums = at<uint64_t>(tables.arena.sums);
    uint32_t side = 0, self = threads.index(), count = threads.count();
    auto entry = [&](uint32_t of, uint32_t thread) {
      return sums + (of * kMaxThreads + thread) * kMaxSums;
    };
    for (uint32_t v = 0; v < Count; ++v)
      entry(0, self)[v] = values[v];
    threads.sync();
    for (uint32_t step = 1; step < count; step *= 2, side ^= 1) {
      for (uint32_t v = 0; v < Count; ++v)
        entry(side ^ 1, self)[v] =
            entry(side, self)[v] +
            (self >= step ? entry(side, self - step)[v] : 0);
      threads.sync();
    }
    for (uint32_t v = 0; v < Count; ++v) {
      values[v] = self ? entry(side, self - 1)[v] : 0;
      totals[v] = entry(side, count - 1)[v];
    }
    threads.sync();
  }

  /// This thread's part of `count` things.
  void shareOf(uint32_t count, uint32_t &begin, uint32_t &end) const {
    uint32_t each = (count + threads.count() - 1) / threads.count();
    begin = each * threads.index();
    begin = begin < count ? begin : count;
    end = begin + each < count ? begin + each : count;
  }

private:
  /// What is wrong with a task's length or offset.
  uint32_t faultOf(const Line &line, int64_t length, int64_t offset) const {
    if (length < 0 || length > line.maxLength)
      return kLength;
    return offset < 0 || offset > kMaxExtent ? kOffset : kNoFault;
  }

  void refuse(uint32_t fault, uint32_t l, uint32_t task, int64_t value,
              int64_t limit) {
    State &s = state();
    s.fault = fault;
    s.line = l;
    s.task = task;
    s.value = value;
    s.limit = limit;
  }

  /// Prefix sums over the tasks of a line.
  void sumCosts(uint32_t l) {
    const Line &line = tables.lines[l];
    const ArenaLayout::OfLine &places = tables.arena.lines[l];
    uint64_t *costs = at<uint64_t>(places.costs);
    uint32_t *filled = at<uint32_t>(places.filled);
    uint32_t *reads = at<uint32_t>(places.reads);
    bool split = line.kind == LineKind::split;
    uint32_t begin, end, faulty = 0;
    shareOf(line.tasks, begin, end);
    // Costs, tasks with tiles, records read; tiles; faults.
    uint64_t sums[5] = {}, totals[5];
    for (uint32_t task = begin; task < end; ++task) {
      uint32_t coordinates[DFRT_MAX_AXES];
      locate(line, task, coordinates);
      int64_t length = evaluate(line.length, coordinates);
      int64_t offset = evaluate(line.offset, coordinates);
      if (faultOf(line, length, offset) != kNoFault) {
        faulty = sums[4]++ ? faulty : task;
        length = 0;
      }
      uint64_t tiles = uint64_t(length + line.tile - 1) / uint64_t(line.tile);
      uint32_t read = 0;
      if (line.source != DFRT_NONE && tiles)
        read = tilesOf(line.source, sourceTask(line, task));
      costs[task] = sums[0];
      sums[0] += tiles * kTileUnits + (split || tiles ? line.start : 0);
      if (!split) {
        filled[task] = uint32_t(sums[1]);
        reads[task] = uint32_t(sums[2]);
      }
      sums[1] += tiles != 0;
      sums[2] += read;
      sums[3] += tiles;
    }
    uint64_t mine = sums[4];
    scan(sums, totals);
    for (uint32_t task = begin; task < end; ++task) {
      costs[task] += sums[0];
      if (!split) {
        filled[task] += uint32_t(sums[1]);
        reads[task] += uint32_t(sums[2]);
      }
    }
    if (threads.index() == 0) {
      costs[line.tasks] = totals[0];
      if (!split) {
        filled[line.tasks] = uint32_t(totals[1]);
        reads[line.tasks] = uint32_t(totals[2]);
      }
      if (!totals[4] && totals[3] > line.maxTiles)
        refuse(kTotalTiles, l, 0, int64_t(totals[3]), int64_t(line.maxTiles));
    }
    if (mine && !sums[4]) { // the first fault of all
      uint32_t coordinates[DFRT_MAX_AXES];
      locate(line, faulty, coordinates);
      int64_t length = evaluate(line.length, coordinates);
      int64_t offset = evaluate(line.offset, coordinates);
      uint32_t fault = faultOf(line, length, offset);
      refuse(fault, l, faulty, fault == kLength ? length : offset,
             fault == kLength ? line.maxLength : kMaxExtent);
    }
    threads.sync();
  }

  /// The cut behind a CTA that begins at `cut` and may take `load`.
  Cut advance(const Line &line, const uint64_t *costs, Cut cut,
              uint64_t load) const {
    uint64_t reach = costs[cut.task] + uint64_t(cut.tile) * kTileUnits + load;
    // The last task whose predecessors all fit.
    uint32_t task = cut.task, hop = line.hop;
    while (task + hop <= line.tasks && costs[task + hop] <= reach)
      task += hop;
    for (hop /= 2; hop; hop /= 2)
      if (task + hop <= line.tasks && costs[task + hop] <= reach)
        task += hop;
    if (task == line.tasks)
      return {task, 0};
    bool same = task == cut.task;
    uint64_t left = same ? load : reach - costs[task];
    uint64_t tiles = left > line.start ? (left - line.start) / kTileUnits : 0;
    if (tiles < line.minTiles)
      tiles = 0;
    return {task, (same ? cut.tile : 0) + uint32_t(tiles)};
  }

  void cut(uint32_t l) {
    const Line &line = tables.lines[l];
    const ArenaLayout::OfLine &places = tables.arena.lines[l];
    const uint64_t *costs = at<uint64_t>(places.costs);
    uint64_t even = (costs[line.tasks] + tables.ctas - 1) / tables.ctas;
    uint64_t call = line.start + uint64_t(line.minTiles) * kTileUnits;
    // A CTA leaves less than one call of what it may take, so `most` suffices;
    // no CTA that starts a call does with less than `least`.
    uint64_t least = even > call ? even : call, most = even + call;
    uint64_t step = (most - least + kCandidates - 2) / (kCandidates - 1);
    uint32_t pitch = tables.ctas + 1;
    Cut *trials = at<Cut>(tables.arena.trials);
    for (uint32_t c = threads.index(); c < kCandidates; c += threads.count()) {
      Cut *trial = trials + c * pitch;
      Cut cut = {0, 0};
      for (uint32_t q = 0; q < pitch; ++q) {
        trial[q] = cut;
        if (cut.task < line.tasks)
          cut = advance(line, costs, cut, least + c * step);
      }
    }
    threads.sync();
    State &s = state();
    if (threads.index() == 0) {
      uint32_t low = 0, high = kCandidates - 1; // the last one suffices
      while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (trials[middle * pitch + tables.ctas].task < line.tasks)
          low = middle + 1;
        else
          high = middle;
      }
      s.best = low;
    }
    threads.sync();
    Cut *cuts = at<Cut>(places.cuts);
    const Cut *best = trials + s.best * pitch;
    for (uint32_t q = threads.index(); q < pitch; q += threads.count()) {
      cuts[q] = best[q];
      // The next line begins on the CTA behind the last one that has calls.
      if (q && best[q].task == line.tasks && best[q - 1].task < line.tasks &&
          l + 1 < tables.lineCount)
        s.first[l + 1] = (s.first[l] + q) % tables.ctas;
    }
    if (threads.index() == 0 && !line.tasks && l + 1 < tables.lineCount)
      s.first[l + 1] = s.first[l];
    threads.sync();
  }

  const Launch &launch;
  const Tables &tables;
  uint8_t *arena;
  Threads threads;
};

} // namespace planning
} // namespace dfrt

#endif // DFRT_LIB_PLANNING_CUTLINES_H
