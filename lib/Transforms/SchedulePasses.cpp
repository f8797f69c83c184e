//===- SchedulePasses.cpp - What the schedule passes share ----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Diagnostics, remarks and the loop over the schedules of a program.
//
//===----------------------------------------------------------------------===//

#include "SchedulePasses.h"

#include "dataflow/Transforms/ProgramImport.h"
#include "dataflow/Transforms/ScheduleConversion.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::df;

InFlightDiagnostic mlir::df::emitProgramError(ProgramOp program) {
  return emitError(program.getLoc())
         << "program @" << program.getSymName() << ": ";
}

InFlightDiagnostic mlir::df::emitStatus(Operation *op,
                                        const dfrt::Status &status) {
  // Not `emitOpError`: that prints the whole program or schedule.
  return emitError(op->getLoc()) << status.message();
}

void mlir::df::emitDecisions(Operation *op, const dfrt::Decisions &decisions) {
  for (const dfrt::Decision &decision : decisions)
    remark::analysis(op->getLoc(),
                     remark::RemarkOpts::name(decision.topic)
                         .category("dataflow")
                         .function(SymbolTable::getSymbolName(op).getValue()))
        << remark::add("{0}: {1}", decision.choice, decision.reason);
}

void mlir::df::emitMetrics(Operation *op, StringRef pass,
                           ArrayRef<Metric> metrics) {
  remark::detail::InFlightRemark remark = remark::passed(
      op->getLoc(), remark::RemarkOpts::name(pass)
                        .category("dataflow")
                        .function(SymbolTable::getSymbolName(op).getValue()));
  for (const Metric &metric : metrics)
    remark << remark::metric(metric.name, metric.value);
}

LogicalResult mlir::df::changeSchedules(ProgramOp program, StringRef pass,
                                        ScheduleStep step,
                                        ScheduleMetrics metrics) {
  for (ScheduleOp op :
       llvm::to_vector(program.getBody().getOps<ScheduleOp>())) {
    FailureOr<dfrt::Problem> problem = importProblem(program, op.getTopology());
    if (failed(problem))
      return failure();
    FailureOr<dfrt::Schedule> schedule = importSchedule(op);
    if (failed(schedule))
      return failure();
    dfrt::Decisions decisions;
    if (dfrt::Status status = step(*problem, *schedule, decisions); !status)
      return emitStatus(op, status);
    FailureOr<ScheduleOp> changed = replaceSchedule(op, *schedule);
    if (failed(changed))
      return failure();
    emitDecisions(*changed, decisions);
    emitMetrics(*changed, pass, metrics(*problem, *schedule));
  }
  return success();
}

FailureOr<dfrt::ScheduleOptions::Combine>
mlir::df::parseCombine(Operation *op, StringRef word) {
  using Combine = dfrt::ScheduleOptions::Combine;
  std::optional<Combine> combine =
      llvm::StringSwitch<std::optional<Combine>>(word)
          .Case("automatic", Combine::automatic)
          .Case("scatter", Combine::scatter)
          .Case("fold", Combine::fold)
          .Case("tree", Combine::tree)
          .Default(std::nullopt);
  if (!combine)
    return emitError(op->getLoc())
           << "option 'combine' must be automatic, scatter, fold or "
              "tree, got '"
           << word << "'";
  return *combine;
}

FailureOr<dfrt::Transport> mlir::df::parseTransport(Operation *op,
                                                    StringRef word) {
  using dfrt::Transport;
  std::optional<Transport> transport =
      llvm::StringSwitch<std::optional<Transport>>(word)
          .Case("automatic", Transport::automatic)
          .Case("local", Transport::local)
          .Case("cluster_shared", Transport::clusterShared)
          .Case("global", Transport::global)
          .Case("multicast", Transport::multicast)
          .Default(std::nullopt);
  if (!transport)
    return emitError(op->getLoc())
           << "option 'transport' must be automatic, local, "
              "cluster_shared, global or multicast, got '"
           << word << "'";
  return *transport;
}
