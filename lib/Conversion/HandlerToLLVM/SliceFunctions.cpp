//===- SliceFunctions.cpp - Slices that are loaded ahead ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp that calls a handler for one slice after the other waits for memory
// each time. So the handler is cut in two: functions that load what it reads of
// its records, in the layouts in which it reads that, and one that does the
// rest. What all slices have in common is loaded by a function of its own.
//
//===----------------------------------------------------------------------===//

#include "RecordFunctions.h"
#include "dataflow/IR/Dataflow.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::df;

namespace {

class SliceBuilder : public handlers::RecordFunctions {
public:
  using RecordFunctions::RecordFunctions;

  /// Copies the body and makes what it reads of records arguments; false if
  /// that is not possible.
  bool prepare();
  LogicalResult build();

private:
  bool hold(BlockArgument argument, unsigned input, unsigned field);

  OwningOpRef<func::FuncOp> copy; ///< of the handler
  SmallVector<Read> common, slice;
  SmallVector<SmallVector<Value>> commonValues, sliceValues;
};

} // namespace

/// Notes the ways in which `argument`, a field, is read.
bool SliceBuilder::hold(BlockArgument argument, unsigned input,
                        unsigned field) {
  bool isCommon = function.inputs[input].record.fields[field].separable < 0;
  SmallVector<Read> &reads = isCommon ? common : slice;
  SmallVector<SmallVector<Value>> &values =
      isCommon ? commonValues : sliceValues;
  size_t first = reads.size();
  if (!isa<RankedTensorType>(argument.getType())) {
    if (!argument.use_empty()) {
      reads.push_back({input, field, argument.getType()});
      values.push_back({argument});
    }
    return true;
  }
  for (Operation *user : argument.getUsers()) {
    auto convert = dyn_cast<ConvertLayoutOp>(user);
    if (!convert || !getFragmentLayout(convert.getResult().getType()))
      return false;
    Type type = convert.getResult().getType();
    size_t at = first;
    while (at < reads.size() && reads[at].type != type)
      ++at;
    if (at == reads.size()) {
      reads.push_back({input, field, type});
      values.emplace_back();
    }
    values[at].push_back(convert.getResult());
  }
  return true;
}

bool SliceBuilder::prepare() {
  if (!function.fragments || !function.warp || !function.sliced ||
      function.inputs.empty())
    return false;
  for (const HandlerFunction::Input &input : function.inputs)
    if (input.collected)
      return false;
  IRMapping mapping;
  copy = func::FuncOp::create(loc, function.symbol,
                              builder.getFunctionType({}, {}));
  Region &body = copy->getBody();
  function.body->cloneInto(&body, mapping);
  Block &block = body.front();
  unsigned begin = function.indices + function.operands, next = begin;
  for (auto [number, input] : llvm::enumerate(function.inputs))
    for (unsigned field = 0; field < input.record.fields.size(); ++field)
      if (!hold(block.getArgument(next++), unsigned(number), field))
        return false;
  if (slice.empty())
    return false;
  // Behind the fields, their registers; then the fields go.
  unsigned at = next;
  auto replace = [&](MutableArrayRef<Read> reads,
                     ArrayRef<SmallVector<Value>> values) {
    for (auto [read, its] : llvm::zip(reads, values)) {
      BlockArgument argument = block.insertArgument(at++, read.type, loc);
      Type loaded = loadedType(read.input, read.field, read.type);
      for (Value value : its) {
        value.replaceAllUsesWith(argument);
        if (Operation *convert = value.getDefiningOp())
          convert->erase();
      }
      if (loaded != read.type)
        handlers::narrowArgument(argument, getElementTypeOrSelf(loaded));
      read.type = loaded;
    }
  };
  replace(common, commonValues);
  replace(slice, sliceValues);
  block.eraseArguments(begin, next - begin);
  return true;
}

LogicalResult SliceBuilder::build() {
  unsigned inputs = function.inputs.size();
  if ((!common.empty() && failed(buildLoad("$common", inputs, common))) ||
      failed(buildLoad("$slice", inputs, slice)))
    return failure();
  HandlerFunction apply = function;
  apply.symbol += "$apply";
  apply.body = &copy->getBody();
  apply.inputs.clear();
  SmallVector<Type> held;
  for (ArrayRef<Read> reads : {ArrayRef<Read>(common), ArrayRef<Read>(slice)})
    for (const Read &read : reads)
      held.push_back(read.type);
  fragments::Info info;
  return handlers::buildFunction(
      cast<ModuleOp>(functions.back()->getParentOp()), apply,
      HandlerTarget::device, info, ArrayRef<Type>(held));
}

LogicalResult handlers::buildSliceFunctions(ModuleOp module,
                                            const HandlerFunction &function) {
  // A fold has functions of its own.
  if (module.lookupSymbol(function.symbol + "$merge"))
    return success();
  SliceBuilder builder(module, function);
  return builder.prepare() ? builder.build() : success();
}
