//===- Verify.cpp - Proof that a schedule is legal ------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entry of the verifier, and the clauses that everything else stands on: V1
// (indices and list lengths), V2 and V13 (queues) and V9 (places of slots).
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include <algorithm>

using namespace dfrt;

IndexRows
IndexRows::make(size_t rows,
                const std::vector<std::pair<uint32_t, uint32_t>> &all) {
  IndexRows result;
  result.begin.assign(rows + 1, 0);
  for (const auto &pair : all)
    ++result.begin[pair.first + 1];
  for (size_t row = 0; row < rows; ++row)
    result.begin[row + 1] += result.begin[row];
  result.items.resize(all.size());
  std::vector<uint32_t> next(result.begin.begin(), result.begin.end() - 1);
  for (const auto &pair : all)
    result.items[next[pair.first]++] = pair.second;
  return result;
}

Status Verifier::fail(const char *clause, const std::string &text) {
  return Status(StatusCode::verificationFailed,
                std::string(clause) + ": " + text);
}

std::string Verifier::interval(int64_t begin, int64_t end) {
  return "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
}

std::string Verifier::stageName(uint32_t stage, uint64_t task) const {
  std::string name = stage < program.stages.size() ? program.stages[stage].name
                                                   : std::string("?");
  return "stage \"" + name + "\", task " + std::to_string(task);
}

std::string Verifier::nameOf(uint32_t index) const {
  const Instruction &instruction = schedule.instructions[index];
  return "instruction " + std::to_string(index) + " (" +
         stageName(instruction.stage, instruction.task) + ")";
}

std::string Verifier::slotName(uint32_t index) const {
  std::string name = "slot " + std::to_string(index);
  const Slot &slot = schedule.slots[index];
  if (index < writers.size() && writers[index].instruction != kNone)
    return name + " (" +
           stageName(slot.stage,
                     schedule.instructions[writers[index].instruction].task) +
           ")";
  if (slot.stage < program.stages.size())
    return name + " (stage \"" + program.stages[slot.stage].name + "\")";
  return name;
}

std::string Verifier::transferName(uint32_t index) const {
  std::string name = "transfer " + std::to_string(index);
  uint32_t instruction = schedule.transfers[index].instruction;
  if (instruction < schedule.instructions.size())
    name += " of " + nameOf(instruction);
  return name;
}

std::string Verifier::releaseName(uint32_t index) const {
  const Release &release = schedule.releases[index];
  return "release " + std::to_string(index) + " of slot " +
         std::to_string(release.slot) + " from " + nameOf(release.from) +
         " to " + nameOf(release.to);
}

Status Verifier::run() {
  using Step = Status (Verifier::*)();
  const Step steps[] = {
      &Verifier::checkIndices,  &Verifier::checkQueues,
      &Verifier::checkPlaces,   &Verifier::checkInstructions,
      &Verifier::checkWriters,  &Verifier::checkTransports,
      &Verifier::checkReaders,  &Verifier::checkFlags,
      &Verifier::checkArrivals, &Verifier::checkCoverage,
      &Verifier::checkWaits,    &Verifier::checkReads,
      &Verifier::checkOperands, &Verifier::checkReductions,
      &Verifier::checkReuse,    &Verifier::checkPhaseOrder,
      &Verifier::resolveOrder,  &Verifier::checkReleases,
      &Verifier::checkExit,
  };
  for (Step step : steps)
    if (Status status = (this->*step)(); !status)
      return status;
  return Status::success();
}

namespace {

bool fits(uint64_t first, uint64_t count, uint64_t size) {
  return first <= size && count <= size - first;
}

} // namespace

Status Verifier::checkIndices() {
  const uint64_t limit = kNone;
  if (schedule.instructions.size() >= limit || schedule.slots.size() >= limit ||
      schedule.transfers.size() >= limit || schedule.releases.size() >= limit ||
      schedule.operands.size() >= limit || schedule.barriers.size() >= limit)
    return fail("V1", "a list has 2^32 - 1 entries or more");
  if (schedule.discipline != Discipline::fixed && !ticket)
    return fail("V1", "discipline " +
                          std::to_string(unsigned(schedule.discipline)) +
                          " is neither static nor ticket");
  const size_t slots = schedule.slots.size();

  for (uint32_t s = 0; s < slots; ++s) {
    const Slot &slot = schedule.slots[s];
    if (slot.stage >= program.stages.size())
      return fail("V1", "slot " + std::to_string(s) + ": stage " +
                            std::to_string(slot.stage) + " of " +
                            std::to_string(program.stages.size()));
    const Stage &stage = program.stages[slot.stage];
    if (stage.kind != StageKind::map && stage.kind != StageKind::reduce)
      return fail("V1", slotName(s) + " belongs to a stage without records");
    if (slot.sliceBegin >= slot.sliceEnd || slot.sliceEnd > stage.record.slices)
      return fail("V1", slotName(s) + " holds slices [" +
                            std::to_string(slot.sliceBegin) + ", " +
                            std::to_string(slot.sliceEnd) + ") of " +
                            std::to_string(stage.record.slices));
    if (slot.space > Space::global)
      return fail("V1", slotName(s) + ": space " +
                            std::to_string(unsigned(slot.space)) +
                            " does not exist");
    if (ticket ? slot.cta != kNone : slot.cta >= problem.topology.ctas)
      return fail("V1",
                  slotName(s) + ": owner " + std::to_string(slot.cta) +
                      (ticket ? " in a ticket queue, must be none"
                              : " of " + std::to_string(problem.topology.ctas) +
                                    " CTAs"));
    if (slot.barrier != kNone && slot.barrier >= schedule.barriers.size())
      return fail("V1", slotName(s) + ": barrier " +
                            std::to_string(slot.barrier) + " of " +
                            std::to_string(schedule.barriers.size()));
    if (slot.flag != kNone && slot.flag >= schedule.flags)
      return fail("V1", slotName(s) + ": flag " + std::to_string(slot.flag) +
                            " of " + std::to_string(schedule.flags));
  }

  for (uint32_t i = 0; i < schedule.instructions.size(); ++i) {
    const Instruction &instruction = schedule.instructions[i];
    if (instruction.stage >= program.stages.size())
      return fail("V1", "instruction " + std::to_string(i) + ": stage " +
                            std::to_string(instruction.stage) + " of " +
                            std::to_string(program.stages.size()));
    const Stage &stage = program.stages[instruction.stage];
    if (stage.kind == StageKind::reshard)
      return fail("V1", nameOf(i) + " belongs to a reshard, which has none");
    uint64_t tasks = problem.tasks[stage.domain].tasks;
    if (instruction.task >= tasks)
      return fail("V1", nameOf(i) + ": task " +
                            std::to_string(instruction.task) + " of " +
                            std::to_string(tasks));
    if (!fits(instruction.firstOperand, instruction.operandCount,
              schedule.operands.size()))
      return fail("V1", nameOf(i) + ": operands " +
                            interval(instruction.firstOperand,
                                     uint64_t(instruction.firstOperand) +
                                         instruction.operandCount) +
                            " of " + std::to_string(schedule.operands.size()));
    if (!fits(instruction.firstOutput, instruction.outputCount,
              schedule.outputs.size()))
      return fail("V1", nameOf(i) + ": outputs " +
                            interval(instruction.firstOutput,
                                     uint64_t(instruction.firstOutput) +
                                         instruction.outputCount) +
                            " of " + std::to_string(schedule.outputs.size()));
    for (const Operand &operand : schedule.operandsOf(instruction))
      if (operand.slot >= slots)
        return fail("V1", nameOf(i) + " reads slot " +
                              std::to_string(operand.slot) + " of " +
                              std::to_string(slots));
    for (uint32_t slot : schedule.outputsOf(instruction))
      if (slot >= slots)
        return fail("V1", nameOf(i) + " writes slot " + std::to_string(slot) +
                              " of " + std::to_string(slots));
  }

  for (uint32_t t = 0; t < schedule.transfers.size(); ++t) {
    const Transfer &transfer = schedule.transfers[t];
    if (transfer.instruction >= schedule.instructions.size())
      return fail("V1", "transfer " + std::to_string(t) + ": instruction " +
                            std::to_string(transfer.instruction) + " of " +
                            std::to_string(schedule.instructions.size()));
    if (transfer.source >= slots)
      return fail("V1", transferName(t) + ": source slot " +
                            std::to_string(transfer.source) + " of " +
                            std::to_string(slots));
    if (!fits(transfer.firstDestination, transfer.destinationCount,
              schedule.destinations.size()))
      return fail("V1", transferName(t) + ": destinations " +
                            interval(transfer.firstDestination,
                                     uint64_t(transfer.firstDestination) +
                                         transfer.destinationCount) +
                            " of " +
                            std::to_string(schedule.destinations.size()));
    for (uint32_t slot : schedule.destinationsOf(transfer))
      if (slot >= slots)
        return fail("V1", transferName(t) + ": destination slot " +
                              std::to_string(slot) + " of " +
                              std::to_string(slots));
  }

  for (uint32_t r = 0; r < schedule.releases.size(); ++r) {
    const Release &release = schedule.releases[r];
    auto name = [&] { return "release " + std::to_string(r); };
    if (release.slot >= slots)
      return fail("V1", name() + ": slot " + std::to_string(release.slot) +
                            " of " + std::to_string(slots));
    for (uint32_t end : {release.from, release.to})
      if (end >= schedule.instructions.size())
        return fail("V1", name() + ": instruction " + std::to_string(end) +
                              " of " +
                              std::to_string(schedule.instructions.size()));
    if (release.barrier >= schedule.barriers.size())
      return fail("V1", releaseName(r) + ": barrier " +
                            std::to_string(release.barrier) + " of " +
                            std::to_string(schedule.barriers.size()));
  }

  for (uint32_t b = 0; b < schedule.barriers.size(); ++b)
    if (schedule.barriers[b].cta >= problem.topology.ctas)
      return fail("V1", "barrier " + std::to_string(b) + ": CTA " +
                            std::to_string(schedule.barriers[b].cta) + " of " +
                            std::to_string(problem.topology.ctas));
  return Status::success();
}

Status Verifier::checkQueues() {
  const size_t count = schedule.instructions.size();
  if (ticket && schedule.queues.size() > 1)
    return fail("V2", "a ticket schedule has one list, got " +
                          std::to_string(schedule.queues.size()) + " queues");
  std::vector<bool> taken(problem.topology.ctas, false);
  unit.assign(count, kNone);
  position.assign(count, kNone);
  for (uint32_t q = 0; q < schedule.queues.size(); ++q) {
    const Queue &queue = schedule.queues[q];
    auto name = [&] { return "queue " + std::to_string(q); };
    if (ticket) {
      if (queue.cta != kNone)
        return fail("V2", name() + ": the ticket list belongs to no CTA, got " +
                              std::to_string(queue.cta));
    } else if (queue.cta >= problem.topology.ctas) {
      return fail("V13", name() + " runs on CTA " + std::to_string(queue.cta) +
                             ", but only " +
                             std::to_string(problem.topology.ctas) +
                             " are resident");
    } else {
      if (taken[queue.cta])
        return fail("V2", name() + ": CTA " + std::to_string(queue.cta) +
                              " has another queue");
      taken[queue.cta] = true;
    }
    if (!ticket)
      unitOrder.emplace_back();
    for (uint32_t p = 0; p < queue.instructions.size(); ++p) {
      uint32_t index = queue.instructions[p];
      if (index >= count)
        return fail("V1", name() + ": instruction " + std::to_string(index) +
                              " of " + std::to_string(count));
      if (position[index] != kNone)
        return fail("V2", nameOf(index) + " is queued twice: in " + name() +
                              " at " + std::to_string(p));
      bool draw = schedule.instructions[index].draw;
      if (!ticket && draw)
        return fail("V2", nameOf(index) + " begins a draw in a static queue");
      if (ticket && p == 0 && !draw)
        return fail("V2",
                    nameOf(index) + " is first in the list but begins no draw");
      if (ticket && draw)
        unitOrder.emplace_back();
      unit[index] = static_cast<uint32_t>(unitOrder.size() - 1);
      position[index] = p;
      unitOrder.back().push_back(index);
    }
  }
  for (uint32_t i = 0; i < count; ++i)
    if (position[i] == kNone)
      return fail("V2", nameOf(i) + " is in no queue");
  return Status::success();
}

Status Verifier::checkPlaces() {
  if (schedule.sharedBytes > problem.topology.slotBytes())
    return fail("V9", "the shared slot arena has " +
                          std::to_string(schedule.sharedBytes) +
                          " bytes, the topology leaves " +
                          std::to_string(problem.topology.slotBytes()));
  for (uint32_t s = 0; s < schedule.slots.size(); ++s) {
    const Slot &slot = schedule.slots[s];
    if (slot.space == Space::unplaced)
      return fail("V9",
                  slotName(s) + " is not placed: the schedule is not finished");
    bool shared = slot.space == Space::shared;
    uint64_t arena = shared ? schedule.sharedBytes : schedule.globalBytes;
    uint64_t bytes = slotBytes(problem, slot);
    if (!fits(slot.offset, bytes, arena))
      return fail("V9", slotName(s) + ": " + std::to_string(bytes) +
                            " bytes at " + std::to_string(slot.offset) +
                            " leave the " + (shared ? "shared" : "global") +
                            " arena of " + std::to_string(arena) + " bytes");
    if (slot.offset % kRecordAlignment != 0)
      return fail("V9", slotName(s) + ": offset " +
                            std::to_string(slot.offset) +
                            " is not a multiple of " +
                            std::to_string(kRecordAlignment));
  }
  return Status::success();
}

Status dfrt::verify(const Problem &problem, const Schedule &schedule) {
  return Verifier(problem, schedule).run();
}
