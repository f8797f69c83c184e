//===- ReadBatch.cpp - This batch's inputs in a problem -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates the extents, lengths, offsets, weights and keys of a program.
//
//===----------------------------------------------------------------------===//

#include "ReadBatch.h"
#include "Table.h"

#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <numeric>

using namespace dfrt;
using namespace dfrt::detail;

std::string BatchReader::Subject::text() const {
  std::string result = textOf(what, name, "'");
  if (owner)
    result += textOf(" of domain '", *owner, "'");
  return result;
}

Status BatchReader::read(ArrayView<PlanInput> inputs) {
  DFRT_TRY(bindInputs(inputs));
  problem.tasks.resize(program.domains.size());
  problem.ranges.resize(program.ranges.size());
  problem.keys.resize(program.stages.size());
  for (size_t d = 0; d < program.domains.size(); ++d)
    DFRT_TRY(domain(program.domains[d], problem.tasks[d]));
  for (size_t r = 0; r < program.ranges.size(); ++r)
    DFRT_TRY(range(program.ranges[r], problem.ranges[r]));
  for (uint32_t i = 0; i < program.stages.size(); ++i)
    if (program.stages[i].kind == StageKind::reshard &&
        program.stages[i].reshard == ReshardKind::rekey)
      DFRT_TRY(keys(i));
  return Status::success();
}

Status BatchReader::bindInputs(ArrayView<PlanInput> inputs) {
  bound.assign(program.arguments.size(), nullptr);
  for (const PlanInput &input : inputs) {
    size_t a = 0;
    while (a < bound.size() && program.arguments[a].name != input.argument)
      ++a;
    if (a == bound.size())
      return invalidArgument("input '", input.argument,
                             "' is no argument of program '", program.name,
                             "'");
    if (bound[a])
      return invalidArgument("input '", input.argument, "' is given twice");
    bound[a] = &input;
    const std::vector<int64_t> &shape = program.arguments[a].shape;
    if (input.shape.size() != shape.size())
      return invalidArgument("input '", input.argument, "' has rank ",
                             input.shape.size(), ", expected ", shape.size());
    uint64_t count = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (input.shape[d] < 0 || (shape[d] >= 0 && shape[d] != input.shape[d]))
        return invalidArgument(
            "input '", input.argument, "' has extent ", input.shape[d],
            " in dimension ", d, ", expected ",
            shape[d] < 0 ? std::string("0 or more") : std::to_string(shape[d]));
      if (__builtin_mul_overflow(count, static_cast<uint64_t>(input.shape[d]),
                                 &count))
        return invalidArgument("input '", input.argument,
                               "' has more than 2^64 elements");
    }
    if (!input.values.empty() && input.values.size() != count)
      return invalidArgument("input '", input.argument, "' has ",
                             input.values.size(), " values, expected ", count);
  }
  return Status::success();
}

/// The values of an integer argument.
Status BatchReader::valuesOf(const Subject &what, uint32_t argument,
                             const PlanInput *&input) const {
  input = bound[argument];
  const std::string &name = program.arguments[argument].name;
  if (!input)
    return invalidArgument("input '", name, "' is missing: ", what.text(),
                           " needs its values");
  bool empty = std::find(input->shape.begin(), input->shape.end(), 0) !=
               input->shape.end();
  if (input->values.empty() && !empty)
    return invalidArgument("input '", name, "' has a shape only: ", what.text(),
                           " needs its values");
  return Status::success();
}

/// A value that is the same for all tasks.
Status BatchReader::evaluate(const Subject &what, const PlanValue &v,
                             int64_t &result) const {
  if (v.kind == PlanValue::Kind::constant) {
    result = v.constant;
    return Status::success();
  }
  if (v.kind != PlanValue::Kind::dimension)
    return invalidArgument(what.text(), " has an unknown kind");
  const Argument &argument = program.arguments[v.argument];
  result = argument.shape[v.dimension];
  if (result >= 0)
    return Status::success();
  if (!bound[v.argument])
    return invalidArgument("input '", argument.name,
                           "' is missing: ", what.text(), " needs its shape");
  result = bound[v.argument]->shape[v.dimension];
  return Status::success();
}

/// The value of every task of `set`.
Status BatchReader::evaluate(const Subject &what, const PlanValue &v,
                             const TaskSet &set,
                             std::vector<int64_t> &results) const {
  setSize(results, set.tasks);
  if (set.tasks == 0)
    return Status::success();
  if (v.kind != PlanValue::Kind::element) {
    int64_t value = 0;
    DFRT_TRY(evaluate(what, v, value));
    std::fill(results.begin(), results.end(), value);
    return Status::success();
  }
  const PlanInput *input = nullptr;
  DFRT_TRY(valuesOf(what, v.argument, input));
  for (uint64_t t = 0; t < set.tasks; ++t) {
    ArrayView<int64_t> point = set.at(t);
    int64_t index = 0;
    for (size_t d = 0; d < v.axes.size(); ++d) {
      int64_t coordinate = point[v.axes[d]];
      if (coordinate < 0 || coordinate >= input->shape[d])
        return invalidArgument("input '", input->argument, "' has extent ",
                               input->shape[d], " in dimension ", d, ", but ",
                               what.text(), " reads element ", coordinate);
      index = index * input->shape[d] + coordinate;
    }
    results[t] = input->values[static_cast<size_t>(index)];
  }
  return Status::success();
}

Status BatchReader::domain(const Domain &d, TaskSet &set) {
  uint64_t product = 1;
  set.extents.clear();
  for (const Axis &axis : d.axes) {
    int64_t extent = 0;
    Subject what{"extent of axis '", axis.name, &d.name};
    DFRT_TRY(evaluate(what, axis.extent, extent));
    if (extent < 0)
      return invalidArgument(what.text(), " is ", extent);
    set.extents.push_back(extent);
    if (d.coordinates == kNone && extent != 0 &&
        product > kMaxTasks / static_cast<uint64_t>(extent))
      product = kMaxTasks + 1;
    else
      product *= static_cast<uint64_t>(extent);
  }
  if (d.coordinates == kNone) {
    if (product > kMaxTasks)
      return invalidArgument("domain '", d.name, "' has more than ", kMaxTasks,
                             " tasks");
    enumerate(set, product);
  } else {
    DFRT_TRY(listed(d, set));
  }
  return weights(d, set);
}

/// All points of a product domain.
void BatchReader::enumerate(TaskSet &set, uint64_t tasks) {
  size_t axes = set.extents.size();
  set.tasks = tasks;
  setSize(set.coordinates, tasks * axes);
  point.assign(axes, 0);
  for (uint64_t t = 0; t < tasks; ++t) {
    std::copy(point.begin(), point.end(),
              set.coordinates.begin() + static_cast<int64_t>(t * axes));
    for (size_t a = axes; a-- > 0;) {
      if (++point[a] < set.extents[a])
        break;
      point[a] = 0;
    }
  }
}

Status BatchReader::listed(const Domain &d, TaskSet &set) {
  Subject what{"coordinates of domain '", d.name};
  const PlanInput *input = nullptr;
  if (Status s = valuesOf(what, d.coordinates, input); !s)
    return s;
  size_t axes = d.axes.size();
  if (input->shape[1] != static_cast<int64_t>(axes))
    return invalidArgument("input '", input->argument, "' has ",
                           input->shape[1], " columns, expected ", axes);
  set.tasks = static_cast<uint64_t>(input->shape[0]);
  if (set.tasks > kMaxTasks)
    return invalidArgument("domain '", d.name, "' has ", set.tasks,
                           " tasks, expected at most ", kMaxTasks);
  set.coordinates = input->values;
  for (uint64_t t = 0; t < set.tasks; ++t)
    for (size_t a = 0; a < axes; ++a) {
      int64_t value = set.at(t)[a];
      if (value < 0 || value >= set.extents[a])
        return invalidArgument("input '", input->argument, "' gives task ", t,
                               " of domain '", d.name, "' coordinate ", value,
                               " along '", d.axes[a].name, "', expected 0 to ",
                               set.extents[a] - 1);
    }
  taskIndex.read(set, true);
  uint64_t twin = taskIndex.duplicate();
  if (twin != UINT64_MAX)
    return invalidArgument("input '", input->argument, "' lists task ", twin,
                           " of domain '", d.name, "' twice");
  return Status::success();
}

Status BatchReader::weights(const Domain &d, TaskSet &set) {
  fill(set.weights, set.tasks, uint64_t(1));
  if (d.weights == kNone)
    return Status::success();
  const PlanInput *input = nullptr;
  if (Status s =
          valuesOf(Subject{"weights of domain '", d.name}, d.weights, input);
      !s)
    return s;
  if (static_cast<uint64_t>(input->shape[0]) != set.tasks)
    return invalidArgument("input '", input->argument, "' has ",
                           input->shape[0], " weights, but domain '", d.name,
                           "' has ", set.tasks, " tasks");
  for (uint64_t t = 0; t < set.tasks; ++t) {
    int64_t weight = input->values[t];
    if (weight < 0 || weight > int64_t(1) << 31)
      return invalidArgument("input '", input->argument, "' gives task ", t,
                             " weight ", weight, ", expected 0 to 2^31");
    set.weights[t] = static_cast<uint64_t>(weight);
  }
  return Status::success();
}

Status BatchReader::range(const Range &r, RangeSet &result) {
  const TaskSet &set = problem.tasks[r.domain];
  result.tile = r.tile;
  Subject length{"length of range '", r.name};
  Subject offset{"offset of range '", r.name};
  DFRT_TRY(evaluate(length, r.length, set, result.lengths));
  DFRT_TRY(evaluate(offset, r.offset, set, result.offsets));
  for (uint64_t t = 0; t < set.tasks; ++t) {
    if (result.lengths[t] < 0 || result.lengths[t] > kMaxRangeExtent)
      return invalidArgument(length.text(), " is ", result.lengths[t],
                             " for task ", t, ", expected 0 to ",
                             kMaxRangeExtent);
    if (result.offsets[t] < 0 || result.offsets[t] > kMaxRangeExtent)
      return invalidArgument(offset.text(), " is ", result.offsets[t],
                             " for task ", t, ", expected 0 to ",
                             kMaxRangeExtent);
  }
  return Status::success();
}

Status BatchReader::keys(uint32_t index) {
  const Stage &stage = program.stages[index];
  const Stage &producer = program.stages[stage.inputs[0].stage];
  const Rekey &rekey = stage.rekey;
  const Domain &to = program.domains[stage.domain];
  const Domain &from = program.domains[producer.domain];
  const TaskSet &source = problem.tasks[producer.domain];
  const TaskSet &target = problem.tasks[stage.domain];
  Subject what{"reshard '", stage.name};
  const PlanInput *input = nullptr; // without an index there is none
  if (rekey.argument != kNone)
    DFRT_TRY(valuesOf(what, rekey.argument, input));
  int64_t rows = 1;
  if (rekey.rows) {
    rows = producer.record.fields[0].shape[0];
    if (input->shape.back() != rows)
      return invalidArgument("input '", input->argument, "' has ",
                             input->shape.back(), " rows, but '", producer.name,
                             "' has ", rows);
  }
  // Which source axis gives each target axis.
  axis.assign(to.axes.size(), kNone);
  for (uint32_t a = 0; a < to.axes.size(); ++a)
    for (uint32_t b = 0; b < from.axes.size(); ++b)
      if ((!input || a != rekey.axis) && to.axes[a].name == from.axes[b].name)
        axis[a] = b;
  taskIndex.read(target, to.coordinates != kNone);
  bool tiled = producer.arity == Arity::tiles;
  found.clear();
  point.resize(to.axes.size());
  for (uint64_t t = 0; t < source.tasks; ++t) {
    ArrayView<int64_t> at = source.at(t);
    int64_t base = 0;
    for (size_t d = 0; d < rekey.axes.size(); ++d) {
      int64_t coordinate = at[rekey.axes[d]];
      if (coordinate >= input->shape[d])
        return invalidArgument("input '", input->argument, "' has extent ",
                               input->shape[d], " in dimension ", d, ", but ",
                               what.text(), " reads element ", coordinate);
      base = base * input->shape[d] + coordinate;
    }
    int64_t tiles = tiled ? problem.tileCount(stage.inputs[0].stage, t) : 1;
    for (uint32_t a = 0; a < point.size(); ++a)
      if (axis[a] != kNone)
        point[a] = at[axis[a]];
    for (int64_t tile = 0; tile < tiles; ++tile)
      for (int64_t row = 0; row < rows; ++row) {
        int64_t key = 0;
        if (input) {
          key = input->values[static_cast<size_t>(base * rows + row)];
          if (key < 0)
            continue;
          point[rekey.axis] = key;
        }
        uint64_t task = taskIndex.find(point);
        if (task == UINT64_MAX && !input)
          continue;
        if (task == UINT64_MAX)
          return invalidArgument("input '", input->argument,
                                 "' sends a record of task ", t, " of '",
                                 producer.name, "' to ", key, " along '",
                                 to.axes[rekey.axis].name, "', but domain '",
                                 to.name, "' has no such task");
        found.push_back(
            {task, {t, tile, rekey.rows ? static_cast<uint32_t>(row) : kNone}});
      }
  }
  KeySet &set = problem.keys[index];
  fill(set.begin, target.tasks + 1, uint64_t(0));
  for (const auto &entry : found)
    ++set.begin[entry.first + 1];
  std::partial_sum(set.begin.begin(), set.begin.end(), set.begin.begin());
  setSize(set.sources, found.size());
  reserve(next, set.begin.size());
  next.assign(set.begin.begin(), set.begin.end() - 1);
  for (const auto &entry : found)
    set.sources[next[entry.first]++] = entry.second;
  return Status::success();
}
