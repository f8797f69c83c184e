//===- Tickets.cpp - One ordered list of draws ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `scheduleTickets`: pieces of about equal cost, each a draw; what reads only
// results of one draw belongs to it. Tiles that are draws by themselves are
// listed in patches over neighbouring tasks.
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

/// Where a handler is called for each tile, a draw lasts at most so many times
/// as long as the next one takes to be there: longer ones would save nothing,
/// and what draws of the same time read would have less in common.
static constexpr double kLongestDraw = 16;

namespace {
class TicketStrategy : public Strategy {
public:
  TicketStrategy() : Strategy("tickets", Discipline::ticket) {}

  void begin(const Problem &batch) override {
    problem = &batch;
    ctas = batch.topology.ctas;
    drawCost = batch.costs.drawNs * batch.costs.readRate(ctas);
  }

  void place(const std::vector<WorkItem> &items, Placement &placement) override;

private:
  bool each(const WorkItem &item) const {
    return problem->program.stages[item.stage].each && item.tiles > 0;
  }
  double mostOf(const WorkItem &item) const;
  void addDraws(const WorkItem &item, int64_t begin, int64_t end,
                Placement &placement);
  size_t neighbours(const std::vector<WorkItem> &items, size_t first) const;
  void addPatches(const WorkItem *items, size_t count, Placement &placement);

  const Problem *problem = nullptr;
  uint32_t ctas = 0;
  double drawCost = 0; ///< bytes that a CTA reads until its next draw is there
  double costPerCta = 0; ///< even share of the depth
  double left = 0;       ///< cost of what has no draw yet
};
} // namespace

/// Cost of the longest draw of this item; 0: any.
double TicketStrategy::mostOf(const WorkItem &item) const {
  return each(item) ? kLongestDraw * std::max(item.further, drawCost) : 0;
}

/// Draws of tiles [begin, end) of an item, of all its tiles if it may not be
/// cut.
void TicketStrategy::addDraws(const WorkItem &item, int64_t begin, int64_t end,
                              Placement &placement) {
  if (item.tiles == 0) {
    assign(item, 0, item.tile ? 0 : 1, placement.lanes++, placement);
    left -= static_cast<double>(item.cost());
    return;
  }
  double tile = static_cast<double>(item.tile);
  double start = static_cast<double>(item.fixed) + item.further;
  double whole = std::ceil(std::max(kStartShare * start, drawCost) / tile);
  double least = std::min(costPerCta, whole * tile), most = mostOf(item);
  while (begin < end) {
    double wish = std::max(kShareOfRest * left / ctas, least) / tile;
    if (most > 0)
      wish = std::min(wish, most / tile);
    int64_t open = end - begin, take = std::max<int64_t>(item.minTiles, 1);
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
  left -= static_cast<double>(item.fixed);
}

/// How many items from `first` on are tasks with the same elements of a range,
/// each of whose tiles is a draw.
size_t TicketStrategy::neighbours(const std::vector<WorkItem> &items,
                                  size_t first) const {
  const WorkItem &item = items[first];
  if (!each(item) || item.whole || item.minTiles > 1 ||
      mostOf(item) >= 2 * static_cast<double>(item.tile))
    return 1;
  const RangeSet &range =
      problem->ranges[problem->program.stages[item.stage].range];
  size_t end = first + 1;
  while (end < items.size() && items[end].stage == item.stage &&
         items[end].first == item.first && items[end].tiles == item.tiles &&
         range.lengths[items[end].task] == range.lengths[item.task] &&
         range.offsets[items[end].task] == range.offsets[item.task] &&
         !items[end].whole)
    ++end;
  return end - first;
}

/// Puts tiles of neighbouring tasks into the list in patches of about as many
/// as there are CTAs, as high as wide where there are so many: whatever a tile
/// shares with others of its task, and with those of its neighbours, is read at
/// the same time by all.
void TicketStrategy::addPatches(const WorkItem *items, size_t count,
                                Placement &placement) {
  auto ceilDiv = [](size_t a, size_t b) { return (a + b - 1) / b; };
  size_t tiles = static_cast<size_t>(items->tiles);
  size_t side =
      static_cast<size_t>(std::sqrt(static_cast<double>(std::max(ctas, 1u))));
  size_t wish = tiles < side ? std::max<size_t>(ctas / tiles, 1) : side;
  // Patches of a task set are equally wide.
  size_t width = ceilDiv(count, ceilDiv(count, wish));
  size_t height = std::max<size_t>(ctas / width, 1);
  for (size_t first = 0; first < count; first += width)
    for (size_t begin = 0; begin < tiles; begin += height)
      for (size_t i = first; i < std::min(count, first + width); ++i)
        addDraws(items[i], static_cast<int64_t>(begin),
                 static_cast<int64_t>(std::min(tiles, begin + height)),
                 placement);
}

void TicketStrategy::place(const std::vector<WorkItem> &items,
                           Placement &placement) {
  left = 0;
  for (const WorkItem &item : items)
    left += static_cast<double>(item.cost());
  costPerCta = left / ctas;
  for (size_t i = 0; i < items.size();) {
    size_t count = neighbours(items, i);
    if (count > 1)
      addPatches(&items[i], count, placement);
    else
      addDraws(items[i], 0, items[i].tiles, placement);
    i += count;
  }
}

std::unique_ptr<Strategy> detail::ticketStrategy() {
  return std::make_unique<TicketStrategy>();
}

Expected<Schedule> dfrt::scheduleTickets(const Problem &problem,
                                         const ScheduleOptions &options,
                                         Decisions *decisions) {
  return solve(problem, options, decisions, ticketStrategy());
}
