//===- Stream.cpp - Contiguous byte-balanced split over CTAs --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `scheduleStream`. All tasks of a depth lie end to end on a line; CTAs take
// equal stretches of it. The share of a CTA is computed anew from what is left,
// so that the rounding to whole tiles does not add up.
//
//===----------------------------------------------------------------------===//

#include "WorkItems.h"

#include <algorithm>
#include <cmath>

using namespace dfrt;
using namespace dfrt::detail;

namespace {

/// Cuts of less than this part of a tile are not made.
constexpr double kSnap = 0.25;

class StreamStrategy : public Strategy {
public:
  StreamStrategy() : Strategy("stream", Discipline::fixed) {}

  void begin(const Problem &problem) override { first = 0; }
  void place(const std::vector<WorkItem> &items, Placement &placement) override;

private:
  uint32_t first = 0; ///< CTA at which the next line begins
};

class Line {
public:
  Line(const std::vector<WorkItem> &items, Placement &placement)
      : items(items), placement(placement), ctas(placement.lanes) {}

  /// Cuts the line, beginning at CTA `first`; returns the CTA after the last
  /// one that got something.
  uint32_t cut(uint32_t first) {
    double cutCost = 0, tiles = 0;
    for (const WorkItem &item : items) {
      left += cost(item) + item.further;
      tiles += static_cast<double>(item.tiles);
      cutCost += double(item.fixed) * static_cast<double>(item.tiles);
    }
    meanCut = tiles > 0 ? cutCost / tiles : 0;
    uint32_t used = 0;
    for (; used < ctas && item < items.size(); ++used)
      fill((first + used) % ctas, ctas - used);
    return (first + used) % ctas;
  }

private:
  static double cost(const WorkItem &item) {
    return static_cast<double>(item.cost());
  }

  /// Gives CTA `cta` its share, `remaining` CTAs (it included) being left.
  void fill(uint32_t cta, uint32_t remaining) {
    double share = (left + meanCut * (remaining - 1)) / remaining;
    double load = 0;
    bool empty = true, last = remaining == 1;
    while (item < items.size()) {
      const WorkItem &current = items[item];
      double tile = static_cast<double>(current.tile);
      double start =
          static_cast<double>(current.fixed) + (empty ? 0 : current.further);
      int64_t open = current.tiles - tilesDone;
      double all = start + tile * static_cast<double>(open);
      double snap = kSnap * tile;
      bool takeAll = last || load + all <= share + snap;
      if (!takeAll && (current.whole || current.tiles <= 1)) {
        // Indivisible: over the line by at most as much as it would be under,
        // and a small one by half a tile.
        double over = load + all - share;
        if (!empty && (over > share - load || (tile > 0 && over > tile / 2)))
          return;
        takeAll = true;
      }
      if (!takeAll) {
        double room = std::floor((share - load - start) / tile + 0.5);
        int64_t wish = open;
        if (room < static_cast<double>(open))
          wish = room < 1 ? 0 : static_cast<int64_t>(room);
        int64_t take = legalRun(current, wish);
        if (take == 0 && !empty)
          return;
        if (take == 0)
          take = std::min(open, current.minTiles);
        if (take < open) {
          assign(current, tilesDone, tilesDone + take, cta, placement);
          // The rest starts another segment, first on its CTA.
          left -= tile * static_cast<double>(take);
          if (tilesDone == 0)
            left -= current.further;
          tilesDone += take;
          return;
        }
      }
      assign(current, tilesDone, current.tiles ? current.tiles : wholeEnd(),
             cta, placement);
      left -=
          static_cast<double>(current.fixed) + tile * static_cast<double>(open);
      if (tilesDone == 0)
        left -= current.further;
      load += all;
      empty = false;
      tilesDone = 0;
      ++item;
      if (!last && load >= share - snap)
        return;
    }
  }

  /// End of the one call of an item without tiles: [0, 1) without a range and
  /// [0, 0) for the piece of an empty range.
  int64_t wholeEnd() const { return items[item].tile ? 0 : 1; }

  const std::vector<WorkItem> &items;
  Placement &placement;
  uint32_t ctas;
  double left = 0;    ///< cost of all that is not yet assigned
  double meanCut = 0; ///< expected cost of one more cut
  size_t item = 0;
  int64_t tilesDone = 0; ///< of items[item]
};

void StreamStrategy::place(const std::vector<WorkItem> &items,
                           Placement &placement) {
  first = Line(items, placement).cut(first);
}

} // namespace

std::unique_ptr<Strategy> detail::streamStrategy() {
  return std::make_unique<StreamStrategy>();
}

Expected<Schedule> dfrt::scheduleStream(const Problem &problem,
                                        const ScheduleOptions &options,
                                        Decisions *decisions) {
  return solve(problem, options, decisions, streamStrategy());
}
