//===- PlanningKernel.cpp - Planning on a device --------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dfrt/cuda/PlanningKernel.h"

#include "../planning/Tables.h"
#include "StreamState.h"

#include "PlanningKernelPTX.h"

#include <algorithm>
#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;

namespace dfrt::cuda {
struct PlanningKernelState {
  DevicePlanner planner;
  Function function;
  Buffer memory; ///< the report, then the planner's frame
  LaunchShape shape;
};
} // namespace dfrt::cuda

/// Where the frame lies behind the report.
static constexpr uint64_t kFrame = 256;
static_assert(sizeof(planning::Report) <= kFrame);

Expected<PlanningKernel> PlanningKernel::create(const Device &device,
                                                ModuleCache &modules,
                                                const DevicePlanner &planner,
                                                const Stream &stream) {
  if (!planner)
    return failure(StatusCode::invalidArgument, "the planner is empty");
  if (sizeof(kPlanningKernel) == 1)
    return failure(StatusCode::unsupported,
                   "this library was built without the kernel that plans on a "
                   "device; build it with a clang++ that compiles for nvptx64");
  auto state = std::make_shared<PlanningKernelState>();
  state->planner = planner;
  state->shape.ctas = planner.topology().ctas + 1; // one for no queue
  state->shape.threads = planning::kMaxThreads;
  state->shape.sharedBytes = planner.arenaBytes();
  CodeRequirements code;
  code.name = "planning";
  code.architecture = "compute_90";
  code.threads = state->shape.threads;
  code.sharedBytes = state->shape.sharedBytes;
  Expected<Module> module =
      modules.load(kPlanningKernel, sizeof(kPlanningKernel), code);
  if (!module)
    return module.status();
  Expected<Function> function = module->function("dfrt_plan");
  if (!function)
    return function.status();
  state->function = *function;
  std::vector<uint8_t> content(kFrame);
  content.insert(content.end(), planner.frame().begin(), planner.frame().end());
  Expected<Buffer> memory =
      Buffer::allocate(device, content.size(), "planning tables");
  if (!memory)
    return memory.status();
  state->memory = *memory;
  DFRT_TRY(memory->upload(content.data(), content.size(), stream));
  DFRT_TRY(stream.synchronize());
  PlanningKernel kernel;
  kernel.state = std::move(state);
  return kernel;
}

const DevicePlanner &PlanningKernel::planner() const { return state->planner; }

Status PlanningKernel::launch(uint64_t plan,
                              const std::vector<uint64_t> &inputs,
                              const Stream &stream) const {
  DFRT_TRY(requireHandle(state.get(), "planning kernel"));
  if (inputs.size() != state->planner.inputs().size())
    return failure(StatusCode::invalidArgument, "planning reads ",
                   state->planner.inputs().size(), " tensors, not ",
                   inputs.size());
  planning::Launch parameters = state->planner.launch();
  parameters.plan = plan;
  parameters.report = state->memory.address();
  parameters.frame = state->memory.address() + kFrame;
  std::copy(inputs.begin(), inputs.end(), parameters.inputs);
  return cuda::launch(state->function, state->shape, {&parameters}, stream);
}

Expected<DevicePlanReport> PlanningKernel::report(const Stream &stream) const {
  DFRT_TRY(requireHandle(state.get(), "planning kernel"));
  planning::Report told;
  DFRT_TRY(state->memory.download(&told, sizeof(told), stream));
  DFRT_TRY(stream.synchronize());
  DevicePlanReport report;
  report.plans = told.plans;
  report.refusals = told.refusals;
  report.status = state->planner.statusOf(told);
  if (!report.status.ok()) {
    DFRT_TRY(state->memory.fillWords(0, offsetof(planning::Report, fault), 1,
                                     stream));
    DFRT_TRY(stream.synchronize());
  }
  return report;
}
