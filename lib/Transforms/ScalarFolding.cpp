//===- ScalarFolding.cpp - Fold integer and index arithmetic --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constants are made where they are used: a region that is isolated later must
// not depend on one outside of it.
//
//===----------------------------------------------------------------------===//

#include "ScalarFolding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::df;

void mlir::df::foldScalars(ArrayRef<Operation *> ops) {
  auto isScalar = [](Operation *op) {
    return op->getNumResults() == 1 && op->getNumRegions() == 0 &&
           op->getResult(0).getType().isIntOrIndex() &&
           !op->hasTrait<OpTrait::ConstantLike>() && isMemoryEffectFree(op);
  };
  for (Operation *op : llvm::make_filter_range(ops, isScalar)) {
    SmallVector<OpFoldResult> results;
    // A fold in place (an operand moved or absorbed) may enable another one.
    for (int tries = 0; tries < 4 && results.empty(); ++tries)
      if (failed(op->fold(results)))
        break;
    if (results.empty())
      continue;
    Value value = dyn_cast<Value>(results[0]);
    if (!value) {
      auto constant = dyn_cast<IntegerAttr>(cast<Attribute>(results[0]));
      if (!constant)
        continue;
      OpBuilder builder(op);
      value = arith::ConstantOp::create(builder, op->getLoc(), constant);
    }
    op->getResult(0).replaceAllUsesWith(value);
  }
  for (Operation *op : llvm::reverse(ops))
    if (isScalar(op) && isOpTriviallyDead(op))
      op->erase();
}
