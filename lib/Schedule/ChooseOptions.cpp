//===- ChooseOptions.cpp - The best of all choices, by the model ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans and simulates every combination of what the caller left open. The same
// code makes plans that are forced and plans that are compared.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/Message.h"
#include "dataflow/Schedule/Schedulers.h"
#include "dataflow/Schedule/Simulator.h"

#include <algorithm>

using namespace dfrt;

namespace {

using Combine = ScheduleOptions::Combine;

/// A combination of choices and what came of it.
struct Trial {
  ScheduleOptions options;
  double predictedNs = -1; ///< negative: refused
  std::string refusal;
};

/// What the caller left open, in the order in which ties are decided.
std::vector<Trial> combinations(const Problem &problem,
                                const ScheduleOptions &options) {
  std::vector<std::string> names;
  if (options.solver.empty() || options.solver == kBestSolver)
    for (const Solver &solver : solvers())
      names.push_back(solver.name);
  else
    names.push_back(options.solver);
  std::vector<Combine> combines = {options.combine};
  if (options.combine == Combine::automatic && !options.batchInvariant)
    combines = {Combine::automatic, Combine::fold, Combine::tree};
  std::vector<Transport> transports = {options.transport};
  if (options.transport == Transport::automatic &&
      problem.topology.clusterSize > 1)
    transports = {Transport::automatic, Transport::global};
  std::vector<Trial> trials;
  for (const std::string &name : names)
    for (Combine combine : combines)
      for (Transport transport : transports) {
        Trial trial;
        trial.options = options;
        trial.options.solver = name;
        trial.options.combine = combine;
        trial.options.transport = transport;
        trials.push_back(trial);
      }
  return trials;
}

void run(const Problem &problem, Trial &trial) {
  Expected<Schedule> schedule = makeSchedule(problem, trial.options);
  if (!schedule) {
    trial.refusal = schedule.status().message();
    return;
  }
  Expected<SimulationResult> simulated = simulate(problem, *schedule);
  if (!simulated)
    trial.refusal = simulated.status().message();
  else
    trial.predictedNs = simulated->totalNs;
}

/// Of one topic: what was chosen and, of each other choice, the best plan.
template <typename Name>
void explain(const char *topic, const std::vector<Trial> &trials,
             const Trial &best, Name name, Decisions &decisions) {
  Decision decision;
  decision.topic = topic;
  decision.choice = name(best.options);
  decision.predictedNs = best.predictedNs;
  for (const Trial &trial : trials) {
    std::string choice = name(trial.options);
    if (choice == decision.choice)
      continue;
    auto known = std::find_if(
        decision.rejected.begin(), decision.rejected.end(),
        [&](const Alternative &other) { return other.choice == choice; });
    if (known == decision.rejected.end()) {
      decision.rejected.push_back({choice, trial.predictedNs, trial.refusal});
    } else if (trial.predictedNs >= 0 &&
               (known->predictedNs < 0 ||
                trial.predictedNs < known->predictedNs)) {
      known->predictedNs = trial.predictedNs;
      known->refusal.clear();
    }
  }
  if (decision.rejected.empty())
    return;
  const Alternative *next = nullptr;
  for (const Alternative &other : decision.rejected)
    if (other.predictedNs >= 0 &&
        (!next || other.predictedNs < next->predictedNs))
      next = &other;
  decision.reason =
      next ? textOf("predicted ", best.predictedNs / 1e3, " us; next is ",
                    next->choice, " with ", next->predictedNs / 1e3, " us")
           : textOf("predicted ", best.predictedNs / 1e3,
                    " us; all others are refused");
  decisions.push_back(std::move(decision));
}

} // namespace

const char *dfrt::combineName(Combine combine) {
  static const char *const names[] = {"automatic", "scatter", "fold", "tree"};
  return names[static_cast<unsigned>(combine) % 4];
}

Expected<ScheduleOptions> dfrt::chooseOptions(const Problem &problem,
                                              const ScheduleOptions &options,
                                              Decisions *decisions) {
  std::vector<Trial> trials = combinations(problem, options);
  const Trial *best = nullptr;
  for (Trial &trial : trials) {
    run(problem, trial);
    if (trial.predictedNs >= 0 &&
        (!best || trial.predictedNs < best->predictedNs))
      best = &trial;
  }
  if (!best)
    return Status(StatusCode::resourceExhausted,
                  textOf("no solver can plan this batch; '",
                         trials[0].options.solver, "': ", trials[0].refusal));
  if (decisions) {
    explain(
        "solver", trials, *best,
        [](const ScheduleOptions &o) { return o.solver; }, *decisions);
    explain(
        "combine", trials, *best,
        [](const ScheduleOptions &o) {
          return std::string(combineName(o.combine));
        },
        *decisions);
    explain(
        "transport", trials, *best,
        [](const ScheduleOptions &o) {
          return std::string(transportName(o.transport));
        },
        *decisions);
  }
  return best->options;
}
