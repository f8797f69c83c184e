//===- cuda-smoke.cpp - The runtime's CUDA layer on a real device ---------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One line a test, and the exit code 0 when all passed, 1 when one failed, 77
// when there is no CUDA device. Needs a driver and a device of capability 9.0
// or later; no CUDA toolkit, no LLVM, no test framework.
//
//   cuda-smoke [--driver PATH] [--device ORDINAL] [--replays N] [--change M]
//
// The last tests provoke errors, one of which loses the device.
//
//===----------------------------------------------------------------------===//

#include "SmokeKernels.h"

#include "dfrt/cuda/Graph.h"
#include "dfrt/cuda/TensorMap.h"
#include "dfrt/cuda/Watchdog.h"
#include "dfrt/cuda/Workspace.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;

#define TRY(expression)                                                        \
  do {                                                                         \
    if (Status status_ = (expression); !status_.ok())                          \
      return status_;                                                          \
  } while (false)
/// Declares `name` with the value of `expression`, or leaves with its failure.
#define TAKE(name, expression)                                                 \
  auto name##OrFailure = (expression);                                         \
  if (!name##OrFailure)                                                        \
    return name##OrFailure.status();                                           \
  auto &name = *name##OrFailure

namespace {
Status wrong(const std::string &text) {
  return Status(StatusCode::verificationFailed, text);
}

double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Random bytes that are cheap to make.
struct Random {
  uint64_t state = 0x9e3779b97f4a7c15u;
  uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  }
  std::vector<uint32_t> words(size_t count) {
    std::vector<uint32_t> result(count);
    for (uint32_t &word : result)
      word = uint32_t(next() >> 16);
    return result;
  }
};

struct Options {
  std::string driver = Driver::kDefaultLibrary;
  int device = 0;
  uint32_t replays = 10000;
  uint32_t change = 10;
};

class Smoke {
public:
  explicit Smoke(const Options &options) : options(options) {}

  /// 0, 1 or 77.
  int run();

private:
  using Test = Status (Smoke::*)(std::string &detail);
  void test(const char *name, Test body);
  Status setUp();
  Expected<Function> kernel(const char *name);

  Status report(std::string &detail);
  Status fillAndCopy(std::string &detail);
  Status coldRead(std::string &detail);
  Status tensorMap(std::string &detail);
  Status clusters(std::string &detail);
  Status clusterFallback(std::string &detail);
  Status cooperativeClusters(std::string &detail);
  Status graphReplays(std::string &detail);
  Status graphRewrites(std::string &detail);
  Status workspace(std::string &detail);
  Status noLeak(std::string &detail);
  Status missingDriver(std::string &detail);
  Status wrongArchitecture(std::string &detail);
  Status wrongArchitectureText(std::string &detail);
  Status brokenText(std::string &detail);
  Status sharedMemory(std::string &detail);
  Status outOfMemory(std::string &detail);
  Status corruptCubin(std::string &detail);
  Status illegalAddress(std::string &detail);
  Status reopen(std::string &detail);

  Options options;
  std::shared_ptr<const Driver> driver;
  Device device;
  DeviceProbe probe;
  Stream stream;
  std::unique_ptr<ModuleCache> cache;
  int failures = 0;
};

CodeRequirements requirements(const char *name) {
  CodeRequirements code;
  code.name = name;
  code.architecture = "compute_90";
  code.threads = 256;
  return code;
}

/// A success whose detail is the message of a failure that was expected.
Status expectFailure(const Status &status, StatusCode code,
                     std::string &detail) {
  if (status.ok())
    return wrong("it succeeded");
  detail = status.message();
  if (status.code() != code)
    return wrong("status " + std::to_string(int(status.code())) +
                 " instead of " + std::to_string(int(code)) + ": " +
                 status.message());
  return Status::success();
}

void Smoke::test(const char *name, Test body) {
  std::string detail;
  double begin = now();
  Status status = (this->*body)(detail);
  double milliseconds = (now() - begin) * 1e3;
  if (!status.ok())
    ++failures;
  std::printf("%s %-22s %8.1f ms  %s%s%s\n", status.ok() ? "PASS" : "FAIL",
              name, milliseconds, status.message().c_str(),
              status.ok() || detail.empty() ? "" : " -- ", detail.c_str());
  std::fflush(stdout);
}

Status Smoke::setUp() {
  TAKE(opened, Device::open(driver, options.device));
  device = opened;
  TAKE(made, Stream::create(device, "smoke"));
  stream = made;
  cache.reset(new ModuleCache(device));
  return Status::success();
}

Expected<Function> Smoke::kernel(const char *name) {
  Expected<Module> module = cache->load(
      smoke::kKernels, std::strlen(smoke::kKernels), requirements("smoke"));
  if (!module)
    return module.status();
  return module->function(name);
}

Status Smoke::report(std::string &detail) {
  TAKE(found, probeDevice(device));
  probe = found;
  detail = device.report().json() + " " + probe.json();
  if (!device.report().multiprocessors || !probe.residentClusters[0])
    return wrong("no multiprocessors");
  return Status::success();
}

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

/// Launches `observe` and compares what it saw.
Status observe(const Device &device, const Function &function,
               const LaunchShape &shape, const Stream &stream) {
  TAKE(space, Workspace::create(device, WorkspaceMaxima(), stream, "observe"));
  TAKE(ranks, Buffer::allocate(device, shape.ctas * 4, "ranks"));
  TRY(ranks.fill(0xff, 0, ranks.bytes(), stream));
  TRY(space.begin(stream));
  uint64_t state = space.address(), rankAddress = ranks.address();
  TRY(launch(function, shape, {&state, &rankAddress}, stream));
  TRY(space.end(stream));
  TRY(space.checkGrid(shape, stream));
  std::vector<uint32_t> seen(shape.ctas);
  TRY(ranks.download(seen.data(), ranks.bytes(), stream));
  TRY(stream.synchronize());
  for (uint32_t i = 0; i < shape.ctas; ++i)
    if (seen[i] != ((i % shape.clusterSize) << 16 | shape.clusterSize))
      return wrong("CTA " + std::to_string(i) + " saw rank " +
                   std::to_string(seen[i] >> 16) + " of " +
                   std::to_string(seen[i] & 0xffff));
  return Status::success();
}

Status Smoke::clusters(std::string &detail) {
  TAKE(function, kernel("observe"));
  for (int i = 0; i < 5; ++i) {
    uint32_t size = 1u << i;
    if (!probe.residentClusters[i]) {
      detail += std::to_string(size) + " refused, ";
      continue;
    }
    LaunchShape shape{probe.residentClusters[i] * size, 128, size, 0, false};
    TRY(observe(device, function, shape, stream));
    detail += std::to_string(shape.ctas) + " CTAs in clusters of " +
              std::to_string(size) + ", ";
  }
  detail.resize(detail.size() - 2);
  return Status::success();
}

Status Smoke::clusterFallback(std::string &detail) {
  TAKE(function, kernel("observe"));
  ShapeRequest request;
  uint32_t all = device.report().multiprocessors / 2 * 2;
  request.wanted = {all / 16 * 16, 128, 16, device.report().sharedPerBlockOptin,
                    false};
  request.resident = true;
  TAKE(chosen, chooseShape(function, probe, request));
  detail = chosen.text();
  return observe(device, function, chosen.shape, stream);
}

Status Smoke::cooperativeClusters(std::string &detail) {
  TAKE(function, kernel("observe"));
  ShapeRequest request;
  request.wanted = {64, 128, 8, 0, false};
  request.cooperation = Cooperation::preferred;
  TAKE(chosen, chooseShape(function, probe, request));
  detail = chosen.text();
  TRY(observe(device, function, chosen.shape, stream));
  if (!chosen.shape.cooperative)
    return Status::success();
  // More than can be resident is refused, not hung.
  LaunchShape large = chosen.shape;
  large.ctas = chosen.residentCtas / 8 * 16;
  std::string message;
  TRY(expectFailure(observe(device, function, large, stream),
                    StatusCode::resourceExhausted, message));
  detail += "; " + message;
  return Status::success();
}

Status Smoke::graphReplays(std::string &detail) {
  TAKE(check, kernel("check"));
  constexpr uint32_t kWords = 16384;
  TAKE(ring, StagingRing::create(device, {"a", "b", "c", "d"}, kWords * 4));
  TAKE(plan, Buffer::allocate(device, kWords * 4, "plan"));
  TAKE(results,
       Buffer::allocate(device, uint64_t(options.replays) * 8, "results"));
  TAKE(counter, Buffer::allocate(device, 4, "counter"));
  TRY(results.fill(0xff, 0, results.bytes(), stream));
  TRY(counter.fill(0, 0, 4, stream));
  auto write = [&](uint32_t stage, uint32_t generation) {
    uint32_t *words = reinterpret_cast<uint32_t *>(ring.data(stage));
    std::fill(words, words + kWords, generation);
    return ring.publish(stage, kWords * 4);
  };
  TAKE(first, ring.acquire());
  uint32_t generation = 1;
  TRY(write(first, generation));
  uint64_t planAddress = plan.address(), resultAddress = results.address();
  uint64_t counterAddress = counter.address();
  uint32_t words = kWords, capacity = options.replays;
  TAKE(graph, Graph::capture(stream, ring, [&]() -> Status {
         TRY(ring.copy(first, plan, stream));
         return launch(
             check, {1, 256, 1, 0, false},
             {&planAddress, &words, &resultAddress, &capacity, &counterAddress},
             stream);
       }));
  if (graph.kernels().size() != 1 || graph.kernels()[0].ctas != 1 ||
      graph.kernels()[0].threads != 256)
    return wrong("the graph holds another launch");
  TRY(graph.replay(stream)); // the first is slow; its result is overwritten
  TRY(stream.synchronize());
  TRY(counter.fill(0, 0, 4, stream));
  TRY(stream.synchronize());
  TAKE(before, device.memory());

  uint64_t busy = 0;
  double begin = now();
  std::vector<uint32_t> expected(options.replays);
  for (uint32_t i = 0; i < options.replays; ++i) {
    if (i && i % options.change == 0) {
      double deadline = now() + 10;
      Expected<uint32_t> stage = ring.acquire();
      while (!stage && stage.status().code() == StatusCode::busy &&
             now() < deadline) {
        ++busy;
        stage = ring.acquire();
      }
      if (!stage)
        return stage.status();
      TRY(write(*stage, ++generation));
      TRY(graph.use(0, *stage));
    }
    TRY(graph.replay(stream));
    expected[i] = generation;
  }
  TRY(stream.synchronize());
  double microseconds = (now() - begin) * 1e6 / options.replays;
  TAKE(after, device.memory());
  std::vector<uint32_t> seen(size_t(options.replays) * 2);
  TRY(results.download(seen.data(), seen.size() * 4, stream));
  TRY(stream.synchronize());
  for (uint32_t i = 0; i < options.replays; ++i)
    if (seen[2 * i] != expected[i] || seen[2 * i + 1] != expected[i])
      return wrong("replay " + std::to_string(i) + " saw words from " +
                   std::to_string(seen[2 * i]) + " to " +
                   std::to_string(seen[2 * i + 1]) + ", expected " +
                   std::to_string(expected[i]));
  char text[200];
  std::snprintf(text, sizeof(text),
                "%u replays, %u plans, %.2f us a replay, busy %llu times, "
                "device memory grew by %lld bytes",
                options.replays, generation, microseconds,
                static_cast<unsigned long long>(busy),
                static_cast<long long>(before.free) -
                    static_cast<long long>(after.free));
  detail = text;
  return Status::success();
}

Status Smoke::graphRewrites(std::string &detail) {
  TAKE(check, kernel("check"));
  constexpr uint32_t kWords = 4096, kReplays = 500;
  TAKE(ring, StagingRing::create(device, {"only"}, kWords * 4));
  TAKE(plan, Buffer::allocate(device, kWords * 4, "plan"));
  TAKE(results, Buffer::allocate(device, kReplays * 8, "results"));
  TAKE(counter, Buffer::allocate(device, 4, "counter"));
  TRY(counter.fill(0, 0, 4, stream));
  uint64_t planAddress = plan.address(), resultAddress = results.address();
  uint64_t counterAddress = counter.address();
  uint32_t words = kWords, capacity = kReplays;
  Graph graph;
  uint64_t busy = 0;
  for (uint32_t i = 0; i < kReplays; ++i) {
    double deadline = now() + 10;
    Expected<uint32_t> stage = ring.acquire("only");
    while (!stage && stage.status().code() == StatusCode::busy &&
           now() < deadline) {
      ++busy;
      stage = ring.acquire("only");
    }
    if (!stage)
      return stage.status();
    uint32_t *data = reinterpret_cast<uint32_t *>(ring.data(*stage));
    std::fill(data, data + kWords, i);
    std::string message;
    if (graph)
      TRY(expectFailure(graph.replay(stream), StatusCode::busy, message));
    TRY(ring.publish(*stage, kWords * 4));
    if (!graph) {
      TAKE(made, Graph::capture(stream, ring, [&]() -> Status {
             TRY(ring.copy(*stage, plan, stream));
             return launch(check, {1, 256, 1, 0, false},
                           {&planAddress, &words, &resultAddress, &capacity,
                            &counterAddress},
                           stream);
           }));
      graph = made;
    }
    TRY(graph.replay(stream));
  }
  std::vector<uint32_t> seen(kReplays * 2);
  TRY(results.download(seen.data(), seen.size() * 4, stream));
  TRY(stream.synchronize());
  for (uint32_t i = 0; i < kReplays; ++i)
    if (seen[2 * i] != i || seen[2 * i + 1] != i)
      return wrong("replay " + std::to_string(i) + " saw another plan");
  detail = std::to_string(kReplays) + " plans in one stage, busy " +
           std::to_string(busy) + " times";
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

Status Smoke::missingDriver(std::string &detail) {
  return expectFailure(Driver::open("libcuda-that-is-missing.so.1").status(),
                       StatusCode::unsupported, detail);
}

Status Smoke::wrongArchitecture(std::string &detail) {
  CodeRequirements code = requirements("foreign");
  code.architecture =
      device.report().capabilityMajor == 10 ? "sm_90a" : "sm_100a";
  return expectFailure(cache
                           ->load(smoke::kForeignKernel,
                                  std::strlen(smoke::kForeignKernel), code)
                           .status(),
                       StatusCode::unsupported, detail);
}

Status Smoke::wrongArchitectureText(std::string &detail) {
  if (device.report().capabilityMajor == 10)
    return Status::success();
  // A lie about the architecture: the driver finds out.
  Status status =
      cache
          ->load(smoke::kForeignKernel, std::strlen(smoke::kForeignKernel),
                 requirements("foreign text"))
          .status();
  detail = status.message();
  return status.ok() ? wrong("it was loaded") : Status::success();
}

Status Smoke::brokenText(std::string &detail) {
  return expectFailure(cache
                           ->load(smoke::kBrokenKernel,
                                  std::strlen(smoke::kBrokenKernel),
                                  requirements("broken"))
                           .status(),
                       StatusCode::invalidFile, detail);
}

Status Smoke::sharedMemory(std::string &detail) {
  TAKE(function, kernel("observe"));
  uint64_t most = device.report().sharedPerBlockOptin;
  LaunchShape shape{1, 128, 1, most, false};
  TRY(observe(device, function, shape, stream)); // all of it is legal
  shape.sharedBytes = most + 1;
  uint64_t nothing = 0;
  return expectFailure(launch(function, shape, {&nothing, &nothing}, stream),
                       StatusCode::resourceExhausted, detail);
}

Status Smoke::outOfMemory(std::string &detail) {
  TRY(expectFailure(
      Buffer::allocate(device, device.report().memoryBytes * 2, "too large")
          .status(),
      StatusCode::resourceExhausted, detail));
  // The device goes on.
  TAKE(buffer, Buffer::allocate(device, 1 << 20, "small"));
  TRY(buffer.fill(1, 0, 1 << 20, stream));
  return stream.synchronize();
}

Status Smoke::corruptCubin(std::string &detail) {
  // Whole by its headers, which we test, and nonsense inside, which only the
  // driver can find.
  std::vector<uint8_t> image(1024, 0);
  const uint8_t head[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
  std::memcpy(image.data(), head, sizeof(head));
  image[16] = 2;
  image[18] = 190;
  CodeRequirements code = requirements("nonsense");
  code.architecture = "sm_90";
  if (device.report().capabilityMajor != 9)
    code.architecture = device.report().architecture();
  // Ours: a section table that leaves the file.
  image[40] = 64;
  image[58] = 64;
  image[60] = 200;
  std::string message;
  TRY(expectFailure(cache->load(image.data(), image.size(), code).status(),
                    StatusCode::invalidFile, message));
  detail = message;
  image[60] = 0;
  image[40] = 0;
  image[58] = 64;
  Status status = cache->load(image.data(), image.size(), code).status();
  if (status.ok())
    return wrong("nonsense was loaded");
  detail += "; " + status.message();
  return Status::success();
}

Status Smoke::illegalAddress(std::string &detail) {
  TAKE(stuck, kernel("stuck"));
  TAKE(watchdog, Watchdog::create(device, 1));
  uint64_t record = watchdog.deviceAddress() +
                    uint64_t(WatchdogRole::compute) * sizeof(WatchdogRecord);
  uint32_t cta = 0;
  TRY(launch(stuck, {1, 1, 1, 0, false}, {&record, &cta}, stream));
  TRY(expectFailure(stream.synchronize(), StatusCode::deviceError, detail));
  if (!device.lost())
    return wrong("the device does not count as lost");
  std::vector<WatchdogRecord> records = watchdog.records();
  if (records.size() != 1 || records[0].instruction != 17 ||
      records[0].object != 2)
    return wrong("the watchdog's record is lost");
  std::string text = describeWatchdog(records, 1);
  std::replace(text.begin(), text.end(), '\n', ';');
  detail += " -- " + text;
  return Status::success();
}

Status Smoke::reopen(std::string &detail) {
  TRY(expectFailure(stream.synchronize(), StatusCode::deviceError, detail));
  Status reopened = device.reopen();
  if (!reopened.ok()) {
    detail = "not permitted by this driver: " + reopened.message();
    return Status::success();
  }
  // Old handles say so; new ones work.
  TRY(expectFailure(stream.synchronize(), StatusCode::deviceError, detail));
  TRY(setUp());
  return fillAndCopy(detail);
}

int Smoke::run() {
  Expected<std::shared_ptr<const Driver>> opened = Driver::open(options.driver);
  if (!opened) {
    std::printf("SKIP %s\n", opened.status().message().c_str());
    return opened.status().code() == StatusCode::unsupported ? 77 : 1;
  }
  driver = *opened;
  Status status = setUp();
  if (!status.ok()) {
    std::printf("FAIL open: %s\n", status.message().c_str());
    return 1;
  }
  const DeviceReport &found = device.report();
  std::printf("cuda-smoke on '%s' (%s), driver for CUDA %s\n",
              found.name.c_str(), found.architecture().c_str(),
              driver->versionText().c_str());
  if (!found.clusterLaunch) {
    std::printf("SKIP the device has no clusters\n");
    return 77;
  }
  test("report", &Smoke::report);
  test("fill-and-copy", &Smoke::fillAndCopy);
  test("cold-read", &Smoke::coldRead);
  test("tensor-map", &Smoke::tensorMap);
  test("clusters", &Smoke::clusters);
  test("cluster-fallback", &Smoke::clusterFallback);
  test("cooperative-clusters", &Smoke::cooperativeClusters);
  test("graph-replays", &Smoke::graphReplays);
  test("graph-rewrites", &Smoke::graphRewrites);
  test("workspace", &Smoke::workspace);
  test("no-leak", &Smoke::noLeak);
  test("missing-driver", &Smoke::missingDriver);
  test("wrong-architecture", &Smoke::wrongArchitecture);
  test("wrong-text", &Smoke::wrongArchitectureText);
  test("broken-text", &Smoke::brokenText);
  test("shared-memory", &Smoke::sharedMemory);
  test("out-of-memory", &Smoke::outOfMemory);
  test("corrupt-cubin", &Smoke::corruptCubin);
  test("illegal-address", &Smoke::illegalAddress);
  test("reopen", &Smoke::reopen);
  std::printf("%d failed\n", failures);
  return failures ? 1 : 0;
}
} // namespace

int main(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    if (i + 1 == argc) {
      std::fprintf(stderr, "usage: cuda-smoke [--driver PATH] [--device "
                           "ORDINAL] [--replays N] [--change M]\n");
      return 2;
    }
    const char *value = argv[++i];
    if (name == "--driver")
      options.driver = value;
    else if (name == "--device")
      options.device = std::atoi(value);
    else if (name == "--replays")
      options.replays = uint32_t(std::max(1, std::atoi(value)));
    else if (name == "--change")
      options.change = uint32_t(std::max(1, std::atoi(value)));
    else {
      std::fprintf(stderr, "cuda-smoke: unknown option '%s'\n", name.c_str());
      return 2;
    }
  }
  return Smoke(options).run();
}
