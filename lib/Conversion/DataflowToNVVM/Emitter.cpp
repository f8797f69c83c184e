//===- Emitter.cpp - Writing device code ----------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::df::nvvm;

Emitter::Emitter(Operation *module)
    : builder(module->getContext()), loc(module->getLoc()), module(module),
      symbols(module) {
  pointer = LLVM::LLVMPointerType::get(builder.getContext());
  i1 = builder.getI1Type();
  i32 = builder.getI32Type();
  i64 = builder.getI64Type();
}

Value Emitter::constant32(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, i32, value);
}

Value Emitter::constant64(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, i64, value);
}

Value Emitter::add(Value a, Value b) {
  return arith::AddIOp::create(builder, loc, a, b);
}

Value Emitter::subtract(Value a, Value b) {
  return arith::SubIOp::create(builder, loc, a, b);
}

Value Emitter::multiply(Value a, Value b) {
  return arith::MulIOp::create(builder, loc, a, b);
}

Value Emitter::bitAnd(Value a, Value b) {
  return arith::AndIOp::create(builder, loc, a, b);
}

Value Emitter::shiftRight(Value a, Value b) {
  return arith::ShRUIOp::create(builder, loc, a, b);
}

Value Emitter::divide(Value a, Value b) {
  return arith::DivUIOp::create(builder, loc, a, b);
}

Value Emitter::minimum(Value a, Value b) {
  return arith::MinSIOp::create(builder, loc, a, b);
}

Value Emitter::equal(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a, b);
}

Value Emitter::notEqual(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, a, b);
}

Value Emitter::less(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, a, b);
}

Value Emitter::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}

Value Emitter::extend(Value value) {
  return arith::ExtUIOp::create(builder, loc, i64, value);
}

Value Emitter::extendSigned(Value value) {
  return arith::ExtSIOp::create(builder, loc, i64, value);
}

Value Emitter::truncate(Value value) {
  return arith::TruncIOp::create(builder, loc, i32, value);
}

Value Emitter::offset(Value base, Value bytes) {
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(),
                             base, ArrayRef<LLVM::GEPArg>{bytes});
}

Value Emitter::offset(Value base, uint64_t bytes) {
  return bytes ? offset(base, constant64(int64_t(bytes))) : base;
}

Value Emitter::call(StringRef name, ValueRange arguments) {
  LLVM::LLVMFuncOp callee = find(name);
  assert(callee && "no such function in the device module");
  auto call = LLVM::CallOp::create(builder, loc, callee, arguments);
  return call.getNumResults() ? call.getResult() : Value();
}

SmallVector<Value> Emitter::results(Value value) {
  auto type = dyn_cast<LLVM::LLVMStructType>(value.getType());
  if (!type)
    return {value};
  SmallVector<Value> members;
  for (int64_t i = 0, count = type.getBody().size(); i < count; ++i)
    members.push_back(LLVM::ExtractValueOp::create(builder, loc, value, i));
  return members;
}

Value Emitter::word(Value w, unsigned k) {
  return call("dfk_word", {w, constant32(k)});
}

Value Emitter::word64(Value w, unsigned k) {
  return call("dfk_word64", {w, constant32(k)});
}

Value Emitter::half(Value w, unsigned k, bool upper) {
  Value whole = word(w, k);
  return upper ? shiftRight(whole, constant32(16))
               : bitAnd(whole, constant32(0xffff));
}

void Emitter::assume(Value condition) {
  LLVM::AssumeOp::create(builder, loc, condition);
}

void Emitter::callPacked(StringRef name, ValueRange arguments,
                         ValueRange registers) {
  Value packed = cells(unsigned(arguments.size()));
  for (auto [number, value] : llvm::enumerate(arguments))
    store(value, packed, unsigned(number));
  SmallVector<Value> all{packed};
  llvm::append_range(all, registers);
  call(name, all);
}

Value Emitter::cells(unsigned count) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.front());
  return LLVM::AllocaOp::create(builder, loc, pointer, i64, constant32(count),
                                8);
}

void Emitter::store(Value value, Value cells, unsigned index) {
  Value place = index ? offset(cells, uint64_t(index) * 8) : cells;
  LLVM::StoreOp::create(builder, loc, value, place);
}

Value Emitter::spill(Value value) {
  Value cell = cells(1);
  store(value, cell, 0);
  return cell;
}

void Emitter::loop(Value begin, Value end, Value step,
                   function_ref<void(Value)> body) {
  scf::ForOp::create(builder, loc, begin, end, step, ValueRange(),
                     [&](OpBuilder &at, Location, Value i, ValueRange) {
                       OpBuilder::InsertionGuard guard(builder);
                       builder.restoreInsertionPoint(at.saveInsertionPoint());
                       body(i);
                       scf::YieldOp::create(builder, loc);
                     });
}

SmallVector<Value>
Emitter::loop(Value begin, Value end, ValueRange initial,
              function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(builder, loc, begin, end, constant32(1), initial,
                               [](OpBuilder &, Location, Value, ValueRange) {});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(op.getBody());
  SmallVector<Value> next = body(op.getInductionVar(), op.getRegionIterArgs());
  scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(op.getResults());
}

SmallVector<Value>
Emitter::repeat(ValueRange initial, function_ref<Value(ValueRange)> condition,
                function_ref<SmallVector<Value>(ValueRange)> body) {
  auto op = scf::WhileOp::create(
      builder, loc, initial.getTypes(), initial,
      [&](OpBuilder &at, Location, ValueRange values) {
        OpBuilder::InsertionGuard guard(builder);
        builder.restoreInsertionPoint(at.saveInsertionPoint());
        scf::ConditionOp::create(builder, loc, condition(values), values);
      },
      [&](OpBuilder &at, Location, ValueRange values) {
        OpBuilder::InsertionGuard guard(builder);
        builder.restoreInsertionPoint(at.saveInsertionPoint());
        scf::YieldOp::create(builder, loc, body(values));
      });
  return SmallVector<Value>(op.getResults());
}

void Emitter::when(Value condition, function_ref<void()> body,
                   function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(builder, loc, condition,
                              /*withElse=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.thenBlock());
  body();
  if (!otherwise)
    return;
  builder.setInsertionPointToStart(op.elseBlock());
  otherwise();
}

SmallVector<Value> Emitter::choose(Value condition, TypeRange types,
                                   function_ref<SmallVector<Value>()> yes,
                                   function_ref<SmallVector<Value>()> no) {
  auto op = scf::IfOp::create(builder, loc, types, condition,
                              /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&op.getThenRegion().front());
  scf::YieldOp::create(builder, loc, yes());
  builder.setInsertionPointToEnd(&op.getElseRegion().front());
  scf::YieldOp::create(builder, loc, no());
  return SmallVector<Value>(op.getResults());
}

void Emitter::branch(Value key, ArrayRef<int64_t> cases,
                     function_ref<void(size_t)> body,
                     function_ref<void()> otherwise) {
  Value index =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), key);
  auto op = scf::IndexSwitchOp::create(builder, loc, TypeRange(), index, cases,
                                       cases.size());
  OpBuilder::InsertionGuard guard(builder);
  for (auto [number, region] : llvm::enumerate(op.getCaseRegions())) {
    builder.setInsertionPointToStart(&region.emplaceBlock());
    body(number);
    scf::YieldOp::create(builder, loc);
  }
  builder.setInsertionPointToStart(&op.getDefaultRegion().emplaceBlock());
  otherwise();
  scf::YieldOp::create(builder, loc);
}

LLVM::LLVMFuncOp Emitter::beginFunction(StringRef name, TypeRange arguments) {
  builder.setInsertionPointToEnd(&module->getRegion(0).front());
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  SmallVector<Type>(arguments));
  function = LLVM::LLVMFuncOp::create(builder, loc, name, type,
                                      LLVM::Linkage::Internal);
  symbols.insert(function);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  auto end = LLVM::ReturnOp::create(builder, loc, ValueRange());
  builder.setInsertionPoint(end);
  return function;
}

void Emitter::beginNumber(StringRef name) {
  builder.setInsertionPointToEnd(&module->getRegion(0).front());
  function = LLVM::LLVMFuncOp::create(builder, loc, name,
                                      LLVM::LLVMFunctionType::get(i32, {i32}),
                                      LLVM::Linkage::Internal);
  symbols.insert(function);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
}

void Emitter::endNumber(Value value) {
  LLVM::ReturnOp::create(builder, loc, value);
}
