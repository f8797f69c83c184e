//===- TimelineSvg.cpp - The timeline as an SVG ---------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements `drawSvg` of Timeline.h. No script and no external style sheet, so
// the file may be mailed, committed or embedded.
//
//===----------------------------------------------------------------------===//

#include "Timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

using namespace dfrt;

// Okabe and Ito's palette: distinguishable with any colour vision.
static const char *kColours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                 "#56b4e9", "#d55e00", "#b8a800", "#666666"};
static constexpr size_t kColourCount = sizeof(kColours) / sizeof(kColours[0]);

// More curves than this say nothing any more; then only a share is drawn.
static constexpr size_t kCurveLimit = 4000;

static std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

// 1, 2 or 5 times a power of ten, so that about ten ticks fit.
static double tickStep(double total) {
  double raw = std::max(total, 1e-3) / 12;
  double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (double factor : {1.0, 2.0, 5.0})
    if (power * factor >= raw)
      return power * factor;
  return power * 10;
}

namespace {
class Drawing {
public:
  explicit Drawing(const Timeline &timeline);
  std::string draw();

private:
  template <typename... T>
  void put(fmt::format_string<T...> format, T &&...values) {
    fmt::format_to(std::back_inserter(out), format, std::forward<T>(values)...);
  }
  double x(double ns) const { return kLeft + ns * perNs; }
  double y(uint32_t cta) const {
    return top + cta * laneHeight + problem.topology.cluster(cta) * clusterGap;
  }
  void head();
  void axis();
  void lanes();
  void spans();
  void transfers();
  std::string describe(const InstructionSpan &span) const;

  static constexpr double kWidth = 1480, kLeft = 76, kRight = 24;
  const Problem &problem;
  const Schedule &schedule;
  const SimulationResult &simulation;
  std::string title;
  double top = 0, bottom = 0, height = 0;
  double laneHeight = 0, clusterGap = 0, perNs = 0, totalNs = 0;
  uint32_t laneCount = 0;
  std::string out;
};
} // namespace

Drawing::Drawing(const Timeline &timeline)
    : problem(timeline.problem), schedule(timeline.schedule),
      simulation(timeline.simulation), title(timeline.title) {
  laneCount = problem.topology.ctas;
  laneHeight = laneCount <= 24 ? 22 : laneCount <= 64 ? 13 : 8;
  clusterGap = problem.topology.clusterSize > 1 ? laneHeight / 2 : 0;
  totalNs = std::max(simulation.totalNs, 1.0);
  perNs = (kWidth - kLeft - kRight) / (totalNs * 1.01);
  top = 112;
  bottom = y(laneCount - 1) + laneHeight + 4;
  height = bottom + 40;
}

void Drawing::head() {
  put("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n",
      kWidth, height);
  put("<title>{}</title>\n", escaped(title));
  put("<style>.i:hover{{stroke:#000;stroke-width:1.5}}"
      ".i{{stroke:#fff;stroke-width:{}}}"
      ".g{{stroke:#e2e2e2;stroke-width:1}}.t{{fill:none;stroke:#d00;"
      "stroke-width:.6;stroke-opacity:.16}}.w{{fill:#bbb;fill-opacity:.45}}"
      ".s{{fill:#555}}</style>\n",
      laneHeight > 10 ? 0.8 : 0.4);
  put("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
  put("<text x=\"{}\" y=\"26\" font-size=\"17\" font-weight=\"bold\">{}</text>"
      "\n",
      kLeft, escaped(title));
  double floorUs = simulation.floorNs / 1e3, totalUs = simulation.totalNs / 1e3;
  std::string clusters =
      problem.topology.clusterSize > 1
          ? fmt::format(" in clusters of {}", problem.topology.clusterSize)
          : "";
  put("<text class=\"s\" x=\"{}\" y=\"47\">predicted {:.1f} µs, read floor "
      "{:.1f} µs ({:.1f} %), CTAs busy {:.0f} % of the time; {} "
      "CTAs{}; {} instructions, {} transfers; solver {}</text>\n",
      kLeft, totalUs, floorUs, totalUs > 0 ? 100 * floorUs / totalUs : 0.0,
      100 * simulation.busyShare, laneCount, clusters,
      schedule.instructions.size(), schedule.transfers.size(),
      escaped(schedule.solver));

  double at = kLeft;
  auto entry = [&](const std::string &swatch, const std::string &label) {
    put("<g transform=\"translate({:.0f} 62)\">{}<text x=\"19\" y=\"11\">{}"
        "</text></g>\n",
        at, swatch, escaped(label));
    at += 40 + 6.6 * static_cast<double>(label.size());
  };
  for (size_t s = 0; s < problem.program.stages.size(); ++s) {
    if (problem.program.stages[s].kind == StageKind::reshard)
      continue;
    entry(fmt::format("<rect width=\"14\" height=\"14\" fill=\"{}\"/>",
                      kColours[s % kColourCount]),
          problem.program.stages[s].name);
  }
  entry("<rect class=\"w\" y=\"4\" width=\"14\" height=\"6\"/>", "waiting");
  if (!schedule.transfers.empty())
    entry("<path class=\"t\" d=\"M0 12 14 2\" style=\"stroke-opacity:.8\"/>",
          "transfer to another CTA");
}

void Drawing::axis() {
  double step = tickStep(totalNs / 1e3);
  int digits = step < 1 ? static_cast<int>(std::ceil(-std::log10(step))) : 0;
  for (int tick = 0; tick * step * 1e3 <= totalNs * 1.01; ++tick) {
    double position = x(tick * step * 1e3);
    std::string label =
        fmt::format("{:.{}f}{}", tick * step, digits, tick == 0 ? " µs" : "");
    put("<path class=\"g\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/>"
        "<text class=\"s\" x=\"{0:.1f}\" y=\"{3:.1f}\" font-size=\"11\" "
        "text-anchor=\"middle\">{5}</text>"
        "<text class=\"s\" x=\"{0:.1f}\" y=\"{4:.1f}\" font-size=\"11\" "
        "text-anchor=\"middle\">{5}</text>\n",
        position, top - 4, bottom, top - 8, bottom + 14, label);
  }
  auto marker = [&](double ns, const char *colour, const std::string &label) {
    bool left = x(ns) > kWidth - 260;
    put("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}\" stroke=\"{3}\" "
        "stroke-dasharray=\"5 3\"/><text x=\"{4:.1f}\" y=\"{5:.1f}\" "
        "font-size=\"11\" fill=\"{3}\" text-anchor=\"{6}\">{7}</text>\n",
        x(ns), top - 4, bottom + 18, colour, x(ns) + (left ? -4 : 4),
        bottom + 29, left ? "end" : "start", label);
  };
  marker(simulation.totalNs, "#000",
         fmt::format("done {:.1f} µs", simulation.totalNs / 1e3));
  // Beside each other the two labels would overlap.
  if (x(simulation.totalNs) - x(simulation.floorNs) > 220)
    marker(simulation.floorNs, "#a00",
           fmt::format("read floor {:.1f} µs", simulation.floorNs / 1e3));
}

void Drawing::lanes() {
  uint32_t every = laneHeight >= 11 ? 1
                   : problem.topology.clusterSize > 1
                       ? std::max(problem.topology.clusterSize, 2u)
                       : 4;
  for (uint32_t cta = 0; cta < laneCount; cta += every)
    put("<text class=\"s\" x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.0f}\" "
        "text-anchor=\"end\">{}</text>\n",
        kLeft - 8, y(cta) + std::min(laneHeight - 1, 12.0),
        std::min(laneHeight + 2, 11.0),
        cta == 0 ? std::string("CTA 0") : std::to_string(cta));
  if (clusterGap > 0)
    for (uint32_t cta = 0; cta < laneCount; cta += problem.topology.clusterSize)
      put("<path d=\"M{:.1f} {:.1f}V{:.1f}\" stroke=\"#888\" "
          "stroke-width=\"2\"/>\n",
          kLeft - 4, y(cta),
          y(cta + problem.topology.clusterSize - 1) + laneHeight - 1);
}

std::string Drawing::describe(const InstructionSpan &span) const {
  const Instruction &instruction = schedule.instructions[span.instruction];
  const Stage &stage = problem.program.stages[instruction.stage];
  std::string text = stage.name + ", task " + std::to_string(instruction.task);
  const TaskSet &tasks = problem.tasks[stage.domain];
  if (instruction.task < tasks.tasks && !tasks.extents.empty()) {
    text += " (";
    ArrayView<int64_t> at = tasks.at(instruction.task);
    const Domain &domain = problem.program.domains[stage.domain];
    for (size_t a = 0; a < at.size(); ++a)
      text += fmt::format("{}{} {}", a ? ", " : "", domain.axes[a].name, at[a]);
    text += ")";
  }
  if (stage.range != kNone)
    text += fmt::format("\ntiles {} to {}", instruction.tileBegin,
                        instruction.tileEnd);
  if (stage.record.slices > 1)
    text += fmt::format("\nslices {} to {} of {}", instruction.sliceBegin,
                        instruction.sliceEnd, stage.record.slices);
  if (instruction.operandCount)
    text += fmt::format("\n{} operands", instruction.operandCount);
  text += fmt::format("\nCTA {}, {:.2f} to {:.2f} µs ({:.2f} µs), waited "
                      "{:.2f} µs\ninstruction {}",
                      span.cta, span.begin / 1e3, span.end / 1e3,
                      (span.end - span.begin) / 1e3,
                      (span.begin - span.wait) / 1e3, span.instruction);
  return text;
}

void Drawing::spans() {
  for (const InstructionSpan &span : simulation.spans) {
    double laneTop = y(span.cta), body = laneHeight - (laneHeight > 10 ? 3 : 1);
    if (span.begin - span.wait > 0)
      put("<rect class=\"w\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" "
          "height=\"{:.1f}\"/>\n",
          x(span.wait), laneTop + body * 0.3, (span.begin - span.wait) * perNs,
          body * 0.4);
    uint32_t stage = schedule.instructions[span.instruction].stage;
    put("<rect class=\"i\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" "
        "height=\"{:.1f}\" fill=\"{}\"><title>{}</title></rect>\n",
        x(span.begin), laneTop, std::max((span.end - span.begin) * perNs, 0.8),
        body, kColours[stage % kColourCount], escaped(describe(span)));
  }
}

void Drawing::transfers() {
  std::vector<const InstructionSpan *> spanOf(schedule.instructions.size());
  for (const InstructionSpan &span : simulation.spans)
    spanOf[span.instruction] = &span;
  std::vector<std::vector<uint32_t>> readers(schedule.slots.size());
  for (uint32_t i = 0; i < schedule.instructions.size(); ++i)
    for (const Operand &operand : schedule.operandsOf(schedule.instructions[i]))
      readers[operand.slot].push_back(i);
  struct Curve {
    const InstructionSpan *from, *to;
  };
  std::vector<Curve> curves;
  for (const Transfer &transfer : schedule.transfers)
    for (uint32_t slot : schedule.destinationsOf(transfer))
      for (uint32_t reader : readers[slot]) {
        const InstructionSpan *from = spanOf[transfer.instruction];
        const InstructionSpan *to = spanOf[reader];
        if (from && to && from->cta != to->cta)
          curves.push_back({from, to});
      }
  size_t stride = curves.size() / kCurveLimit + 1;
  for (size_t i = 0; i < curves.size(); i += stride) {
    const Curve &c = curves[i];
    double x0 = x(c.from->end), y0 = y(c.from->cta) + laneHeight / 2;
    double x1 = x(c.to->begin), y1 = y(c.to->cta) + laneHeight / 2;
    double bend = std::max(6.0, (x1 - x0) / 2);
    put("<path class=\"t\" d=\"M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} "
        "{:.1f} {:.1f}\"/>\n",
        x0, y0, x0 + bend, y0, x1 - bend, y1, x1, y1);
  }
}

std::string Drawing::draw() {
  head();
  axis();
  lanes();
  transfers(); // below the boxes, which matter more
  spans();
  put("</svg>\n");
  return std::move(out);
}

std::string dfrt::drawSvg(const Timeline &timeline) {
  return Drawing(timeline).draw();
}
