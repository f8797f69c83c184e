//===- Requests.h - Requests that reach a record ----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A request on a reshard concerns the records of the stage behind it.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_SCHEDULE_REQUESTS_H
#define DATAFLOW_LIB_SCHEDULE_REQUESTS_H

#include "dataflow/Schedule/Program.h"

namespace dfrt {
namespace detail {

/// The stage behind reshards that made the records of `stage`.
uint32_t recordSource(const Program &program, uint32_t stage);

/// Memory that a stage's own requests demand: resident records stay in the
/// shared memory of the CTA that made them.
StageRequests::Memory ownMemory(const StageRequests &requests);

/// Tests that no request is malformed and that no two contradict each other.
/// The stages' indices must be in order.
Status checkRequests(const Program &program);

/// Transport requested for the records of `source` on their way to `reader`.
Transport requestedTransport(const Program &program, uint32_t reader,
                             uint32_t source);

/// Where the records of `source` are requested to be stored.
StageRequests::Memory requestedMemory(const Program &program, uint32_t source);

} // namespace detail
} // namespace dfrt

#endif // DATAFLOW_LIB_SCHEDULE_REQUESTS_H
