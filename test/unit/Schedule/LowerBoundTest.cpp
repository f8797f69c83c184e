//===- LowerBoundTest.cpp - What no schedule can beat ---------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bound by hand, against every solver on random programs, and how far plans
// of the recorded batches are from it.
//
//===----------------------------------------------------------------------===//

#include "RandomPrograms.h"
#include "Workloads.h"

#include "dataflow/Schedule/LowerBound.h"
#include "dataflow/Schedule/Simulator.h"

#include <rapidcheck.h>

#include <cmath>

using namespace dfrt;
using namespace dfrt::test;

namespace {

double fixedPath(const CostModel &c) {
  return c.launchNs + c.startNs + c.instructionNs + c.exitNs;
}

} // namespace

TEST(LowerBound, Bandwidth) {
  Problem p = problemFor(splitReduce(true), std::vector<int64_t>(132, 64 * 10),
                         topology(132));
  LowerBound bound = lowerBound(p);
  // One finalize call follows the last byte.
  double read = 132 * (16384 + 10 * 65536.0) / p.costs.bandwidth;
  EXPECT_NEAR(bound.totalNs, fixedPath(p.costs) + read + p.costs.instructionNs,
              1e-3);
  EXPECT_STREQ(bound.reason(), "bandwidth");
}

TEST(LowerBound, WholeTiles) {
  // Nine tiles on eight CTAs: one reads two.
  Problem p = problemFor(splitReduce(true), {64 * 9}, topology(8));
  LowerBound bound = lowerBound(p);
  EXPECT_NEAR(bound.tilesNs,
              fixedPath(p.costs) +
                  (16384 + 2 * 65536.0) / p.costs.ctaBandwidth +
                  p.costs.instructionNs,
              1e-3);
  EXPECT_GE(bound.totalNs, bound.tilesNs);
}

/// A task that one CTA cannot read in time is cut, whoever plans.
TEST(LowerBound, Exchange) {
  Problem p = problemFor(splitReduce(true), {64 * 64}, topology(64));
  LowerBound bound = lowerBound(p);
  EXPECT_STREQ(bound.reason(), "exchange");
  EXPECT_GT(bound.totalNs, bound.tilesNs);
  // Alone, there is nobody to exchange with.
  Problem alone = problemFor(splitReduce(true), {64 * 64}, topology(1));
  EXPECT_NEAR(lowerBound(alone).totalNs,
              simulate(alone, planned(alone))->totalNs, 1e-3);
}

TEST(LowerBound, Arithmetic) {
  Program program = splitReduce(true);
  program.stages[0].cost.tileFlops = uint64_t(1) << 40;
  LowerBound bound = lowerBound(problemFor(program, {64 * 4}, topology(4)));
  EXPECT_STREQ(bound.reason(), "arithmetic");
}

TEST(LowerBound, EmptyBatch) {
  Problem p = problemFor(splitReduce(true), {}, topology(4));
  EXPECT_NEAR(lowerBound(p).totalNs, simulate(p, planned(p))->totalNs, 1e-6);
}

/// No solver, with no option, stays below.
TEST(LowerBound, HoldsForEveryPlan) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    RandomLimits limits;
    limits.size = 1 + static_cast<int>(seed % 6);
    RandomCase c = randomCase(seed, limits);
    CostModel costs;
    if (seed & 8)
      costs.readRates = {{4, 300}, {16, 900}, {64, 2000}};
    Expected<Problem> problem =
        instantiate(c.program, c.inputs, c.topology, costs);
    RC_ASSERT(bool(problem));
    LowerBound bound = lowerBound(*problem);
    for (const Solver &solver : solvers()) {
      Expected<Schedule> schedule =
          makeSchedule(*problem, solvedBy(solver.name));
      RC_ASSERT(bool(schedule));
      Expected<SimulationResult> simulated = simulate(*problem, *schedule);
      RC_ASSERT(bool(simulated));
      RC_ASSERT(bound.totalNs <= simulated->totalNs * (1 + 1e-9));
    }
  }));
}

/// Plans of the recorded batches. The gap is the exchange at the end of the
/// batch and the inputs of further pieces: about constant, so that its share
/// falls as CTAs have more tiles.
TEST(LowerBound, RecordedBatches) {
  struct Limit {
    uint32_t ctas, cluster;
    double meanUs, worstUs;
  };
  for (const Limit &limit : {Limit{132, 1, 5.6, 6.5},
                             {120, 8, 6.6, 10.3},
                             {112, 16, 6.2, 8.1},
                             {78, 1, 6.6, 9.0},
                             {148, 1, 5.9, 6.9}}) {
    double sum = 0, worst = 0;
    for (const Trace &trace : traces()) {
      Problem p = problemFor(latentAttention(), trace.lengths,
                             topology(limit.ctas, limit.cluster));
      double gap = (simulate(p, planned(p))->totalNs - lowerBound(p).totalNs);
      EXPECT_GE(gap, 0);
      sum += gap / 1e3;
      worst = std::max(worst, gap / 1e3);
    }
    EXPECT_LT(sum / 16, limit.meanUs) << limit.ctas << "x" << limit.cluster;
    EXPECT_LT(worst, limit.worstUs) << limit.ctas << "x" << limit.cluster;
  }
}
