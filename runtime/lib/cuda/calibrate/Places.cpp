//===- Places.cpp - Which multiprocessors are neighbours ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The CTAs of a cluster run within one processing cluster. So multiprocessors
// that were seen in one cluster are neighbours, and chains of neighbours make a
// processing cluster. Clusters fall elsewhere when a part of the device is
// taken, which brings those together that large clusters leave out.
//
// The L2 has two halves, and an access to the far one takes longer. Which
// half is near a multiprocessor shows in the pattern of its latencies over many
// lines; that is told only where two patterns stand out.
//
//===----------------------------------------------------------------------===//

#include "Bench.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace dfrt;
using namespace dfrt::cuda;
using namespace dfrt::cuda::calibration;

std::vector<int32_t>
calibration::groupsOf(uint32_t count,
                      const std::vector<std::vector<uint32_t>> &together,
                      uint32_t least) {
  std::vector<uint32_t> parent(count);
  std::iota(parent.begin(), parent.end(), 0);
  auto root = [&](uint32_t i) {
    while (parent[i] != i)
      i = parent[i] = parent[parent[i]];
    return i;
  };
  for (const std::vector<uint32_t> &set : together)
    for (uint32_t member : set)
      if (member < count && set[0] < count)
        parent[root(member)] = root(set[0]);
  std::vector<uint32_t> sizes(count, 0);
  for (uint32_t i = 0; i < count; ++i)
    ++sizes[root(i)];
  std::vector<int32_t> number(count, -1), groups(count, -1);
  int32_t next = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t r = root(i);
    if (sizes[r] < least)
      continue;
    if (number[r] < 0)
      number[r] = next++;
    groups[i] = number[r];
  }
  return groups;
}

std::vector<int32_t>
calibration::splitInHalves(const std::vector<std::vector<double>> &cycles) {
  size_t rows = cycles.size(), columns = rows ? cycles[0].size() : 0;
  if (rows < 4 || columns < 4)
    return {};
  // What is left without the distance of a row from everything, and of a
  // column.
  std::vector<std::vector<double>> left = cycles;
  std::vector<double> columnMean(columns, 0);
  for (std::vector<double> &row : left) {
    double mean =
        std::accumulate(row.begin(), row.end(), 0.0) / double(columns);
    for (size_t c = 0; c < columns; ++c) {
      row[c] -= mean;
      columnMean[c] += row[c] / double(rows);
    }
  }
  double total = 0;
  for (std::vector<double> &row : left)
    for (size_t c = 0; c < columns; ++c) {
      row[c] -= columnMean[c];
      total += row[c] * row[c];
    }
  if (total <= 0)
    return {};
  // First principal direction, by power iteration from the row that stands out.
  auto norm = [](const std::vector<double> &v) {
    return std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
  };
  std::vector<double> direction = *std::max_element(
      left.begin(), left.end(),
      [&](const auto &a, const auto &b) { return norm(a) < norm(b); });
  std::vector<double> scores(rows);
  double explained = 0;
  for (int i = 0; i < 50; ++i) {
    double length = std::sqrt(norm(direction));
    for (double &d : direction)
      d /= length;
    for (size_t r = 0; r < rows; ++r)
      scores[r] = std::inner_product(direction.begin(), direction.end(),
                                     left[r].begin(), 0.0);
    explained = norm(scores);
    if (explained <= 0)
      return {};
    std::fill(direction.begin(), direction.end(), 0.0);
    for (size_t r = 0; r < rows; ++r)
      for (size_t c = 0; c < columns; ++c)
        direction[c] += scores[r] * left[r][c];
  }
  // Two halves: most of what is left, nobody in between, both of some size.
  double mean = 0;
  for (double score : scores)
    mean += std::abs(score) / double(rows);
  std::vector<int32_t> sides(rows);
  size_t ones = 0;
  bool clear = explained > 0.5 * total;
  for (size_t r = 0; r < rows; ++r) {
    // The first row is in half 0.
    sides[r] = (scores[r] > 0) != (scores[0] > 0);
    ones += size_t(sides[r]);
    clear &= std::abs(scores[r]) > 0.3 * mean;
  }
  if (!clear || std::min(ones, rows - ones) * 5 < rows)
    return {};
  return sides;
}

namespace {
/// One launch of `place`, and what it left.
struct Placement {
  Buffer buffer;
  LaunchShape shape;
  std::vector<uint64_t> words; ///< four a CTA

  Status prepare(const Bench &bench, const LaunchShape &wanted) {
    shape = wanted;
    words.assign(uint64_t(shape.ctas) * 4, 0);
    DFRT_TAKE(made, Buffer::allocate(bench.device, words.size() * 8,
                                     "calibration places"));
    buffer = made;
    return Status::success();
  }
  Status start(const Function &place, const Stream &stream,
               uint64_t nanoseconds) const {
    uint64_t address = buffer.address();
    return launch(place, shape, {&nanoseconds, &address}, stream);
  }
  Status finish(const Stream &stream) {
    DFRT_TRY(buffer.download(words.data(), words.size() * 8, stream));
    return stream.synchronize();
  }
  /// The multiprocessors of each cluster.
  void addTo(std::vector<std::vector<uint32_t>> &together) const {
    for (uint32_t first = 0; first < shape.ctas; first += shape.clusterSize) {
      std::vector<uint32_t> &set = together.emplace_back();
      for (uint32_t i = 0; i < shape.clusterSize; ++i)
        set.push_back(uint32_t(words[uint64_t(first + i) * 4]));
    }
  }
};
} // namespace

Status calibration::findProcessingClusters(const Bench &bench,
                                           DeviceProfile &profile) {
  bench.say("clock and processing clusters");
  const DeviceReport &report = bench.device.report();
  DFRT_TAKE(place, bench.kernel("place", "place"));
  DFRT_TAKE(other, Stream::create(bench.device, "calibration, second"));
  LaunchShape shape;
  shape.threads = 32;
  // One CTA a multiprocessor.
  shape.sharedBytes = report.sharedPerBlockOptin;

  Placement alone;
  shape.ctas = report.multiprocessors;
  DFRT_TRY(alone.prepare(bench, shape));
  DFRT_TRY(alone.start(place, bench.stream, 2000000));
  DFRT_TRY(alone.finish(bench.stream));
  std::vector<double> clocks;
  for (uint32_t i = 0; i < alone.shape.ctas; ++i)
    if (alone.words[i * 4 + 2])
      clocks.push_back(1000.0 * double(alone.words[i * 4 + 1]) /
                       double(alone.words[i * 4 + 2]));
  profile.clockMegahertz = median(std::move(clocks));

  std::vector<std::vector<uint32_t>> together;
  for (uint32_t cluster : {16u, 8u, 4u}) {
    uint32_t most = profile.residentCtas(cluster);
    for (uint32_t taken = 0; most && taken < report.multiprocessors;
         taken += 6) {
      // Pairs take a part of the device for a while. Memory is allocated
      // before, as that may wait for the device.
      Placement pairs, clusters;
      shape.clusterSize = 2;
      shape.ctas = std::min(taken, profile.residentCtas(2));
      DFRT_TRY(pairs.prepare(bench, shape));
      shape.clusterSize = cluster;
      shape.ctas = most;
      DFRT_TRY(clusters.prepare(bench, shape));
      DFRT_TRY(pairs.start(place, other, 200000));
      DFRT_TRY(clusters.start(place, bench.stream, 20000));
      DFRT_TRY(clusters.finish(bench.stream));
      DFRT_TRY(other.synchronize());
      clusters.addTo(together);
    }
  }
  if (!together.empty())
    profile.processingClusters =
        groupsOf(profile.multiprocessors, together, /*least=*/4);
  return Status::success();
}

Status calibration::findL2Sides(const Bench &bench, DeviceProfile &profile) {
  bench.say("halves of the L2");
  const DeviceReport &report = bench.device.report();
  DFRT_TAKE(reach, bench.kernel("place", "reach"));
  uint32_t stride = 4096 + 128, count = 96, repeats = 8;
  LaunchShape shape;
  shape.ctas = report.multiprocessors;
  shape.threads = 32;
  shape.sharedBytes = report.sharedPerBlockOptin;
  DFRT_TAKE(lines, Buffer::allocate(bench.device, uint64_t(stride) * count,
                                    "calibration lines"));
  DFRT_TRY(lines.fill(0, 0, lines.bytes(), bench.stream));
  std::vector<uint64_t> words(uint64_t(shape.ctas) * (count + 1));
  DFRT_TAKE(buffer, Buffer::allocate(bench.device, words.size() * 8,
                                     "calibration latencies"));
  uint64_t from = lines.address(), to = buffer.address();
  for (int i = 0; i < 2; ++i) // the first finds the code cold
    DFRT_TRY(launch(reach, shape, {&from, &stride, &count, &repeats, &to},
                    bench.stream));
  DFRT_TRY(buffer.download(words.data(), words.size() * 8, bench.stream));
  DFRT_TRY(bench.stream.synchronize());
  std::vector<std::vector<double>> cycles(report.multiprocessors);
  for (uint32_t i = 0; i < shape.ctas; ++i) {
    const uint64_t *row = &words[uint64_t(i) * (count + 1)];
    if (row[0] >= cycles.size() || !cycles[row[0]].empty())
      return Status::success(); // two CTAs on one: nothing can be said
    for (uint32_t c = 1; c <= count; ++c)
      cycles[row[0]].push_back(double(row[c]) / repeats);
  }
  profile.l2Sides = splitInHalves(cycles);
  return Status::success();
}
