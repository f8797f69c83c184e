//===- Signals.h - Barriers, flags and releases of a launch -----*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What CTAs wait for. Not synchronised: the executor holds its lock around
// every call. Barriers behave as hardware barriers do, but instead of going
// wrong silently on a misuse (an arrival for another phase than the current
// one, a wait for a phase that is two behind) they report it.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CPU_SIGNALS_H
#define DFRT_LIB_CPU_SIGNALS_H

#include "PlanView.h"

namespace dfrt::cpu {

/// What an instruction waits for first.
struct Wait {
  enum class Kind { none, release, operand };
  Kind kind = Kind::none;
  uint32_t index = 0; ///< identity of the release, or index of the slot
};

class Signals {
public:
  explicit Signals(const PlanView &plan);

  /// The first signal that `instruction` still lacks. Fails when a barrier is
  /// already beyond the phase that it waits for.
  Expected<Wait> missing(const dfrt_instruction &instruction) const;

  /// The bytes of a slot have arrived by a transfer: its barrier and its flag.
  Status arriveSlot(uint32_t slot);
  Status arriveRelease(const dfrt_release &release);

private:
  struct BarrierState {
    uint32_t phase = 0, arrivals = 0;
  };
  /// Barriers are numbered within their CTA.
  Status arriveBarrier(uint32_t cta, uint32_t barrier, uint32_t phase);
  /// Whether `phase` of the barrier is complete.
  Expected<bool> complete(uint32_t cta, uint32_t barrier, uint32_t phase) const;

  const PlanView &plan;
  std::vector<BarrierState> barriers;
  std::vector<bool> flags;
  std::vector<bool> released; ///< by identity; of releases without a barrier
};

} // namespace dfrt::cpu

#endif // DFRT_LIB_CPU_SIGNALS_H
