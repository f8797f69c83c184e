//===- StageCosts.h - What calls of a stage cost ----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The costs that solvers balance, for planners that are not of this library.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_SCHEDULE_STAGECOSTS_H
#define DATAFLOW_SCHEDULE_STAGECOSTS_H

#include "dataflow/Schedule/Problem.h"

namespace dfrt {

/// Of a stage with a range, in bytes read.
struct StageCosts {
  uint64_t call = 0; ///< of a piece or run beyond its tiles: its inputs, taking
                     ///< the instruction, and the record of a piece
  uint64_t tile = 1;
};

/// Costs of `stage`, which has a range, for the first of its tasks. The problem
/// must be one that `check` accepts.
StageCosts stageCosts(const Problem &problem, uint32_t stage);

} // namespace dfrt

#endif // DATAFLOW_SCHEDULE_STAGECOSTS_H
