//===- FloatTest.cpp - Conversions against APFloat ------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every 8-bit and 16-bit number is extended, and numbers around every boundary
// of the narrow formats are rounded, and compared with llvm::APFloat: equal
// bits, but for NaNs, which must be NaNs of the same sign.
//
//===----------------------------------------------------------------------===//

#include "CPU/Loaded.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <cstring>
#include <random>

using namespace cputest;
using llvm::APFloat;
using llvm::APInt;

namespace {

struct Format {
  const char *name;
  const llvm::fltSemantics &semantics;
  unsigned bits;
};

const Format kNarrow[] = {
    {"f16", APFloat::IEEEhalf(), 16},
    {"bf16", APFloat::BFloat(), 16},
    {"f8E4M3FN", APFloat::Float8E4M3FN(), 8},
    {"f8E5M2", APFloat::Float8E5M2(), 8},
};

/// A body that converts `count` numbers, element by element.
std::string conversion(const std::string &from, const std::string &to,
                       const std::string &op, size_t count) {
  std::string n = std::to_string(count);
  return "func.func @convert(%in: tensor<" + n + "x" + from +
         ">, %out: tensor<" + n + "x" + to + ">) -> tensor<" + n + "x" + to +
         "> {\n"
         "  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, "
         "affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} ins(%in : "
         "tensor<" +
         n + "x" + from + ">) outs(%out : tensor<" + n + "x" + to +
         ">) {\n"
         "  ^bb0(%a: " +
         from + ", %b: " + to + "):\n    %c = arith." + op + " %a : " + from +
         " to " + to + "\n    linalg.yield %c : " + to + "\n  } -> tensor<" +
         n + "x" + to + ">\n  return %r : tensor<" + n + "x" + to + ">\n}\n";
}

std::vector<uint64_t> run(const std::string &from, unsigned fromBits,
                          const std::string &to, unsigned toBits,
                          const std::string &op,
                          const std::vector<uint64_t> &values) {
  Source source(conversion(from, to, op, values.size()));
  mlir::df::HandlerFunction function = source.function("convert");
  function.operands = 1;
  function.outputs = 1;
  auto blob = mlir::df::compileForCPU(function, Kind::cpu,
                                      mlir::UnknownLoc::get(&source.context));
  std::vector<uint64_t> results(values.size());
  EXPECT_TRUE(mlir::succeeded(blob)) << source.errors;
  if (mlir::failed(blob))
    return results;
  Library library(*blob);
  std::vector<uint8_t> in(values.size() * fromBits / 8);
  std::vector<uint8_t> out(values.size() * toBits / 8);
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(&in[i * fromBits / 8], &values[i], fromBits / 8);
  int64_t size = values.size();
  Descriptor a(in.data(), {size}), b(out.data(), {size});
  library.call("convert", {a.words.data(), b.words.data()});
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(&results[i], &out[i * toBits / 8], toBits / 8);
  return results;
}

/// Compares with APFloat.
void check(const char *what, const llvm::fltSemantics &from, unsigned fromBits,
           const llvm::fltSemantics &to, unsigned toBits,
           const std::vector<uint64_t> &values,
           const std::vector<uint64_t> &results) {
  unsigned failures = 0;
  for (size_t i = 0; i < values.size() && failures < 10; ++i) {
    APFloat value(from, APInt(fromBits, values[i]));
    bool lossy;
    value.convert(to, APFloat::rmNearestTiesToEven, &lossy);
    uint64_t expected = value.bitcastToAPInt().getZExtValue();
    if (value.isNaN()) {
      APFloat result(to, APInt(toBits, results[i]));
      if (result.isNaN() && result.isNegative() == value.isNegative())
        continue;
    } else if (results[i] == expected) {
      continue;
    }
    ++failures;
    ADD_FAILURE() << what << ": " << std::hex << values[i] << " gives "
                  << results[i] << ", expected " << expected;
  }
}

/// Numbers of a wide format around every number of a narrow one: the number,
/// the middle to the next, and both with the last bits changed.
std::vector<uint64_t> boundaries(const Format &narrow,
                                 const llvm::fltSemantics &wide,
                                 unsigned wideBits, unsigned step) {
  std::vector<uint64_t> values;
  unsigned mantissa = APFloat::semanticsPrecision(narrow.semantics) - 1;
  unsigned wideMantissa = APFloat::semanticsPrecision(wide) - 1;
  for (uint64_t bits = 0; bits < (uint64_t(1) << narrow.bits); bits += step) {
    APFloat value(narrow.semantics, APInt(narrow.bits, bits));
    bool lossy;
    value.convert(wide, APFloat::rmNearestTiesToEven, &lossy);
    uint64_t base = value.bitcastToAPInt().getZExtValue();
    uint64_t half = uint64_t(1) << (wideMantissa - mantissa - 1);
    for (uint64_t middle : {base, base + half, base - half, base + half / 2})
      for (int64_t delta : {-1, 0, 1})
        values.push_back(middle + delta);
  }
  // The smallest normal and subnormal numbers have wider gaps around them.
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i)
    values.push_back(wideBits == 64 ? random() : random() & 0xffffffff);
  for (int exponent = -160; exponent < 140; ++exponent)
    for (double fraction : {1.0, 1.25, 1.5, 1.75, 1.0000001}) {
      APFloat value(std::ldexp(fraction, exponent));
      bool lossy;
      value.convert(wide, APFloat::rmNearestTiesToEven, &lossy);
      values.push_back(value.bitcastToAPInt().getZExtValue());
    }
  for (uint64_t &value : values)
    if (wideBits == 32)
      value &= 0xffffffff;
  return values;
}

} // namespace

TEST(Floats, ExtendsEveryNarrowNumber) {
  for (const Format &format : kNarrow) {
    std::vector<uint64_t> values;
    for (uint64_t bits = 0; bits < (uint64_t(1) << format.bits); ++bits)
      values.push_back(bits);
    check(format.name, format.semantics, format.bits, APFloat::IEEEsingle(), 32,
          values, run(format.name, format.bits, "f32", 32, "extf", values));
    check(format.name, format.semantics, format.bits, APFloat::IEEEdouble(), 64,
          values, run(format.name, format.bits, "f64", 64, "extf", values));
  }
}

TEST(Floats, RoundsFromSingle) {
  for (const Format &format : kNarrow) {
    std::vector<uint64_t> values =
        boundaries(format, APFloat::IEEEsingle(), 32, format.bits == 8 ? 1 : 7);
    check(format.name, APFloat::IEEEsingle(), 32, format.semantics, format.bits,
          values, run("f32", 32, format.name, format.bits, "truncf", values));
  }
}

TEST(Floats, RoundsFromDouble) {
  for (const Format &format : kNarrow) {
    std::vector<uint64_t> values =
        boundaries(format, APFloat::IEEEdouble(), 64, format.bits == 8 ? 1 : 7);
    check(format.name, APFloat::IEEEdouble(), 64, format.semantics, format.bits,
          values, run("f64", 64, format.name, format.bits, "truncf", values));
  }
}

TEST(Floats, RoundsBetweenNarrowFormats) {
  for (const Format &from : kNarrow)
    for (const Format &to : kNarrow) {
      if (from.bits != 16 || to.bits != 8)
        continue;
      std::vector<uint64_t> values;
      for (uint64_t bits = 0; bits < (uint64_t(1) << from.bits); ++bits)
        values.push_back(bits);
      check(to.name, from.semantics, from.bits, to.semantics, to.bits, values,
            run(from.name, from.bits, to.name, to.bits, "truncf", values));
    }
}
