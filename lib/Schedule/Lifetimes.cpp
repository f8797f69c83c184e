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
#include "Table.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace dfrt;
using namespace dfrt::detail;

void detail::findLifetime(const Schedule &schedule, const Flow &flow,
                          uint32_t slot, Lifetime &life) {
  uint32_t writer = flow.writer[slot];
  uint32_t arrival = flow.arrival[slot];
  life.fromPeer =
      arrival != kNone && schedule.transfers[arrival].source != slot;
  life.lane = life.fromPeer ? schedule.slots[slot].cta : flow.lane[writer];
  life.begin =
      life.fromPeer ? levelBegin(flow.level[writer]) : timeOf(flow, writer);
  life.end = life.begin;
  bool read = false;
  for (const Read &reader : flow.readers(slot)) {
    life.end = std::max(life.end, timeOf(flow, reader.instruction));
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
}

const std::vector<uint32_t> &
SlotsByLane::sort(const Schedule &schedule,
                  const std::vector<Lifetime> &lifetimes, uint32_t lanes) {
  slots.clear();
  auto before = [&](uint32_t a, uint32_t b) {
    return std::tie(lifetimes[a].begin, a) < std::tie(lifetimes[b].begin, b);
  };
  bool sorted = true;
  for (uint32_t s = 0; s < schedule.slots.size(); ++s) {
    if (schedule.slots[s].space != Space::shared)
      continue;
    if (!slots.empty()) {
      uint32_t last = slots.back();
      sorted &= lifetimes[last].lane < lifetimes[s].lane ||
                (lifetimes[last].lane == lifetimes[s].lane && before(last, s));
    }
    slots.push_back(s);
  }
  if (sorted)
    return slots;
  // Owners that do not exist, of a schedule that is wrong, come last.
  auto bucket = [&](uint32_t s) { return std::min(lifetimes[s].lane, lanes); };
  fill(laneBegin, lanes + 2, 0u);
  for (uint32_t s : slots)
    ++laneBegin[bucket(s) + 1];
  std::partial_sum(laneBegin.begin(), laneBegin.end(), laneBegin.begin());
  unsorted.swap(slots);
  setSize(slots, unsorted.size());
  for (uint32_t s : unsorted)
    slots[laneBegin[bucket(s)]++] = s;
  for (uint32_t lane = 0, begin = 0; lane <= lanes; ++lane) {
    uint32_t end = laneBegin[lane];
    std::sort(slots.begin() + begin, slots.begin() + end, before);
    begin = end;
  }
  return slots;
}
