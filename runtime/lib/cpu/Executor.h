//===- Executor.h - A plan, executed on the CPU -----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes the bytes of a plan the way the kernel does: every CTA works through
// its queue (or draws) in order and stops where a signal is missing. Threads
// emulate many CTAs each; a CTA that has to wait is set aside.
//
// Two modes. Parallel: threads take any CTA that can move, transfers complete
// at once. Adversarial: one thread and a seed choose at random among CTAs and
// transfers or releases in flight; an asynchronous transfer reads its source
// only when it is chosen. A legal plan gives the same bits in every case.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CPU_EXECUTOR_H
#define DFRT_LIB_CPU_EXECUTOR_H

#include "InstructionRun.h"
#include "Signals.h"

#include <deque>

namespace dfrt::cpu {

struct ExecuteOptions {
  bool adversarial = false;
  uint64_t seed = 0; ///< of the adversarial mode
  /// Of the adversarial mode: CTAs that run at a time; 0: all. The others
  /// start, in any order, as these end.
  uint32_t resident = 0;
  uint32_t threads = 0; ///< of the parallel mode; 0: one a processor
};

/// Runs a plan that `checkPlanProgram` and `checkPlanInputs` have accepted.
/// Fails with StatusCode::deadlock when no CTA can move, and with
/// verificationFailed when a barrier is misused or memory of a CTA that has
/// exited is touched; outputs are then unspecified.
Status execute(LaunchCode &launch, const ExecuteOptions &options);

/// State of one emulated CTA.
struct CtaState {
  uint32_t queue = kNone;
  uint32_t next = 0, end = 0; ///< positions in the queue
  bool blocked = false;
  bool finished = false;
  Wait wait; ///< while blocked
};

/// The part that both modes share: where CTAs are and what wakes them. Not
/// synchronised.
class Progress {
public:
  explicit Progress(LaunchCode &launch);

  /// Draws from the ticket list, if `cta` has done what it drew before and the
  /// list is not empty.
  bool draw(uint32_t cta);
  /// The next instruction of `cta`, if it can run now; else null, and the CTA
  /// is blocked or has finished.
  Expected<const dfrt_instruction *> advance(uint32_t cta);
  /// `instruction` of `cta` has run.
  void complete(uint32_t cta, const dfrt_instruction &instruction);
  /// A transfer to `slot`, issued by `cta`, has completed: wakes who waits.
  Status deliverSlot(const dfrt_transfer &transfer, uint32_t slot,
                     uint32_t cta);
  Status deliverRelease(const dfrt_release &release);
  /// Fails when memory that a transfer touches belongs to a CTA that exited.
  Status checkAlive(const dfrt_transfer &transfer, uint32_t slot,
                    uint32_t cta) const;

  bool finished() const { return unfinished == 0; }
  bool finished(uint32_t cta) const { return ctas[cta].finished; }
  /// Who waits for what.
  Status describeDeadlock() const;
  /// The same, with `waiting` CTAs that have not started as none had room.
  Status describeDeadlock(size_t waiting) const;

  std::deque<uint32_t> runnable; ///< CTAs that may move

private:
  Status wake(uint32_t cta);
  std::string describeWait(uint32_t cta) const;
  std::string describeProducer(uint32_t instruction) const;

  LaunchCode &launch;
  const PlanView &plan;
  Signals signals;
  std::vector<CtaState> ctas;
  std::vector<std::vector<uint32_t>> flagWaiters; ///< [flags]
  std::vector<bool> done;                         ///< [instructions]
  uint32_t unfinished = 0;
  uint32_t drawCursor = 0;
};

Status executeParallel(LaunchCode &launch, uint32_t threads);
Status executeAdversarial(LaunchCode &launch, uint64_t seed, uint32_t resident);

} // namespace dfrt::cpu

#endif // DFRT_LIB_CPU_EXECUTOR_H
