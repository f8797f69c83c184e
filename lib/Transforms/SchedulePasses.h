//===- SchedulePasses.h - What the schedule passes share --------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The schedule passes are adapters: read program and schedule off the IR, run
// one step of the planner, write the schedule back.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TRANSFORMS_SCHEDULEPASSES_H
#define DATAFLOW_LIB_TRANSFORMS_SCHEDULEPASSES_H

#include "dataflow/IR/Dataflow.h"
#include "dataflow/Schedule/Schedulers.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::df {

/// An error about a whole program. Not `emitOpError`, which would print it.
InFlightDiagnostic emitProgramError(ProgramOp program);

/// Emits the planner's failure as an error on `op`.
InFlightDiagnostic emitStatus(Operation *op, const dfrt::Status &status);

/// Emits the planner's decisions as analysis remarks of category `dataflow`.
void emitDecisions(Operation *op, const dfrt::Decisions &decisions);

/// A number that a pass reports.
struct Metric {
  StringRef name;
  uint64_t value;
};

/// Emits what a pass made as a remark of category `dataflow`: pass statistics
/// are empty in release builds of LLVM.
void emitMetrics(Operation *op, StringRef pass, ArrayRef<Metric> metrics);

/// Takes the problem that a schedule was made for and the schedule.
using ScheduleStep = llvm::function_ref<dfrt::Status(
    const dfrt::Problem &, dfrt::Schedule &, dfrt::Decisions &)>;
/// Says what a finished step made.
using ScheduleMetrics = llvm::function_ref<SmallVector<Metric>(
    const dfrt::Problem &, const dfrt::Schedule &)>;

/// Runs `step` on every schedule of `program`, writes the result back and
/// reports decisions and metrics in the name of `pass`. A failure of the step
/// is an error on the schedule.
LogicalResult changeSchedules(ProgramOp program, StringRef pass,
                              ScheduleStep step, ScheduleMetrics metrics);

/// The values of pass options. Fail, with a diagnostic on `op`, on a word that
/// is none of those that are listed.
FailureOr<dfrt::ScheduleOptions::Combine> parseCombine(Operation *op,
                                                       StringRef word);
FailureOr<dfrt::Transport> parseTransport(Operation *op, StringRef word);

} // namespace mlir::df

#endif // DATAFLOW_LIB_TRANSFORMS_SCHEDULEPASSES_H
