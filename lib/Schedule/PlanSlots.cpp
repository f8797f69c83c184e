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

#include "PlanSteps.h"
#include "Requests.h"
#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <tuple>

using namespace dfrt;
using namespace dfrt::detail;

/// Global slots begin on lines of their own.
static constexpr uint64_t kGlobalAlignment = 128;

static uint64_t roundUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

SlotPlacer::SlotPlacer(const Problem &problem, Schedule &schedule,
                       const Flow &flow)
    : problem(problem), program(problem.program), schedule(schedule),
      flow(flow) {
  for (uint32_t s = 0; s < program.stages.size(); ++s)
    memory.push_back(requestedMemory(program, s));
}

Status SlotPlacer::run() {
  size_t count = schedule.slots.size();
  arena = problem.topology.slotBytes();
  numMoved = numPublished = 0;
  moved.clear();
  reserve(moved, count);
  // Whether records move may change with the lengths of a batch.
  reserve(added, schedule.transfers.size());
  reserve(addedDestination, schedule.transfers.size());
  reserve(kept, schedule.transfers.size());
  reserve(oldDestinations, schedule.destinations.size());
  replacement.setSize(count);
  slotIndex.setSize(count);
  gone.setSize(schedule.transfers.size());
  reserve(schedule.barriers, count);
  dropped.fill(count, 0);
  anyDropped = false;
  setSize(lifetimes, count);
  for (uint32_t s = 0; s < count; ++s) {
    Slot &slot = schedule.slots[s];
    slot.barrier = slot.flag = kNone;
    slot.phase = 0;
    slot.offset = 0;
    if (slot.space == Space::global)
      continue;
    slot.space = Space::shared;
    findLifetime(schedule, flow, s, lifetimes[s]);
  }
  if (Status s = placeMulticasts(); !s)
    return s;
  if (Status s = visitLanes(
          byLane.sort(schedule, lifetimes, flow.lanes), lifetimes,
          [&](ArrayView<uint32_t> slots) { return placeLane(slots); });
      !s)
    return s;
  rewire();
  compact();
  placeGlobals();
  addBarriers();
  return Status::success();
}

uint64_t SlotPlacer::bytesOf(uint32_t slot) const {
  return roundUp(slotBytes(problem, schedule.slots[slot]), kRecordAlignment);
}

void SlotPlacer::sort(Table<Busy> &busy) {
  std::sort(busy.begin(), busy.end(), [](const Busy &a, const Busy &b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
}

/// Lowest offset that keeps clear of all `busy` regions, which are sorted.
uint64_t SlotPlacer::firstFit(const Table<Busy> &busy, uint64_t bytes) {
  uint64_t offset = 0;
  for (const Busy &region : busy) {
    if (offset + bytes <= region.begin)
      break;
    offset = std::max(offset, region.end);
  }
  return offset;
}

SlotPlacer::Busy SlotPlacer::regionOf(uint32_t slot) const {
  uint64_t offset = schedule.slots[slot].offset;
  return {offset, offset + bytesOf(slot), slot};
}

/// Adds a region to sorted ones.
void SlotPlacer::insert(Table<Busy> &regions, const Busy &region) const {
  regions.push(region);
  Busy *at = &regions.back();
  for (; at != regions.begin() && at[-1].begin > region.begin; --at)
    *at = at[-1];
  *at = region;
}

Status SlotPlacer::overflow(uint32_t slot, const Table<Busy> &busy,
                            const char *why) const {
  std::string live;
  size_t shown = 0;
  for (const Busy &region : busy) {
    if (++shown > 8) {
      live += ", ...";
      break;
    }
    const Slot &other = schedule.slots[region.slot];
    live += textOf(shown > 1 ? ", " : "", "slot ", region.slot, " ('",
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
Status SlotPlacer::placeMulticasts() {
  multicasts.clear();
  std::vector<uint32_t> &order = multicasts;
  for (uint32_t t = 0; t < schedule.transfers.size(); ++t)
    if (schedule.transfers[t].transport == Transport::multicast)
      order.push_back(t);
  anyMulticast = !order.empty();
  if (order.empty())
    return Status::success();
  auto first = [&](uint32_t t) {
    return schedule.destinations[schedule.transfers[t].firstDestination];
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(lifetimes[first(a)].begin, a) <
           std::tie(lifetimes[first(b)].begin, b);
  });
  lastMulticast.fill(flow.lanes, kNone);
  previousMulticast.fill(schedule.slots.size(), kNone);
  for (uint32_t t : order) {
    busy.clear();
    auto receivers = schedule.destinationsOf(schedule.transfers[t]);
    for (uint32_t slot : receivers)
      for (uint32_t other = lastMulticast[lifetimes[slot].lane]; other != kNone;
           other = previousMulticast[other])
        if (!lifetimes[other].endsBefore(lifetimes[slot]))
          busy.push(regionOf(other));
    sort(busy);
    uint64_t offset = firstFit(busy, bytesOf(first(t)));
    if (offset + bytesOf(first(t)) > arena)
      return overflow(first(t), busy, "a multicast is requested");
    for (uint32_t slot : receivers) {
      schedule.slots[slot].offset = offset;
      uint32_t &last = lastMulticast[lifetimes[slot].lane];
      previousMulticast[slot] = last;
      last = slot;
    }
  }
  return Status::success();
}

Status SlotPlacer::placeLane(ArrayView<uint32_t> slots) {
  fixed.clear();
  active.clear();
  auto isFixed = [&](uint32_t slot) {
    uint32_t t = anyMulticast ? flow.arrival[slot] : kNone;
    return t != kNone &&
           schedule.transfers[t].transport == Transport::multicast;
  };
  if (anyMulticast)
    for (uint32_t slot : slots)
      if (isFixed(slot))
        fixed.push(slot);
  for (uint32_t slot : slots) {
    if (dropped[slot] || isFixed(slot) ||
        schedule.slots[slot].space == Space::global)
      continue;
    const Lifetime &life = lifetimes[slot];
    busy.clear();
    size_t kept = 0;
    for (const Busy &region : active) {
      const Lifetime &other = lifetimes[region.slot];
      if (!other.endsBefore(life))
        busy.push(region);
      if (std::max(other.end, other.endForPeer) >= life.begin)
        active[kept++] = region;
    }
    active.setSize(kept);
    for (uint32_t other : fixed)
      if (!lifetimes[other].endsBefore(life) &&
          !life.endsBefore(lifetimes[other]))
        busy.push(regionOf(other));
    if (!fixed.empty())
      sort(busy);
    uint64_t bytes = bytesOf(slot);
    uint64_t offset = firstFit(busy, bytes);
    if (offset + bytes > arena) {
      uint32_t idle = longerIdle(slot, offset);
      if (Status s = moveToGlobal(idle == kNone ? slot : idle, busy); !s)
        return s;
      if (idle == kNone)
        continue;
      auto moves = [&](const Busy &region) { return region.slot == idle; };
      active.setSize(
          size_t(std::remove_if(active.begin(), active.end(), moves) -
                 active.begin()));
    }
    schedule.slots[slot].offset = offset;
    insert(active, {offset, offset + bytes, slot});
  }
  return Status::success();
}

/// `slot` does not fit. Where another record is needed for longer and would
/// make room, it is better off in global memory: it keeps more of those that
/// follow from being there. Returns it, with the place in `offset`, or kNone.
uint32_t SlotPlacer::longerIdle(uint32_t slot, uint64_t &offset) {
  uint32_t best = kNone;
  Time latest = lifetimes[slot].end;
  for (const Busy &region : busy) {
    if (lifetimes[region.slot].end <= latest ||
        memory[schedule.slots[region.slot].stage] == Memory::shared)
      continue;
    bool source = flow.arrival[region.slot] == kNone;
    for (uint32_t t : flow.departures(region.slot))
      source &= schedule.transfers[t].transport == Transport::global;
    if (source) {
      latest = lifetimes[region.slot].end;
      best = region.slot;
    }
  }
  if (best == kNone)
    return kNone;
  others.clear();
  for (const Busy &region : busy)
    if (region.slot != best)
      others.push(region);
  uint64_t place = firstFit(others, bytesOf(slot));
  if (place + bytesOf(slot) > arena)
    return kNone;
  offset = place;
  return best;
}

void SlotPlacer::placeGlobals() {
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
void SlotPlacer::addBarriers() {
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

void SlotPlacer::explain(Decisions &decisions) const {
  if (numMoved)
    decisions.push_back(
        {"slots", "global",
         textOf(numMoved, " records do not fit the ", arena,
                " bytes of shared memory and move to global memory")});
  if (numPublished)
    decisions.push_back(
        {"transport", "global",
         textOf(numPublished, " copies for cluster peers do not fit the ",
                arena,
                " bytes of shared memory; their records are published in "
                "global memory")});
}

Status dfrt::planSlots(const Problem &problem, Schedule &schedule,
                       Decisions *decisions) {
  Flow flow;
  DFRT_TRY(analyseFlow(problem, schedule, flow));
  schedule.releases.clear();
  SlotPlacer placer(problem, schedule, flow);
  DFRT_TRY(placer.run());
  if (decisions)
    placer.explain(*decisions);
  return Status::success();
}
