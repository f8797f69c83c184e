//===- CPUDeviceTest.cpp - Executing packed plans -------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything goes through the C API: artifact bytes and plan bytes in, outputs
// out. Results are exact, so runs in any order must give them bit by bit.
//
//===----------------------------------------------------------------------===//

#include "TestPrograms.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <tuple>

using namespace dfrt;
using namespace dfrt::test;

namespace {
constexpr uint64_t kSeeds = 20;

/// A case, loaded, with the plan of one schedule.
class LoadedCase {
public:
  explicit LoadedCase(TestCase test) : test(std::move(test)) {
    Expected<std::vector<uint8_t>> bytes = writeArtifact(this->test.artifact);
    EXPECT_TRUE(bool(bytes)) << bytes.status().message();
    EXPECT_EQ(
        dfrt_artifact_load_memory(bytes->data(), bytes->size(), &artifact),
        DFRT_OK)
        << dfrt_last_error();
    EXPECT_EQ(dfrt_device_open("cpu", &device), DFRT_OK);
  }
  ~LoadedCase() {
    dfrt_plan_release(plan);
    dfrt_artifact_release(artifact);
    dfrt_device_release(device);
  }
  LoadedCase(const LoadedCase &) = delete;
  LoadedCase &operator=(const LoadedCase &) = delete;

  dfrt_status load(const Problem &problem, const Schedule &schedule) {
    PlanImage image = makePlanImage(problem, schedule);
    Expected<std::vector<uint8_t>> bytes = packPlan(image, exactMaxima(image));
    EXPECT_TRUE(bool(bytes)) << bytes.status().message();
    dfrt_plan_release(plan);
    plan = nullptr;
    return dfrt_plan_load(artifact, bytes->data(), bytes->size(), &plan);
  }

  dfrt_status launch(const dfrt_launch_options &options) {
    test.clearOutputs();
    std::vector<dfrt_tensor> arguments = test.arguments();
    return dfrt_launch(device, artifact, plan, arguments.data(),
                       uint32_t(arguments.size()), &options);
  }
  dfrt_status launchSeed(uint64_t seed) {
    dfrt_launch_options options;
    dfrt_launch_options_init(&options);
    options.adversarial = 1;
    options.seed = seed;
    return launch(options);
  }
  dfrt_status launchParallel(uint32_t threads) {
    dfrt_launch_options options;
    dfrt_launch_options_init(&options);
    options.threads = threads;
    return launch(options);
  }

  /// Parallel and under all seeds: succeeds with the expected outputs.
  void expectRight(const std::string &what) {
    for (uint32_t threads : {1u, 4u}) {
      ASSERT_EQ(launchParallel(threads), DFRT_OK) << what << dfrt_last_error();
      ASSERT_EQ(test.differences(), "") << what;
    }
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      ASSERT_EQ(launchSeed(seed), DFRT_OK)
          << what << " seed " << seed << ": " << dfrt_last_error();
      ASSERT_EQ(test.differences(), "") << what << " seed " << seed;
    }
  }

  /// True if some seed fails or gives a wrong result. A signal that is missing
  /// shows only if its sender is the last of many, so there are more seeds.
  bool goesWrong() {
    for (uint64_t seed = 0; seed < 50 * kSeeds; ++seed)
      if (launchSeed(seed) != DFRT_OK || !test.differences().empty())
        return true;
    return false;
  }

  TestCase test;
  dfrt_device *device = nullptr;
  dfrt_artifact *artifact = nullptr;
  dfrt_plan *plan = nullptr;
};

Topology topologyOf(uint32_t ctas, uint32_t cluster) {
  Topology topology;
  topology.ctas = ctas;
  topology.clusterSize = cluster;
  return topology;
}

Schedule makeOrFail(const Problem &problem, const ScheduleOptions &options) {
  Expected<Schedule> schedule = makeSchedule(problem, options);
  EXPECT_TRUE(bool(schedule)) << schedule.status().message();
  return *schedule;
}

/// Runs a case under every solver, combination and some topologies.
void expectRightEverywhere(TestCase test) {
  LoadedCase run(std::move(test));
  for (const Solver &solver : solvers())
    for (auto [ctas, cluster] :
         {std::pair(1u, 1u), std::pair(6u, 1u), std::pair(8u, 4u)})
      for (auto combine :
           {ScheduleOptions::Combine::automatic, ScheduleOptions::Combine::fold,
            ScheduleOptions::Combine::tree}) {
        ScheduleOptions options;
        options.solver = solver.name;
        options.combine = combine;
        Problem problem = run.test.problem(topologyOf(ctas, cluster));
        Schedule schedule = makeOrFail(problem, options);
        std::string what = std::string(solver.name) + " " +
                           std::to_string(ctas) + "x" +
                           std::to_string(cluster) + " combine " +
                           std::to_string(int(combine)) + ": ";
        ASSERT_EQ(run.load(problem, schedule), DFRT_OK)
            << what << dfrt_last_error();
        run.expectRight(what);
        if (testing::Test::HasFatalFailure())
          return;
      }
}
} // namespace

TEST(CPUDevice, RaggedSumIsRightUnderEveryOrder) {
  expectRightEverywhere(raggedCase({37, 0, 200, 1, 4, 5}));
  expectRightEverywhere(boundedCase({37, 0, 200, 1, 4, 5, 6, 7}));
}

TEST(CPUDevice, TilesAreCollectedAndGivenBack) {
  expectRightEverywhere(spreadCase({9, 0, 30, 4, 1}));
}

TEST(CPUDevice, RowsReachTheirTargetsInOrder) {
  // Target 2 gets nothing, target 4 one row, target 0 the same row twice.
  expectRightEverywhere(routeCase(
      5, {0, 1, 3, 0, 1, 0, -1, 3, 0, 0, 0, 4, -1, -1, -1, -1, 3, 1, 0, 0}));
}

TEST(CPUDevice, RandomBatchesAreRight) {
  std::mt19937 random(7);
  auto below = [&](uint32_t limit) { return uint32_t(random() % limit); };
  const std::pair<uint32_t, uint32_t> shapes[] = {{1, 1}, {2, 2},   {5, 1},
                                                  {8, 4}, {16, 16}, {24, 8}};
  for (int batch = 0; batch < 90; ++batch) {
    std::vector<int64_t> lengths(below(12));
    for (int64_t &length : lengths)
      length = below(3) == 0 ? 0 : below(below(4) == 0 ? 600 : 30);
    std::vector<int64_t> index(4 * below(30));
    for (int64_t &target : index)
      target = int64_t(below(10)) - 1;
    LoadedCase run(batch % 3 == 0   ? raggedCase(lengths)
                   : batch % 3 == 1 ? spreadCase(lengths)
                                    : routeCase(9, index));
    auto [ctas, cluster] = shapes[below(6)];
    ScheduleOptions options;
    options.solver = solvers()[below(uint32_t(solvers().size()))].name;
    options.combine = ScheduleOptions::Combine(below(4));
    if (batch % 3 && options.combine == ScheduleOptions::Combine::scatter)
      options.combine = ScheduleOptions::Combine::tree; // nothing is separable
    Topology topology = topologyOf(ctas, cluster);
    if (below(2)) // so little room that memory is reused, and some slots move
      topology.reservedBytes = topology.sharedBytes - 16 * (8 + below(100));
    Problem problem = run.test.problem(topology);
    std::string what = std::to_string(batch) + " " + options.solver + " " +
                       std::to_string(ctas) + "x" + std::to_string(cluster) +
                       " combine " + std::to_string(int(options.combine)) +
                       ": ";
    Expected<Schedule> schedule = makeSchedule(problem, options);
    ASSERT_TRUE(bool(schedule)) << what << schedule.status().message();
    Status legal = verify(problem, *schedule);
    ASSERT_TRUE(legal.ok()) << what << legal.message();
    ASSERT_EQ(run.load(problem, *schedule), DFRT_OK)
        << what << dfrt_last_error();
    run.expectRight(what);
    if (HasFatalFailure())
      return;
  }
}

TEST(CPUDevice, ForcedTransportsAreRight) {
  LoadedCase run(raggedCase({37, 0, 200, 1, 4, 5}));
  for (const Solver &solver : solvers())
    for (Transport transport :
         {Transport::clusterShared, Transport::global, Transport::multicast}) {
      ScheduleOptions options;
      options.solver = solver.name;
      options.transport = transport;
      Problem problem = run.test.problem(topologyOf(8, 8));
      Expected<Schedule> schedule = makeSchedule(problem, options);
      if (!schedule)
        continue; // not legal for this solver's edges
      Status legal = verify(problem, *schedule);
      ASSERT_TRUE(legal.ok()) << legal.message();
      ASSERT_EQ(run.load(problem, *schedule), DFRT_OK) << dfrt_last_error();
      run.expectRight(std::string(solver.name) + " transport " +
                      std::to_string(int(transport)) + ": ");
    }
}

TEST(CPUDevice, HandMadeScheduleIsRight) {
  LoadedCase run(raggedCase({8, 8}));
  Problem problem = run.test.problem(handTopology());
  ASSERT_EQ(run.load(problem, handSchedule(false)), DFRT_OK)
      << dfrt_last_error();
  run.expectRight("hand");
}

TEST(CPUDevice, EmptyBatchesAndRangesAreDefined) {
  expectRightEverywhere(raggedCase({}));
  expectRightEverywhere(raggedCase({0, 0, 0}));
  expectRightEverywhere(spreadCase({0}));
  expectRightEverywhere(routeCase(3, {}));
}

TEST(CPUDevice, ReferenceNeedsNoPlan) {
  for (TestCase &test : std::vector<TestCase>{
           raggedCase({37, 0, 200, 1}),
           routeCase(4, {0, 1, 3, 0, 1, 0, -1, 3, 0, 0, 0, 1})}) {
    LoadedCase run(test);
    run.test.clearOutputs();
    std::vector<dfrt_tensor> arguments = run.test.arguments();
    ASSERT_EQ(dfrt_reference(run.artifact, arguments.data(),
                             uint32_t(arguments.size()), 2),
              DFRT_OK)
        << dfrt_last_error();
    EXPECT_EQ(run.test.differences(), "");
  }
}

TEST(CPUDevice, ReferenceOutputsAreF64) {
  LoadedCase run(spreadCase({9, 0, 30, 4, 1}));
  std::vector<dfrt_tensor> arguments = run.test.arguments();
  EXPECT_EQ(dfrt_reference(run.artifact, arguments.data(), 4, 0),
            DFRT_INVALID_ARGUMENT);
  EXPECT_STREQ(dfrt_last_error(),
               "argument 'out': expected elements f64, got f32");
  const std::vector<double> &expected = run.test.tensors[3].expectedFloats;
  std::vector<double> out(expected.size());
  arguments[3].data = out.data();
  arguments[3].element = DFRT_F64;
  ASSERT_EQ(dfrt_reference(run.artifact, arguments.data(), 4, 0), DFRT_OK)
      << dfrt_last_error();
  EXPECT_EQ(out, expected);
}

// A foreign kernel may leave room for one CTA only: ticket plans get along with
// it, static ones need all CTAs that exchange anything.
TEST(CPUDevice, PartialResidency) {
  LoadedCase run(raggedCase({37, 0, 200, 1, 4, 5}));
  Problem problem = run.test.problem(topologyOf(8, 1));
  for (bool ticket : {true, false}) {
    ScheduleOptions how;
    how.solver = ticket ? "tickets" : "stream";
    ASSERT_EQ(run.load(problem, makeOrFail(problem, how)), DFRT_OK)
        << dfrt_last_error();
    for (uint32_t resident : {1u, 3u, 8u, 9u})
      for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        dfrt_launch_options options;
        dfrt_launch_options_init(&options);
        options.adversarial = 1;
        options.seed = seed;
        options.resident = resident;
        dfrt_status status = run.launch(options);
        if (!ticket && resident == 1) {
          ASSERT_EQ(status, DFRT_DEADLOCK);
          EXPECT_NE(std::strstr(dfrt_last_error(), " find no room; cta "),
                    nullptr)
              << dfrt_last_error();
        } else if (ticket || resident >= 8) {
          ASSERT_EQ(status, DFRT_OK) << dfrt_last_error();
          ASSERT_EQ(run.test.differences(), "");
        }
      }
  }
}

TEST(CPUDevice, AMissingWaitShows) {
  LoadedCase run(raggedCase({37, 0, 200, 1, 4, 5}));
  Problem problem = run.test.problem(topologyOf(8, 4));
  uint32_t removed = 0;
  for (const char *solver : {"stream", "tickets"}) {
    ScheduleOptions options;
    options.solver = solver;
    Schedule schedule = makeOrFail(problem, options);
    // What one signal tells: several slots may arrive in one phase.
    using Signal = std::tuple<uint32_t, uint32_t, uint32_t>;
    auto signalOf = [&](const Operand &operand) {
      const Slot &slot = schedule.slots[operand.slot];
      return Signal(slot.barrier, slot.phase, slot.flag);
    };
    std::set<Signal> signals;
    for (const Operand &operand : schedule.operands)
      if (operand.wait)
        signals.insert(signalOf(operand));
    for (const Signal &signal : signals) {
      Schedule broken = schedule;
      for (Operand &operand : broken.operands)
        if (operand.wait && signalOf(operand) == signal)
          operand.wait = false;
      ASSERT_EQ(run.load(problem, broken), DFRT_OK) << dfrt_last_error();
      ++removed;
      EXPECT_TRUE(run.goesWrong()) << solver << ": signal " << removed;
    }
  }
  EXPECT_GT(removed, 2u);
}

TEST(CPUDevice, SlotsHoldNaNsAfterTheirLastRead) {
  LoadedCase run(raggedCase({8, 8}));
  Problem problem = run.test.problem(handTopology());
  ASSERT_EQ(run.load(problem, handSchedule(false)), DFRT_OK);
  uint64_t bytes = 0;
  ASSERT_EQ(dfrt_plan_workspace_bytes(run.device, run.plan, &bytes), DFRT_OK);
  ASSERT_EQ(bytes, 2u * 384u);
  alignas(128) uint8_t workspace[2 * 384] = {};
  dfrt_launch_options options;
  dfrt_launch_options_init(&options);
  options.workspace = workspace;
  options.workspace_bytes = bytes;
  for (uint32_t adversarial : {0u, 1u})
    for (uint32_t poison : {0u, 1u}) {
      std::memset(workspace, 0, sizeof(workspace));
      options.adversarial = adversarial;
      options.poison = poison;
      ASSERT_EQ(run.launch(options), DFRT_OK) << dfrt_last_error();
      EXPECT_EQ(run.test.differences(), "");
      uint64_t poisoned = 0;
      for (uint8_t byte : workspace)
        poisoned += byte == 0xff;
      if (poison)
        EXPECT_EQ(poisoned, bytes);
      else
        EXPECT_LT(poisoned, bytes / 2);
    }
}

TEST(CPUDevice, EarlyReuseOfASourceShows) {
  // CTA r's own part moves into the slot that it has just sent: the transfer
  // then carries the wrong bytes, unless it happens to be quick.
  LoadedCase run(raggedCase({8, 8}));
  Problem problem = run.test.problem(handTopology());
  Schedule schedule = handSchedule(false);
  for (uint32_t cta = 0; cta < 2; ++cta)
    schedule.slots[cta * 4].offset = schedule.slots[cta * 4 + 1].offset;
  ASSERT_EQ(run.load(problem, schedule), DFRT_OK) << dfrt_last_error();
  EXPECT_TRUE(run.goesWrong());
}

TEST(CPUDevice, AReleaseIsHonoured) {
  // The same reuse is legal once the receiver releases the source.
  LoadedCase run(raggedCase({8, 8}));
  Problem problem = run.test.problem(handTopology());
  Schedule schedule = handSchedule(false);
  // CTA 0: order is send, own, merge, store; let its store slot (merged, 3)
  // reuse the sent slot (1), which its peer's merge has received by then.
  schedule.slots[3].offset = schedule.slots[1].offset;
  schedule.barriers.push_back({0, 1});
  Release release;
  release.slot = 1;
  release.from = 6; // merge of CTA 1
  release.to = 2;   // merge of CTA 0
  release.barrier = 2;
  ASSERT_EQ(run.load(problem, schedule), DFRT_OK) << dfrt_last_error();
  EXPECT_TRUE(run.goesWrong());
  schedule.releases.push_back(release);
  Status legal = verify(problem, schedule);
  EXPECT_TRUE(legal.ok()) << legal.message();
  ASSERT_EQ(run.load(problem, schedule), DFRT_OK) << dfrt_last_error();
  run.expectRight("released");
}

TEST(CPUDevice, ACycleIsReportedAsDeadlock) {
  LoadedCase run(raggedCase({8, 8}));
  Problem problem = run.test.problem(handTopology());
  ASSERT_EQ(run.load(problem, handSchedule(true)), DFRT_OK)
      << dfrt_last_error();
  const char *expected =
      "cpu: 2 ctas cannot move; "
      "cta 0: instruction 1 (merge, task 0) waits for slot 2 (part) by "
      "transfer 1 of instruction 7 (part, task 0) on cta 1, which has not run; "
      "cta 1: instruction 5 (merge, task 1) waits for slot 6 (part) by "
      "transfer 0 of instruction 3 (part, task 1) on cta 0, which has not run";
  EXPECT_EQ(run.launchParallel(2), DFRT_DEADLOCK);
  EXPECT_STREQ(dfrt_last_error(), expected);
  EXPECT_EQ(run.launchSeed(3), DFRT_DEADLOCK);
  EXPECT_STREQ(dfrt_last_error(), expected);
}

TEST(CPUDevice, AnExitWithoutBarrierShows) {
  // Row 1 alone is split; CTA 0 has nothing left to do after it has sent its
  // part, and its memory goes away with it.
  LoadedCase run(raggedCase({8, 8}));
  Problem problem = run.test.problem(handTopology());
  Schedule schedule = handSchedule(false);
  schedule.exitBarrier = false;
  std::vector<uint32_t> &queue = schedule.queues[0].instructions;
  std::vector<uint32_t> &other = schedule.queues[1].instructions;
  // CTA 0 sends last, so that its exit follows at once.
  std::swap(queue[0], queue[1]);
  std::swap(other[0], other[1]);
  queue = {queue[0], queue[1], queue[2], queue[3]};
  std::rotate(queue.begin() + 1, queue.begin() + 2, queue.end());
  ASSERT_EQ(run.load(problem, schedule), DFRT_OK) << dfrt_last_error();
  bool refused = false;
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    refused |= run.launchSeed(seed) == DFRT_VERIFICATION_FAILED &&
               std::strstr(dfrt_last_error(), "which has exited");
  EXPECT_TRUE(refused);
}

TEST(CPUDevice, AnArrivalForAnotherPhaseIsRefused) {
  LoadedCase run(raggedCase({8, 8}));
  Problem problem = run.test.problem(handTopology());
  Schedule schedule = handSchedule(false);
  schedule.slots[2].phase = 1;
  ASSERT_EQ(run.load(problem, schedule), DFRT_OK) << dfrt_last_error();
  EXPECT_EQ(run.launchParallel(1), DFRT_VERIFICATION_FAILED);
  EXPECT_STREQ(dfrt_last_error(), "cpu: barrier 0 of cta 0 is in phase 0, but "
                                  "an arrival for phase 1 came");
}

TEST(CPUDevice, PlansOfOtherInputsAreRefused) {
  LoadedCase run(raggedCase({37, 0, 200, 1, 4, 5}));
  Problem problem = run.test.problem(topologyOf(6, 1));
  ASSERT_EQ(run.load(problem, makeOrFail(problem, {})), DFRT_OK);
  std::vector<int64_t> &lengths = run.test.tensors[2].integers;
  lengths[3] = 2;
  EXPECT_EQ(run.launchParallel(1), DFRT_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(dfrt_last_error(), "the plan was made for other"),
            nullptr)
      << dfrt_last_error();
  // Whole tiles more: every piece is where it was, but some tiles have none.
  lengths[3] = 1;
  lengths[4] = 8;
  EXPECT_EQ(run.launchParallel(1), DFRT_INVALID_ARGUMENT);
  EXPECT_STREQ(dfrt_last_error(), "stage 'part' task 4 has 2 tiles, but the "
                                  "plan covers 1; the plan was made for other "
                                  "inputs");
  lengths[4] = 4;
  EXPECT_EQ(run.launchParallel(1), DFRT_OK);
}

TEST(CPUDevice, PlansThatDoNotFitTheProgramAreRefused) {
  LoadedCase run(raggedCase({8, 8}));
  Problem problem = run.test.problem(handTopology());
  auto refusal = [&](auto change) {
    Schedule schedule = handSchedule(false);
    change(schedule);
    EXPECT_EQ(run.load(problem, schedule), DFRT_VERIFICATION_FAILED);
    return std::string(dfrt_last_error());
  };
  EXPECT_EQ(refusal([](Schedule &s) { s.instructions[2].variant = 2; }),
            "instruction 2 (merge, task 0): variant 2 does not exist");
  EXPECT_EQ(refusal([](Schedule &s) { s.instructions[3].operandCount = 0; }),
            "instruction 3 (store, task 0) has 0 operands, but its stage takes "
            "1");
  EXPECT_EQ(refusal([](Schedule &s) { s.operands[2].slot = 4; }),
            "instruction 3 (store, task 0): slot 4 is in shared memory of cta "
            "1, but the instruction runs on cta 0");
  EXPECT_EQ(refusal([](Schedule &s) { s.outputs[1] = 3; }),
            "instruction 1 (part, task 0): output slot 3 holds records of "
            "'merge'");
  EXPECT_EQ(refusal([](Schedule &s) { s.slots[0].sliceEnd = 3; }),
            "instruction 1 (part, task 0): slot 0 holds slices 0 to 3, but the "
            "call needs 0 to 4");
  EXPECT_EQ(refusal([](Schedule &s) { s.operands[0].wait = true; }),
            "instruction 2 (merge, task 0): waits for slot 0, which has "
            "neither barrier nor flag");
}
