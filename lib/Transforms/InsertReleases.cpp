//===- InsertReleases.cpp - Releases that memory reuse needs --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds releases and the exit barrier to the schedules of a program.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/Passes.h"

#include "SchedulePasses.h"

#include "dataflow/IR/Dataflow.h"

namespace mlir::df {
#define GEN_PASS_DEF_INSERTRELEASES
#include "dataflow/Transforms/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;

namespace {

struct InsertReleasesPass
    : public df::impl::InsertReleasesBase<InsertReleasesPass> {
  using InsertReleasesBase::InsertReleasesBase;

  void runOnOperation() override {
    auto step = [](const dfrt::Problem &problem, dfrt::Schedule &schedule,
                   dfrt::Decisions &) {
      return dfrt::insertReleases(problem, schedule);
    };
    auto count = [&](const dfrt::Problem &, const dfrt::Schedule &schedule) {
      numReleases += schedule.releases.size();
      return SmallVector<Metric>{{"Releases", schedule.releases.size()},
                                 {"ExitBarrier", schedule.exitBarrier}};
    };
    if (failed(changeSchedules(getOperation(), "insert-releases", step, count)))
      signalPassFailure();
  }
};

} // namespace
