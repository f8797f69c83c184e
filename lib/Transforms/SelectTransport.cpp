//===- SelectTransport.cpp - How records travel between CTAs --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds transfers and destination slots to the schedules of a program.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/Passes.h"

#include "SchedulePasses.h"

#include "dataflow/IR/Dataflow.h"

namespace mlir::df {
#define GEN_PASS_DEF_SELECTTRANSPORT
#include "dataflow/Transforms/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;

namespace {

struct SelectTransportPass
    : public df::impl::SelectTransportBase<SelectTransportPass> {
  using SelectTransportBase::SelectTransportBase;

  void runOnOperation() override {
    dfrt::ScheduleOptions options;
    FailureOr<dfrt::Transport> forced =
        parseTransport(getOperation(), transport);
    if (failed(forced))
      return signalPassFailure();
    options.transport = *forced;
    auto step = [&](const dfrt::Problem &problem, dfrt::Schedule &schedule,
                    dfrt::Decisions &decisions) {
      dfrt::Status status =
          dfrt::selectTransports(problem, options, schedule, &decisions);
      if (status)
        count(problem, schedule);
      return status;
    };
    if (failed(changeSchedules(getOperation(), step)))
      signalPassFailure();
  }

  void count(const dfrt::Problem &problem, const dfrt::Schedule &schedule) {
    numTransfers += schedule.transfers.size();
    for (const dfrt::Transfer &transfer : schedule.transfers) {
      uint64_t bytes = slotBytes(problem, schedule.slots[transfer.source]) *
                       transfer.destinationCount;
      if (transfer.transport == dfrt::Transport::clusterShared)
        clusterSharedBytes += bytes;
      else if (transfer.transport == dfrt::Transport::global)
        globalBytes += bytes;
      else if (transfer.transport == dfrt::Transport::multicast)
        multicastBytes += bytes;
    }
  }
};

} // namespace
