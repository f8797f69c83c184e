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
#include <numeric>
#include <tuple>

using namespace dfrt;
using namespace dfrt::detail;

/// Instructions lane by lane, in the order of their making.
void ScheduleBuilder::sortByLane() {
  uint32_t count = static_cast<uint32_t>(instructions.size());
  laneBegin.assign(placement->lanes + 2, 0);
  uint32_t *begin = laneBegin.data() + 1;
  for (uint32_t lane : lanes)
    ++begin[lane + 1];
  std::partial_sum(laneBegin.begin(), laneBegin.end(), laneBegin.begin());
  laneList.resize(count);
  for (uint32_t i = 0; i < count; ++i)
    laneList[begin[lanes[i]]++] = i;
  laneBegin.pop_back();
}

/// Order within one lane and level: an instruction follows directly behind the
/// last of its inputs, so that their slots are free again soon.
void ScheduleBuilder::orderLevel(uint32_t *queue, size_t count) {
  if (count < 3)
    return; // creation order is topological
  for (size_t i = 0; i < count; ++i)
    place[queue[i]] = static_cast<uint32_t>(i);
  auto visit = [&](auto &&action) {
    uint32_t lane = lanes[queue[0]], level = levels[queue[0]];
    for (size_t i = 0; i < count; ++i) {
      const Instruction &instruction = instructions[queue[i]];
      for (uint32_t o = 0; o < instruction.operandCount; ++o) {
        uint32_t writer =
            slots[operands[instruction.firstOperand + o].slot].writer;
        if (lanes[writer] == lane && levels[writer] == level)
          action(place[writer], static_cast<uint32_t>(i));
      }
    }
  };
  pending.assign(count, 0);
  first.assign(count + 1, 0);
  bool any = false;
  visit([&](uint32_t writer, uint32_t reader) {
    ++first[writer + 1];
    ++pending[reader];
    any = true;
  });
  if (!any)
    return;
  ordered.clear();
  std::partial_sum(first.begin(), first.end(), first.begin());
  readers.resize(first[count]);
  next.assign(first.begin(), first.end() - 1);
  visit([&](uint32_t writer, uint32_t reader) {
    readers[next[writer]++] = reader;
  });
  // Roots first: their counts are 0 before anything is emitted.
  roots.clear();
  for (uint32_t i = 0; i < count; ++i)
    if (pending[i] == 0)
      roots.push_back(i);
  for (uint32_t r : roots) {
    stack.push_back(r);
    while (!stack.empty()) {
      uint32_t i = stack.back();
      stack.pop_back();
      ordered.push_back(queue[i]);
      for (uint32_t k = first[i + 1]; k-- > first[i];)
        if (--pending[readers[k]] == 0)
          stack.push_back(readers[k]);
    }
  }
  std::copy(ordered.begin(), ordered.end(), queue);
}

void ScheduleBuilder::orderQueues() {
  sortByLane();
  laneOrder.resize(placement->lanes);
  std::iota(laneOrder.begin(), laneOrder.end(), 0u);
  place.resize(instructions.size());
  auto before = [&](uint32_t a, uint32_t b) {
    return std::tie(levels[a], a) < std::tie(levels[b], b);
  };
  for (uint32_t lane : laneOrder) {
    uint32_t *queue = laneList.data() + laneBegin[lane];
    uint32_t *last = laneList.data() + laneBegin[lane + 1];
    if (!std::is_sorted(queue, last, before))
      std::sort(queue, last, before);
    while (queue < last) {
      uint32_t *end = queue + 1;
      while (end < last && levels[*end] == levels[*queue])
        ++end;
      orderLevel(queue, static_cast<size_t>(end - queue));
      queue = end;
    }
  }
}

/// One list of draws: by level, stage and falling cost.
Status ScheduleBuilder::orderDraws() {
  sortByLane();
  drawKeys.clear();
  for (uint32_t lane = 0; lane < placement->lanes; ++lane) {
    uint32_t begin = laneBegin[lane], end = laneBegin[lane + 1];
    if (begin == end)
      continue;
    DrawKey key{0, instructions[laneList[begin]].stage, 0, lane};
    for (uint32_t n = begin; n < end; ++n) {
      const Instruction &instruction = instructions[laneList[n]];
      key.level = std::max(key.level, levels[laneList[n]]);
      key.cost += graph.cost(instruction.stage, instruction.task,
                             instruction.tileEnd - instruction.tileBegin);
    }
    drawKeys.push_back(key);
  }
  std::sort(drawKeys.begin(), drawKeys.end(),
            [](const DrawKey &a, const DrawKey &b) {
              return std::make_tuple(a.level, a.stage, ~a.cost, a.lane) <
                     std::make_tuple(b.level, b.stage, ~b.cost, b.lane);
            });
  drawRank.assign(placement->lanes, 0);
  laneOrder.clear();
  for (const DrawKey &key : drawKeys) {
    drawRank[key.lane] = static_cast<uint32_t>(laneOrder.size());
    laneOrder.push_back(key.lane);
  }
  // Tasks that a residency request ties together may need each other's results
  // in turn; no order of whole draws can serve that.
  for (uint32_t i = 0; i < instructions.size(); ++i)
    for (uint32_t o = 0; o < instructions[i].operandCount; ++o) {
      uint32_t lane = laneOf(operands[instructions[i].firstOperand + o].slot);
      if (drawRank[lane] > drawRank[lanes[i]] ||
          (drawRank[lane] == drawRank[lanes[i]] && lane != lanes[i]))
        return Status(StatusCode::unsupported,
                      textOf("stage '", graph.stage(instructions[i].stage).name,
                             "', task ", instructions[i].task,
                             " is resident with a stage whose results it "
                             "reaches through another draw"));
    }
  return Status::success();
}

/// Empties a schedule; memory stays.
static void reset(Schedule &schedule, size_t queues) {
  schedule.queues.resize(queues);
  for (Queue &queue : schedule.queues) {
    queue.cta = kNone;
    queue.instructions.clear();
  }
  schedule.instructions.clear();
  schedule.operands.clear();
  schedule.outputs.clear();
  schedule.slots.clear();
  schedule.transfers.clear();
  schedule.destinations.clear();
  schedule.releases.clear();
  schedule.barriers.clear();
  schedule.flags = 0;
  schedule.sharedBytes = schedule.globalBytes = 0;
  schedule.exitBarrier = false;
}

void ScheduleBuilder::assemble(const char *solver, Schedule &schedule) {
  reset(schedule, ticket() ? 1 : placement->lanes);
  schedule.discipline = placement->discipline;
  schedule.solver = solver;
  newSlot.resize(slots.size());
  schedule.instructions.reserve(instructions.size());
  schedule.operands.reserve(operands.size());
  schedule.outputs.reserve(outputs.size());
  // Transfers add about a destination for each slot.
  schedule.slots.reserve(2 * slots.size());
  for (uint32_t lane : laneOrder) {
    uint32_t cta = ticket() ? kNone : lane;
    Queue &queue = schedule.queues[ticket() ? 0 : lane];
    queue.cta = cta;
    uint32_t begin = laneBegin[lane], end = laneBegin[lane + 1];
    if (!ticket())
      queue.instructions.reserve(end - begin);
    for (uint32_t n = begin; n < end; ++n) {
      Instruction i = instructions[laneList[n]];
      i.draw = ticket() && n == begin;
      uint32_t firstOutput = i.firstOutput;
      i.firstOutput = static_cast<uint32_t>(schedule.outputs.size());
      for (uint32_t o = 0; o < i.outputCount; ++o) {
        const SlotInfo &info = slots[outputs[firstOutput + o]];
        Slot slot;
        slot.stage = info.stage;
        slot.sliceBegin = info.sliceBegin;
        slot.sliceEnd = info.sliceEnd;
        slot.cta = cta;
        newSlot[outputs[firstOutput + o]] =
            static_cast<uint32_t>(schedule.slots.size());
        schedule.outputs.push_back(
            static_cast<uint32_t>(schedule.slots.size()));
        schedule.slots.push_back(slot);
      }
      queue.instructions.push_back(
          static_cast<uint32_t>(schedule.instructions.size()));
      schedule.instructions.push_back(i);
    }
  }
  // Operands last: a slot may be written by a later queue.
  for (Instruction &i : schedule.instructions) {
    uint32_t firstOperand = i.firstOperand;
    i.firstOperand = static_cast<uint32_t>(schedule.operands.size());
    for (uint32_t o = 0; o < i.operandCount; ++o) {
      const Part &part = operands[firstOperand + o];
      schedule.operands.push_back({newSlot[part.slot], part.row, false});
    }
  }
}
