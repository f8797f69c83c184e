//===- Emitter.h - Writing device code --------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A builder for the few kinds of operations that generated device code is made
// of: constants, address arithmetic, calls of the device library, loops and
// branches. Private to this folder.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_CONVERSION_DATAFLOWTONVVM_EMITTER_H
#define DATAFLOW_LIB_CONVERSION_DATAFLOWTONVVM_EMITTER_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace mlir::df::nvvm {

class Emitter {
public:
  /// `module`: the gpu.module with the device library.
  explicit Emitter(Operation *module);

  Type pointer, i1, i32, i64;
  OpBuilder builder;

  Value constant32(int64_t value);
  Value constant64(int64_t value);
  /// Of one type.
  Value add(Value a, Value b);
  Value subtract(Value a, Value b);
  Value multiply(Value a, Value b);
  Value bitAnd(Value a, Value b);
  Value shiftRight(Value a, Value b);
  Value divide(Value a, Value b);  ///< unsigned
  Value minimum(Value a, Value b); ///< signed
  Value equal(Value a, Value b);
  Value notEqual(Value a, Value b);
  Value less(Value a, Value b); ///< unsigned
  Value select(Value condition, Value a, Value b);
  void assume(Value condition);
  Value extend(Value value);       ///< i32 to i64, unsigned
  Value extendSigned(Value value); ///< i32 to i64
  Value truncate(Value value);     ///< i64 to i32

  /// `base` and a number of bytes.
  Value offset(Value base, Value bytes);
  Value offset(Value base, uint64_t bytes);

  /// Null: there is none.
  LLVM::LLVMFuncOp find(StringRef name) const {
    return symbols.lookup<LLVM::LLVMFuncOp>(name);
  }
  /// Calls the function `name` of the module.
  Value call(StringRef name, ValueRange arguments = {});

  /// The results of a call, which are the members of a struct if there are
  /// several.
  SmallVector<Value> results(Value value);

  /// Calls a function of the packed convention (dfrt/Artifact.h), which may
  /// also take `registers`.
  void callPacked(StringRef name, ValueRange arguments,
                  ValueRange registers = {});

  /// A word of the instruction `w`; the numbers are those of ABI.h.
  Value word(Value w, unsigned k);
  Value word64(Value w, unsigned k);
  /// The lower or upper half of a word.
  Value half(Value w, unsigned k, bool upper);

  /// `count` stack cells of 8 bytes, at the start of the present function.
  Value cells(unsigned count);
  void store(Value value, Value cells, unsigned index);
  /// The address of a stack cell that holds `value`, an i64.
  Value spill(Value value);

  /// for (i = begin; i < end; ++i), of i32.
  void loop(Value begin, Value end, function_ref<void(Value)> body) {
    loop(begin, end, constant32(1), body);
  }
  void loop(Value begin, Value end, Value step, function_ref<void(Value)> body);
  /// With values that are carried from one turn to the next.
  SmallVector<Value>
  loop(Value begin, Value end, ValueRange initial,
       function_ref<SmallVector<Value>(Value, ValueRange)> body);
  /// while (condition(values)) values = body(values)
  SmallVector<Value> repeat(ValueRange initial,
                            function_ref<Value(ValueRange)> condition,
                            function_ref<SmallVector<Value>(ValueRange)> body);
  void when(Value condition, function_ref<void()> body,
            function_ref<void()> otherwise = nullptr);
  SmallVector<Value> choose(Value condition, TypeRange types,
                            function_ref<SmallVector<Value>()> yes,
                            function_ref<SmallVector<Value>()> no);
  /// A branch for each of `cases`, and one for everything else.
  void branch(Value key, ArrayRef<int64_t> cases,
              function_ref<void(size_t)> body, function_ref<void()> otherwise);

  /// An internal function; the builder then stands at its end, in front of a
  /// return without value.
  LLVM::LLVMFuncOp beginFunction(StringRef name, TypeRange arguments);
  /// One with the arguments of everything that works on an instruction; with
  /// `operands`, also what each lane knows of one of its operands.
  LLVM::LLVMFuncOp beginInstruction(StringRef name, bool operands) {
    SmallVector<Type> arguments{pointer, i32, pointer};
    if (operands)
      arguments.append({pointer, i32, i32});
    return beginFunction(name, arguments);
  }
  /// One from i32 to i32.
  void beginNumber(StringRef name);
  void endNumber(Value value);
  Value argument(unsigned number) { return function.getArgument(number); }
  Value parameters() { return function.getArgument(0); }
  Value instruction() { return function.getArgument(1); }
  Value counters() { return function.getArgument(2); } ///< of the streams
  /// Where the operand of this lane lies, its first slice, its row.
  Value lanePlace() { return function.getArgument(3); }
  Value laneSlice() { return function.getArgument(4); }
  Value laneRow() { return function.getArgument(5); }
  ValueRange allArguments() { return function.getArguments(); }

  Location loc;

private:
  Operation *module;
  SymbolTable symbols;
  LLVM::LLVMFuncOp function;
};

} // namespace mlir::df::nvvm

#endif // DATAFLOW_LIB_CONVERSION_DATAFLOWTONVVM_EMITTER_H
