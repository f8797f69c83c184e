//===- APIPlan.cpp - C API: plans -----------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"
#include "Options.h"
#include "cpu/CheckPlan.h"
#include "cpu/SlotMemory.h"
#include "dfrt/DevicePlanner.h"

#include "dataflow/Schedule/LowerBound.h"
#include "dataflow/Schedule/Simulator.h"

#include <chrono>
#include <cstring>

using namespace dfrt;

Status dfrt::viewTensors(const Program &program, const dfrt_tensor *arguments,
                         uint32_t count, bool partial,
                         std::vector<TensorView> &views) {
  if (count != program.arguments.size())
    return failure(StatusCode::invalidArgument, "program '", program.name,
                   "' takes ", program.arguments.size(), " arguments, got ",
                   count);
  if (count)
    DFRT_TRY(require(arguments, "argument array"));
  views.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    const dfrt_tensor &tensor = arguments[i];
    const std::string &name = program.arguments[i].name;
    if (tensor.element > DFRT_I1)
      return failure(StatusCode::invalidArgument, "argument '", name,
                     "': element type ", tensor.element, " does not exist");
    views[i].element = ElementType(tensor.element);
    views[i].data = tensor.data;
    views[i].shape.clear();
    if (tensor.rank && !tensor.shape) {
      if (partial)
        continue;
      return failure(StatusCode::invalidArgument, "argument '", name,
                     "': the shape is null");
    }
    if (tensor.rank)
      views[i].shape.assign(tensor.shape, tensor.shape + tensor.rank);
  }
  return Status::success();
}

Status dfrt::planInputs(const Program &program, ArrayView<uint32_t> uses,
                        ArrayView<TensorView> views,
                        std::vector<PlanInput> &inputs) {
  size_t used = 0;
  for (size_t i = 0; i < views.size(); ++i) {
    if (uses[i] == DFRT_PLAN_USE_NONE)
      continue;
    const Argument &argument = program.arguments[i];
    if (used == inputs.size())
      inputs.emplace_back();
    PlanInput &input = inputs[used++];
    input.argument = argument.name;
    input.shape = views[i].shape;
    input.values.clear();
    if (uses[i] == DFRT_PLAN_USE_VALUES) {
      if (views[i].element != argument.element)
        return failure(StatusCode::invalidArgument, "argument '", argument.name,
                       "': expected elements ", elementName(argument.element),
                       ", got ", elementName(views[i].element));
      if (views[i].shape.size() != argument.shape.size())
        return failure(StatusCode::invalidArgument, "argument '", argument.name,
                       "': expected rank ", argument.shape.size(), ", got ",
                       views[i].shape.size());
      for (size_t d = 0; d < views[i].shape.size(); ++d)
        if (views[i].shape[d] < 0)
          return failure(StatusCode::invalidArgument, "argument '",
                         argument.name, "' dimension ", d, ": extent ",
                         views[i].shape[d], " is negative");
      int64_t count = elementCount(views[i].shape);
      if (count < 0 || (count > 0 && !views[i].data))
        return failure(StatusCode::invalidArgument, "argument '", argument.name,
                       "': making a plan reads its values, but the data "
                       "pointer is null");
      input.values.resize(size_t(count));
      for (int64_t k = 0; k < count; ++k)
        input.values[size_t(k)] = readInteger(views[i], k);
    }
  }
  inputs.resize(used);
  return Status::success();
}

namespace {
double microsecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now() - begin)
      .count();
}

Status scheduleOptions(const dfrt_plan_options &options,
                       ScheduleOptions &result) {
  if (options.combine > DFRT_COMBINE_TREE)
    return failure(StatusCode::invalidArgument, "option combine is ",
                   options.combine, ", expected 0 to ",
                   uint32_t(DFRT_COMBINE_TREE));
  if (options.transport > DFRT_TRANSPORT_MULTICAST)
    return failure(StatusCode::invalidArgument, "option transport is ",
                   options.transport, ", expected 0 to ",
                   uint32_t(DFRT_TRANSPORT_MULTICAST));
  result.solver = options.solver ? options.solver : "";
  result.combine = ScheduleOptions::Combine(options.combine);
  result.transport = Transport(options.transport);
  result.batchInvariant = options.batch_invariant != 0;
  return Status::success();
}

Status makePlan(const std::shared_ptr<ArtifactState> &artifact,
                const dfrt_tensor *arguments, uint32_t count,
                const dfrt_plan_options &options, PlanState &plan) {
  const Program &program = artifact->artifact.program;
  std::vector<TensorView> views;
  DFRT_TRY(viewTensors(program, arguments, count, /*partial=*/true, views));
  ScheduleOptions scheduleWith;
  Topology topology;
  CostModel costs;
  DFRT_TRY(planSettings(options, topology, costs, scheduleWith));

  auto begin = std::chrono::steady_clock::now();
  std::vector<PlanInput> inputs;
  DFRT_TRY(planInputs(program, views, inputs));
  Expected<Problem> problem = instantiate(program, inputs, topology, costs);
  if (!problem)
    return problem.status();
  Expected<Schedule> schedule =
      scheduleWith.solver == kLineSolver
          ? scheduleLine(*problem, inputs, scheduleWith)
          : makeSchedule(*problem, scheduleWith, &plan.decisions);
  if (!schedule)
    return schedule.status();
  PlanImage image = makePlanImage(*problem, std::move(*schedule));
  Expected<std::vector<uint8_t>> bytes =
      packPlan(image, options.capacity ? toMaxima(*options.capacity)
                                       : exactMaxima(image));
  if (!bytes)
    return bytes.status();
  plan.makeUs = microsecondsSince(begin);
  if (options.verify) {
    DFRT_TRY(verify(*problem, image.schedule));
    DFRT_TRY(cpu::checkPlanProgram(program, cpu::PlanView(bytes->data())));
  }
  if (options.predict) {
    Expected<SimulationResult> simulation = simulate(*problem, image.schedule);
    if (!simulation)
      return simulation.status();
    plan.predictedNs = simulation->totalNs;
    plan.floorNs = simulation->floorNs;
    plan.boundNs = lowerBound(*problem).totalNs;
  }
  plan.artifact = artifact;
  plan.bytes = std::move(*bytes);
  return Status::success();
}
} // namespace

PlanMaxima dfrt::toMaxima(const dfrt_capacity &capacity) {
  PlanMaxima maxima;
  std::memcpy(maxima.capacity, capacity.entries, sizeof(maxima.capacity));
  return maxima;
}

Status dfrt::planSettings(const dfrt_plan_options &options, Topology &topology,
                          CostModel &costs, ScheduleOptions &schedule) {
  DFRT_TRY(scheduleOptions(options, schedule));
  topology.ctas = options.ctas;
  topology.clusterSize = options.cluster_size;
  topology.sharedBytes = options.shared_bytes;
  topology.reservedBytes = options.reserved_bytes;
  if (options.profile) {
    const DeviceProfile &profile = options.profile->profile;
    DFRT_TRY(topologyOf(profile, topology.clusterSize, topology.ctas,
                        topology.sharedBytes, topology.reservedBytes)
                 .status());
    costs = costModel(profile, topology.clusterSize);
  }
  return check(topology);
}

Expected<const char *> PlanState::summary() {
  std::lock_guard<std::mutex> lock(mutex);
  if (summaryJson.empty()) {
    Expected<PlanImage> image = readPlan(bytes.data(), bytes.size());
    if (!image)
      return image.status();
    summaryJson = describePlan(*image, *this);
  }
  return summaryJson.c_str();
}

const char *PlanState::decisionText() {
  std::lock_guard<std::mutex> lock(mutex);
  if (decisionJson.empty())
    decisionJson = describeDecisions(decisions);
  return decisionJson.c_str();
}

uint64_t dfrt_capacity_bytes(const dfrt_capacity *capacity) {
  return capacity ? requiredBytes(toMaxima(*capacity)) : 0;
}

void dfrt_plan_options_init_sized(dfrt_plan_options *options,
                                  uint32_t struct_bytes) {
  Topology topology;
  dfrt_plan_options defaults = {};
  defaults.ctas = topology.ctas;
  defaults.cluster_size = topology.clusterSize;
  defaults.shared_bytes = topology.sharedBytes;
  defaults.reserved_bytes = topology.reservedBytes;
  defaults.verify = 1;
  writeDefaults(defaults, options, struct_bytes);
}

dfrt_status dfrt_plan_make(const dfrt_artifact *artifact,
                           const dfrt_tensor *arguments, uint32_t count,
                           const dfrt_plan_options *options, dfrt_plan **plan) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(artifact, "artifact"));
    DFRT_TRY(require(plan, "result pointer"));
    dfrt_plan_options known;
    dfrt_plan_options_init(&known);
    DFRT_TRY(readOptions(options, known));
    auto state = std::make_shared<PlanState>();
    DFRT_TRY(makePlan(artifact->state, arguments, count, known, *state));
    *plan = new dfrt_plan{std::move(state)};
    return Status::success();
  });
}

dfrt_status dfrt_plan_load(const dfrt_artifact *artifact, const void *bytes,
                           uint64_t size, dfrt_plan **plan) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(artifact, "artifact"));
    DFRT_TRY(require(bytes, "plan bytes"));
    DFRT_TRY(require(plan, "result pointer"));
    auto state = std::make_shared<PlanState>();
    const uint8_t *first = static_cast<const uint8_t *>(bytes);
    state->bytes.assign(first, first + size);
    Expected<PlanImage> image = readPlan(state->bytes.data(), size);
    if (!image)
      return image.status();
    state->artifact = artifact->state;
    DFRT_TRY(cpu::checkPlanProgram(artifact->state->artifact.program,
                                   cpu::PlanView(state->bytes.data())));
    *plan = new dfrt_plan{std::move(state)};
    return Status::success();
  });
}

void dfrt_plan_release(dfrt_plan *plan) { delete plan; }

dfrt_status dfrt_plan_bytes(const dfrt_plan *plan, const void **bytes,
                            uint64_t *size) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(plan, "plan"));
    DFRT_TRY(require(bytes, "result pointer"));
    DFRT_TRY(require(size, "result pointer"));
    *bytes = plan->state->bytes.data();
    *size = plan->state->bytes.size();
    return Status::success();
  });
}

dfrt_status dfrt_plan_needs(const dfrt_plan *plan, dfrt_capacity *capacity) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(plan, "plan"));
    DFRT_TRY(require(capacity, "result pointer"));
    Expected<PlanImage> image =
        readPlan(plan->state->bytes.data(), plan->state->bytes.size());
    if (!image)
      return image.status();
    PlanMaxima maxima = exactMaxima(*image);
    std::memcpy(capacity->entries, maxima.capacity, sizeof(maxima.capacity));
    return Status::success();
  });
}

dfrt_status dfrt_plan_summary(const dfrt_plan *plan, const char **json) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(plan, "plan"));
    DFRT_TRY(require(json, "result pointer"));
    Expected<const char *> text = plan->state->summary();
    if (!text)
      return text.status();
    *json = *text;
    return Status::success();
  });
}

dfrt_status dfrt_plan_decisions(const dfrt_plan *plan, const char **json) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(plan, "plan"));
    DFRT_TRY(require(json, "result pointer"));
    *json = plan->state->decisionText();
    return Status::success();
  });
}

dfrt_status dfrt_plan_workspace_bytes(const dfrt_device *device,
                                      const dfrt_plan *plan, uint64_t *bytes) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(device, "device"));
    DFRT_TRY(require(plan, "plan"));
    DFRT_TRY(require(bytes, "result pointer"));
    const Artifact &artifact = plan->state->artifact->artifact;
    const uint8_t *packed = plan->state->bytes.data();
    Expected<uint64_t> size =
        device->cuda ? device->cuda->workspaceBytes(
                           artifact, cuda::planFacts(artifact.program, packed))
                     : cpu::workspaceBytes(cpu::PlanView(packed));
    if (!size)
      return size.status();
    *bytes = *size;
    return Status::success();
  });
}
