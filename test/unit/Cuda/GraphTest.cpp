//===- GraphTest.cpp - Captured graphs whose plan changes -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"

#include "dfrt/cuda/Graph.h"

#include <cstring>
#include <random>

using namespace dfrt;
using namespace dfrt::cuda;
using testing::AllOf;
using testing::HasSubstr;

namespace {
class GraphTest : public CudaTest {
protected:
  void SetUp() override {
    CudaTest::SetUp();
    s = stream();
    target = take(Buffer::allocate(device, 64, "plan"));
    ring = take(StagingRing::create(device, {"a", "b", "c"}, 64));
  }
  void TearDown() override {
    s = Stream();
    target = Buffer();
    ring = StagingRing();
    CudaTest::TearDown();
  }
  void fill(uint32_t stage, char value, uint64_t bytes = 64) {
    std::memset(ring.data(stage), value, bytes);
    EXPECT_OK(ring.publish(stage, bytes));
  }
  uint32_t write(char value) {
    uint32_t stage = take(ring.acquire());
    fill(stage, value);
    return stage;
  }
  Graph captureCopy(uint32_t stage) {
    return take(
        Graph::capture(s, ring, [&] { return ring.copy(stage, target, s); }));
  }
  std::string contents() {
    std::string text(64, 0);
    EXPECT_OK(target.download(text.data(), 64, s));
    EXPECT_OK(s.synchronize());
    return text;
  }

  Stream s;
  Buffer target;
  StagingRing ring;
};

TEST_F(GraphTest, RecordsWhatWasLaunched) {
  Function function = kernel();
  uint32_t stage = write('x');
  Graph graph = take(Graph::capture(s, ring, [&]() -> Status {
    Status copied = ring.copy(stage, target, s);
    if (!copied.ok())
      return copied;
    return launch(function, {64, 128, 8, 1024, false}, {}, s);
  }));
  ASSERT_EQ(graph.kernels().size(), 1u);
  EXPECT_EQ(graph.kernels()[0].ctas, 64u);
  EXPECT_EQ(graph.kernels()[0].threads, 128u);
  EXPECT_EQ(graph.kernels()[0].sharedBytes, 1024u);
  EXPECT_EQ(graph.copies(), 1u);
  EXPECT_EQ(take(graph.stage(0)), stage);
  EXPECT_NE(contents(), std::string(64, 'x')); // nothing ran yet
  EXPECT_OK(graph.replay(s));
  EXPECT_EQ(contents(), std::string(64, 'x'));
}

TEST_F(GraphTest, ChangingStage) {
  uint32_t first = write('1');
  Graph graph = captureCopy(first);
  EXPECT_OK(graph.replay(s));
  EXPECT_EQ(contents(), std::string(64, '1'));
  uint32_t second = write('2');
  EXPECT_OK(graph.use(0, second));
  EXPECT_OK(graph.replay(s));
  EXPECT_EQ(contents(), std::string(64, '2'));
  // The first stage is free again, the second is held.
  EXPECT_EQ(take(ring.acquire()), 2u);
  EXPECT_EQ(take(ring.acquire()), first);
  EXPECT_FAILURE(ring.acquire().status(), StatusCode::busy,
                 HasSubstr("'b' is held by a graph"));
}

TEST_F(GraphTest, UnifiedAddresses) {
  fake().unifiedCopies = 1;
  Graph graph = captureCopy(write('1'));
  EXPECT_EQ(graph.copies(), 1u);
  EXPECT_OK(graph.use(0, write('2')));
  EXPECT_OK(graph.replay(s));
  EXPECT_EQ(contents(), std::string(64, '2'));
}

TEST_F(GraphTest, CopyThatIsNotFoundIsRefused) {
  fake().foreignNodes = 1;
  uint32_t stage = write('1');
  EXPECT_FAILURE(
      Graph::capture(s, ring, [&] { return ring.copy(stage, target, s); })
          .status(),
      StatusCode::internalError, HasSubstr("1 captured copies"));
}

TEST_F(GraphTest, SeveralCopiesInOrder) {
  Buffer other = take(Buffer::allocate(device, 64, "other"));
  uint32_t first = write('1'), second = write('2');
  Graph graph = take(Graph::capture(s, ring, [&]() -> Status {
    Status copied = ring.copy(second, other, s);
    return copied.ok() ? ring.copy(first, target, s) : copied;
  }));
  ASSERT_EQ(graph.copies(), 2u);
  EXPECT_EQ(take(graph.stage(0)), second);
  EXPECT_EQ(take(graph.stage(1)), first);
  EXPECT_OK(graph.use(1, write('3')));
  EXPECT_OK(graph.replay(s));
  EXPECT_EQ(contents(), std::string(64, '3'));
  std::string text(64, 0);
  EXPECT_OK(other.download(text.data(), 64, s));
  EXPECT_EQ(text, std::string(64, '2'));
}

TEST_F(GraphTest, StageUsedAndNeverReplayedIsFree) {
  Graph graph = captureCopy(write('1'));
  uint32_t second = write('2'), third = write('3');
  EXPECT_OK(graph.use(0, second));
  EXPECT_OK(graph.use(0, third));
  EXPECT_OK(graph.use(0, third));
  EXPECT_TRUE(bool(ring.acquire()));
  EXPECT_EQ(take(ring.acquire()), second);
  EXPECT_FAILURE(ring.acquire().status(), StatusCode::busy,
                 HasSubstr("'c' is held by a graph"));
}

TEST_F(GraphTest, RewritingInPlace) {
  fake().holdStreams = 1;
  Graph graph = captureCopy(write('1'));
  EXPECT_OK(graph.replay(s));
  EXPECT_FAILURE(ring.acquire("a").status(), StatusCode::busy,
                 HasSubstr("has not ended"));
  EXPECT_EQ(contents(), std::string(64, '1'));
  uint32_t stage = take(ring.acquire("a"));
  EXPECT_FAILURE(graph.replay(s), StatusCode::busy,
                 HasSubstr("stage 'a' is being written"));
  std::memset(ring.data(stage), '2', 64);
  EXPECT_OK(ring.publish(stage, 32)); // the rest is not copied
  EXPECT_OK(graph.replay(s));
  EXPECT_EQ(contents(), std::string(32, '2') + std::string(32, '1'));
  stage = take(ring.acquire("a"));
  EXPECT_OK(ring.abandon(stage));
  EXPECT_FAILURE(graph.replay(s), StatusCode::invalidArgument,
                 HasSubstr("holds nothing"));
}

TEST_F(GraphTest, RandomReplaysSeeOneStage) {
  // Streams hold their work, so a copy reads its stage late: a stage given away
  // too early would show as mixed contents.
  fake().holdStreams = 1;
  std::mt19937 random(7);
  char value = 'a';
  Graph graph = captureCopy(write(value));
  int updates = 0, refused = 0;
  std::vector<std::string> seen;
  std::vector<char> expected;
  std::vector<std::unique_ptr<std::string>> reads;
  for (int step = 0; step < 5000; ++step) {
    switch (random() % 4) {
    case 0: {
      Expected<uint32_t> stage = ring.acquire();
      if (!stage) {
        EXPECT_EQ(stage.status().code(), StatusCode::busy);
        ++refused;
        break;
      }
      value = char('a' + random() % 26);
      fill(*stage, value);
      EXPECT_OK(graph.use(0, *stage));
      ++updates;
      break;
    }
    case 1:
      if (random() % 3 == 0)
        fake().runStreams();
      break;
    default:
      EXPECT_OK(graph.replay(s));
      reads.emplace_back(new std::string(64, 0));
      expected.push_back(value);
      EXPECT_OK(target.download(reads.back()->data(), 64, s));
    }
  }
  EXPECT_OK(s.synchronize());
  for (size_t i = 0; i < reads.size(); ++i)
    ASSERT_EQ(*reads[i], std::string(64, expected[i])) << i;
  EXPECT_GT(updates, 100);
  EXPECT_GT(refused, 100);
}

TEST_F(GraphTest, StageThatDoesNotFit) {
  Buffer small = take(Buffer::allocate(device, 40, "small"));
  uint32_t stage = take(ring.acquire());
  fill(stage, '1', 32);
  Graph graph =
      take(Graph::capture(s, ring, [&] { return ring.copy(stage, small, s); }));
  uint32_t large = write('2');
  EXPECT_FAILURE(
      graph.use(0, large), StatusCode::resourceExhausted,
      AllOf(HasSubstr("stage 'b' has 64 bytes"), HasSubstr("room for 40")));
  EXPECT_EQ(take(graph.stage(0)), stage);
  EXPECT_FAILURE(graph.use(1, large), StatusCode::invalidArgument,
                 HasSubstr("no copy 1"));
  EXPECT_FAILURE(graph.use(0, 9), StatusCode::invalidArgument,
                 HasSubstr("no stage 9"));
  EXPECT_FAILURE(graph.use(0, take(ring.acquire())), StatusCode::busy,
                 HasSubstr("being written"));
}

TEST_F(GraphTest, RefusedUpdateKeepsTheOld) {
  Graph graph = captureCopy(write('1'));
  uint32_t second = write('2');
  fake().fail("cuGraphExecMemcpyNodeSetParams", 1,
              api::Result::graphUpdateFailure);
  EXPECT_FAILURE(graph.use(0, second), StatusCode::deviceError,
                 AllOf(HasSubstr("cuGraphExecMemcpyNodeSetParams"),
                       HasSubstr("(910)"), HasSubstr("stage 'b'")));
  EXPECT_OK(graph.replay(s));
  EXPECT_EQ(contents(), std::string(64, '1'));
}

TEST_F(GraphTest, FailedCaptureEnds) {
  uint32_t stage = write('1');
  EXPECT_FAILURE(Graph::capture(s, ring,
                                [&]() -> Status {
                                  EXPECT_OK(ring.copy(stage, target, s));
                                  return Status(StatusCode::deadlock, "mine");
                                })
                     .status(),
                 StatusCode::deadlock, HasSubstr("mine"));
  EXPECT_FALSE(take(s.capturing()));
  EXPECT_FAILURE(Graph::capture(s, ring,
                                [&]() -> Status {
                                  EXPECT_OK(ring.copy(stage, target, s));
                                  (void)s.synchronize();
                                  return Status::success();
                                })
                     .status(),
                 StatusCode::deviceError,
                 AllOf(HasSubstr("cuStreamEndCapture"), HasSubstr("(901)")));
  EXPECT_FALSE(take(s.capturing()));
  // No hold is left.
  EXPECT_OK(ring.copy(stage, target, s));
  EXPECT_TRUE(bool(ring.acquire()));
  EXPECT_TRUE(bool(ring.acquire()));
  EXPECT_TRUE(bool(ring.acquire()));
}

TEST_F(GraphTest, FailedInstantiationReleases) {
  uint32_t stage = write('1');
  fake().fail("cuGraphInstantiateWithFlags", 1, api::Result::outOfMemory);
  EXPECT_FAILURE(
      Graph::capture(s, ring, [&] { return ring.copy(stage, target, s); })
          .status(),
      StatusCode::resourceExhausted, HasSubstr("graph of stream 's'"));
  EXPECT_FAILURE(ring.release(stage), StatusCode::invalidArgument,
                 HasSubstr("not held"));
}

TEST_F(GraphTest, DestructionReleases) {
  {
    uint32_t stage = write('1');
    Graph graph = captureCopy(stage);
    EXPECT_OK(graph.replay(s));
  }
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(bool(ring.acquire()));
}

TEST_F(GraphTest, LegacyStreamCannotBeCaptured) {
  Stream legacy = take(Stream::borrow(device, nullptr, "legacy"));
  EXPECT_FAILURE(
      Graph::capture(legacy, ring, [] { return Status::success(); }).status(),
      StatusCode::deviceError, HasSubstr("cuStreamBeginCapture"));
}

TEST_F(GraphTest, WithoutARing) {
  Function function = kernel();
  Graph graph = take(Graph::capture(s, StagingRing(), [&] {
    return launch(function, {2, 32, 1, 0, false}, {}, s);
  }));
  EXPECT_EQ(graph.copies(), 0u);
  EXPECT_OK(graph.replay(s));
}

TEST_F(GraphTest, StageReadBeforeIsWrittenInACapture) {
  for (uint32_t i = 0; i < ring.size(); ++i)
    EXPECT_OK(ring.copy(write('1'), target, s));
  EXPECT_OK(s.synchronize());
  // All stages were read: acquiring one asks the driver whether that is over.
  Graph graph = take(Graph::capture(
      s, ring, [&] { return ring.copy(write('3'), target, s); }));
  EXPECT_GE(fake().calls("cuEventQuery"), 1);
  EXPECT_OK(graph.replay(s));
  EXPECT_EQ(contents(), std::string(64, '3'));
}
} // namespace
