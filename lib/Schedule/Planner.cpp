//===- Planner.cpp - Batch after batch of one program ---------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables of reading and planning in one place.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/Planner.h"

#include "PlanSteps.h"
#include "ReadBatch.h"
#include "dataflow/Schedule/Message.h"

using namespace dfrt;
using namespace dfrt::detail;

struct Planner::State {
  /// `problem` comes first: the tables refer to it.
  explicit State(Program program)
      : problem{std::move(program), {}, {}, {}, {}, {}}, reader(problem),
        steps(problem) {}

  Problem problem;
  bool hasBatch = false;
  BatchReader reader;
  BatchChecker checker;
  PlanSteps steps;
};

Expected<Planner> Planner::create(Program program) {
  DFRT_TRY(check(program));
  Planner planner;
  planner.state = std::make_unique<State>(std::move(program));
  return planner;
}

Planner::Planner() = default;
Planner::Planner(Planner &&) = default;
Planner &Planner::operator=(Planner &&) = default;
Planner::~Planner() = default;

Status Planner::read(ArrayView<PlanInput> inputs, const Topology &topology,
                     const CostModel &costs) {
  Problem &problem = state->problem;
  state->hasBatch = false;
  DFRT_TRY(state->reader.read(inputs));
  DFRT_TRY(check(topology));
  DFRT_TRY(check(costs));
  problem.topology = topology;
  problem.costs = costs;
  DFRT_TRY(state->checker.run(problem));
  state->hasBatch = true;
  return Status::success();
}

Status Planner::plan(const ScheduleOptions &options, Decisions *decisions) {
  if (!state->hasBatch)
    return invalidArgument("planner of program '", state->problem.program.name,
                           "' has no batch");
  return state->steps.run(options, decisions);
}

const Problem &Planner::problem() const { return state->problem; }
const Schedule &Planner::schedule() const { return state->steps.schedule; }
