//===- kernel-stress.cpp - A compiled kernel, replayed and disturbed ------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel of the artifact consume_pages.dfa: graph replays with lengths that
// change, launches with lengths that change each time, and launches beside a
// foreign kernel that holds multiprocessors. Results are exact and every bit is
// compared. One line a test; exit code 0 when all passed, 1 when one failed, 77
// when there is no CUDA device.
//
//   kernel-stress ARTIFACT [--replays N] [--change M] [--launches N]
//                 [--device cuda|cpu]
//
// With --device cpu the plans run on the CPU device: a rehearsal.
//
//===----------------------------------------------------------------------===//

#include "StressBatches.h"

#include "dfrt/cuda/Graph.h"
#include "dfrt/cuda/Memory.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

using namespace dfrt;
using stress::Batches;

namespace {

/// hold(flag, nanoseconds): every CTA stays until *flag is not 0, or the time
/// is over.
constexpr char kHold[] = R"ptx(
.version 8.0
.target sm_90
.address_size 64

.visible .entry hold(.param .u64 p0, .param .u64 p1)
{
  .reg .pred %p;
  .reg .b32 %r0;
  .reg .b64 %d<6>;
  ld.param.u64 %d0, [p0];
  ld.param.u64 %d1, [p1];
  mov.u64 %d2, %globaltimer;
  add.u64 %d2, %d2, %d1;
WAIT:
  ld.relaxed.sys.u32 %r0, [%d0];
  setp.ne.u32 %p, %r0, 0;
  @%p bra DONE;
  nanosleep.u32 1000;
  mov.u64 %d3, %globaltimer;
  setp.lt.u64 %p, %d3, %d2;
  @%p bra WAIT;
DONE:
  ret;
}
)ptx";

/// The foreign kernel ends by itself after this.
constexpr uint64_t kHoldNanoseconds = 20'000'000'000u;
/// Longer than anything here should take.
constexpr double kPatience = 15;
constexpr uint32_t kPlans = 200;

struct Options {
  std::string artifact, device = "cuda";
  uint32_t replays = 100000, change = 100, launches = 5000;
};

double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status wrong(const std::string &text) {
  return Status(StatusCode::verificationFailed, text);
}

/// Which number of CTAs and clusters, and which discipline.
struct Shape {
  uint32_t cluster;
  bool ticket;

  std::string name() const {
    return (ticket ? "tickets" : "static") +
           (cluster > 1 ? ", clusters of " + std::to_string(cluster)
                        : std::string());
  }
};

using LauncherHandle =
    dfrt::detail::Handle<dfrt_launcher, &dfrt_launcher_release>;
using KernelHandle = dfrt::detail::Handle<dfrt_kernel, &dfrt_kernel_release>;

class Stress {
public:
  explicit Stress(const Options &options) : options(options) {}
  int run();

private:
  void test(const std::string &name,
            const std::function<Status(std::string &)> &body);
  Status rehearse(std::string &detail);
  Status open();
  /// Kernel, plans and launcher of a shape.
  Status prepare(const Shape &shape);
  Status poison() const;
  /// Waits for the stream, but not for ever.
  Status wait(const cuda::Stream &stream) const;
  Status compare(uint32_t batch);
  /// As often as needed while staging buffers are in use.
  Status patiently(const std::function<dfrt_status()> &call) const;

  Status replays(uint32_t count, uint32_t change, std::string &detail);
  Status launches(std::string &detail);
  Status beside(bool all, bool ticket, std::string &detail);

  Options options;
  Batches batches;
  ArtifactHandle artifact;
  DeviceHandle handle;
  cuda::Device device;
  cuda::Stream stream, other;
  std::unique_ptr<cuda::ModuleCache> cache;
  std::vector<cuda::Buffer> buffers;
  cuda::PinnedBuffer flag;

  dfrt_launch_shape shape;
  dfrt_capacity capacity;
  std::vector<PlanHandle> plans;
  KernelHandle kernel;
  LauncherHandle launcher;
  std::vector<uint8_t> sums, tiles;
  int failures = 0;
};

void Stress::test(const std::string &name,
                  const std::function<Status(std::string &)> &body) {
  std::string detail;
  double begin = now();
  Status status = body(detail);
  failures += !status.ok();
  std::printf("%s %-40s %8.2f s  %s%s\n", status.ok() ? "ok  " : "FAIL",
              name.c_str(), now() - begin, status.message().c_str(),
              status.ok() ? detail.c_str() : "");
  std::fflush(stdout);
}

Status Stress::rehearse(std::string &detail) {
  TAKE(opened, DeviceHandle::open(options.device));
  for (const char *solver : {"stream", "tickets"}) {
    dfrt_plan_options plan;
    dfrt_plan_options_init(&plan);
    plan.solver = solver;
    plan.ctas = 8;
    plan.cluster_size = 2;
    TRY(batches.plans(artifact, 20, plan, capacity, plans));
    std::vector<dfrt_tensor> views;
    for (stress::Tensor &tensor : batches.tensors)
      views.push_back(tensor.view(tensor.bytes.data()));
    for (uint32_t batch = 0; batch < plans.size(); ++batch) {
      std::vector<int32_t> lengths = batches.lengthsOf(batch);
      views[stress::Lengths].data = lengths.data();
      TRY(opened.launch(artifact, plans[batch], views));
      TRY(batches.compare(batch, views[stress::Sums].data,
                          views[stress::Tiles].data));
    }
  }
  detail = std::to_string(2 * plans.size()) + " plans of " +
           std::to_string(dfrt_capacity_bytes(&capacity)) + " bytes at most";
  return Status::success();
}

Status Stress::open() {
  TAKE(opened, DeviceHandle::open(options.device));
  handle = std::move(opened);
  // The same primary context, for memory, streams and the foreign kernel.
  TAKE(driver, cuda::Driver::open());
  TAKE(same, cuda::Device::open(driver, 0));
  device = same;
  TAKE(first, cuda::Stream::create(device, "stress"));
  TAKE(second, cuda::Stream::create(device, "foreign"));
  stream = first;
  other = second;
  cache.reset(new cuda::ModuleCache(device));
  TAKE(word, cuda::PinnedBuffer::allocate(device, 4, "flag"));
  flag = word;
  for (const stress::Tensor &tensor : batches.tensors) {
    TAKE(buffer, cuda::Buffer::allocate(device, tensor.bytes.size(), "tensor"));
    TRY(buffer.upload(tensor.bytes.data(), tensor.bytes.size(), stream));
    buffers.push_back(buffer);
  }
  sums.resize(batches.tensors[stress::Sums].bytes.size());
  tiles.resize(batches.tensors[stress::Tiles].bytes.size());
  return wait(stream);
}

Status Stress::prepare(const Shape &wanted) {
  launcher = LauncherHandle();
  plans.clear();
  dfrt_kernel_options which;
  dfrt_kernel_options_init(&which);
  which.cluster_size = wanted.cluster;
  which.ticket = wanted.ticket;
  dfrt_kernel *loaded = nullptr;
  TRY(lastStatus(
      dfrt_kernel_load(handle.get(), artifact.get(), &which, &loaded)));
  kernel = KernelHandle(loaded);
  dfrt_shape_options how;
  dfrt_shape_options_init(&how);
  how.cluster_size = how.smallest_cluster = wanted.cluster;
  how.any_residency = wanted.ticket;
  if (wanted.ticket)
    how.cooperation = 0;
  TRY(lastStatus(dfrt_kernel_shape(kernel.get(), &how, &shape, nullptr)));

  dfrt_plan_options plan;
  dfrt_plan_options_init(&plan);
  dfrt_shape_plan_options(&shape, &plan);
  plan.solver = wanted.ticket ? "tickets" : "stream";
  TRY(batches.plans(artifact, kPlans, plan, capacity, plans));
  dfrt_launch_maxima maxima;
  dfrt_launch_maxima_init(&maxima);
  for (const PlanHandle &one : plans)
    TRY(lastStatus(dfrt_launch_maxima_include(&maxima, one.get())));
  dfrt_launcher *made = nullptr;
  TRY(lastStatus(
      dfrt_launcher_create(kernel.get(), &shape, &maxima, nullptr, &made)));
  launcher = LauncherHandle(made);
  std::vector<dfrt_tensor> views;
  for (size_t i = 0; i < buffers.size(); ++i)
    views.push_back(batches.tensors[i].view(
        reinterpret_cast<void *>(uintptr_t(buffers[i].address()))));
  TRY(lastStatus(dfrt_launcher_bind(launcher.get(), views.data(),
                                    uint32_t(views.size()))));
  // The launcher's memory is initialised in the device's own stream.
  return device.synchronize();
}

Status Stress::poison() const {
  for (stress::Argument output : {stress::Sums, stress::Tiles})
    TRY(buffers[output].fill(0xff, 0, buffers[output].bytes(), stream));
  return Status::success();
}

Status Stress::wait(const cuda::Stream &in) const {
  for (double deadline = now() + kPatience;;) {
    Status status = in.query();
    if (status.code() != StatusCode::busy)
      return status;
    if (now() > deadline)
      return Status(StatusCode::deadlock,
                    "not done after " + std::to_string(int(kPatience)) + " s");
  }
}

Status Stress::compare(uint32_t batch) {
  TRY(buffers[stress::Sums].download(sums.data(), sums.size(), stream));
  TRY(buffers[stress::Tiles].download(tiles.data(), tiles.size(), stream));
  TRY(wait(stream));
  return batches.compare(batch, sums.data(), tiles.data());
}

Status Stress::patiently(const std::function<dfrt_status()> &call) const {
  double deadline = now() + kPatience;
  for (;;) {
    dfrt_status status = call();
    if (status != DFRT_BUSY || now() > deadline)
      return lastStatus(status);
  }
}

/// `change`: replays of each plan. The last of them is compared; every replay
/// writes to outputs that its graph has filled with NaN before.
Status Stress::replays(uint32_t count, uint32_t change, std::string &detail) {
  uint32_t batch = 3; // the largest
  TRY(patiently([&] {
    return dfrt_launcher_upload(launcher.get(), plans[batch].get(),
                                stream.handle());
  }));
  TRY(lastStatus(dfrt_launcher_launch(launcher.get(), stream.handle())));
  TRY(compare(batch));
  auto record = [&]() -> Status {
    TRY(poison());
    TRY(lastStatus(dfrt_launcher_upload(launcher.get(), plans[batch].get(),
                                        stream.handle())));
    return lastStatus(dfrt_launcher_launch(launcher.get(), stream.handle()));
  };
  TAKE(graph, cuda::Graph::capture(stream, cuda::StagingRing(), record));
  TAKE(before, device.memory());
  double begin = now();
  Status status;
  for (uint32_t i = 0; i < count && status.ok(); ++i) {
    if (i && i % change == 0) {
      status = compare(batch);
      if (!status.ok())
        break;
      batch = (batch * 7 + 5) % kPlans;
      status = patiently([&] {
        return dfrt_launcher_restage(launcher.get(), plans[batch].get());
      });
      if (!status.ok())
        break;
    }
    status = graph.replay(stream);
    if (status.ok())
      status =
          lastStatus(dfrt_launcher_replayed(launcher.get(), stream.handle()));
    if (!status.ok())
      status = Status(status.code(),
                      "replay " + std::to_string(i) + ": " + status.message());
  }
  if (status.ok())
    status = compare(batch);
  double microseconds = (now() - begin) * 1e6 / count;
  graph = cuda::Graph();
  TRY(status);
  TRY(lastStatus(dfrt_launcher_forget(launcher.get())));
  TAKE(after, device.memory());
  if (after.free + (1 << 20) < before.free)
    return wrong("device memory grew by " +
                 std::to_string(before.free - after.free) + " bytes");
  char text[120];
  std::snprintf(text, sizeof(text),
                "%u replays, another plan every %u, %u CTAs, %.2f us a replay",
                count, change, shape.ctas, microseconds);
  detail = text;
  return Status::success();
}

Status Stress::launches(std::string &detail) {
  for (uint32_t i = 0; i < options.launches; ++i) {
    uint32_t batch = (i * 7 + 3) % kPlans;
    TRY(poison());
    TRY(patiently([&] {
      return dfrt_launcher_upload(launcher.get(), plans[batch].get(),
                                  stream.handle());
    }));
    TRY(lastStatus(dfrt_launcher_launch(launcher.get(), stream.handle())));
    TRY(compare(batch));
  }
  detail = std::to_string(options.launches) + " launches, another plan each";
  return Status::success();
}

/// A foreign kernel holds all multiprocessors, or every second one.
Status Stress::beside(bool all, bool ticket, std::string &detail) {
  cuda::CodeRequirements code;
  code.name = "foreign kernel";
  code.architecture = "compute_90";
  code.threads = 32;
  TAKE(module, cache->load(kHold, std::strlen(kHold), code));
  TAKE(hold, module.function("hold"));
  uint32_t volatile *word = reinterpret_cast<uint32_t *>(flag.data());
  *word = 0;
  uint64_t address = flag.deviceAddress(), time = kHoldNanoseconds;
  // So much shared memory that nothing fits beside it.
  const cuda::DeviceReport &report = device.report();
  cuda::LaunchShape held;
  held.ctas = all ? report.multiprocessors : report.multiprocessors / 2;
  held.threads = 32;
  held.sharedBytes = report.sharedPerBlockOptin;
  TRY(cuda::launch(hold, held, {&address, &time}, other));
  // Long enough for it to have started.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));

  uint32_t batch = 3;
  auto work = [&]() -> Status {
    TRY(poison());
    TRY(patiently([&] {
      return dfrt_launcher_upload(launcher.get(), plans[batch].get(),
                                  stream.handle());
    }));
    return lastStatus(dfrt_launcher_launch(launcher.get(), stream.handle()));
  };
  Status status = work();
  bool refused = !status.ok();
  if (refused)
    detail = "refused: " + status.message();
  // A ticket plan makes progress with the CTAs that find room.
  if (!refused && ticket && !all) {
    status = wait(stream);
    detail = "finished while the other kernel ran";
  } else if (!refused) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    bool early = stream.query().ok();
    detail = early ? "finished while the other kernel ran"
                   : "finished when the other kernel ended";
    if (early && all)
      status = wrong("finished although another kernel held all SMs");
  }
  *word = 1;
  TRY(wait(other));
  if (!refused)
    TRY(status);
  if (refused)
    TRY(work()); // now that the device is free
  return compare(batch);
}

int Stress::run() {
  Expected<ArtifactHandle> loaded = ArtifactHandle::fromFile(options.artifact);
  if (!loaded) {
    std::fprintf(stderr, "kernel-stress: %s\n",
                 loaded.status().message().c_str());
    return 1;
  }
  artifact = std::move(*loaded);
  if (options.device == "cpu") {
    test("rehearsal", [&](std::string &detail) { return rehearse(detail); });
    return failures != 0;
  }
  if (Status status = open(); !status.ok()) {
    bool none = status.code() == StatusCode::unsupported;
    std::fprintf(stderr, "kernel-stress: %s%s\n", status.message().c_str(),
                 none ? ": skipped" : "");
    return none ? 77 : 1;
  }
  for (Shape one : {Shape{1, false}, Shape{2, false}, Shape{4, false},
                    Shape{8, false}, Shape{16, false}, Shape{1, true}}) {
    Status ready = prepare(one);
    if (!ready.ok()) {
      test(one.name(), [&](std::string &) { return ready; });
      continue;
    }
    // All replays once with static plans and once with tickets; a tenth of
    // them with each cluster size.
    uint32_t count = one.cluster == 1 ? options.replays : options.replays / 10;
    test("replays, " + one.name(), [&](std::string &detail) {
      return replays(count, options.change, detail);
    });
    test("replays that change, " + one.name(), [&](std::string &detail) {
      return replays(std::min(count, 2000u), 1, detail);
    });
    test("launches, " + one.name(),
         [&](std::string &detail) { return launches(detail); });
    for (bool all : {true, false})
      test(
          std::string("beside a kernel on ") + (all ? "all" : "half") +
              " of the SMs, " + one.name(),
          [&](std::string &detail) { return beside(all, one.ticket, detail); });
  }
  return failures != 0;
}

} // namespace

int main(int count, char **words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    std::string word = words[i];
    auto number = [&](uint32_t &value) {
      if (i + 1 < count)
        value = uint32_t(std::strtoul(words[++i], nullptr, 10));
      return value > 0;
    };
    bool known = true;
    if (word == "--replays")
      known = number(options.replays);
    else if (word == "--change")
      known = number(options.change);
    else if (word == "--launches")
      known = number(options.launches);
    else if (word == "--device" && i + 1 < count)
      options.device = words[++i];
    else if (options.artifact.empty() && word[0] != '-')
      options.artifact = word;
    else
      known = false;
    if (!known) {
      std::fprintf(stderr, "kernel-stress: '%s' is not understood\n",
                   word.c_str());
      return 2;
    }
  }
  if (options.artifact.empty()) {
    std::fprintf(stderr, "usage: kernel-stress ARTIFACT [--replays N] "
                         "[--change M] [--launches N] [--device cuda|cpu]\n");
    return 2;
  }
  return Stress(options).run();
}
