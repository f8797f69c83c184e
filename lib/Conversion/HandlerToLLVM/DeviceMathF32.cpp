//===- DeviceMathF32.cpp - Functions computed in f32 ----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that bodies use most: exp, log and log2. In f64 they would take
// registers for each element in twos, and a logarithm a quotient, which is a
// branch.
//
//===----------------------------------------------------------------------===//

#include "DeviceArithmetic.h"

using namespace mlir;
using namespace mlir::df::handlers;

/// e^x in f32: 2^(x log2 e), with the fraction of the exponent to twice the
/// precision and the integer applied exactly.
static Value exp32(OpBuilder &builder, Location loc, Value x) {
  Arithmetic a(builder, loc, builder.getF32Type());
  x = a.clamp(x, -104, 89);
  const float high = 1.44269504f;
  const double low = 1 / kLn2 - double(high);
  Value k = a.round(a.mul(x, a.number(high)));
  Value fraction = a.fma(x, a.number(high), a.neg(k));
  fraction = a.fma(x, a.number(low), fraction);
  Value power = math::Exp2Op::create(builder, loc, fraction);
  return a.scale(power, a.toInteger(k));
}

/// The natural logarithm in f32, or that to base 2, within 1.5 units in the
/// last place. x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); log(1 + f)
/// is f, which is exact, and a small rest.
static Value log32(OpBuilder &builder, Location loc, Value x, bool base2) {
  Arithmetic a(builder, loc, builder.getF32Type());
  Value tiny =
      a.is(Arithmetic::Predicate::OLT, x, std::numeric_limits<float>::min());
  Value scaled = a.select(tiny, a.mul(x, a.number(0x1p24)), x);
  // Bits of numbers in order are integers in order: counted from those of
  // sqrt(1/2) on, binades begin where m does.
  Value distance = arith::SubIOp::create(builder, loc, a.bits(scaled),
                                         a.integer(0x3f3504f3));
  Value exponent =
      arith::ShRSIOp::create(builder, loc, distance, a.integer(23));
  Value whole = arith::ShLIOp::create(builder, loc, exponent, a.integer(23));
  Value mantissa =
      a.fromBits(arith::SubIOp::create(builder, loc, a.bits(scaled), whole));
  Value e = a.sub(a.fromInteger(exponent), a.select(tiny, 24.0, a.number(0)));

  Value f = a.sub(mantissa, a.number(1)), square = a.mul(f, f);
  Value rest =
      a.polynomial(f, {3.3333331174e-1, -2.4999993993e-1, 2.0000714765e-1,
                       -1.6668057665e-1, 1.4249322787e-1, -1.2420140846e-1,
                       1.1676998740e-1, -1.1514610310e-1, 7.0376836292e-2});
  rest = a.mul(a.mul(f, square), rest);
  Value result;
  if (base2) {
    rest = a.fma(square, a.number(-0.5), rest);
    // log2(e) is 1 and a fraction, whose products are small.
    Value fraction = a.number(1 / kLn2 - 1);
    Value small = a.fma(f, fraction, a.fma(rest, fraction, rest));
    result = a.add(a.add(small, f), e);
  } else {
    rest = a.fma(e, a.number(-2.12194440e-4), rest);
    rest = a.fma(square, a.number(-0.5), rest);
    result = a.fma(e, a.number(0.693359375), a.add(f, rest));
  }
  result = a.select(a.is(Arithmetic::Predicate::OEQ, x, kInfinity), kInfinity,
                    result);
  result =
      a.select(a.is(Arithmetic::Predicate::OEQ, x, 0.0), -kInfinity, result);
  result = a.select(a.is(Arithmetic::Predicate::OLT, x, 0.0), kNaN, result);
  return a.select(a.isNaN(x), x, result);
}

Value df::handlers::expandInF32(OpBuilder &builder, Operation *op) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isF32())
    return {};
  if (isa<math::ExpOp>(op))
    return exp32(builder, op->getLoc(), op->getOperand(0));
  if (isa<math::LogOp, math::Log2Op>(op))
    return log32(builder, op->getLoc(), op->getOperand(0),
                 isa<math::Log2Op>(op));
  return {};
}
