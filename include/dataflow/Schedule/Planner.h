//===- Planner.h - Batch after batch of one program -------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a serving engine plans with. The same as `instantiate` and
// `makeSchedule`, byte for byte, but everything that planning needs is kept: as
// soon as a batch of some size was planned, no other of that size touches the
// heap. `instantiate` copies the program, tests it anew and allocates each
// table; that costs more than planning.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_SCHEDULE_PLANNER_H
#define DATAFLOW_SCHEDULE_PLANNER_H

#include "dataflow/Schedule/Schedulers.h"

#include <memory>

namespace dfrt {

/// Plans batches of one program. Movable; one thread at a time. Made by
/// `create`: an empty one can only be assigned to.
class Planner {
public:
  /// Fails as `check` of the program.
  static Expected<Planner> create(Program program);

  Planner();
  Planner(Planner &&);
  Planner &operator=(Planner &&);
  ~Planner();

  /// Reads a batch. Fails as `instantiate`; there is no batch then.
  Status read(ArrayView<PlanInput> inputs, const Topology &topology,
              const CostModel &costs = CostModel());

  /// Plans the batch that was read. Fails as `makeSchedule`, and when there is
  /// no batch. `decisions`, where not null, costs allocations.
  Status plan(const ScheduleOptions &options = ScheduleOptions(),
              Decisions *decisions = nullptr);

  /// The batch that was read last.
  const Problem &problem() const;
  /// The schedule that was made last. It changes with the next call of `plan`.
  const Schedule &schedule() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace dfrt

#endif // DATAFLOW_SCHEDULE_PLANNER_H
