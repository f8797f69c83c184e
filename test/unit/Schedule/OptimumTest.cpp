//===- OptimumTest.cpp - Plans against the best placement -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small batches, for which every placement of tiles on CTAs can be tried: the
// least simulated time is the optimum that plans are held against. A placement
// whose bytes alone take longer than the best so far is not simulated.
//
//===----------------------------------------------------------------------===//

#include "Examples.h"
#include "RandomPrograms.h"

#include "WorkItems.h"

#include "dataflow/Schedule/Simulator.h"

#include <algorithm>
#include <limits>

using namespace dfrt;
using namespace dfrt::test;

namespace {

/// Assigns what it is told.
class GivenStrategy : public detail::Strategy {
public:
  explicit GivenStrategy(const std::vector<detail::Assignment> &pieces)
      : Strategy("given", Discipline::fixed), pieces(pieces) {}
  void begin(const Problem &) override {}
  void place(const std::vector<detail::WorkItem> &,
             detail::Placement &placement) override {
    placement.pieces[0] = pieces;
  }

private:
  const std::vector<detail::Assignment> &pieces;
};

double timeOf(const Problem &problem, const Schedule &schedule) {
  Expected<SimulationResult> result = simulate(problem, schedule);
  EXPECT_TRUE(result) << result.status().message();
  return result ? result->totalNs : 0;
}

/// The search over all placements of the range tiles of `splitReduce`.
class Search {
public:
  explicit Search(const Problem &problem) : problem(problem) {
    loads.assign(problem.topology.ctas, 0);
    for (uint64_t t = 0; t < problem.ranges[0].lengths.size(); ++t)
      rest += tileNs() * double(problem.ranges[0].tiles(t));
  }

  double best = std::numeric_limits<double>::infinity();
  int simulated = 0;

  void run() { place(0); }

private:
  double fixedNs() const {
    return double(problem.program.stages[0].cost.fixedBytes) /
           problem.costs.ctaBandwidth;
  }
  double tileNs() const {
    return double(problem.program.stages[0].cost.tileBytes) /
           problem.costs.ctaBandwidth;
  }

  /// Tasks from `task` on are still to be placed.
  void place(uint64_t task) {
    const CostModel &c = problem.costs;
    double sum = rest, most = 0;
    for (double load : loads) {
      sum += load;
      most = std::max(most, load);
    }
    double least = std::max(most, sum / double(loads.size()));
    if (c.launchNs + c.startNs + c.exitNs + 2 * c.instructionNs + least >= best)
      return;
    if (task == problem.ranges[0].lengths.size())
      return evaluate();
    int64_t tiles = problem.ranges[0].tiles(task);
    rest -= tileNs() * double(tiles);
    split(task, 0, tiles, 0);
    rest += tileNs() * double(tiles);
  }

  /// Tiles from `begin` on go to CTAs from `cta` on, in order.
  void split(uint64_t task, int64_t begin, int64_t tiles, uint32_t cta) {
    for (uint32_t to = cta; to < loads.size(); ++to)
      for (int64_t end = tiles; end > begin || end == tiles; --end) {
        if (end < tiles && to + 1 == loads.size())
          break;
        double cost = fixedNs() + tileNs() * double(end - begin);
        loads[to] += cost;
        pieces.push_back({task, begin, end, to});
        if (end == tiles)
          place(task + 1);
        else
          split(task, end, tiles, to + 1);
        pieces.pop_back();
        loads[to] -= cost;
        if (end == begin)
          break;
      }
  }

  void evaluate() {
    ++simulated;
    Expected<Schedule> schedule =
        detail::solve(problem, ScheduleOptions(), nullptr,
                      std::make_unique<GivenStrategy>(pieces));
    ASSERT_TRUE(schedule) << schedule.status().message();
    ASSERT_TRUE(selectTransports(problem, ScheduleOptions(), *schedule));
    ASSERT_TRUE(planSlots(problem, *schedule));
    best = std::min(best, timeOf(problem, *schedule));
  }

  const Problem &problem;
  std::vector<double> loads; ///< ns of each CTA
  double rest = 0;           ///< ns of the tiles not yet placed
  std::vector<detail::Assignment> pieces;
};

struct Distance {
  double sum = 0, worst = 0;
  int count = 0;

  void add(double time, double optimum) {
    double share = time / optimum - 1;
    sum += share;
    worst = std::max(worst, share);
    ++count;
  }
  double mean() const { return sum / count; }
};

} // namespace

TEST(Optimum, FiveHundredSmallBatches) {
  Random random(11);
  Distance best, stream;
  for (int instance = 0; instance < 500; ++instance) {
    Program program = splitReduce(random.chance(50));
    program.stages[0].cost.fixedBytes = uint64_t(random.in(0, 4)) << 13;
    program.stages[0].cost.tileBytes = uint64_t(1) << random.in(12, 18);
    std::vector<int64_t> lengths(size_t(random.in(1, 4)));
    for (int64_t &length : lengths)
      length = 64 * random.in(0, 6);
    Problem p =
        problemFor(program, lengths, topology(uint32_t(random.in(1, 3))));
    Search search(p);
    // An incumbent saves most of the search.
    double made = timeOf(p, planned(p, solvedBy("best")));
    search.best = made;
    search.run();
    best.add(made, search.best);
    stream.add(timeOf(p, planned(p)), search.best);
  }
  RecordProperty("best_mean_percent", std::to_string(100 * best.mean()));
  RecordProperty("best_worst_percent", std::to_string(100 * best.worst));
  RecordProperty("stream_mean_percent", std::to_string(100 * stream.mean()));
  RecordProperty("stream_worst_percent", std::to_string(100 * stream.worst));
  EXPECT_LE(best.mean(), 0.03);
  EXPECT_LE(best.worst, 0.15);
  EXPECT_LE(stream.mean(), 0.03) << stream.worst;
  // Alone it also cuts where a hop takes longer than what the cut saves.
  EXPECT_LE(stream.worst, 0.2);
}
