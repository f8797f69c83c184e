//===- Shapes.h - Random programs of seven shapes ------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_VERIFY_SHAPES_H
#define DATAFLOW_TEST_UNIT_VERIFY_SHAPES_H

#include "Builder.h"

#include <gtest/gtest.h>

#include <random>

namespace dfrt::test {

/// Programs that between them use every kind of stage, channel and edge.
class Shapes {
public:
  explicit Shapes(uint32_t seed) : random(seed) {}

  static constexpr uint32_t count = 7;

  Programmer make(uint32_t shape) {
    switch (shape) {
    case 0:
      return split(true);
    case 1:
      return split(false);
    case 2:
      return tilesAndCollect();
    case 3:
      return rekeyed(true);
    case 4:
      return rekeyed(false);
    case 5:
      return broadcast();
    default:
      return chain();
    }
  }

  int64_t upTo(int64_t limit) {
    return int64_t(random() % uint64_t(limit + 1));
  }

private:
  std::mt19937_64 random;

  std::vector<int64_t> lengths(size_t tasks) {
    std::vector<int64_t> result(tasks);
    for (int64_t &length : result)
      length = upTo(3) == 0 ? 0 : upTo(upTo(4) == 0 ? 400 : 30);
    return result;
  }

  Programmer split(bool separable) {
    Programmer p;
    size_t tasks = size_t(upTo(6));
    uint32_t d = p.domain("rows", {{"b", int64_t(tasks)}});
    uint32_t r = p.range(d, 4, lengths(tasks));
    uint32_t part = p.map("part", d, Programmer::record(separable ? 4 : 1), r);
    uint32_t merge = p.reduce("merge", part, separable);
    p.finalize("out", d, {merge}, separable);
    return p;
  }

  Programmer tilesAndCollect() {
    Programmer p;
    size_t tasks = size_t(1 + upTo(4));
    uint32_t d = p.domain("rows", {{"b", int64_t(tasks)}});
    uint32_t r = p.range(d, 4, lengths(tasks));
    uint32_t tile = p.map("tile", d, Programmer::record(), r, true);
    uint32_t more = p.map("more", d, Programmer::record(), r, true, {tile});
    uint32_t all =
        p.stage("all", StageKind::reshard, d, {more}, Programmer::record());
    p.program.stages[all].reshard = ReshardKind::collect;
    p.program.stages[all].arity = Arity::collected;
    uint32_t sum = p.reduce("sum", tile);
    p.finalize("out", d, {all, sum});
    uint32_t walk = p.finalize("walk", d, {more});
    p.program.stages[walk].range = r;
    p.program.stages[walk].each = true;
    return p;
  }

  Programmer rekeyed(bool rows) {
    Programmer p;
    int64_t sources = 1 + upTo(4), targets = 1 + upTo(4);
    uint32_t from = p.domain("sources", {{"e", sources}});
    uint32_t to = p.domain("targets", {{"t", targets}});
    std::vector<int64_t> values(size_t(sources * (rows ? 4 : 1)));
    for (int64_t &value : values)
      value = upTo(targets) - 1;
    std::vector<int64_t> shape = {sources};
    if (rows)
      shape.push_back(4);
    uint32_t index = p.integers("index", shape, values);
    Record record = Programmer::record(), row = record;
    if (rows) {
      Field field;
      field.name = "rows";
      field.shape = {4, 8};
      record.fields = {field};
      field.shape = {8};
      row.fields = {field};
      EXPECT_TRUE(layoutRecord(record).ok() && layoutRecord(row).ok());
    }
    uint32_t make;
    if (rows) {
      make = p.map("make", from, record);
    } else {
      uint32_t r = p.range(from, 2, lengths(size_t(sources)));
      make = p.map("make", from, record, r, true);
    }
    uint32_t send = p.stage("send", StageKind::reshard, to, {make}, row);
    Stage &stage = p.program.stages[send];
    stage.reshard = ReshardKind::rekey;
    stage.arity = Arity::keyed;
    stage.inputs[0].axes.clear();
    stage.rekey.argument = index;
    stage.rekey.axes = {0};
    stage.rekey.rows = rows;
    uint32_t sum = p.reduce("sum", send);
    p.finalize("out", to, {sum});
    return p;
  }

  Programmer broadcast() {
    Programmer p;
    uint32_t few = p.domain("few", {{"b", 1 + upTo(2)}});
    p.program.domains[few].axes[0].extent.constant = 2;
    uint32_t many = p.domain("many", {{"b", 2}, {"h", 1 + upTo(6)}});
    uint32_t make = p.map("make", few);
    uint32_t use =
        p.map("use", many, Programmer::record(), kNone, false, {make});
    p.finalize("out", many, {use, make});
    return p;
  }

  Programmer chain() {
    // Two splits in a row, with a fan-out and a record used twice.
    Programmer p;
    size_t tasks = size_t(1 + upTo(4));
    uint32_t d = p.domain("rows", {{"b", int64_t(tasks)}});
    uint32_t r = p.range(d, 4, lengths(tasks));
    uint32_t first = p.map("first", d, Programmer::record(), r);
    uint32_t a = p.reduce("a", first);
    uint32_t b = p.reduce("b", first);
    uint32_t moved =
        p.stage("moved", StageKind::reshard, d, {a}, Programmer::record());
    uint32_t second =
        p.map("second", d, Programmer::record(4), r, false, {moved, b});
    uint32_t merge = p.reduce("merge", second, true);
    p.finalize("out", d, {merge}, true);
    p.finalize("twice", d, {a, a});
    return p;
  }
};

/// Shape `shape` of seed `seed` on a random launch shape, with little shared
/// memory, so that slots take over each other's. `name` becomes what it is.
inline Expected<Problem> shapedProblem(Shapes &shapes, uint32_t shape,
                                       std::string &name) {
  const std::pair<uint32_t, uint32_t> topologies[] = {
      {1, 1}, {4, 1}, {4, 2}, {8, 4}, {16, 16}};
  Programmer programmer = shapes.make(shape);
  auto [ctas, clusterSize] = topologies[shapes.upTo(4)];
  Expected<Problem> problem = programmer.problem(ctas, clusterSize);
  if (!problem)
    return problem;
  uint64_t room = uint64_t(160 + 16 * shapes.upTo(80));
  problem->topology.reservedBytes = problem->topology.sharedBytes - room;
  name += ", shape " + std::to_string(shape) + ", " + std::to_string(ctas) +
          "x" + std::to_string(clusterSize) + ", room " + std::to_string(room);
  return problem;
}

} // namespace dfrt::test

#endif // DATAFLOW_TEST_UNIT_VERIFY_SHAPES_H
