//===- MeasureTest.cpp - The yardstick ------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"

#include "dfrt/KernelABI.h"
#include "dfrt/cuda/Launch.h"
#include "dfrt/cuda/Measure.h"

#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;
using testing::HasSubstr;

namespace {
class MeasureTest : public CudaTest {
protected:
  void SetUp() override {
    CudaTest::SetUp();
    cache = std::make_unique<ModuleCache>(device);
    options.flushBytes = 1 << 20;
  }
  void TearDown() override {
    meter = Meter();
    cache.reset();
    CudaTest::TearDown();
  }
  void create() { meter = take(Meter::create(device, *cache, options)); }

  std::unique_ptr<ModuleCache> cache;
  MeasureOptions options;
  Meter meter;
};

TEST_F(MeasureTest, ReadsWithAllMultiprocessors) {
  Reader reader = take(Reader::create(device, *cache));
  Stream s = stream();
  fake().parameterBytes = 8;
  EXPECT_OK(reader.read(0x1230, 1000, s));
  EXPECT_EQ(fake().lastCtas, 264u);
  EXPECT_EQ(fake().lastThreads, 1024u);
  EXPECT_TRUE(fake().lastImageText);
  uint64_t address = 0;
  std::memcpy(&address, fake().lastParameter, 8);
  EXPECT_EQ(address, 0x1230u);
}

TEST_F(MeasureTest, FlushesBeforeEachSample) {
  create();
  int calls = 0;
  int launches = fake().calls("cuLaunchKernelEx");
  int marks = fake().calls("cuEventRecord");
  double time = take(meter.coldMicroseconds([&] {
    // The flush is in front of the first event.
    EXPECT_EQ(fake().calls("cuLaunchKernelEx") - launches, ++calls);
    EXPECT_EQ(fake().calls("cuEventRecord") - marks, 2 * calls - 1);
    return Status::success();
  }));
  EXPECT_EQ(calls, 35);
  EXPECT_DOUBLE_EQ(time, 250);
}

TEST_F(MeasureTest, GraphsAreTimedTenAtATime) {
  create();
  Function function = kernel();
  int launches = 0;
  double time = take(meter.graphMicroseconds([&] {
    ++launches;
    return launch(function, {1, 128, 1, 0, false}, {}, meter.stream());
  }));
  EXPECT_EQ(launches, 10);
  EXPECT_EQ(fake().calls("cuGraphLaunch"), 35);
  EXPECT_DOUBLE_EQ(time, 25);
}

TEST_F(MeasureTest, ReadFloor) {
  create();
  EXPECT_DOUBLE_EQ(take(meter.readMicroseconds(1000)), 250);
  EXPECT_FAILURE(meter.readMicroseconds(uint64_t(1) << 31).status(),
                 StatusCode::resourceExhausted,
                 HasSubstr("bytes of the read floor"));
}

TEST_F(MeasureTest, SpansOfStamps) {
  create();
  uint32_t launches = 0;
  auto stamping = [&](uint64_t address) {
    dfrt_stamp *stamps = reinterpret_cast<dfrt_stamp *>(address);
    EXPECT_EQ(stamps[0].begin, 0u); // of no earlier launch
    uint64_t start = 1000000 * ++launches;
    stamps[0] = {start + 100, start + 9000};
    stamps[1] = {start, start + 7000};
    stamps[2] = {start + 50, start + 9500};
    return Status::success();
  };
  std::optional<double> span = take(meter.spanMicroseconds(stamping, 3));
  ASSERT_TRUE(span.has_value());
  EXPECT_DOUBLE_EQ(*span, 9.5);
  EXPECT_EQ(launches, 35u);
  // One CTA without stamps, and there is no span.
  EXPECT_FALSE(take(meter.spanMicroseconds(stamping, 4)).has_value());
}

TEST_F(MeasureTest, FailuresComeThrough) {
  create();
  EXPECT_FAILURE(meter
                     .coldMicroseconds([] {
                       return Status(StatusCode::busy, "the launch is busy");
                     })
                     .status(),
                 StatusCode::busy, HasSubstr("the launch is busy"));
  options.samples = 0;
  EXPECT_FAILURE(Meter::create(device, *cache, options).status(),
                 StatusCode::invalidArgument, HasSubstr("0 samples"));
}
} // namespace
