//===- Flow.cpp - Who writes and who reads what, and when -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Analysis of a schedule in any state of completion.
//
//===----------------------------------------------------------------------===//

#include "Flow.h"

#include "Table.h"
#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <numeric>

using namespace dfrt;
using namespace dfrt::detail;

std::string detail::describeInstruction(const Problem &problem,
                                        const Schedule &schedule,
                                        uint32_t index) {
  const Instruction &i = schedule.instructions[index];
  std::string stage = i.stage < problem.program.stages.size()
                          ? problem.program.stages[i.stage].name
                          : std::to_string(i.stage);
  return textOf("instruction ", index, " (stage '", stage, "', task ", i.task,
                ")");
}

static Status checkIndices(const Problem &problem, const Schedule &schedule) {
  size_t stages = problem.program.stages.size();
  for (uint32_t n = 0; n < schedule.instructions.size(); ++n) {
    const Instruction &i = schedule.instructions[n];
    uint64_t operandEnd = uint64_t(i.firstOperand) + i.operandCount;
    uint64_t outputEnd = uint64_t(i.firstOutput) + i.outputCount;
    if (i.stage >= stages || operandEnd > schedule.operands.size() ||
        outputEnd > schedule.outputs.size() ||
        i.task >= problem.taskCount(i.stage) || i.tileBegin < 0 ||
        i.tileEnd < i.tileBegin)
      return invalidArgument("instruction ", n,
                             " has an index that is out of range");
  }
  for (uint32_t n = 0; n < schedule.slots.size(); ++n) {
    const Slot &slot = schedule.slots[n];
    if (slot.stage >= stages || slot.sliceBegin > slot.sliceEnd ||
        slot.sliceEnd > problem.program.stages[slot.stage].record.slices ||
        (slot.cta != kNone && slot.cta >= problem.topology.ctas))
      return invalidArgument("slot ", n, " has an index that is out of range");
  }
  for (const Operand &operand : schedule.operands)
    if (operand.slot >= schedule.slots.size())
      return invalidArgument("an operand names slot ", operand.slot, " of ",
                             schedule.slots.size());
  for (const std::vector<uint32_t> *list :
       {&schedule.outputs, &schedule.destinations})
    for (uint32_t slot : *list)
      if (slot >= schedule.slots.size())
        return invalidArgument("an output or destination names slot ", slot,
                               " of ", schedule.slots.size());
  for (uint32_t n = 0; n < schedule.transfers.size(); ++n) {
    const Transfer &t = schedule.transfers[n];
    if (t.instruction >= schedule.instructions.size() ||
        t.source >= schedule.slots.size() ||
        uint64_t(t.firstDestination) + t.destinationCount >
            schedule.destinations.size())
      return invalidArgument("transfer ", n,
                             " has an index that is out of range");
  }
  return Status::success();
}

static Status findLanes(const Problem &problem, const Schedule &schedule,
                        Flow &flow) {
  size_t count = schedule.instructions.size();
  fill(flow.lane, count, kNone);
  fill(flow.position, count, 0u);
  bool ticket = schedule.discipline == Discipline::ticket;
  if (ticket && schedule.queues.size() > 1)
    return invalidArgument("a ticket schedule has ", schedule.queues.size(),
                           " queues, expected 1");
  flow.lanes = ticket ? 0 : problem.topology.ctas;
  for (const Queue &queue : schedule.queues) {
    if (!ticket && queue.cta >= problem.topology.ctas)
      return invalidArgument("a queue belongs to CTA ", queue.cta, " of ",
                             problem.topology.ctas);
    for (size_t p = 0; p < queue.instructions.size(); ++p) {
      uint32_t index = queue.instructions[p];
      if (index >= count)
        return invalidArgument("a queue names instruction ", index, " of ",
                               count);
      if (flow.lane[index] != kNone)
        return invalidArgument(describeInstruction(problem, schedule, index),
                               " is queued twice");
      if (ticket && (p == 0 || schedule.instructions[index].draw))
        ++flow.lanes;
      flow.lane[index] = ticket ? flow.lanes - 1 : queue.cta;
      flow.position[index] = static_cast<uint32_t>(p);
    }
  }
  for (uint32_t i = 0; i < count; ++i)
    if (flow.lane[i] == kNone)
      return invalidArgument(describeInstruction(problem, schedule, i),
                             " is in no queue");
  return Status::success();
}

static Status findWriters(const Schedule &schedule, Flow &flow) {
  size_t slots = schedule.slots.size();
  fill(flow.writer, slots, kNone);
  fill(flow.arrival, slots, kNone);
  for (uint32_t i = 0; i < schedule.instructions.size(); ++i)
    for (uint32_t slot : schedule.outputsOf(schedule.instructions[i])) {
      if (flow.writer[slot] != kNone)
        return invalidArgument("slot ", slot, " is written twice");
      flow.writer[slot] = i;
    }
  fill(flow.departureBegin, slots + 1, 0u);
  for (uint32_t t = 0; t < schedule.transfers.size(); ++t) {
    const Transfer &transfer = schedule.transfers[t];
    ++flow.departureBegin[transfer.source + 1];
    for (uint32_t slot : schedule.destinationsOf(transfer)) {
      bool inPlace = slot == transfer.source;
      if (flow.arrival[slot] != kNone ||
          (!inPlace && flow.writer[slot] != kNone))
        return invalidArgument("slot ", slot, " is written twice");
      flow.arrival[slot] = t;
      flow.writer[slot] = transfer.instruction;
    }
  }
  std::partial_sum(flow.departureBegin.begin(), flow.departureBegin.end(),
                   flow.departureBegin.begin());
  setSize(flow.departureList, schedule.transfers.size());
  std::vector<uint32_t> &next = flow.next;
  reserve(next, slots);
  next.assign(flow.departureBegin.begin(), flow.departureBegin.end() - 1);
  for (uint32_t t = 0; t < schedule.transfers.size(); ++t)
    flow.departureList[next[schedule.transfers[t].source]++] = t;
  for (uint32_t slot = 0; slot < slots; ++slot)
    if (flow.writer[slot] == kNone)
      return invalidArgument("slot ", slot, " is never written");
  return Status::success();
}

/// Readers of every instruction's slots, in the order of their own numbers.
static void findUsers(const Schedule &schedule, Flow &flow) {
  size_t count = schedule.instructions.size();
  fill(flow.userBegin, count + 2, 0u);
  // One place further on, so that filling turns ends into beginnings.
  uint32_t *begin = flow.userBegin.data() + 2;
  for (const Instruction &i : schedule.instructions)
    for (const Operand &o : schedule.operandsOf(i))
      ++begin[flow.writer[o.slot]];
  std::partial_sum(flow.userBegin.begin(), flow.userBegin.end(),
                   flow.userBegin.begin());
  --begin;
  setSize(flow.users, flow.userBegin.back());
  for (uint32_t i = 0; i < count; ++i)
    for (const Operand &o : schedule.operandsOf(schedule.instructions[i]))
      flow.users[begin[flow.writer[o.slot]]++] = i;
}

/// Kahn's algorithm over queues and operands.
static Status findLevels(const Problem &problem, const Schedule &schedule,
                         Flow &flow) {
  uint32_t count = static_cast<uint32_t>(schedule.instructions.size());
  fill(flow.next, count, kNone);
  setSize(flow.pending, count);
  for (uint32_t i = 0; i < count; ++i)
    flow.pending[i] = schedule.instructions[i].operandCount;
  for (const Queue &queue : schedule.queues)
    for (size_t p = 1; p < queue.instructions.size(); ++p) {
      uint32_t a = queue.instructions[p - 1], b = queue.instructions[p];
      if (flow.lane[a] != flow.lane[b])
        continue;
      flow.next[a] = b;
      ++flow.pending[b];
    }
  findUsers(schedule, flow);
  fill(flow.level, count, 0u);
  flow.order.clear();
  flow.order.reserve(count);
  for (uint32_t i = 0; i < count; ++i)
    if (flow.pending[i] == 0)
      flow.order.push_back(i);
  for (size_t head = 0; head < flow.order.size(); ++head) {
    uint32_t i = flow.order[head];
    uint32_t lane = flow.lane[i], level = flow.level[i];
    auto arrive = [&](uint32_t j) {
      flow.level[j] = std::max(flow.level[j], level + (lane != flow.lane[j]));
      if (--flow.pending[j] == 0)
        flow.order.push_back(j);
    };
    if (flow.next[i] != kNone)
      arrive(flow.next[i]);
    for (uint32_t u = flow.userBegin[i]; u < flow.userBegin[i + 1]; ++u)
      arrive(flow.users[u]);
  }
  if (flow.order.size() == count)
    return Status::success();
  uint32_t stuck = 0;
  while (flow.pending[stuck] == 0)
    ++stuck;
  return Status(StatusCode::deadlock,
                textOf(describeInstruction(problem, schedule, stuck),
                       " waits for itself through queue order and operands"));
}

void Flow::begin(size_t instructions, size_t slots, size_t operands) {
  order.clear();
  for (std::vector<uint32_t> *list : {&lane, &position, &level})
    setSize(*list, instructions);
  // Transfers add about a slot for each.
  for (std::vector<uint32_t> *list :
       {&writer, &arrival, &waiter, &readBegin, &readEnd, &departureBegin})
    reserve(*list, 2 * slots + 1);
  writer.resize(slots);
  readBegin.resize(slots);
  readEnd.resize(slots);
  arrival.assign(slots, kNone);
  waiter.assign(slots, kNone);
  departureBegin.assign(slots + 1, 0);
  setSize(readList, operands);
}

static void findReaders(const Schedule &schedule, Flow &flow) {
  size_t slots = schedule.slots.size();
  fill(flow.readEnd, slots + 1, 0u);
  for (const Instruction &i : schedule.instructions)
    for (const Operand &o : schedule.operandsOf(i))
      ++flow.readEnd[o.slot + 1];
  std::partial_sum(flow.readEnd.begin(), flow.readEnd.end(),
                   flow.readEnd.begin());
  setSize(flow.readList, flow.readEnd.back());
  flow.readEnd.pop_back();
  reserve(flow.readBegin, slots);
  flow.readBegin = flow.readEnd;
  fill(flow.waiter, slots, kNone);
  auto visit = [&](uint32_t i) {
    const Instruction &instruction = schedule.instructions[i];
    for (uint32_t n = 0; n < instruction.operandCount; ++n) {
      uint32_t operand = instruction.firstOperand + n;
      const Operand &o = schedule.operands[operand];
      flow.readList[flow.readEnd[o.slot]++] = {operand, i};
      if (o.wait && flow.waiter[o.slot] == kNone)
        flow.waiter[o.slot] = i;
    }
  };
  for (uint32_t i : flow.order)
    visit(i);
  if (flow.order.empty())
    for (uint32_t i = 0; i < schedule.instructions.size(); ++i)
      visit(i);
}

Status detail::analyseFlow(const Problem &problem, const Schedule &schedule,
                           Flow &flow) {
  DFRT_TRY(checkIndices(problem, schedule));
  DFRT_TRY(findLanes(problem, schedule, flow));
  DFRT_TRY(findWriters(schedule, flow));
  DFRT_TRY(findLevels(problem, schedule, flow));
  findReaders(schedule, flow);
  return Status::success();
}

Status detail::traceSlots(const Schedule &schedule, Flow &flow) {
  DFRT_TRY(findWriters(schedule, flow));
  findReaders(schedule, flow);
  return Status::success();
}
