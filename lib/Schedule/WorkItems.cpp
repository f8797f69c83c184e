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

#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace dfrt;
using namespace dfrt::detail;

/// A piece that is cut alike in every batch costs at least this many times what
/// starting it costs.
static constexpr double kInvariantStart = 4;
/// And its share of a long task: size^2 = this * start * length.
static constexpr double kInvariantShare = 1.5;

/// True for a task that has no call at all: an empty range called per tile.
static bool isIdle(const StageGraph &graph, uint32_t stage, uint64_t task) {
  return graph.stage(stage).each && graph.tileCount(stage, task) == 0;
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

ArrayView<std::vector<WorkItem>> WorkItems::collect(const StageGraph &graph,
                                                    const ResidentSets &sets,
                                                    bool batchInvariant) {
  const Problem &problem = graph.problem;
  for (std::vector<WorkItem> &list : items)
    list.clear();
  size_t depths = 0;
  fill(seen, sets.size(), uint8_t(0));
  for (uint32_t s = 0; s < problem.program.stages.size(); ++s) {
    if (!graph.placedBySolver(s))
      continue;
    const Stage &stage = graph.stage(s);
    if (items.size() < graph.depth(s))
      items.resize(graph.depth(s));
    depths = std::max<size_t>(depths, graph.depth(s));
    std::vector<WorkItem> &list = items[graph.depth(s) - 1];
    double further = stage.range == kNone ? 0 : segmentCost(problem, s);
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
        seen[item.set] = 1;
        item.whole = true;
        item.fixed = std::max<uint64_t>(1, sets.cost(item.set));
      } else if (stage.range == kNone) {
        item.fixed = graph.cost(s, t, 1);
      } else {
        item.tiles = graph.tileCount(s, t);
        item.fixed = stage.each ? 0 : graph.fixedCost(s, t);
        item.tile = graph.tileCost(s, t);
        item.further = further;
      }
      item.minTiles = stage.requests.minTiles;
      item.maxTiles = stage.requests.maxTiles;
      if (batchInvariant)
        addPieces(item, list);
      else
        list.push_back(item);
    }
  }
  return {items.data(), depths};
}

/// Cuts `tiles` tiles into pieces of at most `most`: equal ones where they have
/// at least `least`; else full ones and a rest, which only the end of a task
/// may have.
template <typename Visit>
static void visitPieces(int64_t tiles, int64_t most, int64_t least,
                        Visit visit) {
  int64_t count = (tiles + most - 1) / most;
  bool equal = tiles / count >= least;
  for (int64_t k = 0; k < count; ++k)
    visit(equal ? tiles * k / count : k * most,
          equal ? tiles * (k + 1) / count : std::min(tiles, (k + 1) * most));
}

/// Appends the pieces of a task as they are in every batch. Their number rises
/// with the root of the task's length: so both the piece that ends last and
/// what all pieces cost beyond their tiles are a small share of the task.
void WorkItems::addPieces(const WorkItem &item, std::vector<WorkItem> &list) {
  if (item.tiles < 2 || item.whole) {
    list.push_back(item);
    return;
  }
  double start = (static_cast<double>(item.fixed) + item.further) /
                 static_cast<double>(item.tile);
  double tiles = static_cast<double>(item.tiles);
  double size = std::ceil(std::max(kInvariantStart * start,
                                   std::sqrt(kInvariantShare * start * tiles)));
  int64_t most = size < tiles ? std::max<int64_t>(static_cast<int64_t>(size), 1)
                              : item.tiles;
  most = std::max(most, item.minTiles);
  if (item.maxTiles)
    most = std::min(most, item.maxTiles);
  visitPieces(item.tiles, most, item.minTiles, [&](int64_t begin, int64_t end) {
    WorkItem piece = item;
    piece.first = begin;
    piece.tiles = end - begin;
    piece.whole = true;
    list.push_back(piece);
  });
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
  begin += item.first;
  end += item.first;
  if (item.set != kNone)
    placement.setLanes[item.set] = lane;
  std::vector<Assignment> &list = placement.pieces[item.stage];
  int64_t tiles = end - begin;
  if (!item.maxTiles || tiles <= item.maxTiles) {
    list.push_back({item.task, begin, end, lane});
    return;
  }
  visitPieces(tiles, item.maxTiles, item.minTiles,
              [&](int64_t from, int64_t to) {
                list.push_back({item.task, begin + from, begin + to, lane});
              });
}

/// Sorts all assignments by (task, begin) and assigns members of resident sets
/// that the solver did not see.
void BatchSolver::finish() {
  uint32_t stages = graph.size();
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
        assign(item, 0, graph.tileCount(s, t), placement.setLanes[set],
               placement);
      }
    }
  auto before = [](const Assignment &a, const Assignment &b) {
    return std::tie(a.task, a.begin) < std::tie(b.task, b.begin);
  };
  for (auto &list : placement.pieces)
    if (!std::is_sorted(list.begin(), list.end(), before))
      std::sort(list.begin(), list.end(), before);
}

Status BatchSolver::run(Strategy &strategy, const ScheduleOptions &options,
                        Decisions *decisions, Schedule &schedule, Flow &flow) {
  graph.readBatch();
  sets.readBatch();
  placement.discipline = strategy.discipline;
  placement.lanes =
      strategy.discipline == Discipline::fixed ? problem.topology.ctas : 0;
  placement.pieces.resize(graph.size());
  for (std::vector<Assignment> &list : placement.pieces)
    list.clear();
  fill(placement.setLanes, sets.size(), kNone);
  strategy.begin(problem);
  for (const std::vector<WorkItem> &list :
       items.collect(graph, sets, options.batchInvariant))
    strategy.place(list, placement);
  finish();
  return builder.build(strategy.name, placement, options, decisions, schedule,
                       flow);
}

Expected<Schedule> detail::solve(const Problem &problem,
                                 const ScheduleOptions &options,
                                 Decisions *decisions,
                                 std::unique_ptr<Strategy> strategy) {
  DFRT_TRY(check(problem));
  BatchSolver solver(problem);
  Schedule schedule;
  Flow flow;
  DFRT_TRY(solver.run(*strategy, options, decisions, schedule, flow));
  return schedule;
}
