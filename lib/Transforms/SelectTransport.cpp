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
      return dfrt::selectTransports(problem, options, schedule, &decisions);
    };
    if (failed(changeSchedules(
            getOperation(), "select-transport", step,
            [&](const dfrt::Problem &problem, const dfrt::Schedule &schedule) {
              return count(problem, schedule);
            })))
      signalPassFailure();
  }

  SmallVector<Metric> count(const dfrt::Problem &problem,
                            const dfrt::Schedule &schedule) {
    uint64_t cluster = 0, global = 0, multicast = 0;
    for (const dfrt::Transfer &transfer : schedule.transfers) {
      uint64_t bytes = 0;
      for (uint32_t slot : schedule.destinationsOf(transfer))
        bytes += slotBytes(problem, schedule.slots[slot]);
      if (transfer.transport == dfrt::Transport::clusterShared)
        cluster += bytes;
      else if (transfer.transport == dfrt::Transport::global)
        global += bytes;
      else if (transfer.transport == dfrt::Transport::multicast)
        multicast += bytes;
    }
    numTransfers += schedule.transfers.size();
    clusterSharedBytes += cluster;
    globalBytes += global;
    multicastBytes += multicast;
    return {{"Transfers", schedule.transfers.size()},
            {"ClusterSharedBytes", cluster},
            {"GlobalBytes", global},
            {"MulticastBytes", multicast}};
  }
};

} // namespace
