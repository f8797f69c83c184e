//===- MoveRecords.cpp - Records that find no room in shared memory -------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of `planSlots` that moves a record to global memory: its readers are
// joined to one global slot, transfers and slots that nobody needs any more are
// taken out.
//
//===----------------------------------------------------------------------===//

#include "PlanSteps.h"
#include "Requests.h"

#include <algorithm>
#include <tuple>

using namespace dfrt;
using namespace dfrt::detail;

/// `slot` finds no room: its record goes through global memory.
Status SlotPlacer::moveToGlobal(uint32_t slot, const Table<Busy> &busy) {
  uint32_t stage = schedule.slots[slot].stage;
  uint32_t arrival = flow.arrival[slot];
  bool destination =
      arrival != kNone && schedule.transfers[arrival].source != slot;
  uint32_t source = destination ? schedule.transfers[arrival].source : slot;
  // A source that nobody on its CTA reads is of no use in shared memory once
  // its peers read it from global memory.
  bool sourceMoves = !destination || flow.readers(source).empty();
  if (sourceMoves && memory[stage] == Memory::shared)
    return overflow(slot, busy, "its stage requests shared memory");
  for (uint32_t t : flow.departures(source)) {
    const Transfer &transfer = schedule.transfers[t];
    if (transfer.transport != Transport::clusterShared)
      continue;
    for (uint32_t d : schedule.destinationsOf(transfer)) {
      for (const Read &reader : flow.readers(d))
        if (requestedTransport(program,
                               schedule.instructions[reader.instruction].stage,
                               stage) == Transport::clusterShared)
          return overflow(slot, busy, "transport cluster_shared is requested");
      dropped[d] = 1;
      anyDropped = true;
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
void SlotPlacer::rewire() {
  std::sort(moved.begin(), moved.end());
  moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
  if (moved.empty())
    return;
  replacement.fill(schedule.slots.size(), kNone);
  gone.fill(schedule.transfers.size(), 0);
  added.clear();
  reserve(added, moved.size());
  reserve(addedDestination, moved.size());
  addedDestination.clear();
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
      gone[t] = 1;
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
      dropped.push(0);
      replacement.push(kNone);
    }
    for (uint32_t t : flow.departures(source))
      for (uint32_t d : schedule.destinationsOf(schedule.transfers[t]))
        if (d != copy && gone[t]) {
          dropped[d] = 1;
          anyDropped = true;
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
  storeTransfers();
}

/// Transfers and destinations anew, without those that are gone and with those
/// that were added, in the order of their instructions.
void SlotPlacer::storeTransfers() {
  auto before = [](const Transfer &a, const Transfer &b) {
    return std::tie(a.instruction, a.firstDestination) <
           std::tie(b.instruction, b.firstDestination);
  };
  kept.clear();
  reserve(kept, schedule.transfers.size());
  for (size_t t = 0; t < schedule.transfers.size(); ++t)
    if (!gone[t])
      kept.push_back(schedule.transfers[t]);
  // selectTransports leaves the old ones in order.
  if (!std::is_sorted(kept.begin(), kept.end(), before))
    std::sort(kept.begin(), kept.end(), before);
  for (size_t t = 0; t < added.size(); ++t) {
    added[t].firstDestination =
        static_cast<uint32_t>(schedule.destinations.size());
    added[t].destinationCount = 1;
    schedule.destinations.push_back(addedDestination[t]);
  }
  std::sort(added.begin(), added.end(), before);
  setSize(schedule.transfers, kept.size() + added.size());
  std::merge(kept.begin(), kept.end(), added.begin(), added.end(),
             schedule.transfers.begin(), before);
  // Destinations in the order of their transfers, as a plan stores them.
  oldDestinations.swap(schedule.destinations);
  schedule.destinations.clear();
  for (Transfer &transfer : schedule.transfers) {
    const uint32_t *first = oldDestinations.data() + transfer.firstDestination;
    transfer.firstDestination =
        static_cast<uint32_t>(schedule.destinations.size());
    for (uint32_t d = 0; d < transfer.destinationCount; ++d)
      schedule.destinations.push_back(first[d]);
  }
}

/// Takes out the slots that were dropped. They are copies, which come behind
/// the outputs: most numbers stay as they are.
void SlotPlacer::compact() {
  if (!anyDropped)
    return;
  Slot *slots = schedule.slots.data();
  uint32_t count = static_cast<uint32_t>(schedule.slots.size());
  uint32_t kept = static_cast<uint32_t>(
      std::find(dropped.begin(), dropped.end(), 1) - dropped.begin());
  slotIndex.setSize(count);
  uint32_t *index = slotIndex.data();
  for (uint32_t s = 0; s < kept; ++s)
    index[s] = s;
  for (uint32_t s = kept; s < count; ++s) {
    index[s] = dropped[s] ? kNone : kept;
    if (!dropped[s])
      slots[kept++] = slots[s];
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
