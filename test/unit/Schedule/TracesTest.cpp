//===- TracesTest.cpp - The planner on recorded batches -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Latent attention decode over the lengths of workloads/mla_decode.json: every
// launch shape of interest plans and verifies, and the predicted time is the
// one measured for a kernel of this structure, 4.9 us + bytes / 4.6 TB/s + 9
// us.
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

#include "dataflow/Schedule/Simulator.h"

#include <cmath>

using namespace dfrt;
using namespace dfrt::test;

TEST(Traces, PredictedTimes) {
  std::vector<Trace> all = traces();
  ASSERT_EQ(all.size(), 16u);
  for (const Trace &trace : all) {
    Problem p = problemFor(latentAttention(), trace.lengths, topology(132));
    Expected<SimulationResult> r = simulate(p, planned(p));
    ASSERT_TRUE(r) << r.status().message();
    double bytes = 0;
    for (int64_t length : trace.lengths)
      bytes += double(length) * 1152 + 36864 + 32 * 512 * 2 + 32 * 4;
    double measured = 4900 + bytes / 4600 + 9000;
    EXPECT_NEAR(r->totalNs, measured, 0.05 * measured + 2000)
        << "trace " << trace.id;
    EXPECT_LT(r->floorNs, r->totalNs);
  }
}

/// On other launch shapes the time stays near what their bandwidth allows.
TEST(Traces, EveryLaunchShape) {
  for (auto [ctas, cluster] : {std::pair<uint32_t, uint32_t>{132, 2},
                               {120, 4},
                               {120, 8},
                               {112, 16},
                               {78, 1},
                               {16, 1}})
    for (const Trace &trace : traces()) {
      Problem p =
          problemFor(latentAttention(), trace.lengths, topology(ctas, cluster));
      Expected<SimulationResult> r = simulate(p, planned(p));
      ASSERT_TRUE(r) << r.status().message();
      double rate = std::min(p.costs.bandwidth, ctas * p.costs.ctaBandwidth);
      double ideal = 4900 + double(p.totalBytes()) / rate + 9000;
      EXPECT_LT(r->totalNs, 1.35 * ideal + 3000)
          << ctas << "x" << cluster << ", trace " << trace.id;
      EXPECT_GT(r->totalNs, ideal - 9000);
    }
}

TEST(Traces, EverySolver) {
  for (const Trace &trace : traces())
    for (const Solver &solver : solvers())
      for (uint32_t cluster : {1u, 4u}) {
        Problem p = problemFor(latentAttention(), trace.lengths,
                               topology(120, cluster));
        EXPECT_TRUE(simulate(p, planned(p, solvedBy(solver.name))));
      }
}
