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

#include "dataflow/Schedule/Schedulers.h"

#include "dataflow/Schedule/Message.h"

using namespace dfrt;

static size_t countGlobal(const Schedule &schedule) {
  size_t count = 0;
  for (const Transfer &transfer : schedule.transfers)
    count += transfer.transport == Transport::global;
  return count;
}

ArrayView<Solver> dfrt::solvers() {
  static const Solver table[] = {
      {"stream", "contiguous byte-balanced split of ranges over all CTAs",
       scheduleStream},
      {"longest-first", "whole tasks, longest first, on the least loaded CTA",
       scheduleLongestFirst},
      {"tickets", "one ordered list of draws", scheduleTickets},
  };
  return {table, sizeof(table) / sizeof(table[0])};
}

Expected<Schedule> dfrt::makeSchedule(const Problem &problem,
                                      const ScheduleOptions &options,
                                      Decisions *decisions) {
  const std::string name = options.solver.empty() ? "stream" : options.solver;
  std::string known;
  for (const Solver &solver : solvers()) {
    known += (known.empty() ? "" : ", ") + std::string(solver.name);
    if (name != solver.name)
      continue;
    Expected<Schedule> schedule = solver.run(problem, options, decisions);
    if (!schedule)
      return schedule;
    if (Status s = selectTransports(problem, options, *schedule, decisions); !s)
      return s;
    size_t published = countGlobal(*schedule);
    if (Status s = planSlots(problem, *schedule, decisions); !s)
      return s;
    if (options.transport != Transport::automatic &&
        countGlobal(*schedule) > published)
      return Status(StatusCode::resourceExhausted,
                    textOf("the requested transport needs more than the ",
                           problem.topology.slotBytes(),
                           " bytes that slots have in shared memory: ",
                           countGlobal(*schedule) - published,
                           " records would go through global memory"));
    if (Status s = insertReleases(problem, *schedule); !s)
      return s;
    return schedule;
  }
  return invalidArgument("solver '", name, "' is not registered, expected ",
                         known);
}
