//===- DetailTest.cpp - Corners of single clauses -------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mistakes that only one line of the verifier can see: what a neighbouring
// clause would catch first is arranged to be right.
//
//===----------------------------------------------------------------------===//

#include "Cases.h"

#include <gtest/gtest.h>

using namespace dfrt;
using namespace dfrt::test;

static void accepted(const Problem &problem, const Schedule &schedule) {
  Status status = verify(problem, schedule);
  EXPECT_TRUE(status.ok()) << status.message();
}

static void refused(const Problem &problem, const Schedule &schedule,
                    const std::string &head, const std::string &detail = "") {
  Status status = verify(problem, schedule);
  EXPECT_EQ(status.message().substr(0, head.size()), head) << status.message();
  EXPECT_NE(status.message().find(detail), std::string::npos)
      << status.message();
}

/// A large record on CTA 0 is used, a small one takes over its middle, and
/// another small one arrives from CTA 1 at `offset`, where the large one was.
static void leftovers(uint64_t offset, bool legal) {
  Programmer p;
  uint32_t rows = p.domain("rows", {{"b", 3}});
  uint32_t one = p.domain("one", {});
  uint32_t large = p.map("large", one, Programmer::record(4));
  uint32_t small = p.map("small", rows);
  uint32_t useLarge = p.finalize("useLarge", one, {large});
  uint32_t useSmall = p.finalize("useSmall", rows, {small});
  Expected<Problem> problem = p.problem(2, 2);
  ASSERT_TRUE(problem) << problem.status().message();
  Hand h;
  uint32_t x = h.slot(large, Space::shared, 0, 0, 0, 4);
  uint32_t y = h.slot(small, Space::shared, 0, 48);
  uint32_t z = h.slot(small, Space::shared, 0, offset);
  uint32_t s = h.slot(small, Space::shared, 1, 0);
  uint32_t other = h.slot(small, Space::shared, 1, 48);
  h.arrive(z, h.barrier(0));
  h.call(0, large, 0, {}, {x}, {0, 1}, {0, 4});
  h.call(0, useLarge, 0, {{x}}, {});
  h.call(0, small, 0, {}, {y});
  h.call(0, useSmall, 0, {{y}}, {});
  h.call(0, useSmall, 1, {{z, true}}, {});
  // The record for CTA 0 comes last, so that nothing but happens-before tells.
  h.call(1, small, 2, {}, {other});
  h.call(1, useSmall, 2, {{other}}, {});
  uint32_t last = h.call(1, small, 1, {}, {s});
  h.send(Transport::clusterShared, last, s, {z});
  h.schedule.exitBarrier = true;
  Schedule schedule = h.finish(*problem);
  if (legal)
    accepted(*problem, schedule);
  else
    refused(*problem, schedule, "V8: slot 2 (stage \"small\", task 1)",
            "memory of slot 0 (stage \"large\", task 0): the ");
}

TEST(VerifyDetail, V8LeftoversOfALargeSlot) {
  leftovers(144, true);
  leftovers(96, false); // behind the small one
  leftovers(0, false);  // before it
}

/// make on CTA 0, two readers on CTA 1, of which only the second waits.
static void lateWait(Transport transport) {
  Programmer p;
  uint32_t one = p.domain("one", {});
  uint32_t make = p.map("make", one);
  uint32_t first = p.finalize("first", one, {make});
  uint32_t second = p.finalize("second", one, {make});
  Expected<Problem> problem = p.problem(2, 2);
  ASSERT_TRUE(problem) << problem.status().message();
  Hand h;
  bool global = transport == Transport::global;
  uint32_t source = h.slot(make, Space::shared, 0, 0);
  uint32_t there =
      h.slot(make, global ? Space::global : Space::shared, global ? 0 : 1, 0);
  if (global)
    h.flag(there);
  else
    h.arrive(there, h.barrier(1));
  uint32_t i = h.call(0, make, 0, {}, {source});
  h.call(1, first, 0, {{there, true}}, {});
  h.call(1, second, 0, {{there}}, {});
  h.send(transport, i, source, {there});
  h.schedule.exitBarrier = !global;
  Schedule schedule = h.finish(*problem);
  accepted(*problem, schedule);
  schedule.operands[0].wait = false;
  schedule.operands[1].wait = true;
  refused(*problem, schedule, "V6: instruction 1 ", "without a wait");
}

TEST(VerifyDetail, V6WaitOfALaterInstruction) {
  lateWait(Transport::clusterShared);
  lateWait(Transport::global);
}

TEST(VerifyDetail, V11PhaseThatNobodyAwaits) {
  // An unread record arrives first, so nothing ends the first phase.
  Case c = scatterCluster();
  Hand h;
  h.schedule = c.schedule;
  uint32_t extra = h.slot(0, Space::shared, 0, 320, 0, 2);
  h.arrive(extra, 0, 0);
  h.schedule.slots[3].phase = 1;
  h.send(Transport::clusterShared, 5, 1, {extra});
  refused(c.problem, h.finish(c.problem), "V11: barrier 0: nobody waits",
          "phase 0");
}

TEST(VerifyDetail, V10MulticastTwiceToOneCta) {
  Case c = multicast();
  c.schedule.slots[1].cta = 3;
  refused(c.problem, c.schedule, "V10: transfer 0 ", "reaches CTA 3 twice");
}

TEST(VerifyDetail, V16LastTileOfSeveral) {
  Case c = collect();
  c.problem.ranges[0].lengths[0] = 7;
  refused(c.problem, c.schedule, "V16: instruction 0 ", "calls it with 3");
}

TEST(VerifyDetail, V3EmptyRangeTwice) {
  Case c = scatterGlobal();
  Hand h;
  h.schedule = c.schedule;
  uint32_t extra = h.slot(0, Space::shared, 1, 256, 0, 2);
  h.call(1, 0, 1, {}, {extra}, {0, 0}, {0, 2});
  refused(c.problem, h.finish(c.problem), "V3: instruction 8 ",
          "covers the empty range again, after instruction 1");
}

TEST(VerifyDetail, V3SlicesOfAReduce) {
  Case c = scatterGlobal();
  Hand h;
  h.schedule = c.schedule;
  uint32_t extra = h.slot(1, Space::shared, 0, 256, 0, 1);
  h.call(0, 1, 0, {{0}, {3}}, {extra}, {0, 1}, {0, 1}, 1);
  refused(c.problem, h.finish(c.problem), "V3: instruction 8 ",
          "computes slices [0, 1) again, after instruction 2");
}

TEST(VerifyDetail, V3ReduceWithoutReader) {
  // Nobody reads the reduce, so nobody else misses it.
  Programmer p;
  uint32_t tasks = p.domain("rows", {{"b", 1}});
  uint32_t range = p.range(tasks, 1, {2});
  uint32_t part = p.map("part", tasks, Programmer::record(2), range);
  uint32_t merge = p.reduce("merge", part, true);
  Expected<Problem> problem = p.problem(1, 1);
  ASSERT_TRUE(problem) << problem.status().message();
  Hand h;
  uint32_t a = h.slot(part, Space::shared, 0, 0, 0, 2);
  uint32_t b = h.slot(part, Space::shared, 0, 80, 0, 2);
  h.call(0, part, 0, {}, {a}, {0, 1}, {0, 2});
  h.call(0, part, 0, {}, {b}, {1, 2}, {0, 2});
  refused(*problem, h.finish(*problem), "V3: stage \"merge\", task 0",
          "nobody combines its 2 parts");
  uint32_t m = h.slot(merge, Space::shared, 0, 160, 0, 1);
  h.call(0, merge, 0, {{a}, {b}}, {m}, {0, 1}, {0, 1}, 1);
  refused(*problem, h.finish(*problem), "V3: stage \"merge\", task 0",
          "nobody computes slice 1 of 2");
  uint32_t n = h.slot(merge, Space::shared, 0, 208, 1, 2);
  h.call(0, merge, 0, {{a}, {b}}, {n}, {0, 2}, {1, 2}, 1);
  accepted(*problem, h.finish(*problem));
}

TEST(VerifyDetail, V4RowOfARow) {
  // Two row-wise reshards in a row: one of the reduces may be left out, not
  // both, since an operand names one row.
  Programmer p;
  uint32_t domain = p.domain("one", {{"b", 1}});
  uint32_t index = p.integers("index", {1, 2}, {0, -1});
  std::vector<int64_t> shape = {2, 2, 8};
  uint32_t from = kNone;
  std::vector<uint32_t> stages;
  for (int level = 0; level < 3; ++level) {
    Record record;
    Field field;
    field.name = "f";
    field.shape = shape;
    record.fields = {field};
    ASSERT_TRUE(layoutRecord(record).ok());
    if (level == 0) {
      from = p.map("make", domain, record);
    } else {
      uint32_t send = p.stage("send" + std::to_string(level),
                              StageKind::reshard, domain, {from}, record);
      Stage &stage = p.program.stages[send];
      stage.reshard = ReshardKind::rekey;
      stage.arity = Arity::keyed;
      stage.inputs[0].axes.clear();
      stage.rekey.argument = index;
      stage.rekey.axes = {0};
      stage.rekey.rows = true;
      from = p.reduce("sum" + std::to_string(level), send);
    }
    stages.push_back(from);
    shape.erase(shape.begin());
  }
  uint32_t out = p.finalize("out", domain, {from});
  Expected<Problem> problem = p.problem(1, 1);
  ASSERT_TRUE(problem) << problem.status().message();

  Hand both;
  uint32_t made = both.slot(stages[0], Space::shared, 0, 0);
  both.call(0, stages[0], 0, {}, {made});
  Hand one = both;
  both.call(0, out, 0, {{made, false, 0}}, {});
  refused(*problem, both.finish(*problem), "V4: instruction 1 ");

  uint32_t sum = one.slot(stages[1], Space::shared, 0, 128);
  one.call(0, stages[1], 0, {{made, false, 0}}, {sum});
  one.call(0, out, 0, {{sum, false, 0}}, {});
  accepted(*problem, one.finish(*problem));
}

TEST(VerifyDetail, V3EmptyRangeWithoutItsPiece) {
  Programmer p;
  uint32_t tasks = p.domain("rows", {{"b", 1}});
  uint32_t range = p.range(tasks, 1, {0});
  uint32_t part = p.map("part", tasks, Programmer::record(), range);
  p.finalize("out", tasks, {p.reduce("merge", part)});
  Expected<Problem> problem = p.problem(1, 1);
  ASSERT_TRUE(problem) << problem.status().message();
  refused(*problem, Hand().finish(*problem), "V3: stage \"part\", task 0",
          "the one piece of the empty range");
}

TEST(VerifyDetail, V3GapBetweenPieces) {
  Case c = tree();
  c.schedule.instructions[1].variant = 0;
  c.schedule.instructions[1].tileBegin = 3;
  refused(c.problem, c.schedule, "V3: stage \"part\", task 0",
          "nobody covers tiles [2, 3) before instruction 1");
}

TEST(VerifyDetail, V3SlicesOfAStageThatHasNone) {
  Case c = scatterGlobal();
  c.schedule.instructions[0].sliceEnd = 1;
  refused(c.problem, c.schedule, "V3: instruction 0 ", "not separable");
}

TEST(VerifyDetail, V8TwoCopiesOfOneInstruction) {
  // Nobody reads either, and both are made at the end of one instruction.
  Case c = scatterGlobal();
  Hand h;
  h.schedule = c.schedule;
  for (uint64_t offset : {256u, 288u}) {
    uint32_t copy = h.slot(0, Space::global, 0, offset, 0, 1);
    h.flag(copy);
    h.send(Transport::global, 0, 0, {copy});
  }
  refused(c.problem, h.finish(c.problem), "V8: slot 8 ",
          "memory of slot 7 (stage \"part\", task 0): the write");
}
