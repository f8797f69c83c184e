//===- Tickets.cpp - One ordered list of draws ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `scheduleTickets`: pieces of about equal cost, each a draw; what reads only
// results of one draw belongs to it.
//
//===----------------------------------------------------------------------===//

#include "WorkItems.h"

#include <algorithm>

using namespace dfrt;
using namespace dfrt::detail;

/// Draws for each CTA and depth, where pieces stay large enough: enough to even
/// out CTAs of unequal speed.
static constexpr double kDrawsPerCta = 4;

/// A piece costs at least this many times what starting it costs, unless CTAs
/// would have nothing to do.
static constexpr double kStartShare = 4;

static void addDraws(const WorkItem &item, double costPerCta,
                     double segmentTiles, Placement &placement) {
  if (item.tiles == 0) {
    assign(item, 0, item.tile ? 0 : 1, placement.lanes++, placement);
    return;
  }
  double tile = static_cast<double>(item.tile);
  double start = static_cast<double>(item.fixed) + segmentTiles * tile;
  double target = std::max(costPerCta / kDrawsPerCta,
                           std::min(costPerCta, kStartShare * start));
  // One piece a draw: the handler's piece size is the finer limit.
  double wish = target / tile;
  int64_t most = std::max<int64_t>(item.minTiles, 1);
  if (wish > static_cast<double>(most))
    most = wish < static_cast<double>(item.tiles) ? static_cast<int64_t>(wish)
                                                  : item.tiles;
  if (item.maxTiles)
    most = std::min(most, item.maxTiles);
  int64_t count = (item.tiles + most - 1) / most;
  bool equal = item.tiles / count >= item.minTiles;
  for (int64_t k = 0; k < count; ++k) {
    int64_t from = equal ? item.tiles * k / count : k * most;
    int64_t to = equal ? item.tiles * (k + 1) / count
                       : std::min(item.tiles, (k + 1) * most);
    assign(item, from, to, placement.lanes++, placement);
  }
}

Expected<Schedule> dfrt::scheduleTickets(const Problem &problem,
                                         const ScheduleOptions &options,
                                         Decisions *decisions) {
  auto place = [&](const std::vector<WorkItem> &items, Placement &placement) {
    double total = 0;
    for (const WorkItem &item : items)
      total += static_cast<double>(item.cost());
    double costPerCta = total / problem.topology.ctas;
    for (const WorkItem &item : items)
      addDraws(item, costPerCta, problem.costs.segmentTiles, placement);
  };
  return solve(problem, options, decisions, "tickets", Discipline::ticket,
               place);
}
