//===- MathTest.cpp - Functions of the math dialect on devices ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device target's arithmetic for f32 functions against the C library's in
// double precision: over all exponents, near the points where a function loses
// accuracy, and for zeros, infinities, NaN and subnormal numbers.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace conversiontest;
using namespace mlir;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int64_t kCount = 1 << 14;

/// The distance of `value` from `exact` in units of the last place of the f32
/// next to `exact`.
double ulps(float value, double exact) {
  float rounded = float(exact);
  if (std::isnan(exact) || std::isinf(rounded) || std::isinf(value) ||
      std::isnan(value))
    return (std::isnan(exact) && std::isnan(value)) || value == rounded
               ? 0
               : kInfinity;
  int exponent;
  std::frexp(exact, &exponent);
  double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::fabs(double(value) - exact) / unit;
}

/// Numbers of all magnitudes up to `limit`, and the special ones.
std::vector<float> numbers(float limit) {
  std::vector<float> result = {0.0f,
                               -0.0f,
                               1.0f,
                               -1.0f,
                               0.5f,
                               2.0f,
                               kInfinity,
                               -kInfinity,
                               NAN,
                               std::numeric_limits<float>::denorm_min(),
                               -std::numeric_limits<float>::denorm_min(),
                               std::numeric_limits<float>::min() / 8,
                               std::numeric_limits<float>::max(),
                               std::numeric_limits<float>::lowest(),
                               88.72f,
                               88.73f,
                               -87.4f,
                               -103.9f,
                               -104.1f,
                               1.5707964f,
                               3.1415927f,
                               0.99999994f,
                               1.0000001f,
                               9.0f,
                               4.0f};
  for (float &x : result)
    if (std::isfinite(x) && std::fabs(x) > limit)
      x = limit;
  uint64_t state = 7;
  while (result.size() < kCount) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint32_t word = state >> 32;
    float x;
    switch (result.size() % 3) {
    case 0: // any bits
      std::memcpy(&x, &word, 4);
      break;
    case 1: // about 1
      x = 1 + std::ldexp(float(int32_t(word)), -33);
      break;
    default: // [-16, 16)
      x = std::ldexp(float(int32_t(word)), -27);
    }
    if (std::isnan(x) || std::fabs(x) <= limit)
      result.push_back(x);
  }
  return result;
}

/// Largest error, in ulp, of `math.<name>` against `exact`.
void check(const std::string &name, unsigned operands,
           const std::function<double(double, double)> &exact, double bound,
           float limit = kInfinity) {
  SCOPED_TRACE(name);
  std::string operation =
      name.find('.') == std::string::npos ? "math." + name : name;
  MLIRContext context;
  DialectRegistry registry;
  df::registerHandlerToLLVMDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  std::string vector = "tensor<" + std::to_string(kCount) + "xf32>";
  auto module = parseSourceString<ModuleOp>(
      "func.func @f(%x: " + vector + ", %y: " + vector + ", %o: " + vector +
          ") -> " + vector + " {\n  %z = " + operation + " %x" +
          (operands == 2 ? ", %y" : "") + " : " + vector +
          "\n  %p = tensor.insert_slice %z into %o[0] [" +
          std::to_string(kCount) + "] [1] : " + vector + " into " + vector +
          "\n  return %p : " + vector + "\n}\n",
      ParserConfig(&context));
  ASSERT_TRUE(module);
  df::HandlerFunction function;
  function.symbol = "f";
  function.body = &module->lookupSymbol<func::FuncOp>("f").getBody();
  function.operands = 2;
  function.outputs = 1;
  auto code = Code::compile({function}, df::HandlerTarget::device, context);
  ASSERT_TRUE(code);
  std::vector<float> x = numbers(limit), y(x.rbegin(), x.rend()), z(kCount);
  // Every special number with every other.
  for (size_t i = 0; i < 25 * 25 && operands == 2; ++i) {
    y[i] = x[i % 25];
    x[i + 25 * 25] = x[i / 25];
    y[i + 25 * 25] = y[i];
  }
  std::vector<std::vector<int64_t>> words;
  std::vector<void *> arguments;
  for (std::vector<float> *data : {&x, &y, &z})
    words.push_back({0, reinterpret_cast<int64_t>(data->data()), 0, kCount, 1});
  for (std::vector<int64_t> &descriptor : words)
    arguments.push_back(descriptor.data());
  std::vector<uint64_t> scratch(code->info("f").scratchBytes / 8 + 16);
  auto aligned = (reinterpret_cast<uintptr_t>(scratch.data()) + 63) & ~63ull;
  arguments.push_back(reinterpret_cast<void *>(aligned));
  ASSERT_TRUE(runTogether(1, Order::ascending,
                          [&] { code->find("f")(arguments.data()); }));
  double worst = 0;
  int64_t at = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    double error = ulps(z[i], exact(x[i], y[i]));
    if (error > worst) {
      worst = error;
      at = i;
    }
  }
  EXPECT_LE(worst, bound) << x[at] << ", " << y[at] << " gives " << z[at]
                          << ", expected " << exact(x[at], y[at]);
}

void check(const std::string &name, double (*exact)(double), double bound,
           float limit = kInfinity) {
  check(name, 1, [=](double x, double) { return exact(x); }, bound, limit);
}

} // namespace

// exp2 itself is an instruction of the device; here it is the C library's.
TEST(DeviceMath, Exponentials) {
  check("exp", std::exp, 2);
  check("expm1", std::expm1, 0.51);
}

TEST(DeviceMath, Logarithms) {
  check("log", std::log, 1);
  check("log2", std::log2, 1.5);
  check("log10", std::log10, 0.51);
  check("log1p", std::log1p, 0.51);
}

TEST(DeviceMath, Trigonometry) {
  check("sin", std::sin, 0.51, 0x1p31f);
  check("cos", std::cos, 0.51, 0x1p31f);
  check("tan", std::tan, 0.51, 0x1p31f);
  check("atan", std::atan, 0.51);
  check("asin", std::asin, 0.51);
  check("acos", std::acos, 0.51);
  check("atan2", 2, [](double y, double x) { return std::atan2(y, x); }, 0.51);
}

TEST(DeviceMath, Hyperbolics) {
  check("sinh", std::sinh, 0.51);
  check("cosh", std::cosh, 0.51);
  check("tanh", std::tanh, 0.51);
  check("asinh", std::asinh, 0.51);
  check("acosh", std::acosh, 0.51);
  check("atanh", std::atanh, 0.51);
}

TEST(DeviceMath, RootsAndPowers) {
  check("sqrt", std::sqrt, 0.51);
  check("rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1.5);
  check("cbrt", std::cbrt, 0.51);
  check("powf", 2, [](double x, double y) { return std::pow(x, y); }, 0.51);
}

TEST(DeviceMath, Remainder) {
  check("arith.remf", 2, [](double x, double y) { return std::fmod(x, y); }, 0);
}

TEST(DeviceMath, ErrorFunctions) {
  check("erf", std::erf, 4);
  check("erfc", std::erfc, 8);
}

TEST(DeviceMath, Rounding) {
  check("floor", std::floor, 0);
  check("ceil", std::ceil, 0);
  check("trunc", std::trunc, 0);
  check("roundeven", std::nearbyint, 0);
  check("round", std::round, 0);
  check("absf", std::fabs, 0);
}
