//===- ExpandFloats.cpp - Conversions of narrow floats --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x86-64-v3 converts between f16 and f32 in hardware. Every other conversion to
// or from a narrow format would become a call of a compiler support function,
// which a shared object without undefined symbols cannot have; here they are
// integer arithmetic. Results are those of llvm::APFloat with rounding to
// nearest even, bit for bit, payloads of NaNs excepted.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace {

/// The parts of an IEEE-like format. Formats without infinity (FN) have one
/// NaN, all ones.
struct Format {
  unsigned bits, mantissa;
  int64_t bias;
  bool infinity;

  unsigned exponent() const { return bits - 1 - mantissa; }
  uint64_t exponentMask() const {
    return ((uint64_t(1) << exponent()) - 1) << mantissa;
  }
  uint64_t mantissaMask() const { return (uint64_t(1) << mantissa) - 1; }
  uint64_t magnitudeMask() const { return exponentMask() | mantissaMask(); }
  /// Smallest magnitude that is no finite number.
  uint64_t firstNonFinite() const {
    return infinity ? exponentMask() : magnitudeMask();
  }
};

/// Builds integer arithmetic on words of one type.
class Word {
public:
  Word(OpBuilder &builder, Location loc, unsigned bits)
      : builder(builder), loc(loc), type(builder.getIntegerType(bits)) {}

  Value constant(uint64_t value) {
    return arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(type,
                               APInt(type.getWidth(), value, false, true)));
  }
  Value band(Value a, uint64_t b) {
    return arith::AndIOp::create(builder, loc, a, constant(b));
  }
  Value bor(Value a, Value b) {
    return arith::OrIOp::create(builder, loc, a, b);
  }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubIOp::create(builder, loc, a, b);
  }
  Value shl(Value a, unsigned by) {
    return by ? arith::ShLIOp::create(builder, loc, a, constant(by)) : a;
  }
  Value shr(Value a, unsigned by) {
    return by ? arith::ShRUIOp::create(builder, loc, a, constant(by)) : a;
  }
  Value compare(arith::CmpIPredicate predicate, Value a, uint64_t b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, constant(b));
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value bitcast(Type to, Value value) {
    return arith::BitcastOp::create(builder, loc, to, value);
  }

  OpBuilder &builder;
  Location loc;
  IntegerType type;
};

} // namespace

static std::optional<Format> formatOf(Type type) {
  if (type.isF64())
    return Format{64, 52, 1023, true};
  if (type.isF32())
    return Format{32, 23, 127, true};
  if (type.isF16())
    return Format{16, 10, 15, true};
  if (type.isBF16())
    return Format{16, 7, 127, true};
  if (isa<Float8E4M3FNType>(type))
    return Format{8, 3, 7, false};
  if (isa<Float8E5M2Type>(type))
    return Format{8, 2, 15, true};
  return std::nullopt;
}

static bool isNarrow(Type type) {
  std::optional<Format> format = formatOf(type);
  return format && format->bits < 32;
}

/// Rounds `value` of the wide type with format `from` to the narrow `toType`.
static Value buildTruncate(OpBuilder &builder, Location loc, Value value,
                           const Format &from, Type toType, const Format &to) {
  using arith::CmpIPredicate;
  Word w(builder, loc, from.bits);
  Type fromType = value.getType();
  Value bits = w.bitcast(w.type, value);
  Value magnitude = w.band(bits, from.magnitudeMask());
  Value sign = w.shl(w.shr(bits, from.bits - 1), to.bits - 1);

  // Normal results: half an ulp less the tie's bias is added below the cut.
  unsigned cut = from.mantissa - to.mantissa;
  Value odd = w.band(w.shr(magnitude, cut), 1);
  Value rounded = w.add(magnitude, odd);
  rounded = w.add(rounded, w.constant((uint64_t(1) << (cut - 1)) - 1));
  Value result =
      w.sub(w.shr(rounded, cut),
            w.constant(uint64_t(from.bias - to.bias) << to.mantissa));
  result =
      w.select(w.compare(CmpIPredicate::sgt, result, to.firstNonFinite() - 1),
               w.constant(to.firstNonFinite()), result);

  if (from.bias != to.bias) {
    // Subnormal results: adding a power of two whose ulp is the smallest
    // number of the narrow format lets the adder round.
    uint64_t power =
        uint64_t(from.bias + 1 - to.bias - to.mantissa + from.mantissa)
        << from.mantissa;
    Value powerWord = w.constant(power);
    Value sum =
        arith::AddFOp::create(builder, loc, w.bitcast(fromType, magnitude),
                              w.bitcast(fromType, powerWord));
    Value subnormal = w.sub(w.bitcast(w.type, sum), powerWord);
    uint64_t firstNormal = uint64_t(from.bias + 1 - to.bias) << from.mantissa;
    result = w.select(w.compare(CmpIPredicate::ult, magnitude, firstNormal),
                      subnormal, result);
  }

  // NaN stays NaN, made quiet.
  Value nan;
  if (to.infinity) {
    uint64_t quiet = to.exponentMask() | (uint64_t(1) << (to.mantissa - 1));
    nan = w.bor(w.band(w.shr(magnitude, cut), to.mantissaMask()),
                w.constant(quiet));
  } else {
    nan = w.constant(to.magnitudeMask());
  }
  result =
      w.select(w.compare(CmpIPredicate::ugt, magnitude, from.exponentMask()),
               nan, result);
  result = w.bor(result, sign);
  result = arith::TruncIOp::create(builder, loc,
                                   builder.getIntegerType(to.bits), result);
  return arith::BitcastOp::create(builder, loc, toType, result);
}

/// Extends a narrow `value` to f32, which holds all of its numbers.
static Value buildExtend(OpBuilder &builder, Location loc, Value value,
                         const Format &from) {
  using arith::CmpIPredicate;
  const Format to{32, 23, 127, true};
  Word w(builder, loc, 32);
  Type f32 = builder.getF32Type();
  Value narrow = arith::BitcastOp::create(
      builder, loc, builder.getIntegerType(from.bits), value);
  Value bits = arith::ExtUIOp::create(builder, loc, w.type, narrow);
  unsigned shift = to.mantissa - from.mantissa;
  if (from.bias == to.bias)
    return w.bitcast(f32, w.shl(bits, shift));

  Value magnitude = w.band(bits, from.magnitudeMask());
  Value sign = w.shl(w.shr(bits, from.bits - 1), 31);
  Value wide = w.shl(magnitude, shift);
  Value result =
      w.add(wide, w.constant(uint64_t(to.bias - from.bias) << to.mantissa));

  // Subnormal numbers are small integers times a power of two.
  Value integer = arith::SIToFPOp::create(builder, loc, f32, magnitude);
  Value scale = arith::ConstantOp::create(
      builder, loc,
      builder.getF32FloatAttr(
          std::ldexp(1.0f, int(1 - from.bias - int64_t(from.mantissa)))));
  Value subnormal =
      w.bitcast(w.type, arith::MulFOp::create(builder, loc, integer, scale));
  result = w.select(
      w.compare(CmpIPredicate::ult, magnitude, from.mantissaMask() + 1),
      subnormal, result);

  Value nonFinite = from.infinity ? w.bor(wide, w.constant(to.exponentMask()))
                                  : w.constant(0x7fc00000);
  result =
      w.select(w.compare(CmpIPredicate::uge, magnitude, from.firstNonFinite()),
               nonFinite, result);
  return w.bitcast(f32, w.bor(result, sign));
}

namespace {

struct ExpandTruncF : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Value value = op.getIn();
    Type from = value.getType(), to = op.getType();
    if (!formatOf(from) || !isNarrow(to))
      return rewriter.notifyMatchFailure(op, "not to a narrow scalar");
    if (from.isF32() && to.isF16())
      return rewriter.notifyMatchFailure(op, "done by hardware");
    if (isNarrow(from))
      value = arith::ExtFOp::create(rewriter, op.getLoc(),
                                    rewriter.getF32Type(), value);
    rewriter.replaceOp(op, buildTruncate(rewriter, op.getLoc(), value,
                                         *formatOf(value.getType()), to,
                                         *formatOf(to)));
    return success();
  }
};

struct ExpandExtF : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType(), to = op.getType();
    if (!isNarrow(from) || (from.isF16() && !isNarrow(to)))
      return rewriter.notifyMatchFailure(op, "not from a narrow scalar");
    Location loc = op.getLoc();
    Value value;
    if (from.isF16())
      value = arith::ExtFOp::create(rewriter, loc, rewriter.getF32Type(),
                                    op.getIn());
    else
      value = buildExtend(rewriter, loc, op.getIn(), *formatOf(from));
    if (to.isF64())
      value = arith::ExtFOp::create(rewriter, loc, to, value);
    else if (isNarrow(to)) // Exact, if the types are in order of width.
      value = arith::TruncFOp::create(rewriter, loc, to, value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

} // namespace

void df::handlers::populateExpandFloatConversionPatterns(
    RewritePatternSet &patterns) {
  patterns.add<ExpandTruncF, ExpandExtF>(patterns.getContext());
}
