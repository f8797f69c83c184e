//===- CutLines.h - Where each CTA's stretch of a line begins ---*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the lengths, forms prefix sums of the costs and cuts. A line is cut
// into segments of even cost first, each for a part of the CTAs. In a segment,
// the load that no CTA exceeds is the least of `kCandidates` that suffices: for
// one load, each CTA in turn takes as much as it may, and a load that suffices
// does so when it is larger. Each candidate for each segment is tried by one
// thread, so the result does not depend on how many threads there are.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_PLANNING_CUTLINES_H
#define DFRT_LIB_PLANNING_CUTLINES_H

#include "Tables.h"

namespace dfrt {
namespace planning {

constexpr int64_t kMaxExtent = int64_t(1) << 60; // as kMaxRangeExtent
/// Instead of a number of CTAs: there are not enough.
constexpr uint32_t kTooMany = UINT32_MAX;

/// `Threads`: `index`, `count` and `sync` of the threads that plan together
/// (one, where it is `kAlone`),
/// and `scan`, which forms sums over them in some memory of all of them
/// (kMaxSums * kMaxThreads words).
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
    // Axes that there are not have extent 1; the first one has what is left.
    for (uint32_t axis = DFRT_MAX_AXES; axis-- > 1;) {
      coordinates[axis] = 0;
      if (line.extents[axis] == 1)
        continue;
      coordinates[axis] = task % line.extents[axis];
      task /= line.extents[axis];
    }
    coordinates[0] = task;
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
    uint32_t cost = at<uint32_t>(tables.arena.lines[l].costs)[task];
    return (cost - callsBefore(l, task) * tables.lines[l].start) / kTileUnits;
  }
  /// Tasks before `task` that have calls.
  uint32_t callsBefore(uint32_t l, uint32_t task) const {
    return tables.lines[l].kind == LineKind::split
               ? task
               : at<uint32_t>(tables.arena.lines[l].filled)[task];
  }

  /// Sums of `values` over the threads before this one, and over all of them.
  void scan(uint32_t (&values)[kMaxSums], uint32_t (&totals)[kMaxSums]) const {
    threads.scan(values, totals, at<uint32_t>(tables.arena.sums));
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
    uint32_t *costs = at<uint32_t>(places.costs);
    uint32_t *filled = at<uint32_t>(places.filled);
    uint32_t *reads = at<uint32_t>(places.reads);
    bool split = line.kind == LineKind::split;
    uint32_t begin, end, faulty = 0;
    shareOf(line.tasks, begin, end);
    // Costs, tasks with tiles, records read; tiles; faults.
    uint32_t sums[kMaxSums] = {}, totals[kMaxSums];
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
      sums[0] +=
          uint32_t(tiles) * kTileUnits + (split || tiles ? line.start : 0);
      if (!split) {
        filled[task] = sums[1];
        reads[task] = sums[2];
      }
      sums[1] += tiles != 0;
      sums[2] += read;
      // No more than one above the most, so that no sum wraps around.
      uint64_t most = kMostTiles + 1;
      sums[3] = uint32_t(sums[3] + tiles < most ? sums[3] + tiles : most);
    }
    uint32_t mine = sums[4], mineCost = sums[0];
    scan(sums, totals);
    uint32_t even = totals[0] / tables.ctas;
    for (uint32_t task = end, next = begin < end ? sums[0] + mineCost : 0;
         task-- > begin;) {
      uint32_t cost = costs[task] += sums[0];
      findSegments(line, task, cost, next, even);
      next = cost;
      if (!split) {
        filled[task] += sums[1];
        reads[task] += sums[2];
      }
    }
    if (threads.index() == 0) {
      // Where nothing costs anything, no segment begins within a task.
      for (uint32_t s = totals[0] ? line.segments : 1; s <= kSegments; ++s)
        state().segmentBegin[s] = {line.tasks, 0};
      state().segmentBegin[0] = {0, 0};
      costs[line.tasks] = totals[0];
      if (!split) {
        filled[line.tasks] = totals[1];
        reads[line.tasks] = totals[2];
      }
      if (!totals[4] && totals[3] > line.maxTiles)
        refuse(kTotalTiles, l, 0, totals[3], line.maxTiles);
    }
    // What looks ahead finds nothing that fits behind the last task.
    for (uint32_t i = threads.index(); i < kLookAhead; i += threads.count())
      costs[line.tasks + 1 + i] = UINT32_MAX;
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

  /// A segment of a line and the CTAs that share it.
  struct Segment {
    Cut begin, end;
    uint32_t firstTrial, ctas;
    uint32_t cost;
  };

  /// Notes the segments that begin within a task: as much of the line's cost
  /// lies before one as is even for the CTAs before it, up to a tile.
  void findSegments(const Line &line, uint32_t task, uint32_t cost,
                    uint32_t next, uint32_t even) {
    for (uint32_t s = 1; s < line.segments; ++s) {
      uint32_t before = even * line.firstPlace[s];
      if (before < cost || before >= next)
        continue;
      uint32_t within = before - cost;
      uint32_t tile = within > line.start
                          ? (within - line.start + kTileUnits / 2) / kTileUnits
                          : 0;
      bool ends = next - cost <= line.start + tile * kTileUnits;
      state().segmentBegin[s] = ends ? Cut{task + 1, 0} : Cut{task, tile};
    }
  }

  Segment segmentOf(const Line &line, const uint32_t *costs, uint32_t s) const {
    Segment segment;
    segment.begin = state().segmentBegin[s];
    segment.end = state().segmentBegin[s + 1];
    segment.firstTrial = line.firstPlace[s];
    segment.ctas = line.firstPlace[s + 1] - segment.firstTrial;
    // What is left of a task costs a call, and so does what was taken of it.
    segment.cost = endOf(line, costs, segment.end) - costs[segment.begin.task] -
                   segment.begin.tile * kTileUnits;
    if (segment.begin.task == segment.end.task &&
        segment.begin.tile == segment.end.tile)
      segment.cost = 0;
    return segment;
  }

  /// Cost of the line before `cut`.
  static uint32_t endOf(const Line &line, const uint32_t *costs, Cut cut) {
    return costs[cut.task] +
           (cut.tile ? line.start + cut.tile * kTileUnits : 0);
  }

  /// The load of candidate `c`. A CTA leaves less than one call of what it may
  /// take, so the last one suffices; no CTA that starts a call does with less
  /// than the first.
  static uint32_t loadOf(const Line &line, const Segment &segment, uint32_t c) {
    uint32_t even = (segment.cost + segment.ctas - 1) / segment.ctas;
    uint32_t call = line.start + line.minTiles * kTileUnits;
    uint32_t least = even > call ? even : call, most = even + call;
    uint32_t step = (most - least + kCandidates - 2) / (kCandidates - 1);
    return least + c * step;
  }

  /// Fills `trial`, an entry in kCandidates, with where each CTA's stretch of a
  /// segment ends, but the last one's, if no CTA exceeds `load`; returns how
  /// many have one, or kTooMany. One step ends a task or a CTA's stretch; steps
  /// depend on each other, so each is kept short and has no branches.
  static uint32_t tryLoad(const Line &line, const uint32_t *costs,
                          const Segment &segment, uint32_t load, Cut *trial) {
    constexpr uint32_t kWhole = ~(kTileUnits - 1); // tiles without the rest
    uint32_t call = line.start + line.minTiles * kTileUnits;
    uint32_t task = segment.begin.task;
    uint32_t last = segment.end.task + (segment.end.tile != 0);
    uint32_t most = endOf(line, costs, segment.end);
    uint32_t taken = segment.begin.tile * kTileUnits; // of the task, in units
    uint32_t room = load; // what the CTA may still take
    if (segment.cost == 0)
      return 0;
    // Where the next tasks begin, and what is left of this one.
    auto begin = [&](uint32_t of) {
      uint32_t cost = costs[of];
      return cost < most ? cost : most;
    };
    uint32_t next = begin(task + 1), second = begin(task + 2);
    uint32_t third = begin(task + 3);
    uint32_t open = next - costs[task] - taken;
    uint32_t q = 0;
    while (task < last && q < segment.ctas) {
      bool fits = open <= room;
      uint32_t part = room >= call ? (room - line.start) & kWhole : 0;
      taken = fits ? 0 : taken + part;
      uint32_t fresh = second - next, rest = open - part;
      room = fits ? room - open : load;
      open = fits ? fresh : rest;
      task += fits;
      trial[q * kCandidates] = {task,
                                taken / kTileUnits}; // until the stretch ends
      q += !fits;
      next = fits ? second : next;
      second = fits ? third : second;
      third = begin(task + 3);
    }
    return task < last ? kTooMany : q + 1;
  }

  /// The least candidate that suffices.
  template <typename Suffices>
  static uint32_t leastCandidate(Suffices suffices) {
    uint32_t low = 0, high = kCandidates - 1; // the last one suffices
    while (low < high) {
      uint32_t middle = (low + high) / 2;
      if (suffices(middle))
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  /// Finds for each segment its best candidate, and the CTAs that it uses.
  void chooseLoads(const Line &line, const uint32_t *costs) {
    State &s = state();
    uint32_t *outcomes = at<uint32_t>(tables.arena.outcomes);
    Cut *trials = at<Cut>(tables.arena.trials);
    auto attempt = [&](const Segment &segment, uint32_t c) {
      return tryLoad(line, costs, segment, loadOf(line, segment, c),
                     trials + segment.firstTrial * kCandidates + c);
    };
    if constexpr (Threads::kAlone) {
      // One thread tries only those that it asks for, the best one last.
      for (uint32_t i = 0; i < line.segments; ++i) {
        Segment segment = segmentOf(line, costs, i);
        s.best[i] = leastCandidate(
            [&](uint32_t c) { return attempt(segment, c) != kTooMany; });
        s.usedCtas[i] = attempt(segment, s.best[i]);
      }
      return;
    }
    for (uint32_t i = threads.index(); i < line.segments * kCandidates;
         i += threads.count())
      outcomes[i] =
          attempt(segmentOf(line, costs, i / kCandidates), i % kCandidates);
    threads.sync();
    // The least one that suffices is that behind one that does not.
    for (uint32_t i = threads.index(); i < line.segments * kCandidates;
         i += threads.count()) {
      uint32_t c = i % kCandidates, used = outcomes[i];
      if (used == kTooMany || (c && outcomes[i - 1] != kTooMany))
        continue;
      s.best[i / kCandidates] = c;
      s.usedCtas[i / kCandidates] = used;
    }
    threads.sync();
  }

  /// Where the stretch at `place` of a line ends, of the loads that were
  /// chosen. Places that a segment does not need are left to the next one.
  Cut stretchEnd(const Line &line, uint32_t place) const {
    const State &s = state();
    for (uint32_t i = 0; i < line.segments; ++i) {
      if (place + 1 == s.usedCtas[i])
        return s.segmentBegin[i + 1];
      if (place < s.usedCtas[i])
        return at<Cut>(
            tables.arena.trials)[(line.firstPlace[i] + place) * kCandidates +
                                 s.best[i]];
      place -= s.usedCtas[i];
    }
    return {line.tasks, 0};
  }

  void cut(uint32_t l) {
    const Line &line = tables.lines[l];
    const ArenaLayout::OfLine &places = tables.arena.lines[l];
    chooseLoads(line, at<uint32_t>(places.costs));
    State &s = state();
    Cut *cuts = at<Cut>(places.cuts);
    for (uint32_t q = threads.index(); q <= tables.ctas; q += threads.count()) {
      Cut cut = q ? stretchEnd(line, q - 1) : Cut{0, 0};
      Cut before = q > 1 ? stretchEnd(line, q - 2) : Cut{0, 0};
      cuts[q] = cut;
      // The next line begins on the CTA behind the last one that has calls.
      if (q && cut.task == line.tasks && before.task < line.tasks &&
          l + 1 < tables.lineCount)
        s.first[l + 1] = (s.first[l] + q) % tables.ctas;
      // Which places have parts of a task that is split.
      if (line.kind != LineKind::split || !q)
        continue;
      if (cut.tile && (before.task < cut.task || !before.tile))
        at<uint32_t>(places.firstPart)[cut.task] = q - 1;
      if (before.tile && before.task < cut.task)
        at<uint32_t>(places.endPart)[before.task] = q;
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
