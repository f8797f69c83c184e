//===- ExplainTest.cpp - Where the time goes ------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain.h"
#include "Memory.h"
#include "TwoParts.h"

#include "dfrt/PlanImage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

using namespace dfrt;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

// CTA 0 and 1 each make a part of one task, CTA 0 adds them: 2 CTAs, one wait.
struct Parts {
  Problem problem;
  Schedule schedule;

  Parts() {
    test::describeTwoParts(problem);
    Program &program = problem.program;
    program.stages[0].record.headBytes = 1024;
    program.stages[0].cost.tileBytes = 64000;
    program.stages[1].record.headBytes = 1024;
    problem.ranges.resize(1);
    problem.ranges[0].tile = 64;
    problem.ranges[0].lengths = {64 * 8};
    problem.ranges[0].offsets = {0};

    schedule.queues.resize(2);
    schedule.queues[0] = {0, {0, 2}};
    schedule.queues[1] = {1, {1}};
    schedule.instructions.resize(3);
    for (uint32_t i = 0; i < 3; ++i) {
      schedule.instructions[i].stage = i == 2;
      schedule.instructions[i].firstOutput = i;
      schedule.instructions[i].outputCount = 1;
    }
    // CTA 1 has seven times the work.
    schedule.instructions[1].tileBegin = 1;
    schedule.instructions[1].tileEnd = 8;
    schedule.instructions[2].operandCount = 2;
    schedule.operands = {{0, kNone, false}, {3, kNone, true}};
    schedule.outputs = {0, 1, 2};
    schedule.slots.resize(4);
    for (uint32_t s = 0; s < 4; ++s) {
      schedule.slots[s].stage = s == 2;
      schedule.slots[s].space = s == 3 ? Space::global : Space::shared;
      schedule.slots[s].cta = s == 1 || s == 3;
      schedule.slots[s].offset = s == 2 ? 1024 : 0;
    }
    schedule.slots[3].flag = 0;
    schedule.flags = 1;
    schedule.transfers.push_back({Transport::global, 1, 1, 0, 1});
    schedule.destinations = {3};
    schedule.sharedBytes = 2048;
    schedule.globalBytes = 1024;
  }
};

double savingOf(const Explanation &explanation, const char *what) {
  auto found =
      std::find_if(explanation.savings.begin(), explanation.savings.end(),
                   [&](const Saving &saving) { return saving.what == what; });
  EXPECT_NE(found, explanation.savings.end()) << what;
  return found == explanation.savings.end() ? -1 : found->ns;
}

TEST(Explain, WaitsBelongToTheirTransfer) {
  Parts parts;
  Expected<SimulationResult> simulation =
      simulate(parts.problem, parts.schedule);
  ASSERT_TRUE(bool(simulation)) << simulation.status().message();
  Expected<Explanation> explanation =
      explain(parts.problem, parts.schedule, *simulation);
  ASSERT_TRUE(bool(explanation));
  ASSERT_EQ(explanation->waits.size(), 1u);
  EXPECT_EQ(explanation->waits[0].transport, "global");
  EXPECT_EQ(explanation->waits[0].from, "part");
  EXPECT_EQ(explanation->waits[0].to, "add");
  EXPECT_EQ(explanation->waits[0].times.count, 1u);
  const InstructionSpan *add = nullptr;
  for (const InstructionSpan &span : simulation->spans)
    if (span.instruction == 2)
      add = &span;
  EXPECT_DOUBLE_EQ(explanation->waits[0].times.sum, add->begin - add->wait);
  // The long part and the sum.
  ASSERT_EQ(explanation->summary.critical.size(), 2u);
  EXPECT_EQ(explanation->summary.critical[0].span.instruction, 1u);
}

TEST(Explain, SavingsAreSimulated) {
  Parts parts;
  Expected<SimulationResult> simulation =
      simulate(parts.problem, parts.schedule);
  ASSERT_TRUE(bool(simulation));
  Expected<Explanation> explanation =
      explain(parts.problem, parts.schedule, *simulation);
  ASSERT_TRUE(bool(explanation));
  const CostModel &costs = parts.problem.costs;
  EXPECT_NEAR(savingOf(*explanation, "a launch that costs nothing"),
              costs.launchNs, 1e-6);
  // The hop, and reading the record from global memory.
  EXPECT_NEAR(savingOf(*explanation, "transfers that arrive at once"),
              (costs.globalHopCycles + 1024 / costs.globalBytesPerCycle) /
                  costs.clockGHz,
              1);
  EXPECT_NEAR(savingOf(*explanation, "draws that cost nothing"), 0, 1e-6);
  for (size_t i = 1; i < explanation->savings.size(); ++i)
    EXPECT_GE(explanation->savings[i - 1].ns, explanation->savings[i].ns);
}

TEST(Explain, TextAndJsonAgree) {
  Parts parts;
  Expected<SimulationResult> simulation =
      simulate(parts.problem, parts.schedule);
  Expected<Explanation> explanation =
      explain(parts.problem, parts.schedule, *simulation);
  ASSERT_TRUE(bool(explanation));
  std::string text = toText(*explanation);
  EXPECT_THAT(text, HasSubstr("waits: global part to add: 1 of them"));
  EXPECT_THAT(text, HasSubstr("critical path: 2 instructions, 1 of which"));
  EXPECT_THAT(text, HasSubstr("would help: a launch that costs nothing"));
  Json json = toJson(*explanation);
  EXPECT_EQ(json["source"], "predicted");
  EXPECT_EQ(json["waits"][0]["transport"], "global");
  EXPECT_EQ(json["critical_path"].size(), 2u);
}

std::vector<uint8_t> planOf(const Parts &parts) {
  PlanImage image = makePlanImage(parts.problem, parts.schedule);
  Expected<std::vector<uint8_t>> bytes = packPlan(image, exactMaxima(image));
  EXPECT_TRUE(bool(bytes)) << bytes.status().message();
  return bytes ? *bytes : std::vector<uint8_t>();
}

TEST(Memory, AddsUpWhatACtaNeeds) {
  Parts parts;
  Kernel kernel;
  kernel.symbol = "k";
  kernel.disciplines = 1;
  kernel.transports = 31;
  kernel.reservedBytes = parts.problem.topology.reservedBytes;
  Kernel other = kernel;
  other.symbol = "other";
  other.reservedBytes += 128;
  MemoryLayout layout = layOutMemory(parts.problem, parts.schedule,
                                     {kernel, other}, planOf(parts));
  EXPECT_THAT(layout.problems, IsEmpty());
  EXPECT_EQ(layout.fullest, 2048u);
  EXPECT_EQ(layout.total(), layout.reserved + 2048);
  EXPECT_EQ(layout.globalSlots, 1u);
  ASSERT_EQ(layout.ctas.size(), 2u);
  EXPECT_EQ(layout.ctas[0].slots, 2u);
  EXPECT_EQ(layout.ctas[1].bytes, 1024u);
  EXPECT_EQ(layout.kernels[0].differences, "");
  EXPECT_THAT(layout.kernels[1].differences,
              HasSubstr("bytes of shared memory"));
}

TEST(Memory, SaysWhichLimitIsExceeded) {
  Parts parts;
  std::vector<uint8_t> plan = planOf(parts);
  parts.schedule.slots[2].offset = parts.problem.topology.slotBytes() - 512;
  parts.schedule.globalBytes = 1000;
  MemoryLayout layout = layOutMemory(parts.problem, parts.schedule, {}, plan);
  ASSERT_EQ(layout.problems.size(), 4u);
  EXPECT_THAT(layout.problems[0], HasSubstr("slot 2 ends at byte 101888 of the "
                                            "shared memory for slots, which "
                                            "has 101376"));
  EXPECT_THAT(layout.problems[1], HasSubstr("an arena of 1000"));
  EXPECT_THAT(layout.problems[3], HasSubstr("bytes of shared memory (131072 "
                                            "reserved"));
  EXPECT_THAT(toText(layout), HasSubstr("WRONG: slot 2"));
}

} // namespace
