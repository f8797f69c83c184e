//===- LegalTest.cpp - Legal schedules are accepted -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cases.h"

#include <gtest/gtest.h>

using namespace dfrt;
using namespace dfrt::test;

TEST(VerifyLegal, handWrittenSchedules) {
  for (const Case &c : allCases()) {
    ASSERT_TRUE(check(c.problem).ok()) << c.name;
    Status status = verify(c.problem, c.schedule);
    EXPECT_TRUE(status.ok()) << c.name << ": " << status.message();
  }
}

TEST(VerifyLegal, emptyBatch) {
  Programmer p;
  uint32_t tasks = p.domain("rows", {{"b", 0}});
  uint32_t make = p.map("make", tasks);
  p.finalize("use", tasks, {make});
  Expected<Problem> problem = p.problem(4, 2);
  ASSERT_TRUE(problem) << problem.status().message();
  for (Discipline discipline : {Discipline::fixed, Discipline::ticket}) {
    Schedule schedule = Hand(discipline).finish(*problem);
    Status status = verify(*problem, schedule);
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

TEST(VerifyLegal, partsMayBeSentWholeToASlicedReduce) {
  Case c = scatterGlobal();
  // Slot 2 carries both slices to CTA 1, which needs only the second.
  c.schedule.slots[2].sliceBegin = 0;
  c.schedule.slots[2].offset = 96;
  c.schedule.globalBytes = 176;
  Status status = verify(c.problem, c.schedule);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(VerifyLegal, severalArrivalsOnOnePhase) {
  // Three pieces on a cluster of four: two arrive at CTA 0 on one barrier.
  Programmer p;
  uint32_t tasks = p.domain("rows", {{"b", 1}});
  uint32_t range = p.range(tasks, 1, {3});
  uint32_t part = p.map("part", tasks, Programmer::record(), range);
  uint32_t merge = p.reduce("merge", part);
  uint32_t out = p.finalize("out", tasks, {merge});
  Expected<Problem> problem = p.problem(4, 4);
  ASSERT_TRUE(problem) << problem.status().message();
  Hand h;
  uint32_t barrier = h.barrier(0, 2);
  std::vector<In> in = {{h.slot(part, Space::shared, 0, 0)}};
  h.call(0, part, 0, {}, {in[0].slot}, {0, 1});
  for (uint32_t cta : {1u, 2u}) {
    uint32_t source = h.slot(part, Space::shared, cta, 0);
    uint32_t arrived = h.slot(part, Space::shared, 0, 48 * cta);
    h.arrive(arrived, barrier);
    uint32_t i = h.call(cta, part, 0, {}, {source}, {cta, cta + 1});
    h.send(Transport::clusterShared, i, source, {arrived});
    // One wait covers both: they arrive in the same phase.
    in.push_back({arrived, cta == 1});
  }
  uint32_t whole = h.slot(merge, Space::shared, 0, 144);
  h.call(0, merge, 0, in, {whole});
  h.call(0, out, 0, {{whole}}, {});
  h.schedule.exitBarrier = true;
  Schedule schedule = h.finish(*problem);
  Status status = verify(*problem, schedule);
  EXPECT_TRUE(status.ok()) << status.message();

  schedule.barriers[0].arrivals = 1;
  status = verify(*problem, schedule);
  EXPECT_EQ(status.message().substr(0, 19), "V11: barrier 0 phas")
      << status.message();
}

TEST(VerifyLegal, listedCoordinatesAndMoves) {
  // The consumer's listed tasks read the records of a producer with other
  // listed tasks, through a move.
  Programmer p;
  uint32_t listed = p.integers("points", {2, 1}, {5, 3});
  uint32_t pairs = p.integers("pairs", {3, 2}, {{0, 5, 1, 3, 1, 5}});
  uint32_t from = p.domain("from", {{"b", 8}});
  p.program.domains[from].coordinates = listed;
  uint32_t to = p.domain("to", {{"h", 2}, {"b", 8}});
  p.program.domains[to].coordinates = pairs;
  uint32_t make = p.map("make", from);
  uint32_t move =
      p.stage("move", StageKind::reshard, from, {make}, Programmer::record());
  uint32_t use = p.finalize("use", to, {move});
  Expected<Problem> problem = p.problem(1, 1);
  ASSERT_TRUE(problem) << problem.status().message();
  Hand h;
  uint32_t five = h.slot(make, Space::shared, 0, 0);
  uint32_t three = h.slot(make, Space::shared, 0, 48);
  h.call(0, make, 0, {}, {five});
  h.call(0, make, 1, {}, {three});
  h.call(0, use, 0, {{five}}, {});
  h.call(0, use, 1, {{three}}, {});
  h.call(0, use, 2, {{five}}, {});
  Schedule schedule = h.finish(*problem);
  Status status = verify(*problem, schedule);
  EXPECT_TRUE(status.ok()) << status.message();

  schedule.operands[1].slot = five;
  status = verify(*problem, schedule);
  EXPECT_EQ(status.message().substr(0, 18), "V4: instruction 3 ")
      << status.message();
}
