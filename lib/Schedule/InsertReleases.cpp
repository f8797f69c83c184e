//===- InsertReleases.cpp - Order where memory is reused ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `insertReleases`. Program order protects a slot that was written and read on
// the CTA that overwrites it. A release is needed where the overwriting comes
// from a peer, or where a peer's copy of the old contents may still be under
// way.
//
//===----------------------------------------------------------------------===//

#include "PlanSteps.h"
#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <tuple>

using namespace dfrt;
using namespace dfrt::detail;

bool ReleaseInserter::prepare() {
  schedule.releases.clear();
  schedule.exitBarrier = false;
  for (const Transfer &transfer : schedule.transfers)
    schedule.exitBarrier |= reachesPeer(transfer);
  // Within one lane program order does it all.
  return schedule.exitBarrier;
}

void ReleaseInserter::run() {
  reserve(memory, 64); // regions of one CTA
  reserve(taken, 64);
  reserve(schedule.releases, schedule.slots.size());
  setSize(lifetimes, schedule.slots.size());
  for (uint32_t s = 0; s < schedule.slots.size(); ++s)
    if (schedule.slots[s].space == Space::shared)
      findLifetime(schedule, flow, s, lifetimes[s]);
  Status done = visitLanes(byLane.sort(schedule, lifetimes, flow.lanes),
                           lifetimes, [&](ArrayView<uint32_t> slots) {
                             sweep(slots);
                             return Status::success();
                           });
  (void)done; // a sweep does not fail
  addBarriers();
}

/// Follows the memory of one CTA through time; each byte knows the slot that
/// used it last.
void ReleaseInserter::sweep(ArrayView<uint32_t> slots) {
  memory.clear(); // disjoint and ascending
  for (uint32_t slot : slots) {
    uint64_t begin = schedule.slots[slot].offset;
    uint64_t end = begin + slotBytes(problem, schedule.slots[slot]);
    auto first = std::partition_point(
        memory.begin(), memory.end(),
        [&](const Region &region) { return region.end <= begin; });
    taken.clear();
    if (first != memory.end() && first->begin < begin)
      taken.push_back({first->begin, begin, first->slot});
    taken.push_back({begin, end, slot});
    auto last = first;
    for (; last != memory.end() && last->begin < end; ++last) {
      order(last->slot, slot);
      if (last->end > end)
        taken.push_back({end, last->end, last->slot});
    }
    first = memory.erase(first, last);
    memory.insert(first, taken.begin(), taken.end());
  }
}

/// Slot `next` takes memory of `earlier`.
void ReleaseInserter::order(uint32_t earlier, uint32_t next) {
  uint32_t to = flow.writer[next];
  auto release = [&](uint32_t from) {
    bool ordered = from == to || (flow.lane[from] == flow.lane[to] &&
                                  flow.position[from] < flow.position[to]);
    if (!ordered)
      schedule.releases.push_back({earlier, from, to, kNone, 0});
  };
  ArrayView<Read> readers = flow.readers(earlier);
  if (lifetimes[next].fromPeer && !readers.empty()) {
    // All readers are on the owner CTA: the last one speaks for them.
    uint32_t last = readers.front().instruction;
    for (const Read &reader : readers)
      if (flow.position[reader.instruction] > flow.position[last])
        last = reader.instruction;
    release(last);
  }
  for (uint32_t t : flow.departures(earlier)) {
    const Transfer &transfer = schedule.transfers[t];
    if (!reachesPeer(transfer))
      continue;
    for (uint32_t destination : schedule.destinationsOf(transfer)) {
      uint32_t waiter = flow.waiter[destination];
      if (waiter != kNone)
        release(waiter);
    }
  }
}

/// One barrier an acquiring instruction, one arrival a release.
void ReleaseInserter::addBarriers() {
  std::vector<Release> &releases = schedule.releases;
  std::sort(
      releases.begin(), releases.end(), [](const Release &a, const Release &b) {
        return std::tie(a.to, a.from, a.slot) < std::tie(b.to, b.from, b.slot);
      });
  releases.erase(std::unique(releases.begin(), releases.end(),
                             [](const Release &a, const Release &b) {
                               return a.to == b.to && a.from == b.from &&
                                      a.slot == b.slot;
                             }),
                 releases.end());
  for (size_t r = 0; r < releases.size(); ++r) {
    if (r == 0 || releases[r - 1].to != releases[r].to)
      schedule.barriers.push_back({flow.lane[releases[r].to], 0});
    releases[r].barrier = static_cast<uint32_t>(schedule.barriers.size() - 1);
    ++schedule.barriers.back().arrivals;
  }
}

Status dfrt::insertReleases(const Problem &problem, Schedule &schedule) {
  Flow flow;
  ReleaseInserter inserter(problem, schedule, flow);
  if (!inserter.prepare())
    return Status::success();
  DFRT_TRY(analyseFlow(problem, schedule, flow));
  inserter.run();
  return Status::success();
}
