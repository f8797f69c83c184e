//===- PlanSteps.h - The steps behind the solvers ---------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `selectTransports`, `planSlots` and `insertReleases` as objects that keep
// their tables from one schedule to the next. All work on one schedule and the
// flow of it, so that it is analysed once for all of them.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_SCHEDULE_PLANSTEPS_H
#define DATAFLOW_LIB_SCHEDULE_PLANSTEPS_H

#include "Lifetimes.h"
#include "WorkItems.h"

namespace dfrt {
namespace detail {

/// Gives every edge between lanes its transport. The flow is kept up to date:
/// new slots are added, and the readers of a slot become those of the copies
/// that they are sent to.
class TransportSelector {
public:
  /// The requests of the program are read once.
  TransportSelector(const Problem &problem, Schedule &schedule, Flow &flow);

  Status run(const ScheduleOptions &options);
  void explain(Decisions &decisions) const;

private:
  using Memory = StageRequests::Memory;

  /// The transport of an edge between lanes, who chose it and, where that is
  /// forced and not legal, the limit that speaks against it.
  struct Choice {
    Transport transport;
    Decider by;
    const char *limit = nullptr;
  };

  std::string edgeName(uint32_t slot, const Read &read) const;
  Choice choose(uint32_t source, uint32_t reader, bool sameCluster) const;
  void chooseAll();
  void neededSlices(uint32_t slot, const Read &read, uint32_t &begin,
                    uint32_t &end) const;
  bool staysLocal(uint32_t slot);
  Status select(uint32_t slot);
  uint32_t addSlot(uint32_t source, uint32_t begin, uint32_t end, Space space,
                   uint32_t cta, const ArrayView<Read> &reads);
  void addTransfer(Transport transport, uint32_t source,
                   ArrayView<uint32_t> destinations);
  void redirect(const Read &read, uint32_t slot);
  void sortByLane(Table<Read> &reads) const;
  ArrayView<Read> store(const Table<Read> &reads, uint32_t &at);
  void sendToPeers(uint32_t slot, const ArrayView<Read> &reads);
  void multicast(uint32_t slot, const ArrayView<Read> &reads);
  void publish(uint32_t slot, const ArrayView<Read> &reads, bool inPlace);

  const Problem &problem;
  const Program &program;
  Transport wanted = Transport::automatic; ///< by the options
  Schedule &schedule;
  Flow &flow;
  std::vector<Memory> memory;       ///< requests, [stages]
  std::vector<Transport> requested; ///< [sources][readers]
  std::vector<Choice> choices;      ///< [in a cluster][sources][readers]
  Table<uint32_t> clusters;         ///< [lanes]; empty where none has a peer
  /// Reads of the slot at hand: on its lane, by transport, and all that a slot
  /// in global memory serves itself.
  Table<Read> local, peers, outside, receivers, inPlaceReads;
  Table<uint32_t> copies; ///< destinations of one multicast
  /// Records by transport and by who chose it for one of their readers.
  uint64_t numRecords[5][4] = {};
};

/// Places every slot. Where records move to global memory, copies of them are
/// dropped and the slots are numbered anew: the flow no longer fits then.
class SlotPlacer {
public:
  /// The requests of the program are read once.
  SlotPlacer(const Problem &problem, Schedule &schedule, const Flow &flow);

  Status run();
  /// True if the flow's tables of slots have to be made anew.
  bool renumbered() const { return !moved.empty(); }
  void explain(Decisions &decisions) const;

private:
  using Memory = StageRequests::Memory;
  struct Busy {
    uint64_t begin, end;
    uint32_t slot;
  };

  uint64_t bytesOf(uint32_t slot) const;
  static void sort(Table<Busy> &busy);
  static uint64_t firstFit(const Table<Busy> &busy, uint64_t bytes);
  Busy regionOf(uint32_t slot) const;
  void insert(Table<Busy> &regions, const Busy &region) const;
  Status overflow(uint32_t slot, const Table<Busy> &busy,
                  const char *why) const;
  Status placeMulticasts();
  Status placeLane(ArrayView<uint32_t> slots);
  uint32_t longerIdle(uint32_t slot, uint64_t &offset);
  Status moveToGlobal(uint32_t slot, const Table<Busy> &busy);
  void rewire();
  void storeTransfers();
  void compact();
  void placeGlobals();
  void addBarriers();

  const Problem &problem;
  const Program &program;
  Schedule &schedule;
  const Flow &flow;
  uint64_t arena = 0;
  std::vector<Memory> memory; ///< requests, [stages]
  std::vector<Lifetime> lifetimes;
  SlotsByLane byLane;
  Table<uint8_t> dropped; ///< slots that are replaced by a global one
  bool anyDropped = false, anyMulticast = false;
  // Destinations of multicasts: the last one placed on each lane, and the one
  // placed before it.
  Table<uint32_t> lastMulticast, previousMulticast;
  std::vector<uint32_t> multicasts;
  // Of the lane at hand.
  Table<uint32_t> fixed; ///< destinations of multicasts
  Table<Busy> active;    ///< not yet free for all that may follow, by place
  Table<Busy> busy;      ///< in use with the slot that is being placed
  Table<Busy> others;    ///< all of them but one
  // Of records that move.
  std::vector<uint32_t> moved; ///< sources whose records go through global
  Table<uint32_t> replacement, slotIndex; ///< [slots]
  Table<uint8_t> gone;                    ///< [transfers]
  std::vector<Transfer> kept, added;
  std::vector<uint32_t> addedDestination, oldDestinations;
  uint64_t numMoved = 0, numPublished = 0;
};

/// Adds the releases that memory reuse needs, and the exit barrier.
class ReleaseInserter {
public:
  ReleaseInserter(const Problem &problem, Schedule &schedule, const Flow &flow)
      : problem(problem), schedule(schedule), flow(flow) {}

  /// True if anything can be needed; sets the exit barrier. Only then the flow
  /// is looked at.
  bool prepare();
  void run();

private:
  void sweep(ArrayView<uint32_t> slots);
  void order(uint32_t earlier, uint32_t next);
  void addBarriers();

  const Problem &problem;
  Schedule &schedule;
  const Flow &flow;
  std::vector<Lifetime> lifetimes;
  SlotsByLane byLane;
  struct Region {
    uint64_t begin, end;
    uint32_t slot;
  };
  std::vector<Region> memory, taken; ///< scratch of sweep
};

/// All steps, and the tables of all of them: `makeSchedule` again and again,
/// for batches of one program.
class PlanSteps {
public:
  explicit PlanSteps(const Problem &problem)
      : problem(problem), solver(problem), selector(problem, schedule, flow),
        placer(problem, schedule, flow), inserter(problem, schedule, flow) {}
  PlanSteps(const PlanSteps &) = delete;

  /// Makes `schedule`. The problem must be one that `check` accepts.
  Status run(const ScheduleOptions &options, Decisions *decisions);

  Schedule schedule;

private:
  Status choose(const ScheduleOptions &options);

  const Problem &problem;
  BatchSolver solver;
  std::unique_ptr<Strategy> strategy; ///< the one used last
  Flow flow;
  TransportSelector selector;
  SlotPlacer placer;
  ReleaseInserter inserter;
};

} // namespace detail
} // namespace dfrt

#endif // DATAFLOW_LIB_SCHEDULE_PLANSTEPS_H
