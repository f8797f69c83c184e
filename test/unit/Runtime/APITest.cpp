//===- APITest.cpp - The C API and its C++ face ---------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPrograms.h"

#include "dfrt/dfrt.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace dfrt;
using namespace dfrt::test;

extern "C" int dataflow_test_from_c(void);

namespace {
/// A case with everything open.
struct Opened {
  explicit Opened(TestCase given) : test(std::move(given)) {
    Expected<std::vector<uint8_t>> bytes = writeArtifact(test.artifact);
    EXPECT_TRUE(bool(bytes));
    Expected<ArtifactHandle> loaded =
        ArtifactHandle::fromMemory(bytes->data(), bytes->size());
    EXPECT_TRUE(bool(loaded)) << loaded.status().message();
    artifact = std::move(*loaded);
    Expected<DeviceHandle> opened = DeviceHandle::open("cpu");
    EXPECT_TRUE(bool(opened));
    device = std::move(*opened);
    arguments = test.arguments();
  }
  PlanHandle plan(const dfrt_plan_options *options = nullptr) {
    Expected<PlanHandle> made = PlanHandle::make(artifact, arguments, options);
    EXPECT_TRUE(bool(made)) << made.status().message();
    return std::move(*made);
  }

  TestCase test;
  ArtifactHandle artifact;
  DeviceHandle device;
  std::vector<dfrt_tensor> arguments;
};
} // namespace

TEST(API, WorksFromC) { EXPECT_EQ(dataflow_test_from_c(), 0); }

TEST(API, MakesLaunchesAndSavesPlans) {
  Opened o(raggedCase({37, 0, 200, 1}));
  dfrt_plan_options options;
  dfrt_plan_options_init(&options);
  options.ctas = 8;
  options.predict = 1;
  PlanHandle plan = o.plan(&options);
  o.test.clearOutputs();
  Status status = o.device.launch(o.artifact, plan, o.arguments);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(o.test.differences(), "");

  Expected<std::string> summary = plan.summary();
  ASSERT_TRUE(bool(summary));
  for (const char *part :
       {"\"program\":\"ragged\"", "\"ctas\":8", "\"solver\":", "\"make_us\":",
        "\"predicted_us\":", "\"floor_us\":", "\"name\":\"merge\""})
    EXPECT_NE(summary->find(part), std::string::npos) << *summary;
  Expected<std::string> decisions = plan.decisions();
  ASSERT_TRUE(bool(decisions));
  EXPECT_EQ((*decisions)[0], '[');

  std::vector<uint8_t> saved = plan.bytes();
  Expected<PlanHandle> loaded =
      PlanHandle::load(o.artifact, saved.data(), saved.size());
  ASSERT_TRUE(bool(loaded)) << loaded.status().message();
  EXPECT_EQ(loaded->bytes(), saved);
  o.test.clearOutputs();
  status = o.device.launch(o.artifact, *loaded, o.arguments);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(o.test.differences(), "");
}

TEST(API, PlansAreTheSameBytesAsThePlannerMakes) {
  Opened o(raggedCase({37, 0, 200, 1}));
  Problem problem = o.test.problem(Topology());
  Expected<Schedule> schedule = makeSchedule(problem, {});
  ASSERT_TRUE(bool(schedule));
  PlanImage image = makePlanImage(problem, *schedule);
  EXPECT_EQ(o.plan().bytes(), *packPlan(image, exactMaxima(image)));
}

TEST(API, ProfilesGiveLimitsAndConstants) {
  Expected<ProfileHandle> profile =
      ProfileHandle::fromFile(DATAFLOW_TEST_FIXTURES "/profile-v1.json");
  ASSERT_TRUE(bool(profile)) << profile.status().message();
  dfrt_plan_options options;
  dfrt_plan_options_init(&options);
  ASSERT_TRUE(profile->planOptions(4, options).ok());
  EXPECT_EQ(options.ctas, 16u);
  EXPECT_EQ(options.cluster_size, 4u);
  EXPECT_EQ(options.shared_bytes, 200000u);

  // Other constants, another prediction.
  Opened o(raggedCase({300, 7, 0, 64}));
  options.predict = 1;
  auto predicted = [&] {
    Expected<std::string> summary = o.plan(&options).summary();
    EXPECT_TRUE(bool(summary));
    size_t at = summary->find("\"predicted_us\":");
    EXPECT_NE(at, std::string::npos) << *summary;
    return std::atof(summary->c_str() + at + 15);
  };
  double with = predicted();
  const dfrt_profile *given = options.profile;
  options.profile = nullptr;
  EXPECT_NE(with, predicted());

  // What is not resident is refused; so is a shorter struct.
  options.profile = given;
  options.ctas = 20;
  Expected<PlanHandle> refused =
      PlanHandle::make(o.artifact, o.arguments, &options);
  EXPECT_EQ(refused.status().code(), StatusCode::invalidArgument);
  EXPECT_NE(refused.status().message().find("at most 16 CTAs resident"),
            std::string::npos)
      << refused.status().message();
  EXPECT_NE(
      profile->planOptions(16, options).message().find("no clusters of 16"),
      std::string::npos);
  options.struct_bytes = 8;
  EXPECT_EQ(profile->planOptions(1, options).code(),
            StatusCode::invalidArgument);

  const char text[] = "{\"version\":9}";
  dfrt_profile *none = nullptr;
  EXPECT_EQ(dfrt_profile_load_memory(text, sizeof(text) - 1, &none),
            DFRT_INVALID_FILE);
  EXPECT_NE(std::string(dfrt_last_error()).find("version is 9"),
            std::string::npos);
  EXPECT_EQ(dfrt_profile_load_memory(nullptr, 0, &none), DFRT_INVALID_ARGUMENT);
  EXPECT_EQ(none, nullptr);
  dfrt_profile_release(nullptr);
}

TEST(API, CapacityFixesTheSize) {
  Opened small(raggedCase({37, 0, 200, 1}));
  PlanHandle plan = small.plan();
  dfrt_capacity capacity;
  ASSERT_TRUE(plan.needs(capacity).ok());
  EXPECT_EQ(dfrt_capacity_bytes(&capacity), plan.bytes().size());
  for (uint32_t &entries : capacity.entries)
    entries += 100;
  dfrt_plan_options options;
  dfrt_plan_options_init(&options);
  options.capacity = &capacity;
  PlanHandle roomy = small.plan(&options);
  EXPECT_EQ(roomy.bytes().size(), dfrt_capacity_bytes(&capacity));
  small.test.clearOutputs();
  Status status = small.device.launch(small.artifact, roomy, small.arguments);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(small.test.differences(), "");

  capacity.entries[DFRT_SECTION_OPERANDS] = 1;
  Expected<PlanHandle> refused =
      PlanHandle::make(small.artifact, small.arguments, &options);
  ASSERT_FALSE(bool(refused));
  EXPECT_EQ(refused.status().code(), StatusCode::resourceExhausted);
  EXPECT_NE(refused.status().message().find("section operands"),
            std::string::npos);
}

TEST(API, OnlyPlanTimeArgumentsAreRead) {
  Opened o(raggedCase({5, 6}));
  std::vector<uint32_t> uses;
  for (uint32_t i = 0; i < dfrt_artifact_argument_count(o.artifact.get());
       ++i) {
    dfrt_argument_info info;
    ASSERT_EQ(dfrt_artifact_argument(o.artifact.get(), i, &info), DFRT_OK);
    uses.push_back(info.plan_use);
  }
  EXPECT_EQ(uses, (std::vector<uint32_t>{0, 2, 2, 0, 0}));
  std::vector<uint8_t> bytes = o.plan().bytes();
  for (size_t i : {0u, 3u, 4u}) {
    o.arguments[i].data = nullptr;
    o.arguments[i].shape = nullptr;
  }
  EXPECT_EQ(o.plan().bytes(), bytes);
  o.arguments[2].data = nullptr;
  Expected<PlanHandle> refused =
      PlanHandle::make(o.artifact, o.arguments, nullptr);
  ASSERT_FALSE(bool(refused));
  EXPECT_EQ(refused.status().message(),
            "argument 'lengths': making a plan reads its values, but the data "
            "pointer is null");
}

TEST(API, WrongArgumentsAreNamed) {
  Opened o(raggedCase({5, 6}));
  PlanHandle plan = o.plan();
  auto refusal = [&](size_t index, auto change) {
    std::vector<dfrt_tensor> arguments = o.arguments;
    change(arguments[index]);
    Status status = o.device.launch(o.artifact, plan, arguments);
    EXPECT_EQ(status.code(), StatusCode::invalidArgument);
    return status.message();
  };
  const int64_t wide[] = {2, 9}, negative[] = {-2, 8};
  EXPECT_EQ(refusal(3, [&](dfrt_tensor &t) { t.shape = wide; }),
            "argument 'out' dimension 1: expected 8, got 9");
  EXPECT_EQ(refusal(3, [&](dfrt_tensor &t) { t.shape = negative; }),
            "argument 'out' dimension 0: extent -2 is negative");
  EXPECT_EQ(refusal(3, [&](dfrt_tensor &t) { t.rank = 1; }),
            "argument 'out': expected rank 2, got 1");
  EXPECT_EQ(refusal(0, [&](dfrt_tensor &t) { t.element = DFRT_F16; }),
            "argument 'values': expected elements i64, got f16");
  EXPECT_EQ(refusal(0, [&](dfrt_tensor &t) { t.element = 99; }),
            "argument 'values': element type 99 does not exist");
  EXPECT_EQ(refusal(0, [&](dfrt_tensor &t) { t.data = nullptr; }),
            "argument 'values': the data pointer is null");
  EXPECT_EQ(
      refusal(
          0, [&](dfrt_tensor &t) { t.data = static_cast<char *>(t.data) + 1; }),
      "argument 'values': the data is not aligned to 8 bytes");
  EXPECT_EQ(refusal(4, [&](dfrt_tensor &t) { t.data = o.arguments[3].data; }),
            "output 'out' overlaps argument 'weights'");
  EXPECT_EQ(refusal(4, [&](dfrt_tensor &t) { t.data = o.arguments[2].data; }),
            "output 'weights' overlaps argument 'lengths'");
  o.arguments.pop_back();
  Status status = o.device.launch(o.artifact, plan, o.arguments);
  EXPECT_EQ(status.message(), "program 'ragged' takes 5 arguments, got 4");
}

TEST(API, WorkspaceMayBeTheCallers) {
  Opened o(raggedCase({37, 0, 200, 1}));
  PlanHandle plan = o.plan();
  uint64_t bytes = 0;
  ASSERT_TRUE(plan.workspaceBytes(o.device, bytes).ok());
  void *workspace = std::aligned_alloc(128, bytes + 128);
  dfrt_launch_options options;
  dfrt_launch_options_init(&options);
  options.workspace = workspace;
  options.workspace_bytes = bytes - 1;
  Status status = o.device.launch(o.artifact, plan, o.arguments, &options);
  EXPECT_EQ(status.code(), StatusCode::invalidArgument);
  EXPECT_NE(status.message().find("the workspace has"), std::string::npos);
  options.workspace_bytes = bytes;
  // Whatever an earlier launch left in it does not matter.
  for (int round = 0; round < 2; ++round) {
    o.test.clearOutputs();
    status = o.device.launch(o.artifact, plan, o.arguments, &options);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(o.test.differences(), "");
  }
  std::free(workspace);
}

TEST(API, HandlesAreIndependentAndShared) {
  Opened o(raggedCase({37, 0, 200, 1}));
  PlanHandle plan = o.plan();
  std::vector<std::thread> threads;
  std::vector<int> right(4);
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      TestCase mine = raggedCase({37, 0, 200, 1});
      std::vector<dfrt_tensor> arguments = mine.arguments();
      mine.clearOutputs();
      right[t] = o.device.launch(o.artifact, plan, arguments).ok() &&
                 mine.differences().empty();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, std::vector<int>(4, 1));
  // A plan outlives its artifact handle.
  o.artifact = ArtifactHandle();
  EXPECT_TRUE(bool(plan.summary()));
}

TEST(API, ErrorsAreStatusesWithMessages) {
  // Without a driver, and with one that sees fewer devices.
  Expected<DeviceHandle> cuda = DeviceHandle::open("cuda:9999");
  ASSERT_FALSE(bool(cuda));
  EXPECT_EQ(dfrt_last_status(), dfrt_status(cuda.status().code()));
  EXPECT_FALSE(cuda.status().message().empty());
  EXPECT_STREQ(dfrt_status_name(DFRT_UNSUPPORTED), "unsupported");
  EXPECT_STREQ(dfrt_status_name(77), "unknown");
  EXPECT_EQ(DeviceHandle::open("tpu").status().code(),
            StatusCode::invalidArgument);
  Expected<DeviceHandle> cpu = DeviceHandle::open("cpu");
  Expected<std::string> what = cpu->describe();
  ASSERT_TRUE(bool(what));
  EXPECT_EQ(what->find("{\"device\":\"cpu\",\"threads\":"), 0u);
  EXPECT_EQ(ArtifactHandle::fromFile("/nonexistent").status().code(),
            StatusCode::invalidFile);
  EXPECT_NE(std::strstr(dfrt_last_error(), "'/nonexistent'"), nullptr);
  EXPECT_EQ(dfrt_artifact_load_memory("abc", 3, nullptr),
            DFRT_INVALID_ARGUMENT);
  EXPECT_EQ(dfrt_launch(nullptr, nullptr, nullptr, nullptr, 0, nullptr),
            DFRT_INVALID_ARGUMENT);
  EXPECT_STREQ(dfrt_last_error(), "device is null");

  Opened o(raggedCase({5, 6}));
  EXPECT_STREQ(dfrt_last_error(), "");
  dfrt_plan_options options;
  dfrt_plan_options_init(&options);
  options.solver = "oracle";
  EXPECT_FALSE(bool(PlanHandle::make(o.artifact, o.arguments, &options)));
  EXPECT_NE(std::strstr(dfrt_last_error(), "oracle"), nullptr);
  options.solver = nullptr;
  options.combine = 9;
  EXPECT_FALSE(bool(PlanHandle::make(o.artifact, o.arguments, &options)));
  EXPECT_STREQ(dfrt_last_error(), "option combine is 9, expected 0 to 3");
  options.struct_bytes = 5000;
  EXPECT_FALSE(bool(PlanHandle::make(o.artifact, o.arguments, &options)));
  // A plan of another program is refused.
  Opened other(spreadCase({5, 6}));
  std::vector<uint8_t> bytes = other.plan().bytes();
  Expected<PlanHandle> foreign =
      PlanHandle::load(o.artifact, bytes.data(), bytes.size());
  ASSERT_FALSE(bool(foreign));
  EXPECT_NE(foreign.status().message().find("fingerprint"), std::string::npos);
}

TEST(API, DescribesArtifacts) {
  Opened o(routeCase(2, {0, 1, 1, 0}));
  EXPECT_STREQ(dfrt_artifact_program_name(o.artifact.get()), "route");
  ASSERT_EQ(dfrt_artifact_stage_count(o.artifact.get()), 4u);
  dfrt_stage_info info;
  ASSERT_EQ(dfrt_artifact_stage(o.artifact.get(), 0, &info), DFRT_OK);
  EXPECT_STREQ(info.name, "pick");
  EXPECT_EQ(info.record_bytes, 96u);
  EXPECT_EQ(dfrt_artifact_stage(o.artifact.get(), 4, &info),
            DFRT_INVALID_ARGUMENT);
  Expected<std::string> json = o.artifact.describe();
  ASSERT_TRUE(bool(json));
  for (const char *part :
       {"\"reshard\":\"rekey\"", "\"extent\":\"values.dim(0)\"",
        "\"plan_use\":\"values\"", "\"kind\":\"cpu_reference\""})
    EXPECT_NE(json->find(part), std::string::npos) << *json;
}
