//===- DeviceArithmetic.h - Scalar arithmetic, written down -----*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the files of device functions write expressions with. Private to this
// folder.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_CONVERSION_HANDLERTOLLVM_DEVICEARITHMETIC_H
#define DATAFLOW_LIB_CONVERSION_HANDLERTOLLVM_DEVICEARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <limits>

namespace mlir::df::handlers {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kLn2 = 0.6931471805599453;

/// Builds scalar arithmetic in one floating-point type.
class Arithmetic {
public:
  using Predicate = arith::CmpFPredicate;

  Arithmetic(OpBuilder &builder, Location loc, FloatType type)
      : builder(builder), loc(loc), type(type) {}

  Value number(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, value));
  }
  Value add(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubFOp::create(builder, loc, a, b);
  }
  Value mul(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value div(Value a, Value b) {
    return arith::DivFOp::create(builder, loc, a, b);
  }
  Value fma(Value a, Value b, Value c) {
    return math::FmaOp::create(builder, loc, a, b, c);
  }
  Value neg(Value a) { return arith::NegFOp::create(builder, loc, a); }
  Value abs(Value a) { return math::AbsFOp::create(builder, loc, a); }
  Value sqrt(Value a) { return math::SqrtOp::create(builder, loc, a); }
  Value round(Value a) { return math::RoundEvenOp::create(builder, loc, a); }
  Value floor(Value a) { return math::FloorOp::create(builder, loc, a); }
  Value withSign(Value a, Value sign) {
    return math::CopySignOp::create(builder, loc, a, sign);
  }
  Value is(Predicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value is(Predicate predicate, Value a, double b) {
    return is(predicate, a, number(b));
  }
  Value isNaN(Value a) { return is(Predicate::UNO, a, a); }
  Value both(Value a, Value b) {
    return arith::AndIOp::create(builder, loc, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value select(Value condition, double a, Value b) {
    return select(condition, number(a), b);
  }
  /// NaN stays.
  Value clamp(Value a, double low, double high) {
    a = select(is(Predicate::OLT, a, low), low, a);
    return select(is(Predicate::OGT, a, high), high, a);
  }
  /// coefficients[0] + coefficients[1] x + ...
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value result = number(coefficients.back());
    for (double c : llvm::reverse(coefficients.drop_back()))
      result = fma(result, x, number(c));
    return result;
  }

  unsigned mantissa() { return type.isF64() ? 52 : 23; }
  int64_t bias() { return type.isF64() ? 1023 : 127; }
  Type word() { return builder.getIntegerType(type.getWidth()); }
  Value integer(int64_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(word(), value));
  }
  Value bits(Value a) {
    return arith::BitcastOp::create(builder, loc, word(), a);
  }
  Value fromBits(Value a) {
    return arith::BitcastOp::create(builder, loc, type, a);
  }
  /// The integer that `a` is; 0 for NaN and what is beyond 2^62.
  Value toInteger(Value a) {
    Value fits =
        is(Predicate::OLT, abs(a), std::ldexp(1.0, type.isF64() ? 62 : 30));
    return arith::FPToSIOp::create(builder, loc, word(),
                                   select(fits, a, number(0)));
  }
  Value fromInteger(Value a) {
    return arith::SIToFPOp::create(builder, loc, type, a);
  }
  /// 2^k for integers k of the normal range.
  Value powerOfTwo(Value k) {
    Value biased = arith::AddIOp::create(builder, loc, k, integer(bias()));
    return fromBits(
        arith::ShLIOp::create(builder, loc, biased, integer(mantissa())));
  }
  /// a 2^k in two steps, so that k may be as large as twice the range.
  Value scale(Value a, Value k) {
    Value half = arith::ShRSIOp::create(builder, loc, k, integer(1));
    Value rest = arith::SubIOp::create(builder, loc, k, half);
    return mul(mul(a, powerOfTwo(half)), powerOfTwo(rest));
  }

  OpBuilder &builder;
  Location loc;
  FloatType type;
};

/// What a function of f32 becomes that has code in f32; null for others
/// (DeviceMathF32.cpp).
Value expandInF32(OpBuilder &builder, Operation *op);

} // namespace mlir::df::handlers

#endif // DATAFLOW_LIB_CONVERSION_HANDLERTOLLVM_DEVICEARITHMETIC_H
