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
// compared. Lines and exit code: StressTests.h.
//
//   kernel-stress ARTIFACT [--replays N] [--change M] [--launches N]
//                 [--only WORD] [--device cuda|cpu]
//
// --only: kernels and clusters whose names contain the word, e.g. tickets.
// With --device cpu the plans run on the CPU device: a rehearsal.
//
//===----------------------------------------------------------------------===//

#include "StressTests.h"

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

class Stress {
public:
  int run(int count, char **words);

private:
  Status rehearse(std::string &detail);
  Status replay(uint32_t times, uint32_t change, std::string &detail);
  Status launch(std::string &detail);
  Status beside(bool all, bool ticket, std::string &detail);

  Tests tests{"kernel-stress"};
  uint32_t replays = 100000, change = 100, launches = 5000;
  Machine machine;
  ArtifactHandle artifact;
  std::unique_ptr<Rig> rig;
};

Status Stress::rehearse(std::string &detail) {
  const stress::Batches &batches = machine.batches;
  dfrt_capacity capacity;
  std::vector<PlanHandle> plans;
  TAKE(opened, DeviceHandle::open(tests.device));
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
Status Stress::replay(uint32_t times, uint32_t change, std::string &detail) {
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
  for (uint32_t i = 0; i < times && status.ok(); ++i) {
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
  double microseconds = (now() - begin) * 1e6 / times;
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
                times, change, rig->shape.ctas, microseconds);
  detail = text;
  return Status::success();
}

Status Stress::launch(std::string &detail) {
  for (uint32_t i = 0; i < launches; ++i) {
    uint32_t batch = (i * 7 + 3) % kPlans;
    TRY(rig->start(batch));
    TRY(rig->compare(batch));
  }
  detail = std::to_string(launches) + " launches, another plan each";
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

int Stress::run(int count, char **words) {
  tests.option("--replays", replays);
  tests.option("--change", change);
  tests.option("--launches", launches);
  if (!tests.parse(count, words))
    return 2;
  Expected<ArtifactHandle> loaded = ArtifactHandle::fromFile(tests.artifact);
  if (!loaded)
    return tests.giveUp(loaded.status());
  artifact = std::move(*loaded);
  if (tests.onCpu()) {
    tests.run("rehearsal",
              [&](std::string &detail) { return rehearse(detail); });
    return tests.exitCode();
  }
  if (int code = tests.open(machine))
    return code;
  rig.reset(new Rig(machine, artifact));
  for (Shape one : {Shape{1, false}, Shape{2, false}, Shape{4, false},
                    Shape{8, false}, Shape{16, false}, Shape{1, true}}) {
    if (!tests.wants(one.name()))
      continue;
    Status ready = rig->prepare(one);
    if (!ready.ok()) {
      tests.run(one.name(), [&](std::string &) { return ready; });
      continue;
    }
    // All replays once with static plans and once with tickets; a tenth of
    // them with each cluster size.
    uint32_t most = one.cluster == 1 ? replays : replays / 10;
    tests.run("replays, " + one.name(), [&](std::string &detail) {
      return replay(most, change, detail);
    });
    tests.run("replays that change, " + one.name(), [&](std::string &detail) {
      return replay(std::min(most, 2000u), 1, detail);
    });
    tests.run("launches, " + one.name(),
              [&](std::string &detail) { return launch(detail); });
    for (bool all : {true, false})
      tests.run(
          std::string("beside a kernel on ") + (all ? "all" : "half") +
              " of the SMs, " + one.name(),
          [&](std::string &detail) { return beside(all, one.ticket, detail); });
  }
  return tests.exitCode();
}

} // namespace

int main(int count, char **words) { return Stress().run(count, words); }
