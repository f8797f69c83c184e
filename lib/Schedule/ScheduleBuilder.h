//===- ScheduleBuilder.h - From placement to instructions -------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all solvers have in common. A solver decides on which lane each piece of
// the stages that it places runs; `ScheduleBuilder` makes all instructions,
// operands and slots from that: stages that follow their inputs, combination of
// split tasks, and the order of the queues. A lane is a CTA or, in a ticket
// queue, one draw.
//
// Order. Each instruction has a level: the number of lane changes on the
// longest way to it. A queue is sorted by level, and within a level
// topological. An operand from another lane comes from a strictly lower level,
// so a lane that blocks in order can never take part in a cycle.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_SCHEDULE_SCHEDULEBUILDER_H
#define DATAFLOW_LIB_SCHEDULE_SCHEDULEBUILDER_H

#include "Flow.h"
#include "StageGraph.h"
#include "Table.h"

#include "dataflow/Schedule/Schedulers.h"

namespace dfrt {
namespace detail {

/// Tiles [begin, end) of a task on a lane.
struct Assignment {
  uint64_t task = 0;
  int64_t begin = 0, end = 1;
  uint32_t lane = 0;
};

/// What a solver decides.
struct Placement {
  Discipline discipline = Discipline::fixed;
  uint32_t lanes = 0;
  /// [stages]; ordered by (task, begin). Only stages `placedBySolver`.
  std::vector<std::vector<Assignment>> pieces;
  /// [resident sets]; kNone where none of the pieces above is a member.
  std::vector<uint32_t> setLanes;
};

/// Keeps its tables from one batch to the next.
class ScheduleBuilder {
public:
  ScheduleBuilder(const StageGraph &graph, const ResidentSets &sets)
      : graph(graph), sets(sets), problem(graph.problem) {}

  /// Writes instructions, queues and unplaced slots into `schedule`, which may
  /// hold another one, and its flow into `flow`. Adds lanes to `placement`.
  Status build(const char *solver, Placement &placement,
               const ScheduleOptions &options, Decisions *decisions,
               Schedule &schedule, Flow &flow);

private:
  struct Part {
    uint32_t slot, row;
  };
  struct SlotInfo {
    uint32_t stage, sliceBegin, sliceEnd;
    uint32_t writer, lane, level; ///< instruction, and where that is
    uint32_t reads;               ///< number of operands
    uint32_t number;              ///< in the schedule; set when it is written
  };
  /// Place of an instruction. Its readers on the same lane and level are a list
  /// of edges, the last first; `pending` counts such edges to it.
  struct Node {
    uint32_t lane, level, pending, firstEdge;
  };
  struct LocalEdge {
    uint32_t reader, next;
  };
  /// How a task of a separable group is shared among lanes.
  struct Shares {
    uint32_t first = 0, count = 0; ///< into shareLanes; count 0: undecided
  };

  void buildCalls(uint32_t stage);
  void followTiles(uint32_t stage, const Edge &edge);
  void followInputs(uint32_t stage);
  Status reduceTask(uint32_t stage, uint64_t task);
  Status combineParts(uint32_t stage, uint64_t task, uint32_t lane);
  uint32_t *reducesByLane();
  void keepIdlest(Table<uint32_t> &lanes);
  void orderReduces(uint32_t stage);
  void findIdleLanes(uint32_t stage);
  void addIdleLanes(uint32_t stage, Table<uint32_t> &lanes, size_t wanted);
  void scatterParts(uint32_t stage, uint64_t task, const Shares &shares);
  uint32_t foldParts(uint32_t stage, uint64_t task, uint32_t lane,
                     const ArrayView<Part> &operands);
  void gatherParts(uint32_t stage, uint64_t task);
  void gatherKeyed(const Edge &edge, uint64_t task, Table<Part> &list) const;
  void joinRuns(uint32_t stage, uint64_t task);

  uint32_t followLane(uint32_t stage, uint64_t task);
  uint32_t ownerLane();
  uint32_t homeLane(uint32_t stage, uint64_t task);
  uint32_t newLane() { return placement->lanes++; }
  bool ticket() const { return placement->discipline == Discipline::ticket; }
  /// The lane of the task's resident set: a reference to assign, or null.
  uint32_t *setLane(uint32_t stage, uint64_t task);
  uint32_t laneOf(uint32_t slot) const { return slots[slot].lane; }

  void gatherOperands(uint32_t stage, uint64_t task, int64_t begin, int64_t end,
                      uint32_t sliceBegin);
  void addCall(uint32_t stage, uint64_t task, int64_t begin, int64_t end,
               uint32_t sliceBegin, uint32_t sliceEnd, uint32_t lane);
  /// Returns the slot of its first output; the others follow it.
  uint32_t addInstruction(uint32_t stage, uint64_t task, int64_t begin,
                          int64_t end, uint32_t sliceBegin, uint32_t sliceEnd,
                          uint32_t lane, const ArrayView<Part> &operands);
  uint32_t variantFor(uint32_t stage, uint64_t task, int64_t begin, int64_t end,
                      bool sliced) const;

  void clear();
  void sortBy(uint32_t levels);
  void orderQueues();
  void orderLevel(uint32_t *queue, size_t count);
  Status orderDraws();
  void assemble(const char *solver, Schedule &schedule, Flow &flow);
  void addOperands(Schedule &schedule, Flow &flow);
  void explain(const char *solver);

  const StageGraph &graph;
  const ResidentSets &sets;
  const Problem &problem;
  ScheduleOptions options;
  Decisions *decisions = nullptr;
  Placement *placement = nullptr;

  Table<Instruction> instructions;
  Table<Node> nodes; ///< [instructions]
  Table<LocalEdge> localEdges;
  Table<Part> operands;
  /// Every slot is the output of an instruction, whose `firstOutput` is the
  /// number of its first one here.
  Table<SlotInfo> slots;
  uint32_t levelCount = 0;

  /// Record tables: slot of (stage, task) for arity one (the first share for a
  /// shared task), slots of tiles, and slots of pieces, with their prefixes.
  std::vector<std::vector<uint32_t>> recordSlots;
  std::vector<std::vector<uint64_t>> recordBegin;
  std::vector<std::vector<Shares>> shares; ///< [groups][tasks]
  Table<uint32_t> shareLanes;

  Table<Part> parts;                    ///< of the task being reduced
  std::vector<uint64_t> laneBytes;      ///< [lanes], 0 between decisions
  Table<Part> gathered;                 ///< operands of one call
  Table<uint64_t> reduceOrder;          ///< see orderReduces
  Table<uint32_t> idleLanes, busyLanes; ///< see findIdleLanes
  uint32_t idleFor = kNone;             ///< reduce that `idleLanes` are for
  size_t numPairs = 0; ///< tasks with two lanes that are still to come
  Table<uint32_t> candidateLanes;   ///< of the decision being made
  std::vector<uint32_t> reduceLoad; ///< [lanes], reduces so far
  // Order of the instructions: lane by lane, the lanes in the order of a list.
  Table<uint32_t> laneOrder, laneBegin, laneList;
  Table<uint32_t> placeBegin;            ///< [lanes][levels]
  Table<uint32_t> ordered, stack, roots; ///< of orderLevel
  /// Of a draw; see orderDraws.
  struct DrawKey {
    uint32_t level, stage;
    uint64_t cost;
    uint32_t lane;
  };
  Table<DrawKey> drawKeys;
  Table<uint32_t> drawRank; ///< [lanes]

  uint64_t numScattered = 0, numFolded = 0, numTrees = 0, numElided = 0;
  uint32_t mostParts = 0;
};

} // namespace detail
} // namespace dfrt

#endif // DATAFLOW_LIB_SCHEDULE_SCHEDULEBUILDER_H
