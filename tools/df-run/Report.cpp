//===- Report.cpp - What df-run found out about one point -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects the summaries of Report.h and prints them as text.
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

using namespace dfrt;

bool Report::passed() const {
  return (!run || run->identical) && (!memory || memory->problems.empty()) &&
         std::all_of(checks.begin(), checks.end(),
                     [](const OutputCheck &check) { return check.passed; });
}

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

ProblemSummary dfrt::summarise(const Problem &problem) {
  ProblemSummary summary;
  for (size_t d = 0; d < problem.tasks.size(); ++d)
    summary.domains.push_back(
        {problem.program.domains[d].name, problem.tasks[d].tasks});
  for (size_t r = 0; r < problem.ranges.size(); ++r) {
    const RangeSet &range = problem.ranges[r];
    ProblemSummary::Extent extent;
    extent.name = problem.program.ranges[r].name;
    extent.tile = range.tile;
    for (size_t task = 0; task < range.lengths.size(); ++task) {
      extent.elements += range.lengths[task];
      extent.tiles += range.tiles(task);
      extent.longest = std::max(extent.longest, range.lengths[task]);
      extent.empty += range.lengths[task] == 0;
    }
    summary.ranges.push_back(std::move(extent));
  }
  summary.bytes = problem.totalBytes();
  return summary;
}

// Global bytes that an instruction moves. A call that computes some slices only
// is counted with its share.
static uint64_t instructionBytes(const Problem &problem,
                                 const Instruction &instruction) {
  uint64_t bytes =
      problem.callBytes(instruction.stage, instruction.task,
                        instruction.tileEnd - instruction.tileBegin);
  const Stage &stage = problem.program.stages[instruction.stage];
  uint32_t slices = stage.record.slices;
  if (stage.kind == StageKind::finalize && !stage.inputs.empty())
    slices = problem.program.stages[stage.inputs[0].stage].record.slices;
  if (stage.separable && slices > 1)
    bytes = bytes * (instruction.sliceEnd - instruction.sliceBegin) / slices;
  return bytes;
}

PlanSummary dfrt::summarise(const Problem &problem, const Schedule &schedule,
                            const SimulationResult *simulation,
                            uint64_t planBytes) {
  PlanSummary summary;
  summary.solver = schedule.solver;
  summary.topology = problem.topology;
  summary.ticket = schedule.discipline == Discipline::ticket;
  for (const Stage &stage : problem.program.stages)
    summary.stages.push_back({stage.name, 0});
  summary.instructions = schedule.instructions.size();
  for (const Instruction &instruction : schedule.instructions)
    ++summary.stages[instruction.stage].instructions;
  for (const Transfer &transfer : schedule.transfers)
    ++summary.transfers[static_cast<size_t>(transfer.transport)];
  for (const Slot &slot : schedule.slots)
    ++(slot.space == Space::shared ? summary.slotsShared : summary.slotsGlobal);
  summary.sharedBytes = schedule.sharedBytes;
  summary.globalBytes = schedule.globalBytes;
  summary.planBytes = planBytes;
  summary.releases = schedule.releases.size();
  summary.barriers = schedule.barriers.size();
  summary.flags = schedule.flags;
  summary.exitBarrier = schedule.exitBarrier;
  if (!simulation)
    return summary;
  // The simulation also says who draws what from a ticket list.
  std::vector<uint64_t> bytes(problem.topology.ctas, 0);
  std::vector<bool> busy(problem.topology.ctas, false);
  for (const InstructionSpan &span : simulation->spans) {
    busy[span.cta] = true;
    bytes[span.cta] +=
        instructionBytes(problem, schedule.instructions[span.instruction]);
  }
  summary.busyCtas = std::count(busy.begin(), busy.end(), true);
  summary.fewestBytes = *std::min_element(bytes.begin(), bytes.end());
  summary.mostBytes = *std::max_element(bytes.begin(), bytes.end());
  return summary;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string dfrt::formatCount(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t at = digits.size(); at > 3; at -= 3)
    digits.insert(at - 3, ",");
  return digits;
}

std::string dfrt::formatBytes(uint64_t bytes) {
  static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 999.95 && unit + 1 < std::size(units)) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes)
                   : fmt::format("{:.1f} {}", value, units[unit]);
}

static std::string formatTime(double ms) {
  return ms < 1      ? fmt::format("{:.1f} us", ms * 1e3)
         : ms < 1000 ? fmt::format("{:.1f} ms", ms)
                     : fmt::format("{:.2f} s", ms / 1e3);
}

namespace {
/// Lines with a heading in the first column, repeated headings left out.
class Page {
public:
  template <typename... T>
  void line(const char *heading, fmt::format_string<T...> format,
            T &&...values) {
    bool repeated = last == heading;
    last = heading;
    fmt::format_to(std::back_inserter(out), "{:<12} ", repeated ? "" : heading);
    fmt::format_to(std::back_inserter(out), format, std::forward<T>(values)...);
    out += '\n';
  }
  std::string take() { return std::move(out); }

private:
  std::string last, out;
};
} // namespace

static void printProblem(const ProblemSummary &problem, Page &page) {
  for (const auto &domain : problem.domains)
    page.line("problem", "{}: {} task{}", domain.name,
              formatCount(domain.tasks), domain.tasks == 1 ? "" : "s");
  for (const auto &range : problem.ranges)
    page.line("problem",
              "{}: {} elements in {} tiles of {}; longest {}, {} "
              "empty",
              range.name, formatCount(range.elements), formatCount(range.tiles),
              range.tile, formatCount(range.longest), range.empty);
  page.line("problem", "{} of global traffic", formatBytes(problem.bytes));
}

static void printPlan(const PlanSummary &plan, Page &page) {
  const Topology &topology = plan.topology;
  page.line("plan", "solver {}, {} queue{}, {} CTAs in clusters of {}",
            plan.solver, plan.ticket ? "ticket" : "static",
            plan.ticket ? "" : "s", topology.ctas, topology.clusterSize);
  std::string stages;
  for (const auto &stage : plan.stages)
    if (stage.instructions)
      stages += fmt::format("{}{} {}", stages.empty() ? "" : ", ", stage.name,
                            formatCount(stage.instructions));
  page.line("plan", "{} instructions on {} CTAs: {}",
            formatCount(plan.instructions), plan.busyCtas,
            stages.empty() ? "none" : stages);
  page.line("plan",
            "transfers: local {}, cluster_shared {}, global {}, multicast {}",
            plan.transfers[1], plan.transfers[2], plan.transfers[3],
            plan.transfers[4]);
  page.line("plan",
            "slots: {} shared ({} of {} a CTA), {} global ({}); {} releases, "
            "{} barriers, {} flags",
            formatCount(plan.slotsShared), formatBytes(plan.sharedBytes),
            formatBytes(topology.slotBytes()), formatCount(plan.slotsGlobal),
            formatBytes(plan.globalBytes), plan.releases, plan.barriers,
            plan.flags);
  page.line("plan", "balance: {} to {} a CTA; plan of {}",
            formatBytes(plan.fewestBytes), formatBytes(plan.mostBytes),
            formatBytes(plan.planBytes));
}

static void printCheck(const OutputCheck &check, Page &page) {
  page.line("check", "{}: relative L2 error {:.2e}, limit {:.1e}{}: {}",
            check.name, check.relativeL2, check.tolerance,
            check.special
                ? fmt::format("; {} infinite or NaN as in the reference",
                              formatCount(check.special))
                : std::string(),
            check.passed ? "ok" : "WRONG");
  if (check.mismatched)
    page.line("check", "{}: {} elements differ in kind or value, first {}",
              check.name, formatCount(check.mismatched), check.firstMismatch);
}

static std::string explanationsText(const Report &report) {
  std::string out;
  for (const Explanation &explanation : report.explanations)
    out += toText(explanation);
  return out;
}

std::string dfrt::toText(const Report &report) {
  Page page;
  page.line("program", "{}, point {} of {}", report.program, report.point,
            report.workload);
  printProblem(report.problem, page);
  if (report.plan)
    printPlan(*report.plan, page);
  std::string out = page.take();
  if (report.memory)
    out += toText(*report.memory);
  for (const Decision &decision : report.decisions)
    page.line("decisions", "{}: {}; {}", decision.topic, decision.choice,
              decision.reason);
  if (report.prediction) {
    const SimulationResult &p = *report.prediction;
    page.line("prediction",
              "{:.1f} us on {}; read floor {:.1f} us, {:.1f} % of it "
              "reached",
              p.totalNs / 1e3, report.card, p.floorNs / 1e3,
              p.totalNs > 0 ? 100 * p.floorNs / p.totalNs : 0.0);
    page.line("prediction",
              "no plan takes less than {:.1f} us ({}): this one {:.1f} % more",
              report.bound.totalNs / 1e3, report.bound.reason(),
              report.bound.totalNs > 0
                  ? 100 * (p.totalNs / report.bound.totalNs - 1)
                  : 0.0);
  }
  if (report.planTime)
    page.line("plan time", "{:.1f} us, median of {} (best {:.1f} us)",
              report.planTime->medianUs, report.planTime->runs,
              report.planTime->leastUs);
  if (report.run) {
    const RunSummary &run = *report.run;
    page.line("run", "{} on device {}, {} thread{}{}", formatTime(run.medianMs),
              run.device, run.threads, run.threads == 1 ? "" : "s",
              run.runs > 1 ? fmt::format(", median of {}", run.runs)
                           : std::string());
    if (run.seeds)
      page.line("run", "{} adversarial interleavings: {}", run.seeds,
                run.identical ? "bit-identical outputs"
                              : "OUTPUTS DIFFER, " + run.difference);
    else if (!run.identical)
      page.line("run", "repeated runs: OUTPUTS DIFFER, {}", run.difference);
  }
  for (const OutputCheck &check : report.checks)
    printCheck(check, page);
  out += page.take();
  if (report.trace)
    out += toText(*report.trace);
  return out + toText(report.choices) + explanationsText(report);
}

std::string dfrt::toMeasurementLine(const Report &report) {
  const Measurement &m = *report.measurement;
  std::string line = fmt::format(
      "{:<16} {}: {:.2f} us cold, {}{}; read floor {:.2f} us ({:.1f} %, {:.2f} "
      "TB/s of {}); upload {:.2f} us",
      report.point, m.variant, m.coldUs,
      m.graphUs ? fmt::format("{:.2f} us in a graph", *m.graphUs) : "no graph",
      m.spanUs ? fmt::format(", {:.2f} us by stamps", *m.spanUs)
               : std::string(),
      m.readFloorUs, m.coldUs > 0 ? 100 * m.readFloorUs / m.coldUs : 0.0,
      m.coldUs > 0 ? double(m.bytes) / m.coldUs / 1e6 : 0.0,
      formatBytes(m.bytes), m.uploadUs);
  if (report.planTime)
    line += fmt::format(", plan {:.1f} us", report.planTime->medianUs);
  double worst = 0;
  for (const OutputCheck &check : report.checks)
    worst = std::max(worst, check.relativeL2);
  if (!report.checks.empty())
    line += fmt::format("; relative L2 error {:.2e}: {}", worst,
                        report.passed() ? "ok" : "WRONG");
  line += '\n';
  if (report.run && !report.run->identical)
    line +=
        fmt::format("{:<16} OUTPUTS DIFFER, {}\n", "", report.run->difference);
  for (const OutputCheck &check : report.checks)
    if (!check.passed)
      line += fmt::format("{:<16} {}: relative L2 error {:.2e}, limit {:.1e}, "
                          "{} elements differ in kind or value {}: WRONG\n",
                          "", check.name, check.relativeL2, check.tolerance,
                          check.mismatched, check.firstMismatch);
  if (report.memory)
    for (const std::string &problem : report.memory->problems)
      line += fmt::format("{:<16} {}: WRONG\n", "", problem);
  if (report.trace)
    line += toText(*report.trace);
  return line + toText(report.choices) + explanationsText(report);
}
