//===- DevicePlanner.cpp - Plans made where the lengths are ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dfrt/DevicePlanner.h"

#include "../CRC32.h"
#include "../PlanLayout.h"
#include "../cpu/Tensors.h"
#include "HostThreads.h"
#include "ProgramLines.h"
#include "WriteQueues.h"
#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <cstring>

using namespace dfrt;
using namespace dfrt::planning;

/// Shared memory of a planning CTA: what every device with clusters has.
static constexpr uint64_t kMostArena = 227 << 10;

struct DevicePlanner::State {
  Program program;
  Topology topology;
  std::vector<uint32_t> inputs;
  std::vector<std::vector<int64_t>> shapes; ///< [inputs]
  /// What tables made for the bound take from a dimension of an argument.
  struct FixedExtent {
    uint32_t argument, dimension;
    int64_t extent;
  };
  std::vector<FixedExtent> extents;
  PlanMaxima capacity;
  planning::Launch launch = {};
  std::vector<uint8_t> frame;
  uint64_t arenaBytes = 0;
  uint64_t mostSlotBytes = 0;
  std::vector<uint64_t> stacked; ///< [stages]

  Status create(const Problem &bound, ArrayView<PlanInput> batch);
  void findExtents(ArrayView<PlanInput> batch);
  Status setRoom(const Problem &bound, const ProgramLines &lines);
  Status setFrame(const Problem &bound);
};

void DevicePlanner::State::findExtents(ArrayView<PlanInput> batch) {
  auto add = [&](const PlanValue &value) {
    if (value.kind != PlanValue::Kind::dimension)
      return;
    const Argument &argument = program.arguments[value.argument];
    if (argument.shape[value.dimension] >= 0)
      return; // the same in all batches
    if (const PlanInput *input = findInput(batch, argument.name))
      extents.push_back(
          {value.argument, value.dimension, input->shape[value.dimension]});
  };
  for (const Domain &domain : program.domains)
    for (const Axis &axis : domain.axes)
      add(axis.extent);
  for (const Range &range : program.ranges) {
    add(range.length);
    add(range.offset);
  }
}

/// The most entries that plans of these lines have. Cuts are fewer than CTAs,
/// and each adds one call.
Status DevicePlanner::State::setRoom(const Problem &bound,
                                     const ProgramLines &lines) {
  uint64_t ctas = bound.topology.ctas, cuts = ctas - 1;
  uint64_t calls = 0, operands = 0, slots = 0, transfers = 0, units = 0;
  for (const Line &line : lines.lines) {
    uint64_t runs = line.tasks + cuts;
    if (line.kind == LineKind::split) {
      // A task in c + 1 parts has up to min(c + 1, shares) shares that read
      // c + 1 parts each: for each of its cuts at most shares + 2 operands.
      uint64_t parts = 2 * cuts;
      uint64_t shares = std::min<uint64_t>(line.shares, ctas);
      calls += runs + line.tasks + 2 * parts;
      operands += line.tasks + parts + cuts * (shares + 2);
      slots += runs + parts;
      transfers += parts;
      uint64_t merged = line.headBytes + line.sliceBytes * line.slices;
      units += runs * slotUnits(line.recordBytes) +
               parts * slotUnits(std::max(merged, line.recordBytes));
      continue;
    }
    calls += runs;
    if (line.source != DFRT_NONE) {
      const Line &source = lines.lines[line.source];
      uint64_t most =
          uint64_t(source.maxLength + source.tile - 1) / uint64_t(source.tile);
      operands += runs * most;
      stacked[line.stage] = most;
    }
    if (line.makesRecords) {
      slots += line.maxTiles;
      transfers += line.maxTiles;
      units += uint64_t(line.maxTiles) * slotUnits(line.recordBytes);
    }
  }
  mostSlotBytes = units * kSlotAlignment;
  if (units > UINT32_MAX)
    return failure(StatusCode::resourceExhausted, "program '", program.name,
                   "': records of the bound take up to ", mostSlotBytes,
                   " bytes, plans of a device hold ",
                   uint64_t(UINT32_MAX) * kSlotAlignment);
  std::pair<uint32_t, uint64_t> sizes[] = {
      {DFRT_SECTION_QUEUES, ctas},
      {DFRT_SECTION_INSTRUCTIONS, ctas + calls},
      {DFRT_SECTION_OPERANDS, operands},
      {DFRT_SECTION_OUTPUTS, slots},
      {DFRT_SECTION_SLOTS, slots},
      {DFRT_SECTION_TRANSFERS, transfers},
      {DFRT_SECTION_DESTINATIONS, transfers}};
  for (auto [section, size] : sizes) {
    if (size > INT32_MAX)
      return failure(StatusCode::resourceExhausted, "program '", program.name,
                     "': plans of the bound need up to ", size,
                     " entries in section ", sectionName(section),
                     ", the most is ", INT32_MAX);
    capacity.capacity[section] = uint32_t(size);
  }
  return Status::success();
}

/// Header, stages and names are those of the empty plan.
Status DevicePlanner::State::setFrame(const Problem &bound) {
  Schedule empty;
  empty.solver = kLineSolver;
  PlanImage image = makePlanImage(bound, std::move(empty));
  PlanMaxima fixed = exactMaxima(image);
  for (uint32_t s : {DFRT_SECTION_STAGES, DFRT_SECTION_NAMES})
    capacity.capacity[s] = fixed.capacity[s];
  Expected<std::vector<uint8_t>> packed = packPlan(image, capacity);
  if (!packed)
    return packed.status();
  Tables &tables = launch.tables;
  PlanLayout layout = layoutPlan(capacity);
  for (uint32_t i = 0; i < kFilled; ++i)
    tables.entryBytes[i] =
        uint32_t(sectionEntryBytes(DFRT_SECTION_INSTRUCTIONS + i));
  std::copy(std::begin(layout.offset), std::end(layout.offset), tables.offset);
  tables.totalBytes = layout.totalBytes;
  // From the releases on, of which there are none, all plans are alike.
  uint64_t alike = layout.offset[DFRT_SECTION_RELEASES];
  frame.assign(packed->begin(), packed->begin() + sizeof(dfrt_plan_header));
  frame.insert(frame.end(), packed->begin() + int64_t(alike), packed->end());
  std::memset(frame.data() + offsetof(dfrt_plan_header, checksum), 0, 4);
  return Status::success();
}

Status DevicePlanner::State::create(const Problem &bound,
                                    ArrayView<PlanInput> batch) {
  program = bound.program;
  topology = bound.topology;
  stacked.assign(program.stages.size(), 0);
  ProgramLines lines;
  DFRT_TRY(findLines(bound, batch, lines));
  inputs = lines.inputs;
  for (uint32_t argument : inputs) {
    const PlanInput *input = findInput(batch, program.arguments[argument].name);
    shapes.push_back(input ? input->shape : std::vector<int64_t>());
  }
  findExtents(batch);
  DFRT_TRY(setRoom(bound, lines));
  DFRT_TRY(setFrame(bound));
  Tables &tables = launch.tables;
  tables.ctas = topology.ctas;
  tables.lineCount = uint32_t(lines.lines.size());
  std::copy(lines.lines.begin(), lines.lines.end(), tables.lines);
  layoutSegments(tables);
  arenaBytes = layoutArena(tables);
  if (arenaBytes > kMostArena)
    return failure(StatusCode::resourceExhausted, "program '", program.name,
                   "': planning on a device needs ", arenaBytes,
                   " bytes of shared memory for this number of tasks and CTAs,"
                   " there are ",
                   kMostArena);
  return Status::success();
}

Expected<DevicePlanner> DevicePlanner::create(const Program &program,
                                              ArrayView<PlanInput> batch,
                                              const Topology &topology,
                                              const CostModel &costs) {
  Expected<Problem> bound = instantiate(program, batch, topology, costs);
  if (!bound)
    return bound.status();
  return create(*bound, batch);
}

Expected<DevicePlanner> DevicePlanner::create(const Problem &bound,
                                              ArrayView<PlanInput> batch) {
  auto state = std::make_shared<State>();
  DFRT_TRY(state->create(bound, batch));
  DevicePlanner planner;
  planner.state = std::move(state);
  return planner;
}

const Program &DevicePlanner::program() const { return state->program; }
const Topology &DevicePlanner::topology() const { return state->topology; }
const PlanMaxima &DevicePlanner::capacity() const { return state->capacity; }
uint64_t DevicePlanner::planBytes() const {
  return state->launch.tables.totalBytes;
}
uint32_t DevicePlanner::mostFlags() const {
  return state->capacity.capacity[DFRT_SECTION_TRANSFERS];
}
uint64_t DevicePlanner::mostSlotBytes() const { return state->mostSlotBytes; }
const std::vector<uint64_t> &DevicePlanner::stackedRecords() const {
  return state->stacked;
}
const std::vector<uint32_t> &DevicePlanner::inputs() const {
  return state->inputs;
}
Status DevicePlanner::checkShape(size_t input,
                                 const std::vector<int64_t> &shape) const {
  const std::vector<int64_t> &expected = state->shapes[input];
  if (shape == expected)
    return Status::success();
  auto text = [](const std::vector<int64_t> &extents) {
    std::string result;
    for (int64_t extent : extents)
      result += (result.empty() ? "" : "x") + std::to_string(extent);
    return result;
  };
  return invalidArgument("planning: argument '",
                         state->program.arguments[state->inputs[input]].name,
                         "' has shape ", text(shape), ", the bound has ",
                         text(expected));
}
Status DevicePlanner::checkExtents(uint32_t argument,
                                   const std::vector<int64_t> &shape) const {
  for (const State::FixedExtent &fixed : state->extents) {
    if (fixed.argument != argument)
      continue;
    int64_t extent =
        fixed.dimension < shape.size() ? shape[fixed.dimension] : -1;
    if (extent != fixed.extent)
      return invalidArgument(
          "planning: dimension ", fixed.dimension, " of argument '",
          state->program.arguments[argument].name, "' has extent ", extent,
          ", the bound has ", fixed.extent);
  }
  return Status::success();
}
Status DevicePlanner::checkExtents(ArrayView<PlanInput> inputs) const {
  for (const State::FixedExtent &fixed : state->extents) {
    const std::string &name = state->program.arguments[fixed.argument].name;
    const PlanInput *given = findInput(inputs, name);
    if (!given)
      return invalidArgument("planning: the shape of argument '", name,
                             "' is missing");
    DFRT_TRY(checkExtents(fixed.argument, given->shape));
  }
  return Status::success();
}
const planning::Launch &DevicePlanner::launch() const { return state->launch; }
const std::vector<uint8_t> &DevicePlanner::frame() const {
  return state->frame;
}
uint64_t DevicePlanner::arenaBytes() const { return state->arenaBytes; }

Status DevicePlanner::statusOf(const planning::Report &report) const {
  if (report.fault == kNoFault)
    return Status::success();
  const Tables &tables = state->launch.tables;
  const char *stage =
      report.line < tables.lineCount
          ? state->program.stages[tables.lines[report.line].stage].name.c_str()
          : "?";
  if (report.fault == kTotalTiles)
    return failure(StatusCode::resourceExhausted,
                   "planning on the device: all "
                   "tasks of stage '",
                   stage, "' together have ", report.value,
                   " tiles, expected at most ", report.limit);
  const char *what = report.fault == kLength ? "length" : "offset";
  return failure(report.value < 0 ? StatusCode::invalidArgument
                                  : StatusCode::resourceExhausted,
                 "planning on the device: the ", what, " of stage '", stage,
                 "', task ", report.task, " is ", report.value,
                 ", expected 0 to ", report.limit);
}

Expected<const PlanInput *>
DevicePlanner::inputOf(size_t input, ArrayView<PlanInput> inputs) const {
  const std::string &name = state->program.arguments[state->inputs[input]].name;
  const PlanInput *given = findInput(inputs, name);
  if (!given)
    return invalidArgument("planning: the values of input '", name,
                           "' are missing");
  DFRT_TRY(checkShape(input, given->shape));
  if (given->values.size() != uint64_t(elementCount(given->shape)))
    return invalidArgument("planning: input '", name, "' has ",
                           given->values.size(), " values, its shape has ",
                           elementCount(given->shape));
  return given;
}

Status DevicePlanner::planOnHost(ArrayView<PlanInput> inputs,
                                 std::vector<uint8_t> &bytes) const {
  planning::Launch launch = state->launch;
  std::vector<std::vector<int32_t>> narrow(state->inputs.size());
  for (size_t i = 0; i < state->inputs.size(); ++i) {
    const Argument &argument = state->program.arguments[state->inputs[i]];
    Expected<const PlanInput *> found = inputOf(i, inputs);
    if (!found)
      return found.status();
    const PlanInput *given = *found;
    launch.inputs[i] = addressOf(given->values.data());
    if (argument.element == ElementType::i64)
      continue;
    for (int64_t value : given->values)
      narrow[i].push_back(int32_t(value));
    launch.inputs[i] = addressOf(narrow[i].data());
  }
  DFRT_TRY(checkExtents(inputs));
  std::vector<HostUnit> plan(planBytes() / sizeof(HostUnit));
  std::vector<HostUnit> arena(state->arenaBytes / sizeof(HostUnit) + 1);
  planning::Report report = {};
  launch.plan = addressOf(plan.data());
  launch.frame = addressOf(state->frame.data());
  launch.report = addressOf(&report);
  planning::plan(launch, reinterpret_cast<uint8_t *>(arena.data()),
                 HostThreads(), 0, 1);
  const uint8_t *made = reinterpret_cast<const uint8_t *>(plan.data());
  bytes.assign(made, made + planBytes());
  return statusOf(report);
}

Expected<Schedule> dfrt::scheduleLine(const Problem &problem,
                                      ArrayView<PlanInput> inputs,
                                      const ScheduleOptions &options) {
  DFRT_TRY(checkLineChoices(options));
  Expected<DevicePlanner> planner = DevicePlanner::create(problem, inputs);
  if (!planner)
    return planner.status();
  std::vector<uint8_t> bytes;
  DFRT_TRY(planner->planOnHost(inputs, bytes));
  DFRT_TRY(sealPlan(bytes));
  Expected<PlanImage> image = readPlan(bytes.data(), bytes.size());
  if (!image)
    return image.status();
  return std::move(image->schedule);
}

Status dfrt::checkLineChoices(const ScheduleOptions &options) {
  const char *what = nullptr;
  if (!options.solver.empty() && options.solver != kLineSolver)
    what = "solver other than 'line'";
  else if (options.combine != ScheduleOptions::Combine::automatic)
    what = "way to combine";
  else if (options.transport != Transport::automatic &&
           options.transport != Transport::global)
    what = "transport other than global";
  else if (options.batchInvariant)
    what = "batch-invariant plan";
  if (what)
    return failure(StatusCode::unsupported,
                   "plans of the kind that a device makes cannot have a ",
                   what);
  return Status::success();
}

Status dfrt::sealPlan(std::vector<uint8_t> &bytes) {
  dfrt_plan_header header;
  uint64_t total = 0;
  if (bytes.size() >= sizeof(header)) {
    std::memcpy(&header, bytes.data(), sizeof(header));
    total = header.magic == DFRT_PLAN_MAGIC ? header.total_bytes : 0;
  }
  if (total != bytes.size())
    return failure(
        StatusCode::invalidFile, "plan: ", bytes.size(),
        " bytes do not begin with the header of a plan of that size");
  uint64_t hole = offsetof(dfrt_plan_header, checksum);
  uint32_t checksum = crc32WithHole(bytes.data(), bytes.size(), hole);
  std::memcpy(bytes.data() + hole, &checksum, sizeof(checksum));
  return Status::success();
}
