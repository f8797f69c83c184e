//===- ExecuteParallel.cpp - Threads that emulate CTAs --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One lock guards all signals. Handlers and copies run outside of it; they are
// ordered by the signals, as on the device.
//
//===----------------------------------------------------------------------===//

#include "Executor.h"
#include "Threads.h"
#include "dataflow/Schedule/Message.h"

#include <condition_variable>
#include <mutex>

using namespace dfrt;
using namespace dfrt::cpu;

namespace {
class ParallelExecutor {
public:
  explicit ParallelExecutor(LaunchCode &launch)
      : launch(launch), progress(launch) {}

  Status run(uint32_t threads) {
    runOnThreads(
        threads, [this] { work(); },
        [this] {
          std::lock_guard<std::mutex> lock(mutex);
          stop(Status(StatusCode::resourceExhausted, "cpu: out of memory"));
        });
    return result;
  }

private:
  void work() {
    InstructionRun runner(launch);
    std::unique_lock<std::mutex> lock(mutex);
    while (!stopped) {
      if (progress.runnable.empty()) {
        if (active == 0) {
          stop(progress.finished() ? Status::success()
                                   : progress.describeDeadlock());
          return;
        }
        changed.wait(lock);
        continue;
      }
      uint32_t cta = progress.runnable.front();
      progress.runnable.pop_front();
      ++active;
      if (Status status = runCta(cta, runner, lock); !status.ok())
        stop(std::move(status));
      --active;
      if (active == 0)
        changed.notify_all();
    }
  }

  void stop(Status status) {
    if (!stopped)
      result = std::move(status);
    stopped = true;
    changed.notify_all();
  }

  /// Runs `cta` until it is blocked or has finished. Holds the lock except
  /// during handlers and copies.
  Status runCta(uint32_t cta, InstructionRun &runner,
                std::unique_lock<std::mutex> &lock) {
    const PlanView &plan = launch.plan;
    while (!stopped) {
      progress.draw(cta);
      Expected<const dfrt_instruction *> next = progress.advance(cta);
      if (!next)
        return next.status();
      if (!*next)
        return Status::success();
      const dfrt_instruction &instruction = **next;
      for (const dfrt_transfer &transfer : plan.transfersOf(instruction))
        for (const dfrt_destination &to : plan.destinationsOf(transfer))
          DFRT_TRY(progress.checkAlive(transfer, to.slot, cta));
      lock.unlock();
      Status status = runner.run(instruction, cta);
      for (const dfrt_transfer &transfer : plan.transfersOf(instruction))
        for (const dfrt_destination &to : plan.destinationsOf(transfer))
          launch.memory.transfer(transfer, to.slot, cta);
      lock.lock();
      DFRT_TRY(status);
      size_t before = progress.runnable.size();
      for (const dfrt_transfer &transfer : plan.transfersOf(instruction))
        for (const dfrt_destination &to : plan.destinationsOf(transfer))
          DFRT_TRY(progress.deliverSlot(transfer, to.slot, cta));
      for (const dfrt_release &release : plan.releasesOf(instruction))
        DFRT_TRY(progress.deliverRelease(release));
      progress.complete(cta, instruction);
      if (progress.runnable.size() > before)
        changed.notify_all();
    }
    return Status::success();
  }

  LaunchCode &launch;
  std::mutex mutex;
  std::condition_variable changed;
  // All below is guarded by `mutex`.
  Progress progress;
  uint32_t active = 0; ///< threads that run a CTA
  bool stopped = false;
  Status result;
};
} // namespace

Status cpu::executeParallel(LaunchCode &launch, uint32_t threads) {
  return ParallelExecutor(launch).run(
      std::min(threadCount(threads), launch.plan.header.ctas));
}

Status cpu::execute(LaunchCode &launch, const ExecuteOptions &options) {
  return options.adversarial
             ? executeAdversarial(launch, options.seed, options.resident)
             : executeParallel(launch, options.threads);
}
