//===- SmokeWork.cpp - Copies, reads, tensor maps and workspaces ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Smoke.h"

using namespace smoke;

Status Smoke::fillAndCopy(std::string &detail) {
  TAKE(fill, kernel("fill"));
  TAKE(copy, kernel("copy"));
  Random random;
  size_t words = (64 << 20) / 4 + 4; // no multiple of the grid
  std::vector<uint32_t> in = random.words(words), out(words);
  TAKE(source, Buffer::allocate(device, words * 4, "source"));
  TAKE(target, Buffer::allocate(device, words * 4, "target"));
  TRY(source.upload(in.data(), words * 4, stream));
  uint64_t targetAddress = target.address(), sourceAddress = source.address();
  uint64_t count = words, vectors = words / 4;
  uint32_t value = 0xabad1dea;
  LaunchShape shape{device.report().multiprocessors * 4, 256, 1, 0, false};
  TRY(launch(fill, shape, {&targetAddress, &count, &value}, stream));
  TRY(target.download(out.data(), words * 4, stream));
  TRY(stream.synchronize());
  for (uint32_t word : out)
    if (word != value)
      return wrong("fill left another word");
  TRY(launch(copy, shape, {&targetAddress, &sourceAddress, &vectors}, stream));
  TRY(target.download(out.data(), words * 4, stream));
  TRY(stream.synchronize());
  if (in != out)
    return wrong("copy differs from its source");
  detail = std::to_string(words * 4) + " random bytes";
  return Status::success();
}

Status Smoke::coldRead(std::string &detail) {
  TAKE(read, kernel("read"));
  Random random;
  constexpr size_t kBlock = 64 << 20;
  constexpr int kBlocks = 15; // odd: the blocks do not cancel out
  std::vector<uint32_t> block = random.words(kBlock / 4);
  uint32_t expected = 0;
  for (uint32_t word : block)
    expected ^= word;
  TAKE(data, Buffer::allocate(device, kBlock * kBlocks, "data"));
  TAKE(flush, Buffer::allocate(device, kBlock * 8, "flush"));
  TAKE(sink, Buffer::allocate(device, 8, "sink"));
  for (int i = 0; i < kBlocks; ++i)
    TRY(data.upload(block.data(), kBlock, stream, kBlock * uint64_t(i)));
  for (int i = 0; i < 8; ++i)
    TRY(flush.upload(block.data(), kBlock, stream, kBlock * uint64_t(i)));
  TAKE(begin, Event::create(device, true, "begin"));
  TAKE(end, Event::create(device, true, "end"));
  LaunchShape shape{device.report().multiprocessors * 8, 256, 1, 0, false};
  uint64_t sinkAddress = sink.address(), other = sinkAddress + 4;
  auto time = [&](uint64_t bytes, double &median) -> Status {
    uint64_t address = data.address(), vectors = bytes / 16;
    uint64_t flushAddress = flush.address(), all = flush.bytes() / 16;
    std::vector<double> times;
    for (int i = 0; i < 15; ++i) {
      TRY(launch(read, shape, {&flushAddress, &all, &other}, stream));
      TRY(sink.fill(0, 0, 8, stream));
      TRY(begin.record(stream));
      TRY(launch(read, shape, {&address, &vectors, &sinkAddress}, stream));
      TRY(end.record(stream));
      TRY(stream.synchronize());
      TAKE(microseconds, end.microsecondsSince(begin));
      if (i >= 5)
        times.push_back(microseconds);
    }
    std::sort(times.begin(), times.end());
    median = times[times.size() / 2];
    return Status::success();
  };
  double whole = 0, small = 0;
  TRY(time(kBlock, small));
  TRY(time(kBlock * kBlocks, whole));
  uint32_t seen = 0;
  TRY(sink.download(&seen, 4, stream));
  TRY(stream.synchronize());
  if (seen != expected)
    return wrong("the words read are not those written");
  char text[160];
  std::snprintf(text, sizeof(text),
                "64 MiB %.1f us (%.2f TB/s), 960 MiB %.1f us (%.2f TB/s)",
                small, double(kBlock) / small * 1e-6, whole,
                double(kBlock) * kBlocks / whole * 1e-6);
  detail = text;
  return Status::success();
}

Status Smoke::tensorMap(std::string &detail) {
  TAKE(tile, kernel("tile"));
  constexpr uint32_t kWidth = 200, kHeight = 100; // 16-bit elements
  Random random;
  std::vector<uint32_t> words = random.words(kWidth * kHeight / 2);
  const uint16_t *in = reinterpret_cast<const uint16_t *>(words.data());
  TAKE(source, Buffer::allocate(device, kWidth * kHeight * 2, "matrix"));
  TAKE(target, Buffer::allocate(device, 2048, "box"));
  TRY(source.upload(in, kWidth * kHeight * 2, stream));
  TensorMapDescription description;
  description.name = "matrix";
  description.element = MapElement::u16;
  description.rank = 2;
  description.address = source.address();
  description.extents[0] = kWidth;
  description.extents[1] = kHeight;
  description.strides[1] = kWidth * 2;
  description.box[0] = 64;
  description.box[1] = 16;
  description.promotion = MapPromotion::b256;
  TAKE(map, makeTensorMap(device, description));
  uint64_t targetAddress = target.address();
  // Inside, and over two edges, where zeros are read.
  const uint32_t corners[][2] = {{8, 3}, {168, 95}};
  for (const uint32_t (&corner)[2] : corners) {
    uint32_t x = corner[0], y = corner[1];
    TRY(target.fill(0xff, 0, 2048, stream));
    TRY(launch(tile, {1, 128, 1, 0, false}, {&map, &targetAddress, &x, &y},
               stream));
    uint16_t out[1024];
    TRY(target.download(out, sizeof(out), stream));
    TRY(stream.synchronize());
    for (uint32_t i = 0; i < 1024; ++i) {
      uint32_t column = x + i % 64, row = y + i / 64;
      uint16_t wanted =
          column < kWidth && row < kHeight ? in[row * kWidth + column] : 0;
      if (out[i] != wanted)
        return wrong("element " + std::to_string(i) + " of the box at " +
                     std::to_string(x) + ", " + std::to_string(y) + " differs");
    }
  }
  detail = "a box inside and one over two edges";
  return Status::success();
}

Status Smoke::workspace(std::string &detail) {
  WorkspaceMaxima maxima;
  maxima.counters = 5;
  maxima.flags = 1000;
  maxima.sentinelBytes = 1 << 20;
  maxima.scratchBytes = 4096;
  TAKE(space, Workspace::create(device, maxima, stream, "arenas"));
  const LaunchState &layout = space.layout();
  TAKE(copy, kernel("copy"));
  TAKE(copied, Buffer::allocate(device, layout.scratch, "arenas copied"));
  uint64_t target = copied.address(), source = space.address();
  uint64_t vectors = layout.scratch / 16;
  TRY(launch(copy, {8, 256, 1, 0, false}, {&target, &source, &vectors},
             stream));
  std::vector<uint8_t> bytes(layout.scratch);
  TRY(copied.download(bytes.data(), bytes.size(), stream));
  TRY(stream.synchronize());
  if (std::memcmp(bytes.data(), &layout, sizeof(layout)))
    return wrong("the header differs");
  for (uint64_t i = sizeof(layout); i < layout.scratch; ++i)
    if (bytes[i] != (i < layout.sentinels ? 0x00 : 0xff))
      return wrong("byte " + std::to_string(i) + " is not initialised");
  space.invalidate();
  TRY(expectFailure(space.begin(stream), StatusCode::deviceError, detail));
  TRY(space.initialise(stream));
  TRY(space.begin(stream));
  TRY(space.end(stream));
  return stream.synchronize();
}

Status Smoke::noLeak(std::string &detail) {
  TAKE(before, device.memory());
  for (int i = 0; i < 200; ++i) {
    TAKE(buffer, Buffer::allocate(device, 8 << 20, "leak"));
    TAKE(pinned, PinnedBuffer::allocate(device, 1 << 20, "leak"));
    TAKE(other, Stream::create(device, "leak"));
    TAKE(event, Event::create(device));
    TRY(buffer.upload(pinned.data(), 1 << 20, other));
    TRY(event.record(other));
    TRY(other.synchronize());
  }
  TAKE(after, device.memory());
  detail = std::to_string(before.free) + " bytes free before, " +
           std::to_string(after.free) + " after 200 rounds";
  if (before.free > after.free + (64 << 20))
    return wrong("device memory leaks");
  return Status::success();
}
