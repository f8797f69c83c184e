//===- ProgramTest.cpp - Records, fingerprints, tests of programs ---------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Program.h and Topology.h.
//
//===----------------------------------------------------------------------===//

#include "Examples.h"

#include "dataflow/Schedule/Topology.h"

#include <gmock/gmock.h>

#include <functional>

using namespace dfrt;
using namespace dfrt::test;
using testing::HasSubstr;

TEST(Element, BytesAndNames) {
  EXPECT_EQ(elementBytes(ElementType::f64), 8u);
  EXPECT_EQ(elementBytes(ElementType::bf16), 2u);
  EXPECT_EQ(elementBytes(ElementType::f8E5M2), 1u);
  EXPECT_EQ(elementBytes(ElementType::i1), 1u);
  EXPECT_STREQ(elementName(ElementType::f8E4M3FN), "f8E4M3FN");
}

TEST(Record, HeadThenSlices) {
  Record r = record({field("max", {5}), field("acc", {4, 64}, 1),
                     field("sum", {}), field("wide", {32}, 0)},
                    8);
  EXPECT_EQ(r.fields[0].offset, 0u);
  EXPECT_EQ(r.fields[2].offset, 32u); // 20 bytes, rounded up
  EXPECT_EQ(r.headBytes, 48u);
  EXPECT_EQ(r.fields[1].offset, 0u);
  EXPECT_EQ(r.fields[3].offset, 4u * 8 * 4);
  EXPECT_EQ(r.sliceBytes, 4u * 8 * 4 + 16);
  EXPECT_EQ(r.bytes(2, 5), 48 + 3 * r.sliceBytes);
  EXPECT_EQ(r.bytes(), 48 + 8 * r.sliceBytes);
}

TEST(Record, Refuses) {
  Record r;
  r.fields = {field("acc", {4, 30}, 1)};
  r.slices = 8;
  EXPECT_THAT(layoutRecord(r).message(), HasSubstr("8 slices do not divide"));
  r.fields = {field("acc", {4, -1})};
  r.slices = 1;
  EXPECT_THAT(layoutRecord(r).message(), HasSubstr("extent -1"));
  r.fields = {field("acc", {4})};
  r.slices = 2;
  EXPECT_THAT(layoutRecord(r).message(), HasSubstr("no separable field"));
  r.fields = {field("acc", {int64_t(1) << 40, int64_t(1) << 40})};
  r.slices = 1;
  EXPECT_THAT(layoutRecord(r).message(), HasSubstr("exceeds"));
  r.fields = {field("acc", {4}, 1)};
  EXPECT_THAT(layoutRecord(r).message(), HasSubstr("rank 1"));
}

TEST(Program, Consumers) {
  Program p = splitReduce(true);
  EXPECT_EQ(p.consumers(0), std::vector<uint32_t>{1});
  EXPECT_EQ(p.consumers(2), std::vector<uint32_t>{});
}

/// Everything that influences a plan changes the fingerprint; code does not.
TEST(Program, Fingerprint) {
  const Program p = splitReduce(true);
  using Change = std::function<void(Program &)>;
  std::vector<Change> changes = {
      [](Program &q) { q.name = "other"; },
      [](Program &q) { q.arguments[0].element = ElementType::i64; },
      [](Program &q) { q.arguments[1].shape[1] = 1024; },
      [](Program &q) { q.domains[0].axes[0].extent = constantValue(4); },
      [](Program &q) { q.domains[0].weights = 0; },
      [](Program &q) { q.ranges[0].tile = 32; },
      [](Program &q) { q.ranges[0].offset.constant = 1; },
      [](Program &q) { q.stages[0].cost.tileBytes = 1; },
      [](Program &q) { q.stages[0].requests.maxTiles = 4; },
      [](Program &q) { q.stages[0].each = true; },
      [](Program &q) { q.stages[1].separable = false; },
      [](Program &q) { q.stages[1].record.fields[0].name = "x"; },
      [](Program &q) { q.stages[1].inputs[0].axes = {1}; },
      [](Program &q) { q.stages[1].variants.pop_back(); },
      [](Program &q) { q.stages.pop_back(); },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    Program q = p;
    changes[i](q);
    EXPECT_NE(q.fingerprint(), p.fingerprint()) << "change " << i;
  }
  Program q = p;
  q.stages[0].variants[0].symbol = "another";
  q.stages[1].identitySymbol = "another";
  EXPECT_EQ(q.fingerprint(), p.fingerprint());
}

TEST(Program, CheckNamesTheCulprit) {
  struct Case {
    const char *message;
    std::function<void(Program &)> change;
  };
  std::vector<Case> cases = {
      {"reads stage 2, which is not an earlier one",
       [](Program &p) { p.stages[1].inputs[0].stage = 2; }},
      {"has arity one, expected pieces",
       [](Program &p) { p.stages[0].arity = Arity::one; }},
      {"reads 'map' of arity pieces, expected one, tiles or collected",
       [](Program &p) { p.stages[2].inputs[0].stage = 0; }},
      {"have different records",
       [](Program &p) { p.stages[1].record = record({field("sum", {4})}); }},
      {"record that is not laid out",
       [](Program &p) {
         p.stages[0].record.headBytes += 16;
         p.stages[1].record.headBytes += 16;
       }},
      {"two stages have the name",
       [](Program &p) { p.stages[2].name = "map"; }},
      {"has no generic variant",
       [](Program &p) { p.stages[0].variants.clear(); }},
      {"has no sliced variant",
       [](Program &p) { p.stages[1].variants.pop_back(); }},
      {"is not separable, but its input 'reduce' is",
       [](Program &p) { p.stages[2].separable = false; }},
      {"names range 3 of 1", [](Program &p) { p.stages[0].range = 3; }},
      {"has tile 0", [](Program &p) { p.ranges[0].tile = 0; }},
      {"is called per tile, but has no range",
       [](Program &p) { p.stages[2].each = true; }},
      {"writes argument 'lengths', which is not an output",
       [](Program &p) { p.stages[2].outputs = {0}; }},
      {"maps 2 axes of 'reduce', expected 1",
       [](Program &p) { p.stages[2].inputs[0].axes = {0, 0}; }},
      {"holds f32, expected integers",
       [](Program &p) { p.arguments[0].element = ElementType::f32; }},
      {"may not be an element",
       [](Program &p) { p.domains[0].axes[0].extent = elementOf(0, {0}); }},
      {"requests pieces of at most 2 tiles and at least 3",
       [](Program &p) {
         p.stages[0].requests.minTiles = 3;
         p.stages[0].requests.maxTiles = 2;
       }},
  };
  EXPECT_TRUE(check(splitReduce(true)));
  for (const Case &c : cases) {
    Program p = splitReduce(true);
    c.change(p);
    Status status = check(p);
    EXPECT_EQ(status.code(), StatusCode::invalidArgument) << c.message;
    EXPECT_THAT(status.message(), HasSubstr(c.message));
  }
}

/// Several collected inputs have to be told apart by the stages of their slots.
TEST(Program, RefusesCollectedInputsThatLookAlike) {
  Program p = splitReduce(false);
  p.stages[0].each = true;
  p.stages[0].arity = Arity::tiles;
  auto resharded = [&](const char *name, ReshardKind kind, Arity arity,
                       uint32_t from) {
    Stage made = stage(name, StageKind::reshard, arity, p.stages[from].record);
    made.reshard = kind;
    made.inputs = {input(from)};
    uint32_t place = uint32_t(p.stages.size()) - 1;
    p.stages.insert(p.stages.end() - 1, made);
    return place;
  };
  auto collected = [&](const char *name, uint32_t from) {
    return resharded(name, ReshardKind::collect, Arity::collected, from);
  };
  auto sent = [&](const char *name, uint32_t from) {
    return resharded(name, ReshardKind::rekey, Arity::keyed, from);
  };
  uint32_t tiles = collected("tiles", 0);
  uint32_t again = collected("again", 0);
  uint32_t sentTiles = collected("sent tiles", sent("send tiles", 0));
  uint32_t sentSums = collected("sent sums", sent("send sums", 1));
  auto reading = [&](std::vector<StageInput> inputs) {
    p.stages.back().inputs = std::move(inputs);
    p.stages.back().separable = false;
    return check(p);
  };
  EXPECT_TRUE(reading({input(tiles), input(again)})) << check(p).message();
  EXPECT_TRUE(reading({input(sentTiles)})) << check(p).message();
  EXPECT_TRUE(reading({input(sentSums)})) << check(p).message();
  EXPECT_THAT(reading({input(tiles), input(sentTiles)}).message(),
              HasSubstr("collects records of 'map' that come in two ways"));
  EXPECT_THAT(reading({input(tiles), input(sentSums)}).message(),
              HasSubstr("collects records of reduce 'reduce' and others"));
}

/// A record has one place, and a reader one route to it.
TEST(Program, RefusesRequestsThatDisagree) {
  using Memory = StageRequests::Memory;
  Program p = reshardedReduce();
  p.stages[1].requests.memory = Memory::shared;
  p.stages[2].requests.transport = Transport::global;
  p.stages[3].requests.memory = Memory::shared;
  p.stages[3].requests.transport = Transport::global;
  EXPECT_TRUE(check(p));
  Program q = p;
  q.stages[3].requests.memory = Memory::global;
  EXPECT_THAT(check(q).message(),
              HasSubstr("stage 'second' requests its records in global memory, "
                        "but stage 'reduce' requests them in shared memory"));
  q = p;
  q.stages[1].requests.memory = Memory::global;
  q.stages[3].requests.memory = Memory::automatic;
  q.stages[3].requests.resident = true;
  EXPECT_THAT(check(q).message(),
              HasSubstr("stage 'second' requests its records in shared"));
  q = p;
  q.stages[3].requests.transport = Transport::local;
  EXPECT_THAT(check(q).message(),
              HasSubstr("stage 'finalize' reads records of 'reduce' for which "
                        "'second' and 'first' request different transports"));
  // Two reads of one record.
  q = p;
  q.stages[3].inputs = {input(1)};
  q.stages[3].requests.transport = Transport::local;
  EXPECT_TRUE(check(q));
  q.stages[4].inputs = {input(2), input(3)};
  EXPECT_THAT(check(q).message(), HasSubstr("request different transports"));
}

TEST(Program, SeparableReadersHaveTheSameSlices) {
  Program p = splitReduce(true);
  Stage other = stage("other", StageKind::map, Arity::one,
                      record({field("x", {4}, 0)}, 4));
  p.stages.insert(p.stages.begin() + 1, other);
  p.stages[2].inputs = {input(0)};
  p.stages[3].inputs = {input(2), input(1)};
  EXPECT_THAT(check(p).message(), HasSubstr("has 4 inseparable slices"));
  p.stages[1].record = record({field("x", {4})});
  EXPECT_TRUE(check(p)) << check(p).message();
}

TEST(Topology, Check) {
  EXPECT_TRUE(check(topology(132, 2)));
  EXPECT_THAT(check(topology(0)).message(), HasSubstr("has 0 CTAs"));
  EXPECT_THAT(check(topology(132, 3)).message(),
              HasSubstr("cluster size is 3"));
  EXPECT_THAT(check(topology(132, 8)).message(),
              HasSubstr("cluster size 8 does not divide 132 CTAs"));
  Topology t = topology(4);
  t.reservedBytes = t.sharedBytes + 1;
  EXPECT_THAT(check(t).message(), HasSubstr("reserves"));
}
