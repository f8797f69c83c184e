//===- WorkspaceTest.cpp - Workspaces -------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"

#include "dfrt/cuda/Workspace.h"

#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;
using testing::AllOf;
using testing::HasSubstr;

namespace {
WorkspaceMaxima maxima() {
  WorkspaceMaxima maxima;
  maxima.counters = 3;
  maxima.flags = 50;
  maxima.sentinelBytes = 1000;
  maxima.scratchBytes = 333;
  return maxima;
}

TEST_F(CudaTest, ArenasAreFixed) {
  LaunchState layout = take(layoutWorkspace(maxima()));
  EXPECT_EQ(layout.counters, 128u);
  EXPECT_EQ(layout.flags, 128u + 3 * 128);
  EXPECT_EQ(layout.sentinels, layout.flags + 256);
  EXPECT_EQ(layout.scratch, layout.sentinels + 1024);
  EXPECT_EQ(layout.bytes, layout.scratch + 384);
  EXPECT_EQ(take(requiredBytes(maxima())), layout.bytes);
  EXPECT_EQ(take(requiredBytes(WorkspaceMaxima())), 128u);
  WorkspaceMaxima large;
  large.counters = large.flags = UINT32_MAX;
  EXPECT_GT(take(requiredBytes(large)), uint64_t(UINT32_MAX) * 132);
  large.scratchBytes = UINT64_MAX;
  EXPECT_FAILURE(requiredBytes(large).status(), StatusCode::resourceExhausted,
                 HasSubstr("scratch bytes"));
}

TEST_F(CudaTest, Initialised) {
  Stream s = stream();
  Workspace workspace = take(Workspace::create(device, maxima(), s));
  const LaunchState &layout = workspace.layout();
  const char *memory = reinterpret_cast<const char *>(workspace.address());
  EXPECT_EQ(std::memcmp(memory, &layout, sizeof(layout)), 0);
  for (uint64_t i = layout.counters; i < layout.sentinels; ++i)
    ASSERT_EQ(memory[i], 0) << i;
  for (uint64_t i = layout.sentinels; i < layout.scratch; ++i)
    ASSERT_EQ(memory[i], char(0xff)) << i;
  EXPECT_EQ(memory[layout.scratch], char(0xa5)); // untouched
}

TEST_F(CudaTest, RefusesToBeUsedAfterAnError) {
  Stream s = stream();
  Workspace workspace = take(Workspace::create(device, maxima(), s, "w"));
  EXPECT_OK(workspace.begin(s));
  EXPECT_OK(workspace.end(s));
  char *memory = reinterpret_cast<char *>(workspace.address());
  memory[200] = 1; // a kernel died half-way
  workspace.invalidate();
  EXPECT_FAILURE(
      workspace.begin(s), StatusCode::deviceError,
      AllOf(HasSubstr("workspace 'w'"), HasSubstr("initialise it again")));
  EXPECT_OK(workspace.initialise(s));
  EXPECT_OK(workspace.begin(s));
  EXPECT_EQ(memory[200], 0);
}

TEST_F(CudaTest, FailedInitialisationDoesNotCount) {
  Stream s = stream();
  Workspace workspace = take(Workspace::create(device, maxima(), s));
  fake().fail("cuMemcpyHtoDAsync_v2", 1, api::Result::invalidValue);
  EXPECT_FALSE(workspace.initialise(s).ok());
  EXPECT_FALSE(workspace.begin(s).ok());
}

TEST_F(CudaTest, OneStreamAtATime) {
  fake().holdStreams = 1;
  Stream first = stream("first"), second = stream("second");
  Workspace workspace = take(Workspace::create(device, maxima(), first));
  EXPECT_OK(workspace.begin(first));
  EXPECT_OK(workspace.end(first));
  EXPECT_FAILURE(
      workspace.begin(second), StatusCode::busy,
      AllOf(HasSubstr("stream 'first'"), HasSubstr("one workspace a stream")));
  EXPECT_OK(workspace.begin(first));
  EXPECT_OK(workspace.end(first));
  EXPECT_OK(first.synchronize());
  EXPECT_OK(workspace.begin(second));
}

TEST_F(CudaTest, GridIsCompared) {
  Stream s = stream();
  Workspace workspace = take(Workspace::create(device, maxima(), s));
  LaunchState *seen = reinterpret_cast<LaunchState *>(workspace.address());
  seen->observed_ctas = 128;
  seen->observed_cluster = 8;
  EXPECT_OK(workspace.checkGrid({128, 64, 8, 0, false}, s));
  EXPECT_FAILURE(workspace.checkGrid({16, 64, 8, 0, false}, s),
                 StatusCode::internalError,
                 AllOf(HasSubstr("saw 128 CTAs"), HasSubstr("but 16 in")));
}

TEST_F(CudaTest, WorkspaceOutOfMemory) {
  fake().memoryBytes = 4096;
  WorkspaceMaxima large;
  large.scratchBytes = 1 << 20;
  EXPECT_FAILURE(Workspace::create(device, large, stream(), "big").status(),
                 StatusCode::resourceExhausted,
                 AllOf(HasSubstr("buffer 'big'"), HasSubstr("1048704 bytes")));
}
} // namespace
