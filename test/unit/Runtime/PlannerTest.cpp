//===- PlannerTest.cpp - C API: planners ----------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever a planner keeps, its plan of a batch is the one that dfrt_plan_make
// makes, byte for byte.
//
//===----------------------------------------------------------------------===//

#include "CountAllocations.h"
#include "Handles.h"
#include "TestPrograms.h"

#include "dfrt/dfrt.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

using namespace dfrt;
using namespace dfrt::test;

namespace {

/// An artifact with a planner of it.
struct Planned {
  explicit Planned(const TestCase &first, uint32_t plans = 4,
                   uint32_t verify = 1, const char *solver = nullptr) {
    std::vector<uint8_t> bytes = *writeArtifact(first.artifact);
    artifact =
        std::move(*ArtifactHandle::fromMemory(bytes.data(), bytes.size()));
    dfrt_plan_options_init(&options);
    options.ctas = 12;
    options.cluster_size = solver ? 1 : 4;
    options.verify = verify;
    options.solver = solver;
    dfrt_planner_options with;
    dfrt_planner_options_init(&with);
    with.plans = plans;
    with.plan_options = &options;
    planner = std::move(*PlannerHandle::create(artifact, &with));
  }

  /// Plans a batch, compares, and gives its origin.
  uint32_t plan(TestCase batch) {
    uint32_t origin = 99;
    std::vector<dfrt_tensor> arguments = batch.arguments();
    Expected<const dfrt_plan *> plan = planner.plan(arguments, &origin);
    EXPECT_TRUE(bool(plan)) << plan.status().message();
    Expected<PlanHandle> made = PlanHandle::make(artifact, arguments, &options);
    EXPECT_TRUE(bool(made)) << made.status().message();
    if (plan && made) {
      EXPECT_EQ(bytesOf(*plan), made->bytes());
    }
    return origin;
  }

  static std::vector<uint8_t> bytesOf(const dfrt_plan *plan) {
    const void *first = nullptr;
    uint64_t size = 0;
    EXPECT_EQ(dfrt_plan_bytes(plan, &first, &size), DFRT_OK);
    const uint8_t *begin = static_cast<const uint8_t *>(first);
    return {begin, begin + size};
  }

  ArtifactHandle artifact;
  dfrt_plan_options options;
  PlannerHandle planner;
};

} // namespace

TEST(Planners, MadeUpdatedFound) {
  TestCase batch = raggedCase({37, 0, 200, 1});
  int64_t tile = batch.program().ranges[0].tile;
  ASSERT_GT(tile, 1);
  Planned p(batch);
  std::vector<int64_t> lengths = {tile + 1, 0, 9 * tile + 1, 1};
  EXPECT_EQ(p.plan(raggedCase(lengths)), DFRT_PLAN_MADE);
  EXPECT_EQ(p.plan(raggedCase(lengths)), DFRT_PLAN_FOUND);
  lengths[0] = 2 * tile;
  EXPECT_EQ(p.plan(raggedCase(lengths)), DFRT_PLAN_UPDATED);
  EXPECT_EQ(p.plan(raggedCase(lengths)), DFRT_PLAN_FOUND);
  ++lengths[0]; // crosses into another tile
  EXPECT_EQ(p.plan(raggedCase(lengths)), DFRT_PLAN_MADE);
  lengths[1] = 1; // no longer empty
  EXPECT_EQ(p.plan(raggedCase(lengths)), DFRT_PLAN_MADE);
  lengths.push_back(0);
  EXPECT_EQ(p.plan(raggedCase(lengths)), DFRT_PLAN_MADE);
}

/// The solver of the device makes no schedule: the bytes are the same.
TEST(Planners, LineIsMadeUpdatedFound) {
  Planned p(raggedCase({1}), 4, /*verify=*/1, "line");
  int64_t tile = raggedCase({1}).program().ranges[0].tile;
  std::vector<int64_t> lengths = {tile + 1, 0, 9 * tile + 1, 1};
  EXPECT_EQ(p.plan(raggedCase(lengths)), DFRT_PLAN_MADE);
  EXPECT_EQ(p.plan(raggedCase(lengths)), DFRT_PLAN_FOUND);
  lengths[0] = 2 * tile;
  EXPECT_EQ(p.plan(raggedCase(lengths)), DFRT_PLAN_UPDATED);
  lengths[2] = 400 * tile; // longer than any before
  EXPECT_EQ(p.plan(raggedCase(lengths)), DFRT_PLAN_MADE);
  lengths.push_back(7); // another shape
  EXPECT_EQ(p.plan(raggedCase(lengths)), DFRT_PLAN_MADE);
}

/// A plan names variants: it is made anew when one no longer holds a task.
TEST(Planners, BoundedVariantsCount) {
  TestCase batch = boundedCase({5, 40});
  ASSERT_EQ(batch.program().ranges[0].tile, 4);
  Planned p(batch);
  EXPECT_EQ(p.plan(batch), DFRT_PLAN_MADE);
  EXPECT_EQ(p.plan(boundedCase({6, 39})), DFRT_PLAN_UPDATED);
  // As many tiles, but more than 6 elements.
  EXPECT_EQ(p.plan(boundedCase({7, 39})), DFRT_PLAN_MADE);
}

/// Of three plans two fit: the one used longest ago goes.
TEST(Planners, LeastRecentlyUsedGoes) {
  TestCase a = raggedCase({900}), b = raggedCase({1800}), c = raggedCase({9});
  Planned p(a, 2);
  EXPECT_EQ(p.plan(a), DFRT_PLAN_MADE);
  EXPECT_EQ(p.plan(b), DFRT_PLAN_MADE);
  EXPECT_EQ(p.plan(a), DFRT_PLAN_FOUND);
  EXPECT_EQ(p.plan(c), DFRT_PLAN_MADE);
  EXPECT_EQ(p.plan(a), DFRT_PLAN_FOUND);
  EXPECT_EQ(p.plan(b), DFRT_PLAN_MADE);
}

TEST(Planners, KeysCount) {
  TestCase a = routeCase(6, {0, 1, 2, 3, 4, 5, -1, 0});
  Planned p(a);
  EXPECT_EQ(p.plan(a), DFRT_PLAN_MADE);
  EXPECT_EQ(p.plan(a), DFRT_PLAN_FOUND);
  EXPECT_EQ(p.plan(routeCase(6, {0, 1, 2, 3, 4, 5, 0, -1})), DFRT_PLAN_MADE);
  EXPECT_EQ(p.plan(routeCase(7, {0, 1, 2, 3, 4, 5, 0, -1})), DFRT_PLAN_MADE);
  // The same row of another source.
  EXPECT_EQ(p.plan(routeCase(1, {0, -1, -1, -1, -1, -1, -1, -1})),
            DFRT_PLAN_MADE);
  EXPECT_EQ(p.plan(routeCase(1, {-1, -1, -1, -1, 0, -1, -1, -1})),
            DFRT_PLAN_MADE);
}

/// Work that is under way, a launcher's say, keeps its plan: the planner writes
/// another one, and later the first again.
TEST(Planners, HeldPlansStay) {
  TestCase first = raggedCase({33, 0, 205, 2});
  Planned p(first, 1);
  std::shared_ptr<PlanState> held;
  const PlanState *before = nullptr;
  for (int64_t step = 0; step < 6; ++step) {
    TestCase batch = raggedCase({33 + step, 0, 205 + step, 2 + step});
    std::vector<dfrt_tensor> arguments = batch.arguments();
    Expected<const dfrt_plan *> plan = p.planner.plan(arguments);
    ASSERT_TRUE(bool(plan));
    std::vector<uint8_t> bytes =
        PlanHandle::make(p.artifact, arguments, &p.options)->bytes();
    EXPECT_EQ(p.bytesOf(*plan), bytes);
    if (held) {
      EXPECT_NE(held, (*plan)->state);
      EXPECT_NE(held->bytes, bytes);
    }
    if (step > 1) {
      EXPECT_EQ(before, (*plan)->state.get()); // two plans in turn
    }
    before = held.get();
    held = (*plan)->state;
  }
}

/// A decode: every length grows, now and then a task begins or ends.
TEST(Planners, Steps) {
  EXPECT_TRUE(rc::check([](const std::vector<uint8_t> &start) {
    std::vector<int64_t> lengths(start.begin(), start.end());
    Planned p(raggedCase(lengths), 2);
    for (int step = 0; step < 12; ++step) {
      p.plan(raggedCase(lengths));
      for (int64_t &length : lengths)
        ++length;
      if (step % 5 == 4 && !lengths.empty())
        lengths.pop_back();
      if (step % 7 == 6)
        lengths.push_back(3);
    }
    RC_ASSERT(!testing::Test::HasFailure());
  }));
}

/// An updated plan runs.
TEST(Planners, LaunchesAnUpdatedPlan) {
  TestCase first = raggedCase({33, 0, 205, 2});
  Planned p(first);
  EXPECT_EQ(p.plan(first), DFRT_PLAN_MADE);
  TestCase next = raggedCase({34, 0, 206, 3});
  std::vector<dfrt_tensor> arguments = next.arguments();
  uint32_t origin = 0;
  Expected<const dfrt_plan *> plan = p.planner.plan(arguments, &origin);
  ASSERT_TRUE(bool(plan));
  next.clearOutputs();
  DeviceHandle device = std::move(*DeviceHandle::open("cpu"));
  Status status = device.launch(p.artifact, *plan, arguments);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(next.differences(), "");
}

TEST(Planners, TouchNoHeapInTheSteadyState) {
#ifndef NDEBUG
  GTEST_SKIP() << "assertions allocate";
#endif
  std::vector<TestCase> batches;
  for (int64_t add : {0, 0, 1, 400, 1})
    batches.push_back(raggedCase({900 + add, 1700 + add, 100 + add}));
  std::vector<std::vector<dfrt_tensor>> arguments;
  for (TestCase &batch : batches)
    arguments.push_back(batch.arguments());
  for (const char *solver : {"stream", "line"}) {
    Planned p(batches[0], 1, /*verify=*/0, solver);
    for (int round = 0; round < 3; ++round) {
      uint64_t before = allocationCount();
      bool good = true;
      for (const auto &tensors : arguments)
        good &= bool(p.planner.plan(tensors));
      EXPECT_TRUE(good) << solver;
      if (round) {
        EXPECT_EQ(allocationCount(), before) << solver;
      }
    }
  }
}

TEST(Planners, RefusesAndGoesOn) {
  TestCase good = raggedCase({40, 90});
  Planned p(good);
  EXPECT_EQ(p.plan(good), DFRT_PLAN_MADE);
  TestCase bad = raggedCase({40, 90});
  for (TestTensor &tensor : bad.tensors)
    if (!tensor.integers.empty() && tensor.integers[0] == 40)
      tensor.integers[0] = -1;
  std::vector<dfrt_tensor> arguments = bad.arguments();
  Expected<const dfrt_plan *> plan = p.planner.plan(arguments);
  EXPECT_EQ(plan.status().code(), StatusCode::invalidArgument);
  EXPECT_EQ(p.plan(good), DFRT_PLAN_FOUND);

  dfrt_planner_options options;
  dfrt_planner_options_init(&options);
  options.plans = 0;
  EXPECT_EQ(PlannerHandle::create(p.artifact, &options).status().message(),
            "option plans is 0, expected 1 to 65536");
  dfrt_planner *none = nullptr;
  EXPECT_EQ(dfrt_planner_create(nullptr, nullptr, &none),
            DFRT_INVALID_ARGUMENT);
  EXPECT_EQ(dfrt_planner_plan(nullptr, nullptr, 0, nullptr, nullptr),
            DFRT_INVALID_ARGUMENT);
}
