//===- LinePlanner.h - The device's solver on the host ----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For launches that wait for the host: from the lengths of a batch directly to
// the bytes of its plan, by the source that plans on the device (solver
// `line`). No schedule is made in between.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LINEPLANNER_H
#define DFRT_LINEPLANNER_H

#include "dfrt/DevicePlanner.h"

namespace dfrt {

/// Plans batch after batch, all of the shapes of the bound that the device
/// planner was made with; their lengths may be longer. Keeps its tables, and so
/// touches the heap for plans that are larger than those before only.
class LinePlanner {
public:
  /// With the program, topology and shapes of `planner`.
  explicit LinePlanner(const DevicePlanner &planner);
  LinePlanner(LinePlanner &&);
  LinePlanner &operator=(LinePlanner &&);
  ~LinePlanner();

  /// Whether all inputs that planning reads have the shapes of the bound, and
  /// its tasks are those of the bound.
  bool takes(ArrayView<PlanInput> inputs) const;

  /// Writes the plan of a batch, sealed, of the size that it needs. Fails when
  /// an input is missing or has another shape, and when a length or offset is
  /// out of what plans of this kind hold; `bytes` is then of no use.
  Status plan(ArrayView<PlanInput> inputs, std::vector<uint8_t> &bytes);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace dfrt

#endif // DFRT_LINEPLANNER_H
