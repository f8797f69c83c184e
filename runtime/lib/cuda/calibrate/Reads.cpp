//===- Reads.cpp - Bandwidth by CTAs and cluster size ---------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rate is the difference of two spans over the difference of their times, so
// that launch and start of a kernel do not count. L2 is flushed by reading
// before each sample: lines that a memset leaves would be written back within
// the time.
//
//===----------------------------------------------------------------------===//

#include "Bench.h"

#include <algorithm>

using namespace dfrt;
using namespace dfrt::cuda;
using namespace dfrt::cuda::calibration;

namespace {
constexpr uint64_t kMiB = 1 << 20;
/// In flight of each CTA: eight copies of 16 KiB, what a plan reserves.
constexpr uint32_t kChunk = 16384, kStages = 8;
/// Bytes before the stages in the kernel's shared memory.
constexpr uint32_t kHead = 512;
constexpr uint64_t kFew = 2 * kMiB, kMany = 10 * kMiB; ///< of a CTA
constexpr uint64_t kFlush = 512 * kMiB;
constexpr uint64_t kPattern = 8 * kMiB;

class Reads {
public:
  Reads(const Bench &bench, DeviceProfile &profile)
      : bench(bench), profile(profile),
        ctas(bench.device.report().multiprocessors) {}
  Status run();

private:
  Status fill();
  Status read(const LaunchShape &shape, uint64_t offset, uint64_t bytes,
              uint64_t check = 0) const;
  Status verify(const LaunchShape &shape) const;
  Expected<double> micros(const LaunchShape &shape, uint64_t bytes) const;
  LaunchShape shapeOf(uint32_t ctas, uint32_t cluster) const;

  const Bench &bench;
  DeviceProfile &profile;
  uint32_t ctas;
  Function coldRead;
  Buffer memory, check;
  uint64_t flushAt = 0;
  uint32_t expected = 0; ///< exclusive or of the pattern's words
};

LaunchShape Reads::shapeOf(uint32_t count, uint32_t cluster) const {
  LaunchShape shape;
  shape.ctas = count;
  shape.clusterSize = cluster;
  shape.threads = 256;
  shape.sharedBytes = kHead + kChunk * kStages;
  return shape;
}

Status Reads::read(const LaunchShape &shape, uint64_t offset, uint64_t bytes,
                   uint64_t checkAt) const {
  uint64_t from = memory.address() + offset;
  uint32_t chunk = kChunk, stages = kStages;
  return launch(coldRead, shape, {&from, &bytes, &chunk, &stages, &checkAt},
                bench.stream);
}

/// Random data everywhere: one pattern, copied on the device.
Status Reads::fill() {
  std::vector<uint64_t> words = randomWords(kPattern / 8);
  for (uint64_t word : words)
    expected ^= uint32_t(word) ^ uint32_t(word >> 32);
  flushAt = uint64_t(ctas) * kMany;
  uint64_t total = flushAt + kFlush;
  DFRT_TAKE(allocated,
            Buffer::allocate(bench.device, total, "calibration memory"));
  memory = allocated;
  DFRT_TAKE(word, Buffer::allocate(bench.device, 4, "calibration check"));
  check = word;
  DFRT_TRY(memory.upload(words.data(), kPattern, bench.stream));
  DFRT_TAKE(copy, bench.kernel("stream", "copy"));
  LaunchShape shape;
  shape.ctas = 4 * ctas;
  shape.threads = 256;
  for (uint64_t have = kPattern; have < total;) {
    uint64_t from = memory.address(), to = from + have;
    uint64_t bytes = std::min(have, total - have);
    DFRT_TRY(launch(copy, shape, {&to, &from, &bytes}, bench.stream));
    have += bytes;
  }
  return bench.stream.synchronize();
}

/// Three patterns, each word of which has to come.
Status Reads::verify(const LaunchShape &shape) const {
  uint32_t seen = 0;
  DFRT_TRY(check.fillWords(0, 0, 1, bench.stream));
  DFRT_TRY(read(shape, 0, 3 * kPattern, check.address()));
  DFRT_TRY(check.download(&seen, 4, bench.stream));
  DFRT_TRY(bench.stream.synchronize());
  if (seen != expected)
    return failure(StatusCode::verificationFailed, "a read of ", 3 * kPattern,
                   " bytes by ", shape.ctas, " CTAs in clusters of ",
                   shape.clusterSize, " gave ", seen, " as exclusive or, not ",
                   expected);
  return Status::success();
}

Expected<double> Reads::micros(const LaunchShape &shape, uint64_t bytes) const {
  return bench.time([&] { return read(shapeOf(ctas, 1), flushAt, kFlush); },
                    [&] { return read(shape, 0, bytes); });
}

Status Reads::run() {
  DFRT_TAKE(function, bench.kernel("stream", "cold_read"));
  coldRead = function;
  DFRT_TRY(fill());
  for (uint32_t i = 0; i < 5; ++i) {
    uint32_t cluster = 1u << i, most = profile.residentCtas(cluster);
    if (!most)
      continue;
    DFRT_TRY(verify(shapeOf(most, cluster)));
    // Dense where memory saturates.
    std::vector<uint32_t> counts = {most};
    for (uint32_t count :
         {1u, 2u, 4u, 8u, 16u, 32u, 48u, 64u, 80u, 96u, 104u, 112u, 120u, 128u})
      if (count % cluster == 0 && count < most && (cluster == 1 || count >= 16))
        counts.push_back(count);
    std::sort(counts.begin(), counts.end());
    for (uint32_t count : counts) {
      LaunchShape shape = shapeOf(count, cluster);
      DFRT_TAKE(few, micros(shape, count * kFew));
      DFRT_TAKE(many, micros(shape, count * kMany));
      if (many <= few)
        return failure(StatusCode::verificationFailed, count, " CTAs read ",
                       count * kMany, " bytes in ", many, " us and ",
                       count * kFew, " bytes in ", few, " us");
      double bytes = double(count) * double(kMany - kFew);
      profile.reads.push_back({count, cluster, bytes / (many - few) / 1000});
      if (cluster > 1 || count < most)
        continue;
      uint64_t small = std::min(65 * kMiB, count * kFew);
      DFRT_TAKE(span, micros(shape, small));
      profile.launch.readKernel = std::max(
          0.0, 1000 * span - double(small) / profile.reads.back().bandwidth);
    }
  }
  return Status::success();
}
} // namespace

Status calibration::measureReads(const Bench &bench, DeviceProfile &profile) {
  bench.say("read bandwidth");
  return Reads(bench, profile).run();
}
