//===- Streams.h - Tests of the streaming kernels ---------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_SM90_STREAMS_H
#define DATAFLOW_TEST_SM90_STREAMS_H

#include "Bench.h"

namespace bench {

/// Fills and copies of one byte to 64 MiB, byte for byte; time of a large copy.
dfrt::Status testFillAndCopy(Bench &bench);

/// Every byte comes, whatever the ring of stages.
dfrt::Status testColdRead(Bench &bench);

/// Event time with a cold L2, for several sizes and rings, against the floor.
dfrt::Status timeColdRead(Bench &bench);

} // namespace bench

#endif // DATAFLOW_TEST_SM90_STREAMS_H
