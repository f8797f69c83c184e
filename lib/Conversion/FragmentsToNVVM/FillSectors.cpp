//===- FillSectors.cpp - Narrow elements that are stored together ---------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory is written in sectors. Where a warp would store halves of them, as it
// does with 16-bit accumulators that lie across the rows of memory, lanes first
// exchange elements, so that each has a few neighbours and a few lanes together
// have a sector.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;

static constexpr unsigned kSharedSpace = 3;
static constexpr int64_t kSectorBytes = 32;
/// Rows whose extent nobody knows.
static constexpr int64_t kLongRow = int64_t(1) << 62;
/// What a thread is to store at a time, the best first.
static constexpr int64_t kStoreBytes[] = {16, 8};

using Bases = llvm::SmallVectorImpl<FragmentLayout::Base>;

static FragmentLayout::Base *findBase(Bases &bases, unsigned dim,
                                      int64_t step) {
  for (FragmentLayout::Base &base : bases)
    if (base.dim == dim && base.step == step)
      return &base;
  return nullptr;
}

/// How many elements lie together in a row of memory: of a dimension whose
/// slices lie apart, those of a slice.
static int64_t rowOf(const Memory &to) {
  unsigned dim = to.strides.size() - 1;
  if (to.split == int64_t(dim))
    return to.part;
  return getConstantIntValue(to.shape[dim]).value_or(kLongRow);
}

/// How many neighbours in memory a warp holds from an element on, as far as
/// `width` of a thread and lanes go on with each other: along the last
/// dimension, and from row to row where nothing lies between them.
static int64_t runOf(FragmentLayout::Description &layout, const Memory &to,
                     int64_t width) {
  unsigned dim = to.strides.size() - 1;
  int64_t row = rowOf(to);
  while (width < row && findBase(layout.lanes, dim, width))
    width *= 2;
  if (width != row || dim == 0 ||
      getConstantIntValue(to.strides[dim - 1]) != row)
    return width;
  for (int64_t step = 1; findBase(layout.lanes, dim - 1, step); step *= 2)
    width *= 2;
  return width;
}

/// The register that may go to a lane instead: rather one that is further along
/// `dim` than what a thread will hold.
static FragmentLayout::Base *findSpare(Bases &registers, unsigned dim,
                                       int64_t width) {
  FragmentLayout::Base *spare = nullptr;
  for (FragmentLayout::Base &base : registers) {
    if (base.dim == dim && base.step < width)
      continue;
    if (!spare ||
        (base.dim == dim && (spare->dim != dim || base.step < spare->step)))
      spare = &base;
  }
  return spare;
}

/// A word of two 16-bit elements, and its halves.
static Value packPair(FragmentLowering &lowering, Value low, Value high) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc;
  Type word = builder.getI32Type();
  low = arith::ExtUIOp::create(builder, loc, word, lowering.toBits(low));
  high = arith::ExtUIOp::create(builder, loc, word, lowering.toBits(high));
  high = arith::ShLIOp::create(builder, loc, high, lowering.i32(16));
  return arith::OrIOp::create(builder, loc, high, low);
}

static std::pair<Value, Value> unpackPair(FragmentLowering &lowering,
                                          Value word, Type element) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc;
  auto half = [&](Value bits) {
    return lowering.fromBits(
        arith::TruncIOp::create(builder, loc, builder.getI16Type(), bits),
        element);
  };
  return {half(word),
          half(arith::ShRUIOp::create(builder, loc, word, lowering.i32(16)))};
}

static bool isNarrow(Type element) {
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() == 16;
}

/// The layout that transposeCores leaves.
static FragmentLayout transposed(const FragmentLayout &from, unsigned regBit) {
  FragmentLayout::Description layout = from.describe();
  FragmentLayout::Base across = layout.registers[regBit];
  FragmentLayout::Base along = layout.lanes[2];
  layout.registers[regBit] = along;
  for (unsigned bit = 0; bit < 5; ++bit) {
    layout.lanes[bit] = bit < 2 ? along : across;
    layout.lanes[bit].step <<= bit < 2 ? bit + 1 : bit - 2;
  }
  return FragmentLayout::get(layout);
}

/// The layout with its block repeated along `dim` as often as it can be: then
/// bits of the register say what the number of the block said.
static FragmentLayout::Description unfold(const FragmentLayout &from,
                                          unsigned dim) {
  FragmentLayout::Description layout = from.describe();
  if (layout.order.empty() || layout.order.front() != dim)
    return layout;
  while (layout.shape[dim] / layout.block[dim] % 2 == 0 &&
         layout.registers.size() < FragmentLayout::maxRegisterBits) {
    layout.registers.push_back({dim, int32_t(layout.block[dim])});
    layout.block[dim] *= 2;
  }
  return layout;
}

/// The layout that exchangeBit leaves.
static FragmentLayout exchanged(const FragmentLayout &from, unsigned regBit,
                                unsigned laneBit) {
  FragmentLayout::Description layout =
      unfold(from, from.laneBases()[laneBit].dim);
  std::swap(layout.registers[regBit], layout.lanes[laneBit]);
  return FragmentLayout::get(layout);
}

Fragment FragmentLowering::transposeCores(const Fragment &from,
                                          unsigned regBit) {
  FragmentLayout::Base along = from.layout.laneBases()[2];
  Fragment result{transposed(from.layout, regBit), {}};
  result.registers.resize(from.registers.size());
  Type element = from.registers.front().getType();
  for (unsigned reg = 0; reg < from.registers.size(); ++reg) {
    if (reg >> regBit & 1)
      continue;
    Value word = packPair(*this, from.registers[reg],
                          from.registers[reg | 1u << regBit]);
    auto [low, high] = unpackPair(
        *this, call("dfk_transpose", builder.getI32Type(), word), element);
    FragmentLayout::Coordinates at = from.layout.coordinates(reg, 0);
    result.registers[result.layout.place(at).reg] = low;
    at[along.dim] += along.step;
    result.registers[result.layout.place(at).reg] = high;
  }
  return result;
}

Fragment FragmentLowering::exchangeBit(const Fragment &from, unsigned regBit,
                                       unsigned laneBit) {
  FragmentLayout::Base moved = from.layout.laneBases()[laneBit];
  Fragment result{exchanged(from.layout, regBit, laneBit), {}};
  result.registers.resize(from.registers.size());

  unsigned mask = 1u << regBit;
  Value upper = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                      threadBit(Bits::lane, laneBit), i32(0));
  auto choose = [&](Value yes, Value no) -> Value {
    return arith::SelectOp::create(builder, loc, upper, yes, no);
  };
  // Where the new layout has what register `reg` held, or its new half.
  auto put = [&](unsigned reg, bool half, Value value) {
    FragmentLayout::Coordinates at = from.layout.coordinates(reg & ~mask, 0);
    if (half)
      at[moved.dim] += moved.step;
    result.registers[result.layout.place(at).reg] = value;
  };
  auto exchange = [&](Value low, Value high) -> std::pair<Value, Value> {
    Value got = shuffleXor(choose(low, high), 1u << laneBit);
    return {choose(got, low), choose(high, got)};
  };
  SmallVector<unsigned> lows;
  for (unsigned reg = 0; reg < from.registers.size(); ++reg)
    if (!(reg & mask))
      lows.push_back(reg);
  Type element = from.registers.front().getType();
  bool pairs = isNarrow(element) && lows.size() % 2 == 0;
  for (unsigned i = 0; i < lows.size(); i += pairs ? 2 : 1) {
    unsigned a = lows[i];
    ArrayRef<Value> old = from.registers;
    if (!pairs) {
      auto [low, high] = exchange(old[a], old[a | mask]);
      put(a, false, low);
      put(a, true, high);
      continue;
    }
    unsigned b = lows[i + 1];
    auto words = exchange(packPair(*this, old[a], old[b]),
                          packPair(*this, old[a | mask], old[b | mask]));
    for (bool half : {false, true}) {
      auto [first, second] =
          unpackPair(*this, half ? words.second : words.first, element);
      put(a, half, first);
      put(b, half, second);
    }
  }
  return result;
}

/// The bit of a register that holds, with the lanes, 8 x 8 elements as the
/// accumulators of wgmma do, `dim` along lanes 4 apart.
static std::optional<unsigned> findCore(FragmentLayout::Description &layout,
                                        unsigned dim) {
  for (auto [bit, base] : llvm::enumerate(layout.registers)) {
    if (base.dim == dim)
      continue;
    bool fits = true;
    for (int lane = 0; lane < 5; ++lane) {
      FragmentLayout::Base want = base;
      want.step <<= lane + 1;
      if (lane >= 2)
        want = {dim, 1 << (lane - 2)};
      fits &= layout.lanes[lane] == want;
    }
    if (fits)
      return bit;
  }
  return std::nullopt;
}

namespace {
/// How a tile comes to lie in whole sectors.
struct Exchange {
  /// The bit of a register for transposeCores, where an instruction transposes
  /// them: then less is left to exchange.
  std::optional<unsigned> core;
  /// Bits of the register and of the lane, for exchangeBit.
  SmallVector<std::pair<unsigned, unsigned>> bits;
  FragmentLayout layout; ///< in the end
};
} // namespace

/// So that a thread has `width` neighbours in a row of `to`, and lanes together
/// `sector` of them; nothing where that cannot be.
static std::optional<Exchange> planExchange(const FragmentLayout &from,
                                            bool narrow, const Memory &to,
                                            int64_t width, int64_t sector) {
  unsigned dim = from.rank() - 1;
  Exchange plan;
  plan.layout = from;
  FragmentLayout::Description layout = from.describe();
  if (narrow)
    plan.core = findCore(layout, dim);
  if (plan.core)
    plan.layout = transposed(plan.layout, *plan.core);
  for (int64_t step = 1; step < width; step *= 2) {
    layout = unfold(plan.layout, dim);
    FragmentLayout::Base *lane = findBase(layout.lanes, dim, step);
    if (!lane)
      continue;
    FragmentLayout::Base *spare = findSpare(layout.registers, dim, width);
    if (!spare)
      return std::nullopt;
    plan.bits.push_back(
        {spare - layout.registers.begin(), lane - layout.lanes.begin()});
    plan.layout =
        exchanged(plan.layout, plan.bits.back().first, plan.bits.back().second);
  }
  // Neighbours come one after the other.
  layout = unfold(plan.layout, dim);
  llvm::stable_sort(layout.registers, [&](auto a, auto b) {
    return a.dim == dim && (b.dim != dim || a.step < b.step);
  });
  plan.layout = FragmentLayout::get(layout);
  if (plan.layout.contiguous(dim) < width || runOf(layout, to, width) < sector)
    return std::nullopt;
  return plan;
}

Fragment FragmentLowering::fillSectors(Fragment fragment, const Memory &to) {
  unsigned rank = fragment.layout.rank();
  int64_t bytes =
      (to.element.isIntOrFloat() ? to.element.getIntOrFloatBitWidth() : 64) / 8;
  if (cast<LLVM::LLVMPointerType>(to.pointer.getType()).getAddressSpace() ==
          kSharedSpace ||
      rank == 0 || bytes == 0 || getConstantIntValue(to.strides[rank - 1]) != 1)
    return fragment;
  int64_t sector = kSectorBytes / bytes;
  FragmentLayout::Description layout = fragment.layout.describe();
  int64_t own =
      std::min(int64_t(fragment.layout.contiguous(rank - 1)), rowOf(to));
  if (runOf(layout, to, own) >= sector)
    return fragment;
  // Nothing is written before it is known to lead to whole sectors.
  std::optional<Exchange> plan;
  for (int64_t vector : kStoreBytes)
    if (!plan && bytes < vector && rowOf(to) % (vector / bytes) == 0)
      plan = planExchange(fragment.layout,
                          isNarrow(fragment.registers.front().getType()), to,
                          vector / bytes, sector);
  if (!plan)
    return fragment;
  if (plan->core)
    fragment = transposeCores(fragment, *plan->core);
  for (auto [reg, lane] : plan->bits)
    fragment = exchangeBit(fragment, reg, lane);
  Fragment result{plan->layout, {}};
  for (unsigned reg = 0; reg < plan->layout.registers(); ++reg) {
    FragmentLayout::Place place =
        fragment.layout.place(plan->layout.coordinates(reg, 0));
    result.registers.push_back(fragment.registers[place.reg]);
  }
  return result;
}
