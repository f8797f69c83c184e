//===- Problem.cpp - A program together with this batch's inputs ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `instantiate` and the questions that a problem answers. The tests of a
// problem are in ProblemCheck.cpp.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/Problem.h"

#include "TaskIndex.h"
#include "dataflow/Schedule/Message.h"

#include <numeric>

using namespace dfrt;
using detail::TaskIndex;

int64_t Problem::tileCount(uint32_t stage, uint64_t task) const {
  while (program.stages[stage].kind == StageKind::reshard &&
         program.stages[stage].arity == Arity::tiles)
    stage = program.stages[stage].inputs[0].stage;
  uint32_t range = program.stages[stage].range;
  return range == kNone ? 1 : ranges[range].tiles(task);
}

uint64_t Problem::producerTask(uint32_t stage, uint32_t input,
                               uint64_t task) const {
  const Stage &consumer = program.stages[stage];
  const StageInput &in = consumer.inputs[input];
  uint32_t domain = program.stages[in.stage].domain;
  // Axis names are unique, so within one domain the map is the identity.
  if (domain == consumer.domain)
    return task;
  ArrayView<int64_t> point = tasks[consumer.domain].at(task);
  const TaskSet &set = tasks[domain];
  if (program.domains[domain].coordinates == kNone) {
    uint64_t result = 0;
    for (size_t a = 0; a < in.axes.size(); ++a) {
      int64_t value = point[in.axes[a]];
      if (value >= set.extents[a])
        return UINT64_MAX;
      result = result * static_cast<uint64_t>(set.extents[a]) +
               static_cast<uint64_t>(value);
    }
    return result;
  }
  for (uint64_t t = 0; t < set.tasks; ++t) {
    ArrayView<int64_t> candidate = set.at(t);
    bool same = true;
    for (size_t a = 0; same && a < in.axes.size(); ++a)
      same = candidate[a] == point[in.axes[a]];
    if (same)
      return t;
  }
  return UINT64_MAX;
}

uint64_t Problem::callBytes(uint32_t stage, uint64_t task,
                            int64_t tiles) const {
  const Stage &s = program.stages[stage];
  uint64_t count = static_cast<uint64_t>(tiles);
  uint64_t calls = s.each ? count : 1;
  uint64_t perTile = s.range == kNone ? 0 : s.cost.tileBytes;
  uint64_t weight = tasks[s.domain].weights[task];
  return weight * (calls * s.cost.fixedBytes + count * perTile);
}

uint64_t Problem::totalBytes() const {
  uint64_t total = 0;
  for (uint32_t s = 0; s < program.stages.size(); ++s) {
    if (program.stages[s].kind == StageKind::reshard)
      continue;
    for (uint64_t t = 0, e = taskCount(s); t < e; ++t)
      total += callBytes(s, t, tileCount(s, t));
  }
  return total;
}

namespace {

/// Evaluates one program on one set of inputs.
class Instantiator {
public:
  Instantiator(Problem &problem, ArrayView<PlanInput> inputs)
      : problem(problem), program(problem.program), inputs(inputs) {}

  Status run() {
    if (Status s = bindInputs(); !s)
      return s;
    for (const Domain &d : program.domains)
      if (Status s = domain(d); !s)
        return s;
    for (const Range &r : program.ranges)
      if (Status s = range(r); !s)
        return s;
    problem.keys.resize(program.stages.size());
    for (uint32_t i = 0; i < program.stages.size(); ++i)
      if (program.stages[i].kind == StageKind::reshard &&
          program.stages[i].reshard == ReshardKind::rekey)
        if (Status s = keys(i); !s)
          return s;
    return Status::success();
  }

private:
  Problem &problem;
  const Program &program;
  ArrayView<PlanInput> inputs;
  std::vector<const PlanInput *> bound; ///< [arguments]

  Status bindInputs() {
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
          return invalidArgument("input '", input.argument, "' has extent ",
                                 input.shape[d], " in dimension ", d,
                                 ", expected ",
                                 shape[d] < 0 ? std::string("0 or more")
                                              : std::to_string(shape[d]));
        if (__builtin_mul_overflow(count, static_cast<uint64_t>(input.shape[d]),
                                   &count))
          return invalidArgument("input '", input.argument,
                                 "' has more than 2^64 elements");
      }
      if (!input.values.empty() && input.values.size() != count)
        return invalidArgument("input '", input.argument, "' has ",
                               input.values.size(), " values, expected ",
                               count);
    }
    return Status::success();
  }

  /// The values of an integer argument.
  Status valuesOf(const std::string &what, uint32_t argument,
                  const PlanInput *&input) {
    input = bound[argument];
    const std::string &name = program.arguments[argument].name;
    if (!input)
      return invalidArgument("input '", name, "' is missing: ", what,
                             " needs its values");
    bool empty = std::find(input->shape.begin(), input->shape.end(), 0) !=
                 input->shape.end();
    if (input->values.empty() && !empty)
      return invalidArgument("input '", name, "' has a shape only: ", what,
                             " needs its values");
    return Status::success();
  }

  Status evaluate(const std::string &what, const PlanValue &v,
                  ArrayView<int64_t> point, int64_t &result) {
    switch (v.kind) {
    case PlanValue::Kind::constant:
      result = v.constant;
      return Status::success();
    case PlanValue::Kind::dimension: {
      const Argument &argument = program.arguments[v.argument];
      result = argument.shape[v.dimension];
      if (result >= 0)
        return Status::success();
      if (!bound[v.argument])
        return invalidArgument("input '", argument.name, "' is missing: ", what,
                               " needs its shape");
      result = bound[v.argument]->shape[v.dimension];
      return Status::success();
    }
    case PlanValue::Kind::element: {
      const PlanInput *input = nullptr;
      if (Status s = valuesOf(what, v.argument, input); !s)
        return s;
      int64_t index = 0;
      for (size_t d = 0; d < v.axes.size(); ++d) {
        int64_t coordinate = point[v.axes[d]];
        if (coordinate < 0 || coordinate >= input->shape[d])
          return invalidArgument("input '", input->argument, "' has extent ",
                                 input->shape[d], " in dimension ", d, ", but ",
                                 what, " reads element ", coordinate);
        index = index * input->shape[d] + coordinate;
      }
      result = input->values[static_cast<size_t>(index)];
      return Status::success();
    }
    }
    return invalidArgument(what, " has an unknown kind");
  }

  Status domain(const Domain &d) {
    TaskSet set;
    uint64_t product = 1;
    for (const Axis &axis : d.axes) {
      int64_t extent = 0;
      std::string what =
          textOf("extent of axis '", axis.name, "' of domain '", d.name, "'");
      if (Status s = evaluate(what, axis.extent, {}, extent); !s)
        return s;
      if (extent < 0)
        return invalidArgument(what, " is ", extent);
      set.extents.push_back(extent);
      if (d.coordinates == kNone && extent != 0 &&
          product > kMaxTasks / static_cast<uint64_t>(extent))
        product = kMaxTasks + 1;
      else
        product *= static_cast<uint64_t>(extent);
    }
    if (d.coordinates == kNone) {
      if (product > kMaxTasks)
        return invalidArgument("domain '", d.name, "' has more than ",
                               kMaxTasks, " tasks");
      set.tasks = product;
      size_t axes = d.axes.size();
      set.coordinates.resize(set.tasks * axes);
      std::vector<int64_t> point(axes, 0);
      for (uint64_t t = 0; t < set.tasks; ++t) {
        std::copy(point.begin(), point.end(),
                  set.coordinates.begin() + static_cast<int64_t>(t * axes));
        for (size_t a = axes; a-- > 0;) {
          if (++point[a] < set.extents[a])
            break;
          point[a] = 0;
        }
      }
    } else if (Status s = listed(d, set); !s) {
      return s;
    }
    if (Status s = weights(d, set); !s)
      return s;
    problem.tasks.push_back(std::move(set));
    return Status::success();
  }

  Status listed(const Domain &d, TaskSet &set) {
    std::string what = textOf("coordinates of domain '", d.name, "'");
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
                                 " along '", d.axes[a].name,
                                 "', expected 0 to ", set.extents[a] - 1);
      }
    uint64_t twin = TaskIndex(set, true).duplicate();
    if (twin != UINT64_MAX)
      return invalidArgument("input '", input->argument, "' lists task ", twin,
                             " of domain '", d.name, "' twice");
    return Status::success();
  }

  Status weights(const Domain &d, TaskSet &set) {
    set.weights.assign(set.tasks, 1);
    if (d.weights == kNone)
      return Status::success();
    const PlanInput *input = nullptr;
    if (Status s = valuesOf(textOf("weights of domain '", d.name, "'"),
                            d.weights, input);
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

  Status range(const Range &r) {
    const TaskSet &set = problem.tasks[r.domain];
    RangeSet result;
    result.tile = r.tile;
    result.lengths.resize(set.tasks);
    result.offsets.resize(set.tasks);
    std::string length = textOf("length of range '", r.name, "'");
    std::string offset = textOf("offset of range '", r.name, "'");
    for (uint64_t t = 0; t < set.tasks; ++t) {
      if (Status s = evaluate(length, r.length, set.at(t), result.lengths[t]);
          !s)
        return s;
      if (Status s = evaluate(offset, r.offset, set.at(t), result.offsets[t]);
          !s)
        return s;
      if (result.lengths[t] < 0 || result.lengths[t] > kMaxRangeExtent)
        return invalidArgument(length, " is ", result.lengths[t], " for task ",
                               t, ", expected 0 to ", kMaxRangeExtent);
      if (result.offsets[t] < 0 || result.offsets[t] > kMaxRangeExtent)
        return invalidArgument(offset, " is ", result.offsets[t], " for task ",
                               t, ", expected 0 to ", kMaxRangeExtent);
    }
    problem.ranges.push_back(std::move(result));
    return Status::success();
  }

  Status keys(uint32_t index) {
    const Stage &stage = program.stages[index];
    const Stage &producer = program.stages[stage.inputs[0].stage];
    const Rekey &rekey = stage.rekey;
    const Domain &to = program.domains[stage.domain];
    const Domain &from = program.domains[producer.domain];
    const TaskSet &source = problem.tasks[producer.domain];
    const TaskSet &target = problem.tasks[stage.domain];
    std::string what = textOf("reshard '", stage.name, "'");
    const PlanInput *input = nullptr;
    if (Status s = valuesOf(what, rekey.argument, input); !s)
      return s;
    int64_t rows = 1;
    if (rekey.rows) {
      rows = producer.record.fields[0].shape[0];
      if (input->shape.back() != rows)
        return invalidArgument("input '", input->argument, "' has ",
                               input->shape.back(), " rows, but '",
                               producer.name, "' has ", rows);
    }
    // Which source axis gives each target axis.
    std::vector<uint32_t> axis(to.axes.size(), kNone);
    for (uint32_t a = 0; a < to.axes.size(); ++a)
      for (uint32_t b = 0; b < from.axes.size(); ++b)
        if (a != rekey.axis && to.axes[a].name == from.axes[b].name)
          axis[a] = b;
    TaskIndex targets(target, to.coordinates != kNone);
    bool tiled = producer.arity == Arity::tiles;
    std::vector<std::pair<uint64_t, KeyedSource>> found;
    std::vector<int64_t> point(to.axes.size());
    for (uint64_t t = 0; t < source.tasks; ++t) {
      ArrayView<int64_t> at = source.at(t);
      int64_t base = 0;
      for (size_t d = 0; d < rekey.axes.size(); ++d) {
        int64_t coordinate = at[rekey.axes[d]];
        if (coordinate >= input->shape[d])
          return invalidArgument("input '", input->argument, "' has extent ",
                                 input->shape[d], " in dimension ", d, ", but ",
                                 what, " reads element ", coordinate);
        base = base * input->shape[d] + coordinate;
      }
      int64_t tiles = tiled ? problem.tileCount(stage.inputs[0].stage, t) : 1;
      for (uint32_t a = 0; a < point.size(); ++a)
        if (axis[a] != kNone)
          point[a] = at[axis[a]];
      for (int64_t tile = 0; tile < tiles; ++tile)
        for (int64_t row = 0; row < rows; ++row) {
          int64_t key = input->values[static_cast<size_t>(base * rows + row)];
          if (key < 0)
            continue;
          point[rekey.axis] = key;
          uint64_t task = targets.find(point);
          if (task == UINT64_MAX)
            return invalidArgument("input '", input->argument,
                                   "' sends a record of task ", t, " of '",
                                   producer.name, "' to ", key, " along '",
                                   to.axes[rekey.axis].name, "', but domain '",
                                   to.name, "' has no such task");
          found.push_back(
              {task,
               {t, tile, rekey.rows ? static_cast<uint32_t>(row) : kNone}});
        }
    }
    KeySet &set = problem.keys[index];
    set.begin.assign(target.tasks + 1, 0);
    for (const auto &entry : found)
      ++set.begin[entry.first + 1];
    std::partial_sum(set.begin.begin(), set.begin.end(), set.begin.begin());
    set.sources.resize(found.size());
    std::vector<uint64_t> next(set.begin.begin(), set.begin.end() - 1);
    for (const auto &entry : found)
      set.sources[next[entry.first]++] = entry.second;
    return Status::success();
  }
};

} // namespace

Expected<Problem> dfrt::instantiate(const Program &program,
                                    ArrayView<PlanInput> inputs,
                                    const Topology &topology,
                                    const CostModel &costs) {
  if (Status s = check(program); !s)
    return s;
  Problem problem;
  problem.program = program;
  problem.topology = topology;
  problem.costs = costs;
  if (Status s = Instantiator(problem, inputs).run(); !s)
    return s;
  if (Status s = check(problem); !s)
    return s;
  return problem;
}
