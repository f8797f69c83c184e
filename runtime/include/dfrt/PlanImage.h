//===- PlanImage.h - A schedule as plan bytes and back ----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packing is the only writer of the records in ABI.h, and reading the only
// judge of foreign bytes: every offset, count, index, flag and reserved field
// is tested before anything uses it, and a message says which one was wrong.
// Packing a read plan with the same maxima gives the same bytes.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_PLANIMAGE_H
#define DFRT_PLANIMAGE_H

#include "dataflow/Schedule/Schedule.h"
#include "dfrt/ABI.h"

#include <memory>
#include <string>
#include <vector>

namespace dfrt {

/// Room for entries in each section of a plan, indexed by `dfrt_section`. The
/// size of a plan follows from it alone (`requiredBytes`), so a buffer
/// allocated once takes every plan within the maxima.
struct PlanMaxima {
  uint32_t capacity[DFRT_SECTION_COUNT] = {};
};

/// Bytes of a plan with this capacity: the one function that computes the size.
uint64_t requiredBytes(const PlanMaxima &maxima);

/// What a plan says, resolved to C++ objects. `problemless` facts only: no
/// lengths, no tensor signature.
struct PlanImage {
  std::string program;
  uint64_t fingerprint = 0;
  Topology topology;
  struct StageInfo {
    std::string name;
    StageKind kind = StageKind::map;
    uint64_t headBytes = 0, sliceBytes = 0;
    uint32_t slices = 1;
  };
  std::vector<StageInfo> stages;
  Schedule schedule;
  /// For each instruction the task's coordinates and its range in elements.
  struct Place {
    std::vector<int64_t> coordinates; ///< up to DFRT_MAX_AXES
    int64_t rangeBegin = 0, rangeEnd = 0;
  };
  std::vector<Place> places;
};

/// Image of a schedule made for `problem`.
PlanImage makePlanImage(const Problem &problem, Schedule schedule);

/// The maxima that fit `image` exactly.
PlanMaxima exactMaxima(const PlanImage &image);

/// Packs `image` into a buffer of requiredBytes(maxima) bytes. Fails when a
/// section is too small (names section, need and room) or a value does not fit
/// its field.
Expected<std::vector<uint8_t>> packPlan(const PlanImage &image,
                                        const PlanMaxima &maxima);

/// Packs schedules of one program again and again: the bytes of `packPlan`
/// without the image. Needs no memory once a plan of this size was packed.
class PlanPacker {
public:
  explicit PlanPacker(const Program &program);
  PlanPacker();
  PlanPacker(PlanPacker &&);
  PlanPacker &operator=(PlanPacker &&);
  ~PlanPacker();

  /// Packs a finished schedule, which a solver must have made for `problem`:
  /// its indices are not tested again (builds with assertions do). `maxima`
  /// null: what is needed exactly. Fails as packPlan.
  Status pack(const Problem &problem, const Schedule &schedule,
              std::vector<uint8_t> &bytes, const PlanMaxima *maxima = nullptr);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Reads and validates plan bytes. Fails on anything that packPlan would not
/// have written, naming the field.
Expected<PlanImage> readPlan(const uint8_t *bytes, uint64_t size);

/// Proves that plan bytes, whoever wrote them, are a legal plan for `problem`:
/// they pass `readPlan`, the schedule in them passes `verify`, and program,
/// stages, launch shape, coordinates and ranges are those of the problem.
/// Shares no code with the packer.
Status verifyPlan(const Problem &problem, const uint8_t *bytes, uint64_t size);

} // namespace dfrt

#endif // DFRT_PLANIMAGE_H
