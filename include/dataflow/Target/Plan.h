//===- Plan.h - Schedules as plan bytes and back ----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule in its program is packed like the runtime packs it: from the
// problem, with room for exactly what it holds. Plan bytes become a schedule at
// module level, which names what the program would tell; packing that gives the
// same bytes, their room included.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TARGET_PLAN_H
#define DATAFLOW_TARGET_PLAN_H

#include "dataflow/IR/Dataflow.h"
#include "dfrt/PlanImage.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
}

namespace mlir::df {

/// Name of the attribute on a module-level schedule that holds the capacities
/// of the plan's sections, where they are more than what is used.
inline constexpr llvm::StringLiteral kCapacityAttr = "dataflow.capacity";

/// What a plan of `schedule` says. Fails, with a diagnostic, on a schedule that
/// cannot be read.
FailureOr<dfrt::PlanImage> importPlanImage(ScheduleOp schedule);

/// The only schedule in `root`, or the one called `name`. Fails, with a
/// diagnostic, when there is none, and when there are several and no name.
FailureOr<ScheduleOp> findSchedule(Operation *root, StringRef name);

/// Packs the only schedule in `root` or the one called `name`. Fails, with a
/// diagnostic, when there is none, when there are several and no name, and on
/// whatever the packer refuses.
FailureOr<std::vector<uint8_t>> exportPlan(Operation *root,
                                           StringRef name = "");

/// A module with the schedule of the plan `bytes`. Null, after a diagnostic,
/// when the bytes are not a plan.
OwningOpRef<ModuleOp> importPlan(ArrayRef<uint8_t> bytes, MLIRContext *context);

/// Registers the dialects of files with schedules and their programs.
void registerScheduleDialects(DialectRegistry &registry);

/// Register `--dataflow-to-plan` and `--plan-to-dataflow`. `scheduleName` gives
/// the name of the schedule to pack; without it, there may be only one.
void registerToPlanTranslation(
    std::function<std::string()> scheduleName = nullptr);
void registerFromPlanTranslation();

/// Register `--schedule-to-html` and `--schedule-to-dot`: pictures of a
/// schedule (dataflow/View/ScheduleView.h), in its program with predicted
/// times.
void registerScheduleViewTranslations(
    std::function<std::string()> scheduleName = nullptr);

} // namespace mlir::df

#endif // DATAFLOW_TARGET_PLAN_H
