//===- ProfileTest.cpp - Device profiles ----------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file: read, written, refused. What the planner takes from it.
//
//===----------------------------------------------------------------------===//

#include "Examples.h"

#include "dataflow/Schedule/Profile.h"
#include "dataflow/Schedule/Simulator.h"

#include <fstream>
#include <gmock/gmock.h>
#include <iterator>

using namespace dfrt;
using namespace dfrt::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
std::string fixture() {
  std::ifstream file(DATAFLOW_SOURCE_DIR "/test/unit/fixtures/profile-v1.json");
  return std::string((std::istreambuf_iterator<char>(file)), {});
}
DeviceProfile profile() {
  Expected<DeviceProfile> read = readProfile(fixture());
  EXPECT_TRUE(read) << read.status().message();
  return *read;
}
/// What is said of the fixture with `from` replaced by `to`.
std::string refusal(const std::string &from, const std::string &to) {
  std::string text = fixture();
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at == std::string::npos)
    return "";
  text.replace(at, from.size(), to);
  Expected<DeviceProfile> read = readProfile(text, "p.json");
  EXPECT_FALSE(read) << from << " -> " << to;
  EXPECT_EQ(read.status().code(), StatusCode::invalidFile);
  return read.status().message();
}
} // namespace

TEST(Profile, Reads) {
  DeviceProfile p = profile();
  EXPECT_EQ(p.card, "A card for tests");
  EXPECT_EQ(p.multiprocessors, 20u);
  EXPECT_THAT(p.residentClusters, ElementsAre(20, 10, 4, 2, 0));
  EXPECT_EQ(p.launch.graphNode, 600);
  ASSERT_EQ(p.reads.size(), 4u);
  EXPECT_EQ(p.reads[3].clusterSize, 4u);
  EXPECT_EQ(p.reads[3].bandwidth, 450);
  ASSERT_EQ(p.hops.size(), 5u);
  EXPECT_EQ(p.hops[3].kind, HopKind::clusterSignal);
  EXPECT_EQ(p.hops[3].bytesPerCycle, 0);
  EXPECT_EQ(p.hops[2].samples[1].cycles, 4596);
  EXPECT_EQ(p.processingClusters[8], 1);
  EXPECT_EQ(p.processingClusters[19], -1);
  EXPECT_TRUE(p.l2Sides.empty());
  EXPECT_EQ(p.residentCtas(4), 16u);
  EXPECT_EQ(p.residentCtas(16), 0u);
  EXPECT_EQ(p.residentCtas(3), 0u);
}

TEST(Profile, WritesWhatItReads) {
  DeviceProfile p = profile();
  std::string text = profileText(p);
  p.l2Sides.assign(20, 1);
  p.card = "quotes \" and \\ and \n";
  Expected<DeviceProfile> again = readProfile(profileText(p));
  ASSERT_TRUE(again) << again.status().message();
  EXPECT_EQ(profileText(*again), profileText(p));
  EXPECT_EQ(again->card, p.card);
  EXPECT_EQ(again->l2Sides, p.l2Sides);
  EXPECT_EQ(again->processingClusters, p.processingClusters);
  EXPECT_NE(profileText(*again), text);
}

TEST(Profile, NumbersAreRounded) {
  DeviceProfile p = profile();
  p.clockMegahertz = 1979.99951;
  p.reads[0].bandwidth = 0.0123456789;
  std::string text = profileText(p);
  EXPECT_THAT(text, HasSubstr("\"clock_mhz\":1980,"));
  EXPECT_THAT(text, HasSubstr("\"gb_per_s\":0.0123457"));
}

TEST(Profile, EveryMemberHasToBeThere) {
  for (const char *key :
       {"card", "architecture", "driver", "date", "clock_mhz",
        "maximum_clock_mhz", "multiprocessors", "shared_bytes", "l2_bytes",
        "memory_bytes", "resident_clusters", "launch", "reads", "hops",
        "processing_clusters", "l2_sides"})
    EXPECT_EQ(refusal("\"" + std::string(key) + "\":", "\"x\":"),
              "p.json: " + std::string(key) + ": this member is missing");
  EXPECT_EQ(refusal("\"graph_node_ns\":", "\"x\":"),
            "p.json: launch.graph_node_ns: this member is missing");
  EXPECT_EQ(refusal("\"16\":0", "\"32\":0"),
            "p.json: resident_clusters.16: this member is missing");
  EXPECT_EQ(refusal("{\"ctas\":10,\"cluster_size\":1,", "{\"ctas\":10,"),
            "p.json: reads[1].cluster_size: this member is missing");
  EXPECT_EQ(refusal("\"ctas\":8,\"waiters\":256,", "\"ctas\":8,"),
            "p.json: hops[2].waiters: this member is missing");
}

TEST(Profile, WrongMembersAreNamed) {
  EXPECT_EQ(refusal("\"card\":\"A card for tests\"", "\"card\":7"),
            "p.json: card: expected a string, got a number");
  EXPECT_THAT(refusal("\"multiprocessors\":20", "\"multiprocessors\":20.5"),
              HasSubstr("multiprocessors: expected a non-negative integer"));
  EXPECT_EQ(refusal("\"date\":", "\"colour\":1,\"date\":"),
            "p.json: colour: this member is not known");
  EXPECT_EQ(refusal("\"event_pair_ns\":1300", "\"event_pair_ns\":true"),
            "p.json: launch.event_pair_ns: expected a number, got true or "
            "false");
  EXPECT_EQ(refusal("\"transport\":\"global_flag\"", "\"transport\":\"post\""),
            "p.json: hops[4].transport: transport 'post' is not known");
  EXPECT_EQ(refusal("[16,501]", "[16]"),
            "p.json: hops[2].samples[0]: expected [bytes, cycles]");
  EXPECT_EQ(refusal("[16,501]", "[1e300,501]"),
            "p.json: hops[2].samples[0]: expected [bytes, cycles]");
  EXPECT_EQ(refusal("\"unknown\"", "\"maybe\""),
            "p.json: l2_sides: expected an array or \"unknown\", got a string");
  EXPECT_EQ(refusal("\"unknown\"", "[0,1]"),
            "p.json: l2_sides has 2 entries for 20 multiprocessors");
  EXPECT_THAT(refusal("\"clock_mhz\":1000", "\"clock_mhz\":0"),
              HasSubstr("p.json: clock_mhz is 0"));
  EXPECT_THAT(refusal("\"2\":10", "\"2\":11"),
              HasSubstr("resident_clusters.2 is 11, more than fit on 20"));
  EXPECT_THAT(refusal("{\"ctas\":10,", "{\"ctas\":21,"),
              HasSubstr("reads[1] has 21 CTAs in clusters of 1, expected 1 to "
                        "20"));
  EXPECT_THAT(refusal("{\"ctas\":1,", "{\"ctas\":11,"),
              HasSubstr("reads[1] is not in order"));
  EXPECT_THAT(refusal("\"bytes_per_cycle\":null", "\"bytes_per_cycle\":3"),
              HasSubstr("hops[3].bytes_per_cycle"));
  EXPECT_THAT(
      refusal("\"transport\":\"global_flag\"", "\"transport\":\"global_data\""),
      HasSubstr("hops has no entry for global_flag"));
}

TEST(Profile, OtherVersionsAreRefused) {
  EXPECT_THAT(refusal("\"version\":1", "\"version\":2"),
              testing::AllOf(HasSubstr("version is 2"), HasSubstr("expected 1"),
                             HasSubstr("df-run --calibrate")));
  EXPECT_THAT(refusal("\"version\":1,", ""),
              HasSubstr("version: this member is missing"));
}

TEST(Profile, SyntaxErrorsHaveAPlace) {
  EXPECT_EQ(refusal("\"clock_mhz\":1000,", "\"clock_mhz\":1000"),
            "p.json:8:2: not valid JSON: ',' or '}' is expected");
  EXPECT_THAT(refusal("\"card\":", "\"card\""), HasSubstr("p.json:3:"));
  EXPECT_THAT(refusal("1000", "nan"), HasSubstr("a value is expected"));
  EXPECT_THAT(refusal("\"unknown\"\n}", "\"unknown\"\n} x"),
              HasSubstr("nothing is expected behind the value"));
  EXPECT_THAT(refusal("\"version\":1", "\"version\":1,\"version\":1"),
              HasSubstr("'version' is given twice"));
  std::string deep(1000, '[');
  EXPECT_THAT(readProfile(deep).status().message(), HasSubstr("16 levels"));
  for (size_t length = 0; length + 2 < fixture().size(); length += 7)
    EXPECT_FALSE(readProfile(fixture().substr(0, length)));
}

TEST(Profile, MissingFile) {
  Status status = readProfileFile("/no/such/profile.json").status();
  EXPECT_EQ(status.code(), StatusCode::invalidFile);
  EXPECT_THAT(status.message(), HasSubstr("'/no/such/profile.json'"));
}

TEST(Profile, FitsALine) {
  DeviceProfile::Hop hop;
  for (uint64_t bytes : {16, 1024, 16384, 65536})
    hop.samples.push_back({bytes, 320 + double(bytes) / 21});
  fitHop(hop);
  EXPECT_NEAR(hop.latencyCycles, 320, 1e-6);
  EXPECT_NEAR(hop.bytesPerCycle, 21, 1e-6);
  hop.samples = {{0, 440}};
  fitHop(hop);
  EXPECT_NEAR(hop.latencyCycles, 440, 1e-9);
  EXPECT_EQ(hop.bytesPerCycle, 0);
}

TEST(Profile, Topology) {
  DeviceProfile p = profile();
  Expected<Topology> t = topologyOf(p, 4, 0, 0, 1000);
  ASSERT_TRUE(t) << t.status().message();
  EXPECT_EQ(t->ctas, 16u);
  EXPECT_EQ(t->clusterSize, 4u);
  EXPECT_EQ(t->sharedBytes, 200000u);
  EXPECT_EQ(t->reservedBytes, 1000u);
  EXPECT_EQ(topologyOf(p, 2, 6)->ctas, 6u);
  EXPECT_THAT(topologyOf(p, 4, 20).status().message(),
              testing::AllOf(HasSubstr("at most 16 CTAs resident in clusters "
                                       "of 4, but 20 are asked for"),
                             HasSubstr("20 in clusters of 1, 20 in clusters of "
                                       "2, 16 in clusters of 4, 16 in clusters "
                                       "of 8")));
  EXPECT_THAT(topologyOf(p, 16).status().message(),
              HasSubstr("no clusters of 16"));
  EXPECT_THAT(topologyOf(p, 16, 16).status().message(),
              HasSubstr("at most 0 CTAs resident in clusters of 16"));
  EXPECT_THAT(topologyOf(p, 3).status().message(),
              HasSubstr("cluster size is 3"));
  EXPECT_THAT(topologyOf(p, 1, 0, 200001).status().message(),
              HasSubstr("has 200000 bytes of shared memory a CTA, but 200001"));
}

TEST(Profile, Costs) {
  CostModel costs = costModel(profile(), 1);
  EXPECT_EQ(costs.clockGHz, 1);
  EXPECT_EQ(costs.bandwidth, 500);
  EXPECT_EQ(costs.ctaBandwidth, 40); // ten of them draw 400
  EXPECT_EQ(costs.launchNs, 4500);
  EXPECT_EQ(costs.clusterHopCycles, 480); // everybody waits
  EXPECT_EQ(costs.globalHopCycles, 2000);
  EXPECT_EQ(costs.globalBytesPerCycle, 25);
  EXPECT_EQ(costs.flops, CostModel().flops);
  EXPECT_TRUE(check(costs).ok());
  costs = costModel(profile(), 8);
  EXPECT_EQ(costs.clusterHopCycles, 500);
  EXPECT_EQ(costs.readRates.size(), 3u); // none of size 8: those of size 1
  costs = costModel(profile(), 4);
  EXPECT_EQ(costs.bandwidth, 450);
}

/// What was fitted to measured plans, where it is there.
TEST(Profile, CostsOfKernels) {
  EXPECT_FALSE(profile().kernels);
  std::string text = fixture();
  std::string member = "\"kernels\":{\"read_share\":0.9,\"instruction_ns\":700,"
                       "\"start_ns\":4000},";
  text.insert(text.find("\"reads\""), member);
  Expected<DeviceProfile> read = readProfile(text);
  ASSERT_TRUE(read) << read.status().message();
  EXPECT_THAT(profileText(*read), HasSubstr(member));
  CostModel plain = costModel(profile()), fitted = costModel(*read);
  EXPECT_EQ(fitted.instructionNs, 700);
  EXPECT_EQ(fitted.startNs, 4000);
  EXPECT_NE(plain.instructionNs, fitted.instructionNs);
  // The device reads as fast as before, a kernel that computes does not.
  EXPECT_DOUBLE_EQ(fitted.bandwidth, plain.bandwidth);
  EXPECT_DOUBLE_EQ(fitted.readRate(20), 0.9 * plain.readRate(20));

  auto wrong = [&](const char *from, const char *to) {
    std::string changed = text;
    changed.replace(changed.find(from), std::string(from).size(), to);
    return readProfile(changed).status().message();
  };
  EXPECT_THAT(wrong("\"read_share\":0.9", "\"read_share\":0"),
              HasSubstr("kernels.read_share is 0"));
  EXPECT_THAT(wrong("\"start_ns\":4000", "\"end_ns\":4000"),
              HasSubstr("kernels.start_ns: this member is missing"));
}

TEST(Profile, RatesAreInterpolated) {
  CostModel costs = costModel(profile(), 1);
  EXPECT_DOUBLE_EQ(costs.readRate(1), 50);
  EXPECT_DOUBLE_EQ(costs.readRate(10), 40);
  EXPECT_DOUBLE_EQ(costs.readRate(15), 30);
  EXPECT_DOUBLE_EQ(costs.readRate(20), 25);
  EXPECT_DOUBLE_EQ(costs.readRate(40), 12.5); // no more than all draw
  costs.readRates.clear();
  EXPECT_DOUBLE_EQ(costs.readRate(10), 40);
  EXPECT_DOUBLE_EQ(costs.readRate(50), 10);
  costs.readRates = {{10, 400}, {5, 200}};
  EXPECT_THAT(check(costs).message(), HasSubstr("readRates has 5"));
  costs.readRates = {{10, 0}};
  EXPECT_THAT(check(costs).message(), HasSubstr("readRates is 0"));
}

TEST(Profile, PredictionFollows) {
  // One CTA reads alone, then ten together.
  for (uint32_t ctas : {1u, 10u}) {
    Problem p = problemFor(splitReduce(true), std::vector<int64_t>(ctas, 640),
                           topology(ctas));
    p.costs = costModel(profile(), 1);
    Expected<SimulationResult> r = simulate(p, planned(p));
    ASSERT_TRUE(r) << r.status().message();
    const CostModel &c = p.costs;
    double bytes = 16384 + 10 * 65536.0, rate = ctas == 1 ? 50 : 40;
    EXPECT_NEAR(r->totalNs,
                c.launchNs + c.startNs + c.exitNs + bytes / rate +
                    2 * c.instructionNs,
                1);
  }
}
