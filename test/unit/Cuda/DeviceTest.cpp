//===- DeviceTest.cpp - Opening, losing and reopening a device ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"

#include "dfrt/cuda/Launch.h"
#include "dfrt/cuda/Memory.h"

#include <map>

using namespace dfrt;
using namespace dfrt::cuda;
using testing::AllOf;
using testing::HasSubstr;

namespace {
TEST_F(CudaTest, Report) {
  const DeviceReport &report = device.report();
  EXPECT_EQ(report.name, "Fake GPU");
  EXPECT_EQ(report.architecture(), "sm_90");
  EXPECT_EQ(report.multiprocessors, 132u);
  EXPECT_EQ(report.sharedPerBlockOptin, 232448u);
  EXPECT_FALSE(report.sharedWithOtherProcesses); // unknown to the driver
  EXPECT_THAT(report.json(), AllOf(HasSubstr("\"multiprocessors\":132"),
                                   HasSubstr("\"architecture\":\"sm_90\"")));
}

TEST_F(CudaTest, OrdinalOutOfRange) {
  EXPECT_FAILURE(Device::open(driver, 1).status(), StatusCode::invalidArgument,
                 AllOf(HasSubstr("cuda device 1"), HasSubstr("1 devices")));
  EXPECT_FAILURE(Device::open(driver, -1).status(), StatusCode::invalidArgument,
                 HasSubstr("cuda device -1"));
}

TEST_F(CudaTest, OpenedTwiceIsOneDevice) {
  Device again = take(Device::open(driver));
  EXPECT_EQ(again.shared(), device.shared());
  EXPECT_EQ(fake().alive("context"), 1);
}

// Two users in one process, each with its own handle of the library: a reset by
// one is known to what the other made.
TEST_F(CudaTest, LibraryOpenedTwiceIsOneDevice) {
  std::shared_ptr<const Driver> other =
      take(Driver::open(DATAFLOW_TEST_FAKE_DRIVER));
  ASSERT_NE(other, driver);
  Device again = take(Device::open(other));
  EXPECT_EQ(again.shared(), device.shared());
  EXPECT_EQ(fake().alive("context"), 1);
}

TEST_F(CudaTest, FailureToOpenReleasesNothingTwice) {
  device = Device();
  fake().fail("cuDevicePrimaryCtxRetain", 1, api::Result::deviceUnavailable);
  EXPECT_FAILURE(Device::open(driver).status(), StatusCode::deviceError,
                 AllOf(HasSubstr("cuDevicePrimaryCtxRetain"), HasSubstr("(46)"),
                       HasSubstr("exclusively")));
  EXPECT_EQ(fake().alive("context"), 0);
  fake().fail("cuDeviceGetAttribute", 3, api::Result::invalidDevice);
  EXPECT_FAILURE(Device::open(driver).status(), StatusCode::invalidArgument,
                 HasSubstr("attribute 16"));
}

TEST_F(CudaTest, KeepsTheCallersContext) {
  // Every call in a context of ours leaves the caller's stack alone, also when
  // it fails; TearDown tests the depth.
  fake().fail("cuCtxSynchronize", 1, api::Result::invalidValue);
  EXPECT_FALSE(device.synchronize().ok());
  EXPECT_EQ(fake().alive("depth"), 0);
  fake().fail("cuCtxPushCurrent_v2", 1, api::Result::invalidContext);
  EXPECT_FAILURE(device.synchronize(), StatusCode::deviceError,
                 HasSubstr("cuCtxPushCurrent failed"));
}

TEST_F(CudaTest, EmptyHandles) {
  EXPECT_FAILURE(Device().synchronize(), StatusCode::invalidArgument,
                 HasSubstr("device handle is empty"));
  EXPECT_FAILURE(Device().reopen(), StatusCode::invalidArgument,
                 HasSubstr("empty"));
  EXPECT_FAILURE(Stream().synchronize(), StatusCode::invalidArgument,
                 HasSubstr("stream handle is empty"));
  EXPECT_FAILURE(Event().query(), StatusCode::invalidArgument,
                 HasSubstr("event handle is empty"));
  EXPECT_FAILURE(Buffer().upload(nullptr, 0, Stream()),
                 StatusCode::invalidArgument, HasSubstr("buffer"));
  EXPECT_FAILURE(Module().function("f").status(), StatusCode::invalidArgument,
                 HasSubstr("module"));
  EXPECT_FAILURE(Stream::create(Device()).status(), StatusCode::invalidArgument,
                 HasSubstr("device"));
  EXPECT_FAILURE(Device::open(nullptr).status(), StatusCode::invalidArgument,
                 HasSubstr("driver"));
}

TEST_F(CudaTest, HealthyDeviceIsNotReset) {
  EXPECT_OK(device.reopen());
  EXPECT_EQ(fake().calls("cuDevicePrimaryCtxReset_v2"), 0);
}

TEST_F(CudaTest, LostAndReopened) {
  Stream before = stream("before");
  Buffer old = take(Buffer::allocate(device, 64, "old"));
  Event event = take(Event::create(device));
  Function function = kernel();
  fake().lose(api::Result::illegalAddress);
  EXPECT_FALSE(device.lost());
  EXPECT_FAILURE(before.synchronize(), StatusCode::deviceError,
                 AllOf(HasSubstr("stream 'before': cuStreamSynchronize failed "
                                 "with CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
                       HasSubstr("reopen the device")));
  EXPECT_TRUE(device.lost());
  EXPECT_OK(device.reopen());
  EXPECT_FALSE(device.lost());

  // What was made before says so; nothing of the new context is released.
  EXPECT_FAILURE(before.synchronize(), StatusCode::deviceError,
                 HasSubstr("was lost when the device was reopened"));
  EXPECT_FAILURE(old.fill(0, 0, 1, before), StatusCode::deviceError,
                 HasSubstr("buffer 'old'"));
  EXPECT_FAILURE(launch(function, {1, 32, 1, 0, false}, {}, before),
                 StatusCode::deviceError, HasSubstr("kernel 'kernel'"));
  Stream after = stream("after");
  Buffer fresh = take(Buffer::allocate(device, 64, "fresh"));
  std::map<std::string, int> calls;
  for (const char *call : {"cuModuleUnload", "cuStreamDestroy_v2",
                           "cuEventDestroy_v2", "cuMemFree_v2"})
    calls[call] = fake().calls(call);
  before = Stream();
  old = Buffer();
  event = Event();
  function = Function();
  for (const char *call : {"cuModuleUnload", "cuStreamDestroy_v2",
                           "cuEventDestroy_v2", "cuMemFree_v2"})
    EXPECT_EQ(fake().calls(call), calls[call]) << call;
  EXPECT_OK(fresh.fill(7, 0, 64, after));
  EXPECT_EQ(fake().alive("memory"), 1);
  EXPECT_EQ(fake().alive("stream"), 1);
}

TEST_F(CudaTest, ForeignContextIsNotReset) {
  device = Device();
  fake().primaryActive = 1;
  device = take(Device::open(driver));
  fake().lose(api::Result::launchFailed);
  EXPECT_FALSE(device.synchronize().ok());
  EXPECT_FAILURE(
      device.reopen(), StatusCode::deviceError,
      AllOf(HasSubstr("not ours to reset"), HasSubstr("restart the process")));
  EXPECT_EQ(fake().calls("cuDevicePrimaryCtxReset_v2"), 0);
}

TEST_F(CudaTest, DriverThatDoesNotRecover) {
  fake().resetRecovers = 0;
  fake().lose(api::Result::illegalAddress);
  EXPECT_FALSE(device.synchronize().ok());
  EXPECT_FAILURE(device.reopen(), StatusCode::deviceError,
                 AllOf(HasSubstr("does not let the process go on"),
                       HasSubstr("restart the process")));
  EXPECT_TRUE(device.lost());
}
} // namespace
