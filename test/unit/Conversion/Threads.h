//===- Threads.h - Device functions on cooperative threads ------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a function on several threads that take turns: each runs until its next
// barrier or its end, then the next one does. Nothing is left to chance: where
// a barrier is missing between a write of one thread and a read of another,
// one of the orders `ascending` and `descending` has the reader run first.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_CONVERSION_THREADS_H
#define DATAFLOW_TEST_UNIT_CONVERSION_THREADS_H

#include <cstdint>
#include <functional>

namespace conversiontest {

enum class Order { ascending, descending, shuffled };

/// Calls `body` on each of `threads` threads. False if some ended while others
/// waited at a barrier.
bool runTogether(unsigned threads, Order order,
                 const std::function<void()> &body);

/// Calls of dfk_shuffle_xor by all threads since the last `runTogether` began.
unsigned countShuffles();

} // namespace conversiontest

/// What device code calls. Warps have 32 threads.
extern "C" int32_t dfk_thread();
extern "C" int32_t dfk_threads();
extern "C" void dfk_sync();
extern "C" int32_t dfk_warp();
extern "C" int32_t dfk_shuffle_xor(int32_t value, int32_t mask);

#endif // DATAFLOW_TEST_UNIT_CONVERSION_THREADS_H
