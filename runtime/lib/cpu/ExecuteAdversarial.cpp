//===- ExecuteAdversarial.cpp - A seeded, hostile interleaving ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses, step by step, which CTA runs its next instruction or which transfer
// or release in flight is delivered. The seed also chooses one of four
// tempers: a fair choice alone rarely leaves anybody far behind, so in three of
// them CTAs are ranked, and who ranks low moves only when nobody else can.
// Where only some CTAs find room, which of them is chance as well.
//
//===----------------------------------------------------------------------===//

#include "Executor.h"
#include "dataflow/Schedule/Message.h"

#include <algorithm>

using namespace dfrt;
using namespace dfrt::cpu;

namespace {
/// SplitMix64: the same numbers everywhere, unlike the standard distributions.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  size_t below(size_t limit) { return size_t(next() % limit); }

private:
  uint64_t state;
};

/// A transfer to one destination, or a release, that is under way.
struct Delivery {
  const dfrt_transfer *transfer = nullptr;
  const dfrt_release *release = nullptr;
  uint32_t slot = kNone; ///< destination of the transfer
  uint32_t cta = 0;      ///< issuer
  bool copied = false;   ///< the bytes have moved, only the signal is under way
};

enum class Temper {
  fair,      ///< every CTA and every delivery is equally likely
  slowWire,  ///< ranked CTAs; deliveries come only when no CTA can move
  quickWire, ///< ranked CTAs; deliveries come first
  anyWire,   ///< ranked CTAs; deliveries come at any time
};

class AdversarialExecutor {
public:
  AdversarialExecutor(LaunchCode &launch, uint64_t seed, uint32_t resident)
      : launch(launch), progress(launch), runner(launch), random(seed),
        temper(Temper(seed % 4)), rank(launch.plan.header.ctas) {
    for (uint64_t &r : rank)
      r = random.next();
    while (resident && progress.runnable.size() > resident) {
      std::swap(progress.runnable[random.below(progress.runnable.size())],
                progress.runnable.back());
      outside.push_back(progress.runnable.back());
      progress.runnable.pop_back();
    }
  }

  Status run() {
    while (true) {
      size_t ctas = progress.runnable.size(), flying = inFlight.size();
      if (ctas + flying == 0)
        return progress.finished() ? Status::success()
                                   : progress.describeDeadlock(outside.size());
      bool deliver = ctas == 0 || (flying && preferDelivery(ctas, flying));
      DFRT_TRY(deliver ? deliverOne() : stepOne());
    }
  }

private:
  bool preferDelivery(size_t ctas, size_t flying) {
    switch (temper) {
    case Temper::slowWire:
      return false;
    case Temper::quickWire:
      return true;
    default:
      return random.below(ctas + flying) < flying;
    }
  }

  size_t chooseCta() {
    size_t count = progress.runnable.size();
    if (temper == Temper::fair)
      return random.below(count);
    size_t best = 0;
    for (size_t i = 1; i < count; ++i)
      if (rank[progress.runnable[i]] > rank[progress.runnable[best]])
        best = i;
    return best;
  }

  Status stepOne() {
    std::swap(progress.runnable[chooseCta()], progress.runnable.back());
    uint32_t cta = progress.runnable.back();
    progress.runnable.pop_back();
    // A draw is a step of its own: others may overtake before it begins.
    if (progress.draw(cta)) {
      rank[cta] = random.next();
      progress.runnable.push_back(cta);
      return Status::success();
    }
    Expected<const dfrt_instruction *> next = progress.advance(cta);
    if (!next)
      return next.status();
    if (!*next) {
      if (progress.finished(cta) && !outside.empty()) {
        progress.runnable.push_back(outside.back());
        outside.pop_back();
      }
      return Status::success();
    }
    const dfrt_instruction &instruction = **next;
    DFRT_TRY(runner.run(instruction, cta));
    progress.complete(cta, instruction);
    progress.runnable.push_back(cta);

    for (const dfrt_transfer &transfer : launch.plan.transfersOf(instruction))
      for (const dfrt_destination &to : launch.plan.destinationsOf(transfer)) {
        Delivery delivery{&transfer, nullptr, to.slot, cta, false};
        if (transfer.transport != DFRT_TRANSPORT_CLUSTER_SHARED &&
            transfer.transport != DFRT_TRANSPORT_MULTICAST)
          DFRT_TRY(copy(delivery));
        inFlight.push_back(delivery);
      }
    for (const dfrt_release &release : launch.plan.releasesOf(instruction))
      inFlight.push_back({nullptr, &release, kNone, cta, true});
    return Status::success();
  }

  Status copy(Delivery &delivery) {
    DFRT_TRY(
        progress.checkAlive(*delivery.transfer, delivery.slot, delivery.cta));
    launch.memory.transfer(*delivery.transfer, delivery.slot, delivery.cta);
    delivery.copied = true;
    return Status::success();
  }

  Status deliverOne() {
    std::swap(inFlight[random.below(inFlight.size())], inFlight.back());
    Delivery delivery = inFlight.back();
    inFlight.pop_back();
    if (delivery.release)
      return progress.deliverRelease(*delivery.release);
    if (!delivery.copied)
      DFRT_TRY(copy(delivery));
    return progress.deliverSlot(*delivery.transfer, delivery.slot,
                                delivery.cta);
  }

  LaunchCode &launch;
  Progress progress;
  InstructionRun runner;
  Random random;
  Temper temper;
  std::vector<uint64_t> rank;    ///< of CTAs
  std::vector<uint32_t> outside; ///< CTAs that have not found room
  std::vector<Delivery> inFlight;
};
} // namespace

Status cpu::executeAdversarial(LaunchCode &launch, uint64_t seed,
                               uint32_t resident) {
  return AdversarialExecutor(launch, seed, resident).run();
}
