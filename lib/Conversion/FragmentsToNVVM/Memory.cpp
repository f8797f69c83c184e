//===- Memory.cpp - Loads, stores and slices of memory --------------------===//
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

static int64_t bytesOf(Type element) {
  if (element.isIndex())
    return 8;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

/// The type of an element as LLVM knows it: formats that it has no vectors of
/// are moved as integers.
static Type storedType(Type element) {
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
  /// `single`: neighbours in the last dimension are accessed one by one.
  Access(FragmentLowering &lowering, const Memory &memory,
         const FragmentLayout &layout, bool single = false);

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
               const FragmentLayout &layout, bool single)
    : lowering(lowering), memory(memory), layout(layout),
      stored(storedType(memory.element)), bytes(bytesOf(memory.element)),
      vectorWidth(single ? 1 : chooseWidth()) {
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

/// An element as it is stored, and back.
static Value toStored(FragmentLowering &lowering, Value value) {
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(lowering.builder, lowering.loc,
                                      lowering.builder.getI64Type(), value);
  Type stored = storedType(value.getType());
  return stored == value.getType() ? value : lowering.toBits(value);
}

static Value fromStored(FragmentLowering &lowering, Value value, Type element) {
  if (element.isIndex())
    return arith::IndexCastOp::create(lowering.builder, lowering.loc, element,
                                      value);
  return lowering.fromBits(value, element);
}

Fragment FragmentLowering::load(const Memory &from,
                                const FragmentLayout &layout) {
  Access access(*this, from, layout);
  Type stored = storedType(from.element);
  Fragment result{layout, SmallVector<Value>(layout.registers())};
  unsigned width = access.width();
  for (unsigned reg = 0; reg < layout.registers(); reg += width) {
    Value address = access.address(reg);
    Type type = width == 1 ? stored : VectorType::get(width, stored);
    Value loaded = LLVM::LoadOp::create(builder, loc, type, address,
                                        unsigned(access.alignment()));
    for (unsigned i = 0; i < width; ++i) {
      Value value = width == 1 ? loaded
                               : LLVM::ExtractElementOp::create(builder, loc,
                                                                loaded, i32(i))
                                     .getResult();
      result.registers[reg + i] = fromStored(*this, value, from.element);
    }
  }
  return result;
}

Value FragmentLowering::isBelow(const FragmentLayout &layout, unsigned reg,
                                ArrayRef<OpFoldResult> limits) {
  FragmentLayout::Coordinates own = layout.coordinates(reg, 0);
  Value below;
  for (auto [dim, limit] : llvm::enumerate(limits)) {
    if (getConstantIntValue(limit) == layout.shape()[dim])
      continue;
    Value coordinate =
        add(arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                         threadCoordinate(layout, dim)),
            index(own[dim]));
    Value inside = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, coordinate, index(limit));
    below = below
                ? arith::AndIOp::create(builder, loc, below, inside).getResult()
                : inside;
  }
  return below;
}

void FragmentLowering::store(const Fragment &fragment, const Memory &to,
                             ArrayRef<OpFoldResult> limits) {
  const FragmentLayout &layout = fragment.layout;
  bool single = !limits.empty() &&
                getConstantIntValue(limits.back()) != layout.shape().back();
  Access access(*this, to, layout, single);
  Type stored = storedType(to.element);
  unsigned width = access.width();
  for (unsigned reg = 0; reg < fragment.registers.size(); reg += width) {
    OpBuilder::InsertionGuard guard(builder);
    if (Value below = isBelow(layout, reg, limits)) {
      auto branch = scf::IfOp::create(builder, loc, below, /*hasElse=*/false);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    Value value = toStored(*this, fragment.registers[reg]);
    if (width > 1) {
      Value vector =
          LLVM::PoisonOp::create(builder, loc, VectorType::get(width, stored));
      for (unsigned i = 0; i < width; ++i)
        vector = LLVM::InsertElementOp::create(
            builder, loc, vector, toStored(*this, fragment.registers[reg + i]),
            i32(i));
      value = vector;
    }
    LLVM::StoreOp::create(builder, loc, value, access.address(reg),
                          unsigned(access.alignment()));
  }
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

uint64_t df::fragments::knownMultiple(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return uint64_t(std::abs(*constant));
  Operation *definition = cast<Value>(value).getDefiningOp();
  auto operand = [&](unsigned number) {
    return knownMultiple(OpFoldResult(definition->getOperand(number)));
  };
  // A power of two at most, so that products do not overflow.
  auto bounded = [](uint64_t multiple) {
    return multiple ? std::min<uint64_t>(multiple & -multiple, 1024) : 0;
  };
  if (isa_and_nonnull<arith::MulIOp>(definition))
    return bounded(operand(0)) * bounded(operand(1));
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(definition))
    return std::gcd(operand(0), operand(1));
  return 1;
}

FailureOr<Memory> FragmentLowering::sliceOf(OffsetSizeAndStrideOpInterface op,
                                            const Memory &source,
                                            const llvm::SmallBitVector &drop) {
  Memory result = source;
  result.shape.clear();
  result.strides.clear();
  result.strideDivisors.clear();
  result.split = -1;
  int64_t bytes = bytesOf(source.element);
  Value offset;
  int64_t fixed = 0;
  for (unsigned dim = 0; dim < source.shape.size(); ++dim) {
    OpFoldResult begin = scalar(op.getMixedOffsets()[dim]);
    OpFoldResult size = scalar(op.getMixedSizes()[dim]);
    OpFoldResult step = scalar(op.getMixedStrides()[dim]);
    std::optional<int64_t> at = getConstantIntValue(begin);
    std::optional<int64_t> by = getConstantIntValue(step);
    if (!by)
      return op->emitOpError("has a stride that is not constant, for which "
                             "there is no lowering to fragments");
    bool isSplit = source.split == int64_t(dim);
    if (isSplit && (at != 0 || by != 1 || drop[dim]))
      return op->emitOpError("cuts the dimension ")
             << dim << " of a field, along which its slices lie apart";
    OpFoldResult stride = source.strides[dim];
    std::optional<int64_t> distance = getConstantIntValue(stride);
    if (at && distance) {
      fixed += *at * *distance;
      result.alignment =
          std::gcd<uint64_t>(result.alignment, *at * *distance * bytes);
    } else {
      Value skip = multiply(index(begin), index(stride));
      offset = offset ? add(offset, skip) : skip;
      uint64_t multiple = knownMultiple(op.getMixedOffsets()[dim]);
      result.alignment = std::gcd<uint64_t>(
          result.alignment, source.strideDivisors[dim] * bytes * multiple);
    }
    if (drop[dim])
      continue;
    if (isSplit)
      result.split = int64_t(result.shape.size());
    result.shape.push_back(size);
    result.strideDivisors.push_back(source.strideDivisors[dim] * *by);
    if (*by == 1)
      result.strides.push_back(stride);
    else if (distance)
      result.strides.push_back(builder.getIndexAttr(*distance * *by));
    else
      result.strides.push_back(multiply(index(stride), index(*by)));
  }
  Type stored = storedType(source.element);
  auto move = [&](LLVM::GEPArg by) {
    result.pointer =
        LLVM::GEPOp::create(builder, loc, result.pointer.getType(), stored,
                            result.pointer, ArrayRef<LLVM::GEPArg>{by});
  };
  if (offset)
    move(Value(arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                          offset)));
  if (fixed)
    move(int32_t(fixed));
  return result;
}

/// Whether a slice is that of a tile's first rows or columns, to be stored.
static bool storesOnly(tensor::ExtractSliceOp op) {
  return op.getType().getRank() == op.getSourceType().getRank() &&
         llvm::all_of(op.getMixedOffsets(), isZeroInteger) &&
         llvm::all_of(op.getMixedStrides(), isOneInteger) &&
         llvm::all_of(op->getUsers(), llvm::IsaPred<tensor::InsertSliceOp>);
}

LogicalResult FragmentLowering::lowerMemorySlice(tensor::ExtractSliceOp op) {
  const Memory *source = memory(op.getSource());
  if (fragment(op.getSource()) && storesOnly(op))
    return success(); // the store cuts it
  if (!source)
    return op.emitOpError("cuts a tensor that is held in registers, for which "
                          "there is no lowering");
  FailureOr<Memory> slice = sliceOf(op, Memory(*source), op.getDroppedDims());
  if (failed(slice))
    return failure();
  map(op.getResult(), std::move(*slice));
  return success();
}

LogicalResult FragmentLowering::lowerInsert(tensor::InsertSliceOp op) {
  const Memory *into = memory(op.getDest());
  if (!into)
    return op.emitOpError("updates a tensor that is no output");
  Memory whole = *into;
  Value stored = op.getSource();
  SmallVector<OpFoldResult> limits;
  if (auto cut = stored.getDefiningOp<tensor::ExtractSliceOp>();
      cut && fragment(cut.getSource())) {
    stored = cut.getSource();
    for (OpFoldResult size : cut.getMixedSizes())
      limits.push_back(scalar(size));
  }
  const Fragment *source = fragment(stored);
  if (!source)
    return op.emitOpError("inserts a tensor of type ")
           << op.getSourceType() << ", which is not held in registers";
  FailureOr<Memory> slice = sliceOf(op, whole, op.getDroppedDims());
  if (failed(slice))
    return failure();
  store(*source, *slice, limits);
  map(op.getResult(), std::move(whole));
  return success();
}

LogicalResult FragmentLowering::lowerExtract(tensor::ExtractOp op) {
  if (const Fragment *from = fragment(op.getTensor())) {
    // Every thread has all elements of a tile of one element.
    if (from->layout.elements() != 1)
      return op.emitOpError("reads one element of a fragment of ")
             << from->layout.elements();
    map(op.getResult(), from->registers.front());
    return success();
  }
  const Memory *from = memory(op.getTensor());
  if (!from)
    return op.emitOpError("reads one element of a shared tile");
  SmallVector<Value> indices;
  for (Value index : op.getIndices())
    indices.push_back(scalar(index));
  map(op.getResult(),
      loadElements(Memory(*from), indices, 1, uint64_t(bytesOf(from->element)))
          .front());
  return success();
}

SmallVector<Value> FragmentLowering::loadElements(const Memory &source,
                                                  ArrayRef<Value> indices,
                                                  unsigned count,
                                                  uint64_t alignment) {
  Value offset;
  auto skip = [&](Value steps, Value distance) {
    Value elements = multiply(steps, distance);
    offset = offset ? add(offset, elements) : elements;
  };
  for (auto [dim, position] : llvm::enumerate(indices)) {
    if (source.split == int64_t(dim)) {
      Value part = index(source.part);
      skip(arith::DivUIOp::create(builder, loc, position, part),
           index(source.pitch));
      Value within = arith::RemUIOp::create(builder, loc, position, part);
      skip(within, index(source.strides[dim]));
      continue;
    }
    skip(position, index(source.strides[dim]));
  }
  Type stored = storedType(source.element);
  Value address = source.pointer;
  if (offset) {
    Value words =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), offset);
    address = LLVM::GEPOp::create(builder, loc, address.getType(), stored,
                                  address, ArrayRef<LLVM::GEPArg>{words});
  }
  Type type = count == 1 ? stored : VectorType::get(count, stored);
  Value loaded =
      LLVM::LoadOp::create(builder, loc, type, address, unsigned(alignment));
  SmallVector<Value> elements;
  for (unsigned i = 0; i < count; ++i) {
    Value element = count == 1 ? loaded
                               : LLVM::ExtractElementOp::create(builder, loc,
                                                                loaded, i32(i))
                                     .getResult();
    elements.push_back(fromStored(*this, element, source.element));
  }
  return elements;
}

LogicalResult FragmentLowering::lowerDim(tensor::DimOp op) {
  std::optional<int64_t> dim = op.getConstantIndex();
  auto type = cast<RankedTensorType>(op.getSource().getType());
  if (!dim)
    return op.emitOpError("has no lowering to fragments: the dimension is not "
                          "constant");
  if (!type.isDynamicDim(*dim)) {
    map(op.getResult(), index(type.getDimSize(*dim)));
    return success();
  }
  map(op.getResult(), index(memory(op.getSource())->shape[*dim]));
  return success();
}
