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
  /// [0, 0) for the one piece of an empty range. A reduce has no range: [0, 1),
  /// or what its parts cover.
  int64_t tileBegin = 0, tileEnd = 1;
  /// Slices [sliceBegin, sliceEnd) that a separable stage computes; the whole
  /// record is [0, slices).
  uint32_t sliceBegin = 0, sliceEnd = 1;
  /// Operands, channel by channel: 1 for arity one, the tiles [tileBegin,
  /// tileEnd) for tiles, all there are for collected; all parts of a reduce, in
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
/// culprit ("V8: slot 12 (stage "merge", task 3) ..."). `problem` must pass
/// `check`; the schedule may be anything. Shares no code with any solver.
/// Clauses (the labels appear in messages, tests and mutants):
///
///   V1  Every index is in range; every list has the length its stage asks for.
///   V2  Each CTA has at most one queue; the ticket list is the only queue and
///       begins with a draw; every instruction is in exactly one queue.
///   V3  Coverage: the pieces of each (stage, task) cover its tiles exactly
///       once; each tile of an `each` stage and each slice of a separable task
///       once; a reduce of one part may be missing, and then its part stands
///       for it; what a reduce combines of a task is combined to the end.
///   V4  Operands: each is the record that stage, task, tiles, slices and row
///       ask for (a slot may hold more slices); parts of a reduce follow each
///       other in ascending order, and the finishing reduce has all of them.
///   V5  Each slot is written exactly once, by an instruction that runs on the
///       slot's owner or a transfer that reaches it; a transfer sends what its
///       instruction wrote.
///   V6  Each read happens after the write: program order (or the order inside
///       a draw) for what a handler wrote, else a wait for the arrival by the
///       reader or by an earlier instruction of its queue (draw).
///   V7  No wait cycle: the union of program order, waits and releases is
///       acyclic. Ticket: every wait refers to an earlier draw.
///   V8  Memory: of two slots with common bytes, all reads, writes and
///       transfers of the earlier one are over before the first write of the
///       later. An asynchronous transfer is over for whoever waited for all of
///       its destinations.
///   V9  Capacity: every slot is placed, inside its arena and aligned to
///       kRecordAlignment; the shared arena fits the topology.
///   V10 Routes: a shared slot is read on its own CTA, in a ticket list in its
///       own draw. local: the destination is the source. cluster_shared: shared
///       to shared within a cluster. multicast: global to shared, one
///       destination a CTA of the issuer's cluster, all at one offset. global:
///       to global memory. Ticket: local and global only.
///   V11 Barriers: per barrier the phases are 0..n-1, each with exactly
///       `arrivals` arrivals (transfers and releases), and every wait for phase
///       k, at least one, happens before any arrival of k+1. Each asynchronous
///       destination arrives on a barrier of its CTA; no other slot names one.
///   V12 Flags: each of 0..flags-1 is set by exactly one global transfer, and
///       each global transfer sets one.
///   V13 Residency: static queues fit the topology's CTAs, all of which are
///       resident together.
///   V14 Safe exit: somebody waits for every asynchronous transfer, and there
///       is an exit barrier if one reaches a peer.
///   V15 Output ownership: exactly one instruction finalises each (stage, task,
///       tile, slice).
///   V16 Variants fit the instruction: tile count, exact length (of each tile
///       for an `each` stage), what the task has of the range that bounds the
///       stage; an instruction with fewer slices than the whole names a sliced
///       variant, which is called once a slice.
///   V17 Releases: `from` reads the slot or a destination of its transfers;
///       `to` writes its memory, itself or by its transfers, or is the last of
///       its queue; both run in one cluster.
Status verify(const Problem &problem, const Schedule &schedule);

/// True if the schedules are equal, field by field.
bool operator==(const Schedule &a, const Schedule &b);

} // namespace dfrt

#endif // DATAFLOW_SCHEDULE_SCHEDULE_H
