//===- LowerBound.h - What no schedule of a batch can beat ------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A time, under the constants of `CostModel`, that no schedule can stay below,
// whoever makes it: what a plan's simulated time is held against. It knows of
// no solver. Five facts, of which the strongest counts:
//
//   bandwidth   all bytes at the best rate of the device
//   tiles       tiles are whole: some CTA reads at least the average, rounded
//               up, at the best rate of a single CTA
//   arithmetic  all operations at the rate of all CTAs
//   call        the largest call that cannot be cut, on one CTA
//   exchange    what one CTA cannot read in time is read by several, each with
//               the input of its piece, and then their records are exchanged
//
// Each begins after launch, start of a CTA and dispatch of its first
// instruction, and what has to follow the last byte of a stage (the calls of
// the stages behind it, at their smallest) follows.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_SCHEDULE_LOWERBOUND_H
#define DATAFLOW_SCHEDULE_LOWERBOUND_H

#include "dataflow/Schedule/Problem.h"

namespace dfrt {

/// Nanoseconds from the launch.
struct LowerBound {
  double totalNs = 0; ///< the largest of those below
  /// Each with the fixed path before and behind it.
  double bandwidthNs = 0, tilesNs = 0, arithmeticNs = 0, callNs = 0;
  double exchangeNs = 0;
  /// Launch, start, dispatch and exit, and the smallest calls of the longest
  /// chain of stages: an all but empty batch.
  double pathNs = 0;

  /// Which of them it is.
  const char *reason() const;
};

/// The bound of a problem that `check` accepts.
LowerBound lowerBound(const Problem &problem);

} // namespace dfrt

#endif // DATAFLOW_SCHEDULE_LOWERBOUND_H
