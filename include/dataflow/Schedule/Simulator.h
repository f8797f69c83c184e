//===- Simulator.h - A schedule in virtual time -----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes a schedule with the constants of `CostModel`: every CTA works
// through its queue (or draws), all CTAs that move bytes share the memory
// bandwidth equally up to what one CTA can draw, and waits take the hop times
// of their transports. The result is a prediction and a timeline, and the proof
// by execution that the schedule terminates.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_SCHEDULE_SIMULATOR_H
#define DATAFLOW_SCHEDULE_SIMULATOR_H

#include "dataflow/Schedule/Schedule.h"

namespace dfrt {

/// When one instruction ran; nanoseconds from the launch.
struct InstructionSpan {
  uint32_t instruction = kNone;
  uint32_t cta = 0;
  double wait = 0;  ///< began to wait for operands and releases
  double begin = 0; ///< began to work
  double end = 0;
};

struct SimulationResult {
  double totalNs = 0; ///< launch to completion: compare with an event span
  double floorNs =
      0; ///< launchNs + bytes / bandwidth: a kernel that only reads
  double busyShare = 0; ///< mean over CTAs of working time / makespan
  std::vector<InstructionSpan> spans; ///< ordered by (cta, begin)
};

/// Fails with StatusCode::deadlock, saying who waits for what, when no CTA can
/// proceed. The schedule must have its transfers; releases are honoured if
/// there.
Expected<SimulationResult> simulate(const Problem &problem,
                                    const Schedule &schedule);

} // namespace dfrt

#endif // DATAFLOW_SCHEDULE_SIMULATOR_H
