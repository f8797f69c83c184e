//===- BuildFunctions.cpp - Bodies under the packed convention ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two functions for each body. The outer one has the packed convention: it
// loads indices, pointers and sizes from the argument array and calls the inner
// one, whose pointers are `noalias`, so that after inlining LLVM knows that
// inputs, outputs and scratch do not overlap. The inner one makes memrefs of
// the pointers, tensors of the memrefs, and holds the body.
//
// On the device only inputs are `noalias`. What a barrier makes visible was
// written by other threads, through pointers that LLVM does not see: it would
// keep values of a `noalias` buffer in registers across the barrier.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "dataflow/IR/Dataflow.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::df;

Type handlers::storageType(MLIRContext *context, dfrt::ElementType element) {
  switch (element) {
  case dfrt::ElementType::f64:
    return Float64Type::get(context);
  case dfrt::ElementType::f32:
    return Float32Type::get(context);
  case dfrt::ElementType::f16:
    return Float16Type::get(context);
  case dfrt::ElementType::bf16:
    return BFloat16Type::get(context);
  case dfrt::ElementType::f8E4M3FN:
    return Float8E4M3FNType::get(context);
  case dfrt::ElementType::f8E5M2:
    return Float8E5M2Type::get(context);
  case dfrt::ElementType::i64:
    return IntegerType::get(context, 64);
  case dfrt::ElementType::i32:
    return IntegerType::get(context, 32);
  case dfrt::ElementType::i16:
    return IntegerType::get(context, 16);
  case dfrt::ElementType::i8:
    return IntegerType::get(context, 8);
  case dfrt::ElementType::i1:
    return IntegerType::get(context, 1);
  }
  return Type();
}

/// Where fragments are concerned, tensors of the program begin at multiples of
/// this (HandlerFunction::fragments).
static constexpr uint64_t kArgumentAlignment = 16;

namespace {

/// Where a field lies, and its logical shape.
struct FieldPlace {
  Type element; ///< in memory
  Type seen; ///< of the tensor that the body sees, which may be a wider float
  SmallVector<int64_t> shape; ///< of that tensor
  bool inSlices = false;      ///< relative to the slices pointer
  uint64_t offset = 0;
  int64_t dim = -1;   ///< separable dimension, if split in memory
  int64_t slices = 1; ///< more than one: split in memory
  int64_t pitch = 0;  ///< elements from one slice to the next
};

/// Builds the two functions for one body.
class FunctionBuilder {
public:
  FunctionBuilder(ModuleOp module, const HandlerFunction &function,
                  HandlerTarget target, fragments::Info &info,
                  std::optional<ArrayRef<Type>> held)
      : function(function), target(target), info(info), held(held),
        context(module.getContext()), loc(function.body->getLoc()),
        outer(context), inner(context), converter(context) {
    outer.setInsertionPointToEnd(module.getBody());
    inner.setInsertionPointToEnd(module.getBody());
    pointer = LLVM::LLVMPointerType::get(context);
    i64 = IntegerType::get(context, 64);
  }

  LogicalResult build();

private:
  FieldPlace place(const dfrt::Record &record, const dfrt::Field &field,
                   std::optional<dfrt::ElementType> narrow) const;
  LogicalResult checkBody(Block &block);
  void finish(func::FuncOp innerFunc);

  /// The next entry of the argument array, a pointer.
  Value nextPacked();
  /// Passes `value` to the inner function; the value there.
  Value pass(Value value);
  /// Passes the next packed argument as a pointer.
  Value passPointer() { return pass(nextPacked()); }
  Value passInteger();
  /// Passes pointer and sizes of the next descriptor; a memref of `type`.
  Value passDescriptor(RankedTensorType type);

  /// The arguments of the outer function: the array, and what is held.
  SmallVector<Type> registerTypes() const;
  /// Passes the next arguments of the outer function, the registers of a value
  /// of `type`.
  fragments::Place passRegisters(Type type);

  Value memrefAt(Value base, uint64_t offset, MemRefType type,
                 ValueRange sizes = {});
  Value fieldMemref(const FieldPlace &where, Value head, Value slices);
  Value readField(const FieldPlace &where, Value head, Value slices);
  /// A tensor of a field as the body sees it.
  Value widen(const FieldPlace &where, Value tensor);
  void writeField(const FieldPlace &where, Value value, Value head,
                  Value slices);
  Value toTensor(Value memref, RankedTensorType type, bool writable);
  /// `restrict`: nothing else of the body reads or writes `memref`.
  void materialize(Value tensor, Value memref, bool restrict);
  /// Where a field lies, for a body whose tensors carry layouts.
  fragments::Place fieldPlace(const FieldPlace &where, Value head,
                              Value slices);
  LogicalResult lowerFragments(Block &block,
                               ArrayRef<fragments::Place> arguments, Value head,
                               Value slices);

  const HandlerFunction &function;
  HandlerTarget target;
  fragments::Info &info;
  std::optional<ArrayRef<Type>> held;
  MLIRContext *context;
  Location loc;
  OpBuilder outer, inner;
  LLVMTypeConverter converter;
  Type pointer, i64;
  Block *outerBlock = nullptr, *innerBlock = nullptr;
  SmallVector<Value> passed;
  /// Arguments made now point to what nobody writes during the call.
  bool readOnly = false;
  SmallVector<unsigned> readOnlyArguments;
  int64_t packed = 0;
  unsigned registers = 0; ///< arguments of the outer function that are passed
};

} // namespace

FieldPlace
FunctionBuilder::place(const dfrt::Record &record, const dfrt::Field &field,
                       std::optional<dfrt::ElementType> narrow) const {
  FieldPlace result;
  dfrt::ElementType stored = handlers::storedElement(field, narrow);
  result.element = handlers::storageType(context, stored);
  result.seen = handlers::storageType(context, field.element);
  result.shape.assign(field.shape.begin(), field.shape.end());
  result.offset = field.offset;
  if (field.separable < 0)
    return result;
  result.inSlices = true;
  if (function.sliced) {
    result.shape[field.separable] /= record.slices;
  } else if (record.slices > 1) {
    result.dim = field.separable;
    result.slices = record.slices;
    result.pitch = record.sliceBytes / dfrt::elementBytes(stored);
  }
  return result;
}

Value FunctionBuilder::nextPacked() {
  Value slot = LLVM::GEPOp::create(outer, loc, pointer, pointer,
                                   outerBlock->getArgument(0),
                                   ArrayRef<LLVM::GEPArg>{int32_t(packed++)});
  return LLVM::LoadOp::create(outer, loc, pointer, slot);
}

Value FunctionBuilder::pass(Value value) {
  if (readOnly && value.getType() == pointer)
    readOnlyArguments.push_back(passed.size());
  passed.push_back(value);
  return innerBlock->addArgument(value.getType(), loc);
}

Value FunctionBuilder::passInteger() {
  Value value = pass(LLVM::LoadOp::create(outer, loc, i64, nextPacked()));
  return arith::IndexCastOp::create(inner, loc, inner.getIndexType(), value);
}

Value FunctionBuilder::passDescriptor(RankedTensorType type) {
  Value descriptor = nextPacked();
  auto word = [&](int64_t index) -> Value {
    Value slot = LLVM::GEPOp::create(outer, loc, pointer, i64, descriptor,
                                     ArrayRef<LLVM::GEPArg>{int32_t(index)});
    return LLVM::LoadOp::create(outer, loc, index < 2 ? pointer : i64, slot);
  };
  Type element = converter.convertType(type.getElementType());
  Value base = LLVM::GEPOp::create(outer, loc, pointer, element, word(1),
                                   ArrayRef<LLVM::GEPArg>{word(2)});
  Value data = pass(base);
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(pass(word(3 + dim)));
  return memrefAt(
      data, 0, MemRefType::get(type.getShape(), type.getElementType()), sizes);
}

SmallVector<Type> FunctionBuilder::registerTypes() const {
  SmallVector<Type> types{pointer};
  for (Type type : *held)
    fragments::appendRegisterTypes(type, types);
  return types;
}

fragments::Place FunctionBuilder::passRegisters(Type type) {
  fragments::Place place;
  SmallVector<Type> types;
  fragments::appendRegisterTypes(type, types);
  for (size_t i = 0; i < types.size(); ++i)
    place.registers.push_back(pass(outerBlock->getArgument(++registers)));
  if (!isa<RankedTensorType>(type))
    place.value = place.registers.front();
  return place;
}

Value FunctionBuilder::memrefAt(Value base, uint64_t offset, MemRefType type,
                                ValueRange sizes) {
  if (offset)
    base = LLVM::GEPOp::create(inner, loc, pointer, inner.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  Type structType = converter.convertType(type);
  auto descriptor = MemRefDescriptor::poison(inner, loc, structType);
  descriptor.setAllocatedPtr(inner, loc, base);
  descriptor.setAlignedPtr(inner, loc, base);
  descriptor.setConstantOffset(inner, loc, 0);
  SmallVector<int64_t> strides;
  int64_t start;
  (void)type.getStridesAndOffset(strides, start);
  SmallVector<Value> extents;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    Value extent;
    if (type.isDynamicDim(dim)) {
      extent = sizes.front();
      sizes = sizes.drop_front();
    } else {
      extent = LLVM::ConstantOp::create(
          inner, loc, i64, inner.getI64IntegerAttr(type.getDimSize(dim)));
    }
    extents.push_back(extent);
    descriptor.setSize(inner, loc, dim, extent);
  }
  Value stride;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    if (!ShapedType::isDynamic(strides[dim]))
      stride = LLVM::ConstantOp::create(inner, loc, i64,
                                        inner.getI64IntegerAttr(strides[dim]));
    else
      stride = LLVM::MulOp::create(inner, loc, stride, extents[dim + 1]);
    descriptor.setStride(inner, loc, dim, stride);
  }
  Value packedDescriptor = descriptor;
  return UnrealizedConversionCastOp::create(inner, loc, type, packedDescriptor)
      .getResult(0);
}

Value FunctionBuilder::fieldMemref(const FieldPlace &where, Value head,
                                   Value slices) {
  Value base = where.inSlices ? slices : head;
  if (where.slices == 1)
    return memrefAt(base, where.offset,
                    MemRefType::get(where.shape, where.element));
  SmallVector<int64_t> shape{where.slices}, strides{where.pitch};
  SmallVector<int64_t> part = where.shape;
  part[where.dim] /= where.slices;
  int64_t stride = 1;
  for (int64_t extent : part) {
    shape.push_back(extent);
    strides.push_back(1);
  }
  for (int64_t dim = part.size(); dim-- > 0;) {
    strides[dim + 1] = stride;
    stride *= part[dim];
  }
  auto layout = StridedLayoutAttr::get(context, 0, strides);
  return memrefAt(base, where.offset,
                  MemRefType::get(shape, where.element, layout));
}

Value FunctionBuilder::toTensor(Value memref, RankedTensorType type,
                                bool writable) {
  return bufferization::ToTensorOp::create(inner, loc, type, memref,
                                           /*restrict=*/true, writable);
}

void FunctionBuilder::materialize(Value tensor, Value memref, bool restrict) {
  bufferization::MaterializeInDestinationOp::create(
      inner, loc, TypeRange(), tensor, memref, restrict, /*writable=*/true);
}

/// The shape in memory [slices, a, part of b, c] and [a, slices, part of b, c],
/// from which the logical [a, b, c] follows by merging two neighbours.
static SmallVector<ReassociationIndices> mergeAt(int64_t dim, int64_t rank) {
  SmallVector<ReassociationIndices> result;
  for (int64_t i = 0, next = 0; i < rank; ++i) {
    result.push_back({next++});
    if (i == dim)
      result.back().push_back(next++);
  }
  return result;
}

Value FunctionBuilder::widen(const FieldPlace &where, Value tensor) {
  if (where.element == where.seen)
    return tensor;
  return arith::ExtFOp::create(
      inner, loc, RankedTensorType::get(where.shape, where.seen), tensor);
}

Value FunctionBuilder::readField(const FieldPlace &where, Value head,
                                 Value slices) {
  Value memref = fieldMemref(where, head, slices);
  auto memory = cast<MemRefType>(memref.getType());
  if (where.shape.empty())
    return memref::LoadOp::create(inner, loc, memref, ValueRange());
  Value tensor = toTensor(
      memref, RankedTensorType::get(memory.getShape(), where.element), false);
  if (where.slices == 1)
    return widen(where, tensor);
  if (where.dim != 0) {
    SmallVector<int64_t> order, shape;
    for (int64_t i = 1; i <= where.dim; ++i)
      order.push_back(i);
    order.push_back(0);
    for (int64_t i = where.dim + 1; i < memory.getRank(); ++i)
      order.push_back(i);
    for (int64_t from : order)
      shape.push_back(memory.getDimSize(from));
    Value empty = tensor::EmptyOp::create(inner, loc, shape, where.element);
    tensor = linalg::TransposeOp::create(inner, loc, tensor, empty, order)
                 ->getResult(0);
  }
  return widen(where, tensor::CollapseShapeOp::create(
                          inner, loc,
                          RankedTensorType::get(where.shape, where.element),
                          tensor, mergeAt(where.dim, where.shape.size())));
}

void FunctionBuilder::writeField(const FieldPlace &where, Value value,
                                 Value head, Value slices) {
  Value memref = fieldMemref(where, head, slices);
  auto memory = cast<MemRefType>(memref.getType());
  if (where.shape.empty()) {
    memref::StoreOp::create(inner, loc, value, memref, ValueRange());
    return;
  }
  if (where.element != where.seen)
    value = arith::TruncFOp::create(
        inner, loc, RankedTensorType::get(where.shape, where.element), value);
  if (where.slices > 1) {
    SmallVector<int64_t> split = where.shape, order{where.dim};
    split[where.dim] /= where.slices;
    split.insert(split.begin() + where.dim, where.slices);
    value = tensor::ExpandShapeOp::create(
        inner, loc, RankedTensorType::get(split, where.element), value,
        mergeAt(where.dim, where.shape.size()));
    for (int64_t i = 0; i < memory.getRank(); ++i)
      if (i != where.dim)
        order.push_back(i);
    Value empty =
        tensor::EmptyOp::create(inner, loc, memory.getShape(), where.element);
    value = linalg::TransposeOp::create(inner, loc, value, empty, order)
                ->getResult(0);
  }
  materialize(value, memref, true);
}

fragments::Place FunctionBuilder::fieldPlace(const FieldPlace &where,
                                             Value head, Value slices) {
  fragments::Place place{fieldMemref(where, head, slices),
                         where.slices > 1 ? where.dim : int64_t(-1),
                         dfrt::kRecordAlignment};
  if (where.element != where.seen)
    place.wide = where.seen;
  return place;
}

/// Writes the body, whose tensors carry layouts, at the end of the inner
/// function.
LogicalResult
FunctionBuilder::lowerFragments(Block &block,
                                ArrayRef<fragments::Place> arguments,
                                Value head, Value slices) {
  SmallVector<fragments::Place> fields;
  if (function.output)
    for (const dfrt::Field &field : function.output->fields)
      fields.push_back(fieldPlace(
          place(*function.output, field, function.narrow), head, slices));
  fragments::Options options;
  options.warp = function.warp;
  options.scratchLimit = function.fragmentLimit;
  options.mayDrop = function.mayDrop;
  options.lastingFields = function.lastingOutput;
  return fragments::lowerBody(inner, block, arguments, fields, options, info);
}

/// Tests that the body's arguments and results are those that `function` says.
LogicalResult FunctionBuilder::checkBody(Block &block) {
  unsigned fields = 0;
  for (const HandlerFunction::Input &input : function.inputs)
    fields += input.record.fields.size();
  unsigned expected = function.indices + function.operands + fields +
                      function.outputs + function.pointers +
                      (held ? held->size() : 0);
  if (block.getNumArguments() != expected)
    return emitError(loc) << "body of '" << function.symbol << "' has "
                          << block.getNumArguments() << " arguments, expected "
                          << expected;
  unsigned results = (function.output ? function.output->fields.size() : 0) +
                     function.outputs + function.mayDrop;
  if (block.getTerminator()->getNumOperands() != results)
    return emitError(loc) << "body of '" << function.symbol << "' returns "
                          << block.getTerminator()->getNumOperands()
                          << " values, expected " << results;
  auto checkType = [&](Type actual, const FieldPlace &where, bool collected,
                       StringRef name) -> LogicalResult {
    SmallVector<int64_t> shape = where.shape;
    if (collected)
      shape.insert(shape.begin(), ShapedType::kDynamic);
    Type type = where.seen;
    if (!shape.empty())
      type = RankedTensorType::get(shape, type);
    // How a field lies in registers is the body's affair.
    if (auto tensor = dyn_cast<RankedTensorType>(actual);
        tensor && function.fragments)
      actual =
          RankedTensorType::get(tensor.getShape(), tensor.getElementType());
    if (actual != type)
      return emitError(loc)
             << "body of '" << function.symbol << "' has type " << actual
             << " for field '" << name << "', expected " << type;
    return success();
  };
  unsigned argument = function.indices + function.operands;
  for (unsigned i = 0; i < function.indices; ++i)
    if (!block.getArgument(i).getType().isIndex())
      return emitError(loc) << "body of '" << function.symbol << "': argument "
                            << i << " must be an index";
  for (const HandlerFunction::Input &input : function.inputs)
    for (const dfrt::Field &field : input.record.fields)
      if (failed(checkType(block.getArgument(argument++).getType(),
                           place(input.record, field, input.narrow),
                           input.collected, field.name)))
        return failure();
  if (function.output)
    for (auto [i, field] : llvm::enumerate(function.output->fields))
      if (failed(checkType(block.getTerminator()->getOperand(i).getType(),
                           place(*function.output, field, function.narrow),
                           false, field.name)))
        return failure();
  return success();
}

LogicalResult FunctionBuilder::build() {
  if (!function.body->hasOneBlock())
    return emitError(loc) << "body of '" << function.symbol
                          << "' must have one block";
  // The body is cloned first, so that it can be promoted in place.
  Region body;
  IRMapping mapping;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(*function.body, captured);
  SmallVector<Operation *> constants;
  for (Value value : captured) {
    Operation *definition = value.getDefiningOp();
    if (!definition || !definition->hasTrait<OpTrait::ConstantLike>())
      return emitError(loc)
             << "body of '" << function.symbol << "' uses a value of type "
             << value.getType() << " from outside, and it is no constant";
    constants.push_back(definition->clone());
    mapping.map(value, constants.back()->getResult(0));
  }
  function.body->cloneInto(&body, mapping);
  Block &block = body.front();
  for (Operation *constant : llvm::reverse(constants))
    block.push_front(constant);
  unsigned lastOperand = function.indices + function.operands;
  if (target == HandlerTarget::cpuReference &&
      failed(
          handlers::promoteToF64(body, context, function.indices, lastOperand)))
    return failure();
  if (failed(checkBody(block)))
    return failure();

  if (held) {
    SmallVector<Type> types = registerTypes();
    auto outerFunc = func::FuncOp::create(outer, loc, function.symbol,
                                          outer.getFunctionType(types, {}));
    outerFunc.setPrivate();
    outerBlock = outerFunc.addEntryBlock();
  } else {
    auto outerType = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(context), {pointer}, /*isVarArg=*/false);
    auto outerFunc =
        LLVM::LLVMFuncOp::create(outer, loc, function.symbol, outerType);
    outerBlock = outerFunc.addEntryBlock(outer);
  }
  outer.setInsertionPointToStart(outerBlock);

  std::string innerName = function.symbol + "$body";
  auto innerFunc = func::FuncOp::create(inner, loc, innerName,
                                        inner.getFunctionType({}, {}));
  innerFunc.setPrivate();
  innerFunc->setAttr("llvm.linkage",
                     LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  innerBlock = innerFunc.addEntryBlock();
  inner.setInsertionPointToStart(innerBlock);

  // Of each argument of the body, its value; for a body with layouts, places.
  SmallVector<Value> arguments;
  SmallVector<fragments::Place> places;
  auto append = [&](Value value) {
    arguments.push_back(value);
    places.push_back({value});
  };
  auto appendTensor = [&](Value memref, RankedTensorType type, bool writable,
                          uint64_t alignment) {
    if (function.fragments)
      places.push_back({memref, -1, alignment});
    else
      arguments.push_back(toTensor(memref, type, writable));
  };
  for (unsigned i = 0; i < function.indices; ++i)
    append(passInteger());
  auto tensorArgument = [&](unsigned number) -> RankedTensorType {
    return dyn_cast<RankedTensorType>(block.getArgument(number).getType());
  };
  readOnly = true;
  for (unsigned i = function.indices; i < lastOperand; ++i) {
    RankedTensorType type = tensorArgument(i);
    if (!type)
      return emitError(loc) << "body of '" << function.symbol
                            << "': operand must be a ranked tensor, is "
                            << block.getArgument(i).getType();
    appendTensor(passDescriptor(type), type, false, kArgumentAlignment);
  }
  for (const HandlerFunction::Input &input : function.inputs) {
    const dfrt::Record &record = input.record;
    if (input.collected) {
      Value count = pass(LLVM::LoadOp::create(outer, loc, i64, nextPacked()));
      for (const dfrt::Field &field : record.fields) {
        SmallVector<int64_t> shape{ShapedType::kDynamic};
        llvm::append_range(shape, field.shape);
        Type element = handlers::storageType(context, field.element);
        Value memref =
            memrefAt(passPointer(), 0, MemRefType::get(shape, element), count);
        appendTensor(memref, RankedTensorType::get(shape, element), false,
                     dfrt::kRecordAlignment);
        if (function.tables)
          places.back().table = true;
      }
      continue;
    }
    Value head = passPointer(), slices = passPointer();
    for (const dfrt::Field &field : record.fields) {
      FieldPlace where = place(record, field, input.narrow);
      if (function.fragments && !where.shape.empty())
        places.push_back(fieldPlace(where, head, slices));
      else
        append(readField(where, head, slices));
    }
  }
  readOnly = false;
  if (held)
    for (Type type : *held)
      places.push_back(passRegisters(type));
  Value head, slices;
  if (function.output) {
    head = passPointer();
    slices = passPointer();
  }
  SmallVector<Value> outputs;
  for (unsigned i = 0; i < function.outputs; ++i) {
    unsigned number =
        block.getNumArguments() - function.pointers - function.outputs + i;
    RankedTensorType type = tensorArgument(number);
    if (!type)
      return emitError(loc) << "body of '" << function.symbol
                            << "': output must be a ranked tensor, is "
                            << block.getArgument(number).getType();
    outputs.push_back(passDescriptor(type));
    appendTensor(outputs.back(), type, true, kArgumentAlignment);
  }
  passPointer(); // Scratch, see planScratch.
  for (unsigned i = 0; i < function.pointers; ++i)
    append(passPointer());

  if (function.fragments) {
    if (failed(lowerFragments(block, places, head, slices)))
      return failure();
    finish(innerFunc);
    return success();
  }
  Operation *terminator = block.getTerminator();
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    argument.replaceAllUsesWith(value);
  SmallVector<Value> results(terminator->getOperands());
  terminator->erase();
  innerBlock->getOperations().splice(innerBlock->end(), block.getOperations());
  inner.setInsertionPointToEnd(innerBlock);
  unsigned fields = 0;
  if (function.output) {
    const dfrt::Record &record = *function.output;
    fields = record.fields.size();
    for (unsigned i = 0; i < fields; ++i)
      writeField(place(record, record.fields[i], function.narrow), results[i],
                 head, slices);
  }
  for (unsigned i = 0; i < function.outputs; ++i) {
    if (results[fields + i].getType() !=
        RankedTensorType::get(
            cast<MemRefType>(outputs[i].getType()).getShape(),
            cast<MemRefType>(outputs[i].getType()).getElementType()))
      return emitError(loc)
             << "body of '" << function.symbol
             << "' returns another type than that of output " << i;
    materialize(results[fields + i], outputs[i], false);
  }
  finish(innerFunc);
  return success();
}

/// Ends the inner function and calls it.
void FunctionBuilder::finish(func::FuncOp innerFunc) {
  func::ReturnOp::create(inner, loc);

  innerFunc.setFunctionType(
      inner.getFunctionType(innerBlock->getArgumentTypes(), {}));
  auto mark = [&](unsigned argument, StringRef name) {
    innerFunc.setArgAttr(argument, name, inner.getUnitAttr());
  };
  if (target == HandlerTarget::device) {
    for (unsigned argument : readOnlyArguments) {
      mark(argument, "llvm.noalias");
      mark(argument, handlers::kReadOnly);
    }
  } else {
    for (BlockArgument argument : innerBlock->getArguments())
      if (argument.getType() == pointer)
        mark(argument.getArgNumber(), "llvm.noalias");
  }
  func::CallOp::create(outer, loc, innerFunc, passed);
  if (held)
    func::ReturnOp::create(outer, loc);
  else
    LLVM::ReturnOp::create(outer, loc, ValueRange());
}

LogicalResult handlers::buildFunction(ModuleOp module,
                                      const HandlerFunction &function,
                                      HandlerTarget target,
                                      fragments::Info &info,
                                      std::optional<ArrayRef<Type>> held) {
  return FunctionBuilder(module, function, target, info, held).build();
}
