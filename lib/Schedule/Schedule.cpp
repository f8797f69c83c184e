//===- Schedule.cpp - Queues, slots and transfers -------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Equality of schedules.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/Schedule.h"

#include <algorithm>
#include <tuple>

using namespace dfrt;

static auto fields(const Slot &s) {
  return std::make_tuple(s.stage, s.sliceBegin, s.sliceEnd, s.space, s.cta,
                         s.offset, s.barrier, s.phase, s.flag);
}
static auto fields(const Operand &o) {
  return std::make_tuple(o.slot, o.row, o.wait);
}
static auto fields(const Instruction &i) {
  return std::make_tuple(i.stage, i.variant, i.task, i.tileBegin, i.tileEnd,
                         i.sliceBegin, i.sliceEnd, i.firstOperand,
                         i.operandCount, i.firstOutput, i.outputCount, i.draw);
}
static auto fields(const Transfer &t) {
  return std::make_tuple(t.transport, t.instruction, t.source,
                         t.firstDestination, t.destinationCount);
}
static auto fields(const Release &r) {
  return std::make_tuple(r.slot, r.from, r.to, r.barrier, r.phase);
}
static auto fields(const Barrier &b) {
  return std::make_tuple(b.cta, b.arrivals);
}
static auto fields(const Queue &q) { return std::tie(q.cta, q.instructions); }

template <typename T>
static bool equal(const std::vector<T> &a, const std::vector<T> &b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const T &x, const T &y) { return fields(x) == fields(y); });
}

bool dfrt::operator==(const Schedule &a, const Schedule &b) {
  return a.discipline == b.discipline && a.solver == b.solver &&
         equal(a.queues, b.queues) && equal(a.instructions, b.instructions) &&
         equal(a.operands, b.operands) && a.outputs == b.outputs &&
         equal(a.slots, b.slots) && equal(a.transfers, b.transfers) &&
         a.destinations == b.destinations && equal(a.releases, b.releases) &&
         equal(a.barriers, b.barriers) && a.flags == b.flags &&
         a.sharedBytes == b.sharedBytes && a.globalBytes == b.globalBytes &&
         a.exitBarrier == b.exitBarrier;
}
