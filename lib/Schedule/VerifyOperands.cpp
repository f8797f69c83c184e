//===- VerifyOperands.cpp - Operands are the records asked for ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clause V4, and V3 for reductions. The instructions are visited in an order in
// which every part is known before the reduction that reads it.
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include <algorithm>
#include <tuple>

using namespace dfrt;

namespace {

std::string record(const KeyedSource &key) {
  std::string text =
      "task " + std::to_string(key.task) + ", tile " + std::to_string(key.tile);
  return key.row == kNone ? text : text + ", row " + std::to_string(key.row);
}

} // namespace

Status Verifier::checkOperands() {
  coverBegin.assign(schedule.instructions.size(), 0);
  coverEnd.assign(schedule.instructions.size(), 0);
  for (uint32_t i : order) {
    const Instruction &instruction = schedule.instructions[i];
    const Stage &stage = program.stages[instruction.stage];
    coverBegin[i] = instruction.tileBegin;
    coverEnd[i] = instruction.tileEnd;
    uint32_t next = 0;
    for (uint32_t input = 0; input < stage.inputs.size(); ++input) {
      bool parts = stage.kind == StageKind::reduce && input == 0;
      if (Status status =
              parts ? checkParts(i, next) : checkChannel(i, input, next);
          !status)
        return status;
    }
    if (next != instruction.operandCount)
      return fail("V1", nameOf(i) + " has " +
                            std::to_string(instruction.operandCount) +
                            " operands, must have " + std::to_string(next));

    // Slices: of what is as finely cut as the stage the same ones, else all.
    uint32_t slices = slicesOf(instruction.stage);
    for (const Operand &operand : schedule.operandsOf(instruction)) {
      const Slot &slot = schedule.slots[operand.slot];
      uint32_t all = program.stages[slot.stage].record.slices;
      bool same = stage.separable && all == slices;
      uint32_t begin = same ? instruction.sliceBegin : 0;
      uint32_t end = same ? instruction.sliceEnd : all;
      if (slot.sliceBegin > begin || slot.sliceEnd < end)
        return fail("V4", nameOf(i) + " needs slices " + interval(begin, end) +
                              " of " + slotName(operand.slot) +
                              ", which holds " +
                              interval(slot.sliceBegin, slot.sliceEnd));
    }
  }
  return Status::success();
}

Status Verifier::checkChannel(uint32_t index, uint32_t input, uint32_t &next) {
  const Instruction &instruction = schedule.instructions[index];
  const uint32_t from = program.stages[instruction.stage].inputs[input].stage;
  ArrayView<Operand> operands = schedule.operandsOf(instruction);
  auto name = [&] {
    return nameOf(index) + ", channel \"" + program.stages[from].name + "\"";
  };
  uint64_t task = inputTask(instruction.stage, input, instruction.task);
  if (task == UINT64_MAX)
    return fail("V4", name() + ": its domain has no task for this one");

  uint32_t source = from;
  ArrayView<KeyedSource> keys;
  int64_t begin = 0, end = 1;
  const bool keyed = isKeyed(from);
  if (keyed) {
    keys = keyedOf(from, task, source);
    end = static_cast<int64_t>(keys.size());
  } else if (program.stages[from].arity == Arity::tiles) {
    begin = instruction.tileBegin;
    end = instruction.tileEnd;
  } else if (program.stages[from].arity == Arity::collected) {
    end = tilesOf(from, task);
  }
  if (end - begin > int64_t(operands.size()) - next)
    return fail("V1",
                name() + " has " + std::to_string(operands.size() - next) +
                    " operands, must have " + std::to_string(end - begin));
  for (int64_t k = begin; k < end; ++k, ++next) {
    const Operand &operand = operands[next];
    KeyedSource key;
    key.task = task;
    key.tile = k;
    if (keyed)
      key = keys[static_cast<size_t>(k)];
    if (!holds(operand, source, key.task, key.tile, key.row))
      return fail("V4", name() + ": operand " + std::to_string(next) + ", " +
                            slotName(operand.slot) +
                            (operand.row == kNone
                                 ? std::string()
                                 : " row " + std::to_string(operand.row)) +
                            ", is not the record of " + record(key));
  }
  return Status::success();
}

Status Verifier::checkParts(uint32_t index, uint32_t &next) {
  const Instruction &instruction = schedule.instructions[index];
  const Stage &stage = program.stages[instruction.stage];
  const uint32_t input = stage.inputs[0].stage;
  const Arity arity = program.stages[input].arity;
  ArrayView<Operand> operands = schedule.operandsOf(instruction);
  const uint64_t task = inputTask(instruction.stage, 0, instruction.task);
  const int64_t cover = coverOf(instruction.stage, instruction.task);

  // The stage and task whose pieces the parts are.
  uint32_t producer = input;
  uint64_t piecesOf = task;
  while (arity == Arity::pieces && piecesOf != UINT64_MAX &&
         program.stages[producer].kind == StageKind::reshard) {
    piecesOf = inputTask(producer, 0, piecesOf);
    producer = program.stages[producer].inputs[0].stage;
  }
  uint32_t source = input;
  ArrayView<KeyedSource> keys;
  if (arity == Arity::keyed && task != UINT64_MAX)
    keys = keyedOf(input, task, source);

  int64_t covered = 0;
  coverBegin[index] = coverEnd[index] = 0;
  for (; next < operands.size(); ++next) {
    const Operand &operand = operands[next];
    const SlotWriter &writer = writers[operand.slot];
    const Instruction &held = schedule.instructions[writer.instruction];
    auto text = [&] {
      return nameOf(index) + ": operand " + std::to_string(next) + ", " +
             slotName(operand.slot) + ",";
    };
    int64_t begin = covered, end = covered + 1;
    if (held.stage == instruction.stage && held.task == instruction.task) {
      if (operand.row != kNone)
        return fail("V4", text() + " is a combined part, but row " +
                              std::to_string(operand.row) + " of it is read");
      begin = coverBegin[writer.instruction];
      end = coverEnd[writer.instruction];
    } else if (arity == Arity::pieces) {
      if (held.stage != producer || held.task != piecesOf ||
          operand.row != kNone)
        return fail("V4", text() + " is no piece of " +
                              stageName(producer, piecesOf));
      begin = held.tileBegin;
      end = held.tileEnd;
    } else {
      // The first part may be any; those behind it must follow each other.
      if (next == 0) {
        if (arity == Arity::keyed) {
          // Keys ascend, so a record that nobody combined is found at once.
          auto match = [&](const KeyedSource &key) {
            return holds(operand, source, key.task, key.tile, key.row);
          };
          int64_t tile = program.stages[source].arity == Arity::tiles
                             ? held.tileBegin + writer.output
                             : 0;
          auto found = std::lower_bound(
              keys.begin(), keys.end(),
              std::make_tuple(held.task, tile, operand.row),
              [](const KeyedSource &key,
                 const std::tuple<uint64_t, int64_t, uint32_t> &value) {
                return std::tie(key.task, key.tile, key.row) < value;
              });
          if (found == keys.end() || !match(*found))
            found = std::find_if(keys.begin(), keys.end(), match);
          begin = found - keys.begin();
        } else {
          begin = held.tileBegin + writer.output;
          // Behind an elided reduce the slot's tile is not this channel's.
          if (!holds(operand, source, task, begin, kNone))
            begin = 0;
        }
        end = begin + 1;
      }
      if (begin >= cover)
        return fail("V4", text() + " is none of the " + std::to_string(cover) +
                              " records of the channel");
      KeyedSource key;
      key.task = task;
      key.tile = begin;
      if (arity == Arity::keyed)
        key = keys[static_cast<size_t>(begin)];
      if (!holds(operand, source, key.task, key.tile, key.row))
        return fail("V4", text() + " is not the record of " + record(key) +
                              ", which comes next");
    }
    if (next == 0)
      coverBegin[index] = covered = begin;
    if (begin != covered)
      return fail("V4", text() + " covers " + interval(begin, end) +
                            ", expected is the part from " +
                            std::to_string(covered));
    covered = coverEnd[index] = end;
  }
  if (operands.empty() && partsOf(instruction.stage, instruction.task) != 0)
    return fail(
        "V4", nameOf(index) + " combines no parts, there are " +
                  std::to_string(partsOf(instruction.stage, instruction.task)));
  // What it covers is found in its parts; its bounds must not contradict.
  bool bounds = instruction.tileBegin == coverBegin[index] &&
                instruction.tileEnd == coverEnd[index];
  bool none = instruction.tileBegin == 0 && instruction.tileEnd == 1;
  if (!bounds && !none)
    return fail("V4", nameOf(index) + " states the bounds " +
                          interval(instruction.tileBegin, instruction.tileEnd) +
                          ", its parts cover " +
                          interval(coverBegin[index], coverEnd[index]));
  return Status::success();
}

Status Verifier::checkReductions() {
  std::vector<bool> combined(schedule.instructions.size(), false);
  for (uint32_t i = 0; i < schedule.instructions.size(); ++i)
    for (const Operand &operand :
         schedule.operandsOf(schedule.instructions[i])) {
      uint32_t from = writers[operand.slot].instruction;
      const Instruction &held = schedule.instructions[from];
      if (held.stage == schedule.instructions[i].stage)
        combined[from] = true;
    }

  for (uint32_t s = 0; s < program.stages.size(); ++s) {
    const Stage &stage = program.stages[s];
    if (stage.kind != StageKind::reduce)
      continue;
    const uint64_t tasks = problem.tasks[stage.domain].tasks;
    for (uint64_t task = 0; task < tasks; ++task) {
      const int64_t cover = coverOf(s, task);
      // (first slice, instruction) of those that finish the task.
      std::vector<std::pair<uint32_t, uint32_t>> roots;
      ArrayView<uint32_t> group = groupOf(s, task);
      for (uint32_t i : group) {
        if (coverBegin[i] == 0 && coverEnd[i] == cover)
          roots.emplace_back(schedule.instructions[i].sliceBegin, i);
        else if (!combined[i])
          return fail("V3", nameOf(i) + " combines " +
                                interval(coverBegin[i], coverEnd[i]) + " of " +
                                interval(0, cover) +
                                ", and nobody combines it further");
      }
      if (group.empty()) {
        uint64_t parts = partsOf(s, task);
        if (parts != 1)
          return fail("V3", stageName(s, task) + ": nobody combines its " +
                                std::to_string(parts) + " parts");
        continue;
      }
      std::sort(roots.begin(), roots.end());
      uint32_t covered = 0;
      for (size_t r = 0; r < roots.size(); ++r) {
        const Instruction &root = schedule.instructions[roots[r].second];
        if (root.sliceBegin < covered)
          return fail("V3", nameOf(roots[r].second) + " computes slices " +
                                interval(root.sliceBegin, root.sliceEnd) +
                                " again, after " + nameOf(roots[r - 1].second));
        if (root.sliceBegin > covered)
          break;
        covered = root.sliceEnd;
      }
      if (covered < slicesOf(s))
        return fail("V3", stageName(s, task) + ": nobody computes slice " +
                              std::to_string(covered) + " of " +
                              std::to_string(slicesOf(s)) + " over " +
                              interval(0, cover));
    }
  }
  return Status::success();
}
