//===- QueueOrder.cpp - Order of instructions in their queues -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sorts the lanes by level, the draws of a ticket list by level and size, and
// writes the schedule down in that order.
//
//===----------------------------------------------------------------------===//

#include "ScheduleBuilder.h"
#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>

using namespace dfrt;
using namespace dfrt::detail;

/// Lists the instructions lane by lane and, where `levels` is the number of
/// levels and not 1, level by level; in the order of their making otherwise.
void ScheduleBuilder::sortBy(uint32_t levels) {
  uint32_t lanes = placement->lanes, leveled = levels > 1;
  placeBegin.fill(size_t(lanes) * levels + 1, 0);
  uint32_t *begin = placeBegin.data();
  for (const Node &node : nodes)
    ++begin[node.lane * levels + node.level * leveled];
  laneBegin.setSize(lanes + 1);
  uint32_t next = 0;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    laneBegin[lane] = next;
    for (uint32_t level = 0; level < levels; ++level, ++begin) {
      uint32_t count = *begin;
      *begin = next;
      next += count;
    }
  }
  laneBegin[lanes] = next;
  begin = placeBegin.data();
  laneList.setSize(nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i)
    laneList[begin[nodes[i].lane * levels + nodes[i].level * leveled]++] = i;
}

/// Order within one lane and level: an instruction follows directly behind the
/// last of its inputs, so that their slots are free again soon.
void ScheduleBuilder::orderLevel(uint32_t *queue, size_t count) {
  bool any = false;
  for (size_t i = 0; i < count; ++i)
    any |= nodes[queue[i]].firstEdge != kNone;
  if (!any)
    return;
  // Roots first: their counts are 0 before anything is emitted.
  roots.clear();
  for (size_t i = 0; i < count; ++i)
    if (nodes[queue[i]].pending == 0)
      roots.push(queue[i]);
  ordered.clear();
  for (uint32_t r : roots) {
    stack.push(r);
    while (!stack.empty()) {
      uint32_t i = stack.back();
      stack.setSize(stack.size() - 1);
      ordered.push(i);
      for (uint32_t e = nodes[i].firstEdge; e != kNone; e = localEdges[e].next)
        if (--nodes[localEdges[e].reader].pending == 0)
          stack.push(localEdges[e].reader);
    }
  }
  std::copy(ordered.begin(), ordered.end(), queue);
}

void ScheduleBuilder::orderQueues() {
  sortBy(std::max(levelCount, 1u));
  laneOrder.setSize(placement->lanes);
  std::iota(laneOrder.begin(), laneOrder.end(), 0u);
  // Each place now begins where the one before it ended.
  uint32_t begin = 0;
  for (size_t place = 0; place + 1 < placeBegin.size(); ++place) {
    uint32_t end = placeBegin[place];
    if (end - begin > 2) // the order of making is topological
      orderLevel(laneList.data() + begin, end - begin);
    begin = end;
  }
}

/// One list of draws: by level, stage and falling cost.
Status ScheduleBuilder::orderDraws() {
  sortBy(1);
  drawKeys.clear();
  for (uint32_t lane = 0; lane < placement->lanes; ++lane) {
    uint32_t begin = laneBegin[lane], end = laneBegin[lane + 1];
    if (begin == end)
      continue;
    DrawKey key{0, instructions[laneList[begin]].stage, 0, lane};
    for (uint32_t n = begin; n < end; ++n) {
      const Instruction &instruction = instructions[laneList[n]];
      key.level = std::max(key.level, nodes[laneList[n]].level);
      key.cost += graph.cost(instruction.stage, instruction.task,
                             instruction.tileEnd - instruction.tileBegin);
    }
    drawKeys.push(key);
  }
  std::sort(drawKeys.begin(), drawKeys.end(),
            [](const DrawKey &a, const DrawKey &b) {
              return std::make_tuple(a.level, a.stage, ~a.cost, a.lane) <
                     std::make_tuple(b.level, b.stage, ~b.cost, b.lane);
            });
  drawRank.fill(placement->lanes, 0);
  laneOrder.clear();
  for (const DrawKey &key : drawKeys) {
    drawRank[key.lane] = static_cast<uint32_t>(laneOrder.size());
    laneOrder.push(key.lane);
  }
  // Tasks that a residency request ties together may need each other's results
  // in turn; no order of whole draws can serve that.
  for (uint32_t i = 0; i < instructions.size(); ++i)
    for (uint32_t o = 0; o < instructions[i].operandCount; ++o) {
      uint32_t lane = laneOf(operands[instructions[i].firstOperand + o].slot);
      if (drawRank[lane] > drawRank[nodes[i].lane] ||
          (drawRank[lane] == drawRank[nodes[i].lane] && lane != nodes[i].lane))
        return Status(StatusCode::unsupported,
                      textOf("stage '", graph.stage(instructions[i].stage).name,
                             "', task ", instructions[i].task,
                             " is resident with a stage whose results it "
                             "reaches through another draw"));
    }
  return Status::success();
}

/// Empties all of a schedule that steps behind the solvers fill; memory stays.
static void reset(Schedule &schedule, size_t queues) {
  schedule.queues.resize(queues);
  for (Queue &queue : schedule.queues)
    queue.cta = kNone;
  schedule.transfers.clear();
  schedule.destinations.clear();
  schedule.releases.clear();
  schedule.barriers.clear();
  schedule.flags = 0;
  schedule.sharedBytes = schedule.globalBytes = 0;
  schedule.exitBarrier = false;
}

void ScheduleBuilder::assemble(const char *solver, Schedule &schedule,
                               Flow &flow) {
  size_t count = instructions.size();
  reset(schedule, ticket() ? 1 : placement->lanes);
  schedule.discipline = placement->discipline;
  schedule.solver = solver;
  if (ticket())
    setSize(schedule.queues[0].instructions, count);
  setSize(schedule.instructions, count);
  setSize(schedule.outputs, slots.size());
  // Transfers add about a destination for each slot.
  reserve(schedule.slots, 2 * slots.size());
  schedule.slots.resize(slots.size());
  flow.begin(count, slots.size(), operands.size());
  flow.lanes = static_cast<uint32_t>(laneOrder.size());
  uint32_t index = 0, slotCount = 0, reads = 0;
  for (uint32_t number = 0; number < laneOrder.size(); ++number) {
    uint32_t lane = laneOrder[number], cta = ticket() ? kNone : lane;
    uint32_t begin = laneBegin[lane], end = laneBegin[lane + 1];
    Queue &queue = schedule.queues[ticket() ? 0 : lane];
    queue.cta = cta;
    uint32_t position = ticket() ? index : 0;
    if (!ticket())
      setSize(queue.instructions, end - begin);
    for (uint32_t n = begin; n < end; ++n, ++index, ++position) {
      const Instruction &made = instructions[laneList[n]];
      Instruction &i = schedule.instructions[index];
      std::memcpy(&i, &made, sizeof(i)); // whole words, which read back faster
      i.draw = ticket() && n == begin;
      queue.instructions[position] = index;
      flow.lane[index] = number;
      flow.position[index] = position;
      flow.level[index] = nodes[laneList[n]].level;
      SlotInfo *output = slots.data() + made.firstOutput;
      i.firstOutput = slotCount; // every slot is an output
      for (uint32_t o = 0; o < made.outputCount; ++o, ++slotCount) {
        SlotInfo &info = output[o];
        Slot &slot = schedule.slots[slotCount];
        slot = Slot();
        slot.stage = info.stage;
        slot.sliceBegin = info.sliceBegin;
        slot.sliceEnd = info.sliceEnd;
        slot.cta = cta;
        info.number = slotCount;
        schedule.outputs[slotCount] = slotCount;
        flow.writer[slotCount] = index;
        flow.readBegin[slotCount] = flow.readEnd[slotCount] = reads;
        reads += info.reads;
      }
    }
  }
  addOperands(schedule, flow);
}

/// Operands come last: a slot may be written by a later queue.
void ScheduleBuilder::addOperands(Schedule &schedule, Flow &flow) {
  setSize(schedule.operands, operands.size());
  uint32_t next = 0;
  for (uint32_t index = 0; index < schedule.instructions.size(); ++index) {
    Instruction &i = schedule.instructions[index];
    const Part *part = operands.data() + i.firstOperand;
    i.firstOperand = next;
    uint32_t level = 0, lane = flow.lane[index];
    for (uint32_t o = 0; o < i.operandCount; ++o, ++part, ++next) {
      uint32_t slot = slots[part->slot].number;
      schedule.operands[next] = {slot, part->row, false};
      flow.readList[flow.readEnd[slot]++] = {next, index};
      if (!ticket())
        continue;
      uint32_t writer = flow.writer[slot];
      level = std::max(level, flow.level[writer] + (flow.lane[writer] != lane));
    }
    // A queue is sorted by level, but in a draw one follows the other.
    if (ticket()) {
      if (!i.draw)
        level = std::max(level, flow.level[index - 1]);
      flow.level[index] = level;
    }
  }
}
