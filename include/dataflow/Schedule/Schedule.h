//===- Schedule.h - Queues, slots and transfers -----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where and when every handler call of a batch happens: the C++ twin of the
// `dataflow.schedule` op and of the plan's records. Everything refers to
// everything else by index; variable-length lists are spans of shared arrays,
// as in the plan.
//
// How a schedule executes (the CPU device does exactly this; the kernel does
// the same with hardware barriers):
//
//   for each instruction of a queue, in order
//     1. wait for all releases addressed to it                   (acquire)
//     2. wait for the arrival of every operand whose `wait` is set
//     3. call the handler: read the operands' slots, write the output slots
//     4. issue its transfers, then send its releases
//
// A slot is one lifetime of some memory: it is written exactly once, either by
// the instruction that lists it as output or by the one transfer that has it as
// destination, and read by any number of operands. Memory is reused by a later
// slot with overlapping bytes; that is legal only when every read of the
// earlier slot happens before the first write of the later one.
//
// Happens-before is program order in a queue, plus
//   - end of the producer -> completion of its transfer -> start of any
//     instruction that waits for the destination slot,
//   - end of `Release::from` -> start of `Release::to`.
// A transfer by cluster_shared or multicast reads its source and writes its
// destinations at any time between the producer's end and the consumer's wait:
// the producer does not know when it is complete. A transfer by global is
// complete at the producer's end. In a ticket queue there is no program order
// between different draws; what connects them is list order (a draw starts only
// after all earlier draws have started) and waits on global slots.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_SCHEDULE_SCHEDULE_H
#define DATAFLOW_SCHEDULE_SCHEDULE_H

#include "dataflow/Schedule/Problem.h"

namespace dfrt {

/// Where a slot lives. `unplaced` until slots are planned.
enum class Space : uint8_t { unplaced = 0, shared = 1, global = 2 };

/// Storage of one record, or of the head and some slices of it.
struct Slot {
  uint32_t stage = kNone; ///< whose record it holds
  uint32_t sliceBegin = 0;
  uint32_t sliceEnd = 1; ///< slices [sliceBegin, sliceEnd) of the record
  Space space = Space::unplaced;
  /// Owner: whose shared memory it is or, for a global slot, who writes it.
  /// kNone in a ticket queue: whichever CTA makes the draw.
  uint32_t cta = kNone;
  uint64_t offset = 0; ///< bytes from the start of the slot arena of its space
  /// Shared destinations of transfers: the barrier of the owner CTA on which
  /// the bytes arrive, and which of the barrier's phases (0, 1, ...) it is.
  uint32_t barrier = kNone;
  uint32_t phase = 0;
  /// Global destinations of transfers: index of the flag that says "written".
  uint32_t flag = kNone;
};

/// One record (or one row of it) that an instruction reads.
struct Operand {
  uint32_t slot = kNone;
  uint32_t row = kNone; ///< kNone: the whole slot
  bool wait = false;    ///< wait for the slot's barrier phase or flag first
};

/// One scheduled handler call.
struct Instruction {
  uint32_t stage = kNone;
  uint32_t variant = 0;
  uint64_t task = 0;
  /// Tiles [tileBegin, tileEnd) of the task's range; [0, 1) without a range,
  /// [0, 0) for the one piece of an empty range.
  int64_t tileBegin = 0, tileEnd = 1;
  /// Slices [sliceBegin, sliceEnd) that a separable stage computes; the whole
  /// record is [0, slices).
  uint32_t sliceBegin = 0, sliceEnd = 1;
  /// Operands, channel by channel: 1 for arity one, the tiles [tileBegin,
  /// tileEnd) for tiles, all tiles for collected; all parts of a reduce, in
  /// ascending order of what they cover.
  uint32_t firstOperand = 0, operandCount = 0;
  /// Output slots, in `Schedule::outputs`: one, or one per tile for arity
  /// tiles; none for finalize.
  uint32_t firstOutput = 0, outputCount = 0;
  /// Ticket queues: the first instruction of a draw.
  bool draw = false;
};

/// Movement of a record after an instruction, with its synchronisation.
struct Transfer {
  Transport transport = Transport::automatic;
  uint32_t instruction =
      kNone; ///< whose end issues it; must have written source
  uint32_t source = kNone;
  /// Destination slots, in `Schedule::destinations`: one, or for multicast one
  /// per receiving CTA. For global the destination may be the source itself:
  /// the handler wrote it in place and only the flag is set.
  uint32_t firstDestination = 0, destinationCount = 0;
};

/// "`from` has finished with `slot`; `to` may overwrite its memory."
struct Release {
  uint32_t slot = kNone;
  uint32_t from = kNone;
  uint32_t to = kNone;
  uint32_t barrier = kNone; ///< of the CTA that runs `to`
  uint32_t phase = 0;
};

/// A hardware barrier in the shared memory of one CTA. Every phase of it takes
/// the same number of arrivals.
struct Barrier {
  uint32_t cta = 0;
  uint32_t arrivals = 1;
};

enum class Discipline : uint8_t {
  fixed = 0,  ///< "static": one queue a CTA
  ticket = 1, ///< one list from which CTAs draw
};

/// Ordered instructions of one CTA, or the ticket list (then it is the only
/// queue and cta is kNone).
struct Queue {
  uint32_t cta = kNone;
  std::vector<uint32_t> instructions;
};

/// A schedule in any state of completion: after a solver it has queues,
/// instructions and unplaced slots; after `selectTransports` transfers; after
/// `planSlots` places; after `insertReleases` releases and barriers.
struct Schedule {
  Discipline discipline = Discipline::fixed;
  std::string solver; ///< name of the solver that made it, or "hand"
  std::vector<Queue> queues;
  std::vector<Instruction> instructions;
  std::vector<Operand> operands;
  std::vector<uint32_t> outputs;
  std::vector<Slot> slots;
  std::vector<Transfer> transfers;
  std::vector<uint32_t> destinations;
  std::vector<Release> releases;
  std::vector<Barrier> barriers;
  uint32_t flags = 0;       ///< global flags used: 0 .. flags-1
  uint64_t sharedBytes = 0; ///< slot arena of the fullest CTA
  uint64_t globalBytes = 0; ///< global slot arena
  /// The kernel ends with a cluster barrier. Required as soon as a transfer
  /// touches a peer's shared memory.
  bool exitBarrier = false;

  ArrayView<Operand> operandsOf(const Instruction &i) const {
    return {operands.data() + i.firstOperand, i.operandCount};
  }
  ArrayView<uint32_t> outputsOf(const Instruction &i) const {
    return {outputs.data() + i.firstOutput, i.outputCount};
  }
  ArrayView<uint32_t> destinationsOf(const Transfer &t) const {
    return {destinations.data() + t.firstDestination, t.destinationCount};
  }
};

/// Bytes of a slot.
inline uint64_t slotBytes(const Problem &problem, const Slot &slot) {
  return problem.program.stages[slot.stage].record.bytes(slot.sliceBegin,
                                                         slot.sliceEnd);
}

/// Proves that a finished schedule is legal for `problem`, or names the first
/// culprit ("instruction 12 (merge, task 3): ..."). Shares no code with any
/// solver. Clauses (the labels appear in messages, tests and mutants):
///   V1  every index is in range; every list has the length its stage asks for
///   V2  each CTA has at most one queue; the ticket list is the only queue;
///   every
///       instruction is in exactly one queue
///   V3  coverage: the pieces of each (stage, task) cover its tiles exactly
///   once;
///       each tile of an `each` stage and each slice of a separable task once
///   V4  operands: each is the record that stage, task, tiles, slices and row
///   ask
///       for; parts of a reduce cover the task's whole range in ascending order
///   V5  each slot is written exactly once, by an instruction or a transfer
///   that
///       runs on (or reaches) the slot's owner, and only while it is unread
///   V6  each read happens after the write: program order, or wait on the
///   arrival V7  no wait cycle: the union of program order, waits and releases
///   is acyclic
///       (ticket: every wait refers to an earlier draw)
///   V8  memory: overlapping slots are ordered, reads of the earlier before the
///       first write of the later
///   V9  capacity: slots lie inside the arena, aligned; sizes within topology
///   V10 transports are legal: local, cluster_shared and multicast stay within
///       one CTA or cluster, the right spaces, same-offset multicast
///   V11 barriers: per barrier the phases are 0..n-1, each with exactly
///   `arrivals`
///       arrivals, and the wait for phase k happens before any arrival of k+1
///   V12 flags: each is set by exactly one transfer
///   V13 residency: a wait between CTAs needs both resident; static queues fit
///       the topology's CTAs
///   V14 safe exit: no CTA exits before a peer's last access to its shared
///   memory V15 output ownership: exactly one instruction finalises each
///   (stage, task,
///       tile, slice)
///   V16 variants fit the instruction (tile count, exact length, slices)
///   V17 releases: `from` reads the slot or is its transfer's consumer; `to`
///       writes its memory next or exits
Status verify(const Problem &problem, const Schedule &schedule);

/// True if the schedules are equal, field by field.
bool operator==(const Schedule &a, const Schedule &b);

} // namespace dfrt

#endif // DATAFLOW_SCHEDULE_SCHEDULE_H
