//===- Slices.cpp - Slices of memory, and what is stored in them ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A slice of memory is memory again: nothing is moved before a load or a store.
// A slice of a tile in registers is what a store stores of it.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <numeric>

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;

uint64_t df::fragments::knownMultiple(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return uint64_t(std::abs(*constant));
  Operation *definition = cast<Value>(value).getDefiningOp();
  if (!definition)
    return 1;
  auto operand = [&](unsigned number) {
    return knownMultiple(OpFoldResult(definition->getOperand(number)));
  };
  // A power of two at most, so that products do not overflow.
  auto bounded = [](uint64_t multiple) {
    return multiple ? std::min<uint64_t>(multiple & -multiple, 1024) : 0;
  };
  if (isa<arith::MulIOp>(definition))
    return bounded(operand(0)) * bounded(operand(1));
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinUIOp, arith::MaxUIOp,
          arith::MinSIOp, arith::MaxSIOp>(definition))
    return std::gcd(operand(0), operand(1));
  if (isa<arith::SelectOp>(definition))
    return std::gcd(operand(1), operand(2));
  return 1;
}

Value FragmentLowering::lookUp(const Memory &table, Value number) {
  Value words =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), number);
  Value entry = LLVM::GEPOp::create(builder, loc, table.pointer.getType(),
                                    builder.getI64Type(), table.pointer,
                                    ArrayRef<LLVM::GEPArg>{words});
  return LLVM::LoadOp::create(builder, loc, table.pointer.getType(), entry, 8);
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
  unsigned first = 0;
  if (source.table) {
    if (getConstantIntValue(op.getMixedSizes()[0]) != 1)
      return op->emitOpError("takes several records of a table at once");
    result.pointer = lookUp(source, index(scalar(op.getMixedOffsets()[0])));
    result.table = false;
    first = 1;
    if (!drop[0]) {
      result.shape.push_back(builder.getIndexAttr(1));
      result.strides.push_back(source.strides[0]);
      result.strideDivisors.push_back(source.strideDivisors[0]);
    }
  }
  for (unsigned dim = first; dim < source.shape.size(); ++dim) {
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

LogicalResult FragmentLowering::lowerMemoryPad(tensor::PadOp op) {
  std::optional<FragmentLayout> layout = layoutOf(op.getType());
  Value padding = op.getConstantPaddingValue();
  if (!layout || !padding || !llvm::all_of(op.getMixedLowPad(), isZeroInteger))
    return op.emitOpError("pads a tensor in memory with something else than "
                          "one value behind its elements");
  Memory from = *memory(op.getSource());
  if (Operation *constant = padding.getDefiningOp();
      constant && op->isProperAncestor(constant)) {
    // It may stand in the body of the pad.
    padding = builder.clone(*constant)->getResult(0);
  } else {
    padding = scalar(padding);
  }
  map(op.getResult(), load(from, *layout, padding));
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
    if (source.table && dim == 0)
      continue;
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
  Value address =
      source.table ? lookUp(source, indices.front()) : source.pointer;
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
    elements.push_back(fromStored(*this, element, source));
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
