//===- RunTest.cpp - df-run on a GPU --------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tool as it is, with a driver whose kernels do nothing: what it asks of
// the device, and that outputs which nobody wrote do not pass a check.
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"
#include "LaunchableProgram.h"
#include "ScratchFolder.h"

#include "Driver.h"
#include "Json.h"
#include "Tensors.h"
#include "dfrt/KernelABI.h"

#include <algorithm>
#include <dlfcn.h>

using namespace dfrt;
using namespace dfrt::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {
constexpr char kWorkload[] = R"({
  "points": [
    {"name": "a", "lengths": [37, 0, 200, 1], "offsets": [0, 37, 37, 237]},
    {"name": "b", "lengths": [7, 100, 9], "offsets": [0, 7, 107]}
  ],
  "dimensions": {"total": {"sum": "lengths"}, "rows": {"count": "lengths"}},
  "arguments": {
    "values": {"shape": ["total"], "fill": {"random_integers": {"high": 99}}},
    "offsets": {"shape": ["rows"], "fill": {"values": "offsets"}},
    "lengths": {"shape": ["rows"], "fill": {"values": "lengths"}},
    "out": {"shape": ["rows", 8]},
    "weights": {"shape": ["rows"]}
  }
})";

class RunTest : public testing::Test {
protected:
  void SetUp() override {
    // From now on the name of the driver's library means this one.
    void *library = dlopen(DATAFLOW_TEST_LIBCUDA, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    driver =
        reinterpret_cast<FakeDriver *(*)()>(dlsym(library, "fakeDriver"))();
    driver->reset();
    TestCase test = withKernels(raggedCase({1}));
    Expected<std::vector<uint8_t>> bytes = writeArtifact(test.artifact);
    ASSERT_TRUE(bool(bytes)) << bytes.status().message();
    artifact = scratch.path().string() + "/ragged.dfa";
    workload = scratch.path().string() + "/workload.json";
    EXPECT_OK(writeFile(artifact, bytes->data(), bytes->size()));
    EXPECT_OK(writeFile(workload, kWorkload, sizeof(kWorkload) - 1));
  }
  void TearDown() override {
    for (const char *kind : {"memory", "host", "module", "stream", "event",
                             "graph", "exec", "context", "depth"})
      EXPECT_EQ(driver->alive(kind), 0) << kind;
  }

  /// Exit code of df-run with these words; `output` and `errors` are what it
  /// printed.
  int run(std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"df-run", artifact, "--input", workload, "--device", "cuda"});
    std::vector<char *> arguments;
    for (std::string &word : words)
      arguments.push_back(word.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Options options;
    std::optional<ExitCode> code =
        parseOptions(int(arguments.size()), arguments.data(), options);
    if (!code)
      code = runPoints(options);
    output = testing::internal::GetCapturedStdout();
    errors = testing::internal::GetCapturedStderr();
    return *code;
  }

  FakeDriver *driver = nullptr;
  ScratchFolder scratch;
  std::string artifact, workload, output, errors;
};

TEST_F(RunTest, KernelAndDeviceAreTheTopology) {
  driver->multiprocessors = 78;
  EXPECT_EQ(run({"--json"}), kExitSuccess) << errors;
  Json report = Json::parse(output)[0];
  EXPECT_EQ(report["plan"]["ctas"], 78);
  EXPECT_EQ(report["plan"]["reserved_bytes"], 8192);
  EXPECT_EQ(report["plan"]["shared_limit"], 232448);
  EXPECT_EQ(report["run"]["device"], "cuda (Fake GPU)");
  EXPECT_EQ(driver->lastCtas, 78u);
  EXPECT_EQ(driver->lastThreads, 384u);
  EXPECT_EQ(driver->lastCooperative, 1);

  EXPECT_EQ(run({"--ctas", "16", "--cluster-size", "4", "--solver", "tickets"}),
            kExitSuccess)
      << errors;
  EXPECT_EQ(driver->lastCtas, 16u);
  EXPECT_EQ(driver->lastCluster, 4u);
  EXPECT_EQ(driver->lastCooperative, 0); // draws need nobody else
}

TEST_F(RunTest, OutputsThatNobodyWroteAreWrong) {
  EXPECT_EQ(run({"--check", "--repeat", "3"}), kExitWrong);
  EXPECT_THAT(output, AllOf(HasSubstr("out: relative L2 error"),
                            HasSubstr("WRONG"), HasSubstr("median of 3")));
}

TEST_F(RunTest, LoadedPlansGetAKernel) {
  std::string file = scratch.path().string() + "/saved.plan";
  EXPECT_EQ(run({"--plan-only", "--ctas", "12", "--save-plan", file}),
            kExitSuccess)
      << errors;
  EXPECT_EQ(driver->calls("cuLaunchKernelEx"), 3); // of the probe
  EXPECT_EQ(run({"--plan", file}), kExitSuccess) << errors;
  EXPECT_EQ(driver->lastCtas, 12u);
}

TEST_F(RunTest, MeasuresALineAPoint) {
  EXPECT_EQ(run({"--measure", "--point", "all", "--samples", "3"}),
            kExitSuccess)
      << errors;
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 2);
  EXPECT_THAT(output, HasSubstr("stream, static, clusters of 1: 250.00 us "
                                "cold, 25.00 us in a graph; read floor"));
  driver->parameterBytes =
      uint32_t(kernelParameterBytes(raggedCase({1}).program(), 0));
  driver->parameterThreads = 384;
  driver->onLaunch = [](const unsigned char *parameter) {
    dfrt_kernel_parameters head;
    std::memcpy(&head, parameter, sizeof(head));
    dfrt_stamp *stamps = reinterpret_cast<dfrt_stamp *>(head.stamps);
    for (int cta = 0; head.stamps && cta < 132; ++cta)
      stamps[cta] = {uint64_t(5000 + cta), uint64_t(9000 + cta)};
  };
  EXPECT_EQ(run({"--measure", "--samples", "3"}), kExitSuccess) << errors;
  EXPECT_THAT(output, HasSubstr("25.00 us in a graph, 4.13 us by stamps;"));
  driver->onLaunch = nullptr;
  driver->cooperativeClusters = 0; // so no such graph either
  EXPECT_EQ(run({"--measure", "--json", "--variant", "mine"}), kExitSuccess)
      << errors;
  Json report = Json::parse(output)[0];
  EXPECT_EQ(report["variant"], "mine");
  EXPECT_EQ(report["cooperative"], true);
  EXPECT_EQ(report["p50_us"], 250);
  EXPECT_TRUE(report["graph_us"].is_null());
  EXPECT_TRUE(report["span_us"].is_null());
  EXPECT_EQ(report["card"], "Fake GPU");
}

TEST_F(RunTest, FailuresAreSaid) {
  EXPECT_EQ(run({"--kernel", "other"}), kExitExecute);
  EXPECT_THAT(errors, HasSubstr("it is not called 'other'"));
  EXPECT_EQ(run({"--ctas", "200"}), kExitExecute);
  EXPECT_THAT(errors, HasSubstr("only 132 of 200 CTAs can be resident"));
  EXPECT_EQ(run({"--reserved-bytes", "4096"}), kExitExecute);
  EXPECT_THAT(errors, HasSubstr("leaves 4096 bytes of shared memory to the "
                                "kernel, which needs 8192"));
  EXPECT_EQ(run({"--adversarial", "2"}), kExitUsage);
  driver->memoryBytes = 1000;
  EXPECT_EQ(run({}), kExitExecute);
  EXPECT_THAT(errors, HasSubstr("cuMemAlloc"));
  driver->memoryBytes = 1 << 30;
  driver->fail("cuLaunchKernelEx", 4,
               dfrt::cuda::api::Result::launchOutOfResources);
  EXPECT_EQ(run({}), kExitExecute);
  EXPECT_THAT(errors, AllOf(HasSubstr("kernel 'kernel'"),
                            HasSubstr("cuLaunchKernelEx failed")));
}

TEST_F(RunTest, TimelineOfALaunch) {
  std::string file = scratch.path().string() + "/trace.json";
  EXPECT_EQ(run({"--timeline", file}), kExitExecute);
  EXPECT_THAT(errors, HasSubstr("it records no timeline"));
  EXPECT_EQ(run({"--timeline", file, "--plan-only"}), kExitSuccess) << errors;

  TestCase test = withKernels(raggedCase({1}));
  test.artifact.kernels[0].timeline = true;
  Expected<std::vector<uint8_t>> bytes = writeArtifact(test.artifact);
  ASSERT_TRUE(bool(bytes)) << bytes.status().message();
  EXPECT_OK(writeFile(artifact, bytes->data(), bytes->size()));
  EXPECT_EQ(run({"--timeline", file}), kExitExecute);
  EXPECT_THAT(errors, HasSubstr("the kernel has recorded nothing"));

  // Every CTA executes instruction 0, launch by launch a little longer.
  driver->parameterBytes =
      uint32_t(kernelParameterBytes(raggedCase({1}).program(), 0));
  driver->parameterThreads = 384;
  static uint64_t launches;
  launches = 0;
  driver->onLaunch = [](const unsigned char *parameter) {
    dfrt_kernel_parameters head;
    std::memcpy(&head, parameter, sizeof(head));
    if (!head.timeline)
      return;
    ++launches;
    auto *stamps = reinterpret_cast<dfrt_stamp *>(head.stamps);
    auto *lanes = reinterpret_cast<dfrt_timeline_lane *>(head.timeline);
    auto *records = reinterpret_cast<dfrt_timeline_record *>(
        lanes + 132 * DFRT_TIMELINE_ROLES);
    for (int cta = 0; cta < 132; ++cta) {
      uint64_t lane = cta * DFRT_TIMELINE_ROLES + DFRT_ROLE_COMPUTE;
      EXPECT_EQ(lanes[lane].instructions, 0u);
      lanes[lane] = {1, uint32_t(cta)};
      records[lane * head.timeline_capacity] = {0, 0, 6000, 6500, 8000, 8250};
      stamps[cta] = {5000, 9000 + launches};
    }
  };
  EXPECT_EQ(run({"--timeline", file}), kExitSuccess) << errors;
  EXPECT_EQ(launches, 12u); // 3 of them to warm up
  EXPECT_THAT(output, AllOf(HasSubstr("median of 9 cold launches of 'kernel'"),
                            HasSubstr("0.50/0.50"), HasSubstr("critical")));
  EXPECT_EQ(run({"--timeline", file, "--json", "--measure"}), kExitSuccess);
  EXPECT_DOUBLE_EQ(Json::parse(output)[0]["timeline"]["span_us"].get<double>(),
                   4.020); // the 20th launch
  Expected<Json> trace = readJson(file);
  ASSERT_TRUE(bool(trace)) << trace.status().message();
  EXPECT_EQ((*trace)["traceEvents"][0]["args"]["name"],
            "kernel: 4.02 us on the device");
}

TEST_F(RunTest, WatchdogBuildByRequest) {
  EXPECT_EQ(run({"--watchdog", "--measure", "--json"}), kExitSuccess) << errors;
  EXPECT_EQ(Json::parse(output)[0]["kernel"], "kernel$watchdog");
}
} // namespace
