//===- Schedulers.h - Solvers and the steps behind them ---------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is made in four steps, each a free function that takes the schedule
// one step further; `makeSchedule` runs all of them:
//
//   solver            instructions, queues, unplaced slots
//   selectTransports  transfers, destination slots
//   planSlots         space, offsets, barriers, flags; memory reuse
//   insertReleases    releases, exit barrier
//
// All of them are deterministic: equal input gives equal output, bit for bit.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_SCHEDULE_SCHEDULERS_H
#define DATAFLOW_SCHEDULE_SCHEDULERS_H

#include "dataflow/Schedule/Schedule.h"

#include <memory>
#include <string>
#include <vector>

namespace dfrt {
namespace detail {
class Strategy;
}

/// Choices that the caller may force. The defaults let the planner decide.
struct ScheduleOptions {
  /// Name of a registered solver; "" means `defaultSolver`, "best" what
  /// `chooseOptions` finds.
  std::string solver;
  /// How parts of a split task are combined.
  enum class Combine { automatic, scatter, fold, tree };
  Combine combine = Combine::automatic;
  /// Transport of edges between different CTAs; automatic: cluster_shared
  /// inside a cluster while the slots fit, else global.
  Transport transport = Transport::automatic;
  /// A task is cut and combined in a way that depends on the task alone, so
  /// that its results have the same bits whatever else is in the batch. Costs
  /// time: see docs/planner.md.
  bool batchInvariant = false;
};

/// What was not chosen.
struct Alternative {
  std::string choice;
  double predictedNs = -1; ///< of the best plan with it; negative: refused
  std::string refusal;     ///< then why
};

/// Who made a decision: nobody, since there was nothing to choose; the solver;
/// the caller, by `ScheduleOptions`; the program, by a request on a stage.
enum class Decider { none, solver, option, request };
/// "default" for none.
const char *deciderName(Decider decider);

/// Why a planner step decided as it did: for remarks and `df-run`.
struct Decision {
  std::string topic;  ///< e.g. "combine", "transport", "split"
  std::string choice; ///< e.g. "reduce-scatter"
  std::string reason; ///< one sentence with the numbers
  Decider by = Decider::solver;
  /// Where plans were compared: the simulated time of the one that was made,
  /// and what the others would have taken; the gain is the difference.
  double predictedNs = -1;
  std::vector<Alternative> rejected{};
};
using Decisions = std::vector<Decision>;

/// Lays the range tiles of all tasks end to end, weighted by their global bytes
/// plus what starting costs for each further segment of a CTA, and cuts
/// the line into `topology.ctas` equal shares; stages without a range follow
/// their inputs. Minimises the largest share of bytes. Split tasks are combined
/// by reduce-scatter where the reduce is separable. Discipline static. Fails
/// only on a problem that `check` refuses.
Expected<Schedule> scheduleStream(const Problem &problem,
                                  const ScheduleOptions &options,
                                  Decisions *decisions = nullptr);

/// Places whole tasks (or pieces of `StageRequests::maxTiles`), longest first,
/// on the CTA with the least load. Never splits a task that is not asked to be.
/// Discipline static. Fails as scheduleStream.
Expected<Schedule> scheduleLongestFirst(const Problem &problem,
                                        const ScheduleOptions &options,
                                        Decisions *decisions = nullptr);

/// One ordered list of draws: pieces of about equal bytes (several a CTA), the
/// largest first within a stage, producers before consumers. Only global slots
/// connect draws. Fails as scheduleStream.
Expected<Schedule> scheduleTickets(const Problem &problem,
                                   const ScheduleOptions &options,
                                   Decisions *decisions = nullptr);

/// A solver as it is registered. Adding one touches its own file and the table
/// in Schedulers.cpp.
struct Solver {
  const char *name;
  const char *summary;
  Expected<Schedule> (*run)(const Problem &, const ScheduleOptions &,
                            Decisions *);
  /// What it decides, as an object that plans batch after batch.
  std::unique_ptr<detail::Strategy> (*strategy)();
};
/// "stream" or, for plans that are to be batch-invariant, "longest-first": a
/// line of pieces that may not be cut is hard to share out evenly.
const char *defaultSolver(const ScheduleOptions &options);
/// All solvers, by name.
ArrayView<Solver> solvers();

/// The solver name that stands for the best of all choices.
inline constexpr const char *kBestSolver = "best";

/// Plans and simulates every combination of what `options` leave open (solver
/// empty or "best", combine and transport automatic) and returns the one with
/// the least simulated time. Takes some ms and touches the heap: for choosing
/// once, not for every batch. Fails when all are refused.
Expected<ScheduleOptions> chooseOptions(const Problem &problem,
                                        const ScheduleOptions &options,
                                        Decisions *decisions = nullptr);

/// What texts and options call a way to combine parts, e.g. "fold".
const char *combineName(ScheduleOptions::Combine combine);

/// What texts and options call a transport, e.g. "cluster_shared".
const char *transportName(Transport transport);

/// Gives every edge between instructions its transport and adds the transfers
/// and their destination slots. Forced transports (options, requests) that are
/// not legal for an edge fail, naming edge and limit.
Status selectTransports(const Problem &problem, const ScheduleOptions &options,
                        Schedule &schedule, Decisions *decisions = nullptr);

/// Places every slot; shared slots share memory where their lifetimes are
/// ordered. A source slot that does not fit the shared arena moves to global
/// memory (with a decision), unless its stage requests shared: then it fails
/// with the slots that are live at that point.
Status planSlots(const Problem &problem, Schedule &schedule,
                 Decisions *decisions = nullptr);

/// Adds the releases that memory reuse needs, and the exit barrier.
Status insertReleases(const Problem &problem, Schedule &schedule);

/// All four steps.
Expected<Schedule> makeSchedule(const Problem &problem,
                                const ScheduleOptions &options,
                                Decisions *decisions = nullptr);

} // namespace dfrt

#endif // DATAFLOW_SCHEDULE_SCHEDULERS_H
