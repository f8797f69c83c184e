//===- VerifyTransfers.cpp - Writers, routes and arrivals -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clauses V5 (one writer a slot), V10 (legal routes), V12 (flags), the counting
// half of V11 (arrivals of each barrier phase) and V14 (safe exit).
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include <algorithm>
#include <tuple>

using namespace dfrt;

Status Verifier::checkWriters() {
  writers.assign(schedule.slots.size(), SlotWriter());
  for (uint32_t i = 0; i < schedule.instructions.size(); ++i) {
    ArrayView<uint32_t> outputs = schedule.outputsOf(schedule.instructions[i]);
    for (uint32_t o = 0; o < outputs.size(); ++o) {
      SlotWriter &writer = writers[outputs[o]];
      const Slot &slot = schedule.slots[outputs[o]];
      if (writer.instruction != kNone)
        return fail("V5", slotName(outputs[o]) + " is written by " +
                              nameOf(writer.instruction) + " and again by " +
                              nameOf(i));
      if (slot.cta != ctaOf(i))
        return fail("V5", slotName(outputs[o]) + " is owned by CTA " +
                              std::to_string(slot.cta) + " but written by " +
                              nameOf(i) + " on CTA " +
                              std::to_string(ctaOf(i)));
      writer.instruction = i;
      writer.output = o;
    }
  }

  // Handler outputs are all known now, so a source that is none can be told.
  const std::vector<SlotWriter> handlers = writers;
  std::vector<std::pair<uint32_t, uint32_t>> from, of;
  for (uint32_t t = 0; t < schedule.transfers.size(); ++t) {
    const Transfer &transfer = schedule.transfers[t];
    if (handlers[transfer.source].instruction != transfer.instruction)
      return fail("V5", transferName(t) + " sends " +
                            slotName(transfer.source) +
                            ", which that instruction does not write");
    from.emplace_back(transfer.source, t);
    of.emplace_back(transfer.instruction, t);
    for (uint32_t slot : schedule.destinationsOf(transfer)) {
      if (slot == transfer.source)
        continue; // In place: checkTransfer says whether that is legal.
      SlotWriter &writer = writers[slot];
      if (writer.instruction != kNone)
        return fail("V5", slotName(slot) + " is written by " +
                              (writer.transfer != kNone
                                   ? transferName(writer.transfer)
                                   : nameOf(writer.instruction)) +
                              " and again by " + transferName(t));
      writer = handlers[transfer.source];
      writer.transfer = t;
    }
  }
  for (uint32_t s = 0; s < schedule.slots.size(); ++s)
    if (writers[s].instruction == kNone)
      return fail("V5", slotName(s) + " is never written");
  transfersFrom = IndexRows::make(schedule.slots.size(), from);
  transfersOf = IndexRows::make(schedule.instructions.size(), of);
  return Status::success();
}

Status Verifier::checkTransports() {
  for (uint32_t t = 0; t < schedule.transfers.size(); ++t)
    if (Status status = checkTransfer(t); !status)
      return status;
  return Status::success();
}

Status Verifier::checkTransfer(uint32_t index) {
  const Transfer &transfer = schedule.transfers[index];
  const Slot &source = schedule.slots[transfer.source];
  const uint32_t cta = ctaOf(transfer.instruction);
  ArrayView<uint32_t> destinations = schedule.destinationsOf(transfer);
  auto name = [&] { return transferName(index); };

  bool async = asynchronous(index);
  if (!async && transfer.transport != Transport::local &&
      transfer.transport != Transport::global)
    return fail("V10", name() + ": transport " +
                           std::to_string(unsigned(transfer.transport)) +
                           " is not one that can be executed");
  if (async && ticket)
    return fail("V10", name() + " goes to a cluster peer, but in a ticket list "
                                "only global slots connect draws");
  bool many = transfer.transport == Transport::multicast;
  if (destinations.empty() || (!many && destinations.size() != 1))
    return fail("V10", name() + " has " + std::to_string(destinations.size()) +
                           " destinations, must have " +
                           (many ? "at least 1" : "1"));
  Space from = many ? Space::global : Space::shared;
  if (async && source.space != from)
    return fail("V10", name() + " reads " + slotName(transfer.source) +
                           ", which is not in " + (many ? "global" : "shared") +
                           " memory");

  std::vector<uint32_t> ctas;
  for (uint32_t d : destinations) {
    const Slot &slot = schedule.slots[d];
    auto what = [&] { return name() + " to " + slotName(d); };
    if (slot.stage != source.stage || slot.sliceBegin < source.sliceBegin ||
        slot.sliceEnd > source.sliceEnd)
      return fail("V10",
                  what() + ": slices [" + std::to_string(slot.sliceBegin) +
                      ", " + std::to_string(slot.sliceEnd) +
                      ") of its stage are not in " + slotName(transfer.source));
    if (async && d == transfer.source)
      return fail("V10", what() + ": only a local or global record can stay in "
                                  "its slot");
    if (transfer.transport == Transport::local) {
      if (d != transfer.source)
        return fail("V10", what() + ": a local record stays in its slot");
      continue;
    }
    if (transfer.transport == Transport::global) {
      if (slot.space != Space::global)
        return fail("V10", what() + ", which is not in global memory");
      if (slot.cta != cta)
        return fail("V5", slotName(d) + " is owned by CTA " +
                              std::to_string(slot.cta) + " but written by " +
                              name() + " on CTA " + std::to_string(cta));
    } else {
      if (slot.space != Space::shared)
        return fail("V10", what() + ", which is not in shared memory");
      if (problem.topology.cluster(slot.cta) != problem.topology.cluster(cta))
        return fail("V10", what() + ": CTA " + std::to_string(slot.cta) +
                               " is not in the cluster of CTA " +
                               std::to_string(cta) + " (cluster size " +
                               std::to_string(problem.topology.clusterSize) +
                               ")");
      const Slot &first = schedule.slots[destinations.front()];
      if (slot.offset != first.offset || slot.sliceBegin != first.sliceBegin ||
          slot.sliceEnd != first.sliceEnd)
        return fail("V10", what() + ": offset " + std::to_string(slot.offset) +
                               " or slices differ from those of " +
                               slotName(destinations.front()) + " at " +
                               std::to_string(first.offset));
      ctas.push_back(slot.cta);
    }
    if (writers[d].notice != kNone)
      return fail("V5", slotName(d) + " is announced by " +
                            transferName(writers[d].notice) + " and again by " +
                            name());
    writers[d].notice = index;
  }
  std::sort(ctas.begin(), ctas.end());
  auto twice = std::adjacent_find(ctas.begin(), ctas.end());
  if (twice != ctas.end())
    return fail("V10",
                name() + " reaches CTA " + std::to_string(*twice) + " twice");
  return Status::success();
}

Status Verifier::checkReaders() {
  std::vector<std::pair<uint32_t, uint32_t>> all;
  for (uint32_t i = 0; i < schedule.instructions.size(); ++i)
    for (const Operand &operand :
         schedule.operandsOf(schedule.instructions[i])) {
      const Slot &slot = schedule.slots[operand.slot];
      if (slot.space == Space::shared) {
        if (slot.cta != ctaOf(i))
          return fail("V10", nameOf(i) + " on CTA " + std::to_string(ctaOf(i)) +
                                 " reads " + slotName(operand.slot) +
                                 " in the shared memory of CTA " +
                                 std::to_string(slot.cta));
        uint32_t writer = writers[operand.slot].instruction;
        if (ticket && unit[writer] != unit[i])
          return fail("V10", nameOf(i) + " reads " + slotName(operand.slot) +
                                 " in shared memory, written in another draw "
                                 "by " +
                                 nameOf(writer));
      }
      all.emplace_back(operand.slot, i);
    }
  readers = IndexRows::make(schedule.slots.size(), all);
  return Status::success();
}

Status Verifier::checkFlags() {
  if (schedule.flags > schedule.slots.size())
    return fail("V12", std::to_string(schedule.flags) + " flags, but only " +
                           std::to_string(schedule.slots.size()) + " slots");
  std::vector<uint32_t> setter(schedule.flags, kNone);
  for (uint32_t s = 0; s < schedule.slots.size(); ++s) {
    const Slot &slot = schedule.slots[s];
    uint32_t notice = writers[s].notice;
    bool announced = notice != kNone && slot.space == Space::global;
    if (announced && slot.flag == kNone)
      return fail("V12", transferName(notice) + " to " + slotName(s) +
                             " sets no flag");
    if (slot.flag == kNone)
      continue;
    if (!announced)
      return fail("V12", "flag " + std::to_string(slot.flag) + " of " +
                             slotName(s) + " is set by no transfer");
    if (setter[slot.flag] != kNone)
      return fail("V12", "flag " + std::to_string(slot.flag) + " of " +
                             slotName(s) + " is set by " +
                             transferName(notice) + " and by " +
                             transferName(setter[slot.flag]));
    setter[slot.flag] = notice;
  }
  for (uint32_t f = 0; f < schedule.flags; ++f)
    if (setter[f] == kNone)
      return fail("V12", "flag " + std::to_string(f) + " of " +
                             std::to_string(schedule.flags) +
                             " is set by no transfer");
  return Status::success();
}

Status Verifier::checkArrivals() {
  if (ticket && !schedule.barriers.empty())
    return fail("V11", "a ticket schedule has " +
                           std::to_string(schedule.barriers.size()) +
                           " barriers, but its slots have no owner CTA");
  for (uint32_t s = 0; s < schedule.slots.size(); ++s) {
    const Slot &slot = schedule.slots[s];
    bool arrives =
        writers[s].notice != kNone && asynchronous(writers[s].notice);
    if (arrives && slot.barrier == kNone)
      return fail("V11", transferName(writers[s].notice) + " to " +
                             slotName(s) + " arrives on no barrier");
    if (slot.barrier == kNone)
      continue;
    if (!arrives)
      return fail("V11", slotName(s) + " names barrier " +
                             std::to_string(slot.barrier) +
                             ", but no transfer arrives in it");
    if (schedule.barriers[slot.barrier].cta != slot.cta)
      return fail("V11",
                  slotName(s) + " of CTA " + std::to_string(slot.cta) +
                      " arrives on barrier " + std::to_string(slot.barrier) +
                      " of CTA " +
                      std::to_string(schedule.barriers[slot.barrier].cta));
    arrivals.push_back({slot.barrier, slot.phase,
                        schedule.transfers[writers[s].notice].instruction, s,
                        kNone});
  }
  std::vector<std::pair<uint32_t, uint32_t>> to;
  for (uint32_t r = 0; r < schedule.releases.size(); ++r) {
    const Release &release = schedule.releases[r];
    uint32_t cta = ctaOf(release.to), barrier = release.barrier;
    if (schedule.barriers[barrier].cta != cta)
      return fail("V17", releaseName(r) + ": barrier " +
                             std::to_string(barrier) + " is of CTA " +
                             std::to_string(schedule.barriers[barrier].cta) +
                             ", not of CTA " + std::to_string(cta));
    if (problem.topology.cluster(cta) !=
        problem.topology.cluster(ctaOf(release.from)))
      return fail("V17", releaseName(r) + ": CTA " + std::to_string(cta) +
                             " is not in the cluster of CTA " +
                             std::to_string(ctaOf(release.from)));
    arrivals.push_back({barrier, release.phase, release.from, kNone, r});
    to.emplace_back(release.to, r);
  }
  releasesTo = IndexRows::make(schedule.instructions.size(), to);

  std::sort(arrivals.begin(), arrivals.end(),
            [](const Arrival &a, const Arrival &b) {
              return std::tie(a.barrier, a.phase, a.slot, a.release) <
                     std::tie(b.barrier, b.phase, b.slot, b.release);
            });
  slotPhase.assign(schedule.slots.size(), kNone);
  releasePhase.assign(schedule.releases.size(), kNone);
  for (uint32_t a = 0; a < arrivals.size(); ++a) {
    const Arrival &arrival = arrivals[a];
    if (phases.empty() || phases.back().barrier != arrival.barrier ||
        phases.back().phase != arrival.phase) {
      BarrierPhase phase;
      phase.barrier = arrival.barrier;
      phase.phase = arrival.phase;
      phase.first = a;
      phases.push_back(phase);
    }
    ++phases.back().count;
    uint32_t index = static_cast<uint32_t>(phases.size() - 1);
    if (arrival.slot != kNone)
      slotPhase[arrival.slot] = index;
    else
      releasePhase[arrival.release] = index;
  }
  for (uint32_t p = 0; p < phases.size(); ++p) {
    const BarrierPhase &phase = phases[p];
    const Arrival &arrival = arrivals[phase.first];
    auto name = [&] {
      return "barrier " + std::to_string(phase.barrier) + " phase " +
             std::to_string(phase.phase) + " (" +
             (arrival.slot != kNone ? slotName(arrival.slot)
                                    : releaseName(arrival.release)) +
             ")";
    };
    bool first = p == 0 || phases[p - 1].barrier != phase.barrier;
    uint64_t expected = first ? 0 : uint64_t(phases[p - 1].phase) + 1;
    if (phase.phase != expected)
      return fail("V11", name() + " follows no phase " +
                             std::to_string(uint64_t(phase.phase) - 1) +
                             ", expected phase " + std::to_string(expected));
    if (phase.count != schedule.barriers[phase.barrier].arrivals)
      return fail(
          "V11", name() + " gets " + std::to_string(phase.count) +
                     " arrivals, the barrier takes " +
                     std::to_string(schedule.barriers[phase.barrier].arrivals));
  }
  for (uint32_t b = 0; b < schedule.barriers.size(); ++b)
    if (schedule.barriers[b].arrivals == 0)
      return fail("V11", "barrier " + std::to_string(b) + " takes 0 arrivals");
  return Status::success();
}

Status Verifier::checkExit() {
  for (uint32_t t = 0; t < schedule.transfers.size(); ++t) {
    if (!asynchronous(t))
      continue;
    uint32_t cta = ctaOf(schedule.transfers[t].instruction);
    for (uint32_t d : schedule.destinationsOf(schedule.transfers[t])) {
      if (arrivalOf(d) == kNone)
        return fail("V14", transferName(t) + " to " + slotName(d) +
                               ": nobody waits for it, so CTA " +
                               std::to_string(schedule.slots[d].cta) +
                               " may exit before it arrives");
      if (!schedule.exitBarrier && schedule.slots[d].cta != cta)
        return fail("V14", transferName(t) + " to " + slotName(d) +
                               " touches the shared memory of CTA " +
                               std::to_string(schedule.slots[d].cta) +
                               ", but the kernel ends without a cluster "
                               "barrier");
    }
  }
  return Status::success();
}
