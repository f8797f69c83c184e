//===- HandlerClones.cpp - Variants beside their handlers -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HandlerClones.h"

using namespace mlir;
using namespace mlir::df;

static bool isVariantOf(HandlerOp other, StringAttr handler) {
  FlatSymbolRefAttr of = other.getVariantOfAttr();
  return of && of.getAttr() == handler;
}

HandlerOp mlir::df::findVariant(HandlerOpInterface handler,
                                VariantAttr variant) {
  auto program = handler->getParentOfType<ProgramOp>();
  for (auto other : program.getBody().getOps<HandlerOp>())
    if (other.getVariantAttr() == variant &&
        isVariantOf(other, handler.getHandlerName()))
      return other;
  return {};
}

void mlir::df::insertVariant(HandlerOp handler, HandlerOp clone) {
  Operation *last = handler;
  while (auto next = dyn_cast_or_null<HandlerOp>(last->getNextNode())) {
    if (!isVariantOf(next, handler.getSymNameAttr()))
      break;
    last = next;
  }
  SymbolTable(handler->getParentOp())
      .insert(clone, std::next(Block::iterator(last)));
}
