//===- TensorMapTest.cpp - Tensor maps ------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"

#include "dfrt/cuda/TensorMap.h"

#include <functional>

using namespace dfrt;
using namespace dfrt::cuda;
using testing::AllOf;
using testing::HasSubstr;

namespace {
TensorMapDescription matrix() {
  TensorMapDescription map;
  map.name = "weights";
  map.element = MapElement::bf16;
  map.rank = 2;
  map.address = 0x10000;
  map.extents[0] = 4096;
  map.extents[1] = 1000;
  map.strides[1] = 8192;
  map.box[0] = 64;
  map.box[1] = 128;
  map.swizzle = MapSwizzle::b128;
  return map;
}

TEST_F(CudaTest, TensorMapIsMade) {
  TensorMap map = take(makeTensorMap(device, matrix()));
  EXPECT_EQ(map.words[1], 0x10000u);
  EXPECT_EQ(map.words[2], uint64_t(4096) << 16 | 64);
  EXPECT_EQ(map.words[3], uint64_t(1000) << 16 | 128);
  EXPECT_EQ(map.words[8], 8192u); // stride of dimension 1 comes first
  // Another pointer is another map and nothing else.
  TensorMapDescription moved = matrix();
  moved.address += 16;
  EXPECT_EQ(take(makeTensorMap(device, moved)).words[1], 0x10010u);
}

TEST_F(CudaTest, TensorMapErrorsAreNamed) {
  struct Case {
    std::function<void(TensorMapDescription &)> change;
    std::vector<const char *> words;
  };
  const Case cases[] = {
      {[](auto &m) { m.address = 0; }, {"address 0"}},
      {[](auto &m) { m.address = 0x10008; }, {"address", "multiple of 16"}},
      {[](auto &m) { m.rank = 0; }, {"rank 0"}},
      {[](auto &m) { m.rank = 6; }, {"rank 6", "1 to 5"}},
      {[](auto &m) { m.extents[1] = 0; }, {"dimension 1 is empty"}},
      {[](auto &m) { m.extents[1] = (1ull << 32) + 1; },
       {"dimension 1", "4294967297", "2^32"}},
      {[](auto &m) { m.strides[1] = 8200; },
       {"stride of dimension 1 is 8200", "multiple of 16"}},
      {[](auto &m) { m.strides[1] = 1ull << 40; }, {"2^40"}},
      {[](auto &m) { m.strides[1] = 0; }, {"stride of dimension 1 is 0"}},
      {[](auto &m) { m.box[1] = 257; }, {"257 elements in dimension 1"}},
      {[](auto &m) { m.box[0] = 0; }, {"0 elements in dimension 0"}},
      {[](auto &m) { m.box[0] = 60; }, {"120 bytes wide", "multiple of 16"}},
      {[](auto &m) { m.box[0] = 72; }, {"144 bytes wide", "swizzle's 128"}},
      {[](auto &m) { m.swizzle = MapSwizzle::b32; }, {"swizzle's 32"}},
      {[](auto &m) { m.element = MapElement(99); }, {"element 99"}},
      {[](auto &m) {
         m.element = MapElement::u16;
         m.fill = MapFill::nan;
       },
       {"NaN", "integer"}},
      {[](auto &m) { m.swizzle = MapSwizzle(4); }, {"swizzle 4"}},
  };
  for (const Case &test : cases) {
    TensorMapDescription map = matrix();
    test.change(map);
    Status status = makeTensorMap(device, map).status();
    EXPECT_EQ(status.code(), StatusCode::invalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("tensor map of 'weights'"));
    for (const char *word : test.words)
      EXPECT_THAT(status.message(), HasSubstr(word));
  }
  EXPECT_EQ(fake().calls("cuTensorMapEncodeTiled"), 0);
}

TEST_F(CudaTest, TensorMapLimitsAreLegal) {
  TensorMapDescription map = matrix();
  map.rank = 5;
  map.swizzle = MapSwizzle::none;
  for (uint32_t d = 0; d < 5; ++d) {
    map.extents[d] = 1ull << 32;
    map.strides[d] = (1ull << 40) - 16;
    map.box[d] = 256;
  }
  EXPECT_OK(checkTensorMap(map));
}

TEST_F(CudaTest, TensorMapRefusedByTheDriver) {
  fake().fail("cuTensorMapEncodeTiled", 1, api::Result::invalidValue);
  EXPECT_FAILURE(
      makeTensorMap(device, matrix()).status(), StatusCode::deviceError,
      AllOf(HasSubstr("tensor map of 'weights': cuTensorMapEncodeTiled"),
            HasSubstr("extents 4096 1000"), HasSubstr("box 64 128")));
  device = Device();
  fake().tensorMaps = 0;
  device = take(Device::open(driver));
  EXPECT_FAILURE(makeTensorMap(device, matrix()).status(),
                 StatusCode::unsupported, HasSubstr("has none"));
}
} // namespace
