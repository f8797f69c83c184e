//===- WatchdogTest.cpp - Watchdog records and their names ----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"

#include "dfrt/cuda/Watchdog.h"

#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;
using testing::AllOf;
using testing::HasSubstr;

namespace {
WatchdogRecord record(uint32_t cta, uint32_t role, uint32_t wait,
                      uint32_t instruction, uint32_t object, uint32_t expected,
                      uint32_t seen) {
  return {DFRT_WATCHDOG_COMPLETE,
          cta,
          role,
          wait,
          instruction,
          object,
          expected,
          seen};
}

/// Instruction 0 ('part') on CTA 0 sends slot 0 to slot 3 of CTA 1, whose
/// instruction 1 ('whole') waits on its barrier 1, phase 1, which is barrier 3
/// of the schedule; slot 3 is released back to instruction 2 on CTA 0's barrier
/// 1, which is the schedule's 2.
PlanImage plan() {
  PlanImage plan;
  plan.stages.resize(2);
  plan.stages[0].name = "part";
  plan.stages[1].name = "whole";
  Schedule &schedule = plan.schedule;
  schedule.instructions.resize(3);
  for (uint32_t i = 0; i < 3; ++i) {
    schedule.instructions[i].stage = i == 1;
    schedule.instructions[i].task = 40 + i;
  }
  schedule.queues.push_back({0, {0, 2}});
  schedule.queues.push_back({1, {1}});
  schedule.slots.resize(4);
  schedule.slots[0].stage = schedule.slots[1].stage = 0;
  schedule.slots[0].cta = 0;
  schedule.slots[1].cta = 1;
  schedule.slots[1].barrier = 3;
  schedule.slots[1].phase = 1;
  schedule.barriers = {{1, 1}, {0, 1}, {0, 1}, {1, 1}};
  schedule.slots[0].barrier = 2; // the same number on another CTA
  schedule.slots[0].phase = 1;
  schedule.slots[3] = schedule.slots[1]; // another phase
  schedule.slots[3].phase = 2;
  std::swap(schedule.slots[1], schedule.slots[3]);
  schedule.slots[2].stage = 1;
  schedule.slots[2].flag = 7;
  Transfer transfer;
  transfer.instruction = 0;
  transfer.source = 0;
  transfer.destinationCount = 1;
  schedule.transfers.push_back(transfer);
  schedule.destinations = {3};
  Release release;
  release.slot = 3;
  release.from = 1;
  release.to = 2;
  release.barrier = 2;
  schedule.releases.push_back(release);
  return plan;
}

TEST_F(CudaTest, WatchdogNamesWhoWaitsForWhom) {
  PlanImage image = plan();
  std::vector<WatchdogRecord> records = {
      record(0, DFRT_ROLE_LOAD, DFRT_WAIT_RELEASE, 2, 1, 0, 1),
      record(1, DFRT_ROLE_COMPUTE, DFRT_WAIT_SLOT, 1, 1, 1, 0)};
  std::string text = describeWatchdog(records, 4, &image);
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("2 waits of 2 of 4 ctas ran out"),
            HasSubstr("cta 0, role load, instruction 2 ('part', task 42"),
            HasSubstr("a release on barrier 1, expected 0, seen 1: release 0 "
                      "of slot 3 ('part') by instruction 1 ('whole', task 41"),
            HasSubstr("cta 1, role compute, instruction 1"),
            HasSubstr("a slot's barrier 1, expected 1, seen 0: slot 3 "
                      "('part') by transfer 0 of instruction 0"),
            HasSubstr("on cta 0, which waits itself")));
  records.erase(records.begin());
  EXPECT_THAT(describeWatchdog(records, 4, &image),
              HasSubstr("on cta 0, which left no record"));
}

TEST_F(CudaTest, WatchdogWithoutPlan) {
  std::vector<WatchdogRecord> records = {
      record(3, DFRT_ROLE_STORE, DFRT_WAIT_RING, DFRT_NONE, 2, 1, 0)};
  EXPECT_THAT(
      describeWatchdog(records, 8),
      HasSubstr("cta 3, role store waits for stream 0 stage 2, expected 1, "
                "seen 0"));
  EXPECT_EQ(describeWatchdog({}, 8), "watchdog: no wait ran out");
}

TEST_F(CudaTest, WatchdogSurvivesGarbage) {
  PlanImage image = plan();
  for (uint32_t wait = 0; wait < 10; ++wait) {
    WatchdogRecord bad = {
        DFRT_WATCHDOG_COMPLETE, 99, 77, wait, 1u << 30, 1u << 30, 5, 6};
    EXPECT_THAT(describeWatchdog({bad}, 4, &image),
                AllOf(HasSubstr("which the plan does not have"),
                      HasSubstr("unknown (77)")));
  }
  EXPECT_THAT(
      describeWatchdog({record(0, DFRT_ROLE_LOAD, DFRT_WAIT_FLAG, 0, 7, 2, 1)},
                       4, &image),
      HasSubstr("slot 2 ('whole'), which no transfer writes"));
  EXPECT_THAT(
      describeWatchdog({record(0, DFRT_ROLE_LOAD, DFRT_WAIT_FLAG, 0, 8, 2, 1)},
                       4, &image),
      HasSubstr("nothing of the plan"));
}

TEST_F(CudaTest, WatchdogRecordsOutliveTheContext) {
  Watchdog watchdog = take(Watchdog::create(device, 2));
  EXPECT_TRUE(watchdog.records().empty());
  WatchdogRecord left =
      record(1, DFRT_ROLE_COMPUTE, DFRT_WAIT_CLUSTER, 5, 0, 0, 0);
  char *memory = reinterpret_cast<char *>(watchdog.deviceAddress());
  std::memcpy(memory + (1 * DFRT_WATCHDOG_ROLES + 1) * sizeof(left), &left,
              sizeof(left));
  fake().lose(api::Result::illegalAddress);
  EXPECT_FALSE(device.synchronize().ok());
  std::vector<WatchdogRecord> records = watchdog.records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].instruction, 5u);
  EXPECT_OK(device.reopen());
  EXPECT_TRUE(watchdog.records().empty()); // its memory is gone
  watchdog.clear();
  watchdog = take(Watchdog::create(device, 2));
  EXPECT_TRUE(watchdog.records().empty());
  EXPECT_FAILURE(Watchdog::create(device, 0).status(),
                 StatusCode::invalidArgument, HasSubstr("0 CTAs"));
}
} // namespace
