//===- TimelineTest.cpp - Pictures and reports of a small plan ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Timeline.h"
#include "Report.h"
#include "TwoParts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace dfrt;
using testing::HasSubstr;
using testing::Not;

namespace {

// Two CTAs: each a piece of one task, then a reduce that waits for both.
struct Small {
  Problem problem;
  Schedule schedule;
  SimulationResult simulation;

  Small() {
    test::describeTwoParts(problem);
    Program &program = problem.program;
    program.name = "sum";
    program.domains[0].name = "rows";
    program.ranges[0].name = "columns";
    program.ranges[0].tile = 4;
    program.stages[0].name = "part<a>";
    program.stages[0].arity = Arity::pieces;
    program.stages[0].cost.tileBytes = 1000;
    program.stages[1].inputs.push_back({0, {0}});
    problem.ranges.resize(1);
    problem.ranges[0].tile = 4;
    problem.ranges[0].lengths = {10};
    problem.ranges[0].offsets = {0};
    problem.keys.resize(2);

    schedule.solver = "hand";
    schedule.instructions.resize(3);
    schedule.instructions[0].stage = 0;
    schedule.instructions[0].tileEnd = 2;
    schedule.instructions[1].stage = 0;
    schedule.instructions[1].tileBegin = 2;
    schedule.instructions[1].tileEnd = 3;
    schedule.instructions[2].stage = 1;
    schedule.instructions[2].firstOperand = 0;
    schedule.instructions[2].operandCount = 2;
    schedule.slots.resize(3);
    schedule.operands = {{0, kNone, false}, {2, kNone, true}};
    schedule.transfers.push_back({Transport::global, 1, 1, 0, 1});
    schedule.destinations = {2};
    schedule.queues = {{0, {0, 2}}, {1, {1}}};
    simulation.totalNs = 10000;
    simulation.floorNs = 6000;
    simulation.busyShare = 0.75;
    simulation.spans = {{0, 0, 1000, 1000, 5000},
                        {2, 0, 5000, 6000, 9000},
                        {1, 1, 1000, 1000, 4000}};
  }
};

TEST(Timeline, SvgHasEverything) {
  Small small;
  std::string svg =
      drawSvg({small.problem, small.schedule, small.simulation, "a & b"});
  EXPECT_THAT(svg, HasSubstr("a &amp; b"));
  EXPECT_THAT(svg, HasSubstr("part&lt;a&gt;, task 0 (row 0)\ntiles 0 to 2"));
  EXPECT_THAT(svg, HasSubstr("predicted 10.0 µs, read floor 6.0 µs (60.0 %)"));
  EXPECT_THAT(svg, Not(HasSubstr("part<a>")));
  // Three instructions, one wait, one transfer between CTAs.
  auto count = [&](const std::string &word) {
    size_t found = 0;
    for (size_t at = svg.find(word); at != std::string::npos;
         at = svg.find(word, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count("class=\"i\""), 3u);
  EXPECT_EQ(count("class=\"w\" x"), 1u);
  EXPECT_EQ(count("class=\"t\" d=\"M"), 2u); // with the legend's
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
}

TEST(Timeline, Text) {
  Small small;
  std::string text = drawText(
      {small.problem, small.schedule, small.simulation, "title"}, 53, 24);
  EXPECT_EQ(text, "title\n"
                  "      CTA 0 |    pppppppppppppppp....aaaaaaaaaaaa\n"
                  "      CTA 1 |    pppppppppppp\n"
                  "            |0                                10.0 us\n"
                  "             p part<a>   a add   . waiting\n");
}

TEST(Timeline, TextJoinsLanes) {
  Small small;
  small.problem.topology.ctas = 132;
  std::string text = drawText(
      {small.problem, small.schedule, small.simulation, "title"}, 80, 12);
  EXPECT_THAT(text, HasSubstr("CTA 0-10"));
  EXPECT_THAT(text, HasSubstr("CTA 121-131"));
}

TEST(Report, TextAndJsonAgree) {
  Small small;
  Report report;
  report.program = "sum";
  report.point = "0";
  report.workload = "w.json";
  report.problem = summarise(small.problem);
  report.plan =
      summarise(small.problem, small.schedule, &small.simulation, 4096);
  report.decisions.push_back({"combine", "fold", "there are 2 parts"});
  report.prediction = small.simulation;
  report.checks.push_back({"out", 10, 1e-5, 1e-3, 2, 0, "", true});
  std::string text = toText(report);
  EXPECT_THAT(text, HasSubstr("columns: 10 elements in 3 tiles of 4"));
  EXPECT_THAT(text, HasSubstr("3 instructions on 2 CTAs: part<a> 2, add 1"));
  EXPECT_THAT(text, HasSubstr("balance: 1.0 KB to 2.0 KB a CTA"));
  EXPECT_THAT(text, HasSubstr("combine: fold; there are 2 parts"));
  EXPECT_THAT(text, HasSubstr("read floor 6.0 us, 60.0 %"));
  EXPECT_THAT(text, HasSubstr("1.00e-05, limit 1.0e-03; 2 infinite or NaN as "
                              "in the reference: ok"));
  Json json = toJson(report);
  EXPECT_EQ(json["plan"]["stages"][0]["instructions"], 2);
  EXPECT_EQ(json["plan"]["cta_bytes_most"], 2000);
  EXPECT_EQ(json["plan"]["transfers"]["global"], 1);
  EXPECT_EQ(json["prediction"]["read_floor_share"], 0.6);
  EXPECT_EQ(json["passed"], true);
  report.checks[0].passed = false;
  EXPECT_EQ(toJson(report)["passed"], false);
  EXPECT_THAT(toText(report), HasSubstr("WRONG"));
}

TEST(Report, Units) {
  EXPECT_EQ(formatCount(0), "0");
  EXPECT_EQ(formatCount(999), "999");
  EXPECT_EQ(formatCount(56531), "56,531");
  EXPECT_EQ(formatCount(1234567), "1,234,567");
  EXPECT_EQ(formatBytes(999), "999 B");
  EXPECT_EQ(formatBytes(1000), "1.0 KB");
  EXPECT_EQ(formatBytes(999960), "1.0 MB");
  EXPECT_EQ(formatBytes(65123712), "65.1 MB");
}

} // namespace
