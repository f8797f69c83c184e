//===- Plan.cpp - Makes and examines the plan of one point ----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Plan.h.
//
//===----------------------------------------------------------------------===//

#include "Plan.h"

#include "Json.h"
#include "Profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

using namespace dfrt;

Status dfrt::lastStatus() {
  return Status(static_cast<StatusCode>(dfrt_last_status()), dfrt_last_error());
}

Expected<LoadedArtifact> dfrt::loadArtifact(const std::string &path) {
  Expected<std::string> bytes = readFile(path);
  if (!bytes)
    return bytes.status();
  LoadedArtifact loaded;
  dfrt_artifact *handle = nullptr;
  if (dfrt_artifact_load_memory(bytes->data(), bytes->size(), &handle) !=
      DFRT_OK)
    return Status(StatusCode::invalidFile,
                  fmt::format("artifact '{}': {}", path, dfrt_last_error()));
  loaded.handle.reset(handle);
  Expected<Artifact> artifact = readArtifact(
      reinterpret_cast<const uint8_t *>(bytes->data()), bytes->size());
  if (!artifact)
    return artifact.status();
  loaded.program = std::move(artifact->program);
  loaded.kernels = std::move(artifact->kernels);
  loaded.code = std::move(artifact->code);
  return loaded;
}

static dfrt_plan_options planOptions(const Options &options) {
  dfrt_plan_options result;
  dfrt_plan_options_init(&result);
  result.ctas = options.topology.ctas;
  result.cluster_size = options.topology.clusterSize;
  result.shared_bytes = options.topology.sharedBytes;
  result.reserved_bytes = options.topology.reservedBytes;
  if (options.profile)
    result.profile = options.profile->handle.get();
  result.combine = static_cast<uint32_t>(options.schedule.combine);
  result.transport = static_cast<uint32_t>(options.schedule.transport);
  result.batch_invariant = options.schedule.batchInvariant;
  if (!options.schedule.solver.empty())
    result.solver = options.schedule.solver.c_str();
  return result;
}

static void readDecisions(const dfrt_plan *plan, Decisions &decisions) {
  const char *text = nullptr;
  if (dfrt_plan_decisions(plan, &text) != DFRT_OK)
    return;
  Json list = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array())
    return;
  for (const Json &entry : list) {
    Decision decision = {entry.value("topic", std::string()),
                         entry.value("choice", std::string()),
                         entry.value("reason", std::string())};
    std::string by = entry.value("by", std::string());
    for (Decider decider : {Decider::none, Decider::option, Decider::request})
      if (by == deciderName(decider))
        decision.by = decider;
    decision.predictedNs = entry.value("predicted_us", -1e-3) * 1e3;
    for (const Json &other : entry.value("rejected", Json::array()))
      decision.rejected.push_back({other.value("choice", std::string()),
                                   other.value("predicted_us", -1e-3) * 1e3,
                                   other.value("refusal", std::string())});
    decisions.push_back(std::move(decision));
  }
}

Expected<Plan> dfrt::preparePlan(const LoadedArtifact &artifact,
                                 const Tensors &tensors, const Options &options,
                                 Decisions &decisions) {
  Plan plan;
  dfrt_plan *handle = nullptr;
  bool loaded = !options.planFile.empty();
  if (loaded) {
    Expected<std::string> bytes = readFile(options.planFile);
    if (!bytes)
      return bytes.status();
    if (dfrt_plan_load(artifact.handle.get(), bytes->data(), bytes->size(),
                       &handle) != DFRT_OK)
      return Status(
          StatusCode::invalidFile,
          fmt::format("plan '{}': {}", options.planFile, dfrt_last_error()));
  } else {
    dfrt_plan_options chosen = planOptions(options);
    if (dfrt_plan_make(artifact.handle.get(), tensors.views.data(),
                       tensors.views.size(), &chosen, &handle) != DFRT_OK)
      return lastStatus();
  }
  plan.handle.reset(handle);
  const void *bytes = nullptr;
  uint64_t size = 0;
  if (dfrt_plan_bytes(handle, &bytes, &size) != DFRT_OK)
    return lastStatus();
  const uint8_t *first = static_cast<const uint8_t *>(bytes);
  plan.bytes.assign(first, first + size);
  readDecisions(handle, decisions);

  Expected<PlanImage> image = readPlan(plan.bytes.data(), plan.bytes.size());
  if (!image)
    return image.status();
  std::vector<PlanInput> inputs;
  for (size_t i = 0; i < tensors.arguments.size(); ++i) {
    const BoundArgument &argument = tensors.arguments[i];
    inputs.push_back({argument.name, argument.shape,
                      tensors.views[i].data
                          ? integerValues(argument, tensors.views[i].data)
                          : std::vector<int64_t>()});
  }
  Expected<Problem> problem =
      instantiate(artifact.program, inputs, image->topology,
                  planCosts(options, image->topology.clusterSize));
  if (!problem)
    return problem.status();
  plan.inputs = std::move(inputs);
  plan.problem = std::move(*problem);
  plan.schedule = std::move(image->schedule);
  if (loaded)
    if (Status s = verify(plan.problem, plan.schedule); !s)
      return Status(s.code(),
                    fmt::format("plan '{}' does not fit this point: {}",
                                options.planFile, s.message()));
  return plan;
}

Expected<PlanTime> dfrt::measurePlanning(const LoadedArtifact &artifact,
                                         const Tensors &tensors,
                                         const Options &options) {
  using Clock = std::chrono::steady_clock;
  dfrt_plan_options chosen = planOptions(options);
  chosen.verify = 0;
  std::vector<double> times;
  double total = 0;
  // A few runs suffice for large plans, the first of which is cold.
  while (times.size() < 3 || (times.size() < 21 && total < 1e5)) {
    Clock::time_point start = Clock::now();
    dfrt_plan *handle = nullptr;
    if (dfrt_plan_make(artifact.handle.get(), tensors.views.data(),
                       tensors.views.size(), &chosen, &handle) != DFRT_OK)
      return lastStatus();
    std::chrono::duration<double, std::micro> spent = Clock::now() - start;
    dfrt_plan_release(handle);
    times.push_back(spent.count());
    total += spent.count();
  }
  std::sort(times.begin(), times.end());
  PlanTime result;
  result.runs = times.size();
  result.leastUs = times.front();
  result.medianUs = times[times.size() / 2];
  return result;
}
