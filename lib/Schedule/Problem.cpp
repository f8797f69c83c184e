//===- Problem.cpp - A program together with this batch's inputs ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `instantiate` and the questions that a problem answers. ReadBatch.cpp does
// the work, and the tests of a problem are in ProblemCheck.cpp.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/Problem.h"

#include "ReadBatch.h"

using namespace dfrt;

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

uint32_t Problem::boundedVariant(uint32_t stage, uint64_t task) const {
  const Stage &s = program.stages[stage];
  if (s.bound == kNone)
    return 0;
  uint32_t best = 0;
  for (uint32_t v = 1; v < s.variants.size(); ++v)
    if (s.variants[v].kind == Variant::Kind::bounded &&
        ranges[s.bound].lengths[task] <= s.variants[v].value &&
        (best == 0 || s.variants[v].value < s.variants[best].value))
      best = v;
  return best;
}

const Cost &Problem::costOf(uint32_t stage, uint64_t task) const {
  uint32_t variant = boundedVariant(stage, task);
  const Stage &s = program.stages[stage];
  return variant ? s.variants[variant].cost : s.cost;
}

uint64_t Problem::callBytes(uint32_t stage, uint64_t task,
                            int64_t tiles) const {
  const Stage &s = program.stages[stage];
  uint64_t count = static_cast<uint64_t>(tiles);
  uint64_t calls = s.each ? count : 1;
  const Cost &cost = costOf(stage, task);
  uint64_t perTile = s.range == kNone ? 0 : cost.tileBytes;
  uint64_t weight = tasks[s.domain].weights[task];
  return weight * (calls * cost.fixedBytes + count * perTile);
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
  if (Status s = detail::BatchReader(problem).read(inputs); !s)
    return s;
  if (Status s = check(problem); !s)
    return s;
  return problem;
}
