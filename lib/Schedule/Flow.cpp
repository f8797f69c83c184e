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

namespace {

class Analysis {
public:
  Analysis(const Problem &problem, const Schedule &schedule)
      : problem(problem), schedule(schedule) {}

  Expected<Flow> run() {
    if (Status s = checkIndices(); !s)
      return s;
    if (Status s = findLanes(); !s)
      return s;
    if (Status s = findWriters(); !s)
      return s;
    if (Status s = findLevels(); !s)
      return s;
    findReaders();
    return std::move(flow);
  }

private:
  const Problem &problem;
  const Schedule &schedule;
  Flow flow;

  Status checkIndices() {
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
        return invalidArgument("slot ", n,
                               " has an index that is out of range");
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

  Status findLanes() {
    size_t count = schedule.instructions.size();
    flow.lane.assign(count, kNone);
    flow.position.assign(count, 0);
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

  Status findWriters() {
    size_t slots = schedule.slots.size();
    flow.writer.assign(slots, kNone);
    flow.arrival.assign(slots, kNone);
    for (uint32_t i = 0; i < schedule.instructions.size(); ++i)
      for (uint32_t slot : schedule.outputsOf(schedule.instructions[i])) {
        if (flow.writer[slot] != kNone)
          return invalidArgument("slot ", slot, " is written twice");
        flow.writer[slot] = i;
      }
    flow.firstDeparture.assign(slots + 1, 0);
    for (uint32_t t = 0; t < schedule.transfers.size(); ++t) {
      const Transfer &transfer = schedule.transfers[t];
      ++flow.firstDeparture[transfer.source + 1];
      for (uint32_t slot : schedule.destinationsOf(transfer)) {
        bool inPlace = slot == transfer.source;
        if (flow.arrival[slot] != kNone ||
            (!inPlace && flow.writer[slot] != kNone))
          return invalidArgument("slot ", slot, " is written twice");
        flow.arrival[slot] = t;
        flow.writer[slot] = transfer.instruction;
      }
    }
    std::partial_sum(flow.firstDeparture.begin(), flow.firstDeparture.end(),
                     flow.firstDeparture.begin());
    flow.departureList.resize(schedule.transfers.size());
    std::vector<uint32_t> next(flow.firstDeparture.begin(),
                               flow.firstDeparture.end() - 1);
    for (uint32_t t = 0; t < schedule.transfers.size(); ++t)
      flow.departureList[next[schedule.transfers[t].source]++] = t;
    for (uint32_t slot = 0; slot < slots; ++slot)
      if (flow.writer[slot] == kNone)
        return invalidArgument("slot ", slot, " is never written");
    return Status::success();
  }

  /// Kahn's algorithm over queues and operands.
  Status findLevels() {
    uint32_t count = static_cast<uint32_t>(schedule.instructions.size());
    std::vector<uint32_t> next(count, kNone), pending(count, 0);
    for (const Queue &queue : schedule.queues)
      for (size_t p = 1; p < queue.instructions.size(); ++p) {
        uint32_t a = queue.instructions[p - 1], b = queue.instructions[p];
        if (flow.lane[a] != flow.lane[b])
          continue;
        next[a] = b;
        ++pending[b];
      }
    std::vector<uint32_t> first(count + 1, 0), users;
    for (uint32_t i = 0; i < count; ++i)
      for (const Operand &o : schedule.operandsOf(schedule.instructions[i])) {
        ++first[flow.writer[o.slot] + 1];
        ++pending[i];
      }
    std::partial_sum(first.begin(), first.end(), first.begin());
    users.resize(first[count]);
    std::vector<uint32_t> fill(first.begin(), first.end() - 1);
    for (uint32_t i = 0; i < count; ++i)
      for (const Operand &o : schedule.operandsOf(schedule.instructions[i]))
        users[fill[flow.writer[o.slot]]++] = i;
    flow.level.assign(count, 0);
    flow.order.reserve(count);
    for (uint32_t i = 0; i < count; ++i)
      if (pending[i] == 0)
        flow.order.push_back(i);
    for (size_t head = 0; head < flow.order.size(); ++head) {
      uint32_t i = flow.order[head];
      auto arrive = [&](uint32_t j) {
        uint32_t level = flow.level[i] + (flow.lane[i] != flow.lane[j]);
        flow.level[j] = std::max(flow.level[j], level);
        if (--pending[j] == 0)
          flow.order.push_back(j);
      };
      if (next[i] != kNone)
        arrive(next[i]);
      for (uint32_t u = first[i]; u < first[i + 1]; ++u)
        arrive(users[u]);
    }
    if (flow.order.size() == count)
      return Status::success();
    uint32_t stuck = 0;
    while (pending[stuck] == 0)
      ++stuck;
    return Status(StatusCode::deadlock,
                  textOf(describeInstruction(problem, schedule, stuck),
                         " waits for itself through queue order and operands"));
  }

  void findReaders() {
    flow.firstReader.assign(schedule.slots.size() + 1, 0);
    for (const Instruction &i : schedule.instructions)
      for (const Operand &o : schedule.operandsOf(i))
        ++flow.firstReader[o.slot + 1];
    std::partial_sum(flow.firstReader.begin(), flow.firstReader.end(),
                     flow.firstReader.begin());
    flow.readerList.resize(flow.firstReader.back());
    std::vector<uint32_t> next(flow.firstReader.begin(),
                               flow.firstReader.end() - 1);
    flow.waiter.assign(schedule.slots.size(), kNone);
    for (uint32_t i : flow.order)
      for (const Operand &o : schedule.operandsOf(schedule.instructions[i])) {
        flow.readerList[next[o.slot]++] = i;
        if (o.wait && flow.waiter[o.slot] == kNone)
          flow.waiter[o.slot] = i;
      }
  }
};

} // namespace

Expected<Flow> detail::analyseFlow(const Problem &problem,
                                   const Schedule &schedule) {
  return Analysis(problem, schedule).run();
}
