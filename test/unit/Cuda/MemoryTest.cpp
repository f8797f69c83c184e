//===- MemoryTest.cpp - Buffers, streams and events -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"

#include "dfrt/cuda/Memory.h"

using namespace dfrt;
using namespace dfrt::cuda;
using testing::AllOf;
using testing::HasSubstr;

namespace {
TEST_F(CudaTest, CopiesAndFills) {
  Stream s = stream();
  Buffer buffer = take(Buffer::allocate(device, 64, "data"));
  std::vector<uint8_t> in(64), out(64);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = uint8_t(i * 7);
  EXPECT_OK(buffer.upload(in.data(), 64, s));
  EXPECT_OK(buffer.fill(0xee, 8, 4, s));
  EXPECT_OK(buffer.fillWords(0x01020304, 16, 2, s));
  EXPECT_OK(buffer.download(out.data(), 64, s));
  EXPECT_OK(s.synchronize());
  for (size_t i = 8; i < 12; ++i)
    in[i] = 0xee;
  for (size_t i = 16; i < 24; ++i)
    in[i] = uint8_t(4 - i % 4);
  EXPECT_EQ(in, out);
}

TEST_F(CudaTest, SpansStayInside) {
  Stream s = stream();
  Buffer buffer = take(Buffer::allocate(device, 64, "data"));
  uint8_t bytes[64];
  EXPECT_FAILURE(buffer.upload(bytes, 1, s, 64), StatusCode::invalidArgument,
                 AllOf(HasSubstr("buffer 'data'"), HasSubstr("1 bytes"),
                       HasSubstr("offset 64"), HasSubstr("64 bytes")));
  EXPECT_FALSE(buffer.download(bytes, 65, s).ok());
  EXPECT_FALSE(buffer.fill(0, UINT64_MAX, 2, s).ok());
  EXPECT_FALSE(buffer.fillWords(0, 0, UINT64_MAX / 2, s).ok());
  EXPECT_FALSE(buffer.fillWords(0, 2, 1, s).ok());
  EXPECT_OK(buffer.upload(bytes, 0, s, 64));
  for (const char *call : {"cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
                           "cuMemsetD8Async", "cuMemsetD32Async"})
    EXPECT_EQ(fake().calls(call), 0) << call;
}

TEST_F(CudaTest, CallsAreNamedWithoutTheirVersion) {
  Stream s = stream();
  Buffer buffer = take(Buffer::allocate(device, 64, "data"));
  fake().fail("cuMemcpyHtoDAsync_v2", 1, api::Result::invalidValue);
  EXPECT_FAILURE(buffer.upload("x", 1, s), StatusCode::deviceError,
                 HasSubstr("buffer 'data': cuMemcpyHtoDAsync failed"));
}

TEST_F(CudaTest, EmptyBuffer) {
  Buffer buffer = take(Buffer::allocate(device, 0, "none"));
  EXPECT_EQ(buffer.address(), 0u);
  EXPECT_EQ(fake().calls("cuMemAlloc_v2"), 0);
}

TEST_F(CudaTest, OutOfMemory) {
  fake().memoryBytes = 1000;
  EXPECT_FAILURE(Buffer::allocate(device, 2000, "scratch").status(),
                 StatusCode::resourceExhausted,
                 AllOf(HasSubstr("buffer 'scratch': cuMemAlloc failed with "
                                 "CUDA_ERROR_OUT_OF_MEMORY (2)"),
                       HasSubstr("asked for 2000 bytes with 1000 of 1000 free"),
                       HasSubstr("lower the stated maxima")));
  EXPECT_FALSE(device.lost());
  fake().fail("cuMemHostAlloc", 1, api::Result::outOfMemory);
  EXPECT_FAILURE(PinnedBuffer::allocate(device, 64, "plan").status(),
                 StatusCode::resourceExhausted,
                 AllOf(HasSubstr("pinned buffer 'plan'"),
                       HasSubstr("limit of locked memory")));
}

TEST_F(CudaTest, PinnedIsReleasedWhenMappingFails) {
  fake().fail("cuMemHostGetDevicePointer_v2", 1, api::Result::invalidValue);
  EXPECT_FALSE(PinnedBuffer::allocate(device, 64, "plan").status().ok());
  EXPECT_EQ(fake().alive("host"), 0);
}

TEST_F(CudaTest, MemoryInfo) {
  Buffer buffer = take(Buffer::allocate(device, 1 << 20, "data"));
  MemoryInfo info = take(device.memory());
  EXPECT_EQ(info.total - info.free, 1u << 20);
}

TEST_F(CudaTest, EventsFollowStreams) {
  fake().holdStreams = 1;
  Stream s = stream();
  Event begin = take(Event::create(device, true, "begin"));
  Event end = take(Event::create(device, true, "end"));
  EXPECT_OK(end.query()); // never set
  EXPECT_OK(begin.record(s));
  EXPECT_OK(end.record(s));
  EXPECT_FAILURE(end.query(), StatusCode::busy, HasSubstr("event 'end'"));
  EXPECT_FAILURE(s.query(), StatusCode::busy, HasSubstr("stream 's'"));
  EXPECT_OK(stream("other").wait(end));
  EXPECT_OK(s.synchronize());
  EXPECT_OK(end.query());
  EXPECT_DOUBLE_EQ(take(end.microsecondsSince(begin)), 250.0);
  Event plain = take(Event::create(device, false, "plain"));
  EXPECT_FAILURE(plain.microsecondsSince(begin).status(),
                 StatusCode::invalidArgument, HasSubstr("without timing"));
}

TEST_F(CudaTest, BorrowedStreamIsNotDestroyed) {
  Stream owned = stream("owned");
  Stream borrowed = take(Stream::borrow(device, owned.handle(), "borrowed"));
  borrowed = Stream();
  EXPECT_EQ(fake().alive("stream"), 1);
  EXPECT_FALSE(take(owned.capturing()));
}
} // namespace
