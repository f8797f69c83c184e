//===- Stream.cpp - Contiguous byte-balanced split over CTAs --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `scheduleStream`. All tasks of a depth lie end to end on a line; CTAs take
// equal stretches of it. The share of a CTA is computed anew from what is left,
// so that the rounding to whole tiles does not add up. Where a cut makes a
// record more, tasks lie in an order in which fewer of them are cut.
//
//===----------------------------------------------------------------------===//

#include "FitTasks.h"

#include <algorithm>
#include <cmath>

using namespace dfrt;
using namespace dfrt::detail;

namespace {

/// Cuts of less than this part of a tile are not made.
constexpr double kSnap = 0.25;
/// With more tasks than so many a lane, cuts make few of the records.
constexpr size_t kManyTasks = 8;
/// With fewer tasks than one in so many lanes that are shorter than a lane's
/// share, there is little to fill lanes with.
constexpr size_t kFewTasks = 8;

class StreamStrategy : public Strategy {
public:
  StreamStrategy() : Strategy("stream", Discipline::fixed) {}

  void begin(const Problem &batch) override {
    problem = &batch;
    first = 0;
  }
  void place(const std::vector<WorkItem> &items, Placement &placement) override;

private:
  bool isWorthFitting(const std::vector<WorkItem> &items, uint32_t lanes) const;

  const Problem *problem = nullptr;
  FitTasks tasks;
  uint32_t first = 0; ///< CTA at which the next line begins
};

class Line {
public:
  Line(FitTasks &tasks, Placement &placement)
      : tasks(tasks), placement(placement), ctas(placement.lanes) {}

  /// Cuts the line of `items`, beginning at CTA `first`; returns the CTA after
  /// the last one that got something.
  uint32_t cut(const std::vector<WorkItem> &items, uint32_t first) {
    double cutCost = 0, tiles = 0;
    for (const WorkItem &item : items) {
      left += cost(item) + item.further;
      tiles += static_cast<double>(item.tiles);
      cutCost += double(item.fixed) * static_cast<double>(item.tiles);
    }
    meanCut = tiles > 0 ? cutCost / tiles : 0;
    uint32_t used = 0;
    for (; used < ctas && (item || !tasks.empty()); ++used)
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
    while (item || !tasks.empty()) {
      if (!item)
        item = &tasks.take(share - load, empty, share);
      const WorkItem &current = *item;
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
      item = nullptr;
      if (!last && load >= share - snap)
        return;
    }
  }

  /// End of the one call of an item without tiles: [0, 1) without a range and
  /// [0, 0) for the piece of an empty range.
  int64_t wholeEnd() const { return item->tile ? 0 : 1; }

  FitTasks &tasks;
  Placement &placement;
  uint32_t ctas;
  double left = 0;                ///< cost of all that is not yet assigned
  double meanCut = 0;             ///< expected cost of one more cut
  const WorkItem *item = nullptr; ///< that has been begun
  int64_t tilesDone = 0;          ///< of it
};

/// Whether a cut makes a record more, wherever it is, and there are tasks
/// enough that fill lanes, and not so many that few are cut anyway.
bool StreamStrategy::isWorthFitting(const std::vector<WorkItem> &items,
                                    uint32_t lanes) const {
  if (items.size() > kManyTasks * lanes)
    return false;
  double share = 0;
  for (const WorkItem &item : items) {
    if (item.whole || item.tile == 0 ||
        problem->program.stages[item.stage].arity != Arity::pieces)
      return false;
    share += static_cast<double>(item.cost());
  }
  share /= lanes;
  size_t shorter = 0;
  for (const WorkItem &item : items)
    shorter += static_cast<double>(item.cost()) <= share;
  return shorter * kFewTasks >= lanes;
}

void StreamStrategy::place(const std::vector<WorkItem> &items,
                           Placement &placement) {
  tasks.begin(items, !isWorthFitting(items, placement.lanes));
  first = Line(tasks, placement).cut(items, first);
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
