//===- Topology.cpp - The device as the planner sees it ---------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests of a launch shape.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/Topology.h"

#include "dataflow/Schedule/Message.h"

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
