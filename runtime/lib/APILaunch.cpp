//===- APILaunch.cpp - C API: launches ------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"
#include "Options.h"
#include "cpu/CheckPlan.h"
#include "cpu/Executor.h"
#include "cpu/Reference.h"

using namespace dfrt;

namespace {
/// The caller's workspace, or memory of our own in `owned`.
Status chooseWorkspace(const cpu::PlanView &plan,
                       const dfrt_launch_options &options, cpu::Buffer &owned,
                       uint8_t *&workspace) {
  Expected<uint64_t> bytes = cpu::workspaceBytes(plan);
  if (!bytes)
    return bytes.status();
  workspace = static_cast<uint8_t *>(options.workspace);
  if (workspace) {
    if (reinterpret_cast<uintptr_t>(workspace) % 128)
      return failure(StatusCode::invalidArgument,
                     "the workspace is not aligned to 128 bytes");
    if (options.workspace_bytes < *bytes)
      return failure(StatusCode::invalidArgument, "the workspace has ",
                     options.workspace_bytes, " bytes, but the plan needs ",
                     *bytes);
    return Status::success();
  }
  workspace = owned.reserve(*bytes);
  if (workspace)
    return Status::success();
  return failure(StatusCode::resourceExhausted, "no memory for ", *bytes,
                 " bytes of workspace");
}

Status checkOrigin(const ArtifactState &artifact, const PlanState &state) {
  if (state.artifact.get() != &artifact &&
      state.artifact->artifact.program.fingerprint() !=
          artifact.artifact.program.fingerprint())
    return failure(StatusCode::invalidArgument,
                   "the plan was made for another artifact ('",
                   state.artifact->artifact.program.name, "')");
  return Status::success();
}

Status launch(ArtifactState &artifact, const PlanState &state,
              const dfrt_tensor *arguments, uint32_t count,
              const dfrt_launch_options &options) {
  const Program &program = artifact.artifact.program;
  cpu::PlanView plan(state.bytes.data());
  std::vector<TensorView> views;
  DFRT_TRY(viewTensors(program, arguments, count, /*partial=*/false, views));
  DFRT_TRY(checkTensors(program, views, /*reference=*/false));
  DFRT_TRY(cpu::checkPlanInputs(program, plan, views));
  Expected<const cpu::ProgramCode *> code = artifact.code(CodeBlob::Kind::cpu);
  if (!code)
    return code.status();

  cpu::Buffer owned;
  uint8_t *workspace = nullptr;
  DFRT_TRY(chooseWorkspace(plan, options, owned, workspace));
  cpu::SlotMemory memory(program, plan, workspace, options.poison);
  cpu::LaunchCode launch{program, plan, **code, memory, {}};
  for (const TensorView &view : views)
    launch.descriptors.push_back(makeDescriptor(view));
  cpu::ExecuteOptions how;
  how.adversarial = options.adversarial;
  how.seed = options.seed;
  how.threads = options.threads;
  how.resident = options.resident;
  return cpu::execute(launch, how);
}

Status reference(ArtifactState &artifact, const dfrt_tensor *arguments,
                 uint32_t count, uint32_t threads) {
  const Program &program = artifact.artifact.program;
  std::vector<TensorView> views;
  DFRT_TRY(viewTensors(program, arguments, count, /*partial=*/false, views));
  DFRT_TRY(checkTensors(program, views, /*reference=*/true));
  std::vector<PlanInput> inputs;
  DFRT_TRY(planInputs(program, views, inputs));
  Expected<Problem> problem = instantiate(program, inputs, Topology());
  if (!problem)
    return problem.status();
  Expected<const cpu::ProgramCode *> code =
      artifact.code(CodeBlob::Kind::cpuReference);
  if (!code)
    return code.status();
  return cpu::evaluateReference(*problem, **code, views, threads);
}
} // namespace

void dfrt_launch_options_init_sized(dfrt_launch_options *options,
                                    uint32_t struct_bytes) {
  dfrt_launch_options defaults = {};
  defaults.poison = 1;
  writeDefaults(defaults, options, struct_bytes);
}

dfrt_status dfrt_launch(const dfrt_device *device,
                        const dfrt_artifact *artifact, const dfrt_plan *plan,
                        const dfrt_tensor *arguments, uint32_t count,
                        const dfrt_launch_options *options) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(device, "device"));
    DFRT_TRY(require(artifact, "artifact"));
    DFRT_TRY(require(plan, "plan"));
    dfrt_launch_options known;
    dfrt_launch_options_init(&known);
    DFRT_TRY(readOptions(options, known));
    DFRT_TRY(checkOrigin(*artifact->state, *plan->state));
    if (device->cuda)
      return device->cuda->launch(artifact->state, plan->state, arguments,
                                  count, known);
    return launch(*artifact->state, *plan->state, arguments, count, known);
  });
}

dfrt_status dfrt_reference(const dfrt_artifact *artifact,
                           const dfrt_tensor *arguments, uint32_t count,
                           uint32_t threads) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(artifact, "artifact"));
    return reference(*artifact->state, arguments, count, threads);
  });
}
