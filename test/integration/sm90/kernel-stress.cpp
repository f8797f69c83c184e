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
//                 [--only WORD] [--device cuda|cpu]
//
// --only: kernels and clusters whose names contain the word, e.g. tickets.
// With --device cpu the plans run on the CPU device: a rehearsal.
//
//===----------------------------------------------------------------------===//

#include "StressRig.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace dfrt;
using namespace stress;

namespace {

/// The foreign kernel ends by itself after so many seconds.
constexpr double kHoldSeconds = 20;

struct Options {
  std::string artifact, only, device = "cuda";
  uint32_t replays = 100000, change = 100, launches = 5000;
};

class Stress {
public:
  explicit Stress(const Options &options) : options(options) {}
  int run();

private:
  void test(const std::string &name,
            const std::function<Status(std::string &)> &body);
  Status rehearse(std::string &detail);
  Status replays(uint32_t count, uint32_t change, std::string &detail);
  Status launches(std::string &detail);
  Status beside(bool all, bool ticket, std::string &detail);

  Options options;
  Machine machine;
  ArtifactHandle artifact;
  std::unique_ptr<Rig> rig;
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
  const stress::Batches &batches = machine.batches;
  dfrt_capacity capacity;
  std::vector<PlanHandle> plans;
  TAKE(opened, DeviceHandle::open(options.device));
  for (const char *solver : {"stream", "tickets"}) {
    dfrt_plan_options plan;
    dfrt_plan_options_init(&plan);
    plan.solver = solver;
    plan.ctas = 8;
    plan.cluster_size = 2;
    TRY(batches.plans(artifact, 20, plan, capacity, plans));
    std::vector<dfrt_tensor> views;
    for (stress::Tensor &tensor : machine.batches.tensors)
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

/// `change`: replays of each plan. The last of them is compared; every replay
/// writes to outputs that its graph has filled with NaN before.
Status Stress::replays(uint32_t count, uint32_t change, std::string &detail) {
  uint32_t batch = 3; // the largest
  const LauncherHandle &launcher = rig->launcher;
  const cuda::Stream &stream = rig->stream;
  TRY(rig->upload(rig->plans[batch]));
  TRY(rig->launch());
  TRY(rig->compare(batch));
  auto record = [&]() -> Status {
    TRY(rig->poison());
    TRY(launcher.upload(rig->plans[batch], stream.handle()));
    return rig->launch();
  };
  TAKE(graph, cuda::Graph::capture(stream, cuda::StagingRing(), record));
  TAKE(before, machine.device.memory());
  double begin = now();
  Status status;
  for (uint32_t i = 0; i < count && status.ok(); ++i) {
    if (i && i % change == 0) {
      status = rig->compare(batch);
      if (!status.ok())
        break;
      batch = (batch * 7 + 5) % kPlans;
      status = patiently([&] {
        return dfrt_launcher_restage(launcher.get(), rig->plans[batch].get());
      });
      if (!status.ok())
        break;
    }
    status = graph.replay(stream);
    if (status.ok())
      status = launcher.replayed(stream.handle());
    if (!status.ok())
      status = Status(status.code(),
                      "replay " + std::to_string(i) + ": " + status.message());
  }
  if (status.ok())
    status = rig->compare(batch);
  double microseconds = (now() - begin) * 1e6 / count;
  graph = cuda::Graph();
  TRY(status);
  TRY(launcher.forget());
  TAKE(after, machine.device.memory());
  if (after.free + (1 << 20) < before.free)
    return wrong("device memory grew by " +
                 std::to_string(before.free - after.free) + " bytes");
  char text[120];
  std::snprintf(text, sizeof(text),
                "%u replays, another plan every %u, %u CTAs, %.2f us a replay",
                count, change, rig->shape.ctas, microseconds);
  detail = text;
  return Status::success();
}

Status Stress::launches(std::string &detail) {
  for (uint32_t i = 0; i < options.launches; ++i) {
    uint32_t batch = (i * 7 + 3) % kPlans;
    TRY(rig->start(batch));
    TRY(rig->compare(batch));
  }
  detail = std::to_string(options.launches) + " launches, another plan each";
  return Status::success();
}

/// A foreign kernel holds all multiprocessors, or every second one.
Status Stress::beside(bool all, bool ticket, std::string &detail) {
  uint32_t held = machine.multiprocessors() / (all ? 1 : 2);
  TRY(machine.hold(held, kHoldSeconds));
  uint32_t batch = 3;
  Status status = rig->start(batch);
  bool refused = !status.ok();
  if (refused)
    detail = "refused: " + status.message();
  // A ticket plan makes progress with the CTAs that find room.
  if (!refused && ticket && !all) {
    status = wait(rig->stream);
    detail = "finished while the other kernel ran";
  } else if (!refused) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    bool early = rig->stream.query().ok();
    detail = early ? "finished while the other kernel ran"
                   : "finished when the other kernel ended";
    if (early && all)
      status = wrong("finished although another kernel held all SMs");
  }
  TRY(machine.letGo());
  if (!refused)
    TRY(status);
  if (refused)
    TRY(rig->start(batch)); // now that the device is free
  return rig->compare(batch);
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
  if (Status status = machine.open(options.device); !status.ok()) {
    bool none = status.code() == StatusCode::unsupported;
    std::fprintf(stderr, "kernel-stress: %s%s\n", status.message().c_str(),
                 none ? ": skipped" : "");
    return none ? 77 : 1;
  }
  rig.reset(new Rig(machine, artifact));
  for (Shape one : {Shape{1, false}, Shape{2, false}, Shape{4, false},
                    Shape{8, false}, Shape{16, false}, Shape{1, true}}) {
    if (one.name().find(options.only) == std::string::npos)
      continue;
    Status ready = rig->prepare(one);
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
    else if (word == "--only" && i + 1 < count)
      options.only = words[++i];
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
    std::fprintf(
        stderr,
        "usage: kernel-stress ARTIFACT [--replays N] "
        "[--change M] [--launches N] [--only WORD] [--device cuda|cpu]\n");
    return 2;
  }
  return Stress(options).run();
}
