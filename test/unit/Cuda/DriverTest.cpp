//===- DriverTest.cpp - Opening the driver --------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"

using namespace dfrt;
using namespace dfrt::cuda;
using testing::AllOf;
using testing::HasSubstr;

namespace {
class DriverTest : public testing::Test {
protected:
  void SetUp() override { fake().reset(); }
  Status open() { return Driver::open(DATAFLOW_TEST_FAKE_DRIVER).status(); }
};

TEST_F(DriverTest, Opens) {
  std::shared_ptr<const Driver> driver =
      take(Driver::open(DATAFLOW_TEST_FAKE_DRIVER));
  EXPECT_EQ(driver->version(), 13000);
  EXPECT_EQ(driver->versionText(), "13.0");
  EXPECT_EQ(driver->deviceCount(), 1);
}

TEST_F(DriverTest, MissingDriver) {
  EXPECT_FAILURE(Driver::open("libcuda-nowhere.so.1").status(),
                 StatusCode::unsupported,
                 AllOf(HasSubstr("libcuda-nowhere.so.1"), HasSubstr("dlopen"),
                       HasSubstr("install the NVIDIA driver")));
}

TEST_F(DriverTest, NoDriverAtAll) {
  EXPECT_FAILURE(Driver::open("libm.so.6").status(), StatusCode::unsupported,
                 AllOf(HasSubstr("cuInit"), HasSubstr("not a CUDA driver")));
}

TEST_F(DriverTest, OldDriver) {
  fake().version = 11080;
  EXPECT_FAILURE(open(), StatusCode::unsupported,
                 AllOf(HasSubstr("is for CUDA 11.8"), HasSubstr("12.0"),
                       HasSubstr("update the NVIDIA driver")));
}

TEST_F(DriverTest, MissingSymbol) {
  EXPECT_FAILURE(Driver::open(DATAFLOW_TEST_PARTIAL_DRIVER).status(),
                 StatusCode::unsupported,
                 AllOf(HasSubstr("cuTensorMapEncodeTiled"),
                       HasSubstr("reinstall the NVIDIA driver")));
}

TEST_F(DriverTest, NoDevice) {
  fake().fail("cuInit", 1, api::Result::noDevice);
  EXPECT_FAILURE(open(), StatusCode::unsupported,
                 AllOf(HasSubstr("cuInit failed with CUDA_ERROR_NO_DEVICE "
                                 "(100)"),
                       HasSubstr("CUDA_VISIBLE_DEVICES")));
  fake().devices = 0;
  EXPECT_FAILURE(open(), StatusCode::unsupported, HasSubstr("sees no device"));
}

TEST_F(DriverTest, UnknownResultHasItsNumber) {
  fake().fail("cuDeviceGetCount", 1, static_cast<api::Result>(4711));
  EXPECT_FAILURE(open(), StatusCode::deviceError,
                 HasSubstr("an unknown result (4711)"));
}
} // namespace
