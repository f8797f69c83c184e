//===- SolverTest.cpp - What each solver promises -------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stream, longest-first, tickets, and how split tasks are combined.
//
//===----------------------------------------------------------------------===//

#include "Examples.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

using namespace dfrt;
using namespace dfrt::test;
using testing::HasSubstr;

namespace {

std::vector<int64_t> raggedLengths(int64_t count) {
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < count; ++i)
    lengths.push_back((i * 7919 + 13) % 9000);
  return lengths;
}

/// Cost in bytes of what a CTA maps, as the stream solver counts it.
double loadOf(const Problem &problem, const Schedule &schedule,
              const Queue &queue) {
  double load = 0;
  int segments = 0;
  for (uint32_t i : queue.instructions) {
    const Instruction &call = schedule.instructions[i];
    if (call.stage != 0)
      continue;
    load +=
        double(problem.callBytes(0, call.task, call.tileEnd - call.tileBegin));
    ++segments;
  }
  const CostModel &costs = problem.costs;
  double further =
      costs.recordWeight * double(problem.program.stages[0].record.bytes()) +
      costs.instructionNs * costs.readRate(problem.topology.ctas);
  return load + std::max(0, segments - 1) * further;
}

} // namespace

TEST(Solvers, Registry) {
  ASSERT_EQ(solvers().size(), 3u);
  EXPECT_STREQ(solvers()[0].name, "stream");
  Problem p = problemFor(splitReduce(true), {100}, topology(4));
  EXPECT_EQ(planned(p).solver, "stream");
  for (const Solver &solver : solvers())
    EXPECT_EQ(planned(p, solvedBy(solver.name)).solver, solver.name);
  Expected<Schedule> schedule = makeSchedule(p, solvedBy("fastest"));
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.status().message(),
            "solver 'fastest' is not registered, expected stream, "
            "longest-first, tickets, best");
}

TEST(Solvers, RefuseBadProblems) {
  Problem p = problemFor(splitReduce(true), {100}, topology(4));
  p.topology.clusterSize = 3;
  for (const Solver &solver : solvers())
    EXPECT_EQ(makeSchedule(p, solvedBy(solver.name)).status().code(),
              StatusCode::invalidArgument);
}

TEST(Stream, BalancesWithinOneTile) {
  for (uint32_t ctas : {4u, 78u, 120u, 132u})
    for (int64_t batch : {1, 16, 64, 128}) {
      std::vector<int64_t> lengths = raggedLengths(batch);
      lengths.push_back(131072);
      Problem p = problemFor(splitReduce(true), lengths, topology(ctas));
      Schedule s = planned(p);
      ASSERT_EQ(s.queues.size(), ctas);
      double most = 0, sum = 0;
      for (const Queue &queue : s.queues) {
        double load = loadOf(p, s, queue);
        EXPECT_GT(load, 0) << "CTA " << queue.cta << " of " << ctas;
        most = std::max(most, load);
        sum += load;
      }
      double tile = double(p.program.stages[0].cost.tileBytes);
      // A tile, and a quarter for the cuts that are not made.
      EXPECT_LE(most, sum / ctas + 1.25 * tile)
          << ctas << " CTAs, batch " << batch;
    }
}

TEST(Stream, MakesNoNeedlessCuts) {
  // Four tasks of one CTA's share each: nothing is split.
  Problem p = problemFor(splitReduce(true), {640, 640, 640, 640}, topology(4));
  Schedule s = planned(p);
  EXPECT_EQ(callsOf(s, 0).size(), 4u);
  EXPECT_EQ(callsOf(s, 1).size(), 0u); // each result is its only part
  EXPECT_TRUE(s.transfers.empty());
  // A cut needs at least one CTA boundary: at most tasks + CTAs - 1 pieces.
  p = problemFor(splitReduce(true), raggedLengths(50), topology(132));
  EXPECT_LE(callsOf(planned(p), 0).size(), 50u + 131u);
}

TEST(Stream, FillsLanesWithWholeTasks) {
  // In pairs these fill a CTA; as they are, most CTAs would end within one.
  Problem p = problemFor(splitReduce(true),
                         {6400, 1280, 3200, 4480, 2560, 3840, 3200, 1920, 5120},
                         topology(5));
  Schedule s = planned(p);
  EXPECT_EQ(callsOf(s, 0).size(), 9u);
  EXPECT_TRUE(s.transfers.empty());
  // What is longer than a share is cut, and shorter ones fill what is left.
  p = problemFor(splitReduce(true), {9600, 3200, 9600, 3200, 6400},
                 topology(5));
  s = planned(p);
  EXPECT_EQ(callsOf(s, 0).size(), 7u);
  for (const Instruction &call : callsOf(s, 0))
    if (call.task % 2 == 1 || call.task == 4)
      EXPECT_EQ(call.tileBegin, 0) << "task " << call.task << " was cut";
}

TEST(Stream, UsesEveryCtaForOneTask) {
  Problem p = problemFor(splitReduce(true), {131072}, topology(132));
  std::vector<int64_t> tiles = tilesByCta(planned(p), 0);
  EXPECT_EQ(*std::max_element(tiles.begin(), tiles.end()), 16);
  EXPECT_GE(*std::min_element(tiles.begin(), tiles.end()), 15);
}

TEST(Stream, EmptyTasksAndBatches) {
  Problem p = problemFor(splitReduce(true), {0, 0, 60, 0}, topology(4));
  Schedule s = planned(p);
  int empty = 0;
  for (const Instruction &i : callsOf(s, 0))
    empty += i.tileBegin == 0 && i.tileEnd == 0;
  EXPECT_EQ(empty, 3);
  EXPECT_EQ(callsOf(s, 2).size(), 4u);
  s = planned(problemFor(splitReduce(true), {}, topology(4)));
  EXPECT_TRUE(s.instructions.empty());
  EXPECT_EQ(s.queues.size(), 4u);
}

TEST(Stream, ObeysPieceSizes) {
  for (auto [least, most] :
       {std::pair<int64_t, int64_t>{3, 5}, {4, 0}, {1, 2}, {7, 8}, {5, 5}}) {
    Program program = splitReduce(true);
    program.stages[0].requests.minTiles = least;
    program.stages[0].requests.maxTiles = most;
    Problem p = problemFor(program, raggedLengths(40), topology(32));
    for (const Solver &solver : solvers()) {
      Schedule s = planned(p, solvedBy(solver.name));
      for (const Instruction &i : callsOf(s, 0)) {
        int64_t tiles = i.tileEnd - i.tileBegin;
        bool last = i.tileEnd == p.tileCount(0, i.task);
        EXPECT_TRUE(tiles >= least || last)
            << solver.name << " " << least << ": " << i.tileBegin << " to "
            << i.tileEnd << " of " << p.tileCount(0, i.task);
        if (most) {
          EXPECT_LE(tiles, most) << solver.name;
        }
      }
    }
  }
}

TEST(Stream, ChoosesVariants) {
  Program program = splitReduce(true);
  Variant four, exact;
  four.kind = Variant::Kind::tiles;
  four.value = 4;
  exact.kind = Variant::Kind::exact;
  exact.value = 200;
  program.stages[0].variants.push_back(four);
  program.stages[0].variants.push_back(exact);
  Problem p = problemFor(program, {256, 200, 199, 64, 0}, topology(1));
  std::vector<uint32_t> variants;
  for (const Instruction &i : callsOf(planned(p), 0))
    variants.push_back(i.variant);
  EXPECT_THAT(variants, testing::ElementsAre(1, 2, 1, 0, 0));
}

namespace {

/// A program whose map has variants for tasks with at most 16 and 32 of `rows`,
/// with a range for their number, and one batch of it.
Problem boundedProblem(const std::vector<int64_t> &rows) {
  Program program = splitReduce(true);
  program.arguments.push_back(argument("rows", ElementType::i32, {-1}));
  Range range;
  range.name = "rows";
  range.length = elementOf(2, {0});
  range.tile = 64;
  program.ranges.push_back(range);
  Stage &map = program.stages[0];
  map.bound = 1;
  for (int64_t size : {32, 16}) {
    Variant variant;
    variant.kind = Variant::Kind::bounded;
    variant.value = size;
    variant.cost.fixedBytes = uint64_t(size) * 256;
    variant.cost.tileBytes = uint64_t(size) * 1024;
    map.variants.push_back(variant);
  }
  std::vector<int64_t> lengths(rows.size(), 128);
  int64_t count = int64_t(rows.size());
  std::vector<PlanInput> inputs = {{"lengths", {count}, lengths},
                                   {"out", {count, 2048}, {}},
                                   {"rows", {count}, rows}};
  Expected<Problem> problem = instantiate(program, inputs, topology(1));
  EXPECT_TRUE(bool(problem)) << problem.status().message();
  return *problem;
}

} // namespace

TEST(Bounded, TakesTheNarrowestVariantThatHoldsATask) {
  Problem p = boundedProblem({16, 17, 33, 0, 32, 64});
  Schedule s = planned(p);
  std::vector<uint32_t> variants;
  for (const Instruction &i : callsOf(s, 0))
    variants.push_back(i.variant);
  EXPECT_THAT(variants, testing::ElementsAre(2, 1, 0, 2, 1, 0));
  // The costs are those of the variants.
  EXPECT_EQ(p.callBytes(0, 0, 2), 16u * 256 + 2 * 16 * 1024);
  EXPECT_EQ(p.callBytes(0, 1, 2), 32u * 256 + 2 * 32 * 1024);
  EXPECT_EQ(p.callBytes(0, 2, 2), 16384u + 2 * 65536);
}

TEST(Bounded, OneThatIsTooNarrowIsRefused) {
  Problem p = boundedProblem({17});
  Schedule s = planned(p);
  for (uint32_t variant : {0u, 1u}) {
    s.instructions[0].variant = variant;
    EXPECT_TRUE(verify(p, s)) << variant;
  }
  s.instructions[0].variant = 2;
  EXPECT_THAT(verify(p, s).message(),
              HasSubstr("takes at most 16 elements of range \"rows\", the task "
                        "has 17"));
}

TEST(Bounded, ProgramsAreChecked) {
  Program program = boundedProblem({1}).program;
  EXPECT_TRUE(check(program));
  uint64_t before = program.fingerprint();
  program.stages[0].variants[1].cost.tileBytes += 1;
  EXPECT_NE(program.fingerprint(), before);
  program.stages[0].bound = 7;
  EXPECT_THAT(check(program).message(), HasSubstr("is bounded by range 7"));
  program.stages[0].bound = kNone;
  EXPECT_THAT(check(program).message(),
              HasSubstr("at most 32 elements, but no range says how many"));
  program.stages[0].bound = 1;
  program.stages[0].variants[1].value = 0;
  EXPECT_THAT(check(program).message(), HasSubstr("expected at least 1"));
}

TEST(Combine, ScattersSeparableTasks) {
  Problem p = problemFor(splitReduce(true), {64 * 32}, topology(4));
  Decisions decisions;
  Schedule s = planned(p, {}, &decisions);
  std::vector<Instruction> reduces = callsOf(s, 1), finals = callsOf(s, 2);
  ASSERT_EQ(reduces.size(), 4u);
  ASSERT_EQ(finals.size(), 4u);
  std::set<uint32_t> begins;
  for (const Instruction &i : reduces) {
    EXPECT_EQ(i.sliceEnd - i.sliceBegin, 2u);
    EXPECT_EQ(i.operandCount, 4u);
    EXPECT_EQ(i.variant, 1u);
    begins.insert(i.sliceBegin);
  }
  EXPECT_EQ(begins, (std::set<uint32_t>{0, 2, 4, 6}));
  bool explained = false;
  for (const Decision &d : decisions)
    explained |= d.topic == "combine" && d.choice == "reduce-scatter" &&
                 d.by == Decider::solver;
  EXPECT_TRUE(explained);
}

TEST(Decisions, SayWhoDecided) {
  auto deciders = [](Program program, const ScheduleOptions &options) {
    std::map<std::string, Decider> result; // the strongest
    Problem p = problemFor(std::move(program), {64 * 330}, topology(33));
    Decisions decisions;
    Expected<Schedule> made = makeSchedule(p, options, &decisions);
    EXPECT_TRUE(bool(made)) << made.status().message();
    for (const Decision &d : decisions)
      result[d.topic] = std::max(result[d.topic], d.by);
    return result;
  };
  ScheduleOptions options;
  std::map<std::string, Decider> by = deciders(splitReduce(true), options);
  EXPECT_EQ(by["split"], Decider::solver);
  EXPECT_EQ(by["combine"], Decider::solver);
  EXPECT_EQ(by["transport"], Decider::solver);

  options.combine = ScheduleOptions::Combine::fold;
  options.transport = Transport::global;
  by = deciders(splitReduce(true), options);
  EXPECT_EQ(by["split"], Decider::solver);
  EXPECT_EQ(by["combine"], Decider::option);
  EXPECT_EQ(by["transport"], Decider::option);

  // What "best" has found, nobody has asked for; the rest is as before.
  options.solver = "best";
  options.transport = Transport::automatic;
  by = deciders(splitReduce(true), options);
  EXPECT_EQ(by["solver"], Decider::solver);
  EXPECT_EQ(by["combine"], Decider::option);
  EXPECT_EQ(by["transport"], Decider::solver);

  Program asking = splitReduce(true);
  asking.stages[0].requests.maxTiles = 10; // a piece on each CTA
  asking.stages[0].requests.transport = Transport::global;
  by = deciders(asking, {});
  EXPECT_EQ(by["split"], Decider::request);
  EXPECT_EQ(by["transport"], Decider::request);
  EXPECT_STREQ(deciderName(by["split"]), "request");
  EXPECT_STREQ(deciderName(Decider::none), "default");
}

TEST(Combine, IdleCtasTakeShares) {
  // Two tasks of a CTA and a half each have one CTA in common, which takes a
  // share of one of them; the CTA with a whole task takes one of the other.
  Problem p = problemFor(splitReduce(true), {9600, 6400, 9664}, topology(4));
  Schedule s = planned(p);
  EXPECT_EQ(callsOf(s, 0).size(), 5u);
  EXPECT_EQ(callsOf(s, 1).size(), 4u);
  for (const Queue &queue : s.queues) {
    int reduces = 0;
    for (uint32_t i : queue.instructions)
      reduces += s.instructions[i].stage == 1;
    EXPECT_EQ(reduces, 1) << "CTA " << queue.cta;
  }
}

TEST(Combine, TasksOfTwoCtasComeFirst) {
  // CTA 0 has a whole task. Of the others' CTAs, 2 and 4 hold parts of two
  // tasks each: task 2 is left with two CTAs of three, task 3 with one of two.
  Problem p =
      problemFor(splitReduce(true), {6400, 9600, 12800, 9600}, topology(6));
  Schedule s = planned(p);
  EXPECT_EQ(callsOf(s, 0).size(), 8u);
  for (const Queue &queue : s.queues)
    for (uint32_t i : queue.instructions)
      if (const Instruction &call = s.instructions[i]; call.stage == 1) {
        if (queue.cta == 0)
          EXPECT_EQ(call.task, 3u);
        if (call.task == 3)
          EXPECT_EQ(call.sliceEnd - call.sliceBegin, 4u) << queue.cta;
      }
}

TEST(Combine, ManyPartsShareFewSlices) {
  Problem p = problemFor(splitReduce(true), {64 * 330}, topology(33));
  Schedule s = planned(p);
  EXPECT_EQ(callsOf(s, 0).size(), 33u);
  EXPECT_EQ(callsOf(s, 1).size(), 8u); // as many as there are slices
}

TEST(Combine, ForcedChoices) {
  using Combine = ScheduleOptions::Combine;
  Problem p = problemFor(splitReduce(true), {64 * 330}, topology(33));
  ScheduleOptions options;
  options.combine = Combine::fold;
  Schedule s = planned(p, options);
  ASSERT_EQ(callsOf(s, 1).size(), 1u);
  EXPECT_EQ(callsOf(s, 1)[0].operandCount, 33u);
  options.combine = Combine::tree;
  s = planned(p, options);
  EXPECT_EQ(callsOf(s, 1).size(), 32u);
  for (const Instruction &i : callsOf(s, 1))
    EXPECT_EQ(i.operandCount, 2u);
  Problem whole = problemFor(splitReduce(false), {64 * 330}, topology(33));
  EXPECT_EQ(callsOf(planned(whole), 1).size(), 32u); // above 8: a tree
  whole = problemFor(splitReduce(false), {64 * 32}, topology(4));
  EXPECT_EQ(callsOf(planned(whole), 1).size(), 1u);
  options.combine = Combine::scatter;
  EXPECT_THAT(makeSchedule(whole, options).status().message(),
              HasSubstr("reduce 'reduce' cannot be combined"));
}

/// A separable stage that no shared task feeds is computed whole, and with it
/// all that its reader reads.
TEST(Combine, SharesNeedASource) {
  Program program = splitReduce(true);
  Stage whole = program.stages[1];
  whole.name = "whole";
  whole.kind = StageKind::map;
  whole.inputs.clear();
  program.stages.insert(program.stages.begin(), whole);
  program.stages[2].inputs = {input(1)};
  program.stages[3].inputs = {input(2), input(0)};
  Problem p = problemFor(program, {64 * 32}, topology(4));
  Schedule s = planned(p);
  ASSERT_EQ(callsOf(s, 2).size(), 1u);
  EXPECT_EQ(callsOf(s, 2)[0].sliceEnd, 8u);
  EXPECT_EQ(callsOf(s, 3).size(), 1u);
}

TEST(LongestFirst, NeverSplits) {
  Problem p = problemFor(splitReduce(true), {64 * 10, 64 * 9, 64 * 3, 64 * 2},
                         topology(2));
  Schedule s = planned(p, solvedBy("longest-first"));
  EXPECT_EQ(callsOf(s, 0).size(), 4u);
  EXPECT_THAT(tilesByCta(s, 0), testing::ElementsAre(12, 12));
  EXPECT_TRUE(s.transfers.empty());
}

TEST(LongestFirst, SplitsAtTheRequestedSize) {
  Program program = splitReduce(true);
  program.stages[0].requests.maxTiles = 4;
  Problem p = problemFor(program, {64 * 10}, topology(3));
  EXPECT_THAT(tilesByCta(planned(p, solvedBy("longest-first")), 0),
              testing::ElementsAre(4, 4, 2));
}

TEST(Tickets, OneListLargestFirst) {
  Problem p = problemFor(splitReduce(true), {640, 0, 64 * 300}, topology(8));
  Schedule s = planned(p, solvedBy("tickets"));
  EXPECT_EQ(s.discipline, Discipline::ticket);
  ASSERT_EQ(s.queues.size(), 1u);
  EXPECT_EQ(s.queues[0].cta, kNone);
  EXPECT_GT(callsOf(s, 0).size(), 16u);
  int64_t before = INT64_MAX;
  bool reduced = false;
  for (uint32_t i : s.queues[0].instructions) {
    const Instruction &call = s.instructions[i];
    reduced |= call.stage == 1;
    if (call.stage != 0 || !call.draw)
      continue;
    EXPECT_FALSE(reduced) << "a producer behind a consumer";
    EXPECT_LE(call.tileEnd - call.tileBegin, before);
    before = call.tileEnd - call.tileBegin;
  }
  for (const Slot &slot : s.slots)
    EXPECT_EQ(slot.cta, kNone);
  for (const Transfer &t : s.transfers)
    EXPECT_EQ(t.transport, Transport::global);
}

/// A draw lasts until the next one is there, but for the rest of a task.
TEST(Tickets, DrawsHideTheirLatency) {
  Problem p = problemFor(splitReduce(true), {64 * 3000}, topology(8));
  p.costs.instructionNs = p.costs.recordWeight = 0;
  auto draws = [&](double nanoseconds) {
    p.costs.drawNs = nanoseconds;
    return callsOf(planned(p, solvedBy("tickets")), 0);
  };
  size_t before = draws(0).size();
  double tile = double(p.callBytes(0, 0, 2) - p.callBytes(0, 0, 1));
  double read = 2000 * p.costs.readRate(8);
  std::vector<Instruction> calls = draws(2000);
  EXPECT_LT(calls.size(), before);
  size_t shorter = 0;
  for (const Instruction &call : calls)
    shorter += double(call.tileEnd - call.tileBegin) * tile < read;
  EXPECT_LE(shorter, 1u);
}

/// What reads results of one draw only belongs to that draw.
TEST(Tickets, FuseWholeTasks) {
  Problem p =
      problemFor(splitReduce(true), std::vector<int64_t>(64, 64), topology(4));
  Schedule s = planned(p, solvedBy("tickets"));
  EXPECT_TRUE(s.transfers.empty());
  int64_t draws = 0;
  for (const Instruction &i : s.instructions)
    draws += i.draw;
  EXPECT_EQ(draws, 64);
}

/// Tiles that stand by themselves and take long: a draw each, and those that
/// run at the same time are about as many tasks as tiles of a task.
TEST(Tickets, PatchesOfTilesAndTasks) {
  constexpr uint32_t kCtas = 16;
  Program p = splitReduce(false);
  Stage multiply = stage("multiply", StageKind::finalize, Arity::none);
  multiply.range = 0;
  multiply.each = true;
  multiply.outputs = {1};
  multiply.cost.tileBytes = 1 << 24;
  p.stages = {multiply};
  std::vector<int64_t> lengths(8, 64 * 12);
  lengths.push_back(64 * 5); // has no neighbour like it
  Problem problem = problemFor(p, lengths, topology(kCtas));
  std::vector<Instruction> calls =
      callsOf(planned(problem, solvedBy("tickets")), 0);
  ASSERT_EQ(calls.size(), 8u * 12 + 5);
  for (size_t begin = 0; begin < 8 * 12; begin += kCtas) {
    std::set<uint64_t> tasks, tiles;
    for (size_t i = begin; i < begin + kCtas; ++i) {
      EXPECT_EQ(calls[i].tileEnd, calls[i].tileBegin + 1);
      tasks.insert(calls[i].task);
      tiles.insert(calls[i].tileBegin);
    }
    EXPECT_EQ(tasks.size(), 4u);
    EXPECT_EQ(tiles.size(), 4u);
  }
  // Cheap tiles stay together, task by task.
  p.stages[0].cost.tileBytes = 1 << 12;
  Problem cheap = problemFor(p, lengths, topology(kCtas));
  calls = callsOf(planned(cheap, solvedBy("tickets")), 0);
  EXPECT_LT(calls.size(), 8u * 12 + 5);
  for (size_t i = 1; i < calls.size(); ++i)
    EXPECT_LE(calls[i - 1].task, calls[i].task);
}

/// Two ranged stages in a row, the second per tile: it follows the first.
TEST(Placement, TilesFollowTiles) {
  Program p = splitReduce(false);
  Stage first = p.stages[0];
  first.each = true;
  first.arity = Arity::tiles;
  Stage second = first;
  second.name = "second";
  second.inputs = {input(0)};
  p.stages[2].inputs = {input(2)};
  p.stages[1].inputs = {input(1)};
  p.stages = {first, second, p.stages[1], p.stages[2]};
  Problem problem = problemFor(p, {64 * 100, 64 * 7, 0}, topology(8));
  Schedule s = planned(problem);
  EXPECT_EQ(tilesByCta(s, 0), tilesByCta(s, 1));
  for (const Instruction &i : callsOf(s, 1))
    for (const Operand &o : s.operandsOf(i))
      EXPECT_FALSE(o.wait);
}

TEST(Placement, ResidentTasksStayTogether) {
  Program program = splitReduce(true);
  program.stages[0].requests.resident = true;
  program.stages[1].requests.resident = true;
  Problem p = problemFor(program, {64 * 100, 64 * 50, 64 * 60}, topology(8));
  for (const Solver &solver : solvers()) {
    Schedule s = planned(p, solvedBy(solver.name));
    EXPECT_TRUE(s.transfers.empty()) << solver.name;
    EXPECT_EQ(callsOf(s, 0).size(), 3u) << solver.name;
  }
}

/// Batches of no, one and a thousand tasks, one long task among short ones,
/// from one CTA to a thousand.
TEST(Placement, Extremes) {
  std::vector<std::vector<int64_t>> batches = {
      {}, {0}, {1}, std::vector<int64_t>(1000, 0), raggedLengths(1000)};
  batches.emplace_back(127, 37);
  batches.back().push_back(131072);
  for (const std::vector<int64_t> &lengths : batches)
    for (auto [ctas, cluster] :
         {std::pair<uint32_t, uint32_t>{1, 1}, {132, 2}, {1024, 16}})
      for (bool separable : {false, true}) {
        Problem p = problemFor(splitReduce(separable), lengths,
                               topology(ctas, cluster));
        for (const Solver &solver : solvers()) {
          Schedule s = planned(p, solvedBy(solver.name));
          EXPECT_EQ(callsOf(s, 2).size() == 0, lengths.empty());
        }
      }
}
