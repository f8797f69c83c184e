//===- handover.cpp - Hand-over and streaming kernels on a device ---------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the kernels of runtime/kernels from cubins: every transport with records
// of one byte to 64 KiB and clusters of 1 to 16, and the cold read, on random
// data that is checked in the same run. A line a test. Exit code 0: all data
// right; 1: not; 2: bad command line; 77: no device.
//
//   handover FOLDER [--results FILE.json] [--device ORDINAL] [--driver PATH]
//   handover --probe    prints what the device is, and runs nothing
//
// Times are compared with what was measured by other means on an H200:
//   cluster       320 + bytes / 21 cycles a hop
//   global flag  2360 + bytes / 24 cycles a hop
//   cold read     4.9 us + bytes / 4.60 TB/s
//
//===----------------------------------------------------------------------===//

#include "Streams.h"

#include "dfrt/cuda/Workspace.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;
using namespace bench;

namespace {
constexpr uint32_t kLargest = 65536;
constexpr uint32_t kSeed = 0x5eed1234;
/// Shared memory of `multicast` before the stages.
constexpr uint32_t kMulticastHead = 384;

Status wrong(const std::string &text) {
  return Status(StatusCode::verificationFailed, text);
}
/// As the kernels compute it: bytes from one buffer to the next.
uint32_t capacity(uint32_t bytes, uint32_t shift) {
  return (bytes + shift + 127) / 128 * 128;
}

struct Record {
  uint32_t bytes, shift;
};
/// Sizes that the copy engine takes, and such that it does not.
const Record kRecords[] = {{1, 0},     {8, 0},     {12, 0},      {16, 0},
                           {100, 0},   {1024, 0},  {1024, 4},    {4096, 0},
                           {8192, 0},  {16384, 0}, {32768, 0},   {65535, 0},
                           {65535, 1}, {65536, 0}, {kLargest, 4}};
bool bulk(const Record &record) {
  return (record.bytes | record.shift) % 16 == 0;
}
std::string describe(const Record &record) {
  if (bulk(record))
    return "";
  return record.shift ? "plain accesses, shift " + std::to_string(record.shift)
                      : "plain accesses";
}

/// What a CTA leaves.
struct CtaResult {
  uint64_t away, held, wrong, received, nanoseconds, place, unused[2];
};
static_assert(sizeof(CtaResult) == 64);

class Tests {
public:
  explicit Tests(Bench &bench) : bench(bench) {}
  void run();

private:
  void test(const char *name, Status (Tests::*body)()) {
    end(name, bench.device.lost() ? Status::success() : (this->*body)());
  }
  void test(const char *name, Status (*body)(Bench &)) {
    end(name, bench.device.lost() ? Status::success() : body(bench));
  }
  void end(const char *name, const Status &status) {
    if (!status.ok())
      bench.fail(name, status);
  }
  Status clusterHops();
  Status globalFlag() { return globalHops("handover_global_flag"); }
  Status globalData() { return globalHops("handover_global_data"); }
  Status globalHops(const char *name);
  Status multicast();

  // One line of the table each.
  Status clusterHop(const Function &function, const Record &record,
                    Result &result);
  Status globalHop(const Function &function, const Record &record, bool flag,
                   Result &result);
  Status multicastTiles(const Function &function, const Record &record,
                        Result &result);
  /// Adds the line. A test goes on after wrong data, not after a lost device.
  Status finish(Result result, const Status &status);

  uint32_t ctas() const { return bench.device.report().multiprocessors; }
  /// Launches, and gives what the CTAs left.
  Expected<std::vector<CtaResult>> hops(const Function &function,
                                        const LaunchShape &shape,
                                        std::vector<void *> arguments);
  /// Cycles of a hop, or why the results are wrong.
  Expected<double> judge(const std::vector<CtaResult> &results, uint32_t ring,
                         uint32_t rounds, bool timed);
  Status globalRun(const Function &function, uint32_t ring, uint32_t grid,
                   const Record &record, uint32_t rounds, uint32_t expected,
                   std::vector<CtaResult> &results);

  Bench &bench;
  Workspace workspace;
  Buffer tiles;
  double clock = 0; ///< megahertz, as the longest kernel measured it
};

Status Tests::finish(Result result, const Status &status) {
  if (!status.ok()) {
    result.state = Result::failed;
    result.detail = status.message();
  }
  bench.add(std::move(result));
  return bench.device.lost() ? status : Status::success();
}

Expected<std::vector<CtaResult>> Tests::hops(const Function &function,
                                             const LaunchShape &shape,
                                             std::vector<void *> arguments) {
  std::vector<CtaResult> results(shape.ctas);
  uint64_t bytes = results.size() * sizeof(CtaResult);
  TAKE(buffer, Buffer::allocate(bench.device, bytes, "results"));
  TRY(buffer.fill(0, 0, bytes, bench.stream));
  uint64_t address = buffer.address();
  arguments.push_back(&address);
  TRY(launch(function, shape, arguments, bench.stream));
  TRY(buffer.download(results.data(), bytes, bench.stream));
  TRY(bench.stream.synchronize());
  return results;
}

Expected<double> Tests::judge(const std::vector<CtaResult> &results,
                              uint32_t ring, uint32_t rounds, bool timed) {
  uint64_t bad = 0;
  double away = 0, held = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    const CtaResult &result = results[i];
    bad += result.wrong;
    if (result.received != rounds)
      return wrong("CTA " + std::to_string(i) + " received " +
                   std::to_string(result.received) + " records of " +
                   std::to_string(rounds));
    if (result.place >> 32 != ring)
      return wrong("CTA " + std::to_string(i) + " saw a ring of " +
                   std::to_string(result.place >> 32) + " instead of " +
                   std::to_string(ring));
    if (timed && uint32_t(result.place) == 0)
      away += double(result.away);
    else if (timed)
      held += double(result.held);
  }
  if (bad)
    return wrong(std::to_string(bad) + " words or bytes are wrong");
  double rings = double(results.size()) / ring;
  return (away - held) / rings / rounds / ring;
}

Status Tests::clusterHop(const Function &function, const Record &record,
                         Result &result) {
  uint32_t bytes = record.bytes, shift = record.shift, seed = kSeed + bytes;
  uint32_t cluster = result.cluster;
  LaunchShape shape;
  shape.ctas = shape.clusterSize = cluster;
  shape.threads = 256;
  shape.sharedBytes = 128 + 2 * capacity(bytes, shift);
  TAKE(resident, residentClusters(function, shape));
  if (resident == 0) {
    result.state = Result::refused;
    return Status::success();
  }
  // One cluster alone for the time, then all that fit.
  for (uint32_t clusters : {1u, resident}) {
    uint32_t rounds = clusters == 1 ? 100 : 10, waiters = shape.threads;
    shape.ctas = result.ctas = clusters * cluster;
    TAKE(left, hops(function, shape,
                    {&bytes, &shift, &rounds, &seed, &seed, &waiters}));
    TAKE(cycles, judge(left, cluster, rounds, true));
    if (clusters == 1)
      result.cycles = cycles;
  }
  result.micros = result.cycles / bench.megahertz();
  if (bulk(record)) {
    result.expected = 320 + bytes / 21.0;
    result.tolerance = 0.25;
  }
  return Status::success();
}

Status Tests::clusterHops() {
  TAKE(function, bench.kernel("handover", "handover_cluster"));
  for (uint32_t cluster : {1, 2, 4, 8, 16})
    for (const Record &record : kRecords) {
      Result result;
      result.test = "cluster-hop";
      result.bytes = record.bytes;
      result.cluster = cluster;
      result.detail = describe(record);
      Status status = clusterHop(function, record, result);
      TRY(finish(std::move(result), status));
    }
  // The check must be able to fail.
  uint32_t bytes = 4096, shift = 0, rounds = 3, seed = 1, other = 2;
  LaunchShape shape;
  shape.ctas = shape.clusterSize = 2;
  shape.threads = 256;
  shape.sharedBytes = 128 + 2 * capacity(bytes, shift);
  TAKE(left, hops(function, shape,
                  {&bytes, &shift, &rounds, &seed, &other, &shape.threads}));
  if (judge(left, 2, rounds, false))
    return wrong("records of another seed were taken as right");
  return Status::success();
}

Status Tests::globalRun(const Function &function, uint32_t ring, uint32_t grid,
                        const Record &record, uint32_t rounds,
                        uint32_t expected, std::vector<CtaResult> &results) {
  uint32_t bytes = record.bytes, shift = record.shift, seed = kSeed + bytes;
  LaunchShape shape;
  shape.ctas = grid;
  shape.threads = 256;
  shape.sharedBytes = 128 + 2 * capacity(bytes, shift);
  uint64_t address = workspace.address();
  TRY(workspace.begin(bench.stream));
  TAKE(left,
       hops(function, shape,
            {&address, &ring, &bytes, &shift, &rounds, &seed, &expected}));
  TRY(workspace.end(bench.stream));
  TRY(workspace.checkGrid(shape, bench.stream));
  results = left;
  return Status::success();
}

Status Tests::globalHop(const Function &function, const Record &record,
                        bool flag, Result &result) {
  uint32_t ring = result.cluster, even = ctas() / 2 * 2;
  // Nothing is reset between launches: the epoch advances, the sentinels are
  // back.
  for (uint32_t grid : {ring, ring, even / ring * ring}) {
    uint32_t rounds = ring == even ? 5 : grid == ring ? 100 : 10;
    std::vector<CtaResult> left;
    result.ctas = grid;
    TRY(globalRun(function, ring, grid, record, rounds, kSeed + record.bytes,
                  left));
    TAKE(cycles, judge(left, ring, rounds, true));
    if (grid == ring)
      result.cycles = cycles;
  }
  result.micros = result.cycles / bench.megahertz();
  if (flag && bulk(record)) {
    result.expected = 2360 + record.bytes / 24.0;
    result.tolerance = 0.25;
  }
  return Status::success();
}

Status Tests::globalHops(const char *name) {
  TAKE(function, bench.kernel("handover", name));
  bool flag = std::strcmp(name, "handover_global_flag") == 0;
  for (uint32_t ring : {1u, 2u, 8u, ctas() / 2 * 2})
    for (const Record &record : kRecords) {
      Result result;
      result.test = flag ? "global-flag-hop" : "global-data-hop";
      result.bytes = record.bytes;
      result.cluster = ring;
      result.detail = describe(record);
      Status status = globalHop(function, record, flag, result);
      TRY(finish(std::move(result), status));
    }
  std::vector<CtaResult> left;
  TRY(globalRun(function, 2, 2, {4096, 0}, 3, 1, left));
  if (judge(left, 2, 3, false))
    return wrong("records of another seed were taken as right");
  return Status::success();
}

Status Tests::multicastTiles(const Function &function, const Record &record,
                             Result &result) {
  uint32_t bytes = record.bytes, cluster = result.cluster;
  uint64_t from = tiles.address() + record.shift;
  // One warp moves what the copy engine does not take.
  uint32_t count = bytes <= 4096 ? 600 : bulk(record) ? 180 : 20;
  uint64_t room = bench.device.report().sharedPerBlockOptin - kMulticastHead;
  uint32_t stages = uint32_t(std::min<uint64_t>(8, room / capacity(bytes, 0)));
  uint32_t leader = cluster - 1;
  LaunchShape shape;
  shape.ctas = shape.clusterSize = cluster;
  shape.threads = 160;
  shape.sharedBytes = kMulticastHead + uint64_t(stages) * capacity(bytes, 0);
  TAKE(resident, residentClusters(function, shape));
  if (resident == 0) {
    result.state = Result::refused;
    return Status::success();
  }
  for (uint32_t clusters : {1u, resident}) {
    shape.ctas = result.ctas = clusters * cluster;
    TAKE(left, hops(function, shape,
                    {&from, &from, &bytes, &count, &stages, &leader}));
    Expected<double> right = judge(left, cluster, count, false);
    if (!right)
      return right.status();
    if (clusters > 1)
      continue;
    result.cycles = double(left[0].away) / count;
    if (left[0].nanoseconds > 200000)
      clock = 1000.0 * double(left[0].away) / double(left[0].nanoseconds);
  }
  result.micros = result.cycles / bench.megahertz();
  result.terabytes =
      1e-6 * double(bytes) * cluster / std::max(1e-9, result.micros);
  result.detail += (result.detail.empty() ? "" : ", ") + std::to_string(count) +
                   " tiles, " + std::to_string(stages) +
                   " stages, with the check";
  return Status::success();
}

Status Tests::multicast() {
  TAKE(function, bench.kernel("multicast", "multicast"));
  TAKE(uploaded, bench.upload(bench.random(180ull * kLargest + 256), "tiles"));
  tiles = uploaded;
  for (uint32_t cluster : {1, 2, 4, 8, 16})
    for (const Record &record : kRecords) {
      Result result;
      result.test = "multicast";
      result.bytes = record.bytes;
      result.cluster = cluster;
      result.detail = describe(record);
      Status status = multicastTiles(function, record, result);
      TRY(finish(std::move(result), status));
    }
  if (clock > 0)
    bench.measuredClock(clock);
  // The check must be able to fail.
  uint64_t from = tiles.address(), other = tiles.address() + 16;
  uint32_t bytes = 4096, count = 9, stages = 4, leader = 0;
  LaunchShape shape;
  shape.ctas = shape.clusterSize = 2;
  shape.threads = 160;
  shape.sharedBytes = kMulticastHead + stages * bytes;
  TAKE(left, hops(function, shape,
                  {&from, &other, &bytes, &count, &stages, &leader}));
  if (judge(left, 2, count, false))
    return wrong("other tiles were taken as right");
  return Status::success();
}

void Tests::run() {
  WorkspaceMaxima maxima;
  maxima.flags = ctas() * 64;
  maxima.scratchBytes = uint64_t(ctas()) * capacity(kLargest, 16);
  maxima.sentinelBytes = 4 * maxima.scratchBytes;
  Expected<Workspace> created =
      Workspace::create(bench.device, maxima, bench.stream);
  if (!created) {
    bench.fail("workspace", created.status());
    return;
  }
  workspace = *created;
  test("fill-and-copy", testFillAndCopy);
  test("cold-read", testColdRead);
  test("multicast", &Tests::multicast);
  test("cluster-hop", &Tests::clusterHops);
  test("global-flag-hop", &Tests::globalFlag);
  test("global-data-hop", &Tests::globalData);
  test("cold-read-time", timeColdRead);
}
} // namespace

int main(int argc, char **argv) {
  Options options;
  bool legal = true, probe = false;
  for (int i = 1; i < argc && legal; ++i) {
    std::string name = argv[i];
    if (name.rfind("--", 0) != 0) {
      legal = options.cubins.empty();
      options.cubins = name;
    } else if (name == "--probe") {
      probe = true;
    } else if (i + 1 == argc) {
      legal = false;
    } else if (name == "--results") {
      options.results = argv[++i];
    } else if (name == "--device") {
      options.device = std::atoi(argv[++i]);
    } else if (name == "--driver") {
      options.driver = argv[++i];
    } else {
      legal = false;
    }
  }
  if (!legal || probe != options.cubins.empty()) {
    std::fprintf(stderr, "usage: handover FOLDER [--results FILE.json] "
                         "[--device ORDINAL] [--driver PATH]\n"
                         "       handover --probe\n");
    return 2;
  }
  Bench bench(options);
  std::vector<std::string> cubins;
  if (!probe)
    cubins = {"stream", "handover", "multicast"};
  if (Status status = bench.open(cubins); !status.ok()) {
    bool none = status.code() == StatusCode::unsupported;
    std::printf("handover: %s%s\n", none ? "no GPU: skipped: " : "",
                status.message().c_str());
    return none ? 77 : 1;
  }
  std::printf("%s\n", bench.device.report().json().c_str());
  if (probe)
    return 0;
  Tests(bench).run();
  bool written = bench.write();
  if (!written)
    std::fprintf(stderr, "handover: cannot write '%s'\n",
                 options.results.c_str());
  std::printf("%d failed\n", bench.failures());
  return bench.failures() == 0 && written ? 0 : 1;
}
