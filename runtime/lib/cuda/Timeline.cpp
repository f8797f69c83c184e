//===- Timeline.cpp - When a kernel did what ------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dfrt/cuda/Timeline.h"

#include "DeviceState.h"

#include "dfrt/cuda/Stream.h"

#include <algorithm>
#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;

static_assert(DFRT_ROLE_LOAD < DFRT_TIMELINE_ROLES &&
              DFRT_ROLE_COMPUTE < DFRT_TIMELINE_ROLES);

/// Of the lanes, which lie in front of the records.
static uint64_t laneBytes(uint32_t ctas) {
  return uint64_t(ctas) * DFRT_TIMELINE_ROLES * sizeof(dfrt_timeline_lane);
}

Expected<Timeline> Timeline::create(const Device &device, uint32_t ctas,
                                    uint32_t capacity) {
  if (!ctas || !capacity)
    return failure(StatusCode::invalidArgument, "timeline: ", capacity,
                   " instructions of each role of ", ctas,
                   " CTAs leave no record");
  uint64_t records =
      uint64_t(ctas) * DFRT_TIMELINE_ROLES * capacity; // below 2^65 / 2
  if (records > (uint64_t(1) << 40) / sizeof(TimelineRecord))
    return failure(StatusCode::resourceExhausted, "timeline: ", capacity,
                   " instructions of each role of ", ctas,
                   " CTAs are more than 1 TB of records; ask for fewer");
  Expected<Buffer> memory = Buffer::allocate(
      device, laneBytes(ctas) + records * sizeof(TimelineRecord), "timeline");
  if (!memory)
    return memory.status();
  Timeline timeline;
  timeline.memory = *memory;
  timeline.launched = ctas;
  timeline.records = capacity;
  return timeline;
}

Status Timeline::clear(const Stream &stream) const {
  return memory.fill(0, 0, laneBytes(launched), stream);
}

Expected<std::vector<TimelineLane>> Timeline::read(const Stream &stream) const {
  std::vector<dfrt_timeline_lane> heads(launched * DFRT_TIMELINE_ROLES);
  DFRT_TRY(memory.download(heads.data(), laneBytes(launched), stream));
  DFRT_TRY(stream.synchronize());
  std::vector<TimelineLane> lanes;
  uint64_t at = laneBytes(launched);
  for (uint32_t l = 0; l < heads.size(); ++l) {
    TimelineLane lane;
    lane.cta = l / DFRT_TIMELINE_ROLES;
    lane.role = l % DFRT_TIMELINE_ROLES;
    lane.multiprocessor = heads[l].multiprocessor;
    lane.instructions = heads[l].instructions;
    lane.records.resize(std::min(lane.instructions, records));
    DFRT_TRY(memory.download(lane.records.data(),
                             lane.records.size() * sizeof(TimelineRecord),
                             stream, at));
    at += uint64_t(records) * sizeof(TimelineRecord);
    lanes.push_back(std::move(lane));
  }
  DFRT_TRY(stream.synchronize());
  return lanes;
}

Status Timeline::read(const Stream &stream, std::vector<uint8_t> &bytes) const {
  bytes.resize(memory.bytes());
  DFRT_TRY(memory.download(bytes.data(), bytes.size(), stream));
  return stream.synchronize();
}
