//===- Trace.cpp - A launch as its kernel recorded it ---------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements the reading and the summary of Trace.h.
//
//===----------------------------------------------------------------------===//

#include "Trace.h"

#include "dataflow/Schedule/Message.h"

#include <fmt/format.h>

#include <algorithm>

using namespace dfrt;

Expected<LaunchTrace>
dfrt::readTrace(const Schedule &schedule,
                const std::vector<cuda::TimelineLane> &lanes,
                const std::vector<dfrt_stamp> &stamps) {
  LaunchTrace trace;
  trace.ctas = uint32_t(stamps.size());
  uint64_t start = UINT64_MAX;
  for (const dfrt_stamp &stamp : stamps)
    start = std::min(start, stamp.begin);
  auto ns = [&](uint64_t time) { return double(int64_t(time - start)); };
  for (const dfrt_stamp &stamp : stamps) {
    trace.begins.push_back(ns(stamp.begin));
    trace.ends.push_back(ns(stamp.end));
    trace.totalNs = std::max(trace.totalNs, ns(stamp.end));
  }
  trace.multiprocessors.resize(trace.ctas);
  for (const cuda::TimelineLane &lane : lanes) {
    trace.lost += lane.lost();
    if (lane.instructions)
      trace.multiprocessors[lane.cta] = lane.multiprocessor;
    for (const cuda::TimelineRecord &record : lane.records) {
      if (record.instruction >= schedule.instructions.size())
        return failure(StatusCode::internalError, "timeline: cta ", lane.cta,
                       " has recorded instruction ", record.instruction,
                       ", the plan has ", schedule.instructions.size());
      TraceSpan span;
      span.instruction = record.instruction;
      span.cta = lane.cta;
      span.loads = lane.role == DFRT_ROLE_LOAD;
      span.begin = ns(record.begin);
      span.ready = ns(record.ready);
      span.handled = ns(record.handled);
      span.finished = ns(record.finished);
      span.waited = record.waited;
      trace.spans.push_back(span);
    }
  }
  if (trace.spans.empty() && !schedule.instructions.empty())
    return failure(StatusCode::internalError,
                   "timeline: the kernel has recorded nothing");
  return trace;
}

SimulationResult dfrt::asSimulation(const LaunchTrace &trace, double floorNs) {
  SimulationResult result;
  result.totalNs = trace.totalNs;
  result.floorNs = floorNs;
  for (const TraceSpan &span : trace.spans)
    if (!span.loads)
      result.spans.push_back(
          {span.instruction, span.cta, span.begin, span.ready, span.finished});
  return result;
}

std::string dfrt::describeInstruction(const Problem &problem,
                                      const Instruction &instruction) {
  const Stage &stage = problem.program.stages[instruction.stage];
  const TaskSet &tasks = problem.tasks[stage.domain];
  std::string text = stage.name;
  if (instruction.task < tasks.tasks && !tasks.extents.empty()) {
    ArrayView<int64_t> at = tasks.at(instruction.task);
    const Domain &domain = problem.program.domains[stage.domain];
    for (size_t a = 0; a < at.size(); ++a)
      text +=
          fmt::format("{}{} {}", a ? ", " : " (", domain.axes[a].name, at[a]);
    text += ")";
  }
  if (stage.range != kNone)
    text += fmt::format(" tiles {} to {}", instruction.tileBegin,
                        instruction.tileEnd);
  if (stage.record.slices > 1)
    text += fmt::format(" slices {} to {}", instruction.sliceBegin,
                        instruction.sliceEnd);
  return text;
}

void TraceSummary::Times::add(double ns) {
  sum += ns;
  most = count ? std::max(most, ns) : ns;
  ++count;
}

/// The instruction that wrote each slot, itself or by a transfer.
static std::vector<uint32_t> writersOf(const Schedule &schedule) {
  std::vector<uint32_t> writers(schedule.slots.size(), kNone);
  for (uint32_t i = 0; i < schedule.instructions.size(); ++i)
    for (uint32_t slot : schedule.outputsOf(schedule.instructions[i]))
      writers[slot] = i;
  for (const Transfer &transfer : schedule.transfers)
    for (uint32_t slot : schedule.destinationsOf(transfer))
      writers[slot] = transfer.instruction;
  return writers;
}

/// From the instruction that ended last back to one that waited for nobody:
/// each began to work when the one before it had ended.
static void findCritical(const Problem &problem, const Schedule &schedule,
                         const LaunchTrace &trace, TraceSummary &summary) {
  constexpr size_t kMostSteps = 10000;
  std::vector<uint32_t> spanOf(schedule.instructions.size(), kNone);
  std::vector<uint32_t> before(trace.spans.size(), kNone);
  uint32_t at = kNone;
  for (uint32_t s = 0; s < trace.spans.size(); ++s) {
    const TraceSpan &span = trace.spans[s];
    if (span.loads)
      continue;
    spanOf[span.instruction] = s;
    if (s && !trace.spans[s - 1].loads && trace.spans[s - 1].cta == span.cta)
      before[s] = s - 1;
    if (at == kNone || span.finished > trace.spans[at].finished)
      at = s;
  }
  std::vector<uint32_t> writers = writersOf(schedule);
  std::vector<TraceSummary::Step> &steps = summary.critical;
  while (at != kNone && steps.size() < kMostSteps) {
    const TraceSpan &span = trace.spans[at];
    const Instruction &instruction = schedule.instructions[span.instruction];
    uint32_t cause = before[at];
    for (const Operand &operand : schedule.operandsOf(instruction)) {
      uint32_t writer = writers[operand.slot];
      uint32_t producer = writer == kNone ? kNone : spanOf[writer];
      if (producer != kNone && trace.spans[producer].finished < span.finished &&
          (cause == kNone ||
           trace.spans[producer].finished > trace.spans[cause].finished))
        cause = producer;
    }
    steps.push_back({span, describeInstruction(problem, instruction),
                     cause != kNone && trace.spans[cause].cta != span.cta});
    at = cause;
  }
  std::reverse(steps.begin(), steps.end());
}

TraceSummary dfrt::summarise(const Problem &problem, const Schedule &schedule,
                             const LaunchTrace &trace) {
  TraceSummary summary;
  summary.kernel = trace.kernel;
  summary.ctas = trace.ctas;
  summary.launches = trace.launches;
  summary.totalNs = trace.totalNs;
  summary.lost = trace.lost;
  for (const Stage &stage : problem.program.stages) {
    TraceSummary::StageTimes times;
    times.name = stage.name;
    times.ranged = stage.range != kNone;
    summary.stages.push_back(times);
  }
  // Of each CTA: where its recorded time ends so far.
  std::vector<double> end(trace.ctas, -1), filled(trace.ctas, -1);
  for (const TraceSpan &span : trace.spans) {
    uint32_t number = schedule.instructions[span.instruction].stage;
    TraceSummary::StageTimes &stage = summary.stages[number];
    if (span.loads) {
      if (span.finished > span.begin) {
        stage.fill.add(span.finished - span.begin);
        stage.full.add(span.waited);
        if (filled[span.cta] < 0)
          summary.firstFill.add(span.begin);
        filled[span.cta] = span.finished;
      }
      continue;
    }
    bool first = stage.wait.count == 0;
    stage.firstBegin =
        first ? span.begin : std::min(stage.firstBegin, span.begin);
    stage.lastEnd = std::max(stage.lastEnd, span.finished);
    stage.wait.add(span.ready - span.begin);
    stage.handler.add(span.handled - span.ready);
    stage.tiles.add(span.waited);
    stage.finish.add(span.finished - span.handled);
    summary.handlers += span.handled - span.ready - span.waited;
    summary.tiles += span.waited;
    summary.operands += span.ready - span.begin;
    summary.finishing += span.finished - span.handled;
    if (end[span.cta] < 0) {
      summary.firstInstruction.add(span.begin);
      summary.starting += span.begin;
    } else {
      summary.between += span.begin - end[span.cta];
    }
    end[span.cta] = span.finished;
  }
  for (uint32_t cta = 0; cta < trace.ctas; ++cta) {
    summary.lastCtaBegin = std::max(summary.lastCtaBegin, trace.begins[cta]);
    if (end[cta] >= 0)
      summary.lastInstruction.add(end[cta]);
    if (filled[cta] >= 0)
      summary.lastFill.add(filled[cta]);
    summary.ending += trace.totalNs - std::max(end[cta], 0.0);
  }
  double whole = trace.totalNs * trace.ctas;
  for (double *share : {&summary.handlers, &summary.tiles, &summary.operands,
                        &summary.finishing, &summary.between, &summary.starting,
                        &summary.ending})
    *share = whole > 0 ? *share / whole : 0;
  findCritical(problem, schedule, trace, summary);
  return summary;
}

static std::string meanMost(const TraceSummary::Times &times) {
  return times.count ? fmt::format("{:.2f}/{:.2f}", times.mean() / 1e3,
                                   times.most / 1e3)
                     : std::string("-");
}

std::string dfrt::toText(const TraceSummary &summary) {
  std::string out;
  auto line = [&](const char *heading, const std::string &text) {
    out += fmt::format("{:<12} {}\n", heading, text);
  };
  line("timeline",
       fmt::format("{:.2f} us from the first CTA's begin to the "
                   "last one's end, median of {} cold launches of "
                   "'{}'",
                   summary.totalNs / 1e3, summary.launches, summary.kernel));
  if (summary.lost)
    line("", fmt::format("{} instructions left no record: there was no room",
                         summary.lost));
  line("", fmt::format("begin: CTAs until {:.2f} us; first instruction {:.2f} "
                       "us a CTA, latest {:.2f} us; end: {:.2f} us a CTA",
                       summary.lastCtaBegin / 1e3,
                       summary.firstInstruction.mean() / 1e3,
                       summary.firstInstruction.most / 1e3,
                       summary.lastInstruction.mean() / 1e3));
  if (summary.firstFill.count)
    line("", fmt::format(
                 "copies of {} CTAs: issued from {:.2f} us (latest "
                 "{:.2f} us) to {:.2f} us (latest {:.2f} us)",
                 summary.firstFill.count, summary.firstFill.mean() / 1e3,
                 summary.firstFill.most / 1e3, summary.lastFill.mean() / 1e3,
                 summary.lastFill.most / 1e3));
  line("us mean/max",
       fmt::format("{:<16} {:>6} {:>13} {:>13} {:>13} {:>13} "
                   "{:>13} {:>13} {:>8} {:>8}",
                   "stage", "calls", "operands", "handler", "its tiles",
                   "finish", "fill", "rings full", "first", "last"));
  for (const TraceSummary::StageTimes &stage : summary.stages)
    if (stage.wait.count || stage.fill.count)
      line("", fmt::format("{:<16} {:>6} {:>13} {:>13} {:>13} {:>13} {:>13} "
                           "{:>13} {:>8.2f} {:>8.2f}",
                           stage.name, stage.wait.count, meanMost(stage.wait),
                           meanMost(stage.handler), meanMost(stage.tiles),
                           meanMost(stage.finish), meanMost(stage.fill),
                           meanMost(stage.full), stage.firstBegin / 1e3,
                           stage.lastEnd / 1e3));
  line("shares",
       fmt::format("handlers {:.1f} %; idle {:.1f} %: for tiles {:.1f}, for "
                   "operands {:.1f}, finishing {:.1f}, between instructions "
                   "{:.1f}, before the first {:.1f}, behind the last {:.1f}",
                   100 * summary.handlers, 100 * (1 - summary.handlers),
                   100 * summary.tiles, 100 * summary.operands,
                   100 * summary.finishing, 100 * summary.between,
                   100 * summary.starting, 100 * summary.ending));
  if (summary.critical.empty())
    return out;
  constexpr size_t kShown = 16;
  size_t skipped =
      summary.critical.size() > kShown ? summary.critical.size() - kShown : 0;
  line("critical",
       fmt::format("CTA {} ends last, at {:.2f} us; what it waited for{}:",
                   summary.critical.back().span.cta,
                   summary.critical.back().span.finished / 1e3,
                   skipped
                       ? fmt::format(", without the first {} steps", skipped)
                       : std::string()));
  for (size_t i = skipped; i < summary.critical.size(); ++i) {
    const TraceSummary::Step &step = summary.critical[i];
    const TraceSpan &span = step.span;
    line("", fmt::format("{}CTA {:<4} {:>8.2f} +{:.2f} operands, +{:.2f} "
                         "handler (+{:.2f} of it tiles), +{:.2f} finish  {}",
                         step.hop ? "> " : "  ", span.cta, span.begin / 1e3,
                         (span.ready - span.begin) / 1e3,
                         (span.handled - span.ready) / 1e3, span.waited / 1e3,
                         (span.finished - span.handled) / 1e3, step.name));
  }
  return out;
}

static Json timesJson(const TraceSummary::Times &times) {
  return {{"mean_us", times.mean() / 1e3}, {"most_us", times.most / 1e3}};
}

Json dfrt::toJson(const TraceSummary &summary) {
  Json stages = Json::array(), critical = Json::array();
  for (const TraceSummary::StageTimes &stage : summary.stages)
    if (stage.wait.count || stage.fill.count)
      stages.push_back({{"name", stage.name},
                        {"instructions", stage.wait.count},
                        {"operands", timesJson(stage.wait)},
                        {"handler", timesJson(stage.handler)},
                        {"tiles", timesJson(stage.tiles)},
                        {"finish", timesJson(stage.finish)},
                        {"fill", timesJson(stage.fill)},
                        {"rings_full", timesJson(stage.full)},
                        {"first_begin_us", stage.firstBegin / 1e3},
                        {"last_end_us", stage.lastEnd / 1e3}});
  for (const TraceSummary::Step &step : summary.critical)
    critical.push_back({{"instruction", step.span.instruction},
                        {"name", step.name},
                        {"cta", step.span.cta},
                        {"begin_us", step.span.begin / 1e3},
                        {"ready_us", step.span.ready / 1e3},
                        {"handled_us", step.span.handled / 1e3},
                        {"finished_us", step.span.finished / 1e3},
                        {"tiles_us", step.span.waited / 1e3}});
  return {{"kernel", summary.kernel},
          {"ctas", summary.ctas},
          {"launches", summary.launches},
          {"span_us", summary.totalNs / 1e3},
          {"lost", summary.lost},
          {"last_cta_begin_us", summary.lastCtaBegin / 1e3},
          {"first_instruction", timesJson(summary.firstInstruction)},
          {"last_instruction", timesJson(summary.lastInstruction)},
          {"first_fill", timesJson(summary.firstFill)},
          {"last_fill", timesJson(summary.lastFill)},
          {"stages", stages},
          {"shares",
           {{"handlers", summary.handlers},
            {"tiles", summary.tiles},
            {"operands", summary.operands},
            {"finish", summary.finishing},
            {"between", summary.between},
            {"before_first", summary.starting},
            {"behind_last", summary.ending}}},
          {"critical_path", critical}};
}
