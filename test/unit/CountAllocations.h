//===- CountAllocations.h - Heap allocations of a thread --------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that links CountAllocations.cpp has its global operator new
// replaced by one that counts (under a sanitizer: keeps the sanitizer's, and
// counts nothing).
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_COUNTALLOCATIONS_H
#define DATAFLOW_TEST_UNIT_COUNTALLOCATIONS_H

#include <cstdint>

namespace dfrt {
namespace test {

/// Calls of operator new by this thread so far.
uint64_t allocationCount();

} // namespace test
} // namespace dfrt

#endif // DATAFLOW_TEST_UNIT_COUNTALLOCATIONS_H
