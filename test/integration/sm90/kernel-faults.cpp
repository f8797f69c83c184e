//===- kernel-faults.cpp - A compiled kernel beside others, and broken ---===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a server does to a kernel: two launches with two plans at the same time
// in two streams; a device of which another kernel holds all but 16, 78 or 114
// multiprocessors; a plan that is broken. Broken are plans from which one wait
// or one transfer was taken: the verifier has to refuse them, and a kernel with
// bounded waits has to end and say who waits for what, after which the device
// is opened again and works.
//
//   kernel-faults ARTIFACT [--watchdog ARTIFACT] [--launches N]
//                 [--only WORD] [--device cuda|cpu]
//
// --only: tests whose names contain the word.
//
// With --device cpu the verifier and the CPU device judge the broken plans: a
// rehearsal. Lines and exit code: StressTests.h.
//
//===----------------------------------------------------------------------===//

#include "StressTests.h"

#include "dfrt/Artifact.h"
#include "dfrt/PlanImage.h"

#include <algorithm>
#include <fstream>
#include <iterator>

using namespace dfrt;
using namespace stress;

namespace {

/// A plan, its image, and one mistake.
enum class Mistake { missingWait, missingTransfer };

Expected<std::vector<uint8_t>> breakPlan(const PlanHandle &plan, Mistake what,
                                         std::string &where) {
  std::vector<uint8_t> bytes = plan.bytes();
  TAKE(image, readPlan(bytes.data(), bytes.size()));
  Schedule &s = image.schedule;
  if (what == Mistake::missingWait) {
    auto waits = [](const Operand &o) { return o.wait; };
    auto at = std::find_if(s.operands.begin(), s.operands.end(), waits);
    if (at == s.operands.end())
      return wrong("the plan has no wait");
    at->wait = false;
    where = "operand " + std::to_string(at - s.operands.begin());
  } else {
    // The flag stays; nobody sets it.
    auto travels = [](const Transfer &t) {
      return t.transport != Transport::local;
    };
    auto at = std::find_if(s.transfers.begin(), s.transfers.end(), travels);
    if (at == s.transfers.end())
      return wrong("the plan has no transfer");
    where = "transfer " + std::to_string(at - s.transfers.begin());
    s.transfers.erase(at);
  }
  return packPlan(image, exactMaxima(image));
}

class Faults {
public:
  int run(int count, char **words);

private:
  /// The verifier's verdict on the bytes of a plan of `batch`.
  Status judge(uint32_t batch, const std::vector<uint8_t> &bytes);
  Status refused(std::string &detail);
  Status rehearse(std::string &detail);
  Status twoStreams(bool ticket, std::string &detail);
  Status besideHeld(const Shape &shape, std::string &detail);
  Status broken(Mistake what, std::string &detail);
  Status again(std::string &detail);

  Tests tests{"kernel-faults"};
  uint32_t launches = 2000;
  Machine machine;
  ArtifactHandle artifact, bounded;
  Program program;
  bool lost = false; ///< the process cannot use the device any more
};

Status Faults::judge(uint32_t batch, const std::vector<uint8_t> &bytes) {
  TAKE(image, readPlan(bytes.data(), bytes.size()));
  std::vector<PlanInput> inputs;
  for (size_t i = 0; i < kArguments; ++i) {
    PlanInput input;
    input.argument = program.arguments[i].name;
    input.shape = machine.batches.tensors[i].shape;
    if (i == Lengths)
      for (int32_t length : machine.batches.lengthsOf(batch))
        input.values.push_back(length);
    inputs.push_back(input);
  }
  TAKE(problem, instantiate(program, inputs, image.topology));
  return verifyPlan(problem, bytes.data(), bytes.size());
}

/// Every wait of a plan and every transfer, taken one at a time.
Status Faults::refused(std::string &detail) {
  uint32_t made = 0;
  std::string first;
  for (const char *solver : {"stream", "tickets"}) {
    dfrt_plan_options plan;
    dfrt_plan_options_init(&plan);
    plan.solver = solver;
    TAKE(legal, machine.batches.plan(artifact, 3, plan));
    TRY(judge(3, legal.bytes()));
    for (Mistake what : {Mistake::missingWait, Mistake::missingTransfer}) {
      std::string where;
      TAKE(bytes, breakPlan(legal, what, where));
      Status status = judge(3, bytes);
      if (status.ok())
        return wrong("the verifier accepts a plan without " + where);
      first = where + ": " + status.message();
      ++made;
    }
  }
  detail = std::to_string(made) + " refused; " + first;
  return Status::success();
}

/// The CPU device says who waits for what as well.
Status Faults::rehearse(std::string &detail) {
  TAKE(device, DeviceHandle::open("cpu"));
  dfrt_plan_options plan;
  dfrt_plan_options_init(&plan);
  TAKE(legal, machine.batches.plan(artifact, 3, plan));
  std::string where;
  TAKE(bytes, breakPlan(legal, Mistake::missingTransfer, where));
  TAKE(loaded, PlanHandle::load(artifact, bytes.data(), bytes.size()));
  std::vector<int32_t> lengths = machine.batches.lengthsOf(3);
  std::vector<dfrt_tensor> views;
  for (Tensor &tensor : machine.batches.tensors)
    views.push_back(tensor.view(tensor.bytes.data()));
  views[Lengths].data = lengths.data();
  Status status = device.launch(artifact, loaded, views);
  if (status.code() != StatusCode::deadlock)
    return wrong("expected a deadlock, got '" + status.message() + "'");
  detail = "without " + where + ": " + status.message();
  TRY(device.launch(artifact, legal, views));
  return machine.batches.compare(3, views[Sums].data, views[Tiles].data);
}

/// Half of the multiprocessors each, one with static queues.
Status Faults::twoStreams(bool ticket, std::string &detail) {
  Rig one(machine, artifact), two(machine, artifact);
  uint32_t half = machine.multiprocessors() / 2;
  TRY(one.prepare({1, false, half}));
  TRY(two.prepare({ticket ? 1u : 2u, ticket, half / 2 * 2}));
  for (uint32_t i = 0; i < launches; ++i) {
    uint32_t a = (i * 7 + 3) % kPlans, b = (i * 11 + 5) % kPlans;
    TRY(one.start(a));
    TRY(two.start(b));
    TRY(one.compare(a));
    TRY(two.compare(b));
  }
  detail = std::to_string(launches) + " pairs on " + std::to_string(half) +
           " CTAs each, cooperative: " + std::to_string(one.shape.cooperative) +
           " and " + std::to_string(two.shape.cooperative);
  return Status::success();
}

/// Another kernel holds all multiprocessors but `shape.ctas`, and stays.
Status Faults::besideHeld(const Shape &shape, std::string &detail) {
  Rig rig(machine, artifact);
  TRY(rig.prepare(shape, 50));
  TRY(machine.hold(machine.multiprocessors() - shape.ctas, 60));
  uint32_t done = 0;
  Status status;
  for (; done < launches && status.ok(); ++done) {
    uint32_t batch = (done * 7 + 3) % 50;
    status = rig.start(batch);
    if (status.ok())
      status = wait(rig.stream, 3);
    if (status.ok())
      status = rig.compare(batch);
  }
  bool held = machine.foreign.query().code() == StatusCode::busy;
  TRY(machine.letGo());
  if (!status.ok() && status.code() != StatusCode::deadlock)
    return status;
  // Free clusters depend on where the other kernel lies.
  if (!status.ok() && shape.cluster > 1) {
    detail = "no room for a cluster while the other kernel ran; right then";
    return rig.compare(((done - 1) * 7 + 3) % 50);
  }
  TRY(status);
  if (!held)
    return wrong("the other kernel had ended");
  detail = std::to_string(done) +
           " launches, another plan each, while the other kernel ran";
  return Status::success();
}

/// The kernel with bounded waits ends, and says why; then everything works
/// again.
Status Faults::broken(Mistake what, std::string &detail) {
  Rig rig(machine, bounded);
  Shape shape;
  shape.watchdog = true;
  TRY(rig.prepare(shape, 5));
  TRY(rig.start(3));
  TRY(rig.compare(3));
  std::string where;
  TAKE(bytes, breakPlan(rig.plans[3], what, where));
  TAKE(plan, PlanHandle::load(bounded, bytes.data(), bytes.size()));
  TRY(rig.poison());
  TRY(rig.upload(plan));
  TRY(rig.launch());
  Status status = wait(rig.stream);
  if (status.code() == StatusCode::deadlock &&
      status.message().find("not done after") == 0)
    return wrong("it hangs without " + where);
  if (status.ok()) {
    // A wait too few need not show on this machine today.
    if (what == Mistake::missingTransfer)
      return wrong("it ends well without " + where);
    Status same = rig.compare(3);
    detail = "without " + where + ": ended, outputs are " +
             (same.ok() ? "right by chance" : "wrong");
    return Status::success();
  }
  TAKE(text, rig.launcher.watchdog());
  detail = "without " + where + ": " + text.substr(0, 300);
  if (text.find("waits for") == std::string::npos)
    return wrong("the watchdog does not say who waits: " + text);
  // The handle learns of the loss by a call of its own.
  (void)rig.launcher.wait(rig.stream.handle());
  Status reopened = machine.handle.reopen();
  lost = !reopened.ok();
  if (lost)
    detail += " -- " + reopened.message();
  return Status::success();
}

Status Faults::again(std::string &detail) {
  if (lost) {
    detail = "only in another process: this driver does not reset a context";
    return Status::success();
  }
  Machine fresh;
  TRY(fresh.open(tests.device));
  machine = std::move(fresh);
  Rig rig(machine, artifact);
  TRY(rig.prepare({}, 20));
  for (uint32_t batch = 0; batch < 20; ++batch) {
    TRY(rig.start(batch));
    TRY(rig.compare(batch));
  }
  detail = "20 launches, another plan each";
  return Status::success();
}

int Faults::run(int count, char **words) {
  std::string watchdog;
  tests.option("--watchdog", watchdog);
  tests.option("--launches", launches);
  if (!tests.parse(count, words))
    return 2;
  auto read = [&]() -> Status {
    TAKE(loaded, ArtifactHandle::fromFile(tests.artifact));
    artifact = std::move(loaded);
    if (!watchdog.empty()) {
      TAKE(other, ArtifactHandle::fromFile(watchdog));
      bounded = std::move(other);
    }
    std::ifstream file(tests.artifact, std::ios::binary);
    std::vector<uint8_t> bytes(std::istreambuf_iterator<char>(file), {});
    TAKE(whole, readArtifact(bytes.data(), bytes.size()));
    program = whole.program;
    return Status::success();
  };
  if (Status status = read(); !status.ok())
    return tests.giveUp(status);
  tests.run("broken plans are refused",
            [&](std::string &detail) { return refused(detail); });
  if (tests.onCpu()) {
    tests.run("rehearsal",
              [&](std::string &detail) { return rehearse(detail); });
    return tests.exitCode();
  }
  if (int code = tests.open(machine))
    return code;
  for (bool ticket : {false, true})
    tests.run(std::string("two streams, static and ") +
                  (ticket ? "tickets" : "static in clusters of 2"),
              [&](std::string &detail) { return twoStreams(ticket, detail); });
  for (uint32_t ctas : {16u, 78u, 114u})
    for (Shape shape :
         {Shape{1, false, ctas}, Shape{2, false, ctas}, Shape{1, true, ctas}})
      if (ctas < machine.multiprocessors())
        tests.run(
            "beside a kernel on all but these: " + shape.name(),
            [&](std::string &detail) { return besideHeld(shape, detail); });
  if (bounded)
    for (Mistake what : {Mistake::missingWait, Mistake::missingTransfer}) {
      if (lost)
        break;
      tests.run(std::string("watchdog: a plan without a ") +
                    (what == Mistake::missingWait ? "wait" : "transfer"),
                [&](std::string &detail) { return broken(what, detail); });
      tests.run("the next launches",
                [&](std::string &detail) { return again(detail); });
    }
  return tests.exitCode();
}

} // namespace

int main(int count, char **words) { return Faults().run(count, words); }
