//===- Hops.cpp - What it costs to hand a record over ---------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A record goes round a ring of CTAs; the kernels count cycles and check what
// came. See the head of runtime/kernels/handover.mlir.
//
//===----------------------------------------------------------------------===//

#include "Bench.h"

#include "dfrt/cuda/Workspace.h"

#include <algorithm>

using namespace dfrt;
using namespace dfrt::cuda;
using namespace dfrt::cuda::calibration;

namespace {
constexpr uint32_t kLargest = 65536;
constexpr uint64_t kSizes[] = {16, 256, 1024, 4096, 16384, 32768, kLargest};
constexpr uint32_t kThreads = 256;
constexpr uint32_t kRounds = 50;
/// Shared memory before inbox and outbox, and before the stages of multicast.
constexpr uint32_t kHead = 128, kMulticastHead = 384;

/// Bytes from one buffer to the next, as the kernels compute it.
uint32_t capacity(uint32_t bytes, uint32_t shift = 0) {
  return (bytes + shift + 127) / 128 * 128;
}

/// What every CTA of a hand-over kernel leaves.
struct HandoverResult {
  uint64_t away, held, wrong, received, nanoseconds, place, unused[2];
};
static_assert(sizeof(HandoverResult) == 64);

class Hops {
public:
  Hops(const Bench &bench, DeviceProfile &profile)
      : bench(bench), profile(profile),
        ctas(bench.device.report().multiprocessors) {}
  Status open();
  Status clusters();
  Status globals();
  Status multicasts();

private:
  /// Launches, checks, and leaves what the CTAs say.
  Status run(const Function &function, const LaunchShape &shape,
             std::vector<void *> arguments, uint32_t ring, uint32_t rounds);
  double hopCycles(uint32_t ring, uint32_t rounds) const;
  /// Completes a hop: samples by `launchOne(bytes, shift)`, which gives the
  /// cycles of one launch, and the line through them.
  template <typename Launch>
  Status measure(DeviceProfile::Hop hop, Launch launchOne);
  template <typename Launch>
  Expected<double> medianOf(Launch launchOne) const;

  const Bench &bench;
  DeviceProfile &profile;
  uint32_t ctas;
  Buffer buffer;
  std::vector<HandoverResult> results;
};

Status Hops::open() {
  DFRT_TAKE(made, Buffer::allocate(bench.device,
                                   uint64_t(ctas) * sizeof(HandoverResult),
                                   "calibration results"));
  buffer = made;
  return Status::success();
}

Status Hops::run(const Function &function, const LaunchShape &shape,
                 std::vector<void *> arguments, uint32_t ring,
                 uint32_t rounds) {
  results.assign(shape.ctas, {});
  uint64_t bytes = results.size() * sizeof(HandoverResult);
  uint64_t address = buffer.address();
  arguments.push_back(&address);
  DFRT_TRY(buffer.fill(0, 0, bytes, bench.stream));
  DFRT_TRY(launch(function, shape, arguments, bench.stream));
  DFRT_TRY(buffer.download(results.data(), bytes, bench.stream));
  DFRT_TRY(bench.stream.synchronize());
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].wrong || results[i].received != rounds ||
        results[i].place >> 32 != ring)
      return failure(StatusCode::verificationFailed, "kernel '",
                     function.name(), "': CTA ", i, " of a ring of ", ring,
                     " received ", results[i].received, " records of ", rounds,
                     " in a ring of ", results[i].place >> 32, ", with ",
                     results[i].wrong, " wrong words");
  return Status::success();
}

/// Between sending and receiving: what rank 0 was without the record less what
/// the others held it.
double Hops::hopCycles(uint32_t ring, uint32_t rounds) const {
  double cycles = 0;
  for (const HandoverResult &result : results)
    cycles += uint32_t(result.place) == 0 ? double(result.away)
                                          : -double(result.held);
  return cycles / (double(results.size()) / ring) / rounds / ring;
}

template <typename Launch>
Expected<double> Hops::medianOf(Launch launchOne) const {
  std::vector<double> samples;
  for (uint32_t i = 0; i <= bench.options.samples; ++i) {
    DFRT_TAKE(cycles, launchOne());
    if (i)
      samples.push_back(cycles);
  }
  return median(std::move(samples));
}

template <typename Launch>
Status Hops::measure(DeviceProfile::Hop hop, Launch launchOne) {
  bool signal =
      hop.kind == HopKind::clusterSignal || hop.kind == HopKind::globalSignal;
  // A signal is a record without bytes that plain accesses move.
  std::vector<uint64_t> sizes(std::begin(kSizes), std::end(kSizes));
  if (signal)
    sizes = {0};
  for (uint64_t bytes : sizes) {
    DFRT_TAKE(cycles, medianOf([&] {
                return launchOne(uint32_t(bytes), uint32_t(signal));
              }));
    if (cycles <= 0)
      return failure(StatusCode::verificationFailed, "a hop by ",
                     hopName(hop.kind), " took ", cycles, " cycles");
    hop.samples.push_back({bytes, cycles});
  }
  fitHop(hop);
  if (!signal && hop.bytesPerCycle == 0)
    return failure(StatusCode::verificationFailed, "hops by ",
                   hopName(hop.kind), " do not take longer for more bytes");
  profile.hops.push_back(std::move(hop));
  return Status::success();
}

Status Hops::clusters() {
  DFRT_TAKE(function, bench.kernel("handover", "handover_cluster"));
  for (HopKind kind : {HopKind::clusterShared, HopKind::clusterSignal})
    for (uint32_t cluster : {2u, 4u, 8u, 16u})
      for (uint32_t waiters : {1u, kThreads}) {
        if (!profile.residentCtas(cluster))
          continue;
        auto one = [&](uint32_t bytes, uint32_t shift) -> Expected<double> {
          LaunchShape shape;
          shape.ctas = shape.clusterSize = cluster;
          shape.threads = kThreads;
          shape.sharedBytes = kHead + 2 * capacity(bytes, shift);
          uint32_t rounds = kRounds, seed = 0x5eed + bytes, threads = waiters;
          DFRT_TRY(run(function, shape,
                       {&bytes, &shift, &rounds, &seed, &seed, &threads},
                       cluster, rounds));
          return hopCycles(cluster, rounds);
        };
        DeviceProfile::Hop hop;
        hop.kind = kind;
        hop.ctas = cluster;
        hop.waiters = waiters;
        DFRT_TRY(measure(hop, one));
      }
  return Status::success();
}

Status Hops::globals() {
  WorkspaceMaxima maxima;
  maxima.flags = ctas * 64; // two cache lines a CTA
  maxima.scratchBytes = uint64_t(ctas) * capacity(kLargest, 16);
  maxima.sentinelBytes = maxima.scratchBytes;
  DFRT_TAKE(workspace, Workspace::create(bench.device, maxima, bench.stream,
                                         "calibration workspace"));
  for (HopKind kind :
       {HopKind::globalFlag, HopKind::globalData, HopKind::globalSignal}) {
    bool data = kind == HopKind::globalData;
    DFRT_TAKE(function,
              bench.kernel("handover", data ? "handover_global_data"
                                            : "handover_global_flag"));
    std::vector<uint32_t> rings = {2, 8, ctas / 2 * 2};
    rings.erase(std::unique(rings.begin(), rings.end()), rings.end());
    for (uint32_t ring : rings) {
      if (ring > ctas || (ring > 8 && kind == HopKind::globalSignal))
        continue;
      auto one = [&](uint32_t bytes, uint32_t shift) -> Expected<double> {
        LaunchShape shape;
        shape.ctas = ring;
        shape.threads = kThreads;
        shape.sharedBytes = kHead + 2 * capacity(bytes, shift);
        uint32_t rounds = ring > 8 ? 3 : kRounds, seed = 0x5eed + bytes;
        uint32_t size = ring;
        uint64_t address = workspace.address();
        DFRT_TRY(workspace.begin(bench.stream));
        DFRT_TRY(run(function, shape,
                     {&address, &size, &bytes, &shift, &rounds, &seed, &seed},
                     ring, rounds));
        DFRT_TRY(workspace.end(bench.stream));
        return hopCycles(ring, rounds);
      };
      DeviceProfile::Hop hop;
      hop.kind = kind;
      hop.ctas = ring;
      hop.waiters = kind == HopKind::globalSignal ? 1 : kThreads;
      DFRT_TRY(measure(hop, one));
    }
  }
  return Status::success();
}

Status Hops::multicasts() {
  // One stage: a tile leaves when all have read the one before.
  constexpr uint32_t tiles = 32, stages = 1, readers = 128;
  std::vector<uint64_t> words = randomWords(uint64_t(tiles) * kLargest / 8);
  DFRT_TAKE(source, Buffer::allocate(bench.device, words.size() * 8,
                                     "calibration tiles"));
  DFRT_TRY(source.upload(words.data(), words.size() * 8, bench.stream));
  DFRT_TRY(bench.stream.synchronize());
  DFRT_TAKE(function, bench.kernel("multicast", "multicast"));
  for (uint32_t cluster : {2u, 4u, 8u, 16u}) {
    if (!profile.residentCtas(cluster))
      continue;
    auto one = [&](uint32_t bytes, uint32_t) -> Expected<double> {
      LaunchShape shape;
      shape.ctas = shape.clusterSize = cluster;
      shape.threads = readers + 32;
      shape.sharedBytes = kMulticastHead + stages * capacity(bytes);
      uint64_t from = source.address();
      uint32_t count = tiles, depth = stages, leader = cluster - 1;
      DFRT_TRY(run(function, shape,
                   {&from, &from, &bytes, &count, &depth, &leader}, cluster,
                   tiles));
      return double(results[leader].held) / tiles;
    };
    DeviceProfile::Hop hop;
    hop.kind = HopKind::multicast;
    hop.ctas = cluster;
    hop.waiters = readers;
    DFRT_TRY(measure(hop, one));
  }
  return Status::success();
}
} // namespace

Status calibration::measureHops(const Bench &bench, DeviceProfile &profile) {
  Hops hops(bench, profile);
  DFRT_TRY(hops.open());
  bench.say("hops within a cluster");
  DFRT_TRY(hops.clusters());
  bench.say("hops through global memory");
  DFRT_TRY(hops.globals());
  bench.say("multicast");
  return hops.multicasts();
}
