//===- Explain.cpp - Where the time of a launch goes ----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds what Explain.h holds; ExplainText.cpp prints it.
//
//===----------------------------------------------------------------------===//

#include "Explain.h"

#include "dataflow/Schedule/Schedulers.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace dfrt;

/// A simulation as if a kernel had recorded it.
static LaunchTrace traceOf(const Problem &problem,
                           const SimulationResult &simulation) {
  LaunchTrace trace;
  trace.kernel = "simulation";
  trace.ctas = problem.topology.ctas;
  trace.multiprocessors.resize(trace.ctas);
  trace.begins.resize(trace.ctas);
  trace.ends.resize(trace.ctas);
  trace.totalNs = simulation.totalNs;
  for (const InstructionSpan &span : simulation.spans) {
    TraceSpan entry;
    entry.instruction = span.instruction;
    entry.cta = span.cta;
    entry.begin = span.wait;
    entry.ready = span.begin;
    entry.handled = entry.finished = span.end;
    trace.spans.push_back(entry);
    trace.ends[span.cta] = std::max(trace.ends[span.cta], span.end);
  }
  return trace;
}

/// Which transfer fills each slot, or kNone.
static std::vector<uint32_t> arrivalsOf(const Schedule &schedule) {
  std::vector<uint32_t> arrivals(schedule.slots.size(), kNone);
  for (uint32_t t = 0; t < schedule.transfers.size(); ++t)
    for (uint32_t slot : schedule.destinationsOf(schedule.transfers[t]))
      arrivals[slot] = t;
  return arrivals;
}

static std::vector<ExposedWait> findWaits(const Problem &problem,
                                          const Schedule &schedule,
                                          const LaunchTrace &trace) {
  std::vector<uint32_t> arrivals = arrivalsOf(schedule);
  std::vector<bool> awaitsRelease(schedule.instructions.size(), false);
  for (const Release &release : schedule.releases)
    if (release.to < awaitsRelease.size())
      awaitsRelease[release.to] = true;
  std::vector<double> finished(schedule.instructions.size(), 0);
  for (const TraceSpan &span : trace.spans)
    if (!span.loads)
      finished[span.instruction] = span.finished;
  auto stageOf = [&](uint32_t instruction) {
    return problem.program.stages[schedule.instructions[instruction].stage]
        .name;
  };
  std::map<std::tuple<std::string, std::string, std::string>,
           TraceSummary::Times>
      found;
  for (const TraceSpan &span : trace.spans) {
    if (span.loads || span.ready <= span.begin)
      continue;
    // The operand that came last is the one that was waited for.
    uint32_t last = kNone;
    for (const Operand &operand :
         schedule.operandsOf(schedule.instructions[span.instruction])) {
      uint32_t transfer = operand.wait ? arrivals[operand.slot] : kNone;
      if (transfer != kNone &&
          (last == kNone || finished[schedule.transfers[transfer].instruction] >
                                finished[schedule.transfers[last].instruction]))
        last = transfer;
    }
    std::string to = stageOf(span.instruction);
    if (last == kNone)
      found[{awaitsRelease[span.instruction] ? "release" : "dispatch", "", to}]
          .add(span.ready - span.begin);
    else
      found[{transportName(schedule.transfers[last].transport),
             stageOf(schedule.transfers[last].instruction), to}]
          .add(span.ready - span.begin);
  }
  std::vector<ExposedWait> waits;
  for (auto &[key, times] : found)
    waits.push_back(
        {std::get<0>(key), std::get<1>(key), std::get<2>(key), times});
  std::sort(waits.begin(), waits.end(),
            [](const ExposedWait &a, const ExposedWait &b) {
              return std::tie(b.times.sum, a.transport, a.from, a.to) <
                     std::tie(a.times.sum, b.transport, b.from, b.to);
            });
  return waits;
}

Explanation dfrt::explain(const Problem &problem, const Schedule &schedule,
                          const LaunchTrace &trace, double floorNs) {
  Explanation explanation;
  explanation.measured = true;
  explanation.totalNs = trace.totalNs;
  explanation.floorNs = floorNs;
  explanation.summary = summarise(problem, schedule, trace);
  double whole = trace.totalNs * trace.ctas;
  for (const TraceSummary::StageTimes &stage : explanation.summary.stages)
    if (stage.handler.count && whole > 0)
      explanation.stages.emplace_back(stage.name, stage.handler.sum / whole);
  explanation.waits = findWaits(problem, schedule, trace);
  return explanation;
}

namespace {
/// A world in which something costs nothing.
struct World {
  const char *what, *hint;
  void (*change)(CostModel &costs);
};
} // namespace

static constexpr double kFast = 1e15;

static const World kWorlds[] = {
    {"transfers that arrive at once",
     "larger clusters, fewer cuts: --cluster-size, --combine, coarsening",
     [](CostModel &costs) {
       costs.clusterHopCycles = costs.globalHopCycles = 0;
       costs.clusterBytesPerCycle = costs.globalBytesPerCycle = kFast;
     }},
    {"further segments that cost nothing",
     "fewer tasks a CTA, smaller records: coarsening, heads a task",
     [](CostModel &costs) { costs.recordWeight = 0; }},
    {"dispatch that costs nothing", "fewer, larger instructions",
     [](CostModel &costs) { costs.instructionNs = 0; }},
    {"draws that cost nothing", "static queues, or longer draws",
     [](CostModel &costs) { costs.drawNs = 0; }},
    {"arithmetic that takes no time", "fewer operations a byte in the handlers",
     [](CostModel &costs) { costs.flops = kFast; }},
    {"CTAs that start and exit at once",
     "several operators in one launch; nothing in a plan",
     [](CostModel &costs) { costs.startNs = costs.exitNs = 0; }},
    {"a launch that costs nothing", "a graph; nothing in a plan",
     [](CostModel &costs) { costs.launchNs = 0; }},
};

Expected<Explanation> dfrt::explain(const Problem &problem,
                                    const Schedule &schedule,
                                    const SimulationResult &simulation) {
  LaunchTrace trace = traceOf(problem, simulation);
  Explanation explanation =
      explain(problem, schedule, trace, simulation.floorNs);
  explanation.measured = false;
  Problem changed = problem;
  for (const World &world : kWorlds) {
    changed.costs = problem.costs;
    world.change(changed.costs);
    Expected<SimulationResult> result = simulate(changed, schedule);
    if (!result)
      return result.status();
    explanation.savings.push_back(
        {world.what, world.hint, simulation.totalNs - result->totalNs});
  }
  // Moving work from CTAs that end late to those that end early.
  const TraceSummary::Times &ends = explanation.summary.lastInstruction;
  double idle = ends.count ? double(trace.ctas - ends.count) : 0;
  double begin = explanation.summary.firstInstruction.mean();
  if (ends.count)
    explanation.savings.push_back(
        {"CTAs that all end together",
         "smaller pieces or another solver: coarsening, --solver",
         ends.most - (ends.sum + idle * begin) / trace.ctas});
  std::sort(explanation.savings.begin(), explanation.savings.end(),
            [](const Saving &a, const Saving &b) {
              return std::tie(b.ns, a.what) < std::tie(a.ns, b.what);
            });
  return explanation;
}
