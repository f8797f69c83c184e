//===- ArtifactFuzzer.cpp - Artifacts out of any bytes -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is read can be written and reads back the same; and its program can be
// planned, on a small batch, by every solver, or is refused with a reason.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"

#include "dataflow/Schedule/Schedulers.h"
#include "dfrt/Artifact.h"

using namespace dfrt;
using fuzz::expect;

namespace {

constexpr int64_t kElements = 1 << 10, kTiles = 1 << 10, kTasks = 1 << 8;

/// Two of every extent that is open; all elements are 1.
bool smallInputs(const Program &program, std::vector<PlanInput> &inputs) {
  for (const Argument &argument : program.arguments) {
    PlanInput input;
    input.argument = argument.name;
    int64_t count = 1;
    for (int64_t extent : argument.shape) {
      input.shape.push_back(extent < 0 ? 2 : extent);
      if (input.shape.back() > kElements)
        return false;
      count *= input.shape.back();
      if (count > kElements)
        return false;
    }
    input.values.assign(size_t(count), 1);
    inputs.push_back(input);
  }
  // Constants of the program make a batch as large as they like.
  auto small = [](const PlanValue &value, int64_t limit) {
    return value.kind != PlanValue::Kind::constant || value.constant <= limit;
  };
  for (const Domain &domain : program.domains)
    for (const Axis &axis : domain.axes)
      if (!small(axis.extent, 4))
        return false;
  for (const Range &range : program.ranges)
    if (!small(range.length, kTiles))
      return false;
  return true;
}

void plan(const Program &program) {
  std::vector<PlanInput> inputs;
  if (!smallInputs(program, inputs))
    return;
  Topology topology;
  topology.ctas = 4;
  topology.clusterSize = 2;
  Expected<Problem> problem = instantiate(program, inputs, topology);
  if (!problem)
    return;
  for (uint32_t s = 0; s < program.stages.size(); ++s)
    if (problem->taskCount(s) > uint64_t(kTasks))
      return;
  for (const Solver &solver : solvers()) {
    ScheduleOptions options;
    options.solver = solver.name;
    Expected<Schedule> schedule = makeSchedule(*problem, options);
    if (!schedule) {
      expect(!schedule.status().message().empty(), "refused without a reason");
      continue;
    }
    Status status = verify(*problem, *schedule);
    expect(status.ok(), std::string(solver.name) +
                            " makes an illegal schedule: " + status.message());
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Expected<Artifact> artifact = readArtifact(data, size);
  if (!artifact) {
    expect(!artifact.status().message().empty(), "refused without a reason");
    return 0;
  }
  Expected<std::vector<uint8_t>> bytes = writeArtifact(*artifact);
  expect(bool(bytes), "what was read cannot be written");
  Expected<Artifact> again = readArtifact(bytes->data(), bytes->size());
  expect(bool(again), "what was written is refused: " +
                          (again ? "" : again.status().message()));
  expect(again->program.fingerprint() == artifact->program.fingerprint(),
         "the program changes when it is written");
  plan(artifact->program);
  return 0;
}
