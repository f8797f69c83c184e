//===- Threads.h - Run a body on several threads ----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The standard library reports a lack of threads or memory by an exception,
// which must neither leave a thread nor lose one.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CPU_THREADS_H
#define DFRT_LIB_CPU_THREADS_H

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace dfrt::cpu {

/// `requested` threads, or as many as there are processors when it is 0.
inline uint32_t threadCount(uint32_t requested) {
  return requested ? requested
                   : std::max(1u, std::thread::hardware_concurrency());
}

/// Calls `body` on the calling thread and on up to `count` - 1 others, fewer
/// when the system has no more. When a call throws, `failed` is called instead
/// of the rest of it.
template <typename Body, typename Failed>
void runOnThreads(uint64_t count, Body body, Failed failed) {
  auto guarded = [&] {
    try {
      body();
    } catch (...) {
      failed();
    }
  };
  std::vector<std::thread> pool;
  try {
    pool.reserve(count);
    for (uint64_t t = 1; t < count; ++t)
      pool.emplace_back(guarded);
  } catch (...) {
    // Those that have started do the work.
  }
  guarded();
  for (std::thread &thread : pool)
    thread.join();
}

} // namespace dfrt::cpu

#endif // DFRT_LIB_CPU_THREADS_H
