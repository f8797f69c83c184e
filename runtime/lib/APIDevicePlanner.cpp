//===- APIDevicePlanner.cpp - C API: planning on the device ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LauncherHandles.h"
#include "Options.h"

#include "cpu/CheckPlan.h"
#include "cpu/PlanView.h"

using namespace dfrt;
using namespace dfrt::cuda;

struct dfrt_device_planner {
  std::shared_ptr<CudaDevice> device; ///< null: the CPU
  std::shared_ptr<ArtifactState> artifact;
  DevicePlanner planner;
  PlanningKernel kernel; ///< with a device
  CostModel costs;
};

namespace {
/// The inputs of planning among the caller's tensors in host memory.
Status batchOf(const Program &program, const dfrt_tensor *arguments,
               uint32_t count, std::vector<PlanInput> &inputs) {
  std::vector<TensorView> views;
  DFRT_TRY(viewTensors(program, arguments, count, /*partial=*/true, views));
  return planInputs(program, views, inputs);
}

} // namespace

dfrt_status dfrt_device_planner_create(const dfrt_device *device,
                                       const dfrt_artifact *artifact,
                                       const dfrt_tensor *bound, uint32_t count,
                                       const dfrt_plan_options *options,
                                       dfrt_device_planner **planner) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(device, "device"));
    DFRT_TRY(require(artifact, "artifact"));
    DFRT_TRY(require(planner, "result pointer"));
    dfrt_plan_options known;
    dfrt_plan_options_init(&known);
    DFRT_TRY(readOptions(options, known));
    Topology topology;
    ScheduleOptions schedule;
    std::unique_ptr<dfrt_device_planner> result(new dfrt_device_planner);
    DFRT_TRY(planSettings(known, topology, result->costs, schedule));
    DFRT_TRY(checkLineChoices(schedule));
    if (known.capacity)
      return failure(StatusCode::unsupported,
                     "the capacity of plans that a device makes follows from "
                     "the bound; leave the option out");
    const Program &program = artifact->state->artifact.program;
    std::vector<PlanInput> inputs;
    DFRT_TRY(batchOf(program, bound, count, inputs));
    Expected<DevicePlanner> made =
        DevicePlanner::create(program, inputs, topology, result->costs);
    if (!made)
      return made.status();
    result->artifact = artifact->state;
    result->planner = *made;
    if (device->cuda) {
      result->device = device->cuda;
      Expected<PlanningKernel> kernel = device->cuda->loadPlanning(*made);
      if (!kernel)
        return kernel.status();
      result->kernel = *kernel;
    }
    *planner = result.release();
    return Status::success();
  });
}

void dfrt_device_planner_release(dfrt_device_planner *planner) {
  delete planner;
}

dfrt_status dfrt_device_planner_plan(const dfrt_device_planner *planner,
                                     const dfrt_tensor *arguments,
                                     uint32_t count, dfrt_plan **plan) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(planner, "planner"));
    DFRT_TRY(require(plan, "result pointer"));
    const Program &program = planner->planner.program();
    std::vector<PlanInput> inputs;
    DFRT_TRY(batchOf(program, arguments, count, inputs));
    Expected<Problem> problem = instantiate(
        program, inputs, planner->planner.topology(), planner->costs);
    if (!problem)
      return problem.status();
    auto state = std::make_shared<PlanState>();
    state->artifact = planner->artifact;
    DFRT_TRY(planner->planner.planOnHost(inputs, state->bytes));
    DFRT_TRY(sealPlan(state->bytes));
    DFRT_TRY(verifyPlan(*problem, state->bytes.data(), state->bytes.size()));
    DFRT_TRY(
        cpu::checkPlanProgram(program, cpu::PlanView(state->bytes.data())));
    *plan = new dfrt_plan{std::move(state)};
    return Status::success();
  });
}

dfrt_status
dfrt_launch_maxima_include_planner(dfrt_launch_maxima *maxima,
                                   const dfrt_device_planner *planner) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(planner, "planner"));
    return includeFacts(planFacts(planner->planner), maxima);
  });
}

/// Fails for a planner of the CPU.
static Status requireKernel(const dfrt_device_planner *planner) {
  DFRT_TRY(require(planner, "planner"));
  if (!planner->device)
    return failure(StatusCode::invalidArgument,
                   "the planner was made for the CPU; make one for a CUDA "
                   "device");
  return Status::success();
}

dfrt_status dfrt_launcher_plan(dfrt_launcher *launcher,
                               const dfrt_device_planner *planner,
                               void *stream) {
  return inStream(launcher, stream,
                  [&](const Launcher &target, const Stream &in) -> Status {
                    DFRT_TRY(requireKernel(planner));
                    DFRT_TRY(target.plan(planner->kernel, in));
                    launcher->plan = nullptr;
                    return Status::success();
                  });
}

dfrt_status dfrt_device_planner_report(const dfrt_device_planner *planner,
                                       void *stream, uint64_t *plans,
                                       uint64_t *refusals) {
  return guarded([&]() -> Status {
    DFRT_TRY(requireKernel(planner));
    Expected<Stream> in = planner->device->stream(stream);
    if (!in)
      return in.status();
    Expected<DevicePlanReport> report = planner->kernel.report(*in);
    if (!report)
      return report.status();
    if (plans)
      *plans = report->plans;
    if (refusals)
      *refusals = report->refusals;
    return report->status;
  });
}

dfrt_status dfrt_launcher_read_plan(dfrt_launcher *launcher, void *stream,
                                    const void **bytes, uint64_t *size) {
  return inStream(launcher, stream,
                  [&](const Launcher &target, const Stream &in) -> Status {
                    DFRT_TRY(require(bytes, "result pointer"));
                    DFRT_TRY(require(size, "result pointer"));
                    DFRT_TRY(target.readPlan(in, launcher->recorded));
                    *bytes = launcher->recorded.data();
                    *size = launcher->recorded.size();
                    return Status::success();
                  });
}
