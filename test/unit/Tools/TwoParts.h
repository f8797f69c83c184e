//===- TwoParts.h - A problem of one task in two pieces --------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tests of df-run's pages and traces plan by hand: two CTAs make a part
// each of one task, the stage "add" reduces them.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_TOOLS_TWOPARTS_H
#define DATAFLOW_TEST_UNIT_TOOLS_TWOPARTS_H

#include "dataflow/Schedule/Problem.h"

namespace dfrt::test {

/// The rest, records, costs and lengths, is the caller's.
inline void describeTwoParts(Problem &problem) {
  Program &program = problem.program;
  program.domains.resize(1);
  program.domains[0].axes.resize(1);
  program.domains[0].axes[0].name = "row";
  program.ranges.resize(1);
  program.stages.resize(2);
  program.stages[0].name = "part";
  program.stages[0].range = 0;
  program.stages[1].name = "add";
  program.stages[1].kind = StageKind::reduce;
  problem.topology.ctas = 2;
  problem.tasks.resize(1);
  problem.tasks[0].tasks = 1;
  problem.tasks[0].extents = {1};
  problem.tasks[0].coordinates = {0};
  problem.tasks[0].weights = {1};
}

} // namespace dfrt::test

#endif // DATAFLOW_TEST_UNIT_TOOLS_TWOPARTS_H
