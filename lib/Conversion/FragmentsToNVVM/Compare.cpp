//===- Compare.cpp - Coordinates against limits ---------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Masks compare the coordinates of each element with a length. As 64-bit
// numbers that takes several instructions an element. A coordinate fits into
// 32 bits, though, and is the sum of what all elements of a thread have in
// common and a constant:
//
//   common + own < limit   becomes   own < limit - common
//
// The right side is the same for all elements of a thread, and one instruction
// is left for each. The limit is clamped, to what compares alike with all
// numbers that a coordinate can be.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;

/// Coordinates are at most this, so that all differences fit into 32 bits.
static constexpr uint64_t kMost = uint64_t(1) << 30;
/// Limits are clamped to this, which is above all coordinates.
static constexpr int64_t kLimit = (int64_t(1) << 31) - 1;

/// The largest number that `value` can be, as far as its arithmetic shows and
/// if that is at most kMost.
static std::optional<uint64_t> largest(Value value) {
  auto bounded = [](std::optional<uint64_t> bound) -> std::optional<uint64_t> {
    return bound && *bound <= kMost ? bound : std::nullopt;
  };
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant < 0 ? std::nullopt : bounded(uint64_t(*constant));
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<arith::IndexCastUIOp, arith::ExtUIOp>(op))
    return largest(op->getOperand(0));
  if (isa<arith::IndexCastOp>(op)) {
    // A narrow type has the sign where others have a digit.
    std::optional<uint64_t> bound = largest(op->getOperand(0));
    for (Type type : {op->getOperand(0).getType(), op->getResult(0).getType()})
      if (auto narrow = dyn_cast<IntegerType>(type);
          bound && narrow && narrow.getWidth() <= 31 &&
          *bound >> (narrow.getWidth() - 1))
        return std::nullopt;
    return bound;
  }
  if (!isa<arith::AddIOp, arith::MulIOp, arith::AndIOp, arith::ShRUIOp,
           arith::MinUIOp>(op))
    return std::nullopt;
  std::optional<uint64_t> a = largest(op->getOperand(0));
  std::optional<uint64_t> b = largest(op->getOperand(1));
  if (isa<arith::AndIOp, arith::MinUIOp>(op))
    return !a || (b && *b < *a) ? b : a;
  if (isa<arith::ShRUIOp>(op))
    return a;
  if (!a || !b)
    return std::nullopt;
  return bounded(isa<arith::AddIOp>(op) ? llvm::checkedAddUnsigned(*a, *b)
                                        : llvm::checkedMulUnsigned(*a, *b));
}

namespace {
/// A sum: null stands for 0.
struct Sum {
  Value common;
  int64_t own = 0;
};
} // namespace

static Sum split(FragmentLowering &lowering, Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return {Value(), *constant};
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::AddIOp>(op)) {
    Sum a = split(lowering, op->getOperand(0));
    Sum b = split(lowering, op->getOperand(1));
    Value common = a.common && b.common ? lowering.add(a.common, b.common)
                   : a.common           ? a.common
                                        : b.common;
    return {common, a.own + b.own};
  }
  if (isa_and_nonnull<arith::MulIOp>(op))
    for (unsigned i : {0, 1})
      if (std::optional<int64_t> factor =
              getConstantIntValue(op->getOperand(1 - i))) {
        Sum sum = split(lowering, op->getOperand(i));
        if (sum.common)
          sum.common = lowering.multiply(sum.common, op->getOperand(1 - i));
        sum.own *= *factor;
        return sum;
      }
  return {value, 0};
}

static bool isUnsigned(arith::CmpIPredicate predicate) {
  return predicate >= arith::CmpIPredicate::ult;
}

/// The predicate for numbers with a sign.
static arith::CmpIPredicate toSigned(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  return isUnsigned(predicate) ? P(int(predicate) - int(P::ult) + int(P::slt))
                               : predicate;
}

/// The predicate with the operands exchanged.
static arith::CmpIPredicate exchanged(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
  case P::ne:
    return predicate;
  case P::slt:
    return P::sgt;
  case P::sle:
    return P::sge;
  case P::sgt:
    return P::slt;
  case P::sge:
    return P::sle;
  case P::ult:
    return P::ugt;
  case P::ule:
    return P::uge;
  case P::ugt:
    return P::ult;
  case P::uge:
    return P::ule;
  }
  llvm_unreachable("all predicates were seen");
}

Value FragmentLowering::compareCoordinate(arith::CmpIOp op, Value a, Value b) {
  using P = arith::CmpIPredicate;
  P predicate = op.getPredicate();
  bool is64 = a.getType().isIndex() || a.getType().isInteger(64);
  if (!is64 || predicate == P::eq || predicate == P::ne)
    return {};
  if (!largest(a)) {
    std::swap(a, b);
    predicate = exchanged(predicate);
  }
  if (!largest(a))
    return {};
  Sum left = split(*this, a), right{b, 0};
  Type type = a.getType(), i32Type = builder.getI32Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(type, value));
  };
  if (largest(b)) {
    right = split(*this, b);
  } else if (isUnsigned(predicate)) {
    right.common =
        builder.createOrFold<arith::MinUIOp>(loc, b, constant(kLimit));
  } else {
    right.common =
        builder.createOrFold<arith::MinSIOp>(loc, b, constant(kLimit));
    right.common =
        builder.createOrFold<arith::MaxSIOp>(loc, right.common, constant(-1));
  }
  auto narrow = [&](Value value) -> Value {
    if (!value)
      return i32(0);
    return type.isIndex()
               ? builder.createOrFold<arith::IndexCastOp>(loc, i32Type, value)
               : builder.createOrFold<arith::TruncIOp>(loc, i32Type, value);
  };
  Value rest = builder.createOrFold<arith::SubIOp>(loc, narrow(right.common),
                                                   narrow(left.common));
  return builder.createOrFold<arith::CmpIOp>(loc, toSigned(predicate),
                                             i32(left.own - right.own), rest);
}
