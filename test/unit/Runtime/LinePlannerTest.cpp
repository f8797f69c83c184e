//===- LinePlannerTest.cpp - The device's solver on the host --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Its bytes are those that packing the schedule of the same solver gives.
//
//===----------------------------------------------------------------------===//

#include "dfrt/LinePlanner.h"
#include "CountAllocations.h"
#include "TileStages.h"

#include <gmock/gmock.h>
#include <random>

using namespace dfrt;
using namespace dfrt::test;

namespace {

LinePlanner planner(const Program &program,
                    const std::vector<PlanInput> &bound) {
  Expected<DevicePlanner> made =
      DevicePlanner::create(program, bound, topology(132));
  EXPECT_TRUE(bool(made)) << made.status().message();
  return LinePlanner(*made);
}

/// The plan that the four steps and packing make.
std::vector<uint8_t> packed(const Program &program,
                            const std::vector<PlanInput> &inputs) {
  Expected<Problem> problem =
      instantiate(program, inputs, topology(132), CostModel());
  EXPECT_TRUE(bool(problem)) << problem.status().message();
  Expected<Schedule> schedule = scheduleLine(*problem, inputs, {});
  EXPECT_TRUE(bool(schedule)) << schedule.status().message();
  Status legal = verify(*problem, *schedule);
  EXPECT_TRUE(legal.ok()) << legal.message();
  PlanImage image = makePlanImage(*problem, std::move(*schedule));
  Expected<std::vector<uint8_t>> bytes = packPlan(image, exactMaxima(image));
  EXPECT_TRUE(bool(bytes)) << bytes.status().message();
  return *bytes;
}

std::vector<int64_t> drawn(std::mt19937 &random, size_t count, int64_t most) {
  std::vector<int64_t> values(count);
  for (int64_t &value : values)
    value = random() % 4 ? int64_t(random() % uint64_t(most + 1)) : 0;
  return values;
}

/// One planner for all batches, also beyond the one that it was made with.
TEST(LinePlanner, WritesWhatPackingGives) {
  std::mt19937 random(1);
  LinePlanner pieces =
      planner(latentAttention(), {lengthsInput(std::vector<int64_t>(40, 64))});
  LinePlanner tiles =
      planner(tileStages(2), tileInputs(std::vector<int64_t>(9, 10),
                                        std::vector<int64_t>(9, 10)));
  std::vector<uint8_t> bytes;
  for (int64_t most : {1, 64, 1000, 30000})
    for (int round = 0; round < 10; ++round) {
      std::vector<PlanInput> inputs = {lengthsInput(drawn(random, 40, most))};
      Status made = pieces.plan(inputs, bytes);
      ASSERT_TRUE(made.ok()) << made.message();
      EXPECT_EQ(bytes, packed(latentAttention(), inputs));
      inputs = tileInputs(drawn(random, 9, most / 20 + 1),
                          drawn(random, 9, most / 20 + 1));
      made = tiles.plan(inputs, bytes);
      ASSERT_TRUE(made.ok()) << made.message();
      EXPECT_EQ(bytes, packed(tileStages(2), inputs));
    }
}

TEST(LinePlanner, TouchesNoHeapAgain) {
  for (const Trace &trace : traces()) {
    std::vector<PlanInput> inputs = {lengthsInput(trace.lengths)};
    LinePlanner line = planner(latentAttention(), inputs);
    std::vector<uint8_t> bytes;
    ASSERT_TRUE(line.plan(inputs, bytes).ok());
    for (int64_t &length : inputs[0].values)
      length += length % 3 ? 17 : -17;
    uint64_t before = allocationCount();
    Status made = line.plan(inputs, bytes);
    EXPECT_EQ(allocationCount(), before);
    EXPECT_TRUE(made.ok()) << made.message();
  }
}

/// How many tasks there are may come from an argument that is not read.
TEST(LinePlanner, TakesNoOtherTasks) {
  Program program = tileStages(1, /*finalizeOnly=*/true);
  program.domains[1].axes[1].extent = dimensionOf(3, 1);
  program.arguments[3].shape = {-1, -1};
  std::vector<PlanInput> inputs = tileInputs({10, 20}, {30, 40});
  inputs[3].shape = {2, 5};
  LinePlanner line = planner(program, inputs);
  std::vector<uint8_t> bytes;
  EXPECT_TRUE(line.takes(inputs));
  EXPECT_TRUE(line.plan(inputs, bytes).ok());
  inputs[3].shape = {2, 9};
  EXPECT_FALSE(line.takes(inputs));
  EXPECT_EQ(line.plan(inputs, bytes).message(),
            "planning: dimension 1 of argument 'out' has extent 9, the bound "
            "has 5");
}

TEST(LinePlanner, SaysWhatIsWrong) {
  LinePlanner line = planner(latentAttention(), {lengthsInput({3, 4, 5})});
  std::vector<uint8_t> bytes;
  auto plan = [&](const std::vector<int64_t> &lengths) {
    std::vector<PlanInput> inputs = {lengthsInput(lengths)};
    return line.plan(inputs, bytes);
  };
  std::vector<PlanInput> equal = {lengthsInput({9, 9, 9})};
  std::vector<PlanInput> fewer = {lengthsInput({9, 9})};
  EXPECT_TRUE(line.takes(equal));
  EXPECT_FALSE(line.takes(fewer));
  EXPECT_EQ(plan({9, 9}).message(),
            "planning: argument 'lengths' has shape 2, the bound has 3");
  EXPECT_THAT(plan({9, -2, 9}).message(),
              testing::HasSubstr("task 1 is -2, expected 0 to "));
  EXPECT_EQ(plan({1, int64_t(1) << 40, 2}).code(),
            StatusCode::resourceExhausted);
}

} // namespace
