//===- Dot.cpp - Products of a body ---------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "Wgmma.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;

/// Whether every register is the constant zero. The accumulator is then not
/// read; a negative zero is as good, as sums that are zero come out positive.
static bool isZero(const Fragment &fragment) {
  return llvm::all_of(fragment.registers, [](Value value) {
    return matchPattern(value, m_AnyZeroFloat());
  });
}

LogicalResult FragmentLowering::lowerDot(DotOp op) {
  if (options.warp)
    return op.emitOpError(
        "needs a warpgroup, but each warp of this body works by itself");
  Assembly assembly(builder, loc);
  Site sites[2];
  auto operand = [&](Value tensor, uint64_t contract, Site &site) {
    ProductOperand result;
    result.contract = unsigned(contract);
    result.element = cast<RankedTensorType>(tensor.getType()).getElementType();
    if (const SharedTile *tile = shared(tensor)) {
      result.window = windowOf(*tile);
      // LLVM shall not know this address from one iteration to the next: it
      // would keep a descriptor of 64 bits in registers for every instruction.
      result.window->address =
          assembly.run("mov.b32 $0, $1;", assembly.i32(), tile->address)
              .front();
      site = tile->site;
    } else if (const Fragment *held = fragment(tensor)) {
      result.layout = held->layout;
      result.registers = held->registers;
    }
    return result;
  };
  const Fragment *initial = fragment(op.getC());
  if (!initial)
    return op.emitOpError("adds to a tensor that is not held in registers");
  Product product;
  product.a = operand(op.getA(), op.getADim(), sites[0]);
  product.b = operand(op.getB(), op.getBDim(), sites[1]);
  product.layout = initial->layout;
  product.element = op.getCType().getElementType();
  if (!isZero(*initial))
    product.initial = initial->registers;
  if (auto reason = checkProduct(product, op.getMDim()))
    return op.emitOpError("has no lowering: ") << *reason;

  Fragment result{initial->layout,
                  fragments::multiply(assembly, group(), product)};
  for (Site site : sites)
    noteRead(site);
  map(op.getResult(), std::move(result));
  return success();
}
