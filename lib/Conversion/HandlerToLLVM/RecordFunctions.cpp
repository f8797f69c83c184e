//===- RecordFunctions.cpp - Functions on records in registers ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecordFunctions.h"
#include "dataflow/IR/Dataflow.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::df;
using handlers::RecordFunctions;

func::FuncOp RecordFunctions::begin(StringRef suffix,
                                    ArrayRef<Type> arguments) {
  auto current =
      func::FuncOp::create(builder, loc, (function.symbol + suffix).str(),
                           builder.getFunctionType(arguments, {}));
  functions.push_back(current);
  current.setPrivate();
  current->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  return current;
}

LogicalResult RecordFunctions::end(Block &block,
                                   ArrayRef<fragments::Place> arguments,
                                   ArrayRef<fragments::Place> stored,
                                   bool returns) {
  fragments::Options options;
  options.warp = function.warp;
  options.returnFields = returns;
  fragments::Info info;
  if (failed(fragments::lowerBody(builder, block, arguments, stored, options,
                                  info)))
    return failure();
  exchanges |= info.scratchBytes != 0;
  func::ReturnOp::create(builder, loc, info.results);
  func::FuncOp current = functions.back();
  current.setFunctionType(builder.getFunctionType(
      current.getArgumentTypes(), ValueRange(info.results).getTypes()));
  builder.setInsertionPointAfter(current);
  return success();
}

dfrt::ElementType
handlers::storedElement(const dfrt::Field &field,
                        std::optional<dfrt::ElementType> narrow) {
  bool isNarrow =
      narrow && field.separable >= 0 && field.element == dfrt::ElementType::f32;
  return isNarrow ? *narrow : field.element;
}

Type handlers::withElement(Type type, Type element) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return element;
  return RankedTensorType::get(tensor.getShape(), element,
                               tensor.getEncoding());
}

void handlers::narrowArgument(BlockArgument argument, Type element) {
  Type wide = argument.getType();
  // The body need not be part of an operation.
  OpBuilder builder(argument.getContext());
  builder.setInsertionPointToStart(argument.getOwner());
  argument.setType(withElement(wide, element));
  auto extended =
      arith::ExtFOp::create(builder, argument.getLoc(), wide, argument);
  argument.replaceAllUsesExcept(extended, extended);
}

Type RecordFunctions::loadedType(unsigned input, unsigned field, Type type) {
  const HandlerFunction::Input &from = function.inputs[input];
  return handlers::withElement(
      type, handlers::storageType(builder.getContext(),
                                  handlers::storedElement(
                                      from.record.fields[field], from.narrow)));
}

fragments::Place
RecordFunctions::memoryPlace(const dfrt::Record &record,
                             std::optional<dfrt::ElementType> narrow,
                             unsigned number, Value head, Value slices) {
  const dfrt::Field &field = record.fields[number];
  SmallVector<int64_t> shape(field.shape.begin(), field.shape.end());
  Value base = head;
  if (field.separable >= 0) {
    base = slices;
    if (function.sliced)
      shape[size_t(field.separable)] /= record.slices;
  }
  if (field.offset)
    base = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{int32_t(field.offset)});
  Type wide = handlers::storageType(builder.getContext(), field.element);
  Type element = handlers::storageType(builder.getContext(),
                                       handlers::storedElement(field, narrow));
  auto memory = MemRefType::get(shape, element);
  Value descriptor =
      MemRefDescriptor::fromStaticShape(builder, loc, converter, memory, base);
  fragments::Place place;
  place.value =
      UnrealizedConversionCastOp::create(builder, loc, memory, descriptor)
          .getResult(0);
  place.alignment = dfrt::kRecordAlignment;
  if (element != wide)
    place.wide = wide;
  return place;
}

LogicalResult RecordFunctions::buildLoad(StringRef suffix, unsigned inputs,
                                         ArrayRef<Read> reads) {
  SmallVector<Type> arguments(2 * inputs, pointer);
  Block *entry = begin(suffix, arguments).addEntryBlock();
  Region region;
  Block &block = region.emplaceBlock();
  OpBuilder inside(builder.getContext());
  inside.setInsertionPointToEnd(&block);
  builder.setInsertionPointToEnd(entry);
  SmallVector<fragments::Place> places;
  SmallVector<Value> results;
  for (const Read &read : reads) {
    const HandlerFunction::Input &input = function.inputs[read.input];
    fragments::Place place =
        memoryPlace(input.record, input.narrow, read.field,
                    entry->getArgument(2 * read.input),
                    entry->getArgument(2 * read.input + 1));
    // Whoever uses it widens it: nothing waits for the load here.
    place.wide = {};
    BlockArgument argument = block.addArgument(withoutLayout(read.type), loc);
    if (isa<RankedTensorType>(read.type)) {
      results.push_back(
          ConvertLayoutOp::create(inside, loc, read.type, argument));
    } else {
      place.value = memref::LoadOp::create(builder, loc, place.value);
      results.push_back(argument);
    }
    places.push_back(place);
  }
  func::ReturnOp::create(inside, loc, results);
  return end(block, places, {});
}
