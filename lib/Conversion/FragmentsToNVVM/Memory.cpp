//===- Memory.cpp - Loads and stores of memory ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The address of an element is the sum of what the thread and what the register
// adds: coordinates of both have no bits in common. The first is computed once
// for a tile, the second is a constant unless strides are unknown. Registers
// that are neighbours in memory are accessed together, up to 16 bytes.
//
// Threads that hold the same element all store it: they store the same value.
//
// Of a tile that memory has only a part of, registers whose coordinates agree
// where it ends share a branch. Neighbours are accessed together when the part
// is the whole tile, or ends along other dimensions.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;

static constexpr int64_t kVectorBytes = 16;

int64_t df::fragments::bytesOf(Type element) {
  if (element.isIndex())
    return 8;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

Type df::fragments::storedType(Type element) {
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  if (isa<FloatType>(element) && !element.isF16() && !element.isF32() &&
      !element.isF64())
    return IntegerType::get(element.getContext(),
                            element.getIntOrFloatBitWidth());
  return element;
}

namespace {

/// Addresses of the elements of one tile.
class Access {
public:
  /// At most `limit` elements are accessed together.
  Access(FragmentLowering &lowering, const Memory &memory,
         const FragmentLayout &layout, unsigned limit);

  /// Elements that are accessed together.
  unsigned width() const { return vectorWidth; }
  Value address(unsigned reg);
  uint64_t alignment() const { return bytes * vectorWidth; }

private:
  /// What coordinate `value` of the split dimension adds, in elements.
  int64_t splitOffset(int64_t value) const {
    return value / memory.part * memory.pitch +
           value % memory.part *
               *getConstantIntValue(memory.strides[memory.split]);
  }
  bool isSplit(unsigned dim) const { return memory.split == int64_t(dim); }
  /// A part of the split dimension may begin between the elements that two
  /// threads hold in one register, at no power of two.
  bool isRough() const {
    return memory.split >= 0 && !llvm::isPowerOf2_64(memory.part) &&
           memory.part % layout.block()[memory.split] != 0;
  }
  unsigned chooseWidth() const;
  Value threadOffset(unsigned dim);

  FragmentLowering &lowering;
  const Memory &memory;
  const FragmentLayout &layout;
  Type stored;
  int64_t bytes;
  unsigned vectorWidth;
  Value base; ///< with what this thread adds
};

} // namespace

Access::Access(FragmentLowering &lowering, const Memory &memory,
               const FragmentLayout &layout, unsigned limit)
    : lowering(lowering), memory(memory), layout(layout),
      stored(storedType(memory.element)), bytes(bytesOf(memory.element)),
      vectorWidth(std::min(limit, chooseWidth())) {
  OpBuilder &builder = lowering.builder;
  Value offset;
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    if (isSplit(dim) && isRough())
      continue;
    Value own = threadOffset(dim);
    offset = offset ? lowering.add(offset, own) : own;
  }
  base = memory.pointer;
  if (!offset)
    return;
  Value words = arith::IndexCastOp::create(builder, lowering.loc,
                                           builder.getI64Type(), offset);
  base = LLVM::GEPOp::create(builder, lowering.loc, base.getType(), stored,
                             base, ArrayRef<LLVM::GEPArg>{words});
}

Value Access::threadOffset(unsigned dim) {
  OpBuilder &builder = lowering.builder;
  Value coordinate = arith::IndexCastUIOp::create(
      builder, lowering.loc, builder.getIndexType(),
      lowering.threadCoordinate(layout, dim));
  auto scaled = [&](Value value, OpFoldResult stride) {
    return lowering.multiply(value, lowering.index(stride));
  };
  if (!isSplit(dim) || layout.block()[dim] <= memory.part)
    return scaled(coordinate, memory.strides[dim]);
  Value part = lowering.index(memory.part);
  Value number =
      arith::DivUIOp::create(builder, lowering.loc, coordinate, part);
  Value within =
      arith::RemUIOp::create(builder, lowering.loc, coordinate, part);
  return lowering.add(scaled(within, memory.strides[dim]),
                      lowering.multiply(number, lowering.index(memory.pitch)));
}

unsigned Access::chooseWidth() const {
  unsigned rank = layout.rank();
  if (rank == 0 || memory.element.isInteger(1) || bytes > kVectorBytes ||
      getConstantIntValue(memory.strides[rank - 1]) != 1)
    return 1;
  unsigned width =
      std::min<int64_t>(layout.contiguous(rank - 1), kVectorBytes / bytes);
  uint64_t common = memory.alignment;
  for (unsigned dim = 0; dim + 1 < rank; ++dim)
    common = std::gcd<uint64_t>(common, memory.strideDivisors[dim] * bytes);
  if (memory.split >= 0)
    common = std::gcd<uint64_t>(common, memory.pitch * bytes);
  if (isSplit(rank - 1))
    common = std::gcd<uint64_t>(common, memory.part * bytes);
  while (width > 1 && common % (width * bytes) != 0)
    width /= 2;
  return width;
}

Value Access::address(unsigned reg) {
  OpBuilder &builder = lowering.builder;
  FragmentLayout::Coordinates own = layout.coordinates(reg, 0);
  int64_t fixed = 0;
  Value dynamic;
  auto append = [&](Value value) {
    dynamic = dynamic ? lowering.add(dynamic, value) : value;
  };
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    std::optional<int64_t> stride = getConstantIntValue(memory.strides[dim]);
    if (isSplit(dim) && isRough()) {
      Value coordinate =
          lowering.add(arith::IndexCastUIOp::create(
                           builder, lowering.loc, builder.getIndexType(),
                           lowering.threadCoordinate(layout, dim)),
                       lowering.index(own[dim]));
      Value part = lowering.index(memory.part);
      Value number =
          arith::DivUIOp::create(builder, lowering.loc, coordinate, part);
      Value within =
          arith::RemUIOp::create(builder, lowering.loc, coordinate, part);
      append(lowering.multiply(number, lowering.index(memory.pitch)));
      append(lowering.multiply(within, lowering.index(memory.strides[dim])));
    } else if (isSplit(dim)) {
      fixed += splitOffset(own[dim]);
    } else if (stride) {
      fixed += own[dim] * *stride;
    } else if (own[dim]) {
      append(lowering.multiply(lowering.index(memory.strides[dim]),
                               lowering.index(own[dim])));
    }
  }
  Value address = base;
  if (dynamic) {
    Value words = arith::IndexCastOp::create(builder, lowering.loc,
                                             builder.getI64Type(), dynamic);
    address =
        LLVM::GEPOp::create(builder, lowering.loc, address.getType(), stored,
                            address, ArrayRef<LLVM::GEPArg>{words});
  }
  if (fixed)
    address =
        LLVM::GEPOp::create(builder, lowering.loc, address.getType(), stored,
                            address, ArrayRef<LLVM::GEPArg>{int32_t(fixed)});
  return address;
}

/// An element as it is stored.
static Value toStored(FragmentLowering &lowering, Value value) {
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(lowering.builder, lowering.loc,
                                      lowering.builder.getI64Type(), value);
  Type stored = storedType(value.getType());
  return stored == value.getType() ? value : lowering.toBits(value);
}

Value df::fragments::fromStored(FragmentLowering &lowering, Value value,
                                const Memory &from) {
  OpBuilder &builder = lowering.builder;
  if (from.element.isIndex())
    return arith::IndexCastOp::create(builder, lowering.loc, from.element,
                                      value);
  value = lowering.fromBits(value, from.element);
  if (!from.wide)
    return value;
  return arith::ExtFOp::create(builder, lowering.loc, from.wide, value);
}

/// What memory keeps of a fragment.
static Fragment narrow(FragmentLowering &lowering, const Fragment &from,
                       const Memory &to) {
  if (!to.wide)
    return from;
  Fragment result{from.layout, {}};
  if (from.registers.size() % 2 == 0)
    result.registers = roundPairs(lowering, from.registers, to.element);
  else
    for (Value value : from.registers)
      result.registers.push_back(arith::TruncFOp::create(
          lowering.builder, lowering.loc, to.element, value));
  return result;
}

/// Loads `access.width()` elements, of which register `reg` is the first.
static void loadVector(FragmentLowering &lowering, Access &access,
                       const Memory &from, unsigned reg,
                       MutableArrayRef<Value> elements) {
  OpBuilder &builder = lowering.builder;
  unsigned width = access.width();
  Type stored = storedType(from.element);
  Type type = width == 1 ? stored : VectorType::get(width, stored);
  Value loaded =
      LLVM::LoadOp::create(builder, lowering.loc, type, access.address(reg),
                           unsigned(access.alignment()));
  for (unsigned i = 0; i < width; ++i) {
    Value value = width == 1
                      ? loaded
                      : LLVM::ExtractElementOp::create(builder, lowering.loc,
                                                       loaded, lowering.i32(i))
                            .getResult();
    elements[i] = fromStored(lowering, value, from);
  }
}

/// Stores a vector, or a scalar, as words of 32 bits that stay in the L2 cache.
static void storeLasting(FragmentLowering &lowering, Value value, Value address,
                         int64_t words) {
  OpBuilder &builder = lowering.builder;
  Type word = builder.getI32Type();
  Type type = words == 1 ? word : VectorType::get(words, word);
  Value bits = value;
  if (bits.getType() != type)
    bits = LLVM::BitcastOp::create(builder, lowering.loc, type, bits);
  SmallVector<Value> operands{address};
  for (int64_t i = 0; i < words; ++i)
    operands.push_back(words == 1
                           ? bits
                           : LLVM::ExtractElementOp::create(
                                 builder, lowering.loc, bits, lowering.i32(i))
                                 .getResult());
  lowering.call("dfk_store_lasting_" + std::to_string(words), {}, operands);
}

static void storeVector(FragmentLowering &lowering, Access &access,
                        const Memory &to, unsigned reg,
                        ArrayRef<Value> elements) {
  OpBuilder &builder = lowering.builder;
  unsigned width = access.width();
  Value value = toStored(lowering, elements.front());
  if (width > 1) {
    Value vector = LLVM::PoisonOp::create(
        builder, lowering.loc, VectorType::get(width, storedType(to.element)));
    for (unsigned i = 0; i < width; ++i)
      vector = LLVM::InsertElementOp::create(builder, lowering.loc, vector,
                                             toStored(lowering, elements[i]),
                                             lowering.i32(i));
    value = vector;
  }
  if (int64_t words = access.alignment() / 4; to.lasting && words != 0)
    return storeLasting(lowering, value, access.address(reg), words);
  LLVM::StoreOp::create(builder, lowering.loc, value, access.address(reg),
                        unsigned(access.alignment()));
}

Fragment FragmentLowering::load(const Memory &from,
                                const FragmentLayout &layout) {
  Access access(*this, from, layout, kVectorBytes);
  Fragment result{layout, SmallVector<Value>(layout.registers())};
  MutableArrayRef<Value> registers = result.registers;
  for (unsigned reg = 0; reg < registers.size(); reg += access.width())
    loadVector(*this, access, from, reg, registers.drop_front(reg));
  return result;
}

//===----------------------------------------------------------------------===//
// Parts of tiles
//===----------------------------------------------------------------------===//

namespace {

/// Registers that are there under one condition.
struct Guarded {
  Value condition;
  SmallVector<unsigned> registers; ///< the first of each vector
};

/// What a tile of `layout` has of memory whose extents are `part`.
class Part {
public:
  Part(FragmentLowering &lowering, const FragmentLayout &layout,
       ArrayRef<OpFoldResult> part)
      : lowering(lowering), layout(layout) {
    for (auto [dim, extent] : llvm::enumerate(part))
      if (getConstantIntValue(extent) != layout.shape()[dim]) {
        ends.push_back(dim);
        extents.push_back(lowering.index(extent));
      }
  }
  /// Whether the part ends along the dimension of vectors.
  bool cutsVectors() const {
    return !ends.empty() && ends.back() + 1 == layout.rank();
  }
  /// Whether the part is the whole tile, for all threads.
  Value isWhole();
  /// Vectors of `width` registers by the condition under which they are there.
  SmallVector<Guarded> guard(unsigned width);

private:
  Value both(Value a, Value b) {
    if (!a)
      return b;
    return arith::AndIOp::create(lowering.builder, lowering.loc, a, b);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(lowering.builder, lowering.loc, predicate, a,
                                 b);
  }

  FragmentLowering &lowering;
  const FragmentLayout &layout;
  SmallVector<unsigned> ends; ///< dimensions along which something is missing
  SmallVector<Value> extents;
};

} // namespace

Value Part::isWhole() {
  Value whole;
  for (auto [dim, extent] : llvm::zip(ends, extents))
    whole = both(whole, compare(arith::CmpIPredicate::sge, extent,
                                lowering.index(layout.shape()[dim])));
  return whole;
}

SmallVector<Guarded> Part::guard(unsigned width) {
  llvm::MapVector<SmallVector<int64_t>, SmallVector<unsigned>> groups;
  for (unsigned reg = 0; reg < layout.registers(); reg += width) {
    FragmentLayout::Coordinates own = layout.coordinates(reg, 0);
    SmallVector<int64_t> key;
    for (unsigned dim : ends)
      key.push_back(own[dim]);
    groups[key].push_back(reg);
  }
  SmallVector<Value> threads;
  for (unsigned dim : ends)
    threads.push_back(arith::IndexCastUIOp::create(
        lowering.builder, lowering.loc, lowering.builder.getIndexType(),
        lowering.threadCoordinate(layout, dim)));
  SmallVector<Guarded> result;
  for (auto &[key, registers] : groups) {
    Value condition;
    for (auto [own, thread, extent] : llvm::zip(key, threads, extents))
      condition =
          both(condition,
               compare(arith::CmpIPredicate::ult,
                       lowering.add(thread, lowering.index(own)), extent));
    result.push_back({condition, std::move(registers)});
  }
  return result;
}

/// Lets `write` fill the `count` values that a branch yields.
static void fillRegion(FragmentLowering &lowering, Block *block, unsigned count,
                       llvm::function_ref<void(MutableArrayRef<Value>)> write) {
  OpBuilder::InsertionGuard guard(lowering.builder);
  lowering.builder.setInsertionPointToStart(block);
  SmallVector<Value> values(count);
  write(values);
  scf::YieldOp::create(lowering.builder, lowering.loc, values);
}

Fragment FragmentLowering::load(const Memory &from,
                                const FragmentLayout &layout, Value padding) {
  Part part(*this, layout, from.shape);
  SmallVector<Type> types(layout.registers(),
                          from.wide ? from.wide : from.element);
  auto loadPart = [&](Access &access, MutableArrayRef<Value> result) {
    unsigned width = access.width();
    for (const Guarded &group : part.guard(width)) {
      auto branch = scf::IfOp::create(
          builder, loc,
          ArrayRef(types).take_front(group.registers.size() * width),
          group.condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
      unsigned count = branch.getNumResults();
      fillRegion(*this, branch.thenBlock(), count,
                 [&](MutableArrayRef<Value> values) {
                   for (auto [i, reg] : llvm::enumerate(group.registers))
                     loadVector(*this, access, from, reg,
                                values.drop_front(i * width));
                 });
      fillRegion(
          *this, branch.elseBlock(), count,
          [&](MutableArrayRef<Value> values) { llvm::fill(values, padding); });
      for (auto [i, reg] : llvm::enumerate(group.registers))
        for (unsigned j = 0; j < width; ++j)
          result[reg + j] = branch.getResult(i * width + j);
    }
  };
  Fragment result{layout, SmallVector<Value>(layout.registers())};
  if (!part.cutsVectors()) {
    Access access(*this, from, layout, kVectorBytes);
    loadPart(access, result.registers);
    return result;
  }
  auto whole = scf::IfOp::create(builder, loc, types, part.isWhole(),
                                 /*addThenBlock=*/true, /*addElseBlock=*/true);
  fillRegion(*this, whole.thenBlock(), types.size(),
             [&](MutableArrayRef<Value> values) {
               llvm::copy(load(from, layout).registers, values.begin());
             });
  fillRegion(*this, whole.elseBlock(), types.size(),
             [&](MutableArrayRef<Value> values) {
               Access access(*this, from, layout, 1);
               loadPart(access, values);
             });
  llvm::copy(whole.getResults(), result.registers.begin());
  return result;
}

void FragmentLowering::store(const Fragment &from, const Memory &to,
                             ArrayRef<OpFoldResult> limits) {
  Fragment fragment = fillSectors(narrow(*this, from, to), to);
  ArrayRef<Value> registers = fragment.registers;
  auto storeAll = [&]() {
    Access access(*this, to, fragment.layout, kVectorBytes);
    for (unsigned reg = 0; reg < registers.size(); reg += access.width())
      storeVector(*this, access, to, reg, registers.drop_front(reg));
  };
  if (limits.empty())
    return storeAll();
  Part part(*this, fragment.layout, limits);
  auto storePart = [&](unsigned limit) {
    Access access(*this, to, fragment.layout, limit);
    for (const Guarded &group : part.guard(access.width())) {
      auto branch = scf::IfOp::create(builder, loc, group.condition,
                                      /*withElse=*/false);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      for (unsigned reg : group.registers)
        storeVector(*this, access, to, reg, registers.drop_front(reg));
    }
  };
  if (!part.cutsVectors())
    return storePart(kVectorBytes);
  auto whole = scf::IfOp::create(builder, loc, part.isWhole(),
                                 /*withElse=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(whole.thenBlock());
  storeAll();
  builder.setInsertionPointToStart(whole.elseBlock());
  storePart(1);
}

void FragmentLowering::store(Value value, const Memory &to) {
  LLVM::StoreOp::create(builder, loc, toStored(*this, value), to.pointer,
                        unsigned(bytesOf(to.element)));
}

Memory FragmentLowering::sharedMemory(Value pointer, ArrayRef<int64_t> shape,
                                      Type element, uint64_t alignment) {
  Memory memory;
  memory.pointer = pointer;
  memory.element = element;
  memory.alignment = alignment;
  int64_t stride = 1;
  for (int64_t extent : llvm::reverse(shape)) {
    memory.shape.insert(memory.shape.begin(), builder.getIndexAttr(extent));
    memory.strides.insert(memory.strides.begin(), builder.getIndexAttr(stride));
    memory.strideDivisors.insert(memory.strideDivisors.begin(), stride);
    stride *= extent;
  }
  return memory;
}
