//===- VerifyRecords.cpp - Instructions cover the work exactly ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// List lengths that depend on a stage (V1), variants (V16), coverage of ranges
// and slices (V3) and of outputs (V15). Reductions follow in
// VerifyOperands.cpp, when it is known what their parts cover.
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include <algorithm>
#include <tuple>

using namespace dfrt;

Status Verifier::checkInstructions() {
  for (uint32_t i = 0; i < schedule.instructions.size(); ++i) {
    const Instruction &instruction = schedule.instructions[i];
    const Stage &stage = program.stages[instruction.stage];
    const bool finalize = stage.kind == StageKind::finalize;
    const char *coverage = finalize ? "V15" : "V3";
    const int64_t begin = instruction.tileBegin, end = instruction.tileEnd;
    auto tiles = [&] { return ": tiles " + interval(begin, end); };

    if (stage.kind != StageKind::reduce) {
      int64_t limit = tilesOf(instruction.stage, instruction.task);
      if (begin < 0 || begin > end || end > limit)
        return fail(coverage,
                    nameOf(i) + tiles() + " are not in " + interval(0, limit));
      bool piece = stage.range != kNone && !stage.each && limit == 0;
      if (begin == end && !piece)
        return fail(coverage, nameOf(i) + tiles() + " are none of " +
                                  std::to_string(limit));
    } else if (begin < 0 || begin > end) {
      return fail(coverage, nameOf(i) + tiles() + " are no interval");
    }

    uint32_t slices = slicesOf(instruction.stage);
    if (instruction.sliceBegin >= instruction.sliceEnd ||
        instruction.sliceEnd > slices)
      return fail(coverage,
                  nameOf(i) + ": slices " +
                      interval(instruction.sliceBegin, instruction.sliceEnd) +
                      " are not in " + interval(0, slices));
    bool whole = instruction.sliceEnd - instruction.sliceBegin == slices;
    if (!whole && !stage.separable)
      return fail(coverage,
                  nameOf(i) + ": slices " +
                      interval(instruction.sliceBegin, instruction.sliceEnd) +
                      " of a stage that is not separable, must be " +
                      interval(0, slices));

    int64_t outputs = finalize                      ? 0
                      : stage.arity == Arity::tiles ? end - begin
                                                    : 1;
    if (instruction.outputCount != outputs)
      return fail("V1", nameOf(i) + " has " +
                            std::to_string(instruction.outputCount) +
                            " outputs, must have " + std::to_string(outputs));
    for (uint32_t s : schedule.outputsOf(instruction)) {
      const Slot &slot = schedule.slots[s];
      if (slot.stage != instruction.stage ||
          slot.sliceBegin != instruction.sliceBegin ||
          slot.sliceEnd != instruction.sliceEnd)
        return fail(
            "V5", nameOf(i) + " writes slices " +
                      interval(instruction.sliceBegin, instruction.sliceEnd) +
                      " of its record to " + slotName(s) +
                      ", made for slices " +
                      interval(slot.sliceBegin, slot.sliceEnd) +
                      " of stage \"" + program.stages[slot.stage].name + "\"");
    }
    if (Status status = checkVariant(i); !status)
      return status;
  }
  return Status::success();
}

Status Verifier::checkVariant(uint32_t index) {
  const Instruction &instruction = schedule.instructions[index];
  const Stage &stage = program.stages[instruction.stage];
  if (instruction.variant >= stage.variants.size())
    return fail("V1", nameOf(index) + ": variant " +
                          std::to_string(instruction.variant) + " of " +
                          std::to_string(stage.variants.size()));
  const Variant &variant = stage.variants[instruction.variant];
  auto name = [&] {
    return nameOf(index) + ": variant " + std::to_string(instruction.variant);
  };
  bool whole = instruction.sliceEnd - instruction.sliceBegin ==
               slicesOf(instruction.stage);
  if (!whole && variant.kind != Variant::Kind::sliced)
    return fail("V16",
                name() +
                    " computes the whole record, the instruction "
                    "slices " +
                    interval(instruction.sliceBegin, instruction.sliceEnd));
  const int64_t begin = instruction.tileBegin, end = instruction.tileEnd;
  switch (variant.kind) {
  case Variant::Kind::generic:
    break;
  case Variant::Kind::sliced:
    if (!stage.separable)
      return fail("V16", name() + " computes slices, but the stage is not "
                                  "separable");
    break;
  case Variant::Kind::tiles: {
    int64_t tiles = stage.range == kNone ? 1 : stage.each ? 1 : end - begin;
    if (stage.kind == StageKind::reduce || tiles != variant.value)
      return fail("V16", name() + " takes exactly " +
                             std::to_string(variant.value) +
                             " tiles, the instruction calls it with " +
                             std::to_string(tiles));
    break;
  }
  case Variant::Kind::exact: {
    if (stage.range == kNone)
      return fail("V16", name() + " takes exactly " +
                             std::to_string(variant.value) +
                             " range elements, but the stage has no range");
    const RangeSet &range = problem.ranges[stage.range];
    int64_t length = range.lengths[instruction.task];
    auto elements = [&](int64_t from, int64_t to) {
      return std::min(to * range.tile, length) - from * range.tile;
    };
    // Called tile by tile, the last tile is the only one that can be short.
    int64_t first =
        stage.each ? elements(begin, begin + 1) : elements(begin, end);
    int64_t last = stage.each ? elements(end - 1, end) : first;
    if (first != variant.value || last != variant.value)
      return fail("V16",
                  name() + " takes exactly " + std::to_string(variant.value) +
                      " range elements, the instruction calls it with " +
                      std::to_string(first != variant.value ? first : last));
    break;
  }
  case Variant::Kind::bounded: {
    int64_t length = problem.ranges[stage.bound].lengths[instruction.task];
    if (length > variant.value)
      return fail("V16", name() + " takes at most " +
                             std::to_string(variant.value) +
                             " elements of range \"" +
                             program.ranges[stage.bound].name +
                             "\", the task has " + std::to_string(length));
    break;
  }
  default:
    return fail("V16", name() + " is of an unknown kind");
  }
  return Status::success();
}

Status Verifier::checkCoverage() {
  byTask.resize(schedule.instructions.size());
  for (uint32_t i = 0; i < byTask.size(); ++i)
    byTask[i] = i;
  std::sort(byTask.begin(), byTask.end(), [&](uint32_t a, uint32_t b) {
    auto key = [&](uint32_t index) {
      const Instruction &i = schedule.instructions[index];
      return std::make_tuple(i.stage, i.task, i.tileBegin, i.tileEnd,
                             i.sliceBegin, index);
    };
    return key(a) < key(b);
  });

  size_t next = 0;
  for (uint32_t s = 0; s < program.stages.size(); ++s) {
    const Stage &stage = program.stages[s];
    if (stage.kind == StageKind::reshard)
      continue;
    const uint64_t tasks = problem.tasks[stage.domain].tasks;
    for (uint64_t task = 0; task < tasks; ++task) {
      size_t first = next;
      while (next < byTask.size() &&
             schedule.instructions[byTask[next]].stage == s &&
             schedule.instructions[byTask[next]].task == task)
        ++next;
      if (stage.kind == StageKind::reduce)
        continue;
      if (Status status =
              checkTask(s, task, {byTask.data() + first, next - first});
          !status)
        return status;
    }
  }
  return Status::success();
}

Status Verifier::checkTask(uint32_t index, uint64_t task,
                           ArrayView<uint32_t> group) {
  const Stage &stage = program.stages[index];
  const char *clause = stage.kind == StageKind::finalize ? "V15" : "V3";
  const int64_t tiles = tilesOf(index, task);
  const uint32_t slices = slicesOf(index);

  // One piece [0, 0) stands for an empty range that is not walked by tile.
  if (tiles == 0 && !stage.each && group.empty())
    return fail(clause, stageName(index, task) +
                            ": nobody computes the one piece of the empty "
                            "range");
  for (uint32_t i : group) {
    const Instruction &instruction = schedule.instructions[i];
    if (instruction.sliceEnd - instruction.sliceBegin != slices)
      return checkSlicedTask(index, task, group, std::max<int64_t>(tiles, 1));
  }
  if (tiles == 0 && group.size() > 1)
    return fail(clause, nameOf(group[1]) +
                            " covers the empty range again, "
                            "after " +
                            nameOf(group[0]));

  int64_t covered = 0;
  for (size_t g = 0; g < group.size(); ++g) {
    const Instruction &instruction = schedule.instructions[group[g]];
    if (instruction.tileBegin < covered)
      return fail(clause,
                  nameOf(group[g]) + " covers tiles " +
                      interval(instruction.tileBegin, instruction.tileEnd) +
                      " again, after " + nameOf(group[g - 1]));
    if (instruction.tileBegin > covered)
      return fail(clause, stageName(index, task) + ": nobody covers tiles " +
                              interval(covered, instruction.tileBegin) +
                              " before " + nameOf(group[g]));
    covered = instruction.tileEnd;
  }
  if (covered < tiles)
    return fail(clause, stageName(index, task) + ": nobody covers tiles " +
                            interval(covered, tiles) + " of " +
                            std::to_string(tiles));
  if (stage.range != kNone && !stage.each &&
      stage.kind == StageKind::finalize && group.size() > 1)
    return fail(clause, nameOf(group[1]) + " writes the outputs again, after " +
                            nameOf(group[0]));
  return Status::success();
}

Status Verifier::checkSlicedTask(uint32_t index, uint64_t task,
                                 ArrayView<uint32_t> group, int64_t tiles) {
  const Stage &stage = program.stages[index];
  const char *clause = stage.kind == StageKind::finalize ? "V15" : "V3";
  // (slice, first tile, instruction): each slice is covered like a range.
  std::vector<std::tuple<uint32_t, int64_t, uint32_t>> cells;
  for (uint32_t i : group) {
    const Instruction &instruction = schedule.instructions[i];
    for (uint32_t s = instruction.sliceBegin; s < instruction.sliceEnd; ++s)
      cells.emplace_back(s, instruction.tileBegin, i);
  }
  std::sort(cells.begin(), cells.end());
  size_t next = 0;
  for (uint32_t slice = 0; slice < slicesOf(index); ++slice) {
    int64_t covered = 0;
    auto what = [&] {
      return stageName(index, task) + ", slice " + std::to_string(slice);
    };
    for (; next < cells.size() && std::get<0>(cells[next]) == slice; ++next) {
      uint32_t i = std::get<2>(cells[next]);
      const Instruction &instruction = schedule.instructions[i];
      if (instruction.tileBegin < covered)
        return fail(clause, nameOf(i) + " computes slice " +
                                std::to_string(slice) + " again, after " +
                                nameOf(std::get<2>(cells[next - 1])));
      if (instruction.tileBegin > covered)
        return fail(clause, what() + ": nobody covers tiles " +
                                interval(covered, instruction.tileBegin) +
                                " before " + nameOf(i));
      covered = std::max<int64_t>(instruction.tileEnd, 1);
    }
    if (covered < tiles)
      return fail(clause,
                  what() + ": nobody covers tiles " + interval(covered, tiles));
  }
  return Status::success();
}
