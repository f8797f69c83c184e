//===- APITest.cpp - The C API on a CUDA device ---------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"
#include "LaunchableProgram.h"

#include "Handles.h"
#include "dfrt/KernelABI.h"
#include "dfrt/cuda/Graph.h"
#include "dfrt/cuda/Memory.h"
#include "dfrt/dfrt.hpp"

#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;
using namespace dfrt::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {
/// Status of the last call of the API.
Status last(dfrt_status status) { return lastStatus(status); }

class CudaAPITest : public CudaTest {
protected:
  void SetUp() override {
    CudaTest::SetUp();
    dfrt_device *opened = nullptr;
    EXPECT_OK(openDevice("cuda", DATAFLOW_TEST_FAKE_DRIVER, &opened));
    handle = DeviceHandle(opened);
    use(withKernels(raggedCase({37, 0, 200, 1})));
  }
  void TearDown() override {
    launcher = LauncherHandle();
    kernel = KernelHandle();
    handle = DeviceHandle();
    CudaTest::TearDown();
  }
  void use(TestCase given) {
    test = std::move(given);
    Expected<std::vector<uint8_t>> bytes = writeArtifact(test.artifact);
    ASSERT_TRUE(bool(bytes)) << bytes.status().message();
    artifact = take(ArtifactHandle::fromMemory(bytes->data(), bytes->size()));
    arguments = test.arguments();
    // The fake reads no argument, so these may lie anywhere.
    onDevice = arguments;
    for (dfrt_tensor &tensor : onDevice)
      tensor.data = reinterpret_cast<void *>(
          0x1000000 + 0x100000 * uintptr_t(&tensor - onDevice.data()));
    fake().parameterBytes = uint32_t(kernelParameterBytes(test.program(), 0));
  }
  PlanHandle plan(uint32_t ctas = 8) {
    dfrt_plan_options options;
    dfrt_plan_options_init(&options);
    options.ctas = ctas;
    options.reserved_bytes = 8192;
    return take(PlanHandle::make(artifact, arguments, &options));
  }
  Status launch(const PlanHandle &made, void *stream = nullptr) {
    dfrt_launch_options options;
    dfrt_launch_options_init(&options);
    options.stream = stream;
    return handle.launch(artifact, made, onDevice, &options);
  }
  dfrt_kernel_parameters head() {
    dfrt_kernel_parameters head;
    std::memcpy(&head, fake().lastParameter, sizeof(head));
    return head;
  }

  DeviceHandle handle;
  TestCase test;
  ArtifactHandle artifact;
  std::vector<dfrt_tensor> arguments, onDevice;
  KernelHandle kernel;
  LauncherHandle launcher;
};

TEST_F(CudaAPITest, DevicesByName) {
  dfrt_device *opened = nullptr;
  auto open = [&](const char *name) {
    return openDevice(name, DATAFLOW_TEST_FAKE_DRIVER, &opened);
  };
  EXPECT_FAILURE(open("cuda:1"), StatusCode::invalidArgument,
                 HasSubstr("cuda device 1: the driver sees 1 devices"));
  for (const char *name : {"cuda:", "cuda:x", "cuda1", "cuda:12345", "gpu"})
    EXPECT_FAILURE(open(name), StatusCode::invalidArgument,
                   HasSubstr("expected 'cpu', 'cuda' or 'cuda:N'"));
  EXPECT_FAILURE(openDevice("cuda", "/no/such/library", &opened),
                 StatusCode::unsupported,
                 HasSubstr("install the NVIDIA driver"));
  EXPECT_OK(open("cuda:0"));
  DeviceHandle second(opened);
  EXPECT_THAT(take(second.describe()),
              AllOf(HasSubstr("{\"device\":\"cuda:0\",\"report\":{\"name\":"
                              "\"Fake GPU\""),
                    HasSubstr("\"probe\":{\"resident_clusters\"")));
  EXPECT_OK(open("cpu"));
  DeviceHandle cpu(opened);
  EXPECT_THAT(take(cpu.describe()),
              HasSubstr("{\"device\":\"cpu\",\"threads\""));
}

TEST_F(CudaAPITest, LaunchMakesWhatItNeedsOnce) {
  PlanHandle first = plan();
  EXPECT_OK(launch(first));
  EXPECT_EQ(fake().lastCtas, 8u);
  EXPECT_EQ(fake().lastCooperative, 1);
  EXPECT_EQ(fake().lastThreads, 384u);
  std::vector<uint8_t> bytes = first.bytes();
  EXPECT_EQ(std::memcmp(reinterpret_cast<void *>(head().plan), bytes.data(),
                        bytes.size()),
            0);
  int allocations = fake().calls("cuMemAlloc_v2");
  int copies = fake().calls("cuMemcpyHtoDAsync_v2");
  int modules = fake().calls("cuModuleLoadDataEx");
  EXPECT_OK(launch(first));
  EXPECT_EQ(fake().calls("cuMemcpyHtoDAsync_v2"), copies);
  // Another plan is another copy.
  PlanHandle again = plan();
  EXPECT_OK(launch(again));
  EXPECT_EQ(fake().calls("cuMemcpyHtoDAsync_v2"), copies + 1);
  EXPECT_EQ(fake().calls("cuMemAlloc_v2"), allocations);
  // A plan of another topology is another launcher with the same code.
  EXPECT_OK(launch(plan(16)));
  EXPECT_EQ(fake().lastCtas, 16u);
  EXPECT_GT(fake().calls("cuMemAlloc_v2"), allocations);
  EXPECT_EQ(fake().calls("cuModuleLoadDataEx"), modules);
  // A released artifact takes its launchers along.
  artifact = ArtifactHandle();
  first = PlanHandle();
  again = PlanHandle();
  use(withKernels(raggedCase({37, 0, 200, 1})));
  EXPECT_OK(launch(plan()));
  EXPECT_EQ(fake().alive("memory"), 1);
}

TEST_F(CudaAPITest, LaunchGrowsWithThePlans) {
  EXPECT_OK(launch(plan()));
  // A longer batch of the same program.
  TestCase longer = raggedCase(std::vector<int64_t>(100, 400));
  arguments = longer.arguments();
  for (size_t i = 0; i < arguments.size(); ++i)
    onDevice[i].shape = arguments[i].shape;
  PlanHandle large = plan();
  int allocations = fake().calls("cuMemAlloc_v2");
  EXPECT_OK(launch(large));
  EXPECT_EQ(fake().calls("cuMemAlloc_v2"), allocations + 1);
  EXPECT_EQ(fake().alive("memory"), 1); // in place of the smaller one
  EXPECT_OK(launch(large));
  EXPECT_EQ(fake().calls("cuMemAlloc_v2"), allocations + 1);
}

TEST_F(CudaAPITest, LaunchWaitsInItsOwnStreamOnly) {
  Stream theirs = stream();
  PlanHandle made = plan();
  int waits = fake().calls("cuStreamSynchronize");
  EXPECT_OK(launch(made, theirs.handle()));
  EXPECT_EQ(fake().calls("cuStreamSynchronize"), waits);
  EXPECT_OK(launch(made));
  EXPECT_EQ(fake().calls("cuStreamSynchronize"), waits + 1);
}

TEST_F(CudaAPITest, WorkspaceOfTheCaller) {
  PlanHandle made = plan();
  uint64_t bytes = 0;
  EXPECT_OK(made.workspaceBytes(handle, bytes));
  Buffer buffer = take(Buffer::allocate(device, bytes + 256, "mine"));
  dfrt_launch_options options;
  dfrt_launch_options_init(&options);
  options.workspace =
      reinterpret_cast<void *>(uintptr_t((buffer.address() + 255) / 256 * 256));
  options.workspace_bytes = bytes - 1;
  EXPECT_FAILURE(handle.launch(artifact, made, onDevice, &options),
                 StatusCode::invalidArgument,
                 HasSubstr("bytes at a multiple of 256 are needed"));
  options.workspace_bytes = bytes;
  int allocations = fake().calls("cuMemAlloc_v2");
  std::vector<uint8_t> packed = made.bytes();
  for (int round = 0; round < 2; ++round) {
    EXPECT_OK(handle.launch(artifact, made, onDevice, &options));
    dfrt_kernel_parameters block = head();
    EXPECT_EQ(block.workspace, reinterpret_cast<uintptr_t>(options.workspace));
    EXPECT_EQ(std::memcmp(reinterpret_cast<void *>(block.plan), packed.data(),
                          packed.size()),
              0);
    uint32_t flag = 0;
    std::memcpy(&flag, reinterpret_cast<void *>(block.flags), 4);
    EXPECT_EQ(flag, 0u);
    // Somebody else uses the memory in between.
    std::memset(options.workspace, 0x77, bytes);
  }
  EXPECT_EQ(fake().calls("cuMemAlloc_v2"), allocations);
  // The same address, but less of it.
  --options.workspace_bytes;
  EXPECT_FAILURE(handle.launch(artifact, made, onDevice, &options),
                 StatusCode::invalidArgument,
                 HasSubstr("bytes at a multiple of 256 are needed"));
  handle = DeviceHandle();
}

TEST_F(CudaAPITest, LaunchIsNotCaptured) {
  Stream theirs = stream();
  PlanHandle made = plan();
  Status captured;
  (void)Graph::capture(theirs, StagingRing(), [&] {
    captured = launch(made, theirs.handle());
    return Status::success();
  });
  EXPECT_FAILURE(captured, StatusCode::unsupported,
                 HasSubstr("capture dfrt_launcher_upload"));
  EXPECT_OK(launch(made, theirs.handle()));
}

TEST_F(CudaAPITest, WrongArgumentsAreNamed) {
  PlanHandle made = plan();
  onDevice[3].data = nullptr;
  EXPECT_FAILURE(launch(made), StatusCode::invalidArgument,
                 HasSubstr("argument 'out': the data pointer is null"));
  onDevice[3].data = onDevice[4].data;
  EXPECT_FAILURE(launch(made), StatusCode::invalidArgument,
                 HasSubstr("output 'out' overlaps"));
  onDevice[3].data = reinterpret_cast<void *>(uintptr_t(0x9000000));
  // Plans for another kernel.
  dfrt_plan_options options;
  dfrt_plan_options_init(&options);
  options.ctas = 8;
  PlanHandle other = take(PlanHandle::make(artifact, arguments, &options));
  EXPECT_FAILURE(launch(other), StatusCode::unsupported,
                 HasSubstr("the plan leaves 131072 bytes of shared memory to "
                           "the kernel, which needs 8192"));
  uint64_t bytes = 0;
  EXPECT_FALSE(other.workspaceBytes(handle, bytes).ok());
}

TEST_F(CudaAPITest, ArtifactsWithoutKernels) {
  use(raggedCase({37, 0, 200, 1}));
  EXPECT_FAILURE(launch(plan()), StatusCode::unsupported,
                 HasSubstr("'ragged' has no kernel"));
  EXPECT_FAILURE(KernelHandle::load(handle, artifact).status(),
                 StatusCode::unsupported, HasSubstr("compile it for sm_90"));
}

TEST_F(CudaAPITest, WatchdogExplainsAFailure) {
  test.artifact.kernels.erase(test.artifact.kernels.begin());
  use(std::move(test));
  PlanHandle made = plan();
  EXPECT_OK(launch(made));
  dfrt_watchdog_record left = {
      DFRT_WATCHDOG_COMPLETE, 5, DFRT_ROLE_COMPUTE, DFRT_WAIT_FLAG, 1, 0, 2, 1};
  std::memcpy(reinterpret_cast<char *>(head().watchdog) +
                  (5 * DFRT_WATCHDOG_ROLES + 1) * sizeof(left),
              &left, sizeof(left));
  fake().fail("cuStreamSynchronize", 1, api::Result::launchFailed);
  EXPECT_FAILURE(launch(made), StatusCode::deadlock,
                 AllOf(HasSubstr("cuStreamSynchronize failed with "
                                 "CUDA_ERROR_LAUNCH_FAILED"),
                       HasSubstr("1 waits of 1 of 8 ctas ran out"),
                       HasSubstr("cta 5, role compute, instruction 1 ('"),
                       HasSubstr("global flag 0, expected 2, seen 1: slot"),
                       Not(HasSubstr("\n"))));
  fake().lose(api::Result::success);
  EXPECT_OK(device.reopen());
}

TEST_F(CudaAPITest, ReopenedAfterAnError) {
  PlanHandle made = plan();
  EXPECT_OK(launch(made));
  EXPECT_OK(handle.reopen()); // healthy: nothing happens
  EXPECT_EQ(fake().calls("cuDevicePrimaryCtxReset_v2"), 0);
  // With the context to itself.
  device = Device();
  handle = DeviceHandle();
  dfrt_device *opened = nullptr;
  EXPECT_OK(openDevice("cuda", DATAFLOW_TEST_FAKE_DRIVER, &opened));
  handle = DeviceHandle(opened);
  EXPECT_OK(launch(made));
  fake().fail("cuStreamSynchronize", 1, api::Result::illegalAddress);
  EXPECT_FALSE(launch(made).ok());
  fake().fail("cuStreamCreate", 1, api::Result::outOfMemory);
  EXPECT_FALSE(handle.reopen().ok()); // not half of it
  EXPECT_OK(handle.reopen());
  EXPECT_EQ(fake().calls("cuDevicePrimaryCtxReset_v2"), 1);
  EXPECT_OK(launch(made));
  EXPECT_EQ(fake().alive("module"), 1);
}

TEST_F(CudaAPITest, KernelsAndShapes) {
  kernel = take(KernelHandle::load(handle, artifact));
  EXPECT_THAT(take(kernel.describe()), HasSubstr("\"symbol\":\"kernel\""));
  dfrt_shape_options options;
  dfrt_shape_options_init(&options);
  options.cluster_size = 16;
  fake().largestCluster = 8;
  dfrt_launch_shape shape;
  const char *refused = nullptr;
  EXPECT_OK(last(dfrt_kernel_shape(kernel.get(), &options, &shape, &refused)));
  EXPECT_EQ(shape.ctas, 128u);
  EXPECT_EQ(shape.threads, 384u);
  EXPECT_EQ(shape.cluster_size, 8u);
  EXPECT_EQ(shape.shared_bytes, 232448u);
  EXPECT_EQ(shape.reserved_bytes, 8192u);
  EXPECT_THAT(refused, HasSubstr("clusters of 16"));
  dfrt_plan_options planned;
  dfrt_plan_options_init(&planned);
  dfrt_shape_plan_options(&shape, &planned);
  EXPECT_EQ(planned.ctas, 128u);
  EXPECT_EQ(planned.cluster_size, 8u);
  EXPECT_EQ(planned.reserved_bytes, 8192u);
  options.cooperation = 7;
  EXPECT_FAILURE(
      last(dfrt_kernel_shape(kernel.get(), &options, &shape, nullptr)),
      StatusCode::invalidArgument, HasSubstr("expected 0 to 2"));
  dfrt_kernel_options wanted;
  dfrt_kernel_options_init(&wanted);
  wanted.symbol = "other";
  EXPECT_FAILURE(KernelHandle::load(handle, artifact, &wanted).status(),
                 StatusCode::unsupported, HasSubstr("not called 'other'"));
  Expected<DeviceHandle> cpu = DeviceHandle::open("cpu");
  EXPECT_FAILURE(KernelHandle::load(*cpu, artifact).status(),
                 StatusCode::invalidArgument,
                 HasSubstr("'cpu' has no kernels"));
}

TEST_F(CudaAPITest, LauncherForAServingEngine) {
  dfrt_kernel_options wanted;
  dfrt_kernel_options_init(&wanted);
  wanted.watchdog = 1;
  kernel = take(KernelHandle::load(handle, artifact, &wanted));
  dfrt_shape_options how;
  dfrt_shape_options_init(&how);
  how.ctas = 8;
  dfrt_launch_shape shape;
  EXPECT_OK(last(dfrt_kernel_shape(kernel.get(), &how, &shape, nullptr)));
  PlanHandle made = plan();
  dfrt_launch_maxima maxima;
  dfrt_launch_maxima_init(&maxima);
  EXPECT_OK(last(dfrt_launch_maxima_include(&maxima, made.get())));
  EXPECT_EQ(maxima.plan_bytes, made.bytes().size());
  uint64_t bytes = 0;
  EXPECT_OK(last(dfrt_launcher_bytes(kernel.get(), &shape, &maxima, &bytes)));
  EXPECT_GT(bytes, maxima.plan_bytes + maxima.slot_bytes);
  launcher = take(LauncherHandle::create(kernel, shape, maxima));
  // Everything but the launcher may go.
  kernel = KernelHandle();
  EXPECT_OK(launcher.bind(onDevice));
  EXPECT_OK(launcher.upload(made));
  EXPECT_OK(launcher.launch());
  EXPECT_OK(launcher.wait());
  EXPECT_EQ(fake().lastCtas, 8u);
  EXPECT_THAT(take(launcher.watchdog()), HasSubstr("no wait ran out"));
  EXPECT_FAILURE(last(dfrt_launcher_restage(launcher.get(), made.get())),
                 StatusCode::invalidArgument,
                 HasSubstr("no upload was captured"));

  fake().fail("cuStreamSynchronize", 1, api::Result::launchFailed);
  EXPECT_FALSE(launcher.wait().ok());
  fake().lose(api::Result::success);
  EXPECT_FAILURE(launcher.launch(), StatusCode::deviceError,
                 HasSubstr("initialise it again"));
  EXPECT_OK(device.reopen());
}

TEST_F(CudaAPITest, TimelineOfALauncher) {
  dfrt_kernel_options wanted;
  dfrt_kernel_options_init(&wanted);
  wanted.timeline = 1;
  EXPECT_FAILURE(KernelHandle::load(handle, artifact, &wanted).status(),
                 StatusCode::unsupported, HasSubstr("records no timeline"));
  TestCase recording = withKernels(raggedCase({37, 0, 200, 1}));
  recording.artifact.kernels[1].timeline = true;
  use(std::move(recording));
  kernel = take(KernelHandle::load(handle, artifact, &wanted));
  dfrt_shape_options how;
  dfrt_shape_options_init(&how);
  how.ctas = 8;
  dfrt_launch_shape shape;
  EXPECT_OK(last(dfrt_kernel_shape(kernel.get(), &how, &shape, nullptr)));
  PlanHandle made = plan();
  dfrt_launch_maxima maxima;
  dfrt_launch_maxima_init(&maxima);
  EXPECT_OK(last(dfrt_launch_maxima_include(&maxima, made.get())));
  launcher = take(LauncherHandle::create(kernel, shape, maxima));
  EXPECT_OK(launcher.bind(onDevice));
  EXPECT_OK(launcher.upload(made));
  const void *data = nullptr;
  uint64_t bytes = 0;
  EXPECT_FAILURE(launcher.timeline(data, bytes), StatusCode::invalidArgument,
                 HasSubstr("call dfrt_launcher_trace"));
  EXPECT_OK(launcher.trace(3));
  EXPECT_OK(launcher.launch());
  EXPECT_EQ(head().timeline_capacity, 3u);
  auto *lanes = reinterpret_cast<dfrt_timeline_lane *>(head().timeline);
  lanes[3].instructions = 7;
  EXPECT_OK(launcher.timeline(data, bytes));
  EXPECT_EQ(bytes, 16 * (sizeof(dfrt_timeline_lane) +
                         3 * sizeof(dfrt_timeline_record)));
  EXPECT_EQ(static_cast<const dfrt_timeline_lane *>(data)[3].instructions, 7u);
  // The next launch starts from nothing; another capacity is other memory.
  EXPECT_OK(launcher.trace(3));
  EXPECT_EQ(lanes[3].instructions, 0u);
  EXPECT_OK(launcher.trace(4));
  EXPECT_OK(launcher.launch());
  EXPECT_EQ(head().timeline_capacity, 4u);
  EXPECT_OK(launcher.trace(0));
  EXPECT_OK(launcher.launch());
  EXPECT_EQ(head().timeline, 0u);
}
} // namespace
