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

/// Transport requested for the records of `source` on their way to `reader`;
/// the request nearest the reader counts.
Transport requestedTransport(const Program &program, uint32_t reader,
                             uint32_t source);

/// Where the records of `source` are requested to be stored.
StageRequests::Memory requestedMemory(const Program &program, uint32_t source);

} // namespace detail
} // namespace dfrt

#endif // DATAFLOW_LIB_SCHEDULE_REQUESTS_H
