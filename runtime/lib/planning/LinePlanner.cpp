//===- LinePlanner.cpp - The device's solver on the host ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts first, then lays the plan out as small as it is, and writes it.
//
//===----------------------------------------------------------------------===//

#include "dfrt/LinePlanner.h"

#include "../CRC32.h"
#include "../PlanLayout.h"
#include "HostThreads.h"
#include "WriteQueues.h"
#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <cstring>

using namespace dfrt;
using namespace dfrt::planning;

struct LinePlanner::State {
  DevicePlanner planner;
  Launch launch;
  std::vector<uint8_t> frame;
  std::vector<HostUnit> arena;

  void liftBound();
  void layOut(const planning::State &counted, std::vector<uint8_t> &bytes);
};

/// Plans have the size that they need, so that only what 32 bits hold is left
/// to limit the lengths.
void LinePlanner::State::liftBound() {
  Tables &tables = launch.tables;
  for (uint32_t l = 0; l < tables.lineCount; ++l) {
    Line &line = tables.lines[l];
    line.maxLength = kMaxExtent;
    line.maxTiles = kMostTiles;
    if (line.makesRecords)
      line.maxTiles = std::min(
          line.maxTiles, INT32_MAX / std::max(slotUnits(line.recordBytes), 1u));
    // Values are as inputs have them.
    line.length.bytes = line.offset.bytes = 8;
  }
  for (uint32_t l = 0; l < tables.lineCount; ++l)
    if (uint32_t source = tables.lines[l].source; source != DFRT_NONE) {
      uint32_t calls = tables.lines[l].tasks + tables.ctas;
      Line &read = tables.lines[source];
      read.maxTiles = std::min(read.maxTiles, INT32_MAX / calls);
    }
}

LinePlanner::LinePlanner(const DevicePlanner &planner)
    : state(new State{planner, planner.launch(), planner.frame(), {}}) {
  state->arena.resize(planner.arenaBytes() / sizeof(HostUnit) + 1);
  state->liftBound();
}
LinePlanner::LinePlanner(LinePlanner &&) = default;
LinePlanner &LinePlanner::operator=(LinePlanner &&) = default;
LinePlanner::~LinePlanner() = default;

bool LinePlanner::takes(ArrayView<PlanInput> inputs) const {
  for (size_t i = 0; i < state->planner.inputs().size(); ++i)
    if (!state->planner.inputOf(i, inputs))
      return false;
  return bool(state->planner.checkExtents(inputs));
}

/// Sizes `bytes`, and sets in `launch` and `frame` where everything goes.
void LinePlanner::State::layOut(const planning::State &counted,
                                std::vector<uint8_t> &bytes) {
  PlanMaxima room = planner.capacity();
  for (uint32_t i = 0; i < kFilled; ++i)
    room.capacity[DFRT_SECTION_INSTRUCTIONS + i] = counted.used[i];
  PlanLayout layout = layoutPlan(room);
  Tables &tables = launch.tables;
  std::copy(std::begin(layout.offset), std::end(layout.offset), tables.offset);
  tables.totalBytes = layout.totalBytes;
  dfrt_plan_header header;
  std::memcpy(&header, frame.data(), sizeof(header));
  header.total_bytes = layout.totalBytes;
  for (uint32_t s = 0; s < DFRT_SECTION_COUNT; ++s) {
    header.sections[s].offset = layout.offset[s];
    header.sections[s].capacity = room.capacity[s];
  }
  std::memcpy(frame.data(), &header, sizeof(header));
  if (bytes.capacity() < layout.totalBytes)
    bytes.reserve(layout.totalBytes + layout.totalBytes / 2);
  bytes.resize(layout.totalBytes);
  launch.plan = addressOf(bytes.data());
  launch.frame = addressOf(frame.data());
}

Status LinePlanner::plan(ArrayView<PlanInput> inputs,
                         std::vector<uint8_t> &bytes) {
  const DevicePlanner &planner = state->planner;
  Launch &launch = state->launch;
  for (size_t i = 0; i < planner.inputs().size(); ++i) {
    Expected<const PlanInput *> given = planner.inputOf(i, inputs);
    if (!given)
      return given.status();
    launch.inputs[i] = addressOf((*given)->values.data());
  }
  DFRT_TRY(planner.checkExtents(inputs));
  HostThreads threads;
  Counter<HostThreads> counter(
      launch, reinterpret_cast<uint8_t *>(state->arena.data()), threads);
  if (!counter.run()) {
    Report report = {};
    describeFault(counter.cutter.state(), report);
    return planner.statusOf(report);
  }
  state->layOut(counter.cutter.state(), bytes);
  Writer<HostThreads> writer(launch, counter, threads);
  for (uint32_t cta = 0; cta < launch.tables.ctas; ++cta)
    writer.write(cta, true);
  writer.writeRest(0, 1, true);
  uint64_t hole = offsetof(dfrt_plan_header, checksum);
  uint32_t checksum = crc32WithHole(bytes.data(), bytes.size(), hole);
  std::memcpy(bytes.data() + hole, &checksum, sizeof(checksum));
  return Status::success();
}
