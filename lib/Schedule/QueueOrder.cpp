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

/// Order within one lane and level: an instruction follows directly behind the
/// last of its inputs, so that their slots are free again soon.
void ScheduleBuilder::orderLevel(std::vector<uint32_t> &queue, size_t begin,
                                 size_t end, std::vector<uint32_t> &place) {
  size_t count = end - begin;
  if (count < 3)
    return; // creation order is topological
  for (size_t i = 0; i < count; ++i)
    place[queue[begin + i]] = static_cast<uint32_t>(i);
  Scratch &scratch = orderScratch;
  std::vector<uint32_t> &pending = scratch.pending, &first = scratch.first,
                        &readers = scratch.readers, &next = scratch.next,
                        &order = scratch.order, &stack = scratch.stack;
  pending.assign(count, 0);
  first.assign(count + 1, 0);
  order.clear();
  auto local = [&](uint32_t index, const Part &part) {
    uint32_t writer = slots[part.slot].writer;
    return lanes[writer] == lanes[index] && levels[writer] == levels[index];
  };
  auto visit = [&](auto &&action) {
    for (size_t i = 0; i < count; ++i) {
      const Instruction &instruction = instructions[queue[begin + i]];
      for (uint32_t o = 0; o < instruction.operandCount; ++o) {
        const Part &part = operands[instruction.firstOperand + o];
        if (local(queue[begin + i], part))
          action(place[slots[part.slot].writer], static_cast<uint32_t>(i));
      }
    }
  };
  visit([&](uint32_t writer, uint32_t reader) {
    ++first[writer + 1];
    ++pending[reader];
  });
  std::partial_sum(first.begin(), first.end(), first.begin());
  readers.resize(first[count]);
  next.assign(first.begin(), first.end() - 1);
  visit([&](uint32_t writer, uint32_t reader) {
    readers[next[writer]++] = reader;
  });
  // Roots first: their counts are 0 before anything is emitted.
  std::vector<uint32_t> &roots = scratch.roots;
  roots.clear();
  for (uint32_t i = 0; i < count; ++i)
    if (pending[i] == 0)
      roots.push_back(i);
  for (uint32_t r : roots) {
    stack.push_back(r);
    while (!stack.empty()) {
      uint32_t i = stack.back();
      stack.pop_back();
      order.push_back(queue[begin + i]);
      for (uint32_t k = first[i + 1]; k-- > first[i];)
        if (--pending[readers[k]] == 0)
          stack.push_back(readers[k]);
    }
  }
  std::copy(order.begin(), order.end(),
            queue.begin() + static_cast<int64_t>(begin));
}

std::vector<std::vector<uint32_t>> ScheduleBuilder::orderQueues() {
  std::vector<std::vector<uint32_t>> queues(placement.lanes);
  for (uint32_t i = 0; i < instructions.size(); ++i)
    queues[lanes[i]].push_back(i);
  std::vector<uint32_t> place(instructions.size());
  for (std::vector<uint32_t> &queue : queues) {
    std::sort(queue.begin(), queue.end(), [&](uint32_t a, uint32_t b) {
      return std::tie(levels[a], a) < std::tie(levels[b], b);
    });
    for (size_t begin = 0; begin < queue.size();) {
      size_t end = begin;
      while (end < queue.size() && levels[queue[end]] == levels[queue[begin]])
        ++end;
      orderLevel(queue, begin, end, place);
      begin = end;
    }
  }
  return queues;
}

/// One list of draws: by level, stage and falling cost.
Expected<std::vector<std::vector<uint32_t>>>
ScheduleBuilder::orderDraws() const {
  std::vector<std::vector<uint32_t>> draws(placement.lanes);
  for (uint32_t i = 0; i < instructions.size(); ++i)
    draws[lanes[i]].push_back(i);
  struct Key {
    uint32_t level, stage;
    uint64_t cost;
    uint32_t lane;
  };
  std::vector<Key> keys;
  for (uint32_t lane = 0; lane < draws.size(); ++lane) {
    if (draws[lane].empty())
      continue;
    Key key{0, instructions[draws[lane][0]].stage, 0, lane};
    for (uint32_t i : draws[lane]) {
      const Instruction &instruction = instructions[i];
      key.level = std::max(key.level, levels[i]);
      key.cost += graph.cost(instruction.stage, instruction.task,
                             instruction.tileEnd - instruction.tileBegin);
    }
    keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end(), [](const Key &a, const Key &b) {
    return std::make_tuple(a.level, a.stage, ~a.cost, a.lane) <
           std::make_tuple(b.level, b.stage, ~b.cost, b.lane);
  });
  std::vector<uint32_t> rank(draws.size(), 0);
  std::vector<std::vector<uint32_t>> ordered;
  for (const Key &key : keys) {
    rank[key.lane] = static_cast<uint32_t>(ordered.size());
    ordered.push_back(std::move(draws[key.lane]));
  }
  // Tasks that a residency request ties together may need each other's results
  // in turn; no order of whole draws can serve that.
  for (uint32_t i = 0; i < instructions.size(); ++i)
    for (uint32_t o = 0; o < instructions[i].operandCount; ++o) {
      const Part &part = operands[instructions[i].firstOperand + o];
      if (rank[laneOf(part.slot)] > rank[lanes[i]] ||
          (rank[laneOf(part.slot)] == rank[lanes[i]] &&
           laneOf(part.slot) != lanes[i]))
        return Status(StatusCode::unsupported,
                      textOf("stage '", graph.stage(instructions[i].stage).name,
                             "', task ", instructions[i].task,
                             " is resident with a stage whose results it "
                             "reaches through another draw"));
    }
  return ordered;
}

Expected<Schedule> ScheduleBuilder::assemble(const char *solver) {
  Schedule schedule;
  schedule.discipline = placement.discipline;
  schedule.solver = solver;
  std::vector<std::vector<uint32_t>> order;
  if (ticket()) {
    auto draws = orderDraws();
    if (!draws)
      return draws.status();
    order = std::move(*draws);
    schedule.queues.emplace_back();
  } else {
    order = orderQueues();
    schedule.queues.resize(placement.lanes);
  }
  std::vector<uint32_t> newSlot(slots.size(), kNone);
  schedule.instructions.reserve(instructions.size());
  schedule.operands.reserve(operands.size());
  schedule.outputs.reserve(outputs.size());
  // Transfers add about a destination for each slot.
  schedule.slots.reserve(2 * slots.size());
  for (uint32_t lane = 0; lane < order.size(); ++lane) {
    uint32_t cta = ticket() ? kNone : lane;
    Queue &queue = schedule.queues[ticket() ? 0 : lane];
    queue.cta = cta;
    if (!ticket())
      queue.instructions.reserve(order[lane].size());
    for (size_t n = 0; n < order[lane].size(); ++n) {
      Instruction i = instructions[order[lane][n]];
      i.draw = ticket() && n == 0;
      uint32_t first = i.firstOutput;
      i.firstOutput = static_cast<uint32_t>(schedule.outputs.size());
      for (uint32_t o = 0; o < i.outputCount; ++o) {
        const SlotInfo &info = slots[outputs[first + o]];
        Slot slot;
        slot.stage = info.stage;
        slot.sliceBegin = info.sliceBegin;
        slot.sliceEnd = info.sliceEnd;
        slot.cta = cta;
        newSlot[outputs[first + o]] =
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
    uint32_t first = i.firstOperand;
    i.firstOperand = static_cast<uint32_t>(schedule.operands.size());
    for (uint32_t o = 0; o < i.operandCount; ++o) {
      const Part &part = operands[first + o];
      schedule.operands.push_back({newSlot[part.slot], part.row, false});
    }
  }
  return schedule;
}
