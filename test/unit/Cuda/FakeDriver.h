//===- FakeDriver.h - Switches of the fake CUDA driver ----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared library with the driver's entry points that keeps device memory in
// host memory, counts its objects and calls, and fails where it is told to.
// Kernels do nothing. Work in streams runs at once, or, on `holdStreams`, when
// it is waited for or released: copies then read their source at that time.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_CUDA_FAKEDRIVER_H
#define DATAFLOW_TEST_CUDA_FAKEDRIVER_H

#include "cuda/DriverTypes.h"

#include <cstdint>

/// Exported as `fakeDriver`.
struct FakeDriver {
  /// The device; `reset` gives the values of a plausible one back.
  int version, devices;
  int capabilityMajor, capabilityMinor, multiprocessors, sharedOptin;
  int cooperative, clusters, tensorMaps;
  int largestCluster;                            ///< larger ones are refused
  int cooperativeClusters;                       ///< 0: refused together
  int staticShared, maxThreads, requiredCluster; ///< of every kernel
  uint64_t memoryBytes;
  int primaryActive; ///< somebody else has the primary context
  int resetRecovers; ///< 0: a lost context stays lost
  int holdStreams;
  int unifiedCopies; ///< copy nodes call both sides unified
  int foreignNodes;  ///< copy nodes name another source: none is recognised

  /// The `nth` call of `function` from now on (1: the next) gives `result`.
  void (*fail)(const char *function, int nth, dfrt::cuda::api::Result result);
  /// From now on every call in the context gives `result`, until a reset.
  void (*lose)(dfrt::cuda::api::Result result);
  /// Runs what streams hold.
  void (*runStreams)();
  void (*reset)();

  /// Calls of a function since the last reset.
  int (*calls)(const char *function);
  /// Objects alive: "memory", "host", "module", "stream", "event", "graph",
  /// "exec", "context" (references) and "depth" (contexts pushed).
  int (*alive)(const char *kind);

  /// The last launch.
  unsigned lastCtas, lastThreads, lastCluster, lastShared;
  int lastCooperative;
  int lastStatesCluster; ///< the cluster dimension was given
  /// Size of the first parameter of every kernel with so many threads (0: any),
  /// and its bytes at the last launch; size 0: not looked at.
  unsigned parameterBytes, parameterThreads;
  unsigned char lastParameter[4096];
  /// Called at each launch with the first parameter, if it is looked at.
  void (*onLaunch)(const unsigned char *parameter);
  uint64_t memoryUsed;
  /// Whether the last image ended in a zero where PTX was given.
  int lastImageText;
};

extern "C" FakeDriver *fakeDriver();

#endif // DATAFLOW_TEST_CUDA_FAKEDRIVER_H
