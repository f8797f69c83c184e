//===- CudaTest.h - Fixture over the fake CUDA driver -----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every test gets a fresh device, and fails if an object of the driver is left
// over at its end, or a context is left pushed.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_CUDA_CUDATEST_H
#define DATAFLOW_TEST_CUDA_CUDATEST_H

#include "FakeDriver.h"

#include "dfrt/cuda/Device.h"
#include "dfrt/cuda/Module.h"
#include "dfrt/cuda/Stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace dfrt::cuda {

/// The fake's switches.
FakeDriver &fake();

/// A minimal cubin, with `extra` bytes of one section.
std::vector<char> makeCubin(size_t extra = 64);

/// Requirements that the fake device meets.
CodeRequirements anyCode(const std::string &name = "code");

class CudaTest : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  /// A kernel of the fake, and a stream.
  Function kernel(const std::string &name = "kernel");
  Stream stream(const std::string &name = "s");

  std::shared_ptr<const Driver> driver;
  Device device;
  bool mayLeak = false; ///< the context stays lost: nothing can be released
};

/// Value of an Expected; the test fails when there is none.
template <typename T>
T take(Expected<T> value) {
  EXPECT_TRUE(bool(value)) << value.status().message();
  return std::move(*value);
}

#define EXPECT_OK(expression)                                                  \
  do {                                                                         \
    ::dfrt::Status status_ = (expression);                                     \
    EXPECT_TRUE(status_.ok()) << status_.message();                            \
  } while (false)

/// A status of this code whose message matches `matcher`.
#define EXPECT_FAILURE(expression, wantedCode, matcher)                        \
  do {                                                                         \
    ::dfrt::Status status_ = (expression);                                     \
    EXPECT_EQ(status_.code(), wantedCode) << status_.message();                \
    EXPECT_THAT(status_.message(), matcher);                                   \
  } while (false)

} // namespace dfrt::cuda

#endif // DATAFLOW_TEST_CUDA_CUDATEST_H
