//===- PlannerTest.cpp - Batch after batch of one program -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a planner keeps from one batch never shows in the next: its schedules
// are those of `makeSchedule`, whatever was planned or refused before. And a
// second batch of a size touches the heap nowhere.
//
//===----------------------------------------------------------------------===//

#include "CountAllocations.h"
#include "RandomPrograms.h"
#include "Workloads.h"

#include "dataflow/Schedule/Planner.h"

#include <rapidcheck.h>

using namespace dfrt;
using namespace dfrt::test;

namespace {

Planner plannerOf(const Program &program) {
  Expected<Planner> planner = Planner::create(program);
  EXPECT_TRUE(planner) << planner.status().message();
  return planner ? std::move(*planner) : Planner();
}

std::vector<ScheduleOptions> manyOptions() {
  std::vector<ScheduleOptions> result;
  for (const Solver &solver : solvers())
    for (auto combine :
         {ScheduleOptions::Combine::automatic,
          ScheduleOptions::Combine::scatter, ScheduleOptions::Combine::tree})
      for (Transport transport :
           {Transport::automatic, Transport::clusterShared, Transport::global,
            Transport::multicast}) {
        result.push_back(solvedBy(solver.name));
        result.back().combine = combine;
        result.back().transport = transport;
      }
  return result;
}

/// Plans with `planner` and from scratch.
void expectSame(Planner &planner, const std::vector<PlanInput> &inputs,
                const Topology &shape, const ScheduleOptions &options) {
  Expected<Problem> problem =
      instantiate(planner.problem().program, inputs, shape);
  Status read = planner.read(inputs, shape);
  ASSERT_EQ(bool(problem), bool(read)) << read.message();
  if (!problem) {
    EXPECT_EQ(problem.status().message(), read.message());
    EXPECT_EQ(planner.plan(options).code(), StatusCode::invalidArgument);
    return;
  }
  Decisions expectedDecisions, decisions;
  Expected<Schedule> expected =
      makeSchedule(*problem, options, &expectedDecisions);
  Status planned = planner.plan(options, &decisions);
  ASSERT_EQ(bool(expected), bool(planned)) << planned.message();
  if (!expected) {
    EXPECT_EQ(expected.status().message(), planned.message());
    return;
  }
  EXPECT_TRUE(*expected == planner.schedule());
  ASSERT_EQ(expectedDecisions.size(), decisions.size());
  for (size_t i = 0; i < decisions.size(); ++i)
    EXPECT_EQ(expectedDecisions[i].reason, decisions[i].reason);
}

} // namespace

TEST(Planner, RandomProgramsWithEveryOption) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    RandomLimits limits;
    limits.size = 1 + static_cast<int>(seed % 6);
    limits.requests = seed & 64;
    RandomCase c = randomCase(seed, limits);
    Expected<Planner> made = Planner::create(c.program);
    if (!made) // two requests contradict each other
      return;
    Planner planner = std::move(*made);
    for (const ScheduleOptions &options : manyOptions())
      expectSame(planner, c.inputs, c.topology, options);
    RC_ASSERT(!testing::Test::HasFailure());
  }));
}

/// Batches of very different sizes, some of them wrong.
TEST(Planner, BatchesInTurn) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    Random random(seed);
    Planner planner = plannerOf(splitReduce(random.chance(50)));
    for (int batch = 0; batch < 12; ++batch) {
      std::vector<int64_t> lengths(size_t(random.in(0, 60)));
      for (int64_t &length : lengths)
        length = random.chance(10) ? 0 : random.in(1, 20000);
      if (!lengths.empty() && random.chance(10))
        lengths[0] = -1;
      uint32_t cluster = 1u << random.in(0, 3);
      uint32_t ctas = cluster * uint32_t(random.in(1, 12));
      expectSame(planner, {lengthsInput(lengths)},
                 topology(ctas, cluster, uint64_t(random.in(1, 9)) * 8192),
                 random.pick(manyOptions()));
    }
    RC_ASSERT(!testing::Test::HasFailure());
  }));
}

TEST(Planner, NeedsABatch) {
  Planner planner = plannerOf(splitReduce(true));
  EXPECT_EQ(planner.plan().message(),
            "planner of program 'split' has no batch");
  EXPECT_FALSE(planner.read({}, topology(4)));
  EXPECT_FALSE(planner.plan());
  std::vector<PlanInput> inputs = {lengthsInput({100})};
  EXPECT_FALSE(planner.read(inputs, topology(3, 2)));
  EXPECT_FALSE(planner.plan());
  EXPECT_TRUE(planner.read(inputs, topology(4)));
  EXPECT_TRUE(planner.plan());
}

TEST(Planner, RefusesABrokenProgram) {
  Program program = splitReduce(true);
  program.stages[0].range = 7;
  EXPECT_EQ(Planner::create(program).status().message(),
            check(program).message());
}

/// Different batches of one size, after the first of them.
TEST(Planner, TouchesTheHeapOnce) {
  for (const ScheduleOptions &options : manyOptions())
    for (uint32_t cluster : {1u, 4u}) {
      Planner planner = plannerOf(latentAttention());
      Topology shape = topology(120, cluster);
      CostModel costs;
      std::vector<PlanInput> inputs = {
          lengthsInput(manyLengths(traces()[3], 128))};
      bool planned = false;
      for (int warm = 0; warm < 2; ++warm) {
        ASSERT_TRUE(planner.read(inputs, shape, costs));
        planned = bool(planner.plan(options));
      }
      if (!planned)
        continue; // a forced choice that is refused: the message allocates
      uint64_t before = allocationCount();
      for (int64_t &length : inputs[0].values)
        length -= 64; // nowhere more tiles
      Status read = planner.read(inputs, shape, costs);
      Status again = planner.plan(options);
      EXPECT_EQ(allocationCount() - before, 0u)
          << options.solver << " " << int(options.combine) << " "
          << int(options.transport);
      EXPECT_TRUE(read && again);
    }
}
