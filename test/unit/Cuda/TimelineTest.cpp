//===- TimelineTest.cpp - Records of a kernel with a timeline -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"

#include "dfrt/cuda/Timeline.h"

#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;
using testing::HasSubstr;

namespace {
class TimelineTest : public CudaTest {
protected:
  void SetUp() override {
    CudaTest::SetUp();
    s = stream();
  }
  void TearDown() override {
    timeline = cuda::Timeline();
    s = Stream();
    CudaTest::TearDown();
  }
  void create(uint32_t ctas, uint32_t capacity) {
    timeline = take(cuda::Timeline::create(device, ctas, capacity));
    EXPECT_OK(timeline.clear(s));
  }
  /// As a kernel does it (device/Timeline.mlir).
  void record(uint32_t cta, uint32_t role, const TimelineRecord &record) {
    char *base = reinterpret_cast<char *>(timeline.address());
    uint32_t lane = cta * DFRT_TIMELINE_ROLES + role;
    dfrt_timeline_lane head;
    std::memcpy(&head, base + lane * sizeof(head), sizeof(head));
    uint32_t number = head.instructions++;
    head.multiprocessor = 100 + cta;
    std::memcpy(base + lane * sizeof(head), &head, sizeof(head));
    if (number >= timeline.capacity())
      return;
    base += timeline.ctas() * DFRT_TIMELINE_ROLES * sizeof(head);
    uint64_t place = uint64_t(lane) * timeline.capacity() + number;
    std::memcpy(base + place * sizeof(record), &record, sizeof(record));
  }

  Stream s;
  cuda::Timeline timeline;
};

TEST_F(TimelineTest, ReadsWhatEachRoleLeft) {
  create(3, 2);
  record(1, DFRT_ROLE_LOAD, {7, 0, 10, 10, 12, 12});
  record(2, DFRT_ROLE_COMPUTE, {4, 3, 20, 25, 30, 31});
  record(2, DFRT_ROLE_COMPUTE, {5, 0, 31, 31, 40, 44});
  std::vector<TimelineLane> lanes = take(timeline.read(s));
  ASSERT_EQ(lanes.size(), 6u);
  for (uint32_t l = 0; l < 6; ++l) {
    EXPECT_EQ(lanes[l].cta, l / 2);
    EXPECT_EQ(lanes[l].role, l % 2);
    EXPECT_EQ(lanes[l].lost(), 0u);
    EXPECT_EQ(lanes[l].records.size(), l == 2 ? 1u : l == 5 ? 2u : 0u) << l;
  }
  EXPECT_EQ(lanes[2].records[0].instruction, 7u);
  EXPECT_EQ(lanes[5].multiprocessor, 102u);
  EXPECT_EQ(lanes[5].records[1].instruction, 5u);
  EXPECT_EQ(lanes[5].records[0].waited, 3u);
  EXPECT_EQ(lanes[5].records[0].ready, 25u);
  EXPECT_EQ(lanes[5].records[1].finished, 44u);

  EXPECT_OK(timeline.clear(s));
  for (const TimelineLane &lane : take(timeline.read(s)))
    EXPECT_EQ(lane.instructions, 0u);
}

TEST_F(TimelineTest, CountsWhatHadNoRoom) {
  create(2, 3);
  for (uint32_t i = 0; i < 5; ++i)
    record(0, DFRT_ROLE_COMPUTE, {i, 0, i, i, i, i});
  record(1, DFRT_ROLE_LOAD, {9, 0, 1, 1, 1, 1});
  std::vector<TimelineLane> lanes = take(timeline.read(s));
  EXPECT_EQ(lanes[1].instructions, 5u);
  EXPECT_EQ(lanes[1].lost(), 2u);
  ASSERT_EQ(lanes[1].records.size(), 3u);
  EXPECT_EQ(lanes[1].records[2].instruction, 2u);
  ASSERT_EQ(lanes[2].records.size(), 1u);
  EXPECT_EQ(lanes[2].records[0].instruction, 9u);
}

TEST_F(TimelineTest, RefusesSizesThatMakeNoSense) {
  EXPECT_FALSE(bool(cuda::Timeline()));
  EXPECT_FAILURE(cuda::Timeline::create(device, 0, 4).status(),
                 StatusCode::invalidArgument, HasSubstr("of 0 CTAs"));
  EXPECT_FAILURE(cuda::Timeline::create(device, 4, 0).status(),
                 StatusCode::invalidArgument, HasSubstr("leave no record"));
  EXPECT_FAILURE(
      cuda::Timeline::create(device, UINT32_MAX, UINT32_MAX).status(),
      StatusCode::resourceExhausted, HasSubstr("more than 1 TB"));
}
} // namespace
