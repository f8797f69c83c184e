//===- ExplainText.cpp - Where the time of a launch goes, for people ------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints what Explain.h holds, as text and as JSON.
//
//===----------------------------------------------------------------------===//

#include "Explain.h"

#include <fmt/format.h>

using namespace dfrt;

/// Savings below this share of the time are not worth a line.
static constexpr double kNegligible = 0.005;

/// The time of a critical path by what it was spent on.
static std::string pathText(const std::vector<TraceSummary::Step> &steps) {
  double operands = 0, tiles = 0, handlers = 0, finishing = 0;
  unsigned waits = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const TraceSpan &span = steps[i].span;
    // Of a wait for the step before only the part behind its end is exposed.
    double from =
        i ? std::max(span.begin, steps[i - 1].span.finished) : span.begin;
    operands += std::max(0.0, span.ready - from);
    waits += span.ready > from;
    tiles += span.waited;
    handlers += span.handled - span.ready - span.waited;
    finishing += span.finished - span.handled;
  }
  return fmt::format("{} instructions, {} of which wait for records: handlers "
                     "{:.1f} us, tiles {:.1f}, transfers {:.1f}, finishing "
                     "{:.1f}",
                     steps.size(), waits, handlers / 1e3, tiles / 1e3,
                     operands / 1e3, finishing / 1e3);
}

std::string dfrt::toText(const Explanation &explanation) {
  const TraceSummary &summary = explanation.summary;
  std::string out;
  const char *heading = explanation.measured ? "measured" : "predicted";
  auto line = [&](const std::string &text) {
    out += fmt::format("{:<12} {}\n", heading, text);
    heading = "";
  };
  double total = explanation.totalNs, floor = explanation.floorNs;
  line(fmt::format("{:.1f} us; read floor {:.1f} us, {:.1f} % of it reached",
                   total / 1e3, floor / 1e3,
                   total > 0 ? 100 * floor / total : 0.0));
  line(fmt::format(
      "handlers {:.1f} % of all CTAs' time; idle {:.1f} %: for tiles {:.1f}, "
      "for operands {:.1f}, finishing {:.1f}, between instructions {:.1f}, "
      "before the first {:.1f}, behind the last {:.1f}",
      100 * summary.handlers, 100 * (1 - summary.handlers), 100 * summary.tiles,
      100 * summary.operands, 100 * summary.finishing, 100 * summary.between,
      100 * summary.starting, 100 * summary.ending));
  std::string stages;
  for (const auto &[name, share] : explanation.stages)
    stages += fmt::format("{}{} {:.1f} %", stages.empty() ? "" : ", ", name,
                          100 * share);
  if (!stages.empty())
    line("stages: " + stages);
  if (!summary.critical.empty())
    line("critical path: " + pathText(summary.critical));
  for (const ExposedWait &wait : explanation.waits)
    line(fmt::format(
        "waits: {} {}{}: {} of them, {:.2f} us each, at most {:.2f} us",
        wait.transport, wait.from.empty() ? "before " : wait.from + " to ",
        wait.to, wait.times.count, wait.times.mean() / 1e3,
        wait.times.most / 1e3));
  for (const Saving &saving : explanation.savings)
    if (saving.ns > kNegligible * total)
      line(fmt::format("would help: {}: {:.1f} us ({:.1f} %); {}", saving.what,
                       saving.ns / 1e3, 100 * saving.ns / total, saving.hint));
  return out;
}

Json dfrt::toJson(const Explanation &explanation) {
  Json stages = Json::array(), waits = Json::array(), savings = Json::array();
  for (const auto &[name, share] : explanation.stages)
    stages.push_back({{"name", name}, {"share", share}});
  for (const ExposedWait &wait : explanation.waits)
    waits.push_back({{"transport", wait.transport},
                     {"from", wait.from},
                     {"to", wait.to},
                     {"count", wait.times.count},
                     {"sum_us", wait.times.sum / 1e3},
                     {"most_us", wait.times.most / 1e3}});
  for (const Saving &saving : explanation.savings)
    savings.push_back({{"what", saving.what},
                       {"saving_us", saving.ns / 1e3},
                       {"hint", saving.hint}});
  Json summary = toJson(explanation.summary);
  return {{"source", explanation.measured ? "measured" : "predicted"},
          {"total_us", explanation.totalNs / 1e3},
          {"read_floor_us", explanation.floorNs / 1e3},
          {"shares", summary["shares"]},
          {"stages", stages},
          {"waits", waits},
          {"critical_path", summary["critical_path"]},
          {"savings", savings}};
}
