//===- SolverTest.cpp - The planner's schedules and their mutants ---------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No schedule of any solver is refused, and every mutant of one is.
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include "Mutants.h"
#include "Shapes.h"

#include "Schedule/RandomPrograms.h"
#include "dataflow/Schedule/Schedulers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace dfrt;
using namespace dfrt::test;

namespace {

template <typename Body>
void eachSchedule(uint32_t seeds, Body body) {
  for (uint32_t seed = 0; seed < seeds; ++seed)
    for (uint32_t shape = 0; shape < Shapes::count; ++shape) {
      Shapes shapes(seed * 100 + shape);
      std::string what = "seed " + std::to_string(seed);
      Expected<Problem> problem = shapedProblem(shapes, shape, what);
      ASSERT_TRUE(problem) << problem.status().message();
      for (const Solver &solver : solvers()) {
        ScheduleOptions options;
        options.solver = solver.name;
        options.combine = ScheduleOptions::Combine(shapes.upTo(3));
        std::string name = std::string(solver.name) + ", " + what +
                           ", combine " + std::to_string(int(options.combine));
        Expected<Schedule> schedule = makeSchedule(*problem, options);
        if (!schedule) {
          // A forced choice may be impossible; the planner says so.
          if (options.combine == ScheduleOptions::Combine::automatic)
            ADD_FAILURE() << name << ": " << schedule.status().message();
          continue;
        }
        body(name, *problem, *schedule);
      }
    }
}

} // namespace

TEST(VerifySolvers, noFalseAlarm) {
  eachSchedule(60, [](const std::string &name, const Problem &problem,
                      const Schedule &schedule) {
    Status status = verify(problem, schedule);
    EXPECT_TRUE(status.ok()) << name << ": " << status.message();
  });
}

namespace {

/// Makes up to `limit` mutants of each class and expects all to be refused.
size_t refuseMutants(const std::string &name, const Problem &problem,
                     const Schedule &schedule, size_t limit,
                     std::mt19937 &random) {
  size_t made = 0;
  for (const MutantClass &kind : mutantClasses()) {
    std::vector<Mutation> mutations;
    kind.find(problem, schedule, mutations);
    std::shuffle(mutations.begin(), mutations.end(), random);
    if (mutations.size() > limit)
      mutations.resize(limit);
    for (const Mutation &mutation : mutations) {
      Schedule mutant = schedule;
      mutation.apply(mutant);
      EXPECT_EQ(verify(problem, mutant).code(), StatusCode::verificationFailed)
          << name << ", " << kind.name << ", " << mutation.what;
      ++made;
    }
  }
  return made;
}

} // namespace

TEST(VerifySolvers, mutantsAreRefused) {
  std::mt19937 random(7);
  size_t made = 0;
  eachSchedule(20, [&](const std::string &name, const Problem &problem,
                       const Schedule &schedule) {
    made += refuseMutants(name, problem, schedule, 6, random);
  });
  EXPECT_GT(made, 10000u);
}

TEST(VerifySolvers, randomPrograms) {
  std::mt19937 random(11);
  size_t made = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    RandomCase c = randomCase(seed);
    Expected<Problem> problem = instantiate(c.program, c.inputs, c.topology);
    ASSERT_TRUE(problem) << problem.status().message();
    for (const Solver &solver : solvers()) {
      std::string name =
          std::string(solver.name) + ", random case " + std::to_string(seed);
      ScheduleOptions options;
      options.solver = solver.name;
      Expected<Schedule> schedule = makeSchedule(*problem, options);
      ASSERT_TRUE(schedule) << name << ": " << schedule.status().message();
      Status status = verify(*problem, *schedule);
      ASSERT_TRUE(status.ok()) << name << ": " << status.message();
      if (seed < 25)
        made += refuseMutants(name, *problem, *schedule, 2, random);
    }
  }
  EXPECT_GT(made, 1000u);
}
