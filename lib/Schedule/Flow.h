//===- Flow.h - Who writes and who reads what, and when ---------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the steps behind the solvers need to know about a schedule, whoever made
// it: lanes, positions, writers and readers of slots, and levels (lane changes
// on the longest way to an instruction). Levels never fall along a queue and
// rise along every edge between lanes, so any further wait from a lower to a
// higher level keeps the schedule free of cycles.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_SCHEDULE_FLOW_H
#define DATAFLOW_LIB_SCHEDULE_FLOW_H

#include "dataflow/Schedule/Schedule.h"

namespace dfrt {
namespace detail {

/// One operand of an instruction, seen from the slot.
struct Read {
  uint32_t operand, instruction;
};

/// The tables are kept between schedules, so that a second one of the same size
/// needs no memory.
struct Flow {
  /// CTA, or number of the draw in a ticket queue. [instructions]
  std::vector<uint32_t> lane;
  /// Place in its queue. [instructions]
  std::vector<uint32_t> position;
  std::vector<uint32_t> level; ///< [instructions]
  /// A topological order of all instructions; empty where their numbers rise
  /// along every queue, which says enough.
  std::vector<uint32_t> order;
  /// The instruction that writes a slot or issues its transfer. [slots]
  std::vector<uint32_t> writer;
  /// The transfer that writes a slot, or kNone; also for a global slot that
  /// was written in place. [slots]
  std::vector<uint32_t> arrival;
  /// The first instruction that waits for a slot, or kNone. Its wait proves
  /// that the transfer into the slot is complete. [slots]
  std::vector<uint32_t> waiter;
  uint32_t lanes = 0;

  /// Who reads a slot, each once per operand, the first of a lane first.
  ArrayView<Read> readers(uint32_t slot) const {
    return {readList.data() + readBegin[slot], readEnd[slot] - readBegin[slot]};
  }
  /// Transfers that have a slot as source.
  ArrayView<uint32_t> departures(uint32_t slot) const {
    return {departureList.data() + departureBegin[slot],
            departureBegin[slot + 1] - departureBegin[slot]};
  }

  std::vector<Read> readList;
  std::vector<uint32_t> readBegin, readEnd; ///< [slots]
  std::vector<uint32_t> departureList, departureBegin;
  /// Of the analysis: successor in the queue, operands not yet there, readers
  /// by writing instruction.
  std::vector<uint32_t> next, pending, users, userBegin;

  /// Makes room for a schedule without transfers whose maker fills the tables.
  void begin(size_t instructions, size_t slots, size_t operands);
};

/// Fails when an index is out of range, a slot has no writer or several, an
/// instruction is not in exactly one queue, or the waits form a cycle.
Status analyseFlow(const Problem &problem, const Schedule &schedule,
                   Flow &flow);

/// Anew what `flow` knows of slots, after transfers and slots changed and the
/// instructions that wait for each other did not.
Status traceSlots(const Schedule &schedule, Flow &flow);

/// "instruction 12 (stage 'merge', task 3)".
std::string describeInstruction(const Problem &problem,
                                const Schedule &schedule, uint32_t index);

} // namespace detail
} // namespace dfrt

#endif // DATAFLOW_LIB_SCHEDULE_FLOW_H
