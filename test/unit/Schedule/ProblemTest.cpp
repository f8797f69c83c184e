//===- ProblemTest.cpp - Instantiation and tests of problems --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Problem.h.
//
//===----------------------------------------------------------------------===//

#include "Examples.h"

#include <gmock/gmock.h>

using namespace dfrt;
using namespace dfrt::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

std::string refusal(const Program &program, std::vector<PlanInput> inputs) {
  Expected<Problem> problem = instantiate(program, inputs, topology(4));
  EXPECT_FALSE(problem);
  return problem.status().message();
}

/// cells (b, h), listed, with weights; a row result is read by each of its
/// cells, and the cells send their rows to bins.
Program cells() {
  Program p;
  p.name = "cells";
  p.arguments = {argument("points", ElementType::i64, {-1, 2}),
                 argument("weights", ElementType::i32, {-1}),
                 argument("index", ElementType::i32, {3, 2, 4}),
                 argument("offsets", ElementType::i32, {2, 3}),
                 argument("out", ElementType::f32, {-1}, true)};
  Domain rows, grid, bins;
  rows.name = "rows";
  rows.axes = {Axis{"b", constantValue(3)}};
  grid.name = "cells";
  grid.axes = {Axis{"b", constantValue(3)}, Axis{"h", constantValue(2)}};
  grid.coordinates = 0;
  grid.weights = 1;
  bins.name = "bins";
  bins.axes = {Axis{"e", constantValue(5)}};
  p.domains = {rows, grid, bins};
  Range range;
  range.name = "range";
  range.domain = 1;
  range.length = constantValue(10);
  range.offset = elementOf(3, {1, 0});
  range.tile = 4;
  p.ranges = {range};
  Stage head =
      stage("head", StageKind::map, Arity::one, record({field("x", {8})}));
  Stage body = stage("body", StageKind::map, Arity::one,
                     record({field("x", {4, 6}), field("w", {4})}));
  body.domain = 1;
  body.inputs = {input(0)};
  body.cost.fixedBytes = 100;
  Stage rekey = stage("rekey", StageKind::reshard, Arity::keyed,
                      record({field("x", {6}), field("w", {})}));
  rekey.reshard = ReshardKind::rekey;
  rekey.domain = 2;
  rekey.inputs = {input(1, {})};
  rekey.rekey.argument = 2;
  rekey.rekey.axes = {0, 1};
  rekey.rekey.rows = true;
  Stage reduce = stage("reduce", StageKind::reduce, Arity::one, rekey.record);
  reduce.domain = 2;
  reduce.inputs = {input(2)};
  Stage finalize = stage("finalize", StageKind::finalize, Arity::none);
  finalize.domain = 2;
  finalize.inputs = {input(3)};
  finalize.outputs = {4};
  Stage tiles = stage("tiles", StageKind::finalize, Arity::none);
  tiles.domain = 1;
  tiles.range = 0;
  tiles.each = true;
  tiles.outputs = {4};
  tiles.cost.fixedBytes = 7;
  tiles.cost.tileBytes = 3;
  p.stages = {head, body, rekey, reduce, finalize, tiles};
  return p;
}

std::vector<PlanInput> cellInputs() {
  std::vector<int64_t> index(24, -1);
  index[(2 * 2 + 1) * 4 + 0] = 3; // task (2, 1), row 0
  index[(2 * 2 + 1) * 4 + 2] = 3;
  index[(0 * 2 + 0) * 4 + 3] = 3; // task (0, 0), row 3
  index[(1 * 2 + 1) * 4 + 0] = 1; // not listed as a task
  return {{"points", {3, 2}, {2, 1, 0, 0, 1, 0}},
          {"weights", {3}, {2, 0, 1}},
          {"index", {3, 2, 4}, index},
          {"offsets", {2, 3}, {0, 1, 2, 10, 11, 12}}};
}

} // namespace

TEST(Problem, LengthsAndTiles) {
  Problem p = problemFor(splitReduce(true), {0, 1, 64, 65}, topology(4));
  EXPECT_EQ(p.taskCount(0), 4u);
  EXPECT_EQ(p.tileCount(0, 0), 0);
  EXPECT_EQ(p.tileCount(0, 1), 1);
  EXPECT_EQ(p.tileCount(0, 2), 1);
  EXPECT_EQ(p.tileCount(0, 3), 2);
  EXPECT_EQ(p.tileCount(1, 3), 1);
  EXPECT_EQ(p.callBytes(0, 3, 2), 16384u + 2 * 65536u);
  EXPECT_EQ(p.totalBytes(), 4 * 16384u + 4 * 65536u);
}

TEST(Problem, CoordinatesWeightsOffsetsKeys) {
  Expected<Problem> made = instantiate(cells(), cellInputs(), topology(4));
  ASSERT_TRUE(made) << made.status().message();
  const Problem &p = *made;
  EXPECT_EQ(p.taskCount(1), 3u);
  EXPECT_THAT(
      std::vector<int64_t>(p.tasks[1].at(2).begin(), p.tasks[1].at(2).end()),
      ElementsAre(1, 0));
  EXPECT_THAT(p.tasks[1].weights, ElementsAre(2, 0, 1));
  EXPECT_EQ(p.callBytes(1, 0, 1), 200u);
  EXPECT_EQ(p.callBytes(1, 1, 1), 0u);
  // Per tile: the fixed part counts for each.
  EXPECT_EQ(p.callBytes(5, 2, 3), 3 * 7u + 3 * 3u);
  // offsets[h, b]
  EXPECT_THAT(p.ranges[0].offsets, ElementsAre(12, 0, 1));
  EXPECT_EQ(p.producerTask(1, 0, 0), 2u);
  EXPECT_EQ(p.producerTask(1, 0, 2), 1u);
  // Bin 3 gets three rows, in order of source task and row.
  EXPECT_THAT(p.keys[2].begin, ElementsAre(0, 0, 0, 0, 3, 3));
  ASSERT_EQ(p.keys[2].sources.size(), 3u);
  EXPECT_EQ(p.keys[2].sources[0].task, 0u);
  EXPECT_EQ(p.keys[2].sources[0].row, 0u);
  EXPECT_EQ(p.keys[2].sources[1].row, 2u);
  EXPECT_EQ(p.keys[2].sources[2].task, 1u);
  EXPECT_EQ(p.keys[2].sources[2].row, 3u);
  EXPECT_TRUE(check(p));
}

TEST(Problem, RefusesInputs) {
  Program split = splitReduce(false);
  EXPECT_THAT(refusal(split, {}), HasSubstr("'lengths' is missing"));
  EXPECT_THAT(refusal(split, {{"lengths", {2}, {}}}),
              HasSubstr("has a shape only"));
  EXPECT_THAT(refusal(split, {{"lengths", {2, 2}, {1, 2, 3, 4}}}),
              HasSubstr("has rank 2, expected 1"));
  EXPECT_THAT(refusal(split, {{"lengths", {2}, {1}}}),
              HasSubstr("has 1 values, expected 2"));
  EXPECT_THAT(refusal(split, {{"lengths", {2}, {1, -5}}}),
              HasSubstr("is -5 for task 1"));
  EXPECT_THAT(refusal(split, {{"other", {2}, {1, 1}}}),
              HasSubstr("'other' is no argument"));
  EXPECT_THAT(refusal(split, {{"lengths", {1}, {1}}, {"lengths", {1}, {1}}}),
              HasSubstr("given twice"));
}

TEST(Problem, RefusesCoordinatesAndKeys) {
  auto change = [&](size_t which, size_t at, int64_t value) {
    std::vector<PlanInput> inputs = cellInputs();
    inputs[which].values[at] = value;
    return refusal(cells(), inputs);
  };
  EXPECT_THAT(change(0, 0, 3), HasSubstr("coordinate 3 along 'b'"));
  EXPECT_THAT(change(0, 2, -1), HasSubstr("coordinate -1"));
  std::vector<PlanInput> twice = cellInputs();
  twice[0].values = {2, 1, 0, 0, 2, 1};
  EXPECT_THAT(refusal(cells(), twice), HasSubstr("twice"));
  EXPECT_THAT(change(1, 0, -2), HasSubstr("weight -2"));
  EXPECT_THAT(change(2, 0, 5), HasSubstr("to 5 along 'e'"));
  std::vector<PlanInput> narrow = cellInputs();
  narrow[3] = {"offsets", {2, 3}, {0, 1, -2, 10, 11, 12}};
  EXPECT_TRUE(instantiate(cells(), narrow, topology(4))) << "unused element";
  narrow[3].values[5] = -2;
  EXPECT_THAT(refusal(cells(), narrow), HasSubstr("is -2 for task 0"));
}

/// 3 * 6148914691236517206 is 2 in 64 bits.
TEST(Problem, RefusesShapesThatOverflow) {
  std::vector<PlanInput> inputs = cellInputs();
  inputs[3] = {"offsets", {6148914691236517206, 3}, {0, 0}};
  Program p = cells();
  for (Argument &a : p.arguments)
    if (a.name == "offsets")
      a.shape[0] = -1;
  EXPECT_THAT(refusal(p, inputs), HasSubstr("more than 2^64 elements"));
}

TEST(Problem, RefusesMoreTasksThanItCanHold) {
  Program p = splitReduce(false);
  PlanValue &extent = p.domains[0].axes[0].extent;
  extent = PlanValue();
  extent.constant = int64_t(kMaxTasks) + 1;
  EXPECT_THAT(refusal(p, {lengthsInput({1})}), HasSubstr("16777216 tasks"));
}

TEST(Problem, RefusesMoreRecordsThanNumbers) {
  Program p = splitReduce(false);
  p.ranges[0].tile = 1;
  std::vector<PlanInput> most = {lengthsInput({kMaxRangeExtent})};
  EXPECT_TRUE(instantiate(p, most, topology(4)));
  EXPECT_THAT(refusal(p, {lengthsInput({kMaxRangeExtent + 1})}),
              HasSubstr("expected 0 to 1152921504606846976"));
  p.stages[0].requests.maxTiles = 1 << 20;
  EXPECT_THAT(refusal(p, {lengthsInput({kMaxRangeExtent})}),
              HasSubstr("brings the records to 1099511627776, expected at "
                        "most 16777216"));
  p.stages[0].requests.maxTiles = 0;
  p.stages[0].each = true;
  p.stages[0].arity = Arity::tiles;
  EXPECT_THAT(refusal(p, {lengthsInput({1, kMaxRangeExtent})}),
              HasSubstr("brings the records to 1152921504606846977"));
  p.ranges[0].tile = kMaxRangeExtent + 1;
  EXPECT_THAT(refusal(p, {lengthsInput({1})}),
              HasSubstr("expected at most 1152921504606846976"));
}

TEST(Problem, RefusesTooManyTasks) {
  Program p = splitReduce(false);
  p.domains[0].axes[0].extent = constantValue(int64_t(1) << 40);
  EXPECT_THAT(refusal(p, {lengthsInput({1})}), HasSubstr("more than"));
}

TEST(Problem, CheckOfHandMadeProblems) {
  const Problem good = problemFor(splitReduce(false), {5, 6}, topology(4));
  Problem p = good;
  p.ranges[0].lengths.pop_back();
  EXPECT_THAT(check(p).message(), HasSubstr("1 lengths"));
  p = good;
  p.tasks[0].coordinates[1] = 0;
  EXPECT_THAT(check(p).message(), HasSubstr("row-major"));
  p = good;
  p.costs.bandwidth = 0;
  EXPECT_THAT(check(p).message(), HasSubstr("bandwidth"));
  p = good;
  p.topology.clusterSize = 3;
  EXPECT_FALSE(check(p));
}

/// A task that reads a record which no task of a listed domain makes.
TEST(Problem, RefusesMissingProducers) {
  Program p = cells();
  p.domains[0].coordinates = 5;
  p.arguments.push_back(argument("rows", ElementType::i32, {-1, 1}));
  std::vector<PlanInput> inputs = cellInputs();
  inputs.push_back({"rows", {2, 1}, {0, 2}});
  EXPECT_THAT(refusal(p, inputs), HasSubstr("reads a record of 'head'"));
  inputs.back() = {"rows", {3, 1}, {2, 0, 1}};
  Expected<Problem> made = instantiate(p, inputs, topology(4));
  ASSERT_TRUE(made) << made.status().message();
  EXPECT_EQ(made->producerTask(1, 0, 0), 0u); // b = 2
  EXPECT_EQ(made->producerTask(1, 0, 1), 1u); // b = 0
}
