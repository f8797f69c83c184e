//===- DeviceMath.cpp - Functions of the math dialect on devices ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devices have instructions for exp2 in f32, roots, rounding and fma; no
// library is linked. Everything else is arithmetic here: in f64, whose result
// is rounded where the operation is on f32, except for exp, log and log2 (f32
// throughout, they are what bodies use most, and a quotient in f64 has a
// branch) and for erf and erfc (upstream's approximations). Upstream's
// approximations of the others flush subnormal numbers or lose accuracy for
// large arguments.
//
//===----------------------------------------------------------------------===//

#include "DeviceArithmetic.h"
#include "Steps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::df::handlers;

static constexpr double kPi = 3.141592653589793;
// ln 2 = high + low; a number of up to eleven bits times high is exact.
static constexpr double kLn2High = 6.93147180369123816490e-01;
static constexpr double kLn2Low = 1.90821492927058770002e-10;

namespace {

/// The functions in f64, to a few ulp.
class Functions : public Arithmetic {
public:
  Functions(OpBuilder &builder, Location loc)
      : Arithmetic(builder, loc, builder.getF64Type()) {}

  Value exp(Value x);
  Value exp2(Value x);
  Value expm1(Value x);
  Value log(Value x);
  Value log2(Value x);
  Value log10(Value x);
  Value log1p(Value x);
  Value sin(Value x) { return sinCos(x, 0); }
  Value cos(Value x) { return sinCos(x, 1); }
  Value tan(Value x) { return div(sin(x), cos(x)); }
  Value atan(Value x);
  Value atan2(Value y, Value x);
  Value asin(Value x) { return atan2(x, leg(x)); }
  Value acos(Value x) { return atan2(leg(x), x); }
  Value sinh(Value x);
  Value cosh(Value x);
  Value tanh(Value x);
  Value asinh(Value x);
  Value acosh(Value x);
  Value atanh(Value x);
  Value cbrt(Value x) { return withSign(exp(div(log(abs(x)), number(3))), x); }
  Value pow(Value x, Value y);
  /// Exact for arguments that are f32.
  Value remainder(Value x, Value y);

private:
  /// sqrt(1 - x^2)
  Value leg(Value x) { return sqrt(mul(sub(number(1), x), add(number(1), x))); }
  /// e^r for |r| <= 0.35, less 1 if `lessOne`.
  Value expNearZero(Value r, bool lessOne);
  /// x = 2^exponent m with m in [sqrt(1/2), sqrt(2)); the logarithm of m.
  Value logMantissa(Value x, Value &exponent);
  Value logLimits(Value x, Value result);
  Value sinCos(Value x, int64_t quadrant);
};

} // namespace

Value Functions::expNearZero(Value r, bool lessOne) {
  SmallVector<double> coefficients;
  double factorial = 1;
  for (int n = 0; n <= 13; ++n) {
    factorial *= std::max(n, 1);
    coefficients.push_back(1 / factorial);
  }
  if (!lessOne)
    return polynomial(r, coefficients);
  return mul(r, polynomial(r, ArrayRef(coefficients).drop_front()));
}

Value Functions::exp(Value x) {
  x = clamp(x, -760, 720);
  Value k = round(mul(x, number(1 / kLn2)));
  Value r = fma(k, number(-kLn2High), x);
  r = fma(k, number(-kLn2Low), r);
  return scale(expNearZero(r, false), toInteger(k));
}

Value Functions::exp2(Value x) {
  x = clamp(x, -1100, 1030);
  Value k = round(x);
  return scale(expNearZero(mul(sub(x, k), number(kLn2)), false), toInteger(k));
}

Value Functions::expm1(Value x) {
  Value low = clamp(x, -60, 600);
  Value k = round(mul(low, number(1 / kLn2)));
  Value r = fma(k, number(-kLn2High), low);
  r = fma(k, number(-kLn2Low), r);
  Value power = powerOfTwo(toInteger(k));
  Value result = fma(power, expNearZero(r, true), sub(power, number(1)));
  // Keeps the sign of zero.
  result = select(is(Predicate::OEQ, x, 0.0), x, result);
  return select(is(Predicate::OGT, x, 600.0), exp(x), result);
}

Value Functions::logMantissa(Value x, Value &exponent) {
  Value tiny = is(Predicate::OLT, x, std::numeric_limits<double>::min());
  x = select(tiny, mul(x, number(std::ldexp(1.0, 54))), x);
  Value word = bits(x);
  Value raw = arith::ShRUIOp::create(builder, loc, word, integer(52));
  Value mask = integer((int64_t(1) << 52) - 1);
  Value one = integer(int64_t(1023) << 52);
  Value m = fromBits(arith::OrIOp::create(
      builder, loc, arith::AndIOp::create(builder, loc, word, mask), one));
  Value large = is(Predicate::OGT, m, std::sqrt(2.0));
  m = select(large, mul(m, number(0.5)), m);
  exponent = sub(fromInteger(raw), select(large, 1022.0, number(1023)));
  exponent = sub(exponent, select(tiny, 54.0, number(0)));

  // With s = f / (2 + f): log(1 + f) = 2 (s + s^3/3 + s^5/5 + ...).
  Value f = sub(m, number(1));
  Value s = div(f, add(f, number(2)));
  SmallVector<double> coefficients;
  for (int n = 3; n <= 23; n += 2)
    coefficients.push_back(2.0 / n);
  Value z = mul(s, s);
  Value tail = mul(z, polynomial(z, coefficients));
  // 2s = f - s f, which keeps f exact.
  return sub(f, mul(s, sub(f, tail)));
}

Value Functions::logLimits(Value x, Value result) {
  result = select(is(Predicate::OEQ, x, kInfinity), kInfinity, result);
  result = select(is(Predicate::OEQ, x, 0.0), -kInfinity, result);
  result = select(is(Predicate::OLT, x, 0.0), kNaN, result);
  return select(isNaN(x), x, result);
}

Value Functions::log(Value x) {
  Value e, m = logMantissa(x, e);
  m = fma(e, number(kLn2Low), m);
  return logLimits(x, fma(e, number(kLn2High), m));
}

Value Functions::log2(Value x) {
  Value e, m = logMantissa(x, e);
  return logLimits(x, fma(m, number(1 / kLn2), e));
}

Value Functions::log10(Value x) {
  Value e, m = logMantissa(x, e);
  return logLimits(
      x, fma(e, number(std::log10(2.0)), mul(m, number(1 / std::log(10.0)))));
}

Value Functions::log1p(Value x) {
  Value u = add(x, number(1));
  Value corrected = div(mul(log(u), x), sub(u, number(1)));
  corrected = select(is(Predicate::OEQ, u, 1.0), x, corrected);
  return select(is(Predicate::OEQ, x, kInfinity), x, corrected);
}

Value Functions::sinCos(Value x, int64_t quadrant) {
  Value k = round(mul(x, number(2 / kPi)));
  // pi/2 in three parts.
  Value r = fma(k, number(-1.5707963267948966), x);
  r = fma(k, number(-6.123233995736766e-17), r);
  r = fma(k, number(1.4973849048591833e-33), r);
  SmallVector<double> sine, cosine;
  double term = 1;
  for (int n = 0; n <= 18; ++n) {
    term = n ? term / n : term;
    (n % 2 ? sine : cosine).push_back(n / 2 % 2 ? -term : term);
  }
  Value z = mul(r, r);
  Value s = fma(mul(r, z), polynomial(z, ArrayRef(sine).drop_front()), r);
  Value c = polynomial(z, cosine);
  Value q =
      arith::AddIOp::create(builder, loc, toInteger(k), integer(quadrant));
  auto bit = [&](int64_t mask) -> Value {
    return arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne,
        arith::AndIOp::create(builder, loc, q, integer(mask)), integer(0));
  };
  Value result = select(bit(1), c, s);
  return select(bit(2), neg(result), result);
}

Value Functions::atan(Value x) {
  Value a = abs(x);
  Value inverted = is(Predicate::OGT, a, 1.0);
  a = select(inverted, div(number(1), a), a);
  // atan(a) = pi/8 steps: 0 to 7/16 directly, above it about pi/4.
  Value upper = is(Predicate::OGT, a, 0.4375);
  a = select(upper, div(sub(a, number(1)), add(a, number(1))), a);
  Value z = mul(a, a);
  Value odd =
      polynomial(z, {3.33333333333329318027e-01, -1.99999999998764832476e-01,
                     1.42857142725034663711e-01, -1.11111104054623557880e-01,
                     9.09088713343650656196e-02, -7.69187620504482999495e-02,
                     6.66107313738753120669e-02, -5.83357013379057348645e-02,
                     4.97687799461593236017e-02, -3.65315727442169155270e-02,
                     1.62858201153657823623e-02});
  Value result = sub(a, mul(mul(a, z), odd));
  result = select(upper, add(number(kPi / 4), result), result);
  result = select(inverted, sub(number(kPi / 2), result), result);
  return withSign(result, x);
}

Value Functions::atan2(Value y, Value x) {
  Value ax = abs(x), ay = abs(y);
  Value steep = is(Predicate::OGT, ay, ax);
  Value low = select(steep, ax, ay), high = select(steep, ay, ax);
  Value ratio = div(low, high);
  ratio = select(is(Predicate::OEQ, high, 0.0), 0.0, ratio);
  ratio = select(is(Predicate::OEQ, low, kInfinity), 1.0, ratio);
  Value angle = atan(ratio);
  angle = select(steep, sub(number(kPi / 2), angle), angle);
  Value negative = is(Predicate::OLT, withSign(number(1), x), 0.0);
  angle = select(negative, sub(number(kPi), angle), angle);
  Value nan = is(Predicate::UNO, x, y);
  return select(nan, kNaN, withSign(angle, y));
}

Value Functions::sinh(Value x) {
  Value t = expm1(abs(x));
  Value result = mul(number(0.5), add(t, div(t, add(t, number(1)))));
  result = select(is(Predicate::OEQ, t, kInfinity), kInfinity, result);
  return withSign(result, x);
}

Value Functions::cosh(Value x) {
  Value e = exp(abs(x));
  return add(mul(number(0.5), e), div(number(0.5), e));
}

Value Functions::tanh(Value x) {
  Value t = expm1(mul(number(-2), abs(x)));
  return withSign(div(neg(t), add(t, number(2))), x);
}

Value Functions::asinh(Value x) {
  Value a = abs(x);
  Value square = mul(a, a);
  Value root = sqrt(add(square, number(1)));
  Value result = log1p(add(a, div(square, add(root, number(1)))));
  result =
      select(is(Predicate::OGT, a, 1e150), add(log(a), number(kLn2)), result);
  return withSign(result, x);
}

Value Functions::acosh(Value x) {
  Value t = sub(x, number(1));
  Value result = log1p(add(t, sqrt(mul(t, add(t, number(2))))));
  result =
      select(is(Predicate::OGT, x, 1e150), add(log(x), number(kLn2)), result);
  return select(is(Predicate::OLT, x, 1.0), kNaN, result);
}

Value Functions::atanh(Value x) {
  Value a = abs(x);
  Value ratio = div(add(a, a), sub(number(1), a));
  return withSign(mul(number(0.5), log1p(ratio)), x);
}

Value Functions::pow(Value x, Value y) {
  Value a = abs(x);
  Value result = exp(mul(y, log(a)));
  Value whole = is(Predicate::OEQ, floor(y), y);
  Value half = mul(y, number(0.5));
  Value odd = both(whole, is(Predicate::ONE, floor(half), half));
  // Infinite y: half of it is whole, hence even.
  result = select(odd, withSign(result, x), result);
  Value noRoot =
      both(is(Predicate::OLT, x, 0.0), is(Predicate::OGT, x, -kInfinity));
  noRoot = both(noRoot, is(Predicate::ONE, floor(y), y));
  result = select(noRoot, kNaN, result);
  Value sure =
      both(is(Predicate::OEQ, a, 1.0), is(Predicate::OEQ, abs(y), kInfinity));
  result = select(sure, 1.0, result);
  result = select(is(Predicate::OEQ, x, 1.0), 1.0, result);
  return select(is(Predicate::OEQ, y, 0.0), 1.0, result);
}

Value Functions::remainder(Value x, Value y) {
  // Each step takes about 50 bits off the quotient, which has at most 277, and
  // never too much; it is exact, since the arguments have 24 bits.
  Value r = abs(x), divisor = abs(y);
  for (int step = 0; step < 6; ++step) {
    Value quotient = mul(div(r, divisor), number(1 - std::ldexp(1.0, -50)));
    r = fma(neg(floor(quotient)), divisor, r);
  }
  r = select(is(Predicate::OGE, r, divisor), sub(r, divisor), r);
  Value inside = is(Predicate::OLT, abs(x), divisor);
  return select(inside, x, withSign(r, x));
}

using Unary = Value (Functions::*)(Value);
using Binary = Value (Functions::*)(Value, Value);

static Unary unaryFunction(Operation *op) {
  return llvm::TypeSwitch<Operation *, Unary>(op)
      .Case([](math::ExpOp) { return &Functions::exp; })
      .Case([](math::Exp2Op) { return &Functions::exp2; })
      .Case([](math::ExpM1Op) { return &Functions::expm1; })
      .Case([](math::LogOp) { return &Functions::log; })
      .Case([](math::Log2Op) { return &Functions::log2; })
      .Case([](math::Log10Op) { return &Functions::log10; })
      .Case([](math::Log1pOp) { return &Functions::log1p; })
      .Case([](math::SinOp) { return &Functions::sin; })
      .Case([](math::CosOp) { return &Functions::cos; })
      .Case([](math::TanOp) { return &Functions::tan; })
      .Case([](math::AtanOp) { return &Functions::atan; })
      .Case([](math::AsinOp) { return &Functions::asin; })
      .Case([](math::AcosOp) { return &Functions::acos; })
      .Case([](math::SinhOp) { return &Functions::sinh; })
      .Case([](math::CoshOp) { return &Functions::cosh; })
      .Case([](math::TanhOp) { return &Functions::tanh; })
      .Case([](math::AsinhOp) { return &Functions::asinh; })
      .Case([](math::AcoshOp) { return &Functions::acosh; })
      .Case([](math::AtanhOp) { return &Functions::atanh; })
      .Case([](math::CbrtOp) { return &Functions::cbrt; })
      .Default([](Operation *) { return nullptr; });
}

static Binary binaryFunction(Operation *op) {
  return llvm::TypeSwitch<Operation *, Binary>(op)
      .Case([](math::PowFOp) { return &Functions::pow; })
      .Case([](math::FPowIOp) { return &Functions::pow; })
      .Case([](math::Atan2Op) { return &Functions::atan2; })
      .Case([](arith::RemFOp op) -> Binary {
        return op.getType().isF32() ? &Functions::remainder : nullptr;
      })
      .Default([](Operation *) { return nullptr; });
}

static void expand(IRRewriter &rewriter, Operation *op) {
  auto type = dyn_cast<FloatType>(op->getResult(0).getType());
  if (!type || !(type.isF32() || type.isF64()))
    return;
  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  if (type.isF32() && isa<math::Exp2Op>(op))
    return;
  if (Value result = expandInF32(rewriter, op)) {
    rewriter.replaceOp(op, result);
    return;
  }
  Functions functions(rewriter, loc);
  Unary unary = unaryFunction(op);
  Binary binary = unary ? nullptr : binaryFunction(op);
  if (!unary && !binary)
    return;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (operand.getType().isInteger())
      operand = arith::SIToFPOp::create(rewriter, loc, functions.type, operand);
    else if (type.isF32())
      operand = arith::ExtFOp::create(rewriter, loc, functions.type, operand);
    operands.push_back(operand);
  }
  Value result = unary ? (functions.*unary)(operands[0])
                       : (functions.*binary)(operands[0], operands[1]);
  if (type.isF32())
    result = arith::TruncFOp::create(rewriter, loc, type, result);
  rewriter.replaceOp(op, result);
}

LogicalResult df::handlers::expandDeviceMath(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populatePolynomialApproximateErfPattern(patterns);
  populatePolynomialApproximateErfcPattern(patterns);
  if (failed(applyPatternsGreedily(module, std::move(patterns))))
    return failure();
  SmallVector<Operation *> operations;
  module.walk([&](Operation *op) {
    if (isa<arith::RemFOp>(op) ||
        (isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
         op->getNumResults() == 1))
      operations.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (Operation *op : operations)
    expand(rewriter, op);
  return success();
}
