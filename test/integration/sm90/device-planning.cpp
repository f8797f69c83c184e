//===- device-planning.cpp - Plans made inside a captured graph -----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: device-planning ARTIFACT [--rounds N] NAME=SHAPE[:FILL]...
//
// One captured graph: lengths are drawn on the device, planned there, and the
// program runs. Each replay draws others. After it the plan is read back and
// compared, byte by byte, with the host's for the lengths that were drawn, and
// the outputs with those of a launch with the host's plan; the bytes have to
// pass the verifier. Then a batch beyond the bound is refused, and times are
// taken.
//
// SHAPE is as in 128x32x576. FILL: `random` (floats, small), `order` (0, 1,
// ..., shuffled), `steps,N` (0, N, 2 N, ...), `below,N` (drawn once),
// `value,N`, or `draw,LOW,COUNT,STEP`: the device draws LOW + STEP * (0 to
// COUNT - 1) in each round, equal draws at equal indices of all tensors. None:
// an output.
//
//===----------------------------------------------------------------------===//

#include "Planning.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace dfrt;
using namespace planning_test;

namespace {

Status compareRound(Rig &rig, uint32_t round) {
  TRY(rig.replay());
  TAKE(bytes, rig.devicePlan());
  TRY(rig.readDrawn());
  TAKE(plan, rig.hostPlan());
  std::vector<uint8_t> expected = plan.bytes();
  if (bytes != expected) {
    size_t at = 0;
    while (at < bytes.size() && at < expected.size() &&
           bytes[at] == expected[at])
      ++at;
    return Status(StatusCode::verificationFailed,
                  "round " + std::to_string(round) + ": byte " +
                      std::to_string(at) + " of the plan differs");
  }
  TAKE(made, rig.outputs());
  TRY(rig.launchHost(plan));
  TAKE(wanted, rig.outputs());
  if (made != wanted)
    return Status(StatusCode::verificationFailed,
                  "round " + std::to_string(round) +
                      ": outputs differ from those of the host's plan");
  return Status::success();
}

Status run(const Options &options) {
  Rig rig;
  TRY(rig.prepare(options));
  for (uint32_t round = 0; round < options.rounds; ++round)
    TRY(compareRound(rig, round));
  uint64_t plans = 0, refusals = 0;
  TRY(rig.report(plans, refusals));
  std::printf("ok   %u rounds: plans and outputs of the device are the host's; "
              "%llu plans, %llu refused, %llu bytes of plan\n",
              options.rounds, (unsigned long long)plans,
              (unsigned long long)refusals,
              (unsigned long long)rig.planBytes());
  TAKE(refused, rig.refuse());
  std::printf("ok   refused: %s\n", refused.c_str());
  TAKE(times, rig.measure());
  std::printf("time %.2f us a plan, %.2f us a plan and the kernel, %.2f us the "
              "kernel; %.2f us the kernel with the host's default plan "
              "(%u in a graph)\n",
              times.plan, times.both, times.kernel, times.stream,
              Rig::kRepeats);
  return Status::success();
}

} // namespace

int main(int count, char **words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    std::string word = words[i];
    if (word == "--rounds" && i + 1 < count)
      options.rounds = uint32_t(std::strtoul(words[++i], nullptr, 10));
    else if (word.find('=') != std::string::npos)
      options.tensors.push_back(word);
    else
      options.artifact = word;
  }
  if (options.artifact.empty()) {
    std::fprintf(stderr, "usage: device-planning ARTIFACT [--rounds N] "
                         "NAME=SHAPE[:FILL]...\n");
    return 2;
  }
  Status status = run(options);
  if (status.ok())
    return 0;
  bool none = status.code() == StatusCode::unsupported;
  std::fprintf(stderr, "device-planning: %s%s\n", status.message().c_str(),
               none ? ": skipped" : "");
  return none ? 77 : 1;
}
