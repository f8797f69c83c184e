//===- Topology.cpp - The device as the planner sees it ---------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests of a launch shape and of constants, and read rates.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/Topology.h"

#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <utility>

using namespace dfrt;

Status dfrt::check(const Topology &topology) {
  constexpr uint32_t maximum = 65536;
  if (topology.ctas == 0 || topology.ctas > maximum)
    return invalidArgument("topology has ", topology.ctas,
                           " CTAs, expected 1 to ", maximum);
  uint32_t size = topology.clusterSize;
  if (size == 0 || size > 16 || (size & (size - 1)))
    return invalidArgument("cluster size is ", size,
                           ", expected 1, 2, 4, 8 or 16");
  if (topology.ctas % size)
    return invalidArgument("cluster size ", size, " does not divide ",
                           topology.ctas, " CTAs");
  if (topology.reservedBytes > topology.sharedBytes)
    return invalidArgument("topology reserves ", topology.reservedBytes,
                           " bytes of ", topology.sharedBytes,
                           " bytes of shared memory");
  return Status::success();
}

Status dfrt::check(const CostModel &costs) {
  const std::pair<const char *, double> positive[] = {
      {"clockGHz", costs.clockGHz},
      {"bandwidth", costs.bandwidth},
      {"ctaBandwidth", costs.ctaBandwidth},
      {"flops", costs.flops},
      {"clusterBytesPerCycle", costs.clusterBytesPerCycle},
      {"globalBytesPerCycle", costs.globalBytesPerCycle}};
  for (const auto &[name, value] : positive)
    if (!(value > 0 && value < 1e18))
      return invalidArgument("cost ", name, " is ", value,
                             ", expected a positive number");
  const std::pair<const char *, double> others[] = {
      {"launchNs", costs.launchNs},
      {"startNs", costs.startNs},
      {"exitNs", costs.exitNs},
      {"recordWeight", costs.recordWeight},
      {"clusterHopCycles", costs.clusterHopCycles},
      {"globalHopCycles", costs.globalHopCycles},
      {"instructionNs", costs.instructionNs},
      {"drawNs", costs.drawNs}};
  for (const auto &[name, value] : others)
    if (!(value >= 0 && value < 1e18))
      return invalidArgument("cost ", name, " is ", value,
                             ", expected 0 or more");
  double before = 0;
  for (const ReadRate &rate : costs.readRates) {
    if (!(rate.ctas > before && rate.ctas < 1e9))
      return invalidArgument("cost readRates has ", rate.ctas, " CTAs behind ",
                             before, ", expected more");
    if (!(rate.bandwidth > 0 && rate.bandwidth < 1e18))
      return invalidArgument("cost readRates is ", rate.bandwidth, " for ",
                             rate.ctas, " CTAs, expected a positive number");
    before = rate.ctas;
  }
  return Status::success();
}

double CostModel::readRate(double ctas) const {
  if (readRates.empty())
    return std::min(ctaBandwidth, bandwidth / ctas);
  ReadRate low{}, high = readRates.back();
  for (const ReadRate &rate : readRates) {
    if (rate.ctas >= ctas) {
      high = rate;
      break;
    }
    low = rate;
  }
  if (low.ctas >= high.ctas)
    return high.bandwidth / ctas;
  double share = (ctas - low.ctas) / (high.ctas - low.ctas);
  return (low.bandwidth + share * (high.bandwidth - low.bandwidth)) / ctas;
}
