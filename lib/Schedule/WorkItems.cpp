//===- WorkItems.cpp - What a solver has to place -------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects work items, cuts runs of tiles into pieces.
//
//===----------------------------------------------------------------------===//

#include "WorkItems.h"

#include <algorithm>
#include <tuple>

using namespace dfrt;
using namespace dfrt::detail;

/// True for a task that has no call at all: an empty range called per tile.
static bool isIdle(const StageGraph &graph, uint32_t stage, uint64_t task) {
  return graph.stage(stage).each && graph.problem.tileCount(stage, task) == 0;
}

double detail::segmentCost(const Problem &problem, uint32_t stage) {
  const CostModel &costs = problem.costs;
  double ctas = problem.topology.ctas;
  double bytes = costs.instructionNs * costs.readRate(ctas);
  const Stage &made = problem.program.stages[stage];
  if (made.arity == Arity::pieces || made.arity == Arity::one)
    bytes += costs.recordWeight * static_cast<double>(made.record.bytes());
  return bytes;
}

std::vector<std::vector<WorkItem>> detail::workItems(const StageGraph &graph,
                                                     const ResidentSets &sets) {
  const Problem &problem = graph.problem;
  std::vector<std::vector<WorkItem>> items;
  std::vector<bool> seen(sets.size(), false);
  for (uint32_t s = 0; s < problem.program.stages.size(); ++s) {
    if (!graph.placedBySolver(s))
      continue;
    const Stage &stage = graph.stage(s);
    if (items.size() < graph.depth(s))
      items.resize(graph.depth(s));
    std::vector<WorkItem> &list = items[graph.depth(s) - 1];
    for (uint64_t t = 0, e = problem.taskCount(s); t < e; ++t) {
      if (isIdle(graph, s, t))
        continue;
      WorkItem item;
      item.stage = s;
      item.task = t;
      item.set = sets.of(s, t);
      if (item.set != kNone) {
        if (seen[item.set])
          continue;
        seen[item.set] = true;
        item.whole = true;
        item.fixed = std::max<uint64_t>(1, sets.cost(item.set));
      } else if (stage.range == kNone) {
        item.fixed = graph.cost(s, t, 1);
      } else {
        item.tiles = problem.tileCount(s, t);
        item.fixed = stage.each ? 0 : graph.fixedCost(s, t);
        item.tile = graph.tileCost(s, t);
        item.further = segmentCost(problem, s);
      }
      item.minTiles = stage.requests.minTiles;
      item.maxTiles = stage.requests.maxTiles;
      list.push_back(item);
    }
  }
  return items;
}

int64_t detail::legalRun(const WorkItem &item, int64_t wish) {
  if (wish < item.minTiles)
    return 0;
  if (!item.maxTiles)
    return wish;
  // c pieces hold c*min to c*max tiles.
  int64_t pieces = (wish + item.maxTiles - 1) / item.maxTiles;
  if (pieces * item.minTiles <= wish)
    return wish;
  return (pieces - 1) * item.maxTiles;
}

void detail::assign(const WorkItem &item, int64_t begin, int64_t end,
                    uint32_t lane, Placement &placement) {
  if (item.set != kNone)
    placement.setLanes[item.set] = lane;
  if (placement.pieces.size() <= item.stage)
    placement.pieces.resize(item.stage + 1);
  std::vector<Assignment> &list = placement.pieces[item.stage];
  int64_t tiles = end - begin;
  if (!item.maxTiles || tiles <= item.maxTiles) {
    list.push_back({item.task, begin, end, lane});
    return;
  }
  // Equal pieces where the lower limit allows them; else full ones and a rest,
  // which only the end of a task may have.
  int64_t count = (tiles + item.maxTiles - 1) / item.maxTiles;
  bool equal = tiles / count >= item.minTiles;
  for (int64_t k = 0; k < count; ++k) {
    int64_t from = equal ? tiles * k / count : k * item.maxTiles;
    int64_t to = equal ? tiles * (k + 1) / count
                       : std::min(tiles, (k + 1) * item.maxTiles);
    list.push_back({item.task, begin + from, begin + to, lane});
  }
}

/// Sorts all assignments by (task, begin) and assigns members of resident sets
/// that the solver did not see.
static void finish(const StageGraph &graph, const ResidentSets &sets,
                   Placement &placement) {
  const Problem &problem = graph.problem;
  uint32_t stages = static_cast<uint32_t>(problem.program.stages.size());
  placement.pieces.resize(stages);
  placement.setLanes.resize(sets.size(), kNone);
  if (sets.any())
    // The solver saw each set once; here all its placed members get its lane.
    for (uint32_t s = 0; s < stages; ++s) {
      if (!graph.placedBySolver(s))
        continue;
      auto &list = placement.pieces[s];
      list.erase(std::remove_if(list.begin(), list.end(),
                                [&](const Assignment &a) {
                                  return sets.of(s, a.task) != kNone;
                                }),
                 list.end());
      for (uint64_t t = 0, e = problem.taskCount(s); t < e; ++t) {
        uint32_t set = sets.of(s, t);
        if (set == kNone || isIdle(graph, s, t))
          continue;
        WorkItem item;
        item.stage = s;
        item.task = t;
        item.set = set;
        item.minTiles = graph.stage(s).requests.minTiles;
        item.maxTiles = graph.stage(s).requests.maxTiles;
        assign(item, 0, problem.tileCount(s, t), placement.setLanes[set],
               placement);
      }
    }
  for (auto &list : placement.pieces)
    std::sort(list.begin(), list.end(),
              [](const Assignment &a, const Assignment &b) {
                return std::tie(a.task, a.begin) < std::tie(b.task, b.begin);
              });
}

Expected<Schedule> detail::solve(const Problem &problem,
                                 const ScheduleOptions &options,
                                 Decisions *decisions, const char *solver,
                                 Discipline discipline,
                                 const PlaceItems &place) {
  if (Status s = check(problem); !s)
    return s;
  StageGraph graph(problem);
  ResidentSets sets(graph);
  Placement placement;
  placement.discipline = discipline;
  if (discipline == Discipline::fixed)
    placement.lanes = problem.topology.ctas;
  placement.setLanes.assign(sets.size(), kNone);
  for (const std::vector<WorkItem> &items : workItems(graph, sets))
    place(items, placement);
  finish(graph, sets, placement);
  return ScheduleBuilder(graph, sets, options, decisions)
      .build(solver, std::move(placement));
}
