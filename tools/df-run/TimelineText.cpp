//===- TimelineText.cpp - The timeline in a terminal ----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements `drawText` of Timeline.h: each character is what most of the time
// of its row and column was spent on.
//
//===----------------------------------------------------------------------===//

#include "Timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

using namespace dfrt;

// A letter for each stage: one of its own name where that is still free.
static std::vector<char> stageLetters(const Program &program) {
  std::vector<char> letters(program.stages.size(), ' ');
  std::string taken = " .";
  for (size_t s = 0; s < program.stages.size(); ++s) {
    if (program.stages[s].kind == StageKind::reshard)
      continue;
    std::string wishes = program.stages[s].name +
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    letters[s] = '#';
    for (char wish : wishes)
      if (std::isalpha(static_cast<unsigned char>(wish)) &&
          taken.find(wish) == std::string::npos) {
        letters[s] = wish;
        break;
      }
    taken += letters[s];
  }
  return letters;
}

std::string dfrt::drawText(const Timeline &timeline, unsigned columns,
                           unsigned lanes) {
  const Program &program = timeline.problem.program;
  const Topology &topology = timeline.problem.topology;
  std::vector<char> letters = stageLetters(program);

  // Rows of equally many CTAs; whole clusters where clusters are there.
  uint32_t perRow = (topology.ctas + lanes - 1) / std::max(lanes, 1u);
  if (perRow > 1 && topology.clusterSize > 1)
    perRow = (perRow + topology.clusterSize - 1) / topology.clusterSize *
             topology.clusterSize;
  uint32_t rows = (topology.ctas + perRow - 1) / perRow;
  const unsigned gutter = 13;
  unsigned width = columns > gutter + 20 ? columns - gutter : 20;
  double total = std::max(timeline.simulation.totalNs, 1.0);
  double perColumn = total / width;

  // Time of each row and column by stage; the last entry is waiting.
  size_t kinds = program.stages.size() + 1;
  std::vector<double> spent(size_t(rows) * width * kinds, 0);
  auto add = [&](uint32_t row, double begin, double end, size_t kind) {
    unsigned first = std::min(width - 1, unsigned(begin / perColumn));
    unsigned last = std::min(width - 1, unsigned(end / perColumn));
    for (unsigned column = first; column <= last; ++column) {
      double from = std::max(begin, column * perColumn);
      double to = std::min(end, (column + 1) * perColumn);
      if (to > from)
        spent[(size_t(row) * width + column) * kinds + kind] += to - from;
    }
  };
  for (const InstructionSpan &span : timeline.simulation.spans) {
    uint32_t row = span.cta / perRow;
    add(row, span.wait, span.begin, kinds - 1);
    add(row, span.begin, span.end,
        timeline.schedule.instructions[span.instruction].stage);
  }

  std::string out = timeline.title + "\n";
  for (uint32_t row = 0; row < rows; ++row) {
    uint32_t first = row * perRow;
    uint32_t last = std::min(first + perRow, topology.ctas) - 1;
    out += fmt::format("{:>{}} ",
                       first == last ? fmt::format("CTA {}", first)
                                     : fmt::format("CTA {}-{}", first, last),
                       gutter - 2);
    std::string line(width, ' ');
    for (unsigned column = 0; column < width; ++column) {
      const double *cell = &spent[(size_t(row) * width + column) * kinds];
      size_t most = std::max_element(cell, cell + kinds) - cell;
      // Less than a tenth of the cell's time counts as idle.
      if (cell[most] * 10 >= perColumn * (last - first + 1))
        line[column] = most == kinds - 1 ? '.' : letters[most];
    }
    while (!line.empty() && line.back() == ' ')
      line.pop_back();
    out += "|" + line + "\n";
  }
  std::string right = fmt::format("{:.1f} us", total / 1e3);
  out += fmt::format("{:>{}}|{:<{}}{}\n", "", gutter - 1, "0",
                     width - right.size(), right);
  out += fmt::format("{:>{}}", "", gutter);
  for (size_t s = 0; s < program.stages.size(); ++s)
    if (program.stages[s].kind != StageKind::reshard)
      out += fmt::format("{} {}   ", letters[s], program.stages[s].name);
  out += ". waiting\n";
  return out;
}
