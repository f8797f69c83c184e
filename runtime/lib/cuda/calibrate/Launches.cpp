//===- Launches.cpp - What a launch costs ---------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"

#include "dfrt/cuda/Graph.h"

using namespace dfrt;
using namespace dfrt::cuda;
using namespace dfrt::cuda::calibration;

Status calibration::measureLaunches(const Bench &bench,
                                    DeviceProfile &profile) {
  bench.say("launches");
  DFRT_TAKE(empty, bench.kernel("place", "empty"));
  LaunchShape shape;
  shape.ctas = bench.device.report().multiprocessors;
  shape.threads = 128;
  // The device is busy while the host prepares what is timed, so that the
  // host's own time does not count.
  DFRT_TAKE(place, bench.kernel("place", "place"));
  DFRT_TAKE(word, Buffer::allocate(bench.device, 32, "calibration places"));
  auto busy = [&] {
    LaunchShape one;
    one.ctas = 1;
    one.threads = 32;
    uint64_t nanoseconds = 200000, address = word.address();
    return launch(place, one, {&nanoseconds, &address}, bench.stream);
  };
  DFRT_TAKE(pair, bench.time(busy, [] { return Status::success(); }));
  DFRT_TAKE(kernel, bench.time(busy, [&] {
    return launch(empty, shape, {}, bench.stream);
  }));
  // Two graphs: what starting a replay costs is in both.
  constexpr uint32_t few = 20, many = 220;
  double micros[2];
  for (int i = 0; i < 2; ++i) {
    DFRT_TAKE(graph,
              Graph::capture(bench.stream, StagingRing(), [&]() -> Status {
                for (uint32_t k = 0; k < (i ? many : few); ++k)
                  DFRT_TRY(launch(empty, shape, {}, bench.stream));
                return Status::success();
              }));
    DFRT_TAKE(span,
              bench.time(busy, [&] { return graph.replay(bench.stream); }));
    micros[i] = span;
  }
  profile.launch.eventPair = 1000 * pair;
  profile.launch.emptyKernel = 1000 * kernel;
  profile.launch.graphNode = 1000 * (micros[1] - micros[0]) / (many - few);
  return Status::success();
}
