//===- Smoke.h - Tests of the CUDA layer on a device ------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tests share a device, a stream and the loaded kernels. Each is a member
// that returns a failure, or says in `detail` what it found.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_SM90_SMOKE_H
#define DATAFLOW_TEST_SM90_SMOKE_H

#include "SmokeKernels.h"
#include "Try.h"

#include "dfrt/cuda/Graph.h"
#include "dfrt/cuda/TensorMap.h"
#include "dfrt/cuda/Watchdog.h"
#include "dfrt/cuda/Workspace.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace smoke {
using namespace dfrt;
using namespace dfrt::cuda;

inline Status wrong(const std::string &text) {
  return Status(StatusCode::verificationFailed, text);
}

inline double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Random bytes that are cheap to make.
struct Random {
  uint64_t state = 0x9e3779b97f4a7c15u;
  uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  }
  std::vector<uint32_t> words(size_t count) {
    std::vector<uint32_t> result(count);
    for (uint32_t &word : result)
      word = uint32_t(next() >> 16);
    return result;
  }
};

struct Options {
  std::string driver = Driver::kDefaultLibrary;
  int device = 0;
  uint32_t replays = 10000;
  uint32_t change = 10;
};

class Smoke {
public:
  explicit Smoke(const Options &options) : options(options) {}

  /// 0, 1 or 77.
  int run();

private:
  using Test = Status (Smoke::*)(std::string &detail);
  void test(const char *name, Test body);
  Status setUp();
  Expected<Function> kernel(const char *name);

  Status report(std::string &detail);
  Status fillAndCopy(std::string &detail);
  Status coldRead(std::string &detail);
  Status tensorMap(std::string &detail);
  Status clusters(std::string &detail);
  Status clusterFallback(std::string &detail);
  Status cooperativeClusters(std::string &detail);
  Status graphReplays(std::string &detail);
  Status graphRewrites(std::string &detail);
  Status workspace(std::string &detail);
  Status noLeak(std::string &detail);
  Status missingDriver(std::string &detail);
  Status wrongArchitecture(std::string &detail);
  Status wrongArchitectureText(std::string &detail);
  Status brokenText(std::string &detail);
  Status sharedMemory(std::string &detail);
  Status outOfMemory(std::string &detail);
  Status corruptCubin(std::string &detail);
  Status illegalAddress(std::string &detail);
  Status reopen(std::string &detail);

  Options options;
  std::shared_ptr<const Driver> driver;
  Device device;
  DeviceProbe probe;
  Stream stream;
  std::unique_ptr<ModuleCache> cache;
  int failures = 0;
};

inline CodeRequirements requirements(const char *name) {
  CodeRequirements code;
  code.name = name;
  code.architecture = "compute_90";
  code.threads = 256;
  return code;
}

/// Tests that a message has all that it promises: the CUDA call and its result
/// where there was one, our object, the next step.
inline Status expectWords(const std::string &message,
                          std::initializer_list<const char *> words) {
  for (const char *word : words)
    if (message.find(word) == std::string::npos)
      return wrong("'" + message + "' does not say '" + word + "'");
  return Status::success();
}

/// A success whose detail is the message of a failure that was expected.
inline Status expectFailure(const Status &status, StatusCode code,
                            std::string &detail,
                            std::initializer_list<const char *> words = {}) {
  if (status.ok())
    return wrong("it succeeded");
  detail = status.message();
  if (status.code() != code)
    return wrong("status " + std::to_string(int(status.code())) +
                 " instead of " + std::to_string(int(code)) + ": " +
                 status.message());
  return expectWords(detail, words);
}

/// Launches `observe` and compares what it saw with `shape`.
Status observe(const Device &device, const Function &function,
               const LaunchShape &shape, const Stream &stream);

} // namespace smoke

#endif // DATAFLOW_TEST_SM90_SMOKE_H
