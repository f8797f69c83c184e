//===- Verify.h - State of the schedule verifier ----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the verifier. It derives everything it needs from `Problem` and
// `Schedule` itself and shares no code with any solver, nor with the helpers of
// `Problem` that solvers use: what a consumer must read is worked out a second
// time, here, from the contract.
//
// The clauses run in an order in which each may rely on the ones before it:
//
//   Verify.cpp           V1 V2 V13 V9         indices, queues, places
//   VerifyRecords.cpp    V1 V16               list lengths, variants
//   VerifyTransfers.cpp  V5 V10 V12 V11       writers, routes, arrival counts
//   VerifyRecords.cpp    V3 V15               coverage
//   VerifyOrder.cpp      V7 V6                waits
//   VerifyOperands.cpp   V4 V3                what operands hold, reductions
//   VerifyMemory.cpp     V8 V11 V17           reuse, order of phases, releases
//   VerifyTransfers.cpp  V14                  exit
//
// VerifyProblem.cpp answers what a problem asks of a consumer.
//
// What the clauses protect is modelled in test/model, each with twins in which
// one is broken:
//
//   cluster_push.pml     V5 V6 V8 V10 V11 V14 V17
//   data_flag.pml        V5 V6 V8
//   global_epoch.pml     V6 V12 V13
//   multicast.pml        V8 V10 V11 V17
//   publish.pml          V12
//   reduce_scatter.pml   V4 V6 V7 V13 V15
//   ring.pml             V11
//   tickets.pml          V2 V7 V15
//
// docs/kernel.md says what the kernel does because of each.
//
// Happens-before questions between two instructions of one queue are answered
// at once by their positions. Questions across queues are collected and
// answered together by vector clocks, a block of queues at a time, so that the
// cost is one sweep over the instructions for each block that anybody asks
// about.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_SCHEDULE_VERIFY_H
#define DATAFLOW_LIB_SCHEDULE_VERIFY_H

#include "dataflow/Schedule/Schedule.h"

#include <string>
#include <vector>

namespace dfrt {

/// Rows of indices in one array: row r is items[begin[r] .. begin[r + 1]).
struct IndexRows {
  std::vector<uint32_t> begin, items;

  ArrayView<uint32_t> operator[](size_t row) const {
    return {items.data() + begin[row], begin[row + 1] - begin[row]};
  }
  /// Builds the rows of (row, item) pairs, items in the pairs' order.
  static IndexRows make(size_t rows,
                        const std::vector<std::pair<uint32_t, uint32_t>> &all);
};

/// How a slot came to hold its record.
struct SlotWriter {
  /// The instruction that computed the record: for a transfer's destination the
  /// one that wrote its source.
  uint32_t instruction = kNone;
  uint32_t output = 0;       ///< which of its outputs
  uint32_t transfer = kNone; ///< copies the bytes here; kNone: handler output
  uint32_t notice = kNone;   ///< transfer whose completion readers can wait for
};

/// Everything that arrives at one phase of one barrier, and who waits for it.
struct BarrierPhase {
  uint32_t barrier = 0, phase = 0;
  uint32_t first = 0, count = 0; ///< into Verifier::arrivals
  /// Waiting instructions, all on the barrier's CTA, by queue order; or kNone.
  uint32_t firstWaiter = kNone, lastWaiter = kNone;
};

class Verifier {
public:
  Verifier(const Problem &problem, const Schedule &schedule)
      : problem(problem), program(problem.program), schedule(schedule),
        ticket(schedule.discipline == Discipline::ticket) {}

  Status run();

private:
  // Verify.cpp.
  Status checkIndices();
  Status checkQueues();
  Status checkPlaces();
  // VerifyTransfers.cpp.
  Status checkWriters();
  Status checkTransports();
  Status checkTransfer(uint32_t index);
  Status checkReaders();
  Status checkFlags();
  Status checkArrivals();
  Status checkExit();
  // VerifyRecords.cpp.
  Status checkInstructions();
  Status checkVariant(uint32_t index);
  Status checkCoverage();
  Status checkTask(uint32_t stage, uint64_t task, ArrayView<uint32_t> group);
  Status checkSlicedTask(uint32_t stage, uint64_t task,
                         ArrayView<uint32_t> group, int64_t tiles);
  // VerifyOrder.cpp.
  Status checkWaits();
  Status checkListOrder();
  Status checkCycles();
  Status checkReads();
  Status resolveOrder();
  // VerifyOperands.cpp.
  Status checkOperands();
  Status checkChannel(uint32_t index, uint32_t input, uint32_t &next);
  Status checkParts(uint32_t index, uint32_t &next);
  Status checkReductions();
  // VerifyMemory.cpp.
  Status checkPhaseOrder();
  Status checkReuse();
  Status checkPair(uint32_t earlier, uint32_t later);
  Status checkReleases();

  // Questions about the problem (VerifyProblem.cpp).
  /// The task of input `input`'s domain that `task` reads, or UINT64_MAX.
  uint64_t inputTask(uint32_t stage, uint32_t input, uint64_t task);
  /// Tiles of a map's or finalize's range, 1 without one; tiles of the records
  /// behind a reshard.
  int64_t tilesOf(uint32_t stage, uint64_t task);
  /// Number of slices in which `stage` can work.
  uint32_t slicesOf(uint32_t stage) const;
  /// Parts that a reduce has for `task` when nothing has been combined yet; for
  /// pieces the number of scheduled ones.
  uint64_t partsOf(uint32_t stage, uint64_t task);
  /// Extent of what parts of a reduce cover: range tiles or keyed records.
  int64_t coverOf(uint32_t stage, uint64_t task);
  /// True behind a reshard that sends records to other tasks.
  bool isKeyed(uint32_t stage) const;
  /// The keyed records of `task` behind channel `stage`, and the stage whose
  /// records they are.
  ArrayView<KeyedSource> keyedOf(uint32_t stage, uint64_t task,
                                 uint32_t &source);
  /// True when `operand` is the record of (stage, task, tile), possibly behind
  /// moves and elided one-part reduces, reading row `row`.
  bool holds(const Operand &operand, uint32_t stage, uint64_t task,
             int64_t tile, uint32_t row);
  /// True when no instruction of the reduce exists for `task` and the planner
  /// may leave it out.
  bool elided(uint32_t stage, uint64_t task);
  /// Instructions of (stage, task), by tile and slice.
  ArrayView<uint32_t> groupOf(uint32_t stage, uint64_t task) const;

  // Names for messages.
  std::string nameOf(uint32_t instruction) const;
  std::string slotName(uint32_t slot) const;
  std::string transferName(uint32_t transfer) const;
  std::string releaseName(uint32_t release) const;
  std::string stageName(uint32_t stage, uint64_t task) const;
  static std::string interval(int64_t begin, int64_t end);
  static Status fail(const char *clause, const std::string &text);

  // Order.
  /// Why one instruction has to come before another.
  enum class Reason : uint8_t { phase, write, read, source, arrival };
  struct Question {
    uint32_t before, after;
    Reason reason;
    uint32_t subject; ///< earlier slot, or phase
    uint32_t object;  ///< later slot, or arrival
  };
  /// Requires that `before` ends before `after` starts or, unless `strict`,
  /// that they are the same. Fails at once when that can be seen from their
  /// positions, else asks for vector clocks.
  Status require(uint32_t before, uint32_t after, bool strict, Reason reason,
                 uint32_t subject, uint32_t object);
  Status refuse(const Question &question) const;

  uint32_t ctaOf(uint32_t instruction) const {
    return ticket ? kNone : schedule.queues[unit[instruction]].cta;
  }
  bool asynchronous(uint32_t transfer) const {
    Transport transport = schedule.transfers[transfer].transport;
    return transport == Transport::clusterShared ||
           transport == Transport::multicast;
  }
  /// The first instruction after whose wait the asynchronous transfer into
  /// `slot` is complete, or kNone.
  uint32_t arrivalOf(uint32_t slot) const {
    return slotPhase[slot] == kNone ? kNone
                                    : phases[slotPhase[slot]].firstWaiter;
  }
  /// The memory that a slot lies in: equal for slots that can collide.
  uint64_t memoryOf(uint32_t slot) const;

  const Problem &problem;
  const Program &program;
  const Schedule &schedule;
  const bool ticket;

  // Filled as the clauses pass.
  std::vector<uint32_t> unit;     ///< [instructions] queue, or draw
  std::vector<uint32_t> position; ///< [instructions] in the queue or list
  std::vector<std::vector<uint32_t>> unitOrder; ///< [units] instructions
  std::vector<SlotWriter> writers;              ///< [slots]
  IndexRows readers;       ///< [slots] instructions that read it
  IndexRows transfersFrom; ///< [slots] transfers that read it
  IndexRows transfersOf;   ///< [instructions] transfers it issues
  IndexRows releasesTo;    ///< [instructions] releases it waits for
  struct Arrival {
    uint32_t barrier, phase;
    uint32_t instruction; ///< at whose end it may happen
    uint32_t slot;        ///< destination, or
    uint32_t release;     ///< release
  };
  std::vector<Arrival> arrivals;      ///< sorted by (barrier, phase)
  std::vector<BarrierPhase> phases;   ///< sorted by (barrier, phase)
  std::vector<uint32_t> slotPhase;    ///< [slots] index into phases, or kNone
  std::vector<uint32_t> releasePhase; ///< [releases]
  std::vector<uint32_t> byTask; ///< instructions by (stage, task, tile, slice)
  std::vector<uint32_t> order;  ///< instructions in a topological order
  std::vector<uint32_t> rank;   ///< [instructions] place in `order`
  IndexRows predecessors;       ///< [instructions] in other units
  std::vector<int64_t> coverBegin, coverEnd; ///< [instructions]
  std::vector<std::vector<uint64_t>> listed; ///< [domains] tasks by coordinates
  std::vector<Question> questions;
};

} // namespace dfrt

#endif // DATAFLOW_LIB_SCHEDULE_VERIFY_H
