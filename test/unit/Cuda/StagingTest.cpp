//===- StagingTest.cpp - The staging ring ---------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"

#include "dfrt/cuda/Staging.h"

#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;
using testing::AllOf;
using testing::HasSubstr;

namespace {
class StagingTest : public CudaTest {
protected:
  StagingRing ring(std::vector<std::string> names = {"a", "b"}) {
    return take(StagingRing::create(device, names, 64));
  }
  static uint32_t write(const StagingRing &ring, char value) {
    uint32_t stage = take(ring.acquire());
    std::memset(ring.data(stage), value, 64);
    EXPECT_OK(ring.publish(stage, 64));
    return stage;
  }
};

TEST_F(StagingTest, BusyWhenFull) {
  fake().holdStreams = 1;
  StagingRing r = ring();
  Stream s = stream();
  Buffer target = take(Buffer::allocate(device, 64, "plan"));
  EXPECT_OK(r.copy(write(r, 1), target, s));
  EXPECT_OK(r.copy(write(r, 2), target, s));
  EXPECT_FAILURE(r.acquire().status(), StatusCode::busy,
                 AllOf(HasSubstr("all 2 stages"),
                       HasSubstr("'a' is read by a copy that has not ended"),
                       HasSubstr("'b'")));
  EXPECT_EQ(fake().calls("cuEventSynchronize"), 0); // nothing waited
  EXPECT_OK(s.synchronize());
  EXPECT_EQ(take(r.acquire()), 0u);
  EXPECT_EQ(take(r.acquire()), 1u);
  EXPECT_FAILURE(r.acquire().status(), StatusCode::busy,
                 HasSubstr("'a' is being written"));
}

TEST_F(StagingTest, PublishedIsKeptUntilCopied) {
  StagingRing r = ring({"only"});
  uint32_t stage = write(r, 1);
  EXPECT_FAILURE(r.acquire().status(), StatusCode::busy,
                 HasSubstr("'only' is published and was not copied"));
  Buffer target = take(Buffer::allocate(device, 64, "plan"));
  EXPECT_OK(r.copy(stage, target, stream()));
  EXPECT_EQ(take(r.acquire()), stage);
  EXPECT_OK(r.abandon(stage));
  EXPECT_EQ(take(r.acquire()), stage);
}

TEST_F(StagingTest, OnlyTheWriterWrites) {
  StagingRing r = ring();
  Buffer target = take(Buffer::allocate(device, 64, "plan"));
  Stream s = stream();
  EXPECT_EQ(r.data(0), nullptr);
  EXPECT_FAILURE(r.publish(0, 8), StatusCode::invalidArgument,
                 HasSubstr("was not acquired"));
  EXPECT_FAILURE(r.abandon(0), StatusCode::invalidArgument,
                 HasSubstr("was not acquired"));
  EXPECT_FAILURE(r.copy(0, target, s), StatusCode::invalidArgument,
                 HasSubstr("stage 'a' holds nothing"));
  uint32_t stage = take(r.acquire());
  EXPECT_NE(r.data(stage), nullptr);
  EXPECT_FAILURE(r.copy(stage, target, s), StatusCode::busy,
                 HasSubstr("is being written"));
  EXPECT_FAILURE(r.publish(stage, 65), StatusCode::resourceExhausted,
                 AllOf(HasSubstr("65 bytes"), HasSubstr("64 bytes")));
  EXPECT_FALSE(r.publish(stage, 0).ok());
  EXPECT_OK(r.publish(stage, 8));
  EXPECT_EQ(r.data(stage), nullptr);
  EXPECT_EQ(r.publishedBytes(stage), 8u);
  EXPECT_FAILURE(r.publish(7, 8), StatusCode::invalidArgument,
                 HasSubstr("no stage 7"));
}

TEST_F(StagingTest, ByName) {
  fake().holdStreams = 1;
  StagingRing r = ring();
  Stream s = stream();
  Buffer target = take(Buffer::allocate(device, 64, "plan"));
  uint32_t stage = take(r.acquire("b"));
  EXPECT_EQ(stage, 1u);
  EXPECT_FAILURE(r.acquire("b").status(), StatusCode::busy,
                 HasSubstr("being written already"));
  EXPECT_OK(r.publish(stage, 64));
  EXPECT_OK(r.copy(stage, target, s));
  EXPECT_FAILURE(r.acquire("b").status(), StatusCode::busy,
                 HasSubstr("stage 'b' is read by a copy"));
  EXPECT_FAILURE(r.acquire("c").status(), StatusCode::invalidArgument,
                 HasSubstr("no stage 'c'"));
  EXPECT_OK(s.synchronize());
  EXPECT_TRUE(bool(r.acquire("b")));
}

TEST_F(StagingTest, EveryStreamCounts) {
  fake().holdStreams = 1;
  StagingRing r = ring({"only"});
  Stream first = stream("first"), second = stream("second");
  Buffer target = take(Buffer::allocate(device, 64, "plan"));
  uint32_t stage = write(r, 1);
  EXPECT_OK(r.copy(stage, target, first));
  EXPECT_OK(r.copy(stage, target, second));
  EXPECT_OK(second.synchronize());
  EXPECT_FAILURE(r.acquire().status(), StatusCode::busy, HasSubstr("'only'"));
  EXPECT_OK(first.synchronize());
  EXPECT_TRUE(bool(r.acquire()));
}

TEST_F(StagingTest, ReplaysMadeElsewhere) {
  fake().holdStreams = 1;
  StagingRing r = ring({"only"});
  Stream s = stream();
  uint32_t stage = write(r, 1);
  EXPECT_OK(r.hold(stage));
  EXPECT_OK(r.noteRead(stage, s));
  EXPECT_FAILURE(r.acquire("only").status(), StatusCode::busy,
                 HasSubstr("has not ended"));
  EXPECT_OK(s.synchronize());
  EXPECT_FAILURE(r.acquire().status(), StatusCode::busy,
                 HasSubstr("held by a graph"));
  EXPECT_OK(r.release(stage));
  EXPECT_FAILURE(r.release(stage), StatusCode::invalidArgument,
                 HasSubstr("is not held"));
  EXPECT_TRUE(bool(r.acquire()));
}

TEST_F(StagingTest, Creation) {
  EXPECT_FAILURE(StagingRing::create(device, {}, 64).status(),
                 StatusCode::invalidArgument, HasSubstr("0 stages"));
  EXPECT_FAILURE(StagingRing::create(device, {"a", "a"}, 64).status(),
                 StatusCode::invalidArgument, HasSubstr("two stages"));
  fake().fail("cuMemHostAlloc", 2, api::Result::outOfMemory);
  EXPECT_FAILURE(StagingRing::create(device, {"a", "b"}, 64).status(),
                 StatusCode::resourceExhausted, HasSubstr("pinned buffer 'b'"));
}

TEST_F(StagingTest, ACopyThatCannotBeTrackedIsNotStarted) {
  StagingRing r = ring();
  uint32_t stage = write(r, 1);
  Buffer target = take(Buffer::allocate(device, 64, "plan"));
  fake().fail("cuEventCreate", 1, api::Result::outOfMemory);
  EXPECT_FAILURE(r.copy(stage, target, stream()), StatusCode::resourceExhausted,
                 HasSubstr("event 'a'"));
  EXPECT_EQ(fake().calls("cuMemcpyHtoDAsync_v2"), 0);
}

TEST_F(StagingTest, LostRing) {
  StagingRing r = ring();
  fake().lose(api::Result::illegalAddress);
  EXPECT_FALSE(device.synchronize().ok());
  EXPECT_OK(device.reopen());
  EXPECT_FAILURE(r.acquire().status(), StatusCode::deviceError,
                 HasSubstr("make it again"));
}
} // namespace
