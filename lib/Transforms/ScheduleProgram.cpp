//===- ScheduleProgram.cpp - Run a solver on a program --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes a `dataflow.schedule` with queues, instructions and unplaced slots.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/Passes.h"

#include "SchedulePasses.h"

#include "dataflow/IR/Dataflow.h"
#include "dataflow/Transforms/ProgramImport.h"
#include "dataflow/Transforms/ScheduleConversion.h"

#include "mlir/IR/Remarks.h"

namespace mlir::df {
#define GEN_PASS_DEF_SCHEDULEPROGRAM
#include "dataflow/Transforms/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;

namespace {

struct ScheduleProgramPass
    : public df::impl::ScheduleProgramBase<ScheduleProgramPass> {
  using ScheduleProgramBase::ScheduleProgramBase;

  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

  LogicalResult run(ProgramOp program);
};

} // namespace

static const dfrt::Solver *findSolver(StringRef name) {
  for (const dfrt::Solver &solver : dfrt::solvers()) {
    if (name == solver.name)
      return &solver;
  }
  return nullptr;
}

/// Says what a call of each handler was taken to cost.
static void emitCosts(ProgramOp program, const dfrt::Program &object) {
  for (auto [op, stage] : llvm::zip(program.getStages(), object.stages)) {
    if (stage.kind == dfrt::StageKind::reshard)
      continue;
    remark::analysis(op->getLoc(), remark::RemarkOpts::name("cost")
                                       .category("dataflow")
                                       .function(stage.name))
        << remark::metric("FixedBytes", stage.cost.fixedBytes)
        << remark::metric("TileBytes", stage.cost.tileBytes)
        << remark::metric("FixedFlops", stage.cost.fixedFlops)
        << remark::metric("TileFlops", stage.cost.tileFlops);
  }
}

LogicalResult ScheduleProgramPass::run(ProgramOp program) {
  dfrt::ScheduleOptions options;
  options.solver = solver;
  FailureOr<dfrt::ScheduleOptions::Combine> combined =
      parseCombine(program, combine);
  if (failed(combined))
    return failure();
  options.combine = *combined;
  options.batchInvariant = batchInvariant;
  if (options.solver.empty())
    options.solver = dfrt::defaultSolver(options);
  const dfrt::Solver *chosen = findSolver(options.solver);
  if (!chosen && options.solver != dfrt::kBestSolver) {
    InFlightDiagnostic diagnostic = emitError(program.getLoc())
                                    << "unknown solver '" << options.solver
                                    << "'; known are";
    for (const dfrt::Solver &known : dfrt::solvers())
      diagnostic << " " << known.name;
    diagnostic << " " << dfrt::kBestSolver;
    return diagnostic;
  }
  if (Operation *taken = SymbolTable::lookupSymbolIn(program, name)) {
    InFlightDiagnostic diagnostic = emitError(program.getLoc())
                                    << "already has a symbol @" << name
                                    << "; name the schedule differently";
    diagnostic.attachNote(taken->getLoc()) << "it is here";
    return diagnostic;
  }

  FailureOr<dfrt::Problem> problem = importProblem(program);
  if (failed(problem))
    return failure();
  dfrt::Decisions decisions;
  if (!chosen) {
    dfrt::Expected<dfrt::ScheduleOptions> best =
        dfrt::chooseOptions(*problem, options, &decisions);
    if (!best)
      return emitStatus(program, best.status());
    options = *best;
    chosen = findSolver(options.solver);
  }
  dfrt::Expected<dfrt::Schedule> schedule =
      chosen->run(*problem, options, &decisions);
  if (!schedule)
    return emitStatus(program, schedule.status());

  ScheduleFrame frame;
  frame.name = name;
  frame.program = program.getSymName();
  frame.topology = TopologyAttr::get(&getContext(), problem->topology);
  for (StageOpInterface stage : program.getStages())
    frame.stages.push_back(stage.getStageName());
  OpBuilder builder = OpBuilder::atBlockEnd(&program.getBody().front());
  FailureOr<ScheduleOp> made =
      exportSchedule(builder, program.getLoc(), frame, *schedule);
  if (failed(made))
    return failure();
  emitCosts(program, problem->program);
  emitDecisions(*made, decisions);
  emitMetrics(*made, "schedule-program",
              {{"Instructions", schedule->instructions.size()},
               {"Slots", schedule->slots.size()},
               {"Bytes", problem->totalBytes()}});
  numInstructions += schedule->instructions.size();
  numSlots += schedule->slots.size();
  return success();
}
