//===- SimulatorTest.cpp - Predicted times --------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Virtual time against arithmetic by hand, and against measured times.
//
//===----------------------------------------------------------------------===//

#include "Examples.h"

#include "dataflow/Schedule/Simulator.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace dfrt;
using namespace dfrt::test;
using testing::HasSubstr;

namespace {

SimulationResult simulated(const Problem &problem, const Schedule &schedule) {
  Expected<SimulationResult> result = simulate(problem, schedule);
  EXPECT_TRUE(result) << result.status().message();
  return result ? *result : SimulationResult();
}

/// Sum of the constant parts of every launch.
double overhead(const CostModel &c) {
  return c.launchNs + c.startNs + c.exitNs;
}

} // namespace

TEST(Simulator, OneCtaIsLimitedByItself) {
  Problem p = problemFor(splitReduce(true), {64 * 10}, topology(1));
  SimulationResult r = simulated(p, planned(p));
  const CostModel &c = p.costs;
  double bytes = 16384 + 10 * 65536;
  EXPECT_NEAR(r.totalNs,
              overhead(c) + bytes / c.ctaBandwidth + 2 * c.instructionNs, 1e-3);
  EXPECT_NEAR(r.floorNs, c.launchNs + bytes / c.bandwidth, 1e-3);
  ASSERT_EQ(r.spans.size(), 2u);
  EXPECT_LE(r.spans[0].end, r.spans[1].begin);
  EXPECT_NEAR(r.busyShare, 1, 1e-6);
}

TEST(Simulator, ManyCtasShareTheBandwidth) {
  Problem p = problemFor(splitReduce(true), std::vector<int64_t>(132, 640),
                         topology(132));
  SimulationResult r = simulated(p, planned(p));
  const CostModel &c = p.costs;
  double bytes = 132 * (16384 + 10 * 65536.0);
  EXPECT_NEAR(r.totalNs,
              overhead(c) + bytes / c.bandwidth + 2 * c.instructionNs, 1);
}

/// When one CTA is left it draws what it can, not its old share.
TEST(Simulator, RatesRiseWhenOthersFinish) {
  std::vector<int64_t> lengths(132, 64);
  lengths[7] = 64 * 100;
  Problem p = problemFor(splitReduce(true), lengths, topology(132));
  SimulationResult r = simulated(p, planned(p, solvedBy("longest-first")));
  const CostModel &c = p.costs;
  double together = 132 * (16384 + 65536.0) / c.bandwidth;
  double alone = 99 * 65536.0 / c.ctaBandwidth;
  EXPECT_NEAR(r.totalNs, overhead(c) + together + alone + 2 * c.instructionNs,
              1);
}

TEST(Simulator, FurtherSegmentsCost) {
  Problem p = problemFor(splitReduce(true), {64 * 10, 64 * 10}, topology(1));
  const CostModel &c = p.costs;
  double bytes = 2 * (16384 + 10 * 65536.0) +
                 c.recordWeight * double(p.program.stages[0].record.bytes());
  EXPECT_NEAR(simulated(p, planned(p)).totalNs,
              overhead(c) + bytes / c.ctaBandwidth + 4 * c.instructionNs, 1e-3);
}

TEST(Simulator, HopsCost) {
  Problem global = problemFor(splitReduce(true), {64 * 32}, topology(4));
  Problem cluster = problemFor(splitReduce(true), {64 * 32}, topology(4, 4));
  double viaGlobal = simulated(global, planned(global)).totalNs;
  double viaCluster = simulated(cluster, planned(cluster)).totalNs;
  EXPECT_GT(viaGlobal, viaCluster + 500);
  EXPECT_LT(viaGlobal, viaCluster + 2500);
}

TEST(Simulator, ArithmeticBound) {
  Program program = splitReduce(true);
  program.stages[0].cost.tileFlops = uint64_t(1) << 40;
  Problem p = problemFor(program, {64 * 4}, topology(1));
  double seconds = 4 * std::ldexp(1.0, 40) / p.costs.flops;
  EXPECT_GT(simulated(p, planned(p)).totalNs, seconds);
}

TEST(Simulator, TicketsGoToWhoeverIsFree) {
  Problem p = problemFor(splitReduce(true), {64 * 100, 64 * 40, 64 * 3, 0},
                         topology(4));
  Schedule s = planned(p, solvedBy("tickets"));
  SimulationResult r = simulated(p, s);
  EXPECT_EQ(r.spans.size(), s.instructions.size());
  EXPECT_GT(r.busyShare, 0.5);
  for (size_t i = 1; i < r.spans.size(); ++i)
    if (r.spans[i].cta == r.spans[i - 1].cta) {
      EXPECT_GE(r.spans[i].begin, r.spans[i - 1].end);
    }
}

TEST(Simulator, EmptyBatch) {
  Problem p = problemFor(splitReduce(true), {}, topology(4));
  for (const Solver &solver : solvers())
    EXPECT_NEAR(simulated(p, planned(p, solvedBy(solver.name))).totalNs,
                overhead(p.costs), 1e-6);
}

TEST(Simulator, ReportsDeadlock) {
  Problem p = problemFor(splitReduce(true), {64 * 32}, topology(4));
  Schedule s = planned(p);
  // Two instructions that release each other.
  uint32_t a = s.queues[0].instructions[0], b = s.queues[1].instructions[0];
  s.releases.push_back({s.outputsOf(s.instructions[a])[0], a, b, 0, 0});
  s.releases.push_back({s.outputsOf(s.instructions[b])[0], b, a, 0, 0});
  Expected<SimulationResult> r = simulate(p, s);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.status().code(), StatusCode::deadlock);
  EXPECT_THAT(r.status().message(), HasSubstr("CTA 0 waits at instruction"));
}
