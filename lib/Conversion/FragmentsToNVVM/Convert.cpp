//===- Convert.cpp - From one layout of registers to another --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the thread where that is enough, by shuffles within warps, and else
// through the fragment scratch.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;

/// More shuffles an element than this are slower than memory.
static constexpr size_t kMostSelects = 2;

/// Runs `move` on 32-bit words that hold `value`.
static Value onWords(FragmentLowering &lowering, Value value,
                     function_ref<Value(Value)> move) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc;
  Type type = value.getType(), i32 = builder.getI32Type();
  if (type.isIndex()) {
    Value wide =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
    return arith::IndexCastOp::create(builder, loc, type,
                                      onWords(lowering, wide, move));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  Value bits = lowering.toBits(value);
  if (width == 32)
    return lowering.fromBits(move(bits), type);
  if (width < 32) {
    Value word = arith::ExtUIOp::create(builder, loc, i32, bits);
    return lowering.fromBits(
        arith::TruncIOp::create(builder, loc, bits.getType(), move(word)),
        type);
  }
  Value shift = arith::ConstantIntOp::create(builder, loc, 32, 64);
  Value low = move(arith::TruncIOp::create(builder, loc, i32, bits));
  Value high = move(arith::TruncIOp::create(
      builder, loc, i32, arith::ShRUIOp::create(builder, loc, bits, shift)));
  Type i64 = builder.getI64Type();
  low = arith::ExtUIOp::create(builder, loc, i64, low);
  high = arith::ShLIOp::create(
      builder, loc, arith::ExtUIOp::create(builder, loc, i64, high), shift);
  return lowering.fromBits(arith::OrIOp::create(builder, loc, low, high), type);
}

Value FragmentLowering::shuffleXor(Value value, unsigned mask) {
  return onWords(*this, value, [&](Value word) {
    return call("dfk_shuffle_xor", builder.getI32Type(),
                {word, i32(int64_t(mask))});
  });
}

Value FragmentLowering::shuffle(Value value, Value lane) {
  return onWords(*this, value, [&](Value word) {
    return call("dfk_shuffle", builder.getI32Type(), {word, lane});
  });
}

/// Each register comes from a lane and a register of this warp.
static Fragment shuffleFragment(FragmentLowering &lowering,
                                const Fragment &from, const FragmentLayout &to,
                                const LayoutRelation &moves) {
  using Bits = FragmentLowering::Bits;
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc;
  Value own = lowering.i32(0);
  for (auto [j, i] : llvm::enumerate(moves.laneFrom))
    if (i >= 0)
      own = lowering.add(
          own, lowering.multiply(lowering.threadBit(Bits::lane, unsigned(i)),
                                 lowering.i32(int64_t(1) << j)));
  SmallVector<Value> isSet;
  for (const LayoutRelation::Select &select : moves.selects) {
    unsigned bit = select.threadBit;
    Value value = bit < 5   ? lowering.threadBit(Bits::lane, bit)
                  : bit < 7 ? lowering.threadBit(Bits::warp, bit - 5)
                            : lowering.threadBit(Bits::group, bit - 7);
    isSet.push_back(arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne, value, lowering.i32(0)));
  }
  Fragment result{to, {}};
  for (unsigned reg = 0; reg < to.registers(); ++reg) {
    Value lane = lowering.add(own, lowering.i32(int64_t(moves.lanes[reg])));
    SmallVector<Value> candidates;
    for (unsigned choice = 0; choice < 1u << moves.selects.size(); ++choice) {
      unsigned source = moves.registers[reg];
      for (auto [k, select] : llvm::enumerate(moves.selects))
        source += (choice >> k & 1) ? select.offset : 0;
      candidates.push_back(lowering.shuffle(from.registers[source], lane));
    }
    for (Value bit : isSet) {
      SmallVector<Value> chosen;
      for (size_t i = 0; i + 1 < candidates.size(); i += 2)
        chosen.push_back(arith::SelectOp::create(
            builder, loc, bit, candidates[i + 1], candidates[i]));
      candidates = std::move(chosen);
    }
    result.registers.push_back(candidates.front());
  }
  return result;
}

FailureOr<Fragment> FragmentLowering::convert(Operation *op,
                                              const Fragment &from,
                                              const FragmentLayout &to) {
  LayoutRelation moves = relation(from.layout, to);
  switch (moves.kind) {
  case LayoutRelation::Kind::same:
  case LayoutRelation::Kind::registers: {
    Fragment result{to, {}};
    for (unsigned reg : moves.registers)
      result.registers.push_back(from.registers[reg]);
    return result;
  }
  case LayoutRelation::Kind::shuffle:
    if (options.warp || moves.selects.size() <= kMostSelects)
      return shuffleFragment(*this, from, to, moves);
    break;
  case LayoutRelation::Kind::shared:
    break;
  }
  if (options.warp)
    return op->emitOpError("moves elements between warps, in a function that "
                           "each warp runs by itself");
  Type element = from.registers.front().getType();
  int64_t bytes = element.isIndex()
                      ? 8
                      : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  unsigned site = allocateScratch(bytes * to.elements(), 16);
  Memory memory =
      sharedMemory(beginWritePointer(site), from.layout.shape(), element, 16);
  store(from, memory);
  publish();
  Fragment result = load(memory, to);
  noteRead(site);
  return result;
}
