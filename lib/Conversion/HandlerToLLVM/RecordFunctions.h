//===- RecordFunctions.h - Functions on records in registers ----*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the builders of functions have in common that take a record to or from
// the registers of a thread. Private to this folder.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_CONVERSION_HANDLERTOLLVM_RECORDFUNCTIONS_H
#define DATAFLOW_LIB_CONVERSION_HANDLERTOLLVM_RECORDFUNCTIONS_H

#include "Steps.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::df::handlers {

class RecordFunctions {
public:
  RecordFunctions(ModuleOp module, const HandlerFunction &function)
      : function(function), builder(module.getContext()),
        loc(function.body->getLoc()), converter(module.getContext()) {
    builder.setInsertionPointToEnd(module.getBody());
    pointer = LLVM::LLVMPointerType::get(module.getContext());
  }

protected:
  /// A field of an input, in the layout of `type`, or a scalar; with the
  /// elements of memory.
  struct Read {
    unsigned input, field;
    Type type;
  };

  /// Begins a function that belongs to the handler.
  func::FuncOp begin(StringRef suffix, ArrayRef<Type> arguments);
  /// Lowers `block` into the present function, and closes that: it returns the
  /// fields, or stores them.
  LogicalResult end(Block &block, ArrayRef<fragments::Place> arguments,
                    ArrayRef<fragments::Place> stored, bool returns = true);
  /// A function that loads `reads` and returns them. It gets head and slices of
  /// the record of each of the first `inputs` inputs.
  LogicalResult buildLoad(StringRef suffix, unsigned inputs,
                          ArrayRef<Read> reads);
  /// Where a field lies of a record that begins at `head` and `slices`.
  fragments::Place memoryPlace(const dfrt::Record &record,
                               std::optional<dfrt::ElementType> narrow,
                               unsigned field, Value head, Value slices);
  /// `type`, in which the body reads a field, with the elements of memory.
  Type loadedType(unsigned input, unsigned field, Type type);

  const HandlerFunction &function;
  OpBuilder builder;
  Location loc;
  LLVMTypeConverter converter;
  Type pointer;
  SmallVector<func::FuncOp> functions; ///< the last one is being made
  bool exchanges = false;              ///< warps exchange through shared memory
};

} // namespace mlir::df::handlers

#endif // DATAFLOW_LIB_CONVERSION_HANDLERTOLLVM_RECORDFUNCTIONS_H
