//===- Problem.h - A program together with this batch's inputs --*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `instantiate` evaluates the extents, lengths, offsets, weights and keys of a
// `Program` on the plan-time inputs of one batch. The result is all that
// solvers, verifier and simulator look at; `check` must accept it before any of
// them runs.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_SCHEDULE_PROBLEM_H
#define DATAFLOW_SCHEDULE_PROBLEM_H

#include "dataflow/Schedule/ArrayView.h"
#include "dataflow/Schedule/Program.h"
#include "dataflow/Schedule/Topology.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dfrt {

/// Shape and, where the program reads them at plan time, values of one
/// argument.
struct PlanInput {
  std::string argument;
  std::vector<int64_t> shape; ///< elements
  std::vector<int64_t>
      values; ///< row-major; empty when only the shape is known
};

/// The tasks of one domain.
struct TaskSet {
  uint64_t tasks = 0;
  std::vector<int64_t> extents;     ///< of the axes
  std::vector<int64_t> coordinates; ///< [tasks, axes]
  std::vector<uint64_t> weights;    ///< [tasks]

  ArrayView<int64_t> at(uint64_t task) const {
    return {coordinates.data() + task * extents.size(), extents.size()};
  }
};

/// Largest length, offset and tile of a range: sums of them fit 64 bits.
inline constexpr int64_t kMaxRangeExtent = int64_t(1) << 60;
/// Most tasks of a domain, and most records of a batch. A planner's data for
/// them is some GB; beyond, running out of memory would be the answer.
inline constexpr uint64_t kMaxTasks = uint64_t(1) << 24;
inline constexpr uint64_t kMaxRecords = uint64_t(1) << 24;

/// Lengths of one range, in range elements.
struct RangeSet {
  int64_t tile = 1;
  std::vector<int64_t> lengths; ///< [tasks], 0 to kMaxRangeExtent
  std::vector<int64_t> offsets; ///< [tasks], 0 to kMaxRangeExtent

  /// Tiles of a task; 0 for an empty range.
  int64_t tiles(uint64_t task) const {
    return (lengths[task] + tile - 1) / tile;
  }
};

/// One record (or row of it) that a rekeying reshard delivers.
struct KeyedSource {
  uint64_t task = 0; ///< in the source stage's domain
  int64_t tile = 0;  ///< 0 unless the source has arity tiles
  uint32_t row = kNone;
};

/// What every target task of a rekeying reshard receives, in order.
struct KeySet {
  std::vector<uint64_t> begin; ///< [target tasks + 1], into sources
  std::vector<KeyedSource> sources;
};

/// A program and one batch. Owns everything; plain data.
struct Problem {
  Program program;
  Topology topology;
  CostModel costs;
  std::vector<TaskSet> tasks;   ///< [domains]
  std::vector<RangeSet> ranges; ///< [ranges]
  std::vector<KeySet> keys;     ///< [stages]; empty but for rekeying reshards

  /// Tasks of a stage's domain.
  uint64_t taskCount(uint32_t stage) const {
    return tasks[program.stages[stage].domain].tasks;
  }
  /// Tiles that the map, finalize or tiles-channel `stage` has for `task`; 1
  /// where the stage has no range.
  int64_t tileCount(uint32_t stage, uint64_t task) const;
  /// The task of the producer of input `input` whose record `task` reads, or
  /// UINT64_MAX when the producer's (listed) domain does not contain it.
  uint64_t producerTask(uint32_t stage, uint32_t input, uint64_t task) const;
  /// The narrowest `bounded` variant of `stage` that holds what `task` has, or
  /// 0: the generic one.
  uint32_t boundedVariant(uint32_t stage, uint64_t task) const;
  /// What calls for `task` cost: of that variant, or of the stage.
  const Cost &costOf(uint32_t stage, uint64_t task) const;
  /// Global bytes that one call of `stage` on `tiles` tiles of `task` moves.
  uint64_t callBytes(uint32_t stage, uint64_t task, int64_t tiles) const;
  /// Global bytes of the whole batch: what a plan's time is held against.
  uint64_t totalBytes() const;
};

/// Evaluates `program` on `inputs`. Fails, naming argument, limit and value,
/// when an input is missing, has the wrong shape or a negative length, when a
/// coordinate or key is out of range, when a domain has more than kMaxTasks,
/// or when two listed tasks have equal coordinates.
Expected<Problem> instantiate(const Program &program,
                              ArrayView<PlanInput> inputs,
                              const Topology &topology,
                              const CostModel &costs = CostModel());

/// Tests a problem that was put together by hand: sizes agree, values in range.
Status check(const Problem &problem);

} // namespace dfrt

#endif // DATAFLOW_SCHEDULE_PROBLEM_H
