//===- ScheduleDot.cpp - A schedule as a graph ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements `toDot` of ScheduleView.h.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/Schedulers.h"
#include "dataflow/View/ScheduleView.h"

#include <algorithm>

using namespace dfrt;

/// In quotes, as Graphviz reads them.
static std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text)
    out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + '"';
}

static std::string node(uint32_t instruction) {
  return "i" + std::to_string(instruction);
}

static std::string sizeOf(const ScheduleView &view, uint32_t slot) {
  return std::to_string(view.slots[slot].bytes) + " B";
}

/// From a writer to the readers of a slot, but for itself.
static void edges(const ScheduleView &view, uint32_t slot, const char *label,
                  const char *style, std::string &out) {
  const ScheduleView::Slot &entry = view.slots[slot];
  for (uint32_t reader : entry.readers)
    if (entry.writer != kNone && reader != entry.writer)
      out += "  " + node(entry.writer) + " -> " + node(reader) + " [label=" +
             quoted(std::string(label) + " s" + std::to_string(slot) + ", " +
                    sizeOf(view, slot)) +
             ", style=" + style + "];\n";
}

std::string dfrt::toDot(const ScheduleView &view) {
  const PlanImage &image = *view.image;
  const Schedule &schedule = image.schedule;
  std::string out =
      "digraph schedule {\n  label=" + quoted(view.title) +
      ";\n  rankdir=LR;\n"
      "  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n"
      "  edge [fontname=\"sans-serif\", fontsize=8];\n";
  uint32_t size = std::max(image.topology.clusterSize, 1u);
  for (uint32_t cta = 0; cta < view.rows.size(); ++cta) {
    if (view.rows[cta].empty())
      continue;
    std::string label = "CTA " + std::to_string(cta);
    if (size > 1)
      label += ", cluster " + std::to_string(cta / size);
    out += "  subgraph cluster_" + std::to_string(cta) +
           " {\n    label=" + quoted(label) + ";\n";
    for (uint32_t i : view.rows[cta])
      out += "    " + node(i) + " [label=" +
             quoted("#" + std::to_string(i) + " " + view.instructions[i].name) +
             "];\n";
    for (size_t at = 1; at < view.rows[cta].size(); ++at)
      out += "    " + node(view.rows[cta][at - 1]) + " -> " +
             node(view.rows[cta][at]) + " [style=dashed, color=gray];\n";
    out += "  }\n";
  }
  std::vector<bool> sent(schedule.slots.size());
  for (const Transfer &transfer : schedule.transfers)
    for (uint32_t slot : schedule.destinationsOf(transfer)) {
      sent[slot] = true;
      edges(view, slot, transportName(transfer.transport), "bold", out);
    }
  for (uint32_t slot = 0; slot < schedule.slots.size(); ++slot)
    if (!sent[slot])
      edges(view, slot, "reads", "solid", out);
  return out + "}\n";
}
