//===- DevicePlannerAPITest.cpp - Planning on the device, from C ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C API on the CPU device, which executes the plans that a GPU would make.
//
//===----------------------------------------------------------------------===//

#include "TestPrograms.h"

#include "dfrt/dfrt.hpp"

#include <gtest/gtest.h>

#include <random>

using namespace dfrt;
using namespace dfrt::test;

namespace {
struct Opened {
  explicit Opened(const TestCase &of) {
    std::vector<uint8_t> bytes = *writeArtifact(of.artifact);
    artifact =
        std::move(*ArtifactHandle::fromMemory(bytes.data(), bytes.size()));
    device = std::move(*DeviceHandle::open("cpu"));
    dfrt_plan_options_init(&options);
    options.ctas = 6;
  }

  Expected<DevicePlannerHandle> planner(TestCase bound) {
    return DevicePlannerHandle::create(device, artifact, bound.arguments(),
                                       &options);
  }

  ArtifactHandle artifact;
  DeviceHandle device;
  dfrt_plan_options options;
};
} // namespace

TEST(DevicePlannerAPI, PlansGiveTheRightResults) {
  std::vector<int64_t> most(9, 120);
  Opened o(raggedCase(most));
  Expected<DevicePlannerHandle> planner = o.planner(raggedCase(most));
  ASSERT_TRUE(bool(planner)) << planner.status().message();
  std::mt19937 random(4);
  for (uint32_t round = 0; round < 40; ++round) {
    std::vector<int64_t> lengths;
    for (size_t i = 0; i < most.size(); ++i)
      lengths.push_back(random() % 3 ? int64_t(random() % 121) : 0);
    TestCase batch = raggedCase(lengths);
    std::vector<dfrt_tensor> arguments = batch.arguments();
    Expected<PlanHandle> plan = planner->plan(arguments);
    ASSERT_TRUE(bool(plan)) << plan.status().message();
    dfrt_launch_options how;
    dfrt_launch_options_init(&how);
    how.adversarial = round % 2;
    how.seed = round;
    batch.clearOutputs();
    Status status = o.device.launch(o.artifact, *plan, arguments, &how);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(batch.differences(), "");
  }
}

TEST(DevicePlannerAPI, SaysWhatCannotBe) {
  std::vector<int64_t> most = {40, 8};
  Opened o(raggedCase(most));
  Expected<DevicePlannerHandle> planner = o.planner(raggedCase(most));
  ASSERT_TRUE(bool(planner)) << planner.status().message();
  TestCase longer = raggedCase({0, 41});
  Expected<PlanHandle> plan = planner->plan(longer.arguments());
  EXPECT_EQ(plan.status().message(),
            "planning on the device: the length of stage 'part', task 1 is 41, "
            "expected 0 to 40");
  EXPECT_EQ(planner->report().message(),
            "the planner was made for the CPU; make one for a CUDA device");
  o.options.solver = "tickets";
  EXPECT_EQ(o.planner(raggedCase(most)).status().message(),
            "plans of the kind that a device makes cannot have a solver other "
            "than 'line'");
  o.options.solver = nullptr;
  dfrt_capacity capacity = {};
  o.options.capacity = &capacity;
  EXPECT_EQ(o.planner(raggedCase(most)).status().message(),
            "the capacity of plans that a device makes follows from the bound; "
            "leave the option out");

  Opened other(spreadCase({8}));
  EXPECT_EQ(other.planner(spreadCase({8})).status().message(),
            "program 'spread' cannot be planned on a device: it does not take "
            "stage 'whole', which has no range and does not finish a map into "
            "pieces");
}

/// The solver's name on the host stands for the plan that its own batch bounds.
TEST(DevicePlannerAPI, SolverOfTheHost) {
  TestCase batch = raggedCase({37, 0, 200, 1});
  Opened o(batch);
  std::vector<dfrt_tensor> arguments = batch.arguments();
  o.options.solver = "line";
  Expected<PlanHandle> plan =
      PlanHandle::make(o.artifact, arguments, &o.options);
  ASSERT_TRUE(bool(plan)) << plan.status().message();
  Expected<std::string> summary = plan->summary();
  ASSERT_TRUE(bool(summary));
  EXPECT_NE(summary->find("\"solver\":\"line\""), std::string::npos)
      << *summary;
  batch.clearOutputs();
  Status status = o.device.launch(o.artifact, *plan, arguments);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(batch.differences(), "");
  o.options.combine = DFRT_COMBINE_TREE;
  EXPECT_EQ(PlanHandle::make(o.artifact, arguments, &o.options).status().code(),
            StatusCode::unsupported);
}
