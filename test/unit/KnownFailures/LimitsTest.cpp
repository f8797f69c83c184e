//===- LimitsTest.cpp - Each limit holds, and one more is an error -------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/limits.md lists the limits. Here each is reached, and passed by one:
// that has to fail before anything is launched, with a message that names the
// thing, its value and the limit.
//
//===----------------------------------------------------------------------===//

#include "Runtime/TestPrograms.h"

#include "dfrt/dfrt.hpp"

#include <gtest/gtest.h>

using namespace dfrt;
using namespace dfrt::test;

namespace {

void expectError(const Status &status,
                 std::initializer_list<const char *> words) {
  EXPECT_FALSE(status.ok());
  for (const char *word : words)
    EXPECT_NE(status.message().find(word), std::string::npos)
        << "'" << status.message() << "' does not say '" << word << "'";
}

Topology topologyOf(uint32_t ctas, uint32_t cluster, uint64_t shared = 232448,
                    uint64_t reserved = 131072) {
  Topology topology;
  topology.ctas = ctas;
  topology.clusterSize = cluster;
  topology.sharedBytes = shared;
  topology.reservedBytes = reserved;
  return topology;
}

/// ragged with one row; tile, length and offset as given.
Status plan(int64_t tile, int64_t length, int64_t offset) {
  TestCase test = raggedCase({8});
  Program program = test.program();
  program.ranges[0].tile = tile;
  std::vector<PlanInput> inputs;
  for (const TestTensor &tensor : test.tensors)
    inputs.push_back({program.arguments[inputs.size()].name, tensor.shape, {}});
  inputs[1].values = {offset};
  inputs[2].values = {length};
  Expected<Problem> problem = instantiate(program, inputs, topologyOf(4, 1));
  if (!problem)
    return problem.status();
  Expected<Schedule> schedule = makeSchedule(*problem, {});
  if (!schedule)
    return schedule.status();
  PlanImage image = makePlanImage(*problem, *schedule);
  Expected<std::vector<uint8_t>> bytes = packPlan(image, exactMaxima(image));
  if (!bytes)
    return bytes.status();
  return verifyPlan(*problem, bytes->data(), bytes->size());
}

/// The hand-made plan with a change of its image.
template <typename Change>
Status packChanged(Change change) {
  TestCase test = raggedCase({8, 8});
  PlanImage image =
      makePlanImage(test.problem(handTopology()), handSchedule(false));
  change(image);
  return packPlan(image, exactMaxima(image)).status();
}

} // namespace

TEST(Limits, Ctas) {
  EXPECT_TRUE(check(topologyOf(65536, 1)).ok());
  expectError(check(topologyOf(65537, 1)), {"65537 CTAs", "1 to 65536"});
  expectError(check(topologyOf(0, 1)), {"0 CTAs", "1 to 65536"});
}

TEST(Limits, ClusterSize) {
  for (uint32_t size : {1u, 2u, 4u, 8u, 16u})
    EXPECT_TRUE(check(topologyOf(16, size)).ok());
  expectError(check(topologyOf(34, 17)), {"cluster size is 17"});
  expectError(check(topologyOf(32, 32)), {"cluster size is 32", "16"});
  expectError(check(topologyOf(17, 16)), {"16 does not divide 17"});
}

TEST(Limits, SharedMemory) {
  EXPECT_TRUE(check(topologyOf(4, 1, 100, 100)).ok());
  expectError(check(topologyOf(4, 1, 100, 101)),
              {"reserves 101 bytes of 100 bytes"});
  TestCase test = raggedCase({8, 8});
  // The hand-made plan has 384 bytes of slots a CTA.
  Topology topology = handTopology();
  topology.reservedBytes = topology.sharedBytes - 384;
  EXPECT_TRUE(verify(test.problem(topology), handSchedule(false)).ok());
  topology.reservedBytes += 16;
  expectError(verify(test.problem(topology), handSchedule(false)),
              {"V9", "384 bytes", "368"});
}

TEST(Limits, LengthsAndOffsets) {
  const int64_t most = kMaxRangeExtent;
  EXPECT_TRUE(plan(most, most, most).ok()) << plan(most, most, most).message();
  expectError(plan(most, most + 1, 0),
              {std::to_string(most + 1).c_str(), std::to_string(most).c_str()});
  expectError(plan(most, most, most + 1),
              {std::to_string(most + 1).c_str(), std::to_string(most).c_str()});
  expectError(plan(most, -1, 0), {"-1"});
}

TEST(Limits, Tasks) {
  auto tasks = [](int64_t count) {
    TestCase test = routeCase(1, {});
    std::vector<PlanInput> inputs = {
        {"values", {0, 4}, {}}, {"index", {0, 4}, {}}, {"out", {count, 2}, {}}};
    return instantiate(test.program(), inputs, topologyOf(1, 1)).status();
  };
  // At the limit itself tables take some GB; a large batch is enough here.
  EXPECT_TRUE(tasks(1 << 16).ok()) << tasks(1 << 16).message();
  expectError(tasks(int64_t(kMaxTasks) + 1),
              {"domain 'targets'", "16777216 tasks"});
}

TEST(Limits, Axes) {
  EXPECT_TRUE(packChanged([](PlanImage &) {}).ok());
  expectError(packChanged([](PlanImage &image) {
                image.places[0].coordinates.resize(DFRT_MAX_AXES + 1);
              }),
              {"instructions[0]", "5 coordinates", "holds 4"});
}

TEST(Limits, Coordinates) {
  auto coordinate = [](int64_t value) {
    return packChanged(
        [&](PlanImage &image) { image.places[0].coordinates[1] = value; });
  };
  EXPECT_TRUE(coordinate(INT32_MAX).ok());
  expectError(coordinate(int64_t(INT32_MAX) + 1),
              {"instructions[0].coordinates", "2147483648", "2^31-1"});
}

TEST(Limits, StagesOfAPlan) {
  auto stages = [](size_t count) {
    return packChanged([&](PlanImage &image) {
      PlanImage::StageInfo stage = image.stages[0];
      image.stages.resize(count, stage);
    });
  };
  EXPECT_TRUE(stages(65535).ok()) << stages(65535).message();
  expectError(stages(65536), {"stages", "65536", "65535"});
}

TEST(Limits, SlicesOfARecord) {
  auto slices = [](uint32_t count) {
    return packChanged([&](PlanImage &image) {
      image.stages[0].slices = count;
      image.stages[0].sliceBytes = 0;
    });
  };
  EXPECT_TRUE(slices(65535).ok()) << slices(65535).message();
  expectError(slices(65536), {"stages[0]", "65536"});
}

TEST(Limits, RoomOfAPlan) {
  TestCase test = raggedCase({8, 8});
  PlanImage image =
      makePlanImage(test.problem(handTopology()), handSchedule(false));
  for (uint32_t s = 0; s < DFRT_SECTION_COUNT; ++s) {
    PlanMaxima maxima = exactMaxima(image);
    EXPECT_TRUE(bool(packPlan(image, maxima)));
    if (maxima.capacity[s] == 0)
      continue;
    --maxima.capacity[s];
    Status status = packPlan(image, maxima).status();
    EXPECT_EQ(status.code(), StatusCode::resourceExhausted);
    expectError(status, {"section ", "has room for"});
  }
}

TEST(Limits, PlansOfAPlanner) {
  TestCase test = raggedCase({8});
  Expected<std::vector<uint8_t>> bytes = writeArtifact(test.artifact);
  Expected<ArtifactHandle> artifact =
      ArtifactHandle::fromMemory(bytes->data(), bytes->size());
  dfrt_planner_options options;
  dfrt_planner_options_init(&options);
  options.plans = DFRT_MAX_PLANNER_PLANS;
  EXPECT_TRUE(PlannerHandle::create(*artifact, &options));
  ++options.plans;
  expectError(PlannerHandle::create(*artifact, &options).status(),
              {"65537", "65536"});
}
