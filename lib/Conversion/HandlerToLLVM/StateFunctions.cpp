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
  /// Scalars that stand for a field in registers.
  struct Field {
    Type type; ///< of the fragment, or of a scalar
    Type element;
    unsigned registers = 1;
  };

  /// The next registers of `values`, which are removed.
  fragments::Place takeRegisters(const Field &field, ValueRange &values);
  LogicalResult buildMerge();
  enum class Part { whole, head, slice };
  LogicalResult buildStore(StringRef suffix, Part part);
  SmallVector<Type> registerTypes(unsigned records) const;

  Region body;
  SmallVector<Field> fields;
};

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
    Field field{results[i].getType(), results[i].getType()};
    if (std::optional<FragmentLayout> layout = getFragmentLayout(field.type)) {
      field.element = cast<RankedTensorType>(field.type).getElementType();
      field.registers = layout->registers();
    } else if (isa<RankedTensorType>(field.type)) {
      return false;
    }
    for (unsigned input : {0, 1})
      if (failed(handlers::holdField(
              block.getArgument(function.indices + input * count + i),
              field.type)))
        return false;
    fields.push_back(field);
  }
  return true;
}

SmallVector<Type> StateBuilder::registerTypes(unsigned records) const {
  SmallVector<Type> types;
  for (unsigned i = 0; i < records; ++i)
    for (const Field &field : fields)
      types.append(field.registers, field.element);
  return types;
}

fragments::Place StateBuilder::takeRegisters(const Field &field,
                                             ValueRange &values) {
  fragments::Place place;
  if (isa<RankedTensorType>(field.type))
    llvm::append_range(place.registers, values.take_front(field.registers));
  else
    place.value = values.front();
  values = values.drop_front(field.registers);
  return place;
}

LogicalResult StateBuilder::buildMerge() {
  SmallVector<Type> arguments{pointer};
  llvm::append_range(arguments, registerTypes(2));
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
  for (unsigned record = 0; record < 2; ++record)
    for (const Field &field : fields)
      places.push_back(takeRegisters(field, registers));
  return end(body.front(), places, {});
}

/// A function that stores the fields of the head, of the slice, or both.
LogicalResult StateBuilder::buildStore(StringRef suffix, Part part) {
  SmallVector<Type> arguments = registerTypes(1);
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
    BlockArgument argument = block.addArgument(field.type, loc);
    places.push_back(takeRegisters(field, registers));
    bool inSlice = function.output->fields[number].separable >= 0;
    if (part != Part::whole && inSlice != (part == Part::slice))
      continue;
    values.push_back(argument);
    stored.push_back(
        memoryPlace(*function.output, unsigned(number), head, slices));
  }
  OpBuilder inside(builder.getContext());
  inside.setInsertionPointToEnd(&block);
  func::ReturnOp::create(inside, loc, values);
  return end(block, places, stored, /*returns=*/false);
}

LogicalResult StateBuilder::build() {
  // Both inputs are records of the output's layout.
  SmallVector<Read> reads;
  for (auto [number, field] : llvm::enumerate(fields))
    reads.push_back({0, unsigned(number), field.type});
  if (failed(buildLoad("$load", 1, reads)) || failed(buildMerge()))
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
