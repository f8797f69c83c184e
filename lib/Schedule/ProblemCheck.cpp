//===- ProblemCheck.cpp - Tests of a problem ------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `check(Problem)`: sizes agree, values are in range, and every record that a
// task reads has a producer.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/Problem.h"

#include "ReadBatch.h"
#include "dataflow/Schedule/Message.h"

#include <tuple>

using namespace dfrt;
using namespace dfrt::detail;

static Status checkTasks(const Domain &domain, const TaskSet &set) {
  size_t axes = domain.axes.size();
  if (set.tasks > kMaxTasks)
    return invalidArgument("domain '", domain.name, "' has ", set.tasks,
                           " tasks, expected at most ", kMaxTasks);
  if (set.extents.size() != axes || set.coordinates.size() != set.tasks * axes)
    return invalidArgument("domain '", domain.name, "' has ",
                           set.extents.size(), " extents and ",
                           set.coordinates.size(), " coordinates for ",
                           set.tasks, " tasks of ", axes, " axes");
  if (set.weights.size() != set.tasks)
    return invalidArgument("domain '", domain.name, "' has ",
                           set.weights.size(), " weights for ", set.tasks,
                           " tasks");
  for (uint64_t t = 0; t < set.tasks; ++t)
    for (size_t a = 0; a < axes; ++a)
      if (set.at(t)[a] < 0 || set.at(t)[a] >= set.extents[a])
        return invalidArgument("task ", t, " of domain '", domain.name,
                               "' has coordinate ", set.at(t)[a], " along '",
                               domain.axes[a].name, "', expected 0 to ",
                               set.extents[a] - 1);
  if (domain.coordinates != kNone) {
    uint64_t twin = TaskIndex(set, true).duplicate();
    if (twin != UINT64_MAX)
      return invalidArgument("task ", twin, " of domain '", domain.name,
                             "' is listed twice");
    return Status::success();
  }
  TaskIndex index(set, false);
  for (uint64_t t = 0; t < set.tasks; ++t)
    if (index.find(set.at(t)) != t)
      return invalidArgument("task ", t, " of domain '", domain.name,
                             "' is not in row-major order");
  return Status::success();
}

static Status checkRange(const Range &range, const RangeSet &set,
                         uint64_t tasks) {
  if (set.tile != range.tile)
    return invalidArgument("range '", range.name, "' has tile ", set.tile,
                           ", expected ", range.tile);
  if (range.tile > kMaxRangeExtent)
    return invalidArgument("range '", range.name, "' has tile ", range.tile,
                           ", expected at most ", kMaxRangeExtent);
  if (set.lengths.size() != tasks || set.offsets.size() != tasks)
    return invalidArgument("range '", range.name, "' has ", set.lengths.size(),
                           " lengths and ", set.offsets.size(), " offsets for ",
                           tasks, " tasks");
  for (uint64_t t = 0; t < tasks; ++t)
    if (set.lengths[t] < 0 || set.lengths[t] > kMaxRangeExtent ||
        set.offsets[t] < 0 || set.offsets[t] > kMaxRangeExtent)
      return invalidArgument("range '", range.name, "' of task ", t,
                             " has length ", set.lengths[t], " and offset ",
                             set.offsets[t]);
  return Status::success();
}

/// Order and range of the sources of a rekeying reshard.
static Status checkKeys(const Problem &problem, uint32_t index) {
  const Stage &stage = problem.program.stages[index];
  const KeySet &set = problem.keys[index];
  bool rekey =
      stage.kind == StageKind::reshard && stage.reshard == ReshardKind::rekey;
  if (!rekey) {
    if (!set.begin.empty() || !set.sources.empty())
      return invalidArgument("stage '", stage.name, "' has keys");
    return Status::success();
  }
  uint64_t targets = problem.taskCount(index);
  if (set.begin.size() != targets + 1 || set.begin.front() != 0 ||
      set.begin.back() != set.sources.size())
    return invalidArgument("keys of reshard '", stage.name, "' do not fit its ",
                           targets, " tasks");
  uint32_t source = stage.inputs[0].stage;
  const Stage &producer = problem.program.stages[source];
  uint64_t tasks = problem.taskCount(source);
  int64_t rows =
      stage.rekey.rows ? producer.record.fields[0].shape[0] : int64_t(0);
  for (uint64_t t = 0; t < targets; ++t) {
    if (set.begin[t] > set.begin[t + 1])
      return invalidArgument("keys of reshard '", stage.name,
                             "' do not ascend at task ", t);
    for (uint64_t k = set.begin[t]; k < set.begin[t + 1]; ++k) {
      const KeyedSource &s = set.sources[k];
      bool rowFits = stage.rekey.rows ? int64_t(s.row) < rows : s.row == kNone;
      int64_t tiles = 1;
      if (s.task < tasks && producer.arity == Arity::tiles)
        tiles = problem.tileCount(source, s.task);
      if (s.task >= tasks || s.tile < 0 || s.tile >= tiles || !rowFits)
        return invalidArgument("key ", k, " of reshard '", stage.name,
                               "' names task ", s.task, ", tile ", s.tile,
                               ", row ", s.row, ", which does not exist");
      if (k > set.begin[t]) {
        const KeyedSource &p = set.sources[k - 1];
        if (std::tie(p.task, p.tile, p.row) >= std::tie(s.task, s.tile, s.row))
          return invalidArgument("keys of reshard '", stage.name,
                                 "' do not ascend at key ", k);
      }
    }
  }
  return Status::success();
}

/// Records and instructions have 32-bit numbers: adds the pieces that `index`
/// has at least to `calls`.
static Status countCalls(const Problem &problem, uint32_t index,
                         uint64_t &calls) {
  const Stage &stage = problem.program.stages[index];
  int64_t piece = stage.requests.maxTiles;
  for (uint64_t t = 0, e = problem.taskCount(index); t < e; ++t) {
    uint64_t tiles = static_cast<uint64_t>(problem.tileCount(index, t));
    uint64_t count = 1; // also of a reshard, whose tiles are its source's
    if (stage.each)
      count = tiles;
    else if (piece)
      count = std::max<uint64_t>(1, tiles / static_cast<uint64_t>(piece));
    calls += count;
    if (calls > kMaxRecords)
      return Status(StatusCode::resourceExhausted,
                    textOf("stage '", stage.name, "' brings the records to ",
                           calls, ", expected at most ", kMaxRecords));
  }
  return Status::success();
}

/// Every record that a task reads has a producer.
Status BatchChecker::checkProducers(const Problem &problem, uint32_t index) {
  const Stage &stage = problem.program.stages[index];
  if (stage.kind == StageKind::reshard || stage.kind == StageKind::reduce)
    return Status::success(); // same domain, or keys
  const TaskSet &set = problem.tasks[stage.domain];
  for (const StageInput &in : stage.inputs) {
    const Stage &producer = problem.program.stages[in.stage];
    if (producer.domain == stage.domain)
      continue;
    const Domain &domain = problem.program.domains[producer.domain];
    taskIndex.read(problem.tasks[producer.domain], domain.coordinates != kNone);
    point.resize(in.axes.size());
    for (uint64_t t = 0; t < set.tasks; ++t) {
      for (size_t a = 0; a < point.size(); ++a)
        point[a] = set.at(t)[in.axes[a]];
      if (taskIndex.find(point) == UINT64_MAX)
        return invalidArgument("task ", t, " of stage '", stage.name,
                               "' reads a record of '", producer.name,
                               "' that domain '", domain.name,
                               "' does not contain");
    }
  }
  return Status::success();
}

Status BatchChecker::run(const Problem &problem) {
  uint64_t calls = 0;
  for (uint32_t i = 0; i < problem.program.stages.size(); ++i) {
    DFRT_TRY(countCalls(problem, i, calls));
    DFRT_TRY(checkProducers(problem, i));
  }
  return Status::success();
}

Status dfrt::check(const Problem &problem) {
  const Program &program = problem.program;
  if (Status s = check(program); !s)
    return s;
  if (Status s = check(problem.topology); !s)
    return s;
  if (Status s = check(problem.costs); !s)
    return s;
  if (problem.tasks.size() != program.domains.size() ||
      problem.ranges.size() != program.ranges.size() ||
      problem.keys.size() != program.stages.size())
    return invalidArgument("problem has ", problem.tasks.size(), " task sets, ",
                           problem.ranges.size(), " ranges and ",
                           problem.keys.size(), " key sets, expected ",
                           program.domains.size(), ", ", program.ranges.size(),
                           " and ", program.stages.size());
  for (uint32_t d = 0; d < program.domains.size(); ++d)
    if (Status s = checkTasks(program.domains[d], problem.tasks[d]); !s)
      return s;
  for (uint32_t r = 0; r < program.ranges.size(); ++r)
    if (Status s = checkRange(program.ranges[r], problem.ranges[r],
                              problem.tasks[program.ranges[r].domain].tasks);
        !s)
      return s;
  for (uint32_t i = 0; i < program.stages.size(); ++i)
    DFRT_TRY(checkKeys(problem, i));
  return BatchChecker().run(problem);
}
