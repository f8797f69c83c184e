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

#include "Examples.h"

#include "dataflow/Schedule/Simulator.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

using namespace dfrt;
using namespace dfrt::test;

namespace {

/// 32 heads of 512 + 64 16-bit values; pages of 64 tokens.
Program latentAttention() {
  Program p = splitReduce(true);
  Record r = record(
      {field("max", {32}), field("sum", {32}), field("acc", {32, 512}, 1)}, 16);
  p.stages[0].record = p.stages[1].record = r;
  p.stages[0].cost.fixedBytes = 36864;
  p.stages[0].cost.tileBytes = 64 * 1152;
  p.stages[0].cost.tileFlops = 64ull * 2176 * 32;
  p.stages[2].cost.fixedBytes = 32 * 512 * 2 + 32 * 4;
  return p;
}

struct Trace {
  int id;
  std::vector<int64_t> lengths;
};

std::vector<Trace> traces() {
  std::ifstream file(DATAFLOW_SOURCE_DIR "/workloads/mla_decode.json");
  nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  std::vector<Trace> result;
  if (json.is_object())
    for (const auto &trace : json["traces"])
      result.push_back({trace["id"].get<int>(),
                        trace["lengths"].get<std::vector<int64_t>>()});
  return result;
}

} // namespace

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
