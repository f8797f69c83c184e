//===- PlanningTest.cpp - Planning on the device, and launchers -----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fake driver runs the planning kernel's source when that is launched: its
// device memory is the host's.
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"
#include "LaunchableProgram.h"

#include "dataflow/Schedule/Message.h"
#include "dfrt/cuda/Graph.h"
#include "dfrt/cuda/Launcher.h"
#include "planning/HostThreads.h"
#include "planning/WriteQueues.h"

#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;
using namespace dfrt::test;
using testing::HasSubstr;

namespace {
void runPlanning(const unsigned char *parameter) {
  planning::Launch launch;
  std::memcpy(&launch, parameter, sizeof(launch));
  planning::Tables tables = launch.tables;
  std::vector<uint64_t> arena(planning::layoutArena(tables) / 8 + 2);
  planning::plan(launch, reinterpret_cast<uint8_t *>(arena.data()),
                 planning::HostThreads(), 0, 1);
}

class PlanningTest : public CudaTest {
protected:
  void SetUp() override {
    CudaTest::SetUp();
    s = stream();
    test = withKernels(raggedCase({37, 0, 200, 1}));
    inputs = {{"offsets", {4}, {0, 37, 37, 237}},
              {"lengths", {4}, {37, 0, 200, 1}}};
    planner =
        take(DevicePlanner::create(test.program(), inputs, kernelTopology(8)));
    ModuleCache cache(device);
    const Kernel &record = test.artifact.kernels[0];
    kernel = take(LoadedKernel::load(device, cache, record,
                                     test.artifact.code[record.blob], "ragged",
                                     test.program().fingerprint()));
    shape.shape = {8, record.threads, 1, 232448, true};
    shape.residentCtas = 132;
    planning = take(PlanningKernel::create(device, cache, planner, s));
    maxima.include(planFacts(planner));
    fake().parameterBytes = sizeof(planning::Launch);
    fake().parameterThreads = planning::kMaxThreads;
    fake().onLaunch = runPlanning;
  }
  void TearDown() override {
    launcher = Launcher();
    planning = PlanningKernel();
    kernel = LoadedKernel();
    s = Stream();
    CudaTest::TearDown();
  }
  void create() {
    launcher = take(Launcher::create(kernel, shape, maxima, s, {}));
  }
  void bind() {
    std::vector<KernelArgument> arguments;
    for (size_t i = 0; i < test.tensors.size(); ++i) {
      const Argument &argument = test.program().arguments[i];
      uint64_t address = 0x10000 + 0x1000 * i;
      for (const PlanInput &input : inputs)
        if (input.argument == argument.name)
          address = uintptr_t(input.values.data());
      arguments.push_back(makeArgument(argument.name, address, argument.element,
                                       test.tensors[i].shape));
    }
    EXPECT_OK(launcher.bind(arguments));
  }
  /// Whether the device has what the host plans for `inputs`.
  bool planned() {
    std::vector<uint8_t> expected, bytes;
    EXPECT_OK(planner.planOnHost(inputs, expected));
    EXPECT_OK(sealPlan(expected));
    EXPECT_OK(launcher.readPlan(s, bytes));
    return bytes == expected;
  }

  Stream s;
  TestCase test;
  std::vector<PlanInput> inputs; ///< what the device sees
  DevicePlanner planner;
  LoadedKernel kernel;
  PlanningKernel planning;
  ChosenShape shape;
  LaunchMaxima maxima;
  Launcher launcher;
};

TEST_F(PlanningTest, LaunchesNeedNoUpload) {
  create();
  EXPECT_FAILURE(launcher.plan(planning, s), StatusCode::invalidArgument,
                 HasSubstr("no arguments to plan from"));
  bind();
  EXPECT_FAILURE(launcher.launch(s), StatusCode::invalidArgument,
                 HasSubstr("it has no plan"));
  EXPECT_OK(launcher.plan(planning, s));
  EXPECT_EQ(fake().lastCtas, 9u);
  EXPECT_EQ(fake().lastThreads, planning::kMaxThreads);
  EXPECT_EQ(fake().lastShared, planner.arenaBytes());
  EXPECT_OK(launcher.launch(s));
  EXPECT_EQ(fake().lastThreads, kernel.record().threads);
  EXPECT_TRUE(planned());
  inputs[1].values = {1, 2, 0, 199};
  bind(); // elsewhere
  EXPECT_FALSE(planned());
  EXPECT_OK(launcher.plan(planning, s));
  EXPECT_TRUE(planned());
  EXPECT_EQ(take(planning.report(s)).plans, 2u);
}

TEST_F(PlanningTest, ReplaysPlanAnew) {
  create();
  bind();
  Graph graph = take(Graph::capture(s, StagingRing(), [&]() -> Status {
    DFRT_TRY(launcher.plan(planning, s));
    return launcher.launch(s);
  }));
  ASSERT_EQ(graph.kernels().size(), 2u);
  EXPECT_EQ(graph.copies(), 0u);
  EXPECT_FAILURE(launcher.launch(s), StatusCode::invalidArgument,
                 HasSubstr("a graph's"));
  for (int64_t length : {0, 5, 200}) {
    inputs[1].values[2] = length;
    EXPECT_OK(graph.replay(s));
    EXPECT_TRUE(planned()) << length;
  }
  EXPECT_EQ(take(planning.report(s)).plans, 3u);
}

/// A graph's planner lives as long as the launcher, whatever plans later.
TEST_F(PlanningTest, CapturedPlannersStay) {
  create();
  bind();
  Graph graph = take(Graph::capture(s, StagingRing(), [&]() -> Status {
    return launcher.plan(planning, s);
  }));
  ModuleCache cache(device);
  PlanningKernel other =
      take(PlanningKernel::create(device, cache, planner, s));
  planning = PlanningKernel();
  int before = fake().alive("memory");
  EXPECT_OK(launcher.plan(other, s));
  EXPECT_EQ(fake().alive("memory"), before);
  EXPECT_OK(graph.replay(s));
  EXPECT_TRUE(planned());
}

TEST_F(PlanningTest, ArgumentsHaveTheShapesOfTheBound) {
  inputs = {{"offsets", {5}, {0, 37, 37, 237, 237}},
            {"lengths", {5}, {37, 0, 200, 1, 1}}};
  planner =
      take(DevicePlanner::create(test.program(), inputs, kernelTopology(8)));
  ModuleCache cache(device);
  planning = take(PlanningKernel::create(device, cache, planner, s));
  maxima.include(planFacts(planner));
  create();
  bind(); // tensors of four
  EXPECT_FAILURE(launcher.plan(planning, s), StatusCode::invalidArgument,
                 HasSubstr("has shape 4, the bound has 5"));
}

TEST_F(PlanningTest, RefusalsAreToldOnce) {
  create();
  bind();
  inputs[1].values[1] = 201;
  EXPECT_OK(launcher.plan(planning, s));
  EXPECT_OK(launcher.launch(s));
  DevicePlanReport report = take(planning.report(s));
  EXPECT_EQ(report.refusals, 1u);
  EXPECT_FAILURE(report.status, StatusCode::resourceExhausted,
                 HasSubstr("the length of stage 'part', task 1 is 201"));
  report = take(planning.report(s));
  EXPECT_OK(report.status);
  EXPECT_EQ(report.refusals, 1u);
}

TEST_F(PlanningTest, WhatDoesNotFitIsRefusedBeforehand) {
  maxima.planBytes -= 1;
  create();
  bind();
  EXPECT_FAILURE(launcher.plan(planning, s), StatusCode::invalidArgument,
                 HasSubstr("bytes of plan, there is room for"));
  maxima.planBytes += 1;
  shape.shape.ctas = 16;
  create();
  bind();
  EXPECT_FAILURE(launcher.plan(planning, s), StatusCode::invalidArgument,
                 HasSubstr("it was made for 8 CTAs"));
}
} // namespace
