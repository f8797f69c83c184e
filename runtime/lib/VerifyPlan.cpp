//===- VerifyPlan.cpp - Proof that plan bytes are legal for a problem ----===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dfrt/PlanImage.h"

#include "dataflow/Schedule/Message.h"

#include <algorithm>

using namespace dfrt;

namespace {

template <typename... Parts>
Status fail(const Parts &...parts) {
  return failure(StatusCode::verificationFailed, "plan: ", parts...);
}

Status checkProgram(const Program &program, const PlanImage &image) {
  if (image.fingerprint != program.fingerprint())
    return fail("fingerprint is ", image.fingerprint, ", but program '",
                program.name, "' has ", program.fingerprint());
  if (image.program != program.name)
    return fail("program_name is '", image.program, "', but the program is '",
                program.name, "'");
  if (image.stages.size() != program.stages.size())
    return fail("has ", image.stages.size(), " stages, but program '",
                program.name, "' has ", program.stages.size());
  for (size_t i = 0; i < image.stages.size(); ++i) {
    const PlanImage::StageInfo &told = image.stages[i];
    const Stage &stage = program.stages[i];
    if (told.name != stage.name || told.kind != stage.kind ||
        told.headBytes != stage.record.headBytes ||
        told.sliceBytes != stage.record.sliceBytes ||
        told.slices != stage.record.slices)
      return fail("stages[", i, "] is not stage '", stage.name,
                  "' of the program");
  }
  return Status::success();
}

Status checkTopology(const Topology &topology, const Topology &told) {
  auto same = [](const char *name, uint64_t got, uint64_t expected) {
    return got == expected
               ? Status::success()
               : fail(name, " is ", got, ", but the topology has ", expected);
  };
  DFRT_TRY(same("ctas", told.ctas, topology.ctas));
  DFRT_TRY(same("cluster_size", told.clusterSize, topology.clusterSize));
  DFRT_TRY(same("shared_limit", told.sharedBytes, topology.sharedBytes));
  return same("reserved_bytes", told.reservedBytes, topology.reservedBytes);
}

/// The schedule has passed `verify`, so its indices are in range.
Status checkPlaces(const Problem &problem, const PlanImage &image) {
  const Schedule &schedule = image.schedule;
  for (size_t i = 0; i < schedule.instructions.size(); ++i) {
    const Instruction &instruction = schedule.instructions[i];
    const Stage &stage = problem.program.stages[instruction.stage];
    const PlanImage::Place &place = image.places[i];
    ArrayView<int64_t> at = problem.tasks[stage.domain].at(instruction.task);
    for (size_t axis = 0; axis < DFRT_MAX_AXES; ++axis) {
      int64_t told =
          axis < place.coordinates.size() ? place.coordinates[axis] : 0;
      int64_t expected = axis < at.size() ? at[axis] : 0;
      if (told != expected)
        return fail("instructions[", i, "].coordinates[", axis, "] is ", told,
                    ", but task ", instruction.task, " of stage '", stage.name,
                    "' has ", expected);
    }
    int64_t begin = 0, end = 0;
    if (stage.range != kNone) {
      const RangeSet &range = problem.ranges[stage.range];
      int64_t first = range.offsets[instruction.task];
      int64_t length = range.lengths[instruction.task];
      begin = first + std::min(instruction.tileBegin * range.tile, length);
      end = first + std::min(instruction.tileEnd * range.tile, length);
    }
    if (place.rangeBegin != begin || place.rangeEnd != end)
      return fail("instructions[", i, "] covers elements ", place.rangeBegin,
                  " to ", place.rangeEnd, ", but its tiles are elements ",
                  begin, " to ", end);
  }
  return Status::success();
}

} // namespace

Status dfrt::verifyPlan(const Problem &problem, const uint8_t *bytes,
                        uint64_t size) {
  Expected<PlanImage> image = readPlan(bytes, size);
  if (!image)
    return image.status();
  DFRT_TRY(checkProgram(problem.program, *image));
  DFRT_TRY(checkTopology(problem.topology, image->topology));
  DFRT_TRY(verify(problem, image->schedule));
  return checkPlaces(problem, *image);
}
