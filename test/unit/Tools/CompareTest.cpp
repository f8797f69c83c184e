//===- CompareTest.cpp - What counts as a wrong output ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace dfrt;

namespace {

const double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

BoundArgument output(ElementType element, std::vector<int64_t> shape) {
  BoundArgument argument;
  argument.name = "out";
  argument.element = element;
  argument.output = true;
  argument.shape = std::move(shape);
  return argument;
}

OutputCheck compare(std::vector<double> values, std::vector<double> reference,
                    double tolerance = 1e-3) {
  return compareOutput(
      output(ElementType::f64, {static_cast<int64_t>(values.size())}),
      values.data(), reference.data(), tolerance);
}

TEST(Compare, RelativeL2) {
  OutputCheck check = compare({3.0, 4.0}, {3.0, 4.5}, 0.1);
  EXPECT_NEAR(check.relativeL2, 0.5 / std::sqrt(9 + 20.25), 1e-12);
  EXPECT_TRUE(check.passed);
  EXPECT_FALSE(compare({3.0, 4.0}, {3.0, 4.5}, 0.09).passed);
}

TEST(Compare, ZeroReferenceIsAbsolute) {
  EXPECT_TRUE(compare({0.0}, {0.0}, 0).passed);
  EXPECT_FALSE(compare({0.5}, {0.0}, 0.1).passed);
}

TEST(Compare, SpecialValuesMustStandInTheSamePlaces) {
  EXPECT_TRUE(compare({-kInf, kNaN, 1}, {-kInf, kNaN, 1}).passed);
  EXPECT_EQ(compare({-kInf, kNaN, 1}, {-kInf, kNaN, 1}).special, 2u);
  EXPECT_FALSE(compare({kInf, 1}, {-kInf, 1}).passed);
  EXPECT_FALSE(compare({kNaN, 1}, {0, 1}).passed);
  EXPECT_FALSE(compare({0, 1}, {kNaN, 1}).passed);
  OutputCheck check = compare({1, 2, kNaN, 4, kNaN, 6}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(check.mismatched, 2u);
  EXPECT_EQ(check.firstMismatch, "[2]: nan instead of 3");
}

TEST(Compare, IntegersAreExact) {
  int32_t values[] = {1, 2, 3, 4}, reference[] = {1, 2, 3, 5};
  OutputCheck check =
      compareOutput(output(ElementType::i32, {2, 2}), values, reference, 1);
  EXPECT_FALSE(check.passed);
  EXPECT_EQ(check.firstMismatch, "[1, 1]: 4 instead of 5");
}

TEST(Compare, EmptyOutputPasses) {
  EXPECT_TRUE(
      compareOutput(output(ElementType::f16, {0, 8}), nullptr, nullptr, 0)
          .passed);
}

} // namespace
