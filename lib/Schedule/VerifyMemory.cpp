//===- VerifyMemory.cpp - Reuse of memory and barriers --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clauses V8 (memory), V17 (releases) and the second half of V11 (order of a
// barrier's phases).
//
// When a slot is touched, by whom, and when that is over:
//   handler's read or write    at the end of the instruction
//   global copy                at the end of the issuing instruction, after
//                              the handler's reads
//   asynchronous transfer      its reads of the source and its writes of the
//                              destinations: when an instruction starts that
//                              waits for each destination
// And when the first write of the later slot can happen:
//   handler's write            after the waits at the start of the instruction
//   any transfer               after the end of the issuing instruction
//
// Slots are laid into each memory by the order of their first writes. It is
// enough to hold each against the last holders of its bytes: they in turn were
// held against theirs.
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace dfrt;

uint64_t Verifier::memoryOf(uint32_t index) const {
  const Slot &slot = schedule.slots[index];
  if (slot.space == Space::global)
    return UINT64_MAX;
  // A draw runs on one CTA, and its shared slots live inside it.
  return ticket ? unit[writers[index].instruction] : slot.cta;
}

Status Verifier::checkPhaseOrder() {
  for (uint32_t p = 0; p + 1 < phases.size(); ++p) {
    const BarrierPhase &phase = phases[p], &next = phases[p + 1];
    if (phase.barrier != next.barrier)
      continue;
    if (phase.lastWaiter == kNone) {
      const Arrival &arrival = arrivals[phase.first];
      return fail(
          "V11",
          "barrier " + std::to_string(phase.barrier) +
              ": nobody waits for phase " + std::to_string(phase.phase) + " (" +
              (arrival.slot != kNone ? slotName(arrival.slot)
                                     : releaseName(arrival.release)) +
              ") before phase " + std::to_string(next.phase) + " begins");
    }
    for (uint32_t a = next.first; a < next.first + next.count; ++a)
      if (Status status = require(phase.lastWaiter, arrivals[a].instruction,
                                  false, Reason::phase, p, a);
          !status)
        return status;
  }
  return Status::success();
}

Status Verifier::checkReuse() {
  // (memory, rank of the first write, transfer after handler, slot).
  std::vector<std::tuple<uint64_t, uint32_t, bool, uint32_t>> sequence;
  for (uint32_t s = 0; s < schedule.slots.size(); ++s)
    sequence.emplace_back(memoryOf(s), rank[writers[s].instruction],
                          writers[s].transfer != kNone, s);
  std::sort(sequence.begin(), sequence.end());

  struct Holder {
    uint64_t end;
    uint32_t slot;
  };
  std::map<uint64_t, Holder> bytes; // by first byte; disjoint
  uint64_t memory = 0;
  for (const auto &entry : sequence) {
    if (std::get<0>(entry) != memory) {
      bytes.clear();
      memory = std::get<0>(entry);
    }
    const uint32_t slot = std::get<3>(entry);
    const uint64_t begin = schedule.slots[slot].offset;
    const uint64_t end = begin + slotBytes(problem, schedule.slots[slot]);
    auto at = bytes.upper_bound(begin);
    if (at != bytes.begin() && std::prev(at)->second.end > begin)
      --at;
    uint32_t last = kNone;
    while (at != bytes.end() && at->first < end) {
      const uint64_t from = at->first;
      const Holder holder = at->second;
      if (holder.slot != last)
        if (Status status = checkPair(holder.slot, slot); !status)
          return status;
      last = holder.slot;
      at = bytes.erase(at);
      if (from < begin)
        bytes[from] = {begin, holder.slot};
      if (holder.end > end)
        at = bytes.insert({end, {holder.end, holder.slot}}).first;
    }
    bytes[begin] = {end, slot};
  }
  return Status::success();
}

Status Verifier::checkPair(uint32_t earlier, uint32_t later) {
  const uint32_t target = writers[later].instruction;
  const bool copied = writers[later].transfer != kNone;
  // Requires that all of an asynchronous transfer is over.
  auto complete = [&](uint32_t destination, Reason reason) {
    uint32_t waiter = arrivalOf(destination);
    if (waiter == kNone)
      return fail("V8", slotName(later) + " takes over the memory of " +
                            slotName(earlier) + ", but nobody waits until " +
                            transferName(writers[destination].transfer) +
                            " to " + slotName(destination) + " is complete");
    return require(waiter, target, false, reason, earlier, later);
  };

  uint32_t arrival = writers[earlier].transfer;
  if (arrival != kNone && asynchronous(arrival)) {
    if (Status status = complete(earlier, Reason::arrival); !status)
      return status;
  } else if (Status status = require(writers[earlier].instruction, target,
                                     !copied || arrival != kNone, Reason::write,
                                     earlier, later);
             !status) {
    return status;
  }
  for (uint32_t reader : readers[earlier])
    if (Status status =
            require(reader, target, !copied, Reason::read, earlier, later);
        !status)
      return status;
  for (uint32_t t : transfersFrom[earlier]) {
    const Transfer &transfer = schedule.transfers[t];
    for (uint32_t d : schedule.destinationsOf(transfer)) {
      if (d == earlier)
        continue;
      Status status = asynchronous(t)
                          ? complete(d, Reason::source)
                          : require(transfer.instruction, target, true,
                                    Reason::source, earlier, later);
      if (!status)
        return status;
    }
  }
  return Status::success();
}

Status Verifier::checkReleases() {
  auto overlaps = [&](uint32_t a, uint32_t b) {
    const Slot &x = schedule.slots[a], &y = schedule.slots[b];
    return memoryOf(a) == memoryOf(b) &&
           x.offset < y.offset + slotBytes(problem, y) &&
           y.offset < x.offset + slotBytes(problem, x);
  };
  auto reads = [&](uint32_t instruction, uint32_t slot) {
    ArrayView<uint32_t> all = readers[slot];
    return std::binary_search(all.begin(), all.end(), instruction);
  };
  for (uint32_t r = 0; r < schedule.releases.size(); ++r) {
    const Release &release = schedule.releases[r];
    bool finished = reads(release.from, release.slot);
    for (uint32_t t : transfersFrom[release.slot])
      for (uint32_t d : schedule.destinationsOf(schedule.transfers[t]))
        finished |= reads(release.from, d);
    if (!finished)
      return fail("V17", releaseName(r) +
                             ": the sender reads neither the slot nor what is "
                             "transferred from it");
    const std::vector<uint32_t> &queue = unitOrder[unit[release.to]];
    bool writes = position[release.to] + 1 == queue.size();
    for (uint32_t s : schedule.outputsOf(schedule.instructions[release.to]))
      writes |= overlaps(s, release.slot);
    for (uint32_t t : transfersOf[release.to])
      for (uint32_t d : schedule.destinationsOf(schedule.transfers[t]))
        writes |=
            d != schedule.transfers[t].source && overlaps(d, release.slot);
    if (!writes)
      return fail("V17", releaseName(r) +
                             ": the receiver neither writes the slot's memory "
                             "nor exits");
  }
  return Status::success();
}
