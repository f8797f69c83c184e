//===- PlanSlots.cpp - Places of slots ------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `planSlots`. First fit over time on each CTA (or draw). A slot shares memory
// with an earlier one only where the order of their uses is certain; see
// Lifetimes.h. What does not fit moves to global memory together with its
// destinations: the reader then waits for a flag instead of a barrier.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/Schedulers.h"

#include "Lifetimes.h"
#include "Requests.h"
#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace dfrt;
using namespace dfrt::detail;

namespace {

using Memory = StageRequests::Memory;

/// Global slots begin on lines of their own.
constexpr uint64_t kGlobalAlignment = 128;

uint64_t roundUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

class Placer {
public:
  Placer(const Problem &problem, Schedule &schedule, const Flow &flow)
      : problem(problem), program(problem.program), schedule(schedule),
        flow(flow), arena(problem.topology.slotBytes()) {}

  Status run() {
    size_t count = schedule.slots.size();
    dropped.assign(count, false);
    lifetimes.resize(count);
    for (uint32_t s = 0; s < count; ++s) {
      Slot &slot = schedule.slots[s];
      slot.barrier = slot.flag = kNone;
      slot.phase = 0;
      slot.offset = 0;
      if (slot.space == Space::global)
        continue;
      slot.space = Space::shared;
      lifetimes[s] = lifetimeOf(schedule, flow, s);
    }
    if (Status s = placeMulticasts(); !s)
      return s;
    if (Status s = visitLanes(
            slotsByLane(schedule, lifetimes), lifetimes,
            [&](ArrayView<uint32_t> slots) { return placeLane(slots); });
        !s)
      return s;
    rewire();
    compact();
    placeGlobals();
    addBarriers();
    return Status::success();
  }

  uint64_t numMoved = 0, numPublished = 0;

private:
  const Problem &problem;
  const Program &program;
  Schedule &schedule;
  const Flow &flow;
  uint64_t arena;
  std::vector<Lifetime> lifetimes;
  std::vector<bool> dropped;        ///< slots that are replaced by a global one
  std::vector<uint32_t> multicasts; ///< placed destinations of multicasts
  struct Busy {
    uint64_t begin, end;
    uint32_t slot;
  };
  // Of the lane at hand.
  std::vector<uint32_t> fixed;  ///< destinations of multicasts
  std::vector<uint32_t> active; ///< not yet free for all that may follow
  std::vector<Busy> busy;       ///< in use with the slot that is being placed

  uint64_t bytesOf(uint32_t slot) const {
    return roundUp(slotBytes(problem, schedule.slots[slot]), kRecordAlignment);
  }

  /// Lowest offset that keeps clear of all `busy` regions, which are sorted.
  static uint64_t firstFit(std::vector<Busy> &busy, uint64_t bytes) {
    std::sort(busy.begin(), busy.end(), [](const Busy &a, const Busy &b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    uint64_t offset = 0;
    for (const Busy &region : busy) {
      if (offset + bytes <= region.begin)
        break;
      offset = std::max(offset, region.end);
    }
    return offset;
  }

  Busy regionOf(uint32_t slot) const {
    uint64_t offset = schedule.slots[slot].offset;
    return {offset, offset + bytesOf(slot), slot};
  }

  Status overflow(uint32_t slot, const std::vector<Busy> &busy,
                  const char *why) const {
    std::string live;
    size_t shown = 0;
    for (const Busy &region : busy) {
      if (++shown > 8) {
        live += ", ...";
        break;
      }
      const Slot &other = schedule.slots[region.slot];
      live +=
          textOf(shown > 1 ? ", " : "", "slot ", region.slot, " ('",
                 program.stages[other.stage].name, "', ",
                 region.end - region.begin, " bytes at ", region.begin, ")");
    }
    const Slot &s = schedule.slots[slot];
    return Status(
        StatusCode::resourceExhausted,
        textOf("slot ", slot, " of stage '", program.stages[s.stage].name,
               "' needs ", bytesOf(slot), " bytes of the ", arena,
               " bytes that slots have in the shared memory of ",
               schedule.discipline == Discipline::ticket ? "draw " : "CTA ",
               lifetimes[slot].lane, ", and ", why,
               "; live: ", live.empty() ? std::string("nothing") : live));
  }

  /// All destinations of a multicast lie at one offset, which has to be free on
  /// every receiver: they are placed before everything else.
  Status placeMulticasts() {
    std::vector<uint32_t> order;
    for (uint32_t t = 0; t < schedule.transfers.size(); ++t)
      if (schedule.transfers[t].transport == Transport::multicast)
        order.push_back(t);
    auto first = [&](uint32_t t) {
      return schedule.destinations[schedule.transfers[t].firstDestination];
    };
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return std::tie(lifetimes[first(a)].begin, a) <
             std::tie(lifetimes[first(b)].begin, b);
    });
    std::map<uint32_t, std::vector<uint32_t>> placed; // by lane
    for (uint32_t t : order) {
      std::vector<Busy> busy;
      auto receivers = schedule.destinationsOf(schedule.transfers[t]);
      for (uint32_t slot : receivers)
        for (uint32_t other : placed[lifetimes[slot].lane])
          if (!lifetimes[other].endsBefore(lifetimes[slot]))
            busy.push_back(regionOf(other));
      uint64_t offset = firstFit(busy, bytesOf(first(t)));
      if (offset + bytesOf(first(t)) > arena)
        return overflow(first(t), busy, "a multicast is requested");
      for (uint32_t slot : receivers) {
        schedule.slots[slot].offset = offset;
        placed[lifetimes[slot].lane].push_back(slot);
        multicasts.push_back(slot);
      }
    }
    return Status::success();
  }

  Status placeLane(ArrayView<uint32_t> slots) {
    fixed.clear();
    active.clear();
    auto isFixed = [&](uint32_t slot) {
      uint32_t t = flow.arrival[slot];
      return t != kNone &&
             schedule.transfers[t].transport == Transport::multicast;
    };
    for (uint32_t slot : slots)
      if (isFixed(slot))
        fixed.push_back(slot);
    for (uint32_t slot : slots) {
      if (dropped[slot] || isFixed(slot) ||
          schedule.slots[slot].space == Space::global)
        continue;
      const Lifetime &life = lifetimes[slot];
      busy.clear();
      size_t kept = 0;
      for (uint32_t other : active) {
        if (std::max(lifetimes[other].end, lifetimes[other].endForPeer) >=
            life.begin)
          active[kept++] = other;
        if (!lifetimes[other].endsBefore(life) && !dropped[other])
          busy.push_back(regionOf(other));
      }
      active.resize(kept);
      for (uint32_t other : fixed)
        if (!lifetimes[other].endsBefore(life) &&
            !life.endsBefore(lifetimes[other]))
          busy.push_back(regionOf(other));
      uint64_t bytes = bytesOf(slot);
      uint64_t offset = firstFit(busy, bytes);
      if (offset + bytes > arena) {
        if (Status s = moveToGlobal(slot, busy); !s)
          return s;
        continue;
      }
      schedule.slots[slot].offset = offset;
      active.push_back(slot);
    }
    return Status::success();
  }

  /// `slot` finds no room: its record goes through global memory.
  Status moveToGlobal(uint32_t slot, const std::vector<Busy> &busy) {
    uint32_t stage = schedule.slots[slot].stage;
    uint32_t arrival = flow.arrival[slot];
    bool destination =
        arrival != kNone && schedule.transfers[arrival].source != slot;
    uint32_t source = destination ? schedule.transfers[arrival].source : slot;
    // A source that nobody on its CTA reads is of no use in shared memory once
    // its peers read it from global memory.
    bool sourceMoves = !destination || flow.readers(source).empty();
    if (sourceMoves && requestedMemory(program, stage) == Memory::shared)
      return overflow(slot, busy, "its stage requests shared memory");
    for (uint32_t t : flow.departures(source)) {
      const Transfer &transfer = schedule.transfers[t];
      if (transfer.transport != Transport::clusterShared)
        continue;
      for (uint32_t d : schedule.destinationsOf(transfer)) {
        for (uint32_t reader : flow.readers(d))
          if (requestedTransport(program, schedule.instructions[reader].stage,
                                 stage) == Transport::clusterShared)
            return overflow(slot, busy,
                            "transport cluster_shared is requested");
        dropped[d] = true;
      }
    }
    ++(destination ? numPublished : numMoved);
    if (sourceMoves)
      schedule.slots[source].space = Space::global;
    moved.push_back(source);
    return Status::success();
  }

  /// Joins the readers of moved records to one global slot: the source itself
  /// where that moved, else a published copy.
  void rewire() {
    std::sort(moved.begin(), moved.end());
    moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
    if (moved.empty())
      return;
    std::vector<uint32_t> replacement(schedule.slots.size(), kNone);
    std::vector<bool> gone(schedule.transfers.size(), false);
    std::vector<Transfer> added;
    std::vector<uint32_t> addedDestination;
    for (uint32_t source : moved) {
      bool inPlace = schedule.slots[source].space == Space::global;
      uint32_t copy = kNone;
      bool remote = false;
      for (uint32_t t : flow.departures(source)) {
        const Transfer &transfer = schedule.transfers[t];
        uint32_t d = schedule.destinationsOf(transfer)[0];
        remote = true;
        if (transfer.transport == Transport::global && !inPlace) {
          copy = d;
          continue;
        }
        gone[t] = true;
      }
      if (!remote)
        continue;
      bool publish = copy == kNone;
      if (inPlace) {
        copy = source;
      } else if (publish) {
        Slot slot = schedule.slots[source];
        slot.space = Space::global;
        copy = static_cast<uint32_t>(schedule.slots.size());
        schedule.slots.push_back(slot);
        dropped.push_back(false);
        replacement.push_back(kNone);
      }
      for (uint32_t t : flow.departures(source))
        for (uint32_t d : schedule.destinationsOf(schedule.transfers[t]))
          if (d != copy && gone[t]) {
            dropped[d] = true;
            replacement[d] = copy;
          }
      if (publish) {
        Transfer transfer;
        transfer.transport = Transport::global;
        transfer.instruction = flow.writer[source];
        transfer.source = source;
        added.push_back(transfer);
        addedDestination.push_back(copy);
      }
    }
    for (Operand &operand : schedule.operands)
      if (replacement[operand.slot] != kNone)
        operand.slot = replacement[operand.slot];
    // Transfers and destinations anew, in the order of their instructions.
    std::vector<Transfer> transfers;
    std::vector<uint32_t> destinations;
    auto keep = [&](Transfer transfer, ArrayView<uint32_t> list) {
      transfer.firstDestination = static_cast<uint32_t>(destinations.size());
      transfer.destinationCount = static_cast<uint32_t>(list.size());
      destinations.insert(destinations.end(), list.begin(), list.end());
      transfers.push_back(transfer);
    };
    for (size_t t = 0; t < schedule.transfers.size(); ++t)
      if (!gone[t])
        keep(schedule.transfers[t],
             schedule.destinationsOf(schedule.transfers[t]));
    auto middle = static_cast<int64_t>(transfers.size());
    for (size_t t = 0; t < added.size(); ++t)
      keep(added[t], {&addedDestination[t], 1});
    auto before = [](const Transfer &a, const Transfer &b) {
      return std::tie(a.instruction, a.firstDestination) <
             std::tie(b.instruction, b.firstDestination);
    };
    // selectTransports leaves the old ones in order.
    if (!std::is_sorted(transfers.begin(), transfers.begin() + middle, before))
      std::sort(transfers.begin(), transfers.begin() + middle, before);
    std::sort(transfers.begin() + middle, transfers.end(), before);
    std::inplace_merge(transfers.begin(), transfers.begin() + middle,
                       transfers.end(), before);
    // Destinations in the order of their transfers, as a plan stores them.
    schedule.destinations.clear();
    for (Transfer &transfer : transfers) {
      auto first = destinations.begin() + transfer.firstDestination;
      transfer.firstDestination =
          static_cast<uint32_t>(schedule.destinations.size());
      schedule.destinations.insert(schedule.destinations.end(), first,
                                   first + transfer.destinationCount);
    }
    schedule.transfers = std::move(transfers);
  }

  void compact() {
    if (std::find(dropped.begin(), dropped.end(), true) == dropped.end())
      return;
    std::vector<uint32_t> index(schedule.slots.size(), kNone);
    uint32_t kept = 0;
    for (uint32_t s = 0; s < schedule.slots.size(); ++s)
      if (!dropped[s]) {
        index[s] = kept;
        schedule.slots[kept++] = schedule.slots[s];
      }
    schedule.slots.resize(kept);
    for (Operand &operand : schedule.operands)
      operand.slot = index[operand.slot];
    for (uint32_t &slot : schedule.outputs)
      slot = index[slot];
    for (uint32_t &slot : schedule.destinations)
      slot = index[slot];
    for (Transfer &transfer : schedule.transfers)
      transfer.source = index[transfer.source];
  }

  void placeGlobals() {
    uint64_t offset = 0, shared = 0;
    for (uint32_t s = 0; s < schedule.slots.size(); ++s) {
      Slot &slot = schedule.slots[s];
      if (slot.space == Space::global) {
        slot.offset = offset;
        offset += roundUp(slotBytes(problem, slot), kGlobalAlignment);
      } else {
        shared = std::max(shared, slot.offset + bytesOf(s));
      }
    }
    schedule.globalBytes = offset;
    schedule.sharedBytes = shared;
  }

  /// A barrier for each destination in shared memory, a flag for each in
  /// global memory.
  void addBarriers() {
    schedule.barriers.clear();
    schedule.flags = 0;
    for (const Transfer &transfer : schedule.transfers)
      for (uint32_t d : schedule.destinationsOf(transfer)) {
        Slot &slot = schedule.slots[d];
        if (slot.space == Space::global) {
          slot.flag = schedule.flags++;
          continue;
        }
        slot.barrier = static_cast<uint32_t>(schedule.barriers.size());
        schedule.barriers.push_back({slot.cta, 1});
      }
  }

  std::vector<uint32_t> moved; ///< sources whose records go through global
};

} // namespace

Status dfrt::planSlots(const Problem &problem, Schedule &schedule,
                       Decisions *decisions) {
  Expected<Flow> flow = analyseFlow(problem, schedule);
  if (!flow)
    return flow.status();
  schedule.releases.clear();
  Placer placer(problem, schedule, *flow);
  if (Status s = placer.run(); !s)
    return s;
  if (!decisions)
    return Status::success();
  uint64_t limit = problem.topology.slotBytes();
  if (placer.numMoved)
    decisions->push_back(
        {"slots", "global",
         textOf(placer.numMoved, " records do not fit the ", limit,
                " bytes of shared memory and move to global memory")});
  if (placer.numPublished)
    decisions->push_back(
        {"transport", "global",
         textOf(placer.numPublished,
                " copies for cluster peers do not fit the ", limit,
                " bytes of shared memory; their records are published in "
                "global memory")});
  return Status::success();
}
