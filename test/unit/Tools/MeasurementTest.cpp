//===- MeasurementTest.cpp - Reports of measurements ----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <regex>
#include <set>

using namespace dfrt;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {
Report measured() {
  Report report;
  report.point = "three";
  Measurement m;
  m.variant = "tickets";
  m.kernel = "kernel";
  m.coldUs = 20;
  m.graphUs = 15.5;
  m.readFloorUs = 19;
  m.uploadUs = 3;
  m.bytes = 40000000;
  m.samples = 30;
  m.card = "a GPU";
  m.date = "2026-11-30";
  m.command = "df-run";
  report.measurement = m;
  return report;
}
} // namespace

TEST(Measurement, MembersAreThoseOfTheManual) {
  Report report = measured();
  Json json = toJson(report);
  report.measurement.reset();
  std::set<std::string> members, documented;
  Json without = toJson(report);
  for (const auto &item : json.items())
    if (!without.contains(item.key()))
      members.insert(item.key());
  std::ifstream file(DATAFLOW_SOURCE_DIR "/docs/df-run.md");
  std::string manual((std::istreambuf_iterator<char>(file)), {});
  size_t begin = manual.find("\n| member |"), end = manual.find("\n## ", begin);
  ASSERT_LT(begin, end);
  std::string table = manual.substr(begin, end - begin);
  std::regex row("\n\\| (`[^|]*)\\|"), name("`([a-z0-9_]+)`");
  for (std::sregex_iterator r(table.begin(), table.end(), row), none; r != none;
       ++r) {
    std::string names = (*r)[1];
    for (std::sregex_iterator n(names.begin(), names.end(), name); n != none;
         ++n)
      documented.insert((*n)[1]);
  }
  EXPECT_EQ(members, documented);
}

TEST(Measurement, NumbersThatDoNotExistAreNull) {
  Report report = measured();
  Json json = toJson(report);
  EXPECT_TRUE(json["rel_l2"].is_null());
  EXPECT_TRUE(json["span_us"].is_null());
  EXPECT_DOUBLE_EQ(json["graph_us"].get<double>(), 15.5);
  report.measurement->graphUs.reset();
  EXPECT_TRUE(toJson(report)["graph_us"].is_null());
  EXPECT_TRUE(json["plan_us"].is_null());
  EXPECT_DOUBLE_EQ(json["read_floor_share"].get<double>(), 0.95);
  OutputCheck small, large;
  small.relativeL2 = 1e-5;
  large.relativeL2 = 1e-3;
  report.checks = {small, large};
  report.planTime = PlanTime{42.5, 40, 3};
  json = toJson(report);
  EXPECT_DOUBLE_EQ(json["rel_l2"].get<double>(), 1e-3);
  EXPECT_DOUBLE_EQ(json["plan_us"].get<double>(), 42.5);
}

TEST(Measurement, IsOneLine) {
  Report report = measured();
  std::string line = toMeasurementLine(report);
  EXPECT_THAT(line, AllOf(HasSubstr("three"),
                          HasSubstr("tickets: 20.00 us cold, 15.50 us in a "
                                    "graph; read floor 19.00 us (95.0 %, 2.00 "
                                    "TB/s of 40.0 MB); upload 3.00 us"),
                          Not(HasSubstr("L2"))));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  OutputCheck check;
  check.name = "out";
  report.checks = {check};
  EXPECT_THAT(toMeasurementLine(report), HasSubstr(": ok\n"));
  report.checks[0].passed = false;
  report.run = RunSummary();
  report.run->identical = false;
  report.run->difference = "run 2: out[0] is 1 instead of 2";
  EXPECT_THAT(toMeasurementLine(report),
              AllOf(HasSubstr("WRONG"), HasSubstr("OUTPUTS DIFFER, run 2"),
                    HasSubstr("out: relative L2 error")));
}
