//===- SmokeLaunches.cpp - Clusters, cooperation and graphs ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Smoke.h"

using namespace smoke;

Status smoke::observe(const Device &device, const Function &function,
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
  // More clusters of 16 than are resident: refused by the occupancy query.
  uint32_t largest = probe.residentClusters[4] * 16;
  if (largest < request.wanted.ctas) {
    if (chosen.shape.clusterSize == 16 || chosen.refused.empty())
      return wrong("clusters of 16 were not refused");
    TRY(expectWords(chosen.refused[0], {"clusters of 16 were refused: "}));
    request.smallestCluster = 16;
    std::string message;
    TRY(expectFailure(chooseShape(function, probe, request).status(),
                      StatusCode::resourceExhausted, message,
                      {"kernel 'observe'", "no launch shape for",
                       "clusters of 16 were refused: ", "; "}));
  }
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
                    StatusCode::resourceExhausted, message,
                    {"kernel 'observe'",
                     "cuLaunchKernelEx failed with "
                     "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
                     "lower the number of CTAs"}));
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
