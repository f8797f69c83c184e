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

namespace {

/// FNV-1a over all that a schedule says.
class Fingerprint {
public:
  template <typename... Values>
  void add(Values... values) {
    ((hash = (hash ^ static_cast<uint64_t>(values)) * 1099511628211ull), ...);
  }
  void add(const Schedule &s) {
    for (const Queue &queue : s.queues) {
      add(queue.cta);
      for (uint32_t i : queue.instructions)
        add(i);
    }
    for (const Instruction &i : s.instructions)
      add(i.stage, i.variant, i.task, i.tileBegin, i.tileEnd, i.sliceBegin,
          i.sliceEnd, i.firstOperand, i.operandCount, i.firstOutput,
          i.outputCount, i.draw);
    for (const Operand &o : s.operands)
      add(o.slot, o.row, o.wait);
    for (const Slot &slot : s.slots)
      add(slot.stage, slot.sliceBegin, slot.sliceEnd, slot.space, slot.cta,
          slot.offset, slot.barrier, slot.phase, slot.flag);
    for (const Transfer &t : s.transfers)
      add(t.transport, t.instruction, t.source, t.firstDestination,
          t.destinationCount);
    for (uint32_t d : s.destinations)
      add(d);
    for (const Release &r : s.releases)
      add(r.slot, r.from, r.to, r.barrier, r.phase);
    for (const Barrier &b : s.barriers)
      add(b.cta, b.arrivals);
    add(s.flags, s.sharedBytes, s.globalBytes, s.exitBarrier);
  }
  uint64_t value() const { return hash; }

private:
  uint64_t hash = 14695981039346656037ull;
};

} // namespace

/// Making the planner faster must not change what it plans. Where another plan
/// is wanted, these numbers are to change in the same commit.
TEST(Traces, PlansAreThoseOfBefore) {
  struct Expected {
    uint32_t ctas, cluster;
    const char *solver;
    uint64_t fingerprint;
  };
  const Expected table[] = {
      {132, 1, "stream", 0x91b62ae55a4df649},
      {120, 4, "stream", 0x47f4ee26f80b78f0},
      {112, 16, "stream", 0x3c84d5a9c75c3e3e},
      {132, 1, "longest-first", 0x7ef6a0a70fd07683},
      {120, 4, "longest-first", 0x5808a3d798d45ccd},
      {132, 1, "tickets", 0x804ca6e7b6bafe4a},
  };
  for (const Expected &e : table) {
    Fingerprint fingerprint;
    for (const Trace &trace : traces()) {
      Problem p = problemFor(latentAttention(), trace.lengths,
                             topology(e.ctas, e.cluster));
      fingerprint.add(planned(p, solvedBy(e.solver)));
    }
    EXPECT_EQ(fingerprint.value(), e.fingerprint)
        << e.ctas << "x" << e.cluster << ", " << e.solver << ": 0x" << std::hex
        << fingerprint.value();
  }
}
