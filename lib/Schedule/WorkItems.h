//===- WorkItems.h - What a solver has to place -----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tasks of all stages that a solver places, by depth, with their costs in
// integers; and the rules for the size of pieces.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_SCHEDULE_WORKITEMS_H
#define DATAFLOW_LIB_SCHEDULE_WORKITEMS_H

#include "ScheduleBuilder.h"

#include <memory>

namespace dfrt {
namespace detail {

/// One task of one stage, or a resident set of tasks.
struct WorkItem {
  uint32_t stage = 0;
  uint64_t task = 0;
  int64_t first = 0;  ///< its first tile, of a task that was cut already
  int64_t tiles = 0;  ///< 0: one call that cannot be cut
  uint64_t fixed = 0; ///< cost of each of its segments
  uint64_t tile = 0;  ///< cost of a tile
  /// What a segment costs beyond `fixed` that is not the first of its CTA.
  double further = 0;
  int64_t minTiles = 1, maxTiles = 0;
  bool whole = false; ///< may not be spread over lanes
  uint32_t set = kNone;

  uint64_t cost() const { return fixed + tile * static_cast<uint64_t>(tiles); }
};

/// What a further segment of `stage` costs a CTA beyond its inputs, in bytes
/// read: taking an instruction, and the record that it makes.
double segmentCost(const Problem &problem, uint32_t stage);

/// Items by depth (index 0 is depth 1), each in stage and task order. Tasks of
/// a resident set appear once, as its first member. With `batchInvariant`, each
/// piece of a task is an item of its own.
class WorkItems {
public:
  ArrayView<std::vector<WorkItem>> collect(const StageGraph &graph,
                                           const ResidentSets &sets,
                                           bool batchInvariant);

private:
  static void addPieces(const WorkItem &item, std::vector<WorkItem> &list);

  std::vector<std::vector<WorkItem>> items;
  std::vector<uint8_t> seen; ///< [resident sets]
};

/// Most tiles, at most `wish`, that an inner piece run of `item` may have so
/// that it can be cut into pieces of minTiles to maxTiles; 0 if there are none.
int64_t legalRun(const WorkItem &item, int64_t wish);

/// Appends tiles [begin, end) of `item` to the placement, in pieces of at most
/// maxTiles.
void assign(const WorkItem &item, int64_t begin, int64_t end, uint32_t lane,
            Placement &placement);

/// What tells solvers apart: how the items of a depth are assigned to lanes.
/// An object may keep tables between batches.
class Strategy {
public:
  Strategy(const char *name, Discipline discipline)
      : name(name), discipline(discipline) {}
  virtual ~Strategy() = default;

  /// Called before the first depth of a batch.
  virtual void begin(const Problem &problem) = 0;
  /// Called for each depth in turn. A static placement begins with a lane for
  /// every CTA, a ticket list with none.
  virtual void place(const std::vector<WorkItem> &items,
                     Placement &placement) = 0;

  const char *const name;
  const Discipline discipline;
};

/// What all solvers share: from a problem to instructions. Keeps its tables
/// between batches of one program.
class BatchSolver {
public:
  explicit BatchSolver(const Problem &problem)
      : problem(problem), graph(problem), sets(graph), builder(graph, sets) {}

  /// Fails when a request or option cannot be met. The problem must be one that
  /// `check` accepts.
  Status run(Strategy &strategy, const ScheduleOptions &options,
             Decisions *decisions, Schedule &schedule, Flow &flow);

private:
  void finish();

  const Problem &problem;
  StageGraph graph;
  ResidentSets sets;
  WorkItems items;
  Placement placement;
  ScheduleBuilder builder;
};

/// Checks the problem and runs `strategy` on it once.
Expected<Schedule> solve(const Problem &problem, const ScheduleOptions &options,
                         Decisions *decisions,
                         std::unique_ptr<Strategy> strategy);

/// The strategies; each is in the file of its solver.
std::unique_ptr<Strategy> streamStrategy();
std::unique_ptr<Strategy> longestFirstStrategy();
std::unique_ptr<Strategy> ticketStrategy();

} // namespace detail
} // namespace dfrt

#endif // DATAFLOW_LIB_SCHEDULE_WORKITEMS_H
