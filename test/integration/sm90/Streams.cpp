//===- Streams.cpp - Tests of the streaming kernels -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Streams.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;
using namespace bench;

static constexpr uint64_t kMiB = 1 << 20;

static Status wrong(const std::string &text) {
  return Status(StatusCode::verificationFailed, text);
}
/// Microseconds of a kernel that only reads, on an H200.
static double readFloor(uint64_t bytes) { return 4.9 + double(bytes) / 4.60e6; }
static uint32_t ctas(const Bench &bench) {
  return bench.device.report().multiprocessors;
}

Status bench::testFillAndCopy(Bench &bench) {
  TAKE(fill, bench.kernel("stream", "fill"));
  TAKE(copy, bench.kernel("stream", "copy"));
  LaunchShape shape;
  shape.ctas = 4 * ctas(bench);
  shape.threads = 256;
  for (uint64_t bytes : {uint64_t(1), uint64_t(15), uint64_t(16),
                         uint64_t(4099), 64 * kMiB + 3}) {
    std::vector<uint8_t> data = bench.random(bytes + 64);
    TAKE(in, bench.upload(data, "source"));
    TAKE(out, Buffer::allocate(bench.device, bytes + 64, "target"));
    std::vector<uint8_t> seen(bytes + 64);
    uint64_t from = in.address(), to = out.address();
    for (bool copies : {false, true}) {
      TRY(out.fill(0xA5, 0, bytes + 64, bench.stream));
      uint32_t pattern = 0x04030201;
      if (copies)
        TRY(launch(copy, shape, {&to, &from, &bytes}, bench.stream));
      else
        TRY(launch(fill, shape, {&to, &bytes, &pattern}, bench.stream));
      TRY(out.download(seen.data(), seen.size(), bench.stream));
      TRY(bench.stream.synchronize());
      uint64_t bad = 0;
      for (uint64_t i = 0; i < bytes + 64; ++i) {
        uint8_t inside = copies ? data[i] : uint8_t(i % 4 + 1);
        bad += seen[i] != (i < bytes ? inside : 0xA5);
      }
      Result result;
      result.test = copies ? "copy" : "fill";
      result.bytes = bytes;
      result.ctas = shape.ctas;
      if (bad) {
        result.state = Result::failed;
        result.detail = std::to_string(bad) + " bytes are wrong";
      }
      bench.add(result);
    }
  }
  uint64_t bytes = 1024 * kMiB;
  TAKE(in, Buffer::allocate(bench.device, bytes, "source"));
  TAKE(out, Buffer::allocate(bench.device, bytes, "target"));
  uint64_t from = in.address(), to = out.address();
  shape.ctas = 8 * ctas(bench);
  TAKE(micros, bench.time([] { return Status::success(); },
                          [&] {
                            return launch(copy, shape, {&to, &from, &bytes},
                                          bench.stream);
                          }));
  Result result;
  result.test = "copy-time";
  result.bytes = bytes;
  result.ctas = shape.ctas;
  result.micros = micros;
  result.terabytes = 2e-6 * double(bytes) / micros;
  result.expected = 2e-6 * double(bytes) / 3.9;
  result.tolerance = 0.05;
  result.detail = "bytes read and written";
  bench.add(result);
  return Status::success();
}

/// Reads `bytes` of `in`; `check`: address of a word, or 0.
static Status read(const Bench &bench, const Buffer &in, uint64_t bytes,
                   uint32_t chunk, uint32_t stages, uint64_t check) {
  TAKE(function, bench.kernel("stream", "cold_read"));
  LaunchShape shape;
  shape.ctas = ctas(bench);
  shape.threads = 256;
  shape.sharedBytes = 512 + uint64_t(chunk) * stages;
  uint64_t from = in.address();
  return launch(function, shape, {&from, &bytes, &chunk, &stages, &check},
                bench.stream);
}

namespace {
struct Ring {
  uint32_t chunk, stages;
};
const Ring kRings[] = {{4096, 24}, {4096, 48}, {8192, 12}, {8192, 16},
                       {8192, 24}, {16384, 6}, {16384, 8}, {16384, 12},
                       {32768, 3}, {32768, 4}, {32768, 6}};
} // namespace

Status bench::testColdRead(Bench &bench) {
  TAKE(check, Buffer::allocate(bench.device, 4, "check"));
  for (uint64_t bytes :
       {uint64_t(16), uint64_t(4096), uint64_t(1000000), 64 * kMiB + 16}) {
    std::vector<uint8_t> data = bench.random(bytes);
    uint32_t expected = 0;
    for (uint64_t i = 0; i < bytes; i += 4) {
      uint32_t word;
      std::memcpy(&word, &data[i], 4);
      expected ^= word;
    }
    TAKE(in, bench.upload(data, "input"));
    for (const Ring &ring : kRings) {
      uint32_t seen = 0;
      TRY(check.fillWords(0, 0, 1, bench.stream));
      TRY(read(bench, in, bytes, ring.chunk, ring.stages, check.address()));
      TRY(check.download(&seen, 4, bench.stream));
      TRY(bench.stream.synchronize());
      if (seen != expected)
        return wrong("not all of " + std::to_string(bytes) +
                     " bytes came, in chunks of " + std::to_string(ring.chunk));
    }
    Result result;
    result.test = "cold-read";
    result.bytes = bytes;
    result.ctas = ctas(bench);
    result.detail = "all rings give the words' exclusive or";
    bench.add(result);
  }
  return Status::success();
}

Status bench::timeColdRead(Bench &bench) {
  uint64_t largest = 1640 * kMiB, flush = 512 * kMiB;
  std::vector<uint8_t> data = bench.random(8 * kMiB);
  TAKE(in, Buffer::allocate(bench.device, largest, "input"));
  TAKE(other, Buffer::allocate(bench.device, flush, "flush"));
  for (const Buffer *buffer : {&in, &other})
    for (uint64_t i = 0; i < buffer->bytes(); i += data.size())
      TRY(buffer->upload(data.data(),
                         std::min<uint64_t>(data.size(), buffer->bytes() - i),
                         bench.stream, i));
  for (uint64_t bytes : {65 * kMiB, 256 * kMiB, largest}) {
    double best = -1;
    for (const Ring &ring : kRings) {
      TAKE(micros,
           bench.time([&] { return read(bench, other, flush, 16384, 8, 0); },
                      [&] {
                        return read(bench, in, bytes, ring.chunk, ring.stages,
                                    0);
                      }));
      Result result;
      result.test = "cold-read-time";
      result.bytes = bytes;
      result.ctas = ctas(bench);
      result.micros = micros;
      result.terabytes = 1e-6 * double(bytes) / micros;
      result.expected = readFloor(bytes);
      result.tolerance = 0.02;
      char text[96];
      std::snprintf(text, sizeof(text),
                    "%u x %u B in flight, %.1f %% of the floor", ring.stages,
                    ring.chunk, 100 * result.expected / micros);
      result.detail = text;
      bench.add(result);
      best = best < 0 ? micros : std::min(best, micros);
    }
    Result result;
    result.test = "cold-read-best";
    result.bytes = bytes;
    result.ctas = ctas(bench);
    result.micros = best;
    result.terabytes = 1e-6 * double(bytes) / best;
    result.expected = readFloor(bytes);
    result.tolerance = 0.02;
    char text[64];
    std::snprintf(text, sizeof(text), "%.1f %% of the floor",
                  100 * result.expected / best);
    result.detail = text;
    bench.add(result);
  }
  return Status::success();
}
