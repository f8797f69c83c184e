//===- ProgramLines.h - A program as lines ----------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_PLANNING_PROGRAMLINES_H
#define DFRT_LIB_PLANNING_PROGRAMLINES_H

#include "Tables.h"
#include "dataflow/Schedule/Problem.h"

#include <vector>

namespace dfrt {
namespace planning {

/// The lines of a program.
struct ProgramLines {
  std::vector<Line> lines;
  std::vector<uint32_t> inputs; ///< arguments that Value::input refers to
};

/// The input of this name, or null.
const PlanInput *findInput(ArrayView<PlanInput> batch, const std::string &name);

/// Reads the lines off the program of `bound`, their limits off its batch,
/// which was made from `batch`. Fails with `unsupported`, naming what cannot be
/// planned on a device.
Status findLines(const Problem &bound, ArrayView<PlanInput> batch,
                 ProgramLines &found);

} // namespace planning
} // namespace dfrt

#endif // DFRT_LIB_PLANNING_PROGRAMLINES_H
