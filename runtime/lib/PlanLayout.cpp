//===- PlanLayout.cpp - Sections of a plan, and what they must say --------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanLayout.h"

#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <limits>

using namespace dfrt;

uint64_t dfrt::sectionEntryBytes(uint32_t section) {
  static constexpr uint64_t kBytes[DFRT_SECTION_COUNT] = {
      sizeof(dfrt_queue),
      sizeof(dfrt_instruction),
      sizeof(dfrt_operand),
      sizeof(dfrt_output),
      sizeof(dfrt_slot),
      sizeof(dfrt_transfer),
      sizeof(dfrt_destination),
      sizeof(dfrt_release),
      sizeof(dfrt_barrier),
      sizeof(dfrt_stage),
      1,
      sizeof(dfrt_draw)};
  return kBytes[section];
}

const char *dfrt::sectionName(uint32_t section) {
  static constexpr const char *kNames[DFRT_SECTION_COUNT] = {
      "queues",   "instructions", "operands",     "outputs",
      "slots",    "transfers",    "destinations", "releases",
      "barriers", "stages",       "names",        "draws"};
  return kNames[section];
}

PlanLayout dfrt::layoutPlan(const PlanMaxima &maxima) {
  PlanLayout layout;
  uint64_t offset = sizeof(dfrt_plan_header);
  for (uint32_t s = 0; s < DFRT_SECTION_COUNT; ++s) {
    layout.offset[s] = offset;
    offset += sectionEntryBytes(s) * maxima.capacity[s];
    offset = (offset + DFRT_SECTION_ALIGNMENT - 1) &
             ~uint64_t(DFRT_SECTION_ALIGNMENT - 1);
  }
  layout.totalBytes = offset;
  return layout;
}

uint64_t dfrt::requiredBytes(const PlanMaxima &maxima) {
  return layoutPlan(maxima).totalBytes;
}

SectionEntries dfrt::usedEntries(const PlanImage &image,
                                 const Topology &topology, const Schedule &s,
                                 uint64_t queueCapacity) {
  uint64_t names = image.program.size() + 1 + s.solver.size() + 1;
  for (const PlanImage::StageInfo &stage : image.stages)
    names += stage.name.size() + 1;
  bool ticket = s.discipline == Discipline::ticket;
  // A ticket list has its first instruction behind the fixed places.
  uint64_t records = queueCapacity + (ticket ? 1 : 0);
  for (const Queue &queue : s.queues)
    records += queue.instructions.size();
  uint64_t draws = 0;
  if (ticket)
    for (const Instruction &instruction : s.instructions)
      draws += instruction.draw;
  return {queueCount(s, topology),
          records,
          s.operands.size(),
          s.outputs.size(),
          s.slots.size(),
          s.transfers.size(),
          s.destinations.size(),
          2 * s.releases.size(),
          s.barriers.size(),
          image.stages.size(),
          names,
          draws};
}

PlanMaxima dfrt::exactMaxima(const PlanImage &image) {
  SectionEntries used =
      usedEntries(image, image.topology, image.schedule, queueCount(image));
  PlanMaxima maxima;
  for (uint32_t i = 0; i < DFRT_SECTION_COUNT; ++i)
    maxima.capacity[i] = uint32_t(
        std::min<uint64_t>(used[i], std::numeric_limits<uint32_t>::max()));
  return maxima;
}
