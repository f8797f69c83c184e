//===- StageGraph.h - The stages as solvers see them ------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reshards have no instructions: they only say which records a consumer reads.
// `StageGraph` looks through them. It also finds the groups of separable stages
// that can share one task slice by slice, the tasks that a residency request
// ties to one CTA, and what a call costs in bytes.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_SCHEDULE_STAGEGRAPH_H
#define DATAFLOW_LIB_SCHEDULE_STAGEGRAPH_H

#include "TaskIndex.h"

namespace dfrt {
namespace detail {

/// An input channel of a stage that has instructions, reshards looked through.
struct Edge {
  uint32_t stage = kNone;   ///< consumer
  uint32_t input = 0;       ///< its input
  uint32_t source = kNone;  ///< who made the records
  Arity arity = Arity::one; ///< of the channel, as the consumer sees it
  uint32_t keys = kNone;    ///< rekeying reshard on the way, if any
  Transport transport = Transport::automatic; ///< request nearest the consumer
  bool resident = false; ///< requested by source or a reshard on the way
};

/// Of a program, and after `readBatch` of the problem's batch. Tables are kept
/// from one batch to the next.
class StageGraph {
public:
  explicit StageGraph(const Problem &problem);
  void readBatch();

  const Problem &problem;

  /// Inputs of a stage; none for a reshard.
  const std::vector<Edge> &inputs(uint32_t stage) const {
    return inputEdges[stage];
  }
  /// Edges on which the records of a stage are read.
  const std::vector<Edge> &readers(uint32_t source) const {
    return readerEdges[source];
  }
  const Stage &stage(uint32_t index) const {
    return problem.program.stages[index];
  }
  uint32_t size() const { return static_cast<uint32_t>(inputEdges.size()); }
  bool isReshard(uint32_t index) const {
    return stage(index).kind == StageKind::reshard;
  }
  /// Slices of a whole call of `stage`.
  uint32_t slices(uint32_t stage) const { return sliceCounts[stage]; }
  /// The first variant that computes slices, or 0.
  uint32_t slicedVariant(uint32_t stage) const { return slicedVariants[stage]; }
  /// True if a variant is for pieces of some size only.
  bool hasSizedVariants(uint32_t stage) const { return sized[stage]; }
  /// As Problem::tileCount.
  int64_t tileCount(uint32_t stage, uint64_t task) const {
    uint32_t range = tileRanges[stage];
    return range == kNone ? 1 : rangeTiles[range][task];
  }
  /// The task whose record `task` reads on an edge that is not keyed.
  uint64_t sourceTask(const Edge &edge, uint64_t task) const {
    const std::vector<uint32_t> &map = sourceTasks[edge.stage][edge.input];
    return map.empty() ? task : map[task];
  }
  /// The group of separable stages that `stage` belongs to, or kNone. All
  /// stages of a group have one domain, no range and the same slices, and all
  /// readers of a member's records are members.
  uint32_t group(uint32_t stage) const { return groups[stage]; }
  uint32_t groupCount() const { return numGroups; }

  /// The per-tile `each` stages whose tiles meet the tiles of an input: the
  /// edge of that input, else null.
  const Edge *tileEdge(uint32_t stage) const;

  /// Stages that a solver places itself; the others follow their inputs.
  bool placedBySolver(uint32_t stage) const { return placed[stage]; }
  /// Number of such stages on the longest way to (and with) `stage`.
  uint32_t depth(uint32_t stage) const { return depths[stage]; }

  /// Cost of a call in bytes: global traffic or, where it takes longer,
  /// arithmetic. Never 0.
  uint64_t fixedCost(uint32_t stage, uint64_t task) const {
    return weight(stage, task) * unitCost(stage, task).fixed;
  }
  uint64_t tileCost(uint32_t stage, uint64_t task) const {
    return std::max<uint64_t>(1,
                              weight(stage, task) * unitCost(stage, task).tile);
  }
  uint64_t cost(uint32_t stage, uint64_t task, int64_t tiles) const;
  /// Of a call, and of a tile, of the first task by the generic handler.
  uint64_t genericFixedCost(uint32_t stage) const {
    return weight(stage, 0) * unitCosts[firstCost[stage]].fixed;
  }
  uint64_t genericTileCost(uint32_t stage) const {
    return std::max<uint64_t>(1, weight(stage, 0) *
                                     unitCosts[firstCost[stage]].tile);
  }

private:
  void resolveInputs();
  void findGroups();
  void countSlices();
  void readVariants();
  void countTiles();
  void findSources();
  void findCosts();
  void findPlaced();
  uint64_t weight(uint32_t index, uint64_t task) const {
    return problem.tasks[stage(index).domain].weights[task];
  }

  std::vector<std::vector<Edge>> inputEdges, readerEdges;
  std::vector<uint32_t> groups, sliceCounts, tileRanges; ///< [stages]
  std::vector<uint32_t> slicedVariants;                  ///< [stages]
  std::vector<uint8_t> sized;                            ///< [stages]
  uint32_t numGroups = 0;

  // Of the batch.
  std::vector<std::vector<int64_t>> rangeTiles; ///< [ranges][tasks]
  /// [stages][inputs][tasks]; empty within one domain.
  std::vector<std::vector<std::vector<uint32_t>>> sourceTasks;
  /// Of a task with weight 1: of a call, and of a tile with, where each tile is
  /// a call, its call.
  struct UnitCost {
    uint64_t fixed, tile;
  };
  const UnitCost &unitCost(uint32_t index, uint64_t task) const {
    uint32_t variant =
        stage(index).bound == kNone ? 0 : problem.boundedVariant(index, task);
    return unitCosts[firstCost[index] + variant];
  }
  std::vector<UnitCost> unitCosts; ///< by variant, stage after stage
  std::vector<size_t> firstCost;   ///< [stages]
  std::vector<uint32_t> depths;
  std::vector<uint8_t> placed;
  TaskIndex taskIndex;
  std::vector<int64_t> point;
};

/// Tasks that must run on one CTA because a stage requests `resident` or
/// transport local: the connected components over (stage, task).
class ResidentSets {
public:
  explicit ResidentSets(const StageGraph &graph);
  void readBatch();

  bool any() const { return count != 0; }
  uint32_t size() const { return count; }
  /// Set of a task, or kNone when it is on its own.
  uint32_t of(uint32_t stage, uint64_t task) const {
    return count ? ids[first[stage] + task] : kNone;
  }
  /// Cost of all tasks of a set.
  uint64_t cost(uint32_t set) const { return costs[set]; }

private:
  const StageGraph &graph;
  bool requested = false;      ///< by any stage
  std::vector<uint64_t> first; ///< [stages], into ids
  std::vector<uint32_t> ids, parent, number;
  std::vector<uint8_t> member;
  std::vector<uint64_t> costs;
  uint32_t count = 0;
};

} // namespace detail
} // namespace dfrt

#endif // DATAFLOW_LIB_SCHEDULE_STAGEGRAPH_H
