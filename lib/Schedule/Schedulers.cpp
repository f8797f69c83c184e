//===- Schedulers.cpp - Registered solvers and the whole planner ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of solvers, and `makeSchedule`.
//
//===----------------------------------------------------------------------===//

#include "PlanSteps.h"
#include "dataflow/Schedule/Message.h"

#include <cstring>

using namespace dfrt;
using namespace dfrt::detail;

ArrayView<Solver> dfrt::solvers() {
  static const Solver table[] = {
      {"stream", "contiguous byte-balanced split of ranges over all CTAs",
       scheduleStream, streamStrategy},
      {"longest-first", "whole tasks, longest first, on the least loaded CTA",
       scheduleLongestFirst, longestFirstStrategy},
      {"tickets", "one ordered list of draws", scheduleTickets, ticketStrategy},
  };
  return {table, sizeof(table) / sizeof(table[0])};
}

static uint64_t countGlobal(const Schedule &schedule) {
  uint64_t count = 0;
  for (const Transfer &transfer : schedule.transfers)
    count += transfer.transport == Transport::global;
  return count;
}

const char *dfrt::defaultSolver(const ScheduleOptions &options) {
  return options.batchInvariant ? "longest-first" : "stream";
}

Status PlanSteps::choose(const ScheduleOptions &options) {
  const char *wanted =
      options.solver.empty() ? defaultSolver(options) : options.solver.c_str();
  if (strategy && std::strcmp(strategy->name, wanted) == 0)
    return Status::success();
  for (const Solver &solver : solvers())
    if (std::strcmp(solver.name, wanted) == 0) {
      strategy = solver.strategy();
      return Status::success();
    }
  std::string known;
  for (const Solver &solver : solvers())
    known += std::string(solver.name) + ", ";
  known += kBestSolver;
  return invalidArgument("solver '", wanted, "' is not registered, expected ",
                         known);
}

const char *dfrt::deciderName(Decider decider) {
  static const char *const names[] = {"default", "solver", "option", "request"};
  return names[static_cast<unsigned>(decider) % 4];
}

Status PlanSteps::run(const ScheduleOptions &options, Decisions *decisions) {
  if (options.solver == kBestSolver) {
    Expected<ScheduleOptions> best = chooseOptions(problem, options, decisions);
    if (!best)
      return best.status();
    size_t first = decisions ? decisions->size() : 0;
    Status status = run(*best, decisions);
    // What was found is given as options, which nobody else has asked for.
    for (size_t i = first; decisions && i < decisions->size(); ++i) {
      Decision &decision = (*decisions)[i];
      bool open = decision.topic == "combine"
                      ? options.combine == ScheduleOptions::Combine::automatic
                      : options.transport == Transport::automatic;
      if (decision.by == Decider::option && decision.topic != "split" && open)
        decision.by = Decider::solver;
    }
    return status;
  }
  DFRT_TRY(choose(options));
  DFRT_TRY(solver.run(*strategy, options, decisions, schedule, flow));
  DFRT_TRY(selector.run(options));
  if (decisions)
    selector.explain(*decisions);
  bool forced = options.transport != Transport::automatic;
  uint64_t published = forced ? countGlobal(schedule) : 0;
  DFRT_TRY(placer.run());
  if (decisions)
    placer.explain(*decisions);
  if (forced && countGlobal(schedule) > published)
    return Status(StatusCode::resourceExhausted,
                  textOf("the requested transport needs more than the ",
                         problem.topology.slotBytes(),
                         " bytes that slots have in shared memory: ",
                         countGlobal(schedule) - published,
                         " records would go through global memory"));
  if (!inserter.prepare())
    return Status::success();
  if (placer.renumbered())
    DFRT_TRY(traceSlots(schedule, flow));
  inserter.run();
  return Status::success();
}

Expected<Schedule> dfrt::makeSchedule(const Problem &problem,
                                      const ScheduleOptions &options,
                                      Decisions *decisions) {
  DFRT_TRY(check(problem));
  PlanSteps steps(problem);
  DFRT_TRY(steps.run(options, decisions));
  return std::move(steps.schedule);
}
