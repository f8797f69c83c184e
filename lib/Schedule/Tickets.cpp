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
#include <cmath>

using namespace dfrt;
using namespace dfrt::detail;

/// A draw takes at most this part of a CTA's even share of what is left: large
/// draws first, and small ones to even out CTAs of unequal speed at the end.
/// (Guided self-scheduling: C. Polychronopoulos and D. Kuck, IEEE Transactions
/// on Computers, 1987.)
static constexpr double kShareOfRest = 0.5;

/// A piece costs at least this many times what starting it costs, and lasts
/// until the next draw is there, unless CTAs would have nothing to do.
static constexpr double kStartShare = 4;

/// Draws of one item. `left`: cost of it and all items behind it; `drawCost`:
/// what a CTA reads until its next draw is there.
static void addDraws(const WorkItem &item, double costPerCta, double drawCost,
                     double left, uint32_t ctas, Placement &placement) {
  if (item.tiles == 0) {
    assign(item, 0, item.tile ? 0 : 1, placement.lanes++, placement);
    return;
  }
  double tile = static_cast<double>(item.tile);
  double start = static_cast<double>(item.fixed) + item.further;
  double whole = std::ceil(std::max(kStartShare * start, drawCost) / tile);
  double least = std::min(costPerCta, whole * tile);
  for (int64_t begin = 0; begin < item.tiles;) {
    double wish = std::max(kShareOfRest * left / ctas, least) / tile;
    int64_t open = item.tiles - begin,
            take = std::max<int64_t>(item.minTiles, 1);
    if (wish > static_cast<double>(take))
      take =
          wish < static_cast<double>(open) ? static_cast<int64_t>(wish) : open;
    if (item.whole)
      take = open;
    // One piece a draw: the handler's piece size is the finer limit.
    if (item.maxTiles)
      take = std::min(take, item.maxTiles);
    take = std::min(take, open);
    assign(item, begin, begin + take, placement.lanes++, placement);
    begin += take;
    left -= tile * static_cast<double>(take);
  }
}

namespace {
class TicketStrategy : public Strategy {
public:
  TicketStrategy() : Strategy("tickets", Discipline::ticket) {}

  void begin(const Problem &problem) override {
    ctas = problem.topology.ctas;
    drawCost = problem.costs.drawNs * problem.costs.readRate(ctas);
  }

  void place(const std::vector<WorkItem> &items,
             Placement &placement) override {
    double total = 0;
    for (const WorkItem &item : items)
      total += static_cast<double>(item.cost());
    double left = total;
    for (const WorkItem &item : items) {
      addDraws(item, total / ctas, drawCost, left, ctas, placement);
      left -= static_cast<double>(item.cost());
    }
  }

private:
  uint32_t ctas = 0;
  double drawCost = 0; ///< bytes that a CTA reads until its next draw is there
};
} // namespace

std::unique_ptr<Strategy> detail::ticketStrategy() {
  return std::make_unique<TicketStrategy>();
}

Expected<Schedule> dfrt::scheduleTickets(const Problem &problem,
                                         const ScheduleOptions &options,
                                         Decisions *decisions) {
  return solve(problem, options, decisions, ticketStrategy());
}
