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
      sizeof(uint32_t),
      sizeof(dfrt_slot),
      sizeof(dfrt_transfer),
      sizeof(uint32_t),
      sizeof(dfrt_release),
      sizeof(dfrt_barrier),
      sizeof(dfrt_stage),
      1};
  return kBytes[section];
}

const char *dfrt::sectionName(uint32_t section) {
  static constexpr const char *kNames[DFRT_SECTION_COUNT] = {
      "queues",   "instructions", "operands",     "outputs",
      "slots",    "transfers",    "destinations", "releases",
      "barriers", "stages",       "names"};
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
                                 uint64_t queueCapacity) {
  const Schedule &s = image.schedule;
  uint64_t names = image.program.size() + 1 + s.solver.size() + 1;
  for (const PlanImage::StageInfo &stage : image.stages)
    names += stage.name.size() + 1;
  uint64_t records = queueCapacity;
  for (const Queue &queue : s.queues)
    records += queue.instructions.size();
  return {s.queues.size(),
          records,
          s.operands.size(),
          s.outputs.size(),
          s.slots.size(),
          s.transfers.size(),
          s.destinations.size(),
          2 * s.releases.size(),
          s.barriers.size(),
          image.stages.size(),
          names};
}

PlanMaxima dfrt::exactMaxima(const PlanImage &image) {
  const Schedule &s = image.schedule;
  // Every CTA of the launch shape finds a first instruction, be it EXIT.
  uint64_t queues =
      s.discipline == Discipline::ticket ? 1 : image.topology.ctas;
  queues = std::max<uint64_t>(queues, s.queues.size());
  SectionEntries used = usedEntries(image, queues);
  used[DFRT_SECTION_QUEUES] = queues;

  PlanMaxima maxima;
  for (uint32_t i = 0; i < DFRT_SECTION_COUNT; ++i)
    maxima.capacity[i] = uint32_t(
        std::min<uint64_t>(used[i], std::numeric_limits<uint32_t>::max()));
  return maxima;
}
