//===- VerifyProblem.cpp - What a consumer has to read --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verifier's own reading of a problem: tasks across stages, records behind
// reshards, and whether a slot holds the record that a stage asks for.
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include <algorithm>

using namespace dfrt;

uint64_t Verifier::inputTask(uint32_t stage, uint32_t input, uint64_t task) {
  const Stage &consumer = program.stages[stage];
  const StageInput &edge = consumer.inputs[input];
  uint32_t domain = program.stages[edge.stage].domain;
  const TaskSet &from = problem.tasks[consumer.domain];
  const TaskSet &to = problem.tasks[domain];
  const size_t axes = edge.axes.size();
  if (domain == consumer.domain) {
    bool same = true;
    for (size_t a = 0; a < axes; ++a)
      same &= edge.axes[a] == a;
    if (same)
      return task;
  }
  ArrayView<int64_t> at = from.at(task);
  if (program.domains[domain].coordinates == kNone) {
    uint64_t index = 0;
    for (size_t a = 0; a < axes; ++a) {
      int64_t value = at[edge.axes[a]];
      if (value < 0 || value >= to.extents[a])
        return UINT64_MAX;
      index = index * static_cast<uint64_t>(to.extents[a]) +
              static_cast<uint64_t>(value);
    }
    return index;
  }

  if (listed.empty())
    listed.resize(program.domains.size());
  std::vector<uint64_t> &sorted = listed[domain];
  auto less = [&](uint64_t a, uint64_t b) {
    ArrayView<int64_t> x = to.at(a), y = to.at(b);
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  };
  if (sorted.size() != to.tasks) {
    sorted.resize(to.tasks);
    for (uint64_t t = 0; t < to.tasks; ++t)
      sorted[t] = t;
    std::sort(sorted.begin(), sorted.end(), less);
  }
  std::vector<int64_t> wanted(axes);
  for (size_t a = 0; a < axes; ++a)
    wanted[a] = at[edge.axes[a]];
  auto found = std::lower_bound(sorted.begin(), sorted.end(), wanted,
                                [&](uint64_t a, const std::vector<int64_t> &b) {
                                  ArrayView<int64_t> x = to.at(a);
                                  return std::lexicographical_compare(
                                      x.begin(), x.end(), b.begin(), b.end());
                                });
  if (found == sorted.end() ||
      !std::equal(wanted.begin(), wanted.end(), to.at(*found).begin()))
    return UINT64_MAX;
  return *found;
}

int64_t Verifier::tilesOf(uint32_t stage, uint64_t task) {
  while (program.stages[stage].kind == StageKind::reshard) {
    task = inputTask(stage, 0, task);
    if (task == UINT64_MAX)
      return 0;
    stage = program.stages[stage].inputs[0].stage;
  }
  uint32_t range = program.stages[stage].range;
  return range == kNone ? 1 : problem.ranges[range].tiles(task);
}

uint32_t Verifier::slicesOf(uint32_t index) const {
  const Stage &stage = program.stages[index];
  if (stage.kind != StageKind::finalize)
    return stage.record.slices;
  uint32_t slices = 1;
  if (stage.separable)
    for (const StageInput &input : stage.inputs)
      if (program.stages[input.stage].separable)
        slices = std::max(slices, program.stages[input.stage].record.slices);
  return slices;
}

bool Verifier::isKeyed(uint32_t stage) const {
  while (program.stages[stage].kind == StageKind::reshard) {
    if (program.stages[stage].reshard == ReshardKind::rekey)
      return true;
    stage = program.stages[stage].inputs[0].stage;
  }
  return false;
}

ArrayView<KeyedSource> Verifier::keyedOf(uint32_t stage, uint64_t task,
                                         uint32_t &source) {
  while (program.stages[stage].reshard != ReshardKind::rekey) {
    task = inputTask(stage, 0, task);
    if (task == UINT64_MAX)
      return {};
    stage = program.stages[stage].inputs[0].stage;
  }
  source = program.stages[stage].inputs[0].stage;
  const KeySet &keys = problem.keys[stage];
  return {keys.sources.data() + keys.begin[task],
          keys.begin[task + 1] - keys.begin[task]};
}

int64_t Verifier::coverOf(uint32_t stage, uint64_t task) {
  uint64_t from = inputTask(stage, 0, task);
  if (from == UINT64_MAX)
    return 0;
  uint32_t input = program.stages[stage].inputs[0].stage, source = 0;
  if (program.stages[input].arity == Arity::keyed)
    return static_cast<int64_t>(keyedOf(input, from, source).size());
  return tilesOf(input, from);
}

uint64_t Verifier::partsOf(uint32_t stage, uint64_t task) {
  uint32_t input = program.stages[stage].inputs[0].stage;
  if (program.stages[input].arity != Arity::pieces)
    return static_cast<uint64_t>(coverOf(stage, task));
  task = inputTask(stage, 0, task);
  while (task != UINT64_MAX &&
         program.stages[input].kind == StageKind::reshard) {
    task = inputTask(input, 0, task);
    input = program.stages[input].inputs[0].stage;
  }
  return task == UINT64_MAX ? 0 : groupOf(input, task).size();
}

ArrayView<uint32_t> Verifier::groupOf(uint32_t stage, uint64_t task) const {
  auto key = [&](uint32_t i) {
    const Instruction &instruction = schedule.instructions[i];
    return std::make_pair(instruction.stage, instruction.task);
  };
  const auto wanted = std::make_pair(stage, task);
  auto first = std::lower_bound(
      byTask.begin(), byTask.end(), wanted,
      [&](uint32_t i, const std::pair<uint32_t, uint64_t> &value) {
        return key(i) < value;
      });
  auto last = std::upper_bound(first, byTask.end(), wanted,
                               [&](const std::pair<uint32_t, uint64_t> &value,
                                   uint32_t i) { return value < key(i); });
  return {byTask.data() + (first - byTask.begin()),
          static_cast<size_t>(last - first)};
}

bool Verifier::elided(uint32_t stage, uint64_t task) {
  return groupOf(stage, task).empty() && partsOf(stage, task) == 1;
}

bool Verifier::holds(const Operand &operand, uint32_t stage, uint64_t task,
                     int64_t tile, uint32_t row) {
  const SlotWriter &writer = writers[operand.slot];
  const Instruction &held = schedule.instructions[writer.instruction];
  for (;;) {
    if (task == UINT64_MAX)
      return false;
    const Stage &wanted = program.stages[stage];
    if (wanted.kind == StageKind::reshard) {
      task = inputTask(stage, 0, task);
      stage = wanted.inputs[0].stage;
      continue;
    }
    if (held.stage == stage && held.task == task && operand.row == row) {
      if (wanted.kind == StageKind::reduce)
        return coverBegin[writer.instruction] == 0 &&
               coverEnd[writer.instruction] == coverOf(stage, task);
      if (wanted.arity == Arity::tiles)
        return held.tileBegin + writer.output == tile;
      return wanted.arity != Arity::pieces ||
             (held.tileBegin == 0 && held.tileEnd == tilesOf(stage, task));
    }
    if (wanted.kind != StageKind::reduce || !elided(stage, task))
      return false;
    // The reduce was left out: its one part stands for its record.
    uint64_t from = inputTask(stage, 0, task);
    if (from == UINT64_MAX)
      return false;
    uint32_t input = wanted.inputs[0].stage;
    tile = 0;
    if (program.stages[input].arity == Arity::keyed) {
      KeyedSource key = keyedOf(input, from, input)[0];
      from = key.task;
      tile = key.tile;
      if (key.row != kNone) {
        if (row != kNone)
          return false; // A row of a row is no record.
        row = key.row;
      }
    }
    stage = input;
    task = from;
  }
}
