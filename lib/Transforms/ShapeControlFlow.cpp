//===- ShapeControlFlow.cpp - Shapes through loops and branches -----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of ShapeRefinement that joins what several paths bring: carried
// values of loops, results of branches.
//
//===----------------------------------------------------------------------===//

#include "ShapeRefinement.h"

using namespace mlir;
using namespace mlir::df;

void ShapeRefinement::visitFor(scf::ForOp op) {
  Block *body = op.getBody();
  SmallVector<Type> carried;
  for (Value init : op.getInitArgs())
    carried.push_back(typeOf(init));
  auto iterate = [&] {
    for (auto [argument, type] : llvm::zip(op.getRegionIterArgs(), carried)) {
      Type known = meetTypes(argument.getType(), type);
      setType(argument, known ? known : argument.getType());
    }
    visitBlock(*body);
  };
  // What holds at the entry holds in the loop if every iteration keeps it.
  bool report = std::exchange(reporting, false);
  bool before = contradiction;
  for (bool changed = true; changed;) {
    iterate();
    changed = false;
    for (auto [type, yielded] :
         llvm::zip(carried, body->getTerminator()->getOperands())) {
      Type joined = joinTypes(type, typeOf(yielded));
      changed |= joined != type;
      type = joined;
    }
  }
  reporting = report;
  contradiction = before;
  iterate();
  OpOperand *yielded = body->getTerminator()->getOpOperands().data();
  for (auto [init, argument, result] : llvm::zip(
           op.getInitArgsMutable(), op.getRegionIterArgs(), op.getResults())) {
    setType(result, typeOf(argument));
    want(init, typeOf(argument));
    want(*yielded++, typeOf(argument));
  }
}

void ShapeRefinement::visitIf(scf::IfOp op) {
  visitRegions(op);
  if (op.getNumResults() == 0)
    return;
  Operation *a = op.thenYield(), *b = op.elseYield();
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Type joined = joinTypes(typeOf(a->getOperand(i)), typeOf(b->getOperand(i)));
    setType(result, meetTypes(result.getType(), joined));
    want(a->getOpOperand(i), typeOf(result));
    want(b->getOpOperand(i), typeOf(result));
  }
}

void ShapeRefinement::visitWhile(scf::WhileOp op) {
  SmallVector<Type> carried;
  for (Value init : op.getInits())
    carried.push_back(typeOf(init));
  scf::ConditionOp condition = op.getConditionOp();
  scf::YieldOp yield = op.getYieldOp();
  auto iterate = [&] {
    for (auto [argument, type] : llvm::zip(op.getBeforeArguments(), carried)) {
      Type known = meetTypes(argument.getType(), type);
      setType(argument, known ? known : argument.getType());
    }
    visitBlock(*op.getBeforeBody());
    for (auto [argument, value] :
         llvm::zip(op.getAfterArguments(), condition.getArgs())) {
      Type known = meetTypes(argument.getType(), typeOf(value));
      setType(argument, known ? known : argument.getType());
    }
    visitBlock(*op.getAfterBody());
  };
  bool report = std::exchange(reporting, false);
  bool before = contradiction;
  for (bool changed = true; changed;) {
    iterate();
    changed = false;
    for (auto [type, yielded] : llvm::zip(carried, yield.getOperands())) {
      Type joined = joinTypes(type, typeOf(yielded));
      changed |= joined != type;
      type = joined;
    }
  }
  reporting = report;
  contradiction = before;
  iterate();
  for (auto [i, argument] : llvm::enumerate(op.getBeforeArguments())) {
    want(op->getOpOperand(i), typeOf(argument));
    want(yield->getOpOperand(i), typeOf(argument));
  }
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    setType(result, typeOf(op.getAfterArguments()[i]));
    // Operand 0 of scf.condition is the condition itself.
    want(condition->getOpOperand(i + 1), typeOf(result));
  }
}
