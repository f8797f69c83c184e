//===- ChoicesTest.cpp - All choices of the planner -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is forced where nothing was, and where something was; and how results
// are told. Measuring itself needs a GPU.
//
//===----------------------------------------------------------------------===//

#include "Choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace dfrt;
using testing::HasSubstr;

namespace {

TEST(Choices, AreAllThatIsOpen) {
  Options options;
  std::vector<Options> all = choicesOf(options);
  // Solvers and `line`, three ways to combine; in clusters two transports.
  size_t plans = (solvers().size() + 1) * 3;
  EXPECT_EQ(all.size(), 1 + plans + 4 * 2 * plans + 1);
  EXPECT_EQ(all[0].schedule.solver, "");
  EXPECT_FALSE(all[all.size() - 2].schedule.batchInvariant);
  EXPECT_TRUE(all.back().schedule.batchInvariant);
  size_t lines = 0, global = 0;
  for (const Options &choice : all) {
    lines += choice.schedule.solver == "line";
    global += choice.schedule.transport == Transport::global;
  }
  EXPECT_EQ(lines, 3u * 9);
  EXPECT_EQ(global, 4 * plans);
}

TEST(Choices, KeepWhatIsGiven) {
  Options options;
  options.schedule.solver = "stream";
  options.schedule.combine = ScheduleOptions::Combine::fold;
  options.schedule.batchInvariant = true;
  options.topology.clusterSize = 4;
  options.clusterGiven = true;
  std::vector<Options> all = choicesOf(options);
  ASSERT_EQ(all.size(), 3u); // what is given, and two transports
  for (const Options &choice : all) {
    EXPECT_EQ(choice.schedule.solver, "stream");
    EXPECT_EQ(choice.schedule.combine, ScheduleOptions::Combine::fold);
    EXPECT_TRUE(choice.schedule.batchInvariant);
    EXPECT_EQ(choice.topology.clusterSize, 4u);
  }
}

TEST(Choices, AreToldFastestFirst) {
  ChoiceTime own, other, none;
  own.solver = "stream";
  own.combine = own.transport = "automatic";
  own.ctas = 132;
  own.predictedUs = 19;
  own.coldUs = 22;
  other = own;
  other.solver = "line";
  other.coldUs = 20;
  none = own;
  none.clusterSize = 16;
  none.refusal = "no kernel takes clusters of 16";
  std::string text = toText({own, none, other});
  EXPECT_THAT(text, HasSubstr("the planner's takes 22.00 us, 10.0 % more than "
                              "the best of 3\n"));
  size_t first = text.find("line, combine"), second = text.find("stream, "),
         third = text.find("no kernel takes");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_EQ(text.find("(the planner's)"), text.rfind("(the planner's)"));
  Json json = toJson(std::vector<ChoiceTime>{own, none});
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["p50_us"], 22);
  EXPECT_EQ(json[0]["ctas"], 132);
  EXPECT_FALSE(json[1].contains("p50_us"));
  EXPECT_EQ(json[1]["refusal"], none.refusal);
  EXPECT_EQ(toText(std::vector<ChoiceTime>()), "");
}

} // namespace
