//===- StageCosts.cpp - What calls of a stage cost ------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/StageCosts.h"

#include "WorkItems.h"

using namespace dfrt;

StageCosts dfrt::stageCosts(const Problem &problem, uint32_t stage) {
  StageCosts costs;
  if (problem.taskCount(stage) == 0)
    return costs;
  detail::StageGraph graph(problem);
  graph.readBatch();
  bool each = problem.program.stages[stage].each;
  costs.call = (each ? 0 : graph.genericFixedCost(stage)) +
               static_cast<uint64_t>(detail::segmentCost(problem, stage));
  costs.tile = graph.genericTileCost(stage);
  return costs;
}
