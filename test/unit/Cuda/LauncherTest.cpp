//===- LauncherTest.cpp - Launches with changing plans --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"
#include "LaunchableProgram.h"

#include "dfrt/cuda/Graph.h"
#include "dfrt/cuda/Launcher.h"
#include "dfrt/cuda/TensorMap.h"

#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;
using namespace dfrt::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {
class LauncherTest : public CudaTest {
protected:
  void SetUp() override {
    CudaTest::SetUp();
    s = stream();
    use(withKernels(raggedCase({37, 0, 200, 1})));
  }
  void TearDown() override {
    launcher = Launcher();
    kernel = LoadedKernel();
    s = Stream();
    CudaTest::TearDown();
  }
  void use(TestCase given, uint32_t index = 0) {
    test = std::move(given);
    plan = packedPlan(test, kernelTopology(), {}, 8);
    facts = planFacts(test.program(), plan.data());
    ModuleCache cache(device);
    const Kernel &record = test.artifact.kernels[index];
    kernel = take(LoadedKernel::load(device, cache, record,
                                     test.artifact.code[record.blob], "ragged",
                                     test.program().fingerprint()));
    shape.shape = {8, record.threads, 1, 232448, true};
    shape.residentCtas = 132;
    maxima = {};
    maxima.include(facts);
    fake().parameterBytes = record.parameterBytes;
  }
  void create(const Launcher::Options &options = {}) {
    launcher = take(Launcher::create(kernel, shape, maxima, s, options));
  }
  std::vector<KernelArgument> arguments(uint64_t base = 0x10000) {
    std::vector<KernelArgument> result;
    for (size_t i = 0; i < test.tensors.size(); ++i) {
      const Argument &argument = test.program().arguments[i];
      result.push_back(makeArgument(argument.name, base + 0x1000 * i,
                                    argument.element, test.tensors[i].shape));
    }
    return result;
  }
  void ready() {
    create();
    EXPECT_OK(launcher.bind(arguments()));
    EXPECT_OK(launcher.upload(plan.data(), facts, s));
  }
  dfrt_kernel_parameters head() {
    dfrt_kernel_parameters head;
    std::memcpy(&head, fake().lastParameter, sizeof(head));
    return head;
  }
  /// Whether the plan on the device is `bytes`.
  bool onDevice(const std::vector<uint8_t> &bytes) {
    return std::memcmp(reinterpret_cast<void *>(head().plan), bytes.data(),
                       bytes.size()) == 0;
  }

  Stream s;
  TestCase test;
  LoadedKernel kernel;
  ChosenShape shape;
  LaunchMaxima maxima;
  Launcher launcher;
  std::vector<uint8_t> plan;
  PlanFacts facts;
};

TEST_F(LauncherTest, MemoryFollowsFromTheMaxima) {
  const Kernel &record = kernel.record();
  maxima.collectedBytes = 300;
  // 100 bytes of the kernel's own, then the stack, both in units of 128.
  EXPECT_EQ(scratchStride(record, maxima), 128u + 384);
  WorkspaceMaxima workspace;
  workspace.counters = 2;
  workspace.flags = maxima.flags;
  workspace.scratchBytes =
      (maxima.slotBytes + 127) / 128 * 128 + 8 * uint64_t(512);
  EXPECT_EQ(take(requiredBytes(record, shape.shape, maxima)),
            take(requiredBytes(workspace)) + (plan.size() + 127) / 128 * 128);
  const std::pair<uint64_t LaunchMaxima::*, const char *> sizes[] = {
      {&LaunchMaxima::slotBytes, "bytes of global slots are more than"},
      {&LaunchMaxima::collectedBytes, "bytes of collected fields are more"},
      {&LaunchMaxima::planBytes, "bytes of plan are more than"}};
  for (const auto &[size, text] : sizes)
    for (uint64_t bytes : {UINT64_MAX, UINT64_MAX / 2}) {
      LaunchMaxima large = maxima;
      large.*size = bytes;
      EXPECT_FAILURE(requiredBytes(record, shape.shape, large).status(),
                     StatusCode::resourceExhausted, HasSubstr(text));
    }
  shape.shape.ctas = UINT32_MAX;
  EXPECT_FAILURE(requiredBytes(record, shape.shape, maxima).status(),
                 StatusCode::resourceExhausted, HasSubstr("4294967295 CTAs"));
}

TEST_F(LauncherTest, ParameterBlock) {
  ready();
  EXPECT_OK(launcher.launch(s));
  dfrt_kernel_parameters block = head();
  const LaunchState &layout = launcher.workspace().layout();
  EXPECT_EQ(block.workspace, launcher.workspace().address());
  EXPECT_EQ(block.flags, block.workspace + layout.flags);
  EXPECT_EQ(block.counters, block.workspace + layout.counters);
  EXPECT_EQ(block.slots, block.workspace + layout.scratch);
  EXPECT_EQ(block.scratch, block.slots + (maxima.slotBytes + 127) / 128 * 128);
  EXPECT_EQ(block.scratch_stride, 128u);
  EXPECT_EQ(block.plan, block.workspace + layout.bytes);
  EXPECT_EQ(block.watchdog, 0u);
  for (uint32_t i = 0; i < DFRT_SECTION_COUNT; ++i)
    EXPECT_EQ(block.sections[i], block.plan + facts.sections[i]) << i;
  EXPECT_EQ(block.timeline, 0u);
  EXPECT_EQ(block.timeline_capacity, 0u);
  EXPECT_EQ(block.reserved, 0u);
  EXPECT_TRUE(onDevice(plan));
  EXPECT_EQ(layout.counter_count, DFRT_TICKET_COUNTERS);
  EXPECT_GE(layout.flag_count, facts.flags);

  // Argument 3, `out`, has rank 2: three words, sizes, strides.
  const unsigned char *at =
      fake().lastParameter + DFRT_KERNEL_ARGUMENTS + 3 * 5 * 8;
  int64_t words[7];
  std::memcpy(words, at, sizeof(words));
  const int64_t expected[7] = {0x13000, 0x13000, 0, 4, 8, 8, 1};
  EXPECT_EQ(std::memcmp(words, expected, sizeof(words)), 0);
}

TEST_F(LauncherTest, LaunchIsTheShape) {
  ready();
  EXPECT_OK(launcher.launch(s));
  EXPECT_EQ(fake().lastCtas, 8u);
  EXPECT_EQ(fake().lastThreads, 384u);
  EXPECT_EQ(fake().lastCluster, 1u);
  EXPECT_EQ(fake().lastShared, 232448u);
  EXPECT_EQ(fake().lastCooperative, 1);
}

TEST_F(LauncherTest, ABatchAllocatesNothing) {
  ready();
  int allocations = fake().calls("cuMemAlloc_v2"),
      pinned = fake().calls("cuMemHostAlloc"),
      waits = fake().calls("cuStreamSynchronize");
  for (int batch = 0; batch < 10; ++batch) {
    EXPECT_OK(launcher.upload(plan.data(), facts, s));
    EXPECT_OK(launcher.launch(s));
  }
  EXPECT_EQ(fake().calls("cuMemAlloc_v2"), allocations);
  EXPECT_EQ(fake().calls("cuMemHostAlloc"), pinned);
  EXPECT_EQ(fake().calls("cuStreamSynchronize"), waits);
  EXPECT_EQ(fake().calls("cuModuleLoadDataEx"), 1);
}

TEST_F(LauncherTest, RebindingChangesTheBlockOnly) {
  ready();
  EXPECT_OK(launcher.launch(s));
  dfrt_kernel_parameters before = head();
  EXPECT_OK(launcher.bind(arguments(0x500000)));
  EXPECT_OK(launcher.launch(s));
  dfrt_kernel_parameters after = head();
  EXPECT_EQ(std::memcmp(&before, &after, sizeof(before)), 0);
  int64_t address = 0;
  std::memcpy(&address, fake().lastParameter + DFRT_KERNEL_ARGUMENTS, 8);
  EXPECT_EQ(address, 0x500000);
}

TEST_F(LauncherTest, StampsOnRequest) {
  ready();
  EXPECT_OK(launcher.launch(s));
  EXPECT_EQ(head().stamps, 0u);
  launcher.stamp(0x4000);
  EXPECT_OK(launcher.launch(s));
  EXPECT_EQ(head().stamps, 0x4000u);
  EXPECT_EQ(head().workspace, launcher.workspace().address());
  EXPECT_OK(launcher.bind(arguments()));
  EXPECT_OK(launcher.upload(plan.data(), facts, s));
  EXPECT_OK(launcher.launch(s));
  EXPECT_EQ(head().stamps, 0x4000u);
  launcher.stamp(0);
  EXPECT_OK(launcher.launch(s));
  EXPECT_EQ(head().stamps, 0u);
}

TEST_F(LauncherTest, ArgumentsAreTested) {
  create();
  EXPECT_FAILURE(launcher.bind(arguments(0x10004)), StatusCode::invalidArgument,
                 AllOf(HasSubstr("argument 'values': the address 65540 is no "
                                 "multiple of 8 bytes"),
                       HasSubstr("kernel 'kernel'")));
  std::vector<KernelArgument> few = arguments();
  few.pop_back();
  EXPECT_FAILURE(launcher.bind(few), StatusCode::invalidArgument,
                 HasSubstr("these 4 arguments make"));
  EXPECT_FAILURE(launcher.launch(s), StatusCode::invalidArgument,
                 HasSubstr("it has no plan"));
  EXPECT_OK(launcher.upload(plan.data(), facts, s));
  EXPECT_FAILURE(launcher.launch(s), StatusCode::invalidArgument,
                 HasSubstr("it has no arguments"));
  EXPECT_EQ(fake().calls("cuLaunchKernelEx"), 0);
}

TEST_F(LauncherTest, TensorMaps) {
  TestCase mapped = withKernels(raggedCase({37, 0, 200, 1}));
  Kernel &record = mapped.artifact.kernels[0];
  TensorMapSpec spec;
  spec.argument = 3; // [4, 8] of i64
  spec.element = ElementType::i64;
  spec.dimensions = {{1, 1, 4}, {0, 0, 2}};
  TensorMapSpec flat = spec;
  flat.argument = 0;
  flat.dimensions = {{0, 0, 4}};
  record.maps = {spec, flat};
  record.argumentAlignment.assign(5, 16);
  record.parameterBytes = uint32_t(kernelParameterBytes(mapped.program(), 2));
  use(std::move(mapped));
  ready();
  EXPECT_OK(launcher.launch(s));
  const unsigned char *maps =
      fake().lastParameter + kernelMapsOffset(test.program());
  uint64_t words[32];
  std::memcpy(words, maps, sizeof(words));
  // As the fake encodes: element and rank, address, extent and box, strides.
  EXPECT_EQ(words[0], uint64_t(MapElement::i64) << 32 | 2);
  EXPECT_EQ(words[1], 0x13000u);
  EXPECT_EQ(words[2], 8u << 16 | 4);
  EXPECT_EQ(words[3], 4u << 16 | 2);
  EXPECT_EQ(words[8], 64u);
  EXPECT_EQ(words[16 + 1], 0x10000u);
  EXPECT_EQ(words[16 + 2], 238u << 16 | 4);

  // Another pointer is another map; one without elements is none.
  std::vector<KernelArgument> other = arguments(0x700000);
  other[0] = makeArgument("values", 0, ElementType::i64, {0});
  EXPECT_OK(launcher.bind(other));
  EXPECT_OK(launcher.launch(s));
  std::memcpy(words, maps, sizeof(words));
  EXPECT_EQ(words[1], 0x703000u);
  EXPECT_EQ(words[16], 0u);
  other[3].address += 8;
  EXPECT_FALSE(launcher.bind(other).ok());
}

TEST_F(LauncherTest, TensorMapsSplitDimensions) {
  TestCase mapped = withKernels(raggedCase({37, 0, 200, 1}));
  Kernel &record = mapped.artifact.kernels[0];
  TensorMapSpec spec;
  spec.argument = 3; // [4, 8] of i64: four chunks of two elements, rows by two
  spec.element = ElementType::i64;
  spec.dimensions = {
      {1, 1, 2, 1, 2}, {0, 0, 2, 1, 2}, {1, 1, 4, 2, 0}, {0, 0, 2, 2, 0}};
  record.maps = {spec};
  record.argumentAlignment.assign(5, 16);
  record.parameterBytes = uint32_t(kernelParameterBytes(mapped.program(), 1));
  use(std::move(mapped));
  ready();
  EXPECT_OK(launcher.launch(s));
  uint64_t words[16];
  std::memcpy(words, fake().lastParameter + kernelMapsOffset(test.program()),
              sizeof(words));
  EXPECT_EQ(words[0], uint64_t(MapElement::i64) << 32 | 4);
  EXPECT_EQ(words[2], 2u << 16 | 2);
  EXPECT_EQ(words[3], 2u << 16 | 2);
  EXPECT_EQ(words[4], 4u << 16 | 4);
  EXPECT_EQ(words[5], 2u << 16 | 2);
  EXPECT_EQ(words[8], 64u);   // a row
  EXPECT_EQ(words[9], 16u);   // a chunk
  EXPECT_EQ(words[10], 128u); // two rows

  std::vector<KernelArgument> odd = arguments();
  odd[3] = makeArgument(odd[3].name, odd[3].address, ElementType::i64, {3, 8});
  EXPECT_FAILURE(launcher.bind(odd), StatusCode::invalidArgument,
                 HasSubstr("its dimensions 0 to 0 have 3 elements, no multiple "
                           "of 2, in which the kernel's copies count them"));
  odd[3] = makeArgument(odd[3].name, odd[3].address, ElementType::i64,
                        {int64_t(1) << 34, 8});
  EXPECT_FAILURE(launcher.bind(odd), StatusCode::invalidArgument,
                 HasSubstr("8589934592 steps along dimensions 0 to 0, more "
                           "than a copy can count (2^31)"));
}

TEST_F(LauncherTest, UnfitPlansAreNamed) {
  create();
  auto refused = [&](auto change) {
    PlanFacts wrong = facts;
    change(wrong);
    Status status = launcher.upload(plan.data(), wrong, s);
    EXPECT_FALSE(status.ok());
    return status.message();
  };
  EXPECT_THAT(refused([](PlanFacts &p) {
                p.ctas = 16;
                p.clusterSize = 2;
              }),
              HasSubstr("made for 16 CTAs in clusters of 2, the launch shape "
                        "has 8 in clusters of 1"));
  EXPECT_THAT(refused([](PlanFacts &p) { p.flags += 1; }),
              HasSubstr("flags, there is room for"));
  EXPECT_THAT(refused([](PlanFacts &p) { p.globalBytes += 1; }),
              HasSubstr("bytes of global slots, there is room for"));
  EXPECT_THAT(refused([](PlanFacts &p) { p.collectedBytes = 128; }),
              HasSubstr("128 bytes of collected fields, there is room for 0"));
  EXPECT_THAT(refused([](PlanFacts &p) { p.planBytes += 1; }),
              HasSubstr("bytes of plan, there is room for"));
  EXPECT_THAT(refused([](PlanFacts &p) { p.sharedBytes = 232448 - 8191; }),
              HasSubstr("8192 + 224257 bytes of shared memory a CTA, the "
                        "launch shape has 232448"));
  EXPECT_THAT(refused([](PlanFacts &p) { p.reservedBytes = 0; }),
              HasSubstr("cannot execute this plan"));
}

TEST_F(LauncherTest, WaitingPlansNeedResidency) {
  shape.residentCtas = 7;
  create(); // cooperative: the driver sees to it
  EXPECT_OK(launcher.upload(plan.data(), facts, s));
  shape.shape.cooperative = false;
  create();
  EXPECT_FAILURE(launcher.upload(plan.data(), facts, s),
                 StatusCode::resourceExhausted,
                 HasSubstr("only 7 of 8 can be resident at once"));
  facts.resident = false;
  EXPECT_OK(launcher.upload(plan.data(), facts, s));
}

TEST_F(LauncherTest, BusyWhenTheRingIsFull) {
  Launcher::Options options;
  options.staging = 2;
  create(options);
  fake().holdStreams = 1;
  EXPECT_OK(launcher.upload(plan.data(), facts, s));
  EXPECT_OK(launcher.upload(plan.data(), facts, s));
  EXPECT_FAILURE(launcher.upload(plan.data(), facts, s), StatusCode::busy,
                 HasSubstr("all 2 stages are in use"));
  EXPECT_OK(s.synchronize());
  EXPECT_OK(launcher.upload(plan.data(), facts, s));
}

TEST_F(LauncherTest, FailedCopiesUseUpNoBuffer) {
  ready();
  for (int i = 0; i < 5; ++i) {
    fake().fail("cuMemcpyHtoDAsync_v2", 1, api::Result::invalidValue);
    EXPECT_FALSE(launcher.upload(plan.data(), facts, s).ok());
  }
  EXPECT_OK(launcher.upload(plan.data(), facts, s));
}

TEST_F(LauncherTest, BusyInAnotherStream) {
  ready();
  fake().holdStreams = 1;
  EXPECT_OK(launcher.launch(s));
  Stream other = stream("other");
  EXPECT_FAILURE(launcher.launch(other), StatusCode::busy,
                 HasSubstr("take one workspace a stream"));
  EXPECT_OK(s.synchronize());
  EXPECT_OK(launcher.launch(other));
}

TEST_F(LauncherTest, MemoryOfTheCaller) {
  uint64_t bytes = take(requiredBytes(kernel.record(), shape.shape, maxima));
  Buffer buffer = take(Buffer::allocate(device, bytes + 256, "mine"));
  Launcher::Options options;
  options.memory = (buffer.address() + 255) / 256 * 256;
  options.memoryBytes = bytes - 1;
  EXPECT_FAILURE(Launcher::create(kernel, shape, maxima, s, options).status(),
                 StatusCode::invalidArgument,
                 HasSubstr("bytes at a multiple of 256"));
  options.memoryBytes = bytes;
  int allocations = fake().calls("cuMemAlloc_v2");
  create(options);
  EXPECT_EQ(fake().calls("cuMemAlloc_v2"), allocations);
  EXPECT_EQ(launcher.workspace().address(), options.memory);
  EXPECT_OK(launcher.bind(arguments()));
  EXPECT_OK(launcher.upload(plan.data(), facts, s));
  EXPECT_OK(launcher.launch(s));
  EXPECT_TRUE(onDevice(plan));
  launcher = Launcher();
  EXPECT_EQ(fake().alive("memory"), 1); // still the caller's
}

TEST_F(LauncherTest, GraphsGetOtherPlans) {
  create();
  EXPECT_OK(launcher.bind(arguments()));
  Graph graph = take(Graph::capture(s, StagingRing(), [&]() -> Status {
    Status uploaded = launcher.upload(plan.data(), facts, s);
    return uploaded.ok() ? launcher.launch(s) : uploaded;
  }));
  ASSERT_EQ(graph.kernels().size(), 1u);
  EXPECT_EQ(graph.kernels()[0].ctas, 8u);
  EXPECT_FALSE(onDevice(plan)); // nothing ran yet
  EXPECT_OK(graph.replay(s));
  EXPECT_OK(launcher.replayed(s));
  EXPECT_TRUE(onDevice(plan));

  // Other lengths with the same capacity.
  TestCase other = withKernels(raggedCase({36, 1, 199, 2}));
  std::vector<uint8_t> second = packedPlan(other, kernelTopology(), {}, 8);
  ASSERT_EQ(second.size(), plan.size());
  PlanFacts secondFacts = planFacts(test.program(), second.data());
  EXPECT_OK(launcher.restage(second.data(), secondFacts));
  EXPECT_TRUE(onDevice(plan));
  EXPECT_OK(graph.replay(s));
  EXPECT_OK(launcher.replayed(s));
  EXPECT_TRUE(onDevice(second));

  // Not while a replay may read it.
  fake().holdStreams = 1;
  EXPECT_OK(graph.replay(s));
  EXPECT_OK(launcher.replayed(s));
  EXPECT_FAILURE(launcher.restage(plan.data(), facts), StatusCode::busy,
                 HasSubstr("read by a copy that has not ended"));
  EXPECT_OK(s.synchronize());
  EXPECT_OK(launcher.restage(plan.data(), facts));

  // Not with another capacity: the kernel would look for sections elsewhere.
  std::vector<uint8_t> narrow = packedPlan(test, kernelTopology(), {}, 4);
  EXPECT_FAILURE(
      launcher.restage(narrow.data(), planFacts(test.program(), narrow.data())),
      StatusCode::invalidArgument,
      HasSubstr("pack both with the same capacity"));
}

TEST_F(LauncherTest, LaunchesOutsideOfAGraphNeedAnUpload) {
  create();
  EXPECT_OK(launcher.bind(arguments()));
  Graph graph = take(Graph::capture(s, StagingRing(), [&]() -> Status {
    Status uploaded = launcher.upload(plan.data(), facts, s);
    return uploaded.ok() ? launcher.launch(s) : uploaded;
  }));
  // The device has no plan yet.
  EXPECT_FAILURE(launcher.launch(s), StatusCode::invalidArgument,
                 HasSubstr("its last plan is a graph's"));
  EXPECT_OK(launcher.upload(plan.data(), facts, s));
  EXPECT_OK(launcher.launch(s));
  // A replay brings its own.
  EXPECT_OK(graph.replay(s));
  EXPECT_OK(launcher.replayed(s));
  EXPECT_FAILURE(launcher.launch(s), StatusCode::invalidArgument,
                 HasSubstr("its last plan is a graph's"));
}

TEST_F(LauncherTest, OneCaptureHoldsOneBuffer) {
  ready();
  EXPECT_FAILURE(launcher.restage(plan.data(), facts),
                 StatusCode::invalidArgument,
                 HasSubstr("no upload was captured"));
  auto captureUpload = [&] {
    return Graph::capture(s, StagingRing(), [&] {
      return launcher.upload(plan.data(), facts, s);
    });
  };
  Graph graph = take(captureUpload());
  EXPECT_FAILURE(captureUpload().status(), StatusCode::invalidArgument,
                 HasSubstr("captured already"));
  // The other buffers serve uploads still.
  for (int i = 0; i < 5; ++i)
    EXPECT_OK(launcher.upload(plan.data(), facts, s));
  EXPECT_OK(launcher.forget());
  EXPECT_OK(launcher.forget());
  graph = take(captureUpload());
}

TEST_F(LauncherTest, RefusesAfterAnError) {
  use(withKernels(raggedCase({37, 0, 200, 1})), /*index=*/1);
  ready();
  EXPECT_OK(launcher.launch(s));
  ASSERT_NE(head().watchdog, 0u);
  dfrt_watchdog_record left = {
      DFRT_WATCHDOG_COMPLETE, 3, DFRT_ROLE_COMPUTE, DFRT_WAIT_FLAG, 1, 0, 2, 1};
  std::memcpy(reinterpret_cast<char *>(head().watchdog) +
                  (3 * DFRT_WATCHDOG_ROLES + 1) * sizeof(left),
              &left, sizeof(left));
  fake().fail("cuStreamSynchronize", 1, api::Result::illegalAddress);
  EXPECT_FALSE(launcher.wait(s).ok());
  ASSERT_EQ(launcher.records().size(), 1u);
  EXPECT_EQ(launcher.records()[0].cta, 3u);
  EXPECT_FAILURE(launcher.launch(s), StatusCode::deviceError,
                 HasSubstr("initialise it again"));
  fake().lose(api::Result::success);
  EXPECT_OK(device.reopen());
}

TEST_F(LauncherTest, TimelinesOfKernelsThatRecord) {
  cuda::Timeline timeline = take(cuda::Timeline::create(device, 8, 5));
  ready();
  EXPECT_FAILURE(launcher.trace(timeline), StatusCode::unsupported,
                 AllOf(HasSubstr("kernel 'kernel' records no timeline"),
                       HasSubstr("--timeline")));
  launcher = Launcher();
  TestCase recording = withKernels(raggedCase({37, 0, 200, 1}));
  recording.artifact.kernels[0].timeline = true;
  use(std::move(recording));
  ready();
  EXPECT_OK(launcher.trace(timeline));
  EXPECT_OK(launcher.launch(s));
  EXPECT_EQ(head().timeline, timeline.address());
  EXPECT_EQ(head().timeline_capacity, 5u);
  EXPECT_FAILURE(launcher.trace(take(cuda::Timeline::create(device, 9, 5))),
                 StatusCode::invalidArgument,
                 HasSubstr("has room for 9 CTAs, the launch shape has 8"));
  EXPECT_OK(launcher.trace(cuda::Timeline()));
  EXPECT_OK(launcher.launch(s));
  EXPECT_EQ(head().timeline, 0u);
}

TEST_F(LauncherTest, ErrorsThatLeaveTheContext) {
  ready();
  EXPECT_OK(launcher.launch(s));
  fake().fail("cuStreamSynchronize", 1, api::Result::unknown);
  EXPECT_FALSE(launcher.wait(s).ok());
  EXPECT_FALSE(device.lost());
  EXPECT_FAILURE(launcher.launch(s), StatusCode::deviceError,
                 HasSubstr("initialise it again"));
  EXPECT_OK(launcher.initialise(s));
  EXPECT_OK(launcher.launch(s));
}

TEST_F(LauncherTest, LaunchFailuresNameTheKernel) {
  ready();
  fake().fail("cuLaunchKernelEx", 1, api::Result::launchOutOfResources);
  EXPECT_FAILURE(launcher.launch(s), StatusCode::resourceExhausted,
                 AllOf(HasSubstr("kernel 'kernel' of code 'ragged/kernel'"),
                       HasSubstr("cuLaunchKernelEx"), HasSubstr("8 CTAs")));
  EXPECT_OK(launcher.launch(s));
}
} // namespace
