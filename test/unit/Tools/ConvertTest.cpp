//===- ConvertTest.cpp - Element types against exhaustive enumeration ---===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Convert.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

using namespace dfrt;

namespace {

struct Format {
  const char *name;
  SmallFloat format;
  unsigned codes;
};
const Format kFormats[] = {{"f16", kF16, 0x8000},
                           {"bf16", kBF16, 0x8000},
                           {"f8E4M3FN", kF8E4M3FN, 0x80},
                           {"f8E5M2", kF8E5M2, 0x80}};

TEST(Convert, KnownCodes) {
  EXPECT_EQ(encodeSmall(kF16, 1.0), 0x3c00);
  EXPECT_EQ(encodeSmall(kF16, -2.0), 0xc000);
  EXPECT_EQ(encodeSmall(kF16, 65504.0), 0x7bff);
  EXPECT_EQ(encodeSmall(kF16, 65519.999), 0x7bff);
  EXPECT_EQ(encodeSmall(kF16, 65520.0), 0x7c00);
  EXPECT_EQ(encodeSmall(kF16, 0x1p-24), 0x0001);
  EXPECT_EQ(encodeSmall(kF16, 0x1p-25), 0x0000); // tie to even
  EXPECT_EQ(encodeSmall(kF16, 0x1.8p-24), 0x0002);
  EXPECT_EQ(encodeSmall(kBF16, 1.0), 0x3f80);
  EXPECT_EQ(encodeSmall(kBF16, 3.140625), 0x4049);
  EXPECT_EQ(encodeSmall(kBF16, 1e39), 0x7f80);
  EXPECT_EQ(encodeSmall(kF8E4M3FN, 1.0), 0x38);
  EXPECT_EQ(encodeSmall(kF8E4M3FN, 448.0), 0x7e);
  EXPECT_EQ(encodeSmall(kF8E4M3FN, 464.0), 0x7e); // tie to even
  EXPECT_EQ(encodeSmall(kF8E4M3FN, 465.0), 0x7f); // no infinity
  EXPECT_EQ(encodeSmall(kF8E4M3FN, 1e300), 0x7f);
  EXPECT_EQ(encodeSmall(kF8E5M2, 57344.0), 0x7b);
  EXPECT_EQ(encodeSmall(kF8E5M2, 61440.0), 0x7c);
  EXPECT_EQ(encodeSmall(kF8E5M2, -0.0), 0x80);
}

TEST(Convert, EveryCodeSurvives) {
  for (const Format &f : kFormats)
    for (unsigned code = 0; code < 2 * f.codes; ++code) {
      double value = decodeSmall(f.format, code);
      uint16_t back = encodeSmall(f.format, value);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decodeSmall(f.format, back))) << f.name;
      else
        EXPECT_EQ(back, code) << f.name << " " << value;
    }
}

// The midpoint of two neighbours goes to the even code, anything beside it to
// the nearer one.
TEST(Convert, MidpointsRoundToEven) {
  for (const Format &f : kFormats)
    for (unsigned code = 0; code < f.format.largest; ++code) {
      double low = decodeSmall(f.format, code);
      double high = decodeSmall(f.format, code + 1);
      double middle = (low + high) / 2; // exact: few bits
      EXPECT_EQ(encodeSmall(f.format, middle), code + (code & 1)) << f.name;
      EXPECT_EQ(encodeSmall(f.format, std::nextafter(middle, low)), code);
      EXPECT_EQ(encodeSmall(f.format, std::nextafter(middle, high)), code + 1);
      EXPECT_EQ(encodeSmall(f.format, -middle),
                (code + (code & 1)) | f.format.sign);
    }
}

RC_GTEST_PROP(Convert, NoOtherCodeIsNearer, (uint64_t bits)) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  for (const Format &f : kFormats) {
    double near = decodeSmall(f.format, encodeSmall(f.format, value));
    if (!std::isfinite(value) || !std::isfinite(near))
      continue;
    uint16_t code = encodeSmall(f.format, std::fabs(value));
    for (int other : {code - 1, code + 1})
      if (other >= 0 && other <= f.format.largest)
        RC_ASSERT(
            std::fabs(std::fabs(value) - std::fabs(near)) <=
            std::fabs(std::fabs(value) -
                      decodeSmall(f.format, static_cast<uint16_t>(other))));
  }
}

TEST(Convert, SpecialValues) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (ElementType type :
       {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16,
        ElementType::f8E4M3FN, ElementType::f8E5M2}) {
    double storage[4];
    storeElement(type, storage, 1, nan);
    EXPECT_TRUE(std::isnan(loadElement(type, storage, 1)));
    storeElement(type, storage, 1, -inf);
    if (type == ElementType::f8E4M3FN)
      EXPECT_TRUE(std::isnan(loadElement(type, storage, 1)));
    else
      EXPECT_EQ(loadElement(type, storage, 1), -inf);
    storeElement(type, storage, 1, 0x1p-1060);
    if (type != ElementType::f64)
      EXPECT_EQ(loadElement(type, storage, 1), 0.0);
  }
}

TEST(Convert, Integers) {
  int64_t storage[4];
  const int64_t large = (int64_t(1) << 62) + 1;
  storeInteger(ElementType::i64, storage, 2, large);
  EXPECT_EQ(loadInteger(ElementType::i64, storage, 2), large);
  storeInteger(ElementType::i32, storage, 3, -7);
  EXPECT_EQ(loadInteger(ElementType::i32, storage, 3), -7);
  storeInteger(ElementType::i16, storage, 0, 65535);
  EXPECT_EQ(loadInteger(ElementType::i16, storage, 0), -1);
  storeElement(ElementType::i8, storage, 5, -3.0);
  EXPECT_EQ(loadElement(ElementType::i8, storage, 5), -3.0);
  storeInteger(ElementType::i1, storage, 0, 1);
  EXPECT_EQ(loadElement(ElementType::i1, storage, 0), 1.0);
}

} // namespace
