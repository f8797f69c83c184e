//===- StateFunctions.cpp - A record of a reduce in registers -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pairwise handler on fragments reads two records from memory and writes one.
// Here it becomes functions that bring a record into registers, combine two
// records there, and take a record to memory. The layouts are those in which
// the handler returns its fields.
//
//===----------------------------------------------------------------------===//

#include "RecordFunctions.h"
#include "dataflow/IR/Dataflow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::df;

namespace {

class StateBuilder : public handlers::RecordFunctions {
public:
  using RecordFunctions::RecordFunctions;

  /// Copies the body and makes its inputs registers; false if that is not
  /// possible.
  bool prepare();
  LogicalResult build();

private:
  /// The next registers of `values` that stand for a value of `type`; they are
  /// removed.
  fragments::Place takeRegisters(Type type, ValueRange &values);
  LogicalResult buildWiden();
  LogicalResult buildMerge();
  enum class Part { whole, head, slice };
  LogicalResult buildStore(StringRef suffix, Part part);

  Region body;
  SmallVector<Type> fields; ///< fragments or scalars
  SmallVector<Type> loaded; ///< the same, with the elements of memory
};

/// The registers in which functions pass values of `fields`.
SmallVector<Type> registerTypes(ArrayRef<Type> fields) {
  SmallVector<Type> types;
  for (Type type : fields)
    fragments::appendRegisterTypes(type, types);
  return types;
}

} // namespace

bool StateBuilder::prepare() {
  if (!function.fragments || !function.output || function.outputs ||
      function.operands || function.inputs.size() != 2 ||
      function.inputs[0].collected || function.inputs[1].collected)
    return false;
  // Only then the bytes of a field lie together.
  const dfrt::Record &record = *function.output;
  if (!function.sliced && record.slices != 1)
    return false;
  IRMapping mapping;
  function.body->cloneInto(&body, mapping);
  Block &block = body.front();
  unsigned count = record.fields.size();
  unsigned used = function.indices + 2 * count;
  for (BlockArgument argument : block.getArguments().drop_front(used))
    if (!argument.use_empty())
      return false;
  block.eraseArguments(used, block.getNumArguments() - used);

  ValueRange results = block.getTerminator()->getOperands();
  for (unsigned i = 0; i < count; ++i) {
    Type type = results[i].getType();
    if (isa<RankedTensorType>(type) && !getFragmentLayout(type))
      return false;
    for (unsigned input : {0, 1})
      if (failed(handlers::holdField(
              block.getArgument(function.indices + input * count + i), type)))
        return false;
    fields.push_back(type);
    loaded.push_back(loadedType(1, i, type));
    if (loaded.back() != type)
      handlers::narrowArgument(block.getArgument(function.indices + count + i),
                               getElementTypeOrSelf(loaded.back()));
  }
  return true;
}

fragments::Place StateBuilder::takeRegisters(Type type, ValueRange &values) {
  SmallVector<Type> registers = registerTypes(type);
  fragments::Place place;
  if (isa<RankedTensorType>(type))
    llvm::append_range(place.registers, values.take_front(registers.size()));
  else
    place.value = values.front();
  values = values.drop_front(registers.size());
  return place;
}

/// What merging does to a record that was loaded, for the first of all.
LogicalResult StateBuilder::buildWiden() {
  Block *entry = begin("$widen", registerTypes(loaded)).addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  Region region;
  Block &block = region.emplaceBlock();
  ValueRange registers = entry->getArguments();
  OpBuilder inside(builder.getContext());
  inside.setInsertionPointToEnd(&block);
  SmallVector<fragments::Place> places;
  SmallVector<Value> results;
  for (auto [type, from] : llvm::zip(fields, loaded)) {
    Value value = block.addArgument(from, loc);
    places.push_back(takeRegisters(from, registers));
    if (from != type)
      value = arith::ExtFOp::create(inside, loc, type, value);
    results.push_back(value);
  }
  func::ReturnOp::create(inside, loc, results);
  return end(block, places, {});
}

LogicalResult StateBuilder::buildMerge() {
  SmallVector<Type> arguments{pointer};
  llvm::append_range(arguments, registerTypes(fields));
  llvm::append_range(arguments, registerTypes(loaded));
  Block *entry = begin("$merge", arguments).addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  SmallVector<fragments::Place> places;
  for (unsigned i = 0; i < function.indices; ++i) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer,
                                     entry->getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    Value cell = LLVM::LoadOp::create(builder, loc, pointer, slot);
    Value word = LLVM::LoadOp::create(builder, loc, builder.getI64Type(), cell);
    fragments::Place place;
    place.value =
        arith::IndexCastOp::create(builder, loc, builder.getIndexType(), word);
    places.push_back(place);
  }
  ValueRange registers = entry->getArguments().drop_front();
  for (ArrayRef<Type> record : {ArrayRef<Type>(fields), ArrayRef<Type>(loaded)})
    for (Type type : record)
      places.push_back(takeRegisters(type, registers));
  return end(body.front(), places, {});
}

/// A function that stores the fields of the head, of the slice, or both.
LogicalResult StateBuilder::buildStore(StringRef suffix, Part part) {
  SmallVector<Type> arguments = registerTypes(fields);
  arguments.append({pointer, pointer});
  Block *entry = begin(suffix, arguments).addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  Region region;
  Block &block = region.emplaceBlock();
  ValueRange registers = entry->getArguments();
  Value head = entry->getArgument(registers.size() - 2);
  Value slices = entry->getArgument(registers.size() - 1);
  SmallVector<fragments::Place> places, stored;
  SmallVector<Value> values;
  for (auto [number, field] : llvm::enumerate(fields)) {
    BlockArgument argument = block.addArgument(field, loc);
    places.push_back(takeRegisters(field, registers));
    bool inSlice = function.output->fields[number].separable >= 0;
    if (part != Part::whole && inSlice != (part == Part::slice))
      continue;
    values.push_back(argument);
    stored.push_back(memoryPlace(*function.output, function.narrow,
                                 unsigned(number), head, slices));
  }
  OpBuilder inside(builder.getContext());
  inside.setInsertionPointToEnd(&block);
  func::ReturnOp::create(inside, loc, values);
  return end(block, places, stored, /*returns=*/false);
}

LogicalResult StateBuilder::build() {
  // Both inputs are records of the output's layout.
  SmallVector<Read> reads;
  for (auto [number, type] : llvm::enumerate(loaded))
    reads.push_back({0, unsigned(number), type});
  if (failed(buildLoad("$load", 1, reads)) ||
      (loaded != fields && failed(buildWiden())) || failed(buildMerge()))
    return failure();
  // The head belongs to all slices; one of those who fold these stores it.
  if (!function.sliced) {
    if (failed(buildStore("$store", Part::whole)))
      return failure();
  } else if (failed(buildStore("$store", Part::slice)) ||
             failed(buildStore("$head", Part::head))) {
    return failure();
  }
  // A fold has no barriers between its calls.
  if (exchanges)
    for (func::FuncOp made : functions)
      made.erase();
  return success();
}

LogicalResult handlers::buildStateFunctions(ModuleOp module,
                                            const HandlerFunction &function) {
  StateBuilder builder(module, function);
  return builder.prepare() ? builder.build() : success();
}
