//===- VerifyOrder.cpp - Waits and happens-before -------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clauses V7 (no wait cycle, list order) and V6 (reads after writes), and the
// vector clocks that answer all other questions of order.
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include <algorithm>
#include <tuple>

using namespace dfrt;

Status Verifier::checkWaits() {
  // Only the first waiter of a phase in its queue needs the edges: those behind
  // it follow by program order.
  std::vector<std::pair<uint32_t, uint32_t>> edges;
  auto wait = [&](uint32_t phase, uint32_t i) {
    BarrierPhase &p = phases[phase];
    if (p.firstWaiter == kNone || position[i] < position[p.firstWaiter])
      p.firstWaiter = i;
    if (p.lastWaiter == kNone || position[i] > position[p.lastWaiter])
      p.lastWaiter = i;
  };
  for (uint32_t i = 0; i < schedule.instructions.size(); ++i) {
    for (uint32_t r : releasesTo[i])
      wait(releasePhase[r], i);
    for (const Operand &operand :
         schedule.operandsOf(schedule.instructions[i])) {
      if (!operand.wait)
        continue;
      uint32_t s = operand.slot;
      if (slotPhase[s] != kNone)
        wait(slotPhase[s], i);
      else if (schedule.slots[s].flag != kNone)
        edges.emplace_back(i,
                           schedule.transfers[writers[s].notice].instruction);
      else
        return fail("V6", nameOf(i) + " waits for " + slotName(s) +
                              ", which has neither barrier nor flag");
    }
  }
  for (const BarrierPhase &phase : phases)
    if (phase.firstWaiter != kNone)
      for (uint32_t a = phase.first; a < phase.first + phase.count; ++a)
        edges.emplace_back(phase.firstWaiter, arrivals[a].instruction);
  // Edges along a queue are program order, unless they point the wrong way.
  auto redundant = [&](const std::pair<uint32_t, uint32_t> &edge) {
    return unit[edge.first] == unit[edge.second] &&
           position[edge.second] < position[edge.first];
  };
  edges.erase(std::remove_if(edges.begin(), edges.end(), redundant),
              edges.end());
  predecessors = IndexRows::make(schedule.instructions.size(), edges);
  return ticket ? checkListOrder() : checkCycles();
}

Status Verifier::checkListOrder() {
  order.clear();
  rank.assign(schedule.instructions.size(), 0);
  for (const std::vector<uint32_t> &draw : unitOrder)
    for (uint32_t i : draw) {
      for (uint32_t p : predecessors[i])
        if (position[p] >= position[i])
          return fail("V7", nameOf(i) + " at " + std::to_string(position[i]) +
                                " of the list waits for " + nameOf(p) + " at " +
                                std::to_string(position[p]) +
                                ", which is not in an earlier draw");
      rank[i] = static_cast<uint32_t>(order.size());
      order.push_back(i);
    }
  return Status::success();
}

Status Verifier::checkCycles() {
  const uint32_t count = static_cast<uint32_t>(schedule.instructions.size());
  std::vector<std::pair<uint32_t, uint32_t>> forward;
  std::vector<uint32_t> missing(count, 0);
  for (uint32_t i = 0; i < count; ++i) {
    missing[i] = static_cast<uint32_t>(predecessors[i].size()) +
                 (position[i] > 0 ? 1 : 0);
    for (uint32_t p : predecessors[i])
      forward.emplace_back(p, i);
  }
  IndexRows successors = IndexRows::make(count, forward);
  rank.assign(count, kNone);
  order.clear();
  for (const std::vector<uint32_t> &queue : unitOrder)
    if (!queue.empty() && missing[queue.front()] == 0)
      order.push_back(queue.front());
  for (size_t done = 0; done < order.size(); ++done) {
    uint32_t i = order[done];
    rank[i] = static_cast<uint32_t>(done);
    const std::vector<uint32_t> &queue = unitOrder[unit[i]];
    if (position[i] + 1 < queue.size() &&
        --missing[queue[position[i] + 1]] == 0)
      order.push_back(queue[position[i] + 1]);
    for (uint32_t s : successors[i])
      if (--missing[s] == 0)
        order.push_back(s);
  }
  if (order.size() == count)
    return Status::success();

  // Walk backwards among the instructions that never start until one repeats.
  uint32_t at = 0;
  while (rank[at] != kNone)
    ++at;
  std::vector<uint32_t> path, seen(count, kNone);
  while (seen[at] == kNone) {
    seen[at] = static_cast<uint32_t>(path.size());
    path.push_back(at);
    uint32_t next = kNone;
    for (uint32_t p : predecessors[at])
      if (rank[p] == kNone)
        next = p;
    // What stands before it in the queue is the less telling reason.
    if (next == kNone)
      next = unitOrder[unit[at]][position[at] - 1];
    at = next;
  }
  std::string text = nameOf(at) + " can never start: it waits for ";
  size_t named = 0;
  for (size_t p = seen[at] + 1; p < path.size() && named < 6; ++p, ++named)
    text += nameOf(path[p]) + ", which waits for ";
  return fail("V7", text + (seen[at] + 1 + named < path.size()
                                ? "others and at last for itself"
                                : "itself"));
}

Status Verifier::checkReads() {
  // (slot, unit, position) of the waits on flags; barriers have one waiter CTA.
  std::vector<std::tuple<uint32_t, uint32_t, uint32_t>> waits;
  for (uint32_t i = 0; i < schedule.instructions.size(); ++i)
    for (const Operand &operand : schedule.operandsOf(schedule.instructions[i]))
      if (operand.wait && slotPhase[operand.slot] == kNone)
        waits.emplace_back(operand.slot, unit[i], position[i]);
  std::sort(waits.begin(), waits.end());

  for (uint32_t i = 0; i < schedule.instructions.size(); ++i)
    for (const Operand &operand :
         schedule.operandsOf(schedule.instructions[i])) {
      uint32_t s = operand.slot, writer = writers[s].instruction;
      uint32_t transfer = writers[s].transfer;
      auto text = [&] { return nameOf(i) + " reads " + slotName(s); };
      if (transfer != kNone && asynchronous(transfer)) {
        uint32_t waiter = arrivalOf(s);
        if (waiter == kNone || position[waiter] > position[i])
          return fail("V6",
                      text() + " without a wait for " + transferName(transfer));
        continue;
      }
      // A handler's output and a global copy are complete when it ends.
      if (unit[writer] == unit[i] && position[writer] < position[i])
        continue;
      auto first = std::lower_bound(waits.begin(), waits.end(),
                                    std::make_tuple(s, unit[i], 0u));
      if (first == waits.end() || std::get<0>(*first) != s ||
          std::get<1>(*first) != unit[i] || std::get<2>(*first) > position[i])
        return fail(
            "V6",
            text() + ", written by " + nameOf(writer) + " " +
                (unit[writer] == unit[i]
                     ? std::string("later in its queue")
                     : (ticket ? "of another draw"
                               : "on CTA " + std::to_string(ctaOf(writer))) +
                           ", without a wait"));
    }
  return Status::success();
}

Status Verifier::require(uint32_t before, uint32_t after, bool strict,
                         Reason reason, uint32_t subject, uint32_t object) {
  Question question{before, after, reason, subject, object};
  if (before == after)
    return strict ? refuse(question) : Status::success();
  if (unit[before] == unit[after])
    return position[before] < position[after] ? Status::success()
                                              : refuse(question);
  // A later rank can never come before: no need for clocks to say so.
  if (rank[before] > rank[after])
    return refuse(question);
  questions.push_back(question);
  return Status::success();
}

Status Verifier::resolveOrder() {
  constexpr uint32_t width = 64;
  const size_t blocks = (unitOrder.size() + width - 1) / width;
  std::vector<std::pair<uint32_t, uint32_t>> asked;
  for (uint32_t q = 0; q < questions.size(); ++q)
    asked.emplace_back(unit[questions[q].before] / width, q);
  IndexRows byBlock = IndexRows::make(blocks, asked);

  // clock[i][u]: how many instructions of unit u end before i starts, counted
  // by position. One block of units at a time keeps the table small.
  std::vector<uint32_t> clock;
  uint32_t refused = kNone;
  for (uint32_t b = 0; b < blocks; ++b) {
    if (byBlock[b].empty())
      continue;
    clock.assign(schedule.instructions.size() * width, 0);
    std::vector<uint32_t> last(unitOrder.size(), kNone);
    auto join = [&](uint32_t *row, uint32_t from) {
      const uint32_t *other = clock.data() + size_t(from) * width;
      for (uint32_t u = 0; u < width; ++u)
        row[u] = std::max(row[u], other[u]);
      if (unit[from] / width == b)
        row[unit[from] % width] =
            std::max(row[unit[from] % width], position[from] + 1);
    };
    for (uint32_t i : order) {
      uint32_t *row = clock.data() + size_t(i) * width;
      if (last[unit[i]] != kNone)
        join(row, last[unit[i]]);
      for (uint32_t p : predecessors[i])
        join(row, p);
      last[unit[i]] = i;
    }
    for (uint32_t q : byBlock[b]) {
      const Question &question = questions[q];
      uint32_t reached =
          clock[size_t(question.after) * width + unit[question.before] % width];
      if (reached < position[question.before] + 1)
        refused = std::min(refused, q);
    }
  }
  return refused == kNone ? Status::success() : refuse(questions[refused]);
}

Status Verifier::refuse(const Question &question) const {
  std::string before = nameOf(question.before), after = nameOf(question.after);
  if (question.reason == Reason::phase) {
    const BarrierPhase &phase = phases[question.subject];
    return fail("V11", "barrier " + std::to_string(phase.barrier) +
                           ": the wait for phase " +
                           std::to_string(phase.phase) + " by " + before +
                           " does not happen before the arrival in phase " +
                           std::to_string(phase.phase + 1) + " from " + after);
  }
  std::string text = slotName(question.object) + " takes over the memory of " +
                     slotName(question.subject) + ": ";
  switch (question.reason) {
  case Reason::write:
    text += "the write by " + before;
    break;
  case Reason::read:
    text += "the read by " + before;
    break;
  case Reason::source:
    text += "the transfer of it, complete at " + before + ",";
    break;
  default:
    text += "its arrival, complete at " + before + ",";
    break;
  }
  bool copied = writers[question.object].transfer != kNone;
  return fail("V8",
              text + " does not happen before the " +
                  (copied ? transferName(writers[question.object].transfer)
                          : "write by " + after));
}
