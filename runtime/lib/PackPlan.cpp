//===- PackPlan.cpp - A schedule as plan bytes ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `packPlan` packs images that may be wrong, `PlanPacker` schedules that the
// planner has just made; one writer serves both.
//
//===----------------------------------------------------------------------===//

#include "PlanWriter.h"

#include <algorithm>
#include <tuple>

using namespace dfrt;

/// All of an image but the schedule and its places.
static void describeProgram(const Program &program, PlanImage &image) {
  image.program = program.name;
  image.fingerprint = program.fingerprint();
  for (const Stage &stage : program.stages)
    image.stages.push_back({stage.name, stage.kind, stage.record.headBytes,
                            stage.record.sliceBytes, stage.record.slices});
}

PlanImage dfrt::makePlanImage(const Problem &problem, Schedule made) {
  PlanImage image;
  const Program &program = problem.program;
  describeProgram(program, image);
  image.topology = problem.topology;
  image.schedule = std::move(made);
  const Schedule &schedule = image.schedule;
  image.places.resize(schedule.instructions.size());
  for (size_t i = 0; i < image.places.size(); ++i) {
    const Instruction &instruction = schedule.instructions[i];
    PlanImage::Place &place = image.places[i];
    if (instruction.stage >= program.stages.size())
      continue; // packPlan says so
    const Stage &stage = program.stages[instruction.stage];
    const TaskSet &tasks = problem.tasks[stage.domain];
    if (instruction.task >= tasks.tasks)
      continue;
    ArrayView<int64_t> at = tasks.at(instruction.task);
    place.coordinates.reserve(DFRT_MAX_AXES);
    place.coordinates.assign(at.begin(), at.end());
    if (place.coordinates.size() < DFRT_MAX_AXES)
      place.coordinates.resize(DFRT_MAX_AXES);
    if (stage.range == kNone)
      continue;
    std::tie(place.rangeBegin, place.rangeEnd) =
        elementsOf(problem.ranges[stage.range], instruction.task,
                   instruction.tileBegin, instruction.tileEnd);
  }
  return image;
}

Expected<std::vector<uint8_t>> dfrt::packPlan(const PlanImage &image,
                                              const PlanMaxima &maxima) {
  DFRT_TRY(checkPlanImage(image, StatusCode::invalidArgument));
  auto place = [&](uint32_t identity, dfrt_instruction &record) {
    const PlanImage::Place &known = image.places[identity];
    record.range_begin = known.rangeBegin;
    record.range_end = known.rangeEnd;
    for (size_t a = 0; a < known.coordinates.size(); ++a)
      record.coordinates[a] = int32_t(known.coordinates[a]);
  };
  std::vector<uint8_t> bytes;
  DFRT_TRY(PlanWriter().write(image, image.topology, image.schedule, place,
                              &maxima, bytes));
  return bytes;
}

struct PlanPacker::State {
  PlanImage program; ///< without a schedule
  Status fits;       ///< what of the program does not fit a plan
  PlanWriter writer;
  /// What the calls of a stage need of the batch.
  struct Source {
    const TaskSet *tasks;
    const RangeSet *range; ///< or null
  };
  std::vector<Source> sources; ///< [stages]
};

PlanPacker::PlanPacker(const Program &program)
    : state(std::make_unique<State>()) {
  describeProgram(program, state->program);
  state->fits = checkPlanImage(state->program, StatusCode::invalidArgument);
  for (const Stage &stage : program.stages)
    if (stage.variants.size() > UINT16_MAX)
      state->fits = invalidArgument("plan: stage '", stage.name, "' has ",
                                    stage.variants.size(), " variants");
}
PlanPacker::PlanPacker() = default;
PlanPacker::PlanPacker(PlanPacker &&) = default;
PlanPacker &PlanPacker::operator=(PlanPacker &&) = default;
PlanPacker::~PlanPacker() = default;

Status PlanPacker::pack(const Problem &problem, const Schedule &schedule,
                        std::vector<uint8_t> &bytes, const PlanMaxima *maxima) {
  if (!state->fits)
    return state->fits;
  for (const TaskSet &set : problem.tasks) {
    if (set.extents.size() > DFRT_MAX_AXES)
      return invalidArgument("plan: a domain has ", set.extents.size(),
                             " axes, but a plan holds ", DFRT_MAX_AXES);
    for (int64_t extent : set.extents)
      if (extent > int64_t(1) << 31)
        return invalidArgument("plan: a domain has extent ", extent,
                               ", but a plan holds 2^31");
  }
  state->sources.clear();
  for (const Stage &stage : problem.program.stages)
    state->sources.push_back(
        {&problem.tasks[stage.domain],
         stage.range == kNone ? nullptr : &problem.ranges[stage.range]});
  const State::Source *sources = state->sources.data();
  auto place = [&](uint32_t identity, dfrt_instruction &record) {
    const Instruction &instruction = schedule.instructions[identity];
    const State::Source &source = sources[instruction.stage];
    ArrayView<int64_t> at = source.tasks->at(instruction.task);
    for (size_t a = 0; a < at.size(); ++a)
      record.coordinates[a] = int32_t(at[a]);
    if (source.range)
      std::tie(record.range_begin, record.range_end) =
          elementsOf(*source.range, instruction.task, instruction.tileBegin,
                     instruction.tileEnd);
  };
  DFRT_TRY(state->writer.write(state->program, problem.topology, schedule,
                               place, maxima, bytes));
#ifndef NDEBUG
  PlanImage image = makePlanImage(problem, schedule);
  Expected<std::vector<uint8_t>> checked =
      packPlan(image, maxima ? *maxima : exactMaxima(image));
  if (!checked)
    return checked.status();
  if (*checked != bytes)
    return Status(StatusCode::internalError,
                  "plan: packing a schedule and packing its image differ");
#endif
  return Status::success();
}
