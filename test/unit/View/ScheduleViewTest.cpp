//===- ScheduleViewTest.cpp - Schedules to look at ------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/View/ScheduleView.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace dfrt;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

// CTA 0: part, add; CTA 1: part, which it sends to CTA 0.
PlanImage twoParts() {
  PlanImage image;
  image.topology.ctas = 4;
  image.topology.clusterSize = 2;
  image.stages.resize(2);
  image.stages[0].name = "part</script>";
  image.stages[0].headBytes = 16;
  image.stages[0].sliceBytes = 32;
  image.stages[1].name = "add";
  image.stages[1].headBytes = 16;
  Schedule &schedule = image.schedule;
  schedule.queues.resize(2);
  schedule.queues[0] = {0, {0, 2}};
  schedule.queues[1] = {1, {1}};
  schedule.instructions.resize(3);
  for (uint32_t i = 0; i < 3; ++i) {
    schedule.instructions[i].stage = i == 2;
    schedule.instructions[i].firstOutput = i;
    schedule.instructions[i].outputCount = 1;
  }
  schedule.instructions[2].operandCount = 2;
  schedule.operands = {{0, kNone, false}, {3, kNone, true}};
  schedule.outputs = {0, 1, 2};
  schedule.slots.resize(4);
  for (uint32_t s = 0; s < 4; ++s) {
    schedule.slots[s].stage = s == 2;
    schedule.slots[s].space = Space::shared;
    schedule.slots[s].cta = s == 1;
  }
  schedule.transfers.push_back({Transport::clusterShared, 1, 1, 0, 1});
  schedule.destinations = {3};
  image.places = {{{0, 0}, 0, 512}, {{0, 0}, 512, 700}, {{5, 0}, 0, 0}};
  return image;
}

TEST(ScheduleView, StepsWithoutASimulation) {
  PlanImage image = twoParts();
  ScheduleView view = viewSchedule(image, "two parts");
  EXPECT_FALSE(view.timed);
  EXPECT_THAT(view.stuck, IsEmpty());
  ASSERT_EQ(view.rows.size(), 4u);
  EXPECT_THAT(view.rows[0], ElementsAre(0, 2));
  EXPECT_THAT(view.rows[1], ElementsAre(1));
  EXPECT_EQ(view.instructions[2].begin, 1000);
  EXPECT_EQ(view.total, 2000);
  EXPECT_EQ(view.instructions[1].name, "part</script> (0) [512, 700)");
  EXPECT_EQ(view.instructions[2].name, "add (5)");
  EXPECT_EQ(view.slots[3].bytes, 48u);
  EXPECT_EQ(view.slots[3].writer, 1u);
  EXPECT_EQ(view.slots[3].from, 1000) << "arrives at the sender's end";
  EXPECT_EQ(view.slots[0].from, 0) << "written while the handler runs";
  EXPECT_EQ(view.slots[3].to, 2000);
}

TEST(ScheduleView, StepsFollowWhatIsRead) {
  PlanImage image = twoParts();
  // CTA 1 makes both parts; CTA 0 has nothing to do before they are there.
  image.schedule.queues[0].instructions = {2};
  image.schedule.queues[1].instructions = {0, 1};
  ScheduleView view = viewSchedule(image, "one after the other");
  EXPECT_EQ(view.instructions[2].wait, 0);
  EXPECT_EQ(view.instructions[2].begin, 2000);
  EXPECT_EQ(view.total, 3000);
}

TEST(ScheduleView, ASlotThatIsPublishedInPlaceIsWrittenByItsHandler) {
  PlanImage image = twoParts();
  image.schedule.transfers[0].transport = Transport::global;
  image.schedule.destinations = {1};
  image.schedule.operands[1].slot = 1;
  ScheduleView view = viewSchedule(image, "in place");
  EXPECT_EQ(view.slots[1].from, 0);
  EXPECT_EQ(view.slots[1].to, 2000);
}

TEST(ScheduleView, ATicketListIsDrawnByWhoIsFree) {
  PlanImage image = twoParts();
  image.schedule.discipline = Discipline::ticket;
  image.schedule.queues = {{kNone, {0, 1, 2}}};
  for (uint32_t i : {0, 1})
    image.schedule.instructions[i].draw = true;
  ScheduleView view = viewSchedule(image, "tickets");
  EXPECT_THAT(view.rows[0], ElementsAre(0));
  EXPECT_THAT(view.rows[1], ElementsAre(1, 2)) << "one draw, one CTA";
}

TEST(ScheduleView, TimesOfASimulation) {
  PlanImage image = twoParts();
  SimulationResult simulation;
  simulation.totalNs = 9000.4;
  simulation.floorNs = 3000;
  simulation.spans = {
      {0, 0, 100, 200, 1000}, {2, 0, 1000, 5000, 6000}, {1, 1, 100, 100, 4000}};
  ScheduleView view = viewSchedule(image, "two parts", &simulation);
  EXPECT_TRUE(view.timed);
  EXPECT_EQ(view.total, 9000);
  EXPECT_EQ(view.floor, 3000);
  EXPECT_EQ(view.instructions[2].wait, 1000);
  EXPECT_EQ(view.slots[3].from, 4000);
}

TEST(ScheduleView, WhatALaunchDidNotRecordIsInNoRow) {
  PlanImage image = twoParts();
  SimulationResult recorded;
  recorded.totalNs = 6000;
  recorded.spans = {{0, 0, 100, 200, 1000}, {2, 0, 1000, 5000, 6000}};
  ScheduleView view = viewSchedule(image, "lost", &recorded, true);
  EXPECT_TRUE(view.measured);
  EXPECT_THAT(view.rows[1], IsEmpty());
  EXPECT_EQ(view.instructions[1].cta, kNone);
  std::string page = toHtml(view);
  EXPECT_THAT(page, HasSubstr("\"measured\":true"));
  EXPECT_THAT(page, HasSubstr("\"instructions\":[0,0,100,200,1000,0,-1,0,0,0"));
}

TEST(ScheduleView, WaitsForItselfAreShown) {
  PlanImage image = twoParts();
  // The sum comes first in its queue and now also feeds the part behind it.
  image.schedule.queues[0].instructions = {2, 0};
  ScheduleView view = viewSchedule(image, "wrong");
  EXPECT_THAT(view.stuck, ElementsAre(2));
  EXPECT_THAT(toHtml(view), HasSubstr("\"stuck\":[2]"));
}

TEST(ScheduleView, PageHoldsItsDataAndNothingElse) {
  PlanImage image = twoParts();
  std::string page = toHtml(viewSchedule(image, "two parts"));
  EXPECT_THAT(page,
              HasSubstr("\"names\":[\"part\\u003c/script> (0) [0, 512)\""));
  EXPECT_THAT(page, HasSubstr("\"transfers\":[[2,1,1,3]]"));
  EXPECT_EQ(page.find("@DATA@"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos) << "self-contained";
}

TEST(ScheduleView, Graph) {
  PlanImage image = twoParts();
  image.stages[0].name = "a \"part\"";
  std::string graph = toDot(viewSchedule(image, "two parts"));
  EXPECT_THAT(graph, HasSubstr("label=\"CTA 1, cluster 0\""));
  EXPECT_THAT(graph,
              HasSubstr("i1 [label=\"#1 a \\\"part\\\" (0) [512, 700)\"]"));
  EXPECT_THAT(graph, HasSubstr("i0 -> i2 [style=dashed"));
  EXPECT_THAT(
      graph,
      HasSubstr("i1 -> i2 [label=\"cluster_shared s3, 48 B\", style=bold]"));
  EXPECT_THAT(graph, HasSubstr("i0 -> i2 [label=\"reads s0, 48 B\""));
}

} // namespace
