//===- Lifetimes.cpp - When a shared slot is in use -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First and last use of a slot.
//
//===----------------------------------------------------------------------===//

#include "Lifetimes.h"

#include <algorithm>
#include <tuple>

using namespace dfrt;
using namespace dfrt::detail;

Lifetime detail::lifetimeOf(const Schedule &schedule, const Flow &flow,
                            uint32_t slot) {
  Lifetime life;
  uint32_t writer = flow.writer[slot];
  uint32_t arrival = flow.arrival[slot];
  life.fromPeer =
      arrival != kNone && schedule.transfers[arrival].source != slot;
  life.lane = life.fromPeer ? schedule.slots[slot].cta : flow.lane[writer];
  life.begin =
      life.fromPeer ? levelBegin(flow.level[writer]) : timeOf(flow, writer);
  life.end = life.begin;
  bool read = false;
  for (uint32_t reader : flow.readers(slot)) {
    life.end = std::max(life.end, timeOf(flow, reader));
    read = true;
  }
  life.endForPeer = life.end;
  for (uint32_t t : flow.departures(slot)) {
    const Transfer &transfer = schedule.transfers[t];
    if (!reachesPeer(transfer))
      continue;
    for (uint32_t destination : schedule.destinationsOf(transfer)) {
      uint32_t waiter = flow.waiter[destination];
      Time done = waiter == kNone ? kNever : levelEnd(flow.level[waiter]);
      life.end = std::max(life.end, done);
      life.endForPeer = std::max(life.endForPeer, done);
    }
  }
  // A release to a peer has to come from a reader. Where only a later global
  // transfer or nothing at all reads the slot, there is none to send it.
  if (!read && life.endForPeer == life.begin)
    life.endForPeer = kNever;
  return life;
}

std::vector<uint32_t>
detail::slotsByLane(const Schedule &schedule,
                    const std::vector<Lifetime> &lifetimes) {
  struct Entry {
    Time begin;
    uint32_t lane, slot;
  };
  std::vector<Entry> entries;
  entries.reserve(schedule.slots.size());
  for (uint32_t s = 0; s < schedule.slots.size(); ++s)
    if (schedule.slots[s].space == Space::shared)
      entries.push_back({lifetimes[s].begin, lifetimes[s].lane, s});
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return std::tie(a.lane, a.begin, a.slot) <
           std::tie(b.lane, b.begin, b.slot);
  });
  std::vector<uint32_t> slots;
  slots.reserve(entries.size());
  for (const Entry &entry : entries)
    slots.push_back(entry.slot);
  return slots;
}
