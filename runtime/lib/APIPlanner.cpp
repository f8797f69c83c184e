//===- APIPlanner.cpp - C API: planners -----------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "PlanCache.h"

#include <chrono>

using namespace dfrt;

struct dfrt_planner {
  const Program &program;
  PlanCache cache;
  std::vector<uint32_t> uses;
  std::vector<TensorView> views;
  std::vector<PlanInput> inputs;
};

void dfrt_planner_options_init_sized(dfrt_planner_options *options,
                                     uint32_t struct_bytes) {
  dfrt_planner_options defaults = {};
  defaults.plans = 16;
  writeDefaults(defaults, options, struct_bytes);
}

dfrt_status dfrt_planner_create(const dfrt_artifact *artifact,
                                const dfrt_planner_options *options,
                                dfrt_planner **planner) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(artifact, "artifact"));
    DFRT_TRY(require(planner, "result pointer"));
    dfrt_planner_options known;
    dfrt_planner_options_init(&known);
    DFRT_TRY(readOptions(options, known));
    if (known.plans == 0 || known.plans > DFRT_MAX_PLANNER_PLANS)
      return failure(StatusCode::invalidArgument, "option plans is ",
                     known.plans, ", expected 1 to ", DFRT_MAX_PLANNER_PLANS);
    dfrt_plan_options planOptions;
    dfrt_plan_options_init(&planOptions);
    DFRT_TRY(readOptions(known.plan_options, planOptions));
    PlanCache::Settings settings;
    DFRT_TRY(planSettings(planOptions, settings.topology, settings.costs,
                          settings.options));
    if (settings.options.solver == kLineSolver) {
      DFRT_TRY(checkLineChoices(settings.options));
      if (planOptions.capacity)
        return failure(StatusCode::unsupported, "a planner with solver '",
                       kLineSolver,
                       "' makes plans of the size that they need; leave the "
                       "option capacity out");
    }
    if (planOptions.capacity)
      settings.maxima = toMaxima(*planOptions.capacity);
    settings.verify = planOptions.verify;
    settings.predict = planOptions.predict;
    settings.capacity = known.plans;
    const Program &program = artifact->state->artifact.program;
    Expected<Planner> made = Planner::create(program);
    if (!made)
      return made.status();
    *planner = new dfrt_planner{
        program,
        PlanCache(artifact->state, std::move(*made), std::move(settings)),
        planUses(program),
        {},
        {}};
    return Status::success();
  });
}

void dfrt_planner_release(dfrt_planner *planner) { delete planner; }

dfrt_status dfrt_planner_plan(dfrt_planner *planner,
                              const dfrt_tensor *arguments, uint32_t count,
                              const dfrt_plan **plan, uint32_t *origin) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(planner, "planner"));
    DFRT_TRY(require(plan, "result pointer"));
    auto begin = std::chrono::steady_clock::now();
    DFRT_TRY(viewTensors(planner->program, arguments, count, /*partial=*/true,
                         planner->views));
    DFRT_TRY(planInputs(planner->program, planner->uses, planner->views,
                        planner->inputs));
    uint32_t how = 0;
    DFRT_TRY(planner->cache.plan(planner->inputs, *plan, how));
    if (how == DFRT_PLAN_MADE)
      (*plan)->state->makeUs = std::chrono::duration<double, std::micro>(
                                   std::chrono::steady_clock::now() - begin)
                                   .count();
    if (origin)
      *origin = how;
    return Status::success();
  });
}
