//===- LongestFirst.cpp - Whole tasks on the least loaded CTA -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `scheduleLongestFirst`: the classical list schedule, at most 4/3 of the best
// placement of whole tasks.
//
//===----------------------------------------------------------------------===//

#include "WorkItems.h"

#include <algorithm>
#include <functional>
#include <tuple>

using namespace dfrt;
using namespace dfrt::detail;

namespace {

/// Tiles of an item that go to one CTA.
struct Unit {
  const WorkItem *item;
  int64_t begin, end;
  uint64_t cost;
};

void addUnits(const WorkItem &item, std::vector<Unit> &units) {
  if (item.tiles == 0 || item.maxTiles == 0) {
    int64_t end = item.tiles || item.tile ? item.tiles : 1;
    units.push_back({&item, 0, end, item.cost()});
    return;
  }
  for (int64_t begin = 0; begin < item.tiles; begin += item.maxTiles) {
    int64_t end = std::min(item.tiles, begin + item.maxTiles);
    units.push_back(
        {&item, begin, end,
         item.fixed + item.tile * static_cast<uint64_t>(end - begin)});
  }
}

class LongestFirstStrategy : public Strategy {
public:
  LongestFirstStrategy() : Strategy("longest-first", Discipline::fixed) {}

  void begin(const Problem &problem) override {
    loads.clear();
    for (uint32_t cta = 0; cta < problem.topology.ctas; ++cta)
      loads.push_back({0, cta}); // equal loads in order are a heap
  }

  void place(const std::vector<WorkItem> &items,
             Placement &placement) override {
    units.clear();
    for (const WorkItem &item : items)
      addUnits(item, units);
    // Units were added in item order, which breaks ties.
    std::sort(units.begin(), units.end(), [](const Unit &a, const Unit &b) {
      return std::tie(b.cost, a.item, a.begin) <
             std::tie(a.cost, b.item, b.begin);
    });
    for (const Unit &unit : units) {
      std::pop_heap(loads.begin(), loads.end(), std::greater<Load>());
      assign(*unit.item, unit.begin, unit.end, loads.back().second, placement);
      loads.back().first += unit.cost;
      std::push_heap(loads.begin(), loads.end(), std::greater<Load>());
    }
  }

private:
  using Load = std::pair<uint64_t, uint32_t>;
  std::vector<Load> loads; ///< heap, the least first
  std::vector<Unit> units;
};

} // namespace

std::unique_ptr<Strategy> detail::longestFirstStrategy() {
  return std::make_unique<LongestFirstStrategy>();
}

Expected<Schedule> dfrt::scheduleLongestFirst(const Problem &problem,
                                              const ScheduleOptions &options,
                                              Decisions *decisions) {
  return solve(problem, options, decisions, longestFirstStrategy());
}
