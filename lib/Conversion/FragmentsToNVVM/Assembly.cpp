//===- Assembly.cpp - Arithmetic and assembly for fragments ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::df::fragments;

int64_t ThreadWeights::mask() const {
  int64_t mask = 0;
  for (int64_t weight : lane)
    mask |= weight;
  for (int64_t weight : warp)
    mask |= weight;
  for (int64_t weight : group)
    mask |= weight;
  return mask;
}

Value Assembly::constant(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, i32(), value);
}

Value Assembly::add(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AddIOp::create(builder, loc, a, b);
}

Value Assembly::add(Value a, int64_t b) { return b ? add(a, constant(b)) : a; }

Value Assembly::multiply(Value a, int64_t b) {
  if (b == 1)
    return a;
  if (llvm::isPowerOf2_64(uint64_t(b)))
    return arith::ShLIOp::create(builder, loc, a,
                                 constant(llvm::Log2_64(uint64_t(b))));
  return arith::MulIOp::create(builder, loc, a, constant(b));
}

Value Assembly::exclusiveOr(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::XOrIOp::create(builder, loc, a, b);
}

Value Assembly::exclusiveOr(Value a, int64_t b) {
  return b ? exclusiveOr(a, constant(b)) : a;
}

Value Assembly::bitAnd(Value a, int64_t b) {
  return arith::AndIOp::create(builder, loc, a, constant(b));
}

Value Assembly::shiftRight(Value a, unsigned b) {
  return b ? arith::ShRUIOp::create(builder, loc, a, constant(b)) : a;
}

/// Runs of bits whose weights double from one to the next become one product.
Value Assembly::combine(const Thread &thread, const ThreadWeights &weights,
                        bool exclusive) {
  Value total;
  auto take = [&](Value number, ArrayRef<int64_t> weights) {
    for (size_t first = 0; first != weights.size();) {
      int64_t weight = weights[first], seen = weight;
      size_t end = first + 1;
      if (weight)
        // The product adds: it is an exclusive or while no bit is met twice.
        for (; end != weights.size() && weights[end] == 2 * weights[end - 1] &&
               (!exclusive || !(weights[end] & seen));
             ++end)
          seen |= weights[end];
      if (weight) {
        Value bits = bitAnd(shiftRight(number, unsigned(first)),
                            (int64_t(1) << (end - first)) - 1);
        Value part = multiply(bits, weight);
        total = exclusive ? exclusiveOr(total, part) : add(total, part);
      }
      first = end;
    }
  };
  take(thread.lane, weights.lane);
  take(thread.warp, weights.warp);
  take(thread.group, weights.group);
  return total;
}

Value Assembly::sum(const Thread &thread, const ThreadWeights &weights) {
  return combine(thread, weights, /*exclusive=*/false);
}

Value Assembly::parity(const Thread &thread, const ThreadWeights &weights) {
  return combine(thread, weights, /*exclusive=*/true);
}

SmallVector<Value> Assembly::pack(ValueRange scalars) {
  SmallVector<Value> words;
  if (scalars.empty())
    return words;
  Type type = scalars.front().getType();
  unsigned bits = type.getIntOrFloatBitWidth(), perWord = 32 / bits;
  Type integer = builder.getIntegerType(bits);
  auto toInteger = [&](Value value) -> Value {
    return value.getType() == integer
               ? value
               : arith::BitcastOp::create(builder, loc, integer, value);
  };
  if (perWord == 1) {
    for (Value value : scalars)
      words.push_back(toInteger(value));
    return words;
  }
  auto vector = VectorType::get(perWord, integer);
  for (size_t first = 0; first < scalars.size(); first += perWord) {
    Value whole = LLVM::PoisonOp::create(builder, loc, vector);
    for (unsigned i = 0; i != perWord; ++i)
      whole = LLVM::InsertElementOp::create(
          builder, loc, whole, toInteger(scalars[first + i]), constant(i));
    words.push_back(LLVM::BitcastOp::create(builder, loc, i32(), whole));
  }
  return words;
}

SmallVector<Value> Assembly::unpack(ValueRange words, Type type) {
  SmallVector<Value> scalars;
  unsigned bits = type.getIntOrFloatBitWidth(), perWord = 32 / bits;
  Type integer = builder.getIntegerType(bits);
  auto fromInteger = [&](Value value) {
    scalars.push_back(
        type == integer ? value
                        : arith::BitcastOp::create(builder, loc, type, value));
  };
  for (Value word : words) {
    if (perWord == 1) {
      fromInteger(word);
      continue;
    }
    Value whole = LLVM::BitcastOp::create(
        builder, loc, VectorType::get(perWord, integer), word);
    for (unsigned i = 0; i != perWord; ++i)
      fromInteger(
          LLVM::ExtractElementOp::create(builder, loc, whole, constant(i)));
  }
  return scalars;
}

static StringRef constraint(Type type) {
  if (type.isF32())
    return "f";
  unsigned bits = type.getIntOrFloatBitWidth();
  return bits == 64 ? "l" : bits == 32 ? "r" : "h";
}

SmallVector<Value> Assembly::run(const Twine &text, TypeRange results,
                                 ValueRange inputs, ValueRange tied) {
  std::string constraints;
  for (Type type : results)
    constraints += ("=" + constraint(type) + ",").str();
  for (Value input : inputs)
    constraints += (constraint(input.getType()) + ",").str();
  for (size_t i = 0; i != tied.size(); ++i)
    constraints += std::to_string(i) + ",";
  constraints += "~{memory}";
  SmallVector<Value> operands(inputs);
  llvm::append_range(operands, tied);

  MLIRContext *context = builder.getContext();
  Type type;
  if (results.size() == 1)
    type = results.front();
  else if (!results.empty())
    type =
        LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(results));
  auto op = LLVM::InlineAsmOp::create(
      builder, loc, type, operands, text.str(), constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(context, LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  SmallVector<Value> values;
  if (results.size() == 1)
    values.push_back(op.getRes());
  else
    for (size_t i = 0; i != results.size(); ++i)
      values.push_back(
          LLVM::ExtractValueOp::create(builder, loc, op.getRes(), i));
  return values;
}
