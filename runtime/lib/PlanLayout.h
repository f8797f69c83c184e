//===- PlanLayout.h - Sections of a plan, and what they must say -*- C++-*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the writer and the reader of plan bytes share: where sections lie, and
// the rules that an image has to obey to be a plan at all. The rules are those
// that keep a reader inside its buffers; whether a plan is *right* is the
// verifier's question.
//
// Order of instructions: record q is the first instruction of queue q of a
// static plan, for as many queues as the section has room for, and EXIT where
// there is none and in ticket plans. The others follow queue by queue, each
// queue closed by an EXIT. In a schedule, queues may have any order and idle
// CTAs none; a plan has one for each CTA in ascending order, and is read so.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_PLANLAYOUT_H
#define DFRT_LIB_PLANLAYOUT_H

#include "dfrt/PlanImage.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dfrt {

/// Offsets of all sections and the size of the plan.
struct PlanLayout {
  uint64_t offset[DFRT_SECTION_COUNT];
  uint64_t totalBytes;
};
PlanLayout layoutPlan(const PlanMaxima &maxima);

/// Bytes of one entry of a section, and its name as used in messages.
uint64_t sectionEntryBytes(uint32_t section);
const char *sectionName(uint32_t section);

/// Queues of a plan: one for each CTA, or the ticket list.
inline uint32_t queueCount(const Schedule &schedule, const Topology &topology) {
  return schedule.discipline == Discipline::ticket ? 1 : topology.ctas;
}
inline uint32_t queueCount(const PlanImage &image) {
  return queueCount(image.schedule, image.topology);
}

/// Entries of each section that a plan of `schedule` uses when its queue
/// section has room for `queueCapacity` queues. They may exceed 32 bits.
/// `program`: names and stages of an image.
using SectionEntries = std::array<uint64_t, DFRT_SECTION_COUNT>;
SectionEntries usedEntries(const PlanImage &program, const Topology &topology,
                           const Schedule &schedule, uint64_t queueCapacity);

/// Bytes of slot `slot` by the stage table of the image. `slot.stage` and its
/// slices must have been checked.
inline uint64_t slotBytes(const PlanImage &image, const Slot &slot) {
  const PlanImage::StageInfo &stage = image.stages[slot.stage];
  return stage.headBytes + stage.sliceBytes * (slot.sliceEnd - slot.sliceBegin);
}

/// First and last element of the tiles [tileBegin, tileEnd) of a task.
inline std::pair<int64_t, int64_t> elementsOf(const RangeSet &range,
                                              uint64_t task, int64_t tileBegin,
                                              int64_t tileEnd) {
  int64_t offset = range.offsets[task], length = range.lengths[task];
  // Tiles of a schedule that nobody has verified may be any numbers.
  auto at = [&](int64_t tile) {
    return offset + (tile > length / range.tile ? length
                     : tile < 0                 ? 0
                                                : tile * range.tile);
  };
  return {at(tileBegin), at(tileEnd)};
}

/// Tests every index, span, enum and size of an image. `code` is the kind of
/// failure to report: a caller's mistake, or a corrupt file.
Status checkPlanImage(const PlanImage &image, StatusCode code);

} // namespace dfrt

#endif // DFRT_LIB_PLANLAYOUT_H
