//===- Builder.h - Problems and schedules by hand ---------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Short spellings for tests that write programs and schedules by hand. Nothing
// here plans: the author says what runs where and in which slot.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_VERIFY_BUILDER_H
#define DATAFLOW_TEST_UNIT_VERIFY_BUILDER_H

#include "dataflow/Schedule/Schedule.h"

#include <string>
#include <utility>
#include <vector>

namespace dfrt::test {

/// A program and the values of its integer arguments.
class Programmer {
public:
  Program program;
  std::vector<PlanInput> inputs;

  uint32_t integers(const std::string &name, std::vector<int64_t> shape,
                    std::vector<int64_t> values) {
    Argument argument;
    argument.name = name;
    argument.element = ElementType::i32;
    argument.shape = shape;
    program.arguments.push_back(argument);
    inputs.push_back({name, std::move(shape), std::move(values)});
    return uint32_t(program.arguments.size() - 1);
  }

  uint32_t domain(const std::string &name,
                  const std::vector<std::pair<std::string, int64_t>> &axes) {
    Domain domain;
    domain.name = name;
    for (const auto &[axisName, extent] : axes) {
      Axis axis;
      axis.name = axisName;
      axis.extent.constant = extent;
      domain.axes.push_back(axis);
    }
    program.domains.push_back(domain);
    return uint32_t(program.domains.size() - 1);
  }

  /// Lengths per task of a domain with one axis.
  uint32_t range(uint32_t domain, int64_t tile, std::vector<int64_t> lengths) {
    Range range;
    range.name = "range" + std::to_string(program.ranges.size());
    range.domain = domain;
    range.tile = tile;
    range.length.kind = PlanValue::Kind::element;
    range.length.argument =
        integers(range.name + "_lengths", {int64_t(lengths.size())}, lengths);
    range.length.axes = {0};
    program.ranges.push_back(range);
    return uint32_t(program.ranges.size() - 1);
  }

  /// A head of 16 bytes and `slices` slices of 32 bytes each, or 48 bytes in
  /// all when not separable.
  static Record record(uint32_t slices = 1) {
    Record record;
    Field head, body;
    head.name = "head";
    head.shape = {4};
    body.name = "body";
    body.shape = {2, 4 * int64_t(slices)};
    body.separable = slices > 1 ? 1 : -1;
    record.fields = {head, body};
    record.slices = slices;
    (void)layoutRecord(record).ok();
    return record;
  }

  uint32_t stage(const std::string &name, StageKind kind, uint32_t domain,
                 const std::vector<uint32_t> &from, const Record &record) {
    Stage stage;
    stage.name = name;
    stage.kind = kind;
    stage.domain = domain;
    for (uint32_t s : from) {
      StageInput input;
      input.stage = s;
      const Domain &producer = program.domains[program.stages[s].domain];
      for (const Axis &axis : producer.axes)
        for (uint32_t a = 0; a < program.domains[domain].axes.size(); ++a)
          if (program.domains[domain].axes[a].name == axis.name)
            input.axes.push_back(a);
      stage.inputs.push_back(input);
    }
    stage.record = record;
    if (kind != StageKind::reshard)
      stage.variants.push_back({Variant::Kind::generic, 0, name});
    if (kind == StageKind::finalize) {
      stage.arity = Arity::none;
      stage.record = Record();
    }
    program.stages.push_back(stage);
    return uint32_t(program.stages.size() - 1);
  }

  uint32_t map(const std::string &name, uint32_t domain,
               const Record &made = record(), uint32_t range = kNone,
               bool each = false, const std::vector<uint32_t> &from = {}) {
    uint32_t s = stage(name, StageKind::map, domain, from, made);
    program.stages[s].range = range;
    program.stages[s].each = each;
    if (range != kNone)
      program.stages[s].arity = each ? Arity::tiles : Arity::pieces;
    return s;
  }

  uint32_t reduce(const std::string &name, uint32_t from,
                  bool separable = false) {
    uint32_t s = stage(name, StageKind::reduce, program.stages[from].domain,
                       {from}, program.stages[from].record);
    program.stages[s].identitySymbol = name + "_identity";
    slice(s, separable);
    return s;
  }

  uint32_t finalize(const std::string &name, uint32_t domain,
                    const std::vector<uint32_t> &from, bool separable = false) {
    uint32_t s = stage(name, StageKind::finalize, domain, from, Record());
    slice(s, separable);
    return s;
  }

  void slice(uint32_t stage, bool separable) {
    program.stages[stage].separable = separable;
    if (separable)
      program.stages[stage].variants.push_back(
          {Variant::Kind::sliced, 1, program.stages[stage].name + "_sliced"});
  }

  Expected<Problem> problem(uint32_t ctas, uint32_t clusterSize) const {
    Topology topology;
    topology.ctas = ctas;
    topology.clusterSize = clusterSize;
    return instantiate(program, inputs, topology);
  }
};

/// What an instruction reads: a slot, whether it waits, a row.
struct In {
  uint32_t slot;
  bool wait = false;
  uint32_t row = kNone;
};

/// A schedule by hand.
class Hand {
public:
  Schedule schedule;

  explicit Hand(Discipline discipline = Discipline::fixed) {
    schedule.discipline = discipline;
    schedule.solver = "hand";
    if (discipline == Discipline::ticket)
      schedule.queues.emplace_back();
  }

  uint32_t slot(uint32_t stage, Space space, uint32_t cta, uint64_t offset,
                uint32_t sliceBegin = 0, uint32_t sliceEnd = 1) {
    Slot slot;
    slot.stage = stage;
    slot.space = space;
    slot.cta = cta;
    slot.offset = offset;
    slot.sliceBegin = sliceBegin;
    slot.sliceEnd = sliceEnd;
    schedule.slots.push_back(slot);
    return uint32_t(schedule.slots.size() - 1);
  }

  /// Appends an instruction to the queue of `cta`, or to the list.
  uint32_t call(uint32_t cta, uint32_t stage, uint64_t task,
                const std::vector<In> &in, const std::vector<uint32_t> &out,
                std::pair<int64_t, int64_t> tiles = {0, 1},
                std::pair<uint32_t, uint32_t> slices = {0, 1},
                uint32_t variant = 0) {
    Instruction i;
    i.stage = stage;
    i.task = task;
    i.variant = variant;
    i.tileBegin = tiles.first;
    i.tileEnd = tiles.second;
    i.sliceBegin = slices.first;
    i.sliceEnd = slices.second;
    i.firstOperand = uint32_t(schedule.operands.size());
    i.operandCount = uint32_t(in.size());
    for (const In &operand : in)
      schedule.operands.push_back({operand.slot, operand.row, operand.wait});
    i.firstOutput = uint32_t(schedule.outputs.size());
    i.outputCount = uint32_t(out.size());
    schedule.outputs.insert(schedule.outputs.end(), out.begin(), out.end());
    uint32_t index = uint32_t(schedule.instructions.size());
    schedule.instructions.push_back(i);
    queue(cta).instructions.push_back(index);
    return index;
  }

  /// The same in a ticket list, as the first instruction of a draw.
  uint32_t draw(uint32_t stage, uint64_t task, const std::vector<In> &in,
                const std::vector<uint32_t> &out,
                std::pair<int64_t, int64_t> tiles = {0, 1}) {
    uint32_t index = call(kNone, stage, task, in, out, tiles);
    schedule.instructions[index].draw = true;
    return index;
  }

  uint32_t send(Transport transport, uint32_t instruction, uint32_t source,
                const std::vector<uint32_t> &to) {
    Transfer t;
    t.transport = transport;
    t.instruction = instruction;
    t.source = source;
    t.firstDestination = uint32_t(schedule.destinations.size());
    t.destinationCount = uint32_t(to.size());
    schedule.destinations.insert(schedule.destinations.end(), to.begin(),
                                 to.end());
    schedule.transfers.push_back(t);
    return uint32_t(schedule.transfers.size() - 1);
  }

  uint32_t barrier(uint32_t cta, uint32_t arrivals = 1) {
    schedule.barriers.push_back({cta, arrivals});
    return uint32_t(schedule.barriers.size() - 1);
  }

  void arrive(uint32_t slot, uint32_t barrier, uint32_t phase = 0) {
    schedule.slots[slot].barrier = barrier;
    schedule.slots[slot].phase = phase;
  }

  /// Gives a global slot the next flag.
  void flag(uint32_t slot) { schedule.slots[slot].flag = schedule.flags++; }

  uint32_t release(uint32_t slot, uint32_t from, uint32_t to, uint32_t barrier,
                   uint32_t phase = 0) {
    schedule.releases.push_back({slot, from, to, barrier, phase});
    return uint32_t(schedule.releases.size() - 1);
  }

  /// Sets the sizes of the arenas to what the slots need.
  Schedule finish(const Problem &problem) {
    for (const Slot &slot : schedule.slots) {
      uint64_t end = slot.offset + slotBytes(problem, slot);
      uint64_t &arena = slot.space == Space::shared ? schedule.sharedBytes
                                                    : schedule.globalBytes;
      arena = arena < end ? end : arena;
    }
    return schedule;
  }

private:
  Queue &queue(uint32_t cta) {
    for (Queue &queue : schedule.queues)
      if (queue.cta == cta)
        return queue;
    schedule.queues.emplace_back();
    schedule.queues.back().cta = cta;
    return schedule.queues.back();
  }
};

} // namespace dfrt::test

#endif // DATAFLOW_TEST_UNIT_VERIFY_BUILDER_H
