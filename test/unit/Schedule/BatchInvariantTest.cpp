//===- BatchInvariantTest.cpp - Plans that do not look at batch-mates -----===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a task is cut and in which order its parts are combined, alone and in
// company; and what that costs.
//
//===----------------------------------------------------------------------===//

#include "RandomPrograms.h"
#include "Workloads.h"

#include "dataflow/Schedule/Simulator.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include <map>

using namespace dfrt;
using namespace dfrt::test;

namespace {

ScheduleOptions invariant(const char *solver = "") {
  ScheduleOptions options = solvedBy(solver);
  options.batchInvariant = true;
  return options;
}

using Piece = std::pair<int64_t, int64_t>;

/// How the results of each task come about: of every slice the pieces, in the
/// order in which they are combined.
std::map<uint64_t, std::vector<Piece>> recipes(const Problem &problem,
                                               const Schedule &schedule) {
  // Pieces of each slot, copies included.
  std::map<uint32_t, Piece> pieces;
  for (const Instruction &i : callsOf(schedule, 0))
    for (uint32_t slot : schedule.outputsOf(i))
      pieces[slot] = {i.tileBegin, i.tileEnd};
  for (const Transfer &t : schedule.transfers)
    for (uint32_t slot : schedule.destinationsOf(t))
      if (pieces.count(t.source))
        pieces[slot] = pieces[t.source];
  std::map<uint64_t, std::vector<Piece>> result;
  for (const Instruction &i : callsOf(schedule, 1)) {
    std::vector<Piece> read;
    for (const Operand &o : schedule.operandsOf(i)) {
      EXPECT_TRUE(pieces.count(o.slot)) << "a sum of sums";
      read.push_back(pieces[o.slot]);
    }
    auto [known, added] = result.try_emplace(i.task, read);
    EXPECT_TRUE(added || known->second == read) << "slices differ";
  }
  for (const Instruction &i : callsOf(schedule, 0))
    result.try_emplace(i.task, 1, Piece{i.tileBegin, i.tileEnd});
  return result;
}

} // namespace

/// 500 batches: each row has the recipe that it has on its own.
TEST(BatchInvariant, RecipesAreTheRows) {
  Random random(6);
  std::map<int64_t, std::vector<Piece>> alone; // by length, of each program
  for (bool separable : {true, false}) {
    Program program = splitReduce(separable);
    alone.clear();
    for (int batch = 0; batch < 250; ++batch) {
      std::vector<int64_t> lengths(size_t(random.in(1, 40)));
      for (int64_t &length : lengths)
        length = random.chance(10) ? 0 : random.in(1, 1 << random.in(1, 15));
      const Solver &solver = solvers()[size_t(random.in(0, 2))];
      Problem p = problemFor(program, lengths, topology(32, 4));
      auto found = recipes(p, planned(p, invariant(solver.name)));
      ASSERT_EQ(found.size(), lengths.size());
      for (size_t t = 0; t < lengths.size(); ++t) {
        auto [known, added] = alone.try_emplace(lengths[t]);
        if (added) {
          Problem single = problemFor(program, {lengths[t]}, topology(32, 4));
          known->second = recipes(single, planned(single, invariant()))[0];
        }
        ASSERT_EQ(known->second, found[t])
            << solver.name << ", length " << lengths[t];
      }
    }
  }
  // The fast mode cuts otherwise, or this test would say nothing.
  Problem p = problemFor(splitReduce(true), {64 * 100, 64 * 7}, topology(32));
  Problem single = problemFor(splitReduce(true), {64 * 100}, topology(32));
  EXPECT_NE(recipes(p, planned(p))[0], recipes(single, planned(single))[0]);
}

TEST(BatchInvariant, LimitsOfPiecesAreObeyed) {
  for (auto [least, most] :
       {std::pair<int64_t, int64_t>{1, 3}, {5, 6}, {9, 0}}) {
    Program program = splitReduce(true);
    program.stages[0].requests.minTiles = least;
    program.stages[0].requests.maxTiles = most;
    Problem p = problemFor(program, {64 * 100, 64 * 13, 64 * 2}, topology(16));
    for (const Solver &solver : solvers())
      for (const auto &[task, pieces] :
           recipes(p, planned(p, invariant(solver.name))))
        for (const Piece &piece : pieces) {
          int64_t tiles = piece.second - piece.first;
          EXPECT_LE(tiles, most ? most : 100);
          if (piece != pieces.back()) {
            EXPECT_GE(tiles, least);
          }
        }
  }
}

TEST(BatchInvariant, ATreeIsRefused) {
  Problem p = problemFor(splitReduce(false), {64 * 100}, topology(16));
  ScheduleOptions options = invariant();
  options.combine = ScheduleOptions::Combine::tree;
  EXPECT_THAT(makeSchedule(p, options).status().message(),
              testing::HasSubstr("batch-invariant"));
}

TEST(BatchInvariant, RandomProgramsPassTheVerifier) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    RandomLimits limits;
    limits.size = 1 + static_cast<int>(seed % 6);
    RandomCase c = randomCase(seed, limits);
    Expected<Problem> problem = instantiate(c.program, c.inputs, c.topology);
    RC_ASSERT(bool(problem));
    for (const Solver &solver : solvers()) {
      Expected<Schedule> schedule =
          makeSchedule(*problem, invariant(solver.name));
      RC_ASSERT(bool(schedule));
      Status verified = verify(*problem, *schedule);
      if (!verified)
        RC_FAIL(verified.message());
    }
  }));
}

/// At most 10 % more time where the fast mode takes 100 us, 30 % below.
TEST(BatchInvariant, PredictedCost) {
  for (auto [ctas, cluster] : {std::pair<uint32_t, uint32_t>{132, 1}, {120, 8}})
    for (const Trace &trace : traces()) {
      Problem p =
          problemFor(latentAttention(), trace.lengths, topology(ctas, cluster));
      double fast = simulate(p, planned(p))->totalNs;
      double slow = simulate(p, planned(p, invariant()))->totalNs;
      EXPECT_LT(slow, (fast >= 100e3 ? 1.1 : 1.3) * fast)
          << ctas << "x" << cluster << ", trace " << trace.id;
    }
}
