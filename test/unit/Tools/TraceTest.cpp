//===- TraceTest.cpp - What a kernel recorded, and what follows from it ---===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Trace.h"
#include "TwoParts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

using namespace dfrt;
using testing::HasSubstr;
using testing::Not;

namespace {

// Two CTAs: each a piece of one task; CTA 0 then adds what CTA 1 sends.
struct Recorded {
  Problem problem;
  Schedule schedule;
  SimulationResult simulation;
  std::vector<cuda::TimelineLane> lanes;
  std::vector<dfrt_stamp> stamps;

  Recorded() {
    test::describeTwoParts(problem);

    schedule.instructions.resize(3);
    schedule.instructions[0].stage = 0;
    schedule.instructions[0].tileEnd = 2;
    schedule.instructions[0].firstOutput = 0;
    schedule.instructions[0].outputCount = 1;
    schedule.instructions[1] = schedule.instructions[0];
    schedule.instructions[1].tileBegin = 2;
    schedule.instructions[1].tileEnd = 3;
    schedule.instructions[1].firstOutput = 1;
    schedule.instructions[2].stage = 1;
    schedule.instructions[2].operandCount = 2;
    schedule.outputs = {0, 1};
    schedule.slots.resize(3);
    schedule.operands = {{0, kNone, false}, {2, kNone, true}};
    schedule.transfers.push_back({Transport::global, 1, 1, 0, 1});
    schedule.destinations = {2};
    simulation.totalNs = 10000;
    simulation.spans = {{0, 0, 1000, 1000, 5000},
                        {2, 0, 5000, 6000, 9000},
                        {1, 1, 1000, 1000, 4000}};

    constexpr uint64_t kStart = 1000000;
    auto lane = [&](uint32_t cta, uint32_t role, uint32_t multiprocessor,
                    std::vector<cuda::TimelineRecord> records) {
      for (cuda::TimelineRecord &record : records)
        for (uint64_t *time :
             {&record.begin, &record.ready, &record.handled, &record.finished})
          *time += kStart;
      lanes.push_back({cta, role, multiprocessor, uint32_t(records.size()),
                       std::move(records)});
    };
    lane(0, DFRT_ROLE_LOAD, 8, {{0, 50, 200, 200, 600, 600}});
    lane(0, DFRT_ROLE_COMPUTE, 8,
         {{0, 100, 300, 300, 1000, 1100}, {2, 0, 1200, 5200, 5700, 5900}});
    lane(1, DFRT_ROLE_LOAD, 9, {{1, 0, 400, 400, 400, 400}});
    lane(1, DFRT_ROLE_COMPUTE, 9, {{1, 1000, 500, 500, 4500, 5000}});
    stamps = {{kStart + 100, kStart + 6000}, {kStart, kStart + 5100}};
  }
  LaunchTrace trace() {
    Expected<LaunchTrace> read = readTrace(schedule, lanes, stamps);
    EXPECT_TRUE(bool(read)) << read.status().message();
    return *read;
  }
};

TEST(Trace, TimesCountFromTheFirstCta) {
  LaunchTrace trace = Recorded().trace();
  EXPECT_EQ(trace.ctas, 2u);
  EXPECT_EQ(trace.totalNs, 6000);
  EXPECT_EQ(trace.begins[0], 100);
  ASSERT_EQ(trace.spans.size(), 5u);
  EXPECT_TRUE(trace.spans[0].loads);
  EXPECT_EQ(trace.spans[1].begin, 300);
  EXPECT_EQ(trace.multiprocessors[1], 9u);
}

TEST(Trace, RecordsHaveToBeOfThePlan) {
  Recorded recorded;
  recorded.lanes[1].records[0].instruction = 3;
  EXPECT_THAT(readTrace(recorded.schedule, recorded.lanes, recorded.stamps)
                  .status()
                  .message(),
              HasSubstr("cta 0 has recorded instruction 3, the plan has 3"));
  recorded.lanes.clear();
  EXPECT_THAT(readTrace(recorded.schedule, recorded.lanes, recorded.stamps)
                  .status()
                  .message(),
              HasSubstr("has recorded nothing"));
}

TEST(Trace, AsASimulationWouldTellIt) {
  SimulationResult result = asSimulation(Recorded().trace(), 2000);
  EXPECT_EQ(result.totalNs, 6000);
  EXPECT_EQ(result.floorNs, 2000);
  ASSERT_EQ(result.spans.size(), 3u); // not those of the load role
  EXPECT_EQ(result.spans[1].instruction, 2u);
  EXPECT_EQ(result.spans[1].wait, 1200);
  EXPECT_EQ(result.spans[1].begin, 5200);
  EXPECT_EQ(result.spans[1].end, 5900);
}

TEST(Trace, Summary) {
  Recorded recorded;
  TraceSummary summary =
      summarise(recorded.problem, recorded.schedule, recorded.trace());
  const TraceSummary::StageTimes &part = summary.stages[0];
  EXPECT_EQ(part.handler.count, 2u);
  EXPECT_EQ(part.handler.mean(), (700 + 4000) / 2.0);
  EXPECT_EQ(part.handler.most, 4000);
  EXPECT_EQ(part.tiles.most, 1000);
  EXPECT_EQ(part.finish.sum, 100 + 500);
  EXPECT_EQ(part.fill.count, 1u); // the other one took no time
  EXPECT_EQ(part.full.sum, 50);
  EXPECT_EQ(part.firstBegin, 300);
  EXPECT_EQ(part.lastEnd, 5000);
  EXPECT_EQ(summary.stages[1].wait.most, 4000);
  EXPECT_EQ(summary.lastCtaBegin, 100);
  EXPECT_EQ(summary.firstInstruction.most, 500);
  EXPECT_EQ(summary.lastInstruction.mean(), (5900 + 5000) / 2.0);
  EXPECT_EQ(summary.firstFill.count, 1u);
  EXPECT_EQ(summary.firstFill.most, 200);
  EXPECT_EQ(summary.lastFill.mean(), 600);
  // Of 2 CTAs of 6000 ns each.
  EXPECT_DOUBLE_EQ(summary.handlers, (600 + 500 + 3000) / 12000.0);
  EXPECT_DOUBLE_EQ(summary.tiles, 1100 / 12000.0);
  EXPECT_DOUBLE_EQ(summary.operands, 4000 / 12000.0);
  EXPECT_DOUBLE_EQ(summary.finishing, 800 / 12000.0);
  EXPECT_DOUBLE_EQ(summary.between, 100 / 12000.0);
  EXPECT_DOUBLE_EQ(summary.starting, 800 / 12000.0);
  EXPECT_DOUBLE_EQ(summary.ending, 1100 / 12000.0);
  EXPECT_DOUBLE_EQ(summary.handlers + summary.tiles + summary.operands +
                       summary.finishing + summary.between + summary.starting +
                       summary.ending,
                   1);
}

TEST(Trace, CriticalPathFollowsTheLastArrival) {
  Recorded recorded;
  TraceSummary summary =
      summarise(recorded.problem, recorded.schedule, recorded.trace());
  ASSERT_EQ(summary.critical.size(), 2u);
  EXPECT_EQ(summary.critical[0].span.instruction, 1u);
  EXPECT_FALSE(summary.critical[0].hop);
  EXPECT_EQ(summary.critical[1].span.instruction, 2u);
  EXPECT_TRUE(summary.critical[1].hop);
  // Had the other part arrived early, the CTA's own would be the reason.
  for (uint64_t *time : {&recorded.lanes[3].records[0].handled,
                         &recorded.lanes[3].records[0].finished})
    *time = 1000600;
  summary = summarise(recorded.problem, recorded.schedule, recorded.trace());
  ASSERT_EQ(summary.critical.size(), 2u);
  EXPECT_EQ(summary.critical[0].span.instruction, 0u);
  EXPECT_FALSE(summary.critical[1].hop);
}

TEST(Trace, TextAndJsonAgree) {
  Recorded recorded;
  TraceSummary summary =
      summarise(recorded.problem, recorded.schedule, recorded.trace());
  summary.lost = 7;
  std::string text = toText(summary);
  EXPECT_THAT(text, HasSubstr("6.00 us from the first CTA's begin"));
  EXPECT_THAT(text, HasSubstr("7 instructions left no record"));
  EXPECT_THAT(text, HasSubstr("copies of 1 CTAs: issued from 0.20 us"));
  EXPECT_THAT(text, HasSubstr("handlers 34.2 %; idle 65.8 %: for tiles 9.2"));
  EXPECT_THAT(text, HasSubstr("CTA 0 ends last, at 5.90 us"));
  EXPECT_THAT(text, HasSubstr("part (row 0) tiles 2 to 3"));
  Json json = toJson(summary);
  EXPECT_EQ(json["span_us"], 6);
  EXPECT_EQ(json["lost"], 7);
  EXPECT_EQ(json["stages"][1]["operands"]["most_us"], 4);
  EXPECT_EQ(json["critical_path"][0]["cta"], 1);
}

TEST(Trace, EventsOfLaunchAndSimulation) {
  Recorded recorded;
  LaunchTrace trace = recorded.trace();
  trace.kernel = "sum\"static";
  Json file = Json::parse(traceEvents(recorded.problem, recorded.schedule,
                                      recorded.simulation, &trace,
                                      "sum, point 0", *makeJsonSink()));
  EXPECT_EQ(file["otherData"]["title"], "sum, point 0");
  size_t slices = 0, simulated = 0, arrows = 0;
  for (const Json &event : file["traceEvents"]) {
    if (event["ph"] == "s" || event["ph"] == "f")
      ++arrows;
    if (event["ph"] != "X")
      continue;
    EXPECT_GT(event["dur"], 0);
    ++(event["pid"] == 1 ? slices : simulated);
    if (event["pid"] == 1 && event["name"] == "add (row 0)") {
      EXPECT_EQ(event["tid"], 1);
      EXPECT_EQ(event["ts"], 1.2);
      EXPECT_EQ(event["dur"], 4.7);
      EXPECT_EQ(event["args"]["instruction"], 2);
    }
  }
  // 2 CTAs, 3 instructions, 1 wait, 3 handlers, 3 finishes, 1 fill.
  EXPECT_EQ(slices, 13u);
  EXPECT_EQ(simulated, 7u);
  EXPECT_EQ(arrows, 4u); // of the launch and of the simulation
  std::string text =
      traceEvents(recorded.problem, recorded.schedule, recorded.simulation,
                  nullptr, "simulated only", *makeJsonSink());
  EXPECT_THAT(text, Not(HasSubstr("\"pid\":1")));
  EXPECT_EQ(Json::parse(text)["traceEvents"].size(), 2u + 4 + 7 + 2);
}

// Reads protobuf: field, wire type and value (or bytes) one after the other.
struct Field {
  uint64_t number = 0, value = 0;
  std::string bytes;
};
std::vector<Field> decode(const std::string &message) {
  std::vector<Field> fields;
  size_t at = 0;
  auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0; at < message.size(); shift += 7) {
      uint8_t byte = message[at++];
      value |= uint64_t(byte & 127) << shift;
      if (byte < 128)
        break;
    }
    return value;
  };
  while (at < message.size()) {
    uint64_t key = varint();
    Field field;
    field.number = key >> 3;
    if ((key & 7) == 0) {
      field.value = varint();
    } else if ((key & 7) == 1) {
      for (int byte = 0; byte < 8; ++byte)
        field.value |= uint64_t(uint8_t(message[at + byte])) << (8 * byte);
      at += 8;
    } else {
      EXPECT_EQ(key & 7, 2u);
      size_t length = varint();
      field.bytes = message.substr(at, length);
      at += length;
    }
    fields.push_back(field);
  }
  return fields;
}

TEST(Trace, PerfettoHasTheSameTracksSlicesAndFlows) {
  Recorded recorded;
  LaunchTrace trace = recorded.trace();
  std::string file =
      traceEvents(recorded.problem, recorded.schedule, recorded.simulation,
                  &trace, "sum", *makePerfettoSink());
  std::map<uint64_t, int> open; // slices by track
  std::map<uint64_t, std::pair<int, int>> flows;
  size_t descriptors = 0, slices = 0;
  std::set<std::string> names;
  for (const Field &packet : decode(file)) {
    ASSERT_EQ(packet.number, 1u);
    for (const Field &field : decode(packet.bytes)) {
      descriptors += field.number == 60;
      if (field.number != 11)
        continue;
      uint64_t type = 0, track = 0;
      for (const Field &part : decode(field.bytes)) {
        if (part.number == 9)
          type = part.value;
        if (part.number == 11)
          track = part.value;
        if (part.number == 23)
          names.insert(part.bytes);
        if (part.number == 47)
          ++flows[part.value].first;
        if (part.number == 48)
          ++flows[part.value].second;
      }
      slices += type == 1;
      open[track] += type == 1 ? 1 : -1;
    }
  }
  // Two processes; two tracks a CTA of the launch, one a CTA simulated.
  EXPECT_EQ(descriptors, 2u + 4 + 2);
  EXPECT_EQ(slices, 13u + 7);
  EXPECT_EQ(names.count("add (row 0)"), 1u);
  for (const auto &[track, left] : open)
    EXPECT_EQ(left, 0) << track;
  ASSERT_EQ(flows.size(), 2u);
  for (const auto &[number, ends] : flows)
    EXPECT_EQ(ends, std::make_pair(1, 1)) << number;
}
} // namespace
