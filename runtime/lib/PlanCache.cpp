//===- PlanCache.cpp - Plans of the batches seen last ---------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keys are compared in full; the hash only tells most of them apart.
//
//===----------------------------------------------------------------------===//

#include "PlanCache.h"

#include "CRC32.h"
#include "PlanLayout.h"
#include "cpu/CheckPlan.h"

#include "dataflow/Schedule/LowerBound.h"
#include "dataflow/Schedule/Simulator.h"

#include <algorithm>
#include <tuple>

using namespace dfrt;

PlanCache::PlanCache(std::shared_ptr<ArtifactState> ofArtifact, Planner made,
                     Settings with)
    : artifact(std::move(ofArtifact)), planner(std::move(made)),
      packer(artifact->artifact.program), settings(std::move(with)),
      entries(std::max<uint32_t>(1, settings.capacity)) {
  const Program &program = artifact->artifact.program;
  exact.assign(program.ranges.size(), 0);
  for (const Stage &stage : program.stages)
    for (const Variant &variant : stage.variants)
      if (stage.range != kNone && variant.kind == Variant::Kind::exact)
        exact[stage.range] = 1;
}

template <typename T>
static void append(std::vector<int64_t> &list, const std::vector<T> &values) {
  list.insert(list.end(), values.begin(), values.end());
}

/// All that a schedule of the planner's batch depends on.
void PlanCache::readKey() {
  const Problem &problem = planner.problem();
  const Program &program = problem.program;
  key.clear();
  elements.clear();
  key.push_back(int64_t(problem.tasks.size()));
  for (size_t d = 0; d < problem.tasks.size(); ++d) {
    append(key, problem.tasks[d].extents);
    key.push_back(int64_t(problem.tasks[d].tasks));
    if (program.domains[d].coordinates != kNone)
      append(key, problem.tasks[d].coordinates);
    if (program.domains[d].weights != kNone)
      append(key, problem.tasks[d].weights);
  }
  for (size_t r = 0; r < problem.ranges.size(); ++r) {
    const RangeSet &range = problem.ranges[r];
    append(elements, range.lengths);
    append(elements, range.offsets);
    if (exact[r])
      append(key, range.lengths);
    else
      for (uint64_t t = 0; t < range.lengths.size(); ++t)
        key.push_back(range.tiles(t));
  }
  for (uint32_t s = 0; s < program.stages.size(); ++s)
    if (program.stages[s].bound != kNone)
      for (uint64_t t = 0, e = problem.taskCount(s); t < e; ++t)
        key.push_back(problem.boundedVariant(s, t));
  for (const KeySet &keys : problem.keys) {
    append(key, keys.begin);
    for (const KeyedSource &source : keys.sources) {
      key.push_back(int64_t(source.task));
      key.push_back(source.tile);
      key.push_back(source.row);
    }
  }
  hash = key.size();
  for (int64_t value : key)
    hash = (hash ^ uint64_t(value)) * 0x9e3779b97f4a7c15ull + (hash >> 29);
}

/// The entry's plan, to be written. Where somebody holds it, a launcher say,
/// another one with the same bytes takes its place, and the next time that
/// one's.
PlanState &PlanCache::writable(Entry &entry) {
  std::shared_ptr<PlanState> &state = entry.plan.state;
  if (!state || state.use_count() > 1) {
    if (!spare || spare.use_count() > 1) {
      spare = std::make_shared<PlanState>();
      spare->artifact = artifact;
    }
    if (state)
      spare->bytes = state->bytes;
    state.swap(spare);
  }
  state->forgetTexts();
  return *state;
}

Status PlanCache::prove(PlanState &plan, const Schedule &schedule) {
  if (settings.verify) {
    DFRT_TRY(verify(planner.problem(), schedule));
    DFRT_TRY(cpu::checkPlanProgram(artifact->artifact.program,
                                   cpu::PlanView(plan.bytes.data())));
  }
  plan.predictedNs = plan.floorNs = plan.boundNs = -1;
  if (settings.predict) {
    Expected<SimulationResult> simulation =
        simulate(planner.problem(), schedule);
    if (!simulation)
      return simulation.status();
    plan.predictedNs = simulation->totalNs;
    plan.floorNs = simulation->floorNs;
    plan.boundNs = lowerBound(planner.problem()).totalNs;
  }
  return Status::success();
}

/// By the device's solver, which makes no schedule.
Status PlanCache::planLine(ArrayView<PlanInput> inputs, PlanState &plan) {
  if (!line || !line->takes(inputs)) {
    Expected<DevicePlanner> made =
        DevicePlanner::create(planner.problem(), inputs);
    if (!made)
      return made.status();
    line.emplace(*made);
  }
  DFRT_TRY(line->plan(inputs, plan.bytes));
  if (!settings.verify && !settings.predict)
    return prove(plan, Schedule());
  Expected<PlanImage> image = readPlan(plan.bytes.data(), plan.bytes.size());
  if (!image)
    return image.status();
  return prove(plan, image->schedule);
}

Status PlanCache::make(Entry &entry, ArrayView<PlanInput> inputs) {
  entry.key.clear();
  PlanState &plan = writable(entry);
  if (settings.options.solver == kLineSolver) {
    DFRT_TRY(planLine(inputs, plan));
  } else {
    DFRT_TRY(planner.plan(settings.options));
    DFRT_TRY(packer.pack(planner.problem(), planner.schedule(), plan.bytes,
                         settings.maxima ? &*settings.maxima : nullptr));
    DFRT_TRY(prove(plan, planner.schedule()));
  }
  findPieces(entry);
  entry.key = key;
  entry.elements = elements;
  entry.hash = hash;
  return Status::success();
}

void PlanCache::findPieces(Entry &entry) {
  const Problem &problem = planner.problem();
  entry.pieces.clear();
  cpu::PlanView plan(entry.plan.state->bytes.data());
  uint32_t count = plan.header.sections[DFRT_SECTION_INSTRUCTIONS].count;
  for (uint32_t i = 0; i < count; ++i) {
    const dfrt_instruction &record = plan.instructions[i];
    if (record.opcode != DFRT_CALL)
      continue;
    uint32_t range = problem.program.stages[record.stage].range;
    uint64_t task = uint64_t(record.task_high) << 32 | record.task_low;
    if (range != kNone)
      entry.pieces.push_back({task, i, range});
  }
}

/// Sets the elements of all pieces to those of the batch.
void PlanCache::update(Entry &entry) {
  const Problem &problem = planner.problem();
  PlanState &plan = writable(entry);
  uint8_t *bytes = plan.bytes.data();
  auto *header = reinterpret_cast<dfrt_plan_header *>(bytes);
  auto *records = reinterpret_cast<dfrt_instruction *>(
      bytes + header->sections[DFRT_SECTION_INSTRUCTIONS].offset);
  for (const Piece &piece : entry.pieces) {
    dfrt_instruction &record = records[piece.instruction];
    std::tie(record.range_begin, record.range_end) =
        elementsOf(problem.ranges[piece.range], piece.task, record.tile_begin,
                   record.tile_end);
  }
  header->checksum = crc32WithHole(bytes, plan.bytes.size(),
                                   offsetof(dfrt_plan_header, checksum));
  entry.elements = elements;
}

Status PlanCache::plan(ArrayView<PlanInput> inputs, const dfrt_plan *&result,
                       uint32_t &origin) {
  DFRT_TRY(planner.read(inputs, settings.topology, settings.costs));
  readKey();
  Entry *oldest = &entries[0];
  for (Entry &entry : entries) {
    if (entry.hash == hash && !entry.key.empty() && entry.key == key) {
      origin = DFRT_PLAN_FOUND;
      if (entry.elements != elements) {
        origin = DFRT_PLAN_UPDATED;
        update(entry);
      }
      entry.lastUse = ++uses;
      result = &entry.plan;
      return Status::success();
    }
    if (entry.lastUse < oldest->lastUse)
      oldest = &entry;
  }
  oldest->lastUse = 0;
  DFRT_TRY(make(*oldest, inputs));
  oldest->lastUse = ++uses;
  result = &oldest->plan;
  origin = DFRT_PLAN_MADE;
  return Status::success();
}
