//===- Elementwise.cpp - One scalar operation an element ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elementwise operations become as many scalar ones as a thread has registers.
// Roundings of f32 to 16 and 8 bits are done in pairs, for which the device has
// instructions.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;

std::optional<FragmentLayout> df::fragments::layoutOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return std::nullopt;
  auto encoding = dyn_cast_or_null<FragmentAttr>(tensor.getEncoding());
  if (!encoding)
    return std::nullopt;
  return encoding.getLayout();
}

/// tanh of an f32, to 16 ulp, which it needs at 1/4; in one instruction, to a
/// relative error of 2^-11, where the author allows approximations (afn).
static Value tanh(FragmentLowering &lowering, math::TanhOp op, Value x) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc;
  Type f32 = builder.getF32Type();
  auto intrinsic = [&](StringRef name, ValueRange operands) -> Value {
    return LLVM::CallIntrinsicOp::create(builder, loc, f32,
                                         builder.getStringAttr(name), operands)
        .getResult(0);
  };
  if (bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn))
    return LLVM::InlineAsmOp::create(
               builder, loc, f32, x, "tanh.approx.f32 $0, $1;", "=f,f",
               /*has_side_effects=*/false, /*is_align_stack=*/false,
               LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
        .getResult(0);
  auto constant = [&](float value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF32FloatAttr(value));
  };
  auto multiplyAdd = [&](Value a, Value b, float c) -> Value {
    return LLVM::FMAOp::create(builder, loc, a, b, constant(c));
  };
  // 1 - 2 / (e^2x + 1), right for infinities too. Near 0, where this cancels,
  // the first terms of the series.
  Value power =
      intrinsic("llvm.nvvm.ex2.approx.ftz.f",
                arith::MulFOp::create(builder, loc, x, constant(2.8853900818f))
                    .getResult());
  Value below =
      arith::AddFOp::create(builder, loc, power, constant(1.0f)).getResult();
  Value part = intrinsic("llvm.nvvm.div.full", {constant(-2.0f), below});
  Value far =
      arith::AddFOp::create(builder, loc, part, constant(1.0f)).getResult();
  Value square = arith::MulFOp::create(builder, loc, x, x);
  Value series = multiplyAdd(square, constant(-17.0f / 315), 2.0f / 15);
  series = multiplyAdd(square, series, -1.0f / 3);
  series = arith::MulFOp::create(builder, loc, series, square);
  Value near = LLVM::FMAOp::create(builder, loc, series, x, x);
  Value small = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OLT,
      math::AbsFOp::create(builder, loc, x).getResult(), constant(0.25f));
  return arith::SelectOp::create(builder, loc, small, near, far);
}

Value FragmentLowering::applyScalar(Operation *op, ValueRange operands) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (auto function = dyn_cast<math::TanhOp>(op); function && type.isF32())
    return tanh(*this, function, operands.front());
  // Instructions: LLVM would also look after subnormal results, and round a
  // quotient correctly, which takes a branch for each.
  StringRef intrinsic;
  if (type.isF32() && isa<math::Exp2Op>(op))
    intrinsic = "llvm.nvvm.ex2.approx.ftz.f";
  else if (type.isF32() && isa<arith::DivFOp>(op))
    intrinsic = "llvm.nvvm.div.full";
  else if (auto log = dyn_cast<math::Log2Op>(op);
           log && type.isF32() &&
           bitEnumContainsAny(log.getFastmath(), arith::FastMathFlags::afn))
    intrinsic = "llvm.nvvm.lg2.approx.ftz.f";
  if (!intrinsic.empty())
    return LLVM::CallIntrinsicOp::create(
               builder, loc, type, builder.getStringAttr(intrinsic), operands)
        .getResult(0);
  Operation *scalarOp = Operation::create(
      loc, op->getName(), type, operands, op->getDiscardableAttrDictionary(),
      op->getPropertiesStorage(), BlockRange(), /*numRegions=*/0);
  builder.insert(scalarOp);
  // Constants and what does not change, mostly coordinates.
  SmallVector<Value> folded;
  if (succeeded(builder.tryFold(scalarOp, folded)) && folded.size() == 1) {
    scalarOp->erase();
    return folded.front();
  }
  return scalarOp->getResult(0);
}

SmallVector<Value> df::fragments::roundPairs(FragmentLowering &lowering,
                                             ArrayRef<Value> values, Type to) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc;
  SmallVector<Value> results;
  auto wide = VectorType::get(2, values.front().getType());
  auto narrow = VectorType::get(2, to);
  auto words = VectorType::get(2, builder.getI16Type());
  for (size_t i = 0; i + 1 < values.size(); i += 2) {
    Value pair = LLVM::PoisonOp::create(builder, loc, wide);
    for (int64_t k : {0, 1})
      pair = LLVM::InsertElementOp::create(builder, loc, pair, values[i + k],
                                           lowering.i32(k));
    pair = LLVM::FPTruncOp::create(builder, loc, narrow, pair);
    pair = LLVM::BitcastOp::create(builder, loc, words, pair);
    for (int64_t k : {0, 1})
      results.push_back(lowering.fromBits(
          LLVM::ExtractElementOp::create(builder, loc, pair, lowering.i32(k)),
          to));
  }
  return results;
}

/// The same for 8 bits. The instruction gives the largest finite number where
/// there is none: the next code, infinity or NaN, is the right one then.
static SmallVector<Value> roundPairsToBytes(FragmentLowering &lowering,
                                            ArrayRef<Value> values, Type to) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc;
  Type i8 = builder.getI8Type(), i16 = builder.getI16Type();
  const llvm::fltSemantics &semantics = cast<FloatType>(to).getFloatSemantics();
  // Half way to what would follow the largest number, which is rounded up if
  // that is even.
  bool isE5M2 = isa<Float8E5M2Type>(to);
  float largest = llvm::APFloat::getLargest(semantics).convertToFloat();
  Value limit = arith::ConstantOp::create(
      builder, loc,
      builder.getF32FloatAttr(isE5M2 ? largest + 4096.0f : largest + 16.0f));
  auto predicate =
      isE5M2 ? arith::CmpFPredicate::OGE : arith::CmpFPredicate::OGT;
  StringRef intrinsic =
      isE5M2 ? "llvm.nvvm.ff.to.e5m2x2.rn" : "llvm.nvvm.ff.to.e4m3x2.rn";
  Value eight = arith::ConstantIntOp::create(builder, loc, 8, 16);
  SmallVector<Value> results;
  for (size_t i = 0; i + 1 < values.size(); i += 2) {
    Value pair = LLVM::CallIntrinsicOp::create(
                     builder, loc, i16, builder.getStringAttr(intrinsic),
                     ValueRange{values[i + 1], values[i]})
                     .getResult(0);
    for (int64_t k : {0, 1}) {
      Value size = math::AbsFOp::create(builder, loc, values[i + k]);
      Value over = arith::ExtUIOp::create(
          builder, loc, i16,
          arith::CmpFOp::create(builder, loc, predicate, size, limit));
      if (k == 1)
        over = arith::ShLIOp::create(builder, loc, over, eight);
      pair = arith::AddIOp::create(builder, loc, pair, over);
    }
    Value upper = arith::ShRUIOp::create(builder, loc, pair, eight);
    for (Value code : {pair, upper})
      results.push_back(lowering.fromBits(
          arith::TruncIOp::create(builder, loc, i8, code), to));
  }
  return results;
}

static bool isPairRounding(Operation *op) {
  auto truncate = dyn_cast<arith::TruncFOp>(op);
  if (!truncate)
    return false;
  Type from = getElementTypeOrSelf(truncate.getIn());
  Type to = getElementTypeOrSelf(truncate.getOut());
  auto mode = truncate.getRoundingmode();
  return from.isF32() &&
         isa<Float16Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type>(to) &&
         (!mode || *mode == arith::RoundingMode::to_nearest_even);
}

SmallVector<Value> FragmentLowering::applyElements(
    Operation *op, ArrayRef<SmallVector<Value>> operands, size_t count) {
  if (isPairRounding(op) && count % 2 == 0) {
    Type to = getElementTypeOrSelf(op->getResult(0).getType());
    return to.getIntOrFloatBitWidth() == 8
               ? roundPairsToBytes(*this, operands.front(), to)
               : roundPairs(*this, operands.front(), to);
  }
  SmallVector<Value> results;
  for (size_t i = 0; i < count; ++i) {
    SmallVector<Value> own;
    for (const SmallVector<Value> &operand : operands)
      own.push_back(operand[i]);
    Value result;
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      result = compareCoordinate(compare, own[0], own[1]);
    results.push_back(result ? result : applyScalar(op, own));
  }
  return results;
}

LogicalResult FragmentLowering::lowerConstant(Operation *op,
                                              const FragmentLayout &layout) {
  Value result = op->getResult(0);
  Type element = getElementTypeOrSelf(result.getType());
  Value value;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat)
      return op->emitOpError("is a constant whose elements differ, which no "
                             "fragment can hold");
    value = arith::ConstantOp::create(
        builder, loc, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
  } else if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    value = scalar(splat.getInput());
  } else {
    // An empty tensor; whoever reads it reads anything.
    value =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  }
  map(result, Fragment{layout, SmallVector<Value>(layout.registers(), value)});
  return success();
}

LogicalResult FragmentLowering::lowerElementwise(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return op->emitOpError("has no lowering to fragments");
  std::optional<FragmentLayout> layout = layoutOf(op->getResult(0).getType());
  if (!layout)
    return op->emitOpError("has no lowering: its result of type ")
           << op->getResult(0).getType() << " is not held in registers";
  if (isa<arith::ConstantOp, tensor::SplatOp, tensor::EmptyOp>(op))
    return lowerConstant(op, *layout);
  if (!OpTrait::hasElementwiseMappableTraits(op))
    return op->emitOpError("has no lowering to fragments");
  size_t count = layout->registers();
  SmallVector<SmallVector<Value>> operands;
  for (Value operand : op->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType())) {
      operands.emplace_back(count, scalar(operand));
      continue;
    }
    const Fragment *from = fragment(operand);
    if (!from || from->layout != *layout)
      return op->emitOpError("has an operand of type ")
             << operand.getType() << " that does not lie as the result does";
    operands.push_back(from->registers);
  }
  map(op->getResult(0), Fragment{*layout, applyElements(op, operands, count)});
  return success();
}
