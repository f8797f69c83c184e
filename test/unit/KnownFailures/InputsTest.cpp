//===- InputsTest.cpp - What goes wrong elsewhere: inputs, plans ---------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each test is named after a class of failure in docs/known-failures-
// elsewhere.md, which says who met it. Results are exact and compared bit by
// bit, under hostile orders.
//
//===----------------------------------------------------------------------===//

#include "Runtime/TestPrograms.h"

#include "dfrt/dfrt.hpp"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace dfrt;
using namespace dfrt::test;

namespace {

Topology topologyOf(uint32_t ctas, uint32_t cluster) {
  Topology topology;
  topology.ctas = ctas;
  topology.clusterSize = cluster;
  return topology;
}

Schedule makeOrFail(const Problem &problem, const char *solver) {
  ScheduleOptions options;
  options.solver = solver;
  Expected<Schedule> schedule = makeSchedule(problem, options);
  EXPECT_TRUE(bool(schedule)) << schedule.status().message();
  Status status = verify(problem, *schedule);
  EXPECT_TRUE(status.ok()) << status.message();
  return *schedule;
}

std::vector<uint8_t> packOrFail(const Problem &problem,
                                const Schedule &schedule,
                                const PlanMaxima *maxima = nullptr) {
  PlanImage image = makePlanImage(problem, schedule);
  Expected<std::vector<uint8_t>> bytes =
      packPlan(image, maxima ? *maxima : exactMaxima(image));
  EXPECT_TRUE(bool(bytes)) << bytes.status().message();
  return *bytes;
}

/// Executes the bytes of a plan on the CPU device; the failure, or "".
std::string execute(TestCase &test, const std::vector<uint8_t> &bytes,
                    uint64_t seed) {
  Expected<std::vector<uint8_t>> file = writeArtifact(test.artifact);
  dfrt_artifact *artifact = nullptr;
  dfrt_device *device = nullptr;
  dfrt_plan *plan = nullptr;
  EXPECT_EQ(dfrt_artifact_load_memory(file->data(), file->size(), &artifact),
            DFRT_OK);
  EXPECT_EQ(dfrt_device_open("cpu", &device), DFRT_OK);
  std::string result;
  dfrt_launch_options options;
  dfrt_launch_options_init(&options);
  options.adversarial = 1;
  options.seed = seed;
  test.clearOutputs();
  std::vector<dfrt_tensor> arguments = test.arguments();
  if (dfrt_plan_load(artifact, bytes.data(), bytes.size(), &plan) != DFRT_OK ||
      dfrt_launch(device, artifact, plan, arguments.data(),
                  uint32_t(arguments.size()), &options) != DFRT_OK)
    result = dfrt_last_error();
  else
    result = test.differences();
  dfrt_plan_release(plan);
  dfrt_device_release(device);
  dfrt_artifact_release(artifact);
  return result;
}

/// By every solver, on some launch shapes, in some orders.
void expectRight(TestCase test) {
  for (const Solver &solver : solvers())
    for (auto [ctas, cluster] :
         {std::pair(1u, 1u), std::pair(7u, 1u), std::pair(8u, 4u)}) {
      Problem problem = test.problem(topologyOf(ctas, cluster));
      std::vector<uint8_t> bytes =
          packOrFail(problem, makeOrFail(problem, solver.name));
      for (uint64_t seed = 0; seed < 4; ++seed)
        ASSERT_EQ(execute(test, bytes, seed), "")
            << solver.name << " " << ctas << "x" << cluster << " seed " << seed;
    }
}

} // namespace

TEST(KnownFailures, A1_AllLengthsZero) {
  for (size_t rows : {1, 2, 16, 37})
    expectRight(raggedCase(std::vector<int64_t>(rows, 0)));
}

TEST(KnownFailures, A2_EmptyPartsAreNeutral) {
  expectRight(raggedCase({0, 300, 0, 1, 0}));
  expectRight(routeCase(5, {0, -1, -1, -1, 3, 3, -1, 3}));
}

TEST(KnownFailures, A8_RowsOfOthersStayUntouched) {
  for (int64_t rows : {1, 4, 8, 16, 24}) {
    TestCase test = raggedCase(std::vector<int64_t>(size_t(rows), 9));
    // Guards before and behind the output.
    TestTensor &out = test.tensors[3];
    constexpr size_t kGuard = 64;
    std::vector<int64_t> memory(out.integers.size() + 2 * kGuard, 77);
    Problem problem = test.problem(topologyOf(4, 2));
    std::vector<uint8_t> bytes =
        packOrFail(problem, makeOrFail(problem, "stream"));
    Expected<std::vector<uint8_t>> file = writeArtifact(test.artifact);
    Expected<ArtifactHandle> artifact =
        ArtifactHandle::fromMemory(file->data(), file->size());
    ASSERT_TRUE(artifact);
    Expected<PlanHandle> plan =
        PlanHandle::load(*artifact, bytes.data(), bytes.size());
    ASSERT_TRUE(plan);
    std::vector<dfrt_tensor> arguments = test.arguments();
    arguments[3].data = memory.data() + kGuard;
    Expected<DeviceHandle> device = DeviceHandle::open("cpu");
    ASSERT_TRUE(device->launch(*artifact, *plan, arguments).ok());
    for (size_t i = 0; i < kGuard; ++i) {
      EXPECT_EQ(memory[i], 77);
      EXPECT_EQ(memory[memory.size() - 1 - i], 77);
    }
    EXPECT_TRUE(std::equal(out.expectedIntegers.begin(),
                           out.expectedIntegers.end(),
                           memory.begin() + kGuard));
  }
}

TEST(KnownFailures, A7_ExtentsOfTheArtifactAreTested) {
  TestCase test = raggedCase({5, 6});
  Problem problem = test.problem(topologyOf(2, 1));
  std::vector<uint8_t> bytes =
      packOrFail(problem, makeOrFail(problem, "stream"));
  test.tensors[3].shape = {2, 4};
  EXPECT_NE(execute(test, bytes, 0).find("argument 'out'"), std::string::npos);
}

TEST(KnownFailures, A10_OddBatches) {
  for (size_t rows : {1, 2, 3, 5, 9, 13})
    expectRight(raggedCase(std::vector<int64_t>(rows, 33)));
}

TEST(KnownFailures, B11_OneLongAmongManyShort) {
  std::vector<int64_t> lengths(128, 40);
  lengths[77] = 131072;
  Problem problem = raggedCase(lengths).problem(topologyOf(132, 1));
  Schedule schedule = makeOrFail(problem, "stream");
  uint64_t most = 0, all = 0;
  for (const Queue &queue : schedule.queues) {
    uint64_t bytes = 0;
    for (uint32_t i : queue.instructions) {
      const Instruction &x = schedule.instructions[i];
      if (problem.program.stages[x.stage].kind == StageKind::map)
        bytes += problem.callBytes(x.stage, x.task, x.tileEnd - x.tileBegin);
    }
    most = std::max(most, bytes);
    all += bytes;
  }
  // A further segment of a CTA counts as a tile, so bytes are nearly level.
  EXPECT_LT(double(most), 1.1 * double(all) / 132);
}

TEST(KnownFailures, B16_OneSequenceUsesEveryCta) {
  Problem problem = raggedCase({100000}).problem(topologyOf(132, 1));
  Schedule schedule = makeOrFail(problem, "stream");
  size_t busy = std::count_if(
      schedule.queues.begin(), schedule.queues.end(),
      [](const Queue &queue) { return !queue.instructions.empty(); });
  EXPECT_EQ(busy, 132u);
}

TEST(KnownFailures, C19_SameInputsSamePlanSameBits) {
  TestCase test = spreadCase({9, 0, 30, 4, 1});
  Problem problem = test.problem(topologyOf(8, 4));
  for (const Solver &solver : solvers())
    EXPECT_EQ(packOrFail(problem, makeOrFail(problem, solver.name)),
              packOrFail(problem, makeOrFail(problem, solver.name)));
  expectRight(test);
}

TEST(KnownFailures, C20_CutsDependOnTheRowAlone) {
  // The pieces of row 0, in their order.
  auto pieces = [](const std::vector<int64_t> &lengths, bool invariant) {
    Problem problem = raggedCase(lengths).problem(topologyOf(24, 8));
    ScheduleOptions options;
    options.batchInvariant = invariant;
    Expected<Schedule> schedule = makeSchedule(problem, options);
    EXPECT_TRUE(bool(schedule)) << schedule.status().message();
    std::set<std::pair<int64_t, int64_t>> result;
    for (const Instruction &x : schedule->instructions)
      if (problem.program.stages[x.stage].kind == StageKind::map && x.task == 0)
        result.insert({x.tileBegin, x.tileEnd});
    return result;
  };
  const std::vector<int64_t> alone = {5000}, company = {5000, 3, 0, 777, 4000};
  EXPECT_EQ(pieces(alone, true), pieces(company, true));
  // What the fast mode does instead.
  EXPECT_NE(pieces(alone, false), pieces(company, false));
}

TEST(KnownFailures, D21_PaddedEntriesDoNothing) {
  TestCase large = raggedCase(std::vector<int64_t>(16, 100));
  TestCase small = raggedCase({3, 0, 5});
  Topology topology = topologyOf(8, 1);
  Problem most = large.problem(topology), least = small.problem(topology);
  PlanMaxima maxima =
      exactMaxima(makePlanImage(most, makeOrFail(most, "stream")));
  std::vector<uint8_t> bytes =
      packOrFail(least, makeOrFail(least, "stream"), &maxima);
  EXPECT_EQ(bytes.size(), requiredBytes(maxima));
  for (uint64_t seed = 0; seed < 8; ++seed)
    EXPECT_EQ(execute(small, bytes, seed), "");
}

TEST(KnownFailures, D23_OneBufferTakesEveryBatch) {
  // D24: and one function computes its size.
  PlanMaxima maxima;
  std::vector<std::vector<int64_t>> batches = {
      {}, {1}, {0, 0, 0}, {100, 3, 700, 64}, std::vector<int64_t>(40, 17)};
  Topology topology = topologyOf(8, 1);
  for (const std::vector<int64_t> &lengths : batches) {
    Problem problem = raggedCase(lengths).problem(topology);
    PlanMaxima need =
        exactMaxima(makePlanImage(problem, makeOrFail(problem, "stream")));
    for (uint32_t s = 0; s < DFRT_SECTION_COUNT; ++s)
      maxima.capacity[s] = std::max(maxima.capacity[s], need.capacity[s]);
  }
  dfrt_capacity capacity;
  std::memcpy(capacity.entries, maxima.capacity, sizeof(capacity.entries));
  for (const std::vector<int64_t> &lengths : batches) {
    TestCase test = raggedCase(lengths);
    Problem problem = test.problem(topology);
    std::vector<uint8_t> bytes =
        packOrFail(problem, makeOrFail(problem, "stream"), &maxima);
    EXPECT_EQ(bytes.size(), dfrt_capacity_bytes(&capacity));
    EXPECT_EQ(execute(test, bytes, 1), "");
  }
}

TEST(KnownFailures, E26_TargetsWithoutRows) {
  expectRight(routeCase(9, {4, 4, 4, 4, -1, -1, 4, 4}));
}

TEST(KnownFailures, E27_NothingAtAll) {
  expectRight(routeCase(3, {}));
  expectRight(routeCase(3, {-1, -1, -1, -1}));
  expectRight(raggedCase({}));
  expectRight(spreadCase({}));
}

TEST(KnownFailures, E29_AnyNumberOfRows) {
  std::mt19937 random(3);
  for (size_t rows : {1, 2, 7, 8, 9, 16, 31, 32, 33}) {
    std::vector<int64_t> index(4 * rows);
    for (int64_t &target : index)
      target = int64_t(random() % 5) - 1;
    expectRight(routeCase(4, index));
  }
}

TEST(KnownFailures, E30_AllRowsToOneTarget) {
  expectRight(routeCase(6, std::vector<int64_t>(64, 2)));
}

TEST(KnownFailures, E31_EmptyRangesReachNoHandler) {
  Problem problem = spreadCase({0, 9, 0}).problem(topologyOf(4, 1));
  for (const Solver &solver : solvers()) {
    Schedule schedule = makeOrFail(problem, solver.name);
    for (const Instruction &x : schedule.instructions)
      if (problem.program.stages[x.stage].each)
        EXPECT_EQ(x.task, 1u) << solver.name;
  }
}

TEST(KnownFailures, E32_OffsetsPass32Bits) {
  // E33: and products of them. Nothing is executed.
  TestCase test = raggedCase({64, 64});
  std::vector<PlanInput> inputs;
  const int64_t first = int64_t(1) << 40, length = int64_t(1) << 35;
  Program program = test.program();
  program.ranges[0].tile = int64_t(1) << 31;
  for (const TestTensor &tensor : test.tensors)
    inputs.push_back({program.arguments[inputs.size()].name, tensor.shape, {}});
  inputs[1].values = {first, first + length};
  inputs[2].values = {length, length - 1};
  Expected<Problem> problem =
      instantiate(program, inputs, topologyOf(4, 1), CostModel());
  ASSERT_TRUE(bool(problem)) << problem.status().message();
  std::vector<uint8_t> bytes =
      packOrFail(*problem, makeOrFail(*problem, "stream"));
  Status status = verifyPlan(*problem, bytes.data(), bytes.size());
  ASSERT_TRUE(status.ok()) << status.message();
  Expected<PlanImage> image = readPlan(bytes.data(), bytes.size());
  ASSERT_TRUE(bool(image));
  int64_t begin = INT64_MAX, end = 0;
  for (size_t i = 0; i < image->places.size(); ++i)
    if (image->schedule.instructions[i].stage == 0) {
      begin = std::min(begin, image->places[i].rangeBegin);
      end = std::max(end, image->places[i].rangeEnd);
    }
  EXPECT_EQ(begin, first);
  EXPECT_EQ(end, first + 2 * length - 1);
}

TEST(KnownFailures, G53_MemoryIsKnownBefore) {
  TestCase test = raggedCase({8, 8});
  Expected<std::vector<uint8_t>> file = writeArtifact(test.artifact);
  Expected<ArtifactHandle> artifact =
      ArtifactHandle::fromMemory(file->data(), file->size());
  std::vector<uint8_t> bytes =
      packOrFail(test.problem(handTopology()), handSchedule(false));
  Expected<PlanHandle> plan =
      PlanHandle::load(*artifact, bytes.data(), bytes.size());
  Expected<DeviceHandle> device = DeviceHandle::open("cpu");
  uint64_t need = 0;
  ASSERT_TRUE(plan->workspaceBytes(*device, need).ok());
  alignas(128) static uint8_t memory[1 << 12];
  ASSERT_LE(need, sizeof(memory));
  dfrt_launch_options options;
  dfrt_launch_options_init(&options);
  options.workspace = memory;
  options.workspace_bytes = need;
  EXPECT_TRUE(
      device->launch(*artifact, *plan, test.arguments(), &options).ok());
  options.workspace_bytes = need - 1;
  Status status = device->launch(*artifact, *plan, test.arguments(), &options);
  EXPECT_EQ(status.code(), StatusCode::invalidArgument);
  EXPECT_NE(status.message().find(std::to_string(need)), std::string::npos);
}
