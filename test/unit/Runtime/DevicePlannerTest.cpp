//===- DevicePlannerTest.cpp - Plans made where the lengths are -----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source that a device runs, run here: by one thread for the whole plan,
// and by many threads of many planning CTAs as on a device. Both have to write
// the same bytes, and the verifier has to accept them.
//
//===----------------------------------------------------------------------===//

#include "dfrt/DevicePlanner.h"
#include "TileStages.h"
#include "dataflow/Schedule/Simulator.h"
#include "planning/WriteQueues.h"

#include <rapidcheck.h>

#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

using namespace dfrt;
using namespace dfrt::test;

namespace {

/// Threads of a planning CTA.
class Barrier {
public:
  explicit Barrier(uint32_t count) : count(count) {}
  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    uint64_t phase = phases;
    if (++arrived == count) {
      arrived = 0;
      ++phases;
      all.notify_all();
      return;
    }
    all.wait(lock, [&] { return phases != phase; });
  }

private:
  std::mutex mutex;
  std::condition_variable all;
  uint32_t count, arrived = 0;
  uint64_t phases = 0;
};
struct TestThreads {
  static constexpr bool kAlone = false;
  Barrier *barrier;
  uint32_t self, all;
  uint32_t index() const { return self; }
  uint32_t count() const { return all; }
  void sync() const { barrier->wait(); }
  void scan(uint32_t (&values)[planning::kMaxSums],
            uint32_t (&totals)[planning::kMaxSums], uint32_t *memory) const {
    for (uint32_t v = 0; v < planning::kMaxSums; ++v)
      memory[v * planning::kMaxThreads + self] = values[v];
    sync();
    for (uint32_t v = 0; v < planning::kMaxSums; ++v) {
      values[v] = totals[v] = 0;
      for (uint32_t t = 0; t < all; ++t) {
        uint32_t value = memory[v * planning::kMaxThreads + t];
        values[v] += t < self ? value : 0;
        totals[v] += value;
      }
    }
    sync();
  }
};

struct alignas(16) Unit {
  uint8_t bytes[16];
};

/// As `planOnHost`, by `parts` planning CTAs of `threads` threads each. What is
/// in memory before is garbage.
std::vector<uint8_t> planParallel(const DevicePlanner &planner,
                                  const std::vector<PlanInput> &inputs,
                                  uint32_t parts, uint32_t threads) {
  planning::Launch launch = planner.launch();
  std::vector<std::vector<int32_t>> narrow(planner.inputs().size());
  for (size_t i = 0; i < narrow.size(); ++i) {
    const Argument &argument = planner.program().arguments[planner.inputs()[i]];
    for (const PlanInput &input : inputs) {
      if (input.argument != argument.name)
        continue;
      narrow[i].assign(input.values.begin(), input.values.end());
      launch.inputs[i] = argument.element == ElementType::i64
                             ? uintptr_t(input.values.data())
                             : uintptr_t(narrow[i].data());
    }
  }
  std::vector<Unit> plan(planner.planBytes() / 16);
  std::memset(static_cast<void *>(plan.data()), 0xa5, planner.planBytes());
  planning::Report report = {};
  launch.plan = uintptr_t(plan.data());
  launch.frame = uintptr_t(planner.frame().data());
  launch.report = uintptr_t(&report);
  for (uint32_t part = 0; part < parts; ++part) {
    std::vector<Unit> arena(planner.arenaBytes() / 16 + 1);
    std::memset(static_cast<void *>(arena.data()), 0x5a, planner.arenaBytes());
    Barrier barrier(threads);
    std::vector<std::thread> running;
    for (uint32_t t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        planning::plan(launch, reinterpret_cast<uint8_t *>(arena.data()),
                       TestThreads{&barrier, t, threads}, part, parts);
      });
    for (std::thread &thread : running)
      thread.join();
  }
  EXPECT_EQ(report.plans, 1u);
  const uint8_t *first = reinterpret_cast<const uint8_t *>(plan.data());
  return std::vector<uint8_t>(first, first + planner.planBytes());
}

DevicePlanner plannerFor(const Program &program,
                         const std::vector<PlanInput> &bound,
                         const Topology &t) {
  Expected<DevicePlanner> planner = DevicePlanner::create(program, bound, t);
  EXPECT_TRUE(bool(planner)) << planner.status().message();
  return planner ? *planner : DevicePlanner();
}

/// Plans a batch and proves the plan; gives its bytes as the device would leave
/// them.
std::vector<uint8_t> provenPlan(const DevicePlanner &planner,
                                const std::vector<PlanInput> &batch) {
  std::vector<uint8_t> bytes;
  Status made = planner.planOnHost(batch, bytes);
  EXPECT_TRUE(made.ok()) << made.message();
  Expected<Problem> problem =
      instantiate(planner.program(), batch, planner.topology());
  EXPECT_TRUE(bool(problem)) << problem.status().message();
  if (!made.ok() || !problem)
    return bytes;
  std::vector<uint8_t> sealed = bytes;
  EXPECT_TRUE(sealPlan(sealed).ok());
  Status legal = verifyPlan(*problem, sealed.data(), sealed.size());
  EXPECT_TRUE(legal.ok()) << legal.message();
  return bytes;
}

std::vector<int64_t> lengthsUpTo(std::mt19937_64 &random, size_t count,
                                 int64_t most) {
  std::vector<int64_t> lengths(count);
  int64_t limit = std::uniform_int_distribution<int64_t>(0, most)(random);
  for (int64_t &length : lengths)
    length = random() % 4 == 0
                 ? 0
                 : std::uniform_int_distribution<int64_t>(0, limit)(random);
  if (count && random() % 3 == 0)
    lengths[random() % count] = most;
  return lengths;
}

} // namespace

TEST(DevicePlanner, RandomLengthsAreProven) {
  std::mt19937_64 random(1);
  for (bool separable : {true, false})
    for (uint32_t ctas : {1u, 2u, 7u, 16u, 132u})
      for (size_t count : {size_t(0), size_t(1), size_t(3), size_t(40)}) {
        Program program = splitReduce(separable);
        std::vector<int64_t> most(count, 64 * 300);
        DevicePlanner planner =
            plannerFor(program, {lengthsInput(most)}, topology(ctas));
        for (int round = 0; round < 25 && planner; ++round)
          provenPlan(planner,
                     {lengthsInput(lengthsUpTo(random, count, 64 * 300))});
      }
}

TEST(DevicePlanner, RandomTilesAreProven) {
  std::mt19937_64 random(2);
  for (bool alone : {false, true})
    for (int64_t blocks : {1, 3})
      for (uint32_t ctas : {1u, 5u, 132u})
        for (size_t count : {size_t(0), size_t(1), size_t(9)}) {
          Program program = tileStages(blocks, alone);
          std::vector<int64_t> most(count, 200);
          DevicePlanner planner =
              plannerFor(program, tileInputs(most, most), topology(ctas));
          for (int round = 0; round < 25 && planner; ++round)
            provenPlan(planner, tileInputs(lengthsUpTo(random, count, 200),
                                           lengthsUpTo(random, count, 200)));
        }
}

TEST(DevicePlanner, ManyThreadsWriteTheSameBytes) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 12; ++round) {
    size_t count = random() % 30;
    uint32_t ctas = 1 + random() % 12;
    std::vector<int64_t> most(count, 64 * 40);
    DevicePlanner split = plannerFor(splitReduce(round % 2),
                                     {lengthsInput(most)}, topology(ctas));
    DevicePlanner tiles = plannerFor(tileStages(1 + round % 3),
                                     tileInputs(most, most), topology(ctas));
    std::vector<PlanInput> lengths = {
        lengthsInput(lengthsUpTo(random, count, 64 * 40))};
    std::vector<PlanInput> runs =
        tileInputs(lengthsUpTo(random, count, 64 * 40),
                   lengthsUpTo(random, count, 64 * 40));
    std::vector<uint8_t> bytes;
    ASSERT_TRUE(split.planOnHost(lengths, bytes).ok());
    EXPECT_EQ(planParallel(split, lengths, ctas, 8), bytes);
    EXPECT_EQ(planParallel(split, lengths, 3, 3), bytes);
    ASSERT_TRUE(tiles.planOnHost(runs, bytes).ok());
    EXPECT_EQ(planParallel(tiles, runs, ctas, 8), bytes);
  }
}

namespace {
std::string refusalOf(const Program &program,
                      const std::vector<PlanInput> &bound,
                      const Topology &t = topology(8)) {
  Expected<DevicePlanner> planner = DevicePlanner::create(program, bound, t);
  return planner ? std::string("taken") : planner.status().message();
}
} // namespace

TEST(DevicePlanner, RefusesOtherProgramsByName) {
  std::vector<PlanInput> bound = {lengthsInput({640, 64})};
  EXPECT_EQ(refusalOf(splitReduce(true), bound), "taken");
  EXPECT_EQ(refusalOf(splitReduce(true), bound, topology(8, 2)),
            "program 'split' cannot be planned on a device: it does not take "
            "clusters of 2 CTAs; it takes clusters of 1");
  Program p = splitReduce(true);
  p.stages[0].requests.maxTiles = 4;
  EXPECT_EQ(refusalOf(p, bound),
            "program 'split' cannot be planned on a device: it does not take "
            "stage 'map', whose pieces are requested to have at most 4 tiles");
  p = splitReduce(true);
  p.stages[1].requests.transport = Transport::clusterShared;
  EXPECT_EQ(refusalOf(p, bound),
            "program 'split' cannot be planned on a device: it does not take "
            "stage 'reduce', whose transport is requested not to be global");
  p = reshardedReduce();
  EXPECT_EQ(refusalOf(p, bound),
            "program 'split' cannot be planned on a device: it does not take "
            "stage 'reduce', whose reader 'first' is no finalize of these "
            "records alone over the same tasks");
  EXPECT_EQ(refusalOf(groupedExperts(7168, 32, 2), expertInputs({16, 3}, 4)),
            "program 'grouped' cannot be planned on a device: it does not take "
            "stage 'apply', which has no range and does not finish a map into "
            "pieces");
  p = splitReduce(false);
  p.arguments[0].element = ElementType::i16;
  EXPECT_EQ(refusalOf(p, bound),
            "program 'split' cannot be planned on a device: it does not take "
            "argument 'lengths' of element type i16 where lengths are; it "
            "takes i32 and i64");
  ScheduleOptions tree;
  tree.combine = ScheduleOptions::Combine::tree;
  EXPECT_EQ(checkLineChoices(tree).message(),
            "plans of the kind that a device makes cannot have a way to "
            "combine");
}

/// A refused batch leaves the empty plan, which is a legal one of nothing.
TEST(DevicePlanner, RefusesBatchesBeyondTheBound) {
  DevicePlanner planner =
      plannerFor(splitReduce(true), {lengthsInput({64, 640})}, topology(4));
  std::vector<uint8_t> bytes;
  auto refusal = [&](std::vector<int64_t> lengths) {
    return planner.planOnHost({{lengthsInput(std::move(lengths))}}, bytes)
        .message();
  };
  EXPECT_EQ(refusal({640, 640}), "");
  EXPECT_EQ(refusal({640}),
            "planning: argument 'lengths' has shape 1, the bound has 2");
  PlanInput missing = lengthsInput({1, 2});
  missing.values.pop_back();
  EXPECT_EQ(planner.planOnHost({{missing}}, bytes).message(),
            "planning: input 'lengths' has 1 values, its shape has 2");
  EXPECT_EQ(refusal({0, 641}),
            "planning on the device: the length of stage 'map', task 1 is 641, "
            "expected 0 to 640");
  EXPECT_TRUE(sealPlan(bytes).ok());
  Expected<PlanImage> image = readPlan(bytes.data(), bytes.size());
  ASSERT_TRUE(bool(image)) << image.status().message();
  EXPECT_TRUE(image->schedule.instructions.empty());
  EXPECT_EQ(refusal({-1, 700}),
            "planning on the device: the length of stage 'map', task 0 is -1, "
            "expected 0 to 640");

  DevicePlanner tiles = plannerFor(
      tileStages(1), tileInputs({32, 0, 64}, {0, 0, 10}), topology(4));
  EXPECT_EQ(
      tiles.planOnHost(tileInputs({0, 64, 32}, {10, 0, 0}), bytes).message(),
      "");
  EXPECT_EQ(
      tiles.planOnHost(tileInputs({64, 64, 0}, {0, 0, 0}), bytes).message(),
      "planning on the device: all tasks of stage 'map' together have 8 "
      "tiles, expected at most 6");
  std::vector<PlanInput> moved = tileInputs({0, 0, 0}, {0, 0, 0});
  moved[2].values[1] = -3;
  EXPECT_EQ(tiles.planOnHost(moved, bytes).message(),
            "planning on the device: the offset of stage 'last', task 1 is -3, "
            "expected 0 to 1152921504606846976");
}

/// On recorded lengths the plans are, by the model, about as good as those of
/// the default solver, which has more choices, the order of tasks among them:
/// that is where the worst one is from.
TEST(DevicePlanner, IsNearTheDefaultSolver) {
  double sum = 0, worst = 0;
  std::vector<Trace> all = traces();
  ASSERT_EQ(all.size(), 16u);
  for (const Trace &trace : all) {
    std::vector<PlanInput> inputs = {lengthsInput(trace.lengths)};
    Problem problem =
        problemFor(latentAttention(), trace.lengths, topology(132));
    Expected<Schedule> line = scheduleLine(problem, inputs, {});
    ASSERT_TRUE(bool(line)) << line.status().message();
    Status legal = verify(problem, *line);
    EXPECT_TRUE(legal.ok()) << legal.message();
    Expected<SimulationResult> device = simulate(problem, *line);
    Expected<SimulationResult> host = simulate(problem, planned(problem));
    ASSERT_TRUE(device && host);
    double ratio = device->totalNs / host->totalNs - 1;
    sum += ratio;
    worst = std::max(worst, ratio);
  }
  EXPECT_LT(sum / 16, 0.03);
  EXPECT_LT(worst, 0.06);
}
