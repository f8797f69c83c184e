//===- Examples.h - Small programs for the planner's tests ------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `splitReduce` is the program that most tests plan: a map over a ragged range,
// a reduce of its pieces, and a finalize.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_SCHEDULE_EXAMPLES_H
#define DATAFLOW_TEST_UNIT_SCHEDULE_EXAMPLES_H

#include "dataflow/Schedule/Schedulers.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <numeric>

namespace dfrt {
namespace test {

inline PlanValue constantValue(int64_t value) {
  PlanValue v;
  v.constant = value;
  return v;
}

inline PlanValue dimensionOf(uint32_t argument, uint32_t dimension) {
  PlanValue v;
  v.kind = PlanValue::Kind::dimension;
  v.argument = argument;
  v.dimension = dimension;
  return v;
}

inline PlanValue elementOf(uint32_t argument, std::vector<uint32_t> axes) {
  PlanValue v;
  v.kind = PlanValue::Kind::element;
  v.argument = argument;
  v.axes = std::move(axes);
  return v;
}

inline Argument argument(std::string name, ElementType element,
                         std::vector<int64_t> shape, bool output = false) {
  Argument a;
  a.name = std::move(name);
  a.element = element;
  a.shape = std::move(shape);
  a.output = output;
  return a;
}

inline Field field(std::string name, std::vector<int64_t> shape,
                   int32_t separable = -1) {
  Field f;
  f.name = std::move(name);
  f.shape = std::move(shape);
  f.separable = separable;
  return f;
}

/// A laid-out record of f32 fields.
inline Record record(std::vector<Field> fields, uint32_t slices = 1) {
  Record r;
  r.fields = std::move(fields);
  r.slices = slices;
  Status status = layoutRecord(r);
  EXPECT_TRUE(status) << status.message();
  return r;
}

inline Stage stage(std::string name, StageKind kind, Arity arity,
                   Record r = Record()) {
  Stage s;
  s.name = std::move(name);
  s.kind = kind;
  s.arity = arity;
  s.record = std::move(r);
  if (kind != StageKind::reshard)
    s.variants.resize(1);
  return s;
}

inline StageInput input(uint32_t stage, std::vector<uint32_t> axes = {0}) {
  StageInput in;
  in.stage = stage;
  in.axes = std::move(axes);
  return in;
}

/// map over `range` -> reduce -> finalize for each row; a tile moves 65,536
/// bytes, a call 16,384. With `separable`, the record has 8 slices of 1 KiB
/// behind a head of 64 bytes.
inline Program splitReduce(bool separable) {
  Program p;
  p.name = "split";
  p.arguments = {argument("lengths", ElementType::i32, {-1}),
                 argument("out", ElementType::f32, {-1, 2048}, true)};
  Domain rows;
  rows.name = "rows";
  rows.axes = {Axis{"b", dimensionOf(0, 0)}};
  p.domains = {rows};
  Range range;
  range.name = "range";
  range.length = elementOf(0, {0});
  range.tile = 64;
  p.ranges = {range};
  Record r = record({field("scale", {16}), field("sum", {1, 2048}, 1)}, 8);
  Stage map = stage("map", StageKind::map, Arity::pieces, r);
  map.range = 0;
  map.cost.fixedBytes = 16384;
  map.cost.tileBytes = 65536;
  Stage reduce = stage("reduce", StageKind::reduce, Arity::one, r);
  reduce.inputs = {input(0)};
  Stage finalize = stage("finalize", StageKind::finalize, Arity::none);
  finalize.inputs = {input(1)};
  finalize.outputs = {1};
  if (separable)
    for (Stage *s : {&reduce, &finalize}) {
      s->separable = true;
      Variant sliced;
      sliced.kind = Variant::Kind::sliced;
      s->variants.push_back(sliced);
    }
  p.stages = {map, reduce, finalize};
  return p;
}

/// `splitReduce(false)` with two reshards, stages 2 and 3, behind the reduce.
inline Program reshardedReduce() {
  Program p = splitReduce(false);
  Stage first =
      stage("first", StageKind::reshard, Arity::one, p.stages[1].record);
  first.inputs = {input(1)};
  Stage second = first;
  second.name = "second";
  second.inputs = {input(2)};
  p.stages[2].inputs = {input(3)};
  p.stages.insert(p.stages.begin() + 2, {first, second});
  return p;
}

inline PlanInput lengthsInput(std::vector<int64_t> lengths) {
  return {"lengths", {static_cast<int64_t>(lengths.size())}, lengths};
}

inline Topology topology(uint32_t ctas, uint32_t clusterSize = 1,
                         uint64_t slotBytes = 101376) {
  Topology t;
  t.ctas = ctas;
  t.clusterSize = clusterSize;
  t.reservedBytes = t.sharedBytes - slotBytes;
  return t;
}

/// The problem of a program that reads `lengths` only.
inline Problem problemFor(const Program &program, std::vector<int64_t> lengths,
                          const Topology &t) {
  std::vector<PlanInput> inputs = {lengthsInput(std::move(lengths))};
  Expected<Problem> problem = instantiate(program, inputs, t);
  EXPECT_TRUE(problem) << problem.status().message();
  return problem ? *problem : Problem();
}

inline ScheduleOptions solvedBy(const char *solver) {
  ScheduleOptions options;
  options.solver = solver;
  return options;
}

/// The planned and verified schedule.
inline Schedule planned(const Problem &problem,
                        const ScheduleOptions &options = ScheduleOptions(),
                        Decisions *decisions = nullptr) {
  Expected<Schedule> schedule = makeSchedule(problem, options, decisions);
  EXPECT_TRUE(schedule) << schedule.status().message();
  if (!schedule)
    return Schedule();
  Status verified = verify(problem, *schedule);
  EXPECT_TRUE(verified) << verified.message();
  return *schedule;
}

/// Instructions of a stage, in schedule order.
inline std::vector<Instruction> callsOf(const Schedule &schedule,
                                        uint32_t stage) {
  std::vector<Instruction> result;
  for (const Instruction &i : schedule.instructions)
    if (i.stage == stage)
      result.push_back(i);
  return result;
}

/// Tiles of a stage on each CTA.
inline std::vector<int64_t> tilesByCta(const Schedule &schedule,
                                       uint32_t stage) {
  std::vector<int64_t> tiles;
  for (const Queue &queue : schedule.queues) {
    tiles.push_back(0);
    for (uint32_t i : queue.instructions)
      if (schedule.instructions[i].stage == stage)
        tiles.back() += schedule.instructions[i].tileEnd -
                        schedule.instructions[i].tileBegin;
  }
  return tiles;
}

inline size_t countTransfers(const Schedule &schedule, Transport transport) {
  size_t count = 0;
  for (const Transfer &t : schedule.transfers)
    count += t.transport == transport;
  return count;
}

} // namespace test
} // namespace dfrt

#endif // DATAFLOW_TEST_UNIT_SCHEDULE_EXAMPLES_H
