//===- ChooseTest.cpp - The best of all choices ---------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `chooseOptions` against every choice that can be forced, and what it says of
// them.
//
//===----------------------------------------------------------------------===//

#include "RandomPrograms.h"
#include "Workloads.h"

#include "dataflow/Schedule/Simulator.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

using namespace dfrt;
using namespace dfrt::test;
using testing::HasSubstr;

namespace {

double predicted(const Problem &problem, const ScheduleOptions &options) {
  Expected<Schedule> schedule = makeSchedule(problem, options);
  if (!schedule)
    return -1;
  EXPECT_TRUE(verify(problem, *schedule));
  Expected<SimulationResult> result = simulate(problem, *schedule);
  EXPECT_TRUE(result);
  return result ? result->totalNs : -1;
}

const Decision *decisionOn(const char *topic, const Decisions &decisions) {
  for (const Decision &decision : decisions)
    if (decision.topic == topic && !decision.rejected.empty())
      return &decision;
  return nullptr;
}

} // namespace

TEST(Choose, NothingThatIsForcedIsFaster) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    RandomLimits limits;
    limits.size = 1 + static_cast<int>(seed % 5);
    RandomCase c = randomCase(seed, limits);
    Expected<Problem> problem = instantiate(c.program, c.inputs, c.topology);
    RC_ASSERT(bool(problem));
    double best = predicted(*problem, solvedBy(kBestSolver));
    RC_ASSERT(best > 0);
    for (const Solver &solver : solvers())
      for (auto combine :
           {ScheduleOptions::Combine::automatic,
            ScheduleOptions::Combine::scatter, ScheduleOptions::Combine::fold,
            ScheduleOptions::Combine::tree})
        for (Transport transport :
             {Transport::automatic, Transport::clusterShared,
              Transport::global}) {
          ScheduleOptions options = solvedBy(solver.name);
          options.combine = combine;
          options.transport = transport;
          double forced = predicted(*problem, options);
          RC_ASSERT(forced < 0 || best <= forced);
        }
  }));
}

TEST(Choose, SaysWhatItRejected) {
  Problem p =
      problemFor(latentAttention(), traces()[3].lengths, topology(120, 4));
  Decisions decisions;
  Schedule schedule = planned(p, solvedBy(kBestSolver), &decisions);
  const Decision *solver = decisionOn("solver", decisions);
  ASSERT_TRUE(solver);
  EXPECT_EQ(solver->choice, schedule.solver);
  EXPECT_NEAR(solver->predictedNs, simulate(p, schedule)->totalNs, 1e-6);
  EXPECT_EQ(solver->rejected.size(), solvers().size() - 1);
  for (const Alternative &other : solver->rejected)
    EXPECT_GE(other.predictedNs, solver->predictedNs) << other.choice;
  EXPECT_THAT(solver->reason, HasSubstr("next is "));
  EXPECT_TRUE(decisionOn("combine", decisions));
  EXPECT_TRUE(decisionOn("transport", decisions));
}

TEST(Choose, LeavesAloneWhatIsForced) {
  Problem p = problemFor(splitReduce(true), {64 * 40, 64 * 3}, topology(8, 4));
  ScheduleOptions options = solvedBy(kBestSolver);
  options.combine = ScheduleOptions::Combine::tree;
  options.transport = Transport::global;
  Decisions decisions;
  Expected<ScheduleOptions> chosen = chooseOptions(p, options, &decisions);
  ASSERT_TRUE(chosen) << chosen.status().message();
  EXPECT_EQ(chosen->combine, options.combine);
  EXPECT_EQ(chosen->transport, options.transport);
  EXPECT_FALSE(decisionOn("combine", decisions));
  EXPECT_TRUE(decisionOn("solver", decisions));
}

/// A hop takes longer than reading a little more on one CTA.
TEST(Choose, LittleWorkIsNotCut) {
  Program program = splitReduce(true);
  program.stages[0].cost = {64, 512, 0, 0};
  Problem p = problemFor(program, {64 * 8, 64 * 3, 64}, topology(132));
  Schedule s = planned(p, solvedBy(kBestSolver));
  EXPECT_EQ(callsOf(s, 0).size(), 3u);
  EXPECT_TRUE(s.transfers.empty());
  // A long task is.
  Problem longer = problemFor(program, {64 * 8000}, topology(132));
  EXPECT_GT(callsOf(planned(longer, solvedBy(kBestSolver)), 0).size(), 100u);
}
