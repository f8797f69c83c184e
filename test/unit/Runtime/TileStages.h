//===- TileStages.h - A program that a device can plan ----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_RUNTIME_TILESTAGES_H
#define DATAFLOW_TEST_UNIT_RUNTIME_TILESTAGES_H

#include "Schedule/Workloads.h"

namespace dfrt {
namespace test {

/// Maps of tiles, as the up and down products of grouped rows: `first` makes a
/// record a tile, `second` reads all of a task's in each of its tiles. With
/// `blocks` above 1, its tasks have one axis more.
inline Program tileStages(int64_t blocks, bool finalizeOnly = false) {
  Program p;
  p.name = "tiles";
  p.arguments = {argument("first", ElementType::i32, {-1}),
                 argument("second", ElementType::i64, {-1}),
                 argument("offset", ElementType::i32, {-1}),
                 argument("out", ElementType::f32, {-1, 2048}, true)};
  Domain groups, wide;
  groups.name = "groups";
  groups.axes = {Axis{"g", dimensionOf(0, 0)}};
  wide.name = "wide";
  wide.axes = {Axis{"g", dimensionOf(0, 0)}, Axis{"n", constantValue(blocks)}};
  p.domains = {groups, wide};
  Range first, second;
  first.name = "width";
  first.length = elementOf(0, {0});
  first.tile = 16;
  second.name = "hidden";
  second.domain = 1;
  second.length = elementOf(1, {0});
  second.offset = elementOf(2, {0});
  second.tile = 10;
  p.ranges = {first, second};
  Record r = record({field("part", {16, 16})});
  Stage map = stage("map", StageKind::map, Arity::tiles, r);
  map.range = 0;
  map.each = true;
  map.cost.tileBytes = 65536;
  Stage collect = stage("collect", StageKind::reshard, Arity::collected, r);
  collect.reshard = ReshardKind::collect;
  collect.inputs = {input(0)};
  Stage last = stage("last", StageKind::finalize, Arity::none);
  last.domain = 1;
  last.range = 1;
  last.each = true;
  last.inputs = {input(1)};
  last.outputs = {3};
  last.cost.tileBytes = 40000;
  last.cost.fixedBytes = 5000;
  p.stages = {map, collect, last};
  if (finalizeOnly) {
    last.inputs.clear();
    p.stages = {last};
  }
  return p;
}

inline std::vector<PlanInput> tileInputs(const std::vector<int64_t> &first,
                                         const std::vector<int64_t> &second) {
  int64_t count = int64_t(first.size());
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < count; ++i)
    offsets.push_back(i * 7);
  return {{"first", {count}, first},
          {"second", {count}, second},
          {"offset", {count}, offsets},
          {"out", {count, 2048}, {}}};
}

} // namespace test
} // namespace dfrt

#endif // DATAFLOW_TEST_UNIT_RUNTIME_TILESTAGES_H
