//===- CountQueues.h - What each CTA's queue consists of --------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A queue has, line by line, the calls of its stretches: a piece, or a run of
// tiles of one task. A task that lies on one CTA is finalised directly behind
// its piece. Behind all of that come the CTA's shares of tasks that are split:
// a reduce of some slices of all parts, and their finalize. So whatever waits,
// waits for calls that themselves wait for earlier lines only.
//
// All records lie in global memory. One that another CTA reads is published
// where it is: a transfer to itself, with a flag.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_PLANNING_COUNTQUEUES_H
#define DFRT_LIB_PLANNING_COUNTQUEUES_H

#include "CutLines.h"

namespace dfrt {
namespace planning {

/// Units of the global slot arena that a record takes.
inline uint32_t slotUnits(uint64_t bytes) {
  return uint32_t((bytes + kSlotAlignment - 1) / kSlotAlignment);
}

/// What a CTA has of a line.
struct Stretch {
  Cut begin, end;
  uint32_t calls;       ///< pieces, or runs of tiles
  bool continued, open; ///< begins, ends within a task that is split
  /// Calls of a whole task; only of LineKind::split.
  uint32_t whole() const { return calls - published(); }
  /// Pieces that other CTAs read.
  uint32_t published() const {
    return uint32_t(continued) + uint32_t(open) -
           uint32_t(continued && open && calls == 1);
  }
};

/// A CTA's share of a split task.
struct Share {
  uint32_t task;
  uint32_t firstPart, parts; ///< places on the line of the CTAs with a part
  uint32_t sliceBegin, sliceEnd;
};
constexpr uint32_t kMaxShares = 2;

template <typename Threads>
class Counter {
public:
  Counter(const Launch &launch, uint8_t *arena, Threads threads)
      : cutter(launch, arena, threads), tables(launch.tables),
        threads(threads) {}

  /// Cuts the lines and finds where each CTA's entries begin in every section.
  /// False as of `Cutter::run`.
  bool run() {
    if (!cutter.run())
      return false;
    uint32_t *calls = at<uint32_t>(tables.arena.calls);
    uint32_t *operands = at<uint32_t>(tables.arena.operands);
    uint32_t begin, end;
    cutter.shareOf(tables.ctas, begin, end);
    uint32_t sums[kMaxSums] = {}, totals[kMaxSums]; // as of countQueue
    for (uint32_t cta = begin; cta < end; ++cta) {
      calls[cta] = sums[0];
      operands[cta] = sums[1];
      countQueue(cta, sums);
    }
    cutter.scan(sums, totals);
    for (uint32_t cta = begin; cta < end; ++cta) {
      calls[cta] += sums[0];
      operands[cta] += sums[1];
      for (uint32_t l = 0; l < tables.lineCount; ++l) {
        const ArenaLayout::OfLine &places = tables.arena.lines[l];
        at<uint32_t>(places.slots)[cta] += sums[2];
        at<uint32_t>(places.transfers)[cta] += sums[3];
        at<uint32_t>(places.units)[cta] += sums[4];
      }
    }
    if (threads.index() == 0) {
      calls[tables.ctas] = totals[0];
      operands[tables.ctas] = totals[1];
      State &s = cutter.state();
      s.used[0] = tables.ctas + totals[0];
      s.used[1] = totals[1];
      s.used[2] = s.used[3] = totals[2];
      s.used[4] = s.used[5] = totals[3];
      s.units = totals[4];
    }
    threads.sync();
    return true;
  }

  template <typename T>
  T *at(uint32_t offset) const {
    return cutter.template at<T>(offset);
  }

  /// The place of a CTA on a line, and the CTA at a place.
  uint32_t placeOf(uint32_t l, uint32_t cta) const {
    uint32_t first = cutter.state().first[l];
    return cta >= first ? cta - first : cta + tables.ctas - first;
  }
  uint32_t ctaAt(uint32_t l, uint32_t place) const {
    uint32_t cta = cutter.state().first[l] + place;
    return cta >= tables.ctas ? cta - tables.ctas : cta;
  }
  const Cut *cutsOf(uint32_t l) const {
    return at<Cut>(tables.arena.lines[l].cuts);
  }

  Stretch stretchAt(uint32_t l, uint32_t place) const {
    const Cut *cuts = cutsOf(l);
    Stretch stretch;
    stretch.begin = cuts[place];
    stretch.end = cuts[place + 1];
    stretch.continued = stretch.begin.tile != 0;
    stretch.open = stretch.end.tile != 0;
    stretch.calls = cutter.callsBefore(l, stretch.end.task) -
                    cutter.callsBefore(l, stretch.begin.task) + stretch.open;
    return stretch;
  }

  /// Tiles of the line before a cut.
  uint32_t tilesBefore(uint32_t l, Cut cut) const {
    return cutter.tilesBefore(l, cut.task) + cut.tile;
  }

  /// Shares of the CTA at `place`, at most kMaxShares; returns their number.
  uint32_t sharesAt(uint32_t l, uint32_t place, Share *shares) const {
    if (tables.lines[l].kind != LineKind::split)
      return 0;
    Stretch stretch = stretchAt(l, place);
    uint32_t count = 0;
    if (stretch.continued)
      count += findShare(l, place, stretch.begin.task, shares[count]);
    if (stretch.open && !(stretch.continued && stretch.calls == 1))
      count += findShare(l, place, stretch.end.task, shares[count]);
    return count;
  }

  uint64_t shareBytes(const Line &line, const Share &share) const {
    return line.headBytes +
           line.sliceBytes * (share.sliceEnd - share.sliceBegin);
  }

  Cutter<Threads> cutter;

private:
  /// Whether the CTA at `place` has a share of a task of which it has a part.
  bool findShare(uint32_t l, uint32_t place, uint32_t task,
                 Share &share) const {
    const Line &line = tables.lines[l];
    const ArenaLayout::OfLine &places = tables.arena.lines[l];
    uint32_t first = at<uint32_t>(places.firstPart)[task];
    uint32_t last = at<uint32_t>(places.endPart)[task];
    const Cut *cuts = cutsOf(l);
    share.task = task;
    share.firstPart = first;
    share.parts = last - first;
    // A CTA that has a share of the task before leaves this one to others.
    uint32_t holder = first, holders = share.parts;
    if (cuts[first].tile != 0) {
      ++holder;
      --holders;
    }
    if (place < holder)
      return false;
    uint32_t count = holders < line.shares ? holders : line.shares;
    uint32_t self = place - holder;
    // Share i is on holder i * holders / count.
    uint32_t i = self;
    if (count != holders) {
      i = (self * count + holders - 1) / holders;
      if (i >= count || i * holders / count != self)
        return false;
    }
    share.sliceBegin = line.slices * i / count;
    share.sliceEnd = line.slices * (i + 1) / count;
    return true;
  }

  /// Adds what the queue of `cta` has, and says where its records begin.
  /// `sums`: calls, operands, slots, transfers, units of slots.
  void countQueue(uint32_t cta, uint32_t (&sums)[kMaxSums]) {
    for (uint32_t l = 0; l < tables.lineCount; ++l) {
      const Line &line = tables.lines[l];
      const ArenaLayout::OfLine &places = tables.arena.lines[l];
      at<uint32_t>(places.slots)[cta] = sums[2];
      at<uint32_t>(places.transfers)[cta] = sums[3];
      at<uint32_t>(places.units)[cta] = sums[4];
      Stretch stretch = stretchAt(l, placeOf(l, cta));
      if (line.kind == LineKind::split) {
        sums[0] += stretch.calls + stretch.whole();
        sums[1] += stretch.whole();
        sums[2] += stretch.calls;
        sums[3] += stretch.published();
        sums[4] += stretch.calls * slotUnits(line.recordBytes);
        continue;
      }
      sums[0] += stretch.calls;
      if (line.source != DFRT_NONE)
        sums[1] += readsOf(l, stretch);
      if (line.makesRecords) {
        uint32_t tiles =
            tilesBefore(l, stretch.end) - tilesBefore(l, stretch.begin);
        sums[2] += tiles;
        sums[3] += tiles;
        sums[4] += tiles * slotUnits(line.recordBytes);
      }
    }
    for (uint32_t l = 0; l < tables.lineCount; ++l) {
      Share shares[kMaxShares];
      uint32_t count = sharesAt(l, placeOf(l, cta), shares);
      for (uint32_t s = 0; s < count; ++s) {
        sums[0] += 2;
        sums[1] += shares[s].parts + 1;
        sums[2] += 1;
        sums[4] += slotUnits(shareBytes(tables.lines[l], shares[s]));
      }
    }
  }

  /// Records that the calls of a stretch read.
  uint32_t readsOf(uint32_t l, const Stretch &stretch) const {
    const uint32_t *reads = at<uint32_t>(tables.arena.lines[l].reads);
    uint32_t count = reads[stretch.end.task] - reads[stretch.begin.task];
    if (stretch.open)
      count += reads[stretch.end.task + 1] - reads[stretch.end.task];
    return count;
  }

  const Tables &tables;
  Threads threads;
};

} // namespace planning
} // namespace dfrt

#endif // DFRT_LIB_PLANNING_COUNTQUEUES_H
