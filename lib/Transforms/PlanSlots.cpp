//===- PlanSlots.cpp - Places of slots ------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sets space, offset, barrier and flag of the slots of a program's schedules.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/Passes.h"

#include "SchedulePasses.h"

#include "dataflow/IR/Dataflow.h"

namespace mlir::df {
#define GEN_PASS_DEF_PLANSLOTS
#include "dataflow/Transforms/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;

namespace {

struct PlanSlotsPass : public df::impl::PlanSlotsBase<PlanSlotsPass> {
  using PlanSlotsBase::PlanSlotsBase;

  void runOnOperation() override {
    auto step = [](const dfrt::Problem &problem, dfrt::Schedule &schedule,
                   dfrt::Decisions &decisions) {
      return dfrt::planSlots(problem, schedule, &decisions);
    };
    auto count = [&](const dfrt::Problem &, const dfrt::Schedule &schedule) {
      numBarriers += schedule.barriers.size();
      numFlags += schedule.flags;
      peakSharedBytes.updateMax(schedule.sharedBytes);
      peakGlobalBytes.updateMax(schedule.globalBytes);
      return SmallVector<Metric>{{"Slots", schedule.slots.size()},
                                 {"Barriers", schedule.barriers.size()},
                                 {"Flags", schedule.flags},
                                 {"SharedBytes", schedule.sharedBytes},
                                 {"GlobalBytes", schedule.globalBytes}};
    };
    if (failed(changeSchedules(getOperation(), "plan-slots", step, count)))
      signalPassFailure();
  }
};

} // namespace
