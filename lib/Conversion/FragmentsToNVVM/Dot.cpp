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

  // What the instructions read from registers has to stay there meanwhile.
  if (!product.a.window) {
    endDots(runningDots.size());
    map(op.getResult(),
        Fragment{product.layout,
                 fragments::multiply(assembly, group(), product)});
    noteRead(sites[1]);
    return success();
  }
  runningDots.push_back(
      {op, beginProduct(assembly, group(), product), {sites[0], sites[1]}, {}});
  return success();
}

/// Ends the first `count` products that are on their way.
void FragmentLowering::endDots(size_t count) {
  for (; count; --count) {
    RunningDot dot = std::move(runningDots.front());
    runningDots.pop_front();
    Assembly assembly(builder, loc);
    FragmentLayout layout = dot.product.layout;
    map(dot.op.getResult(), Fragment{layout, endProduct(assembly, dot.product,
                                                        runningDots.size())});
    for (Site site : dot.sites)
      noteRead(site);
    for (Operation *give : dot.gives)
      builder.clone(*give, scalars);
  }
}

/// The call that gives a stage of a ring back.
static bool isGive(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  return call && call.getCallee() == "dfk_give";
}

bool FragmentLowering::waitsForDots(Operation *op) {
  if (runningDots.empty())
    return false;
  // A stage is given back when all have ended that may read it.
  if (isGive(op)) {
    runningDots.back().gives.push_back(op);
    return true;
  }
  // Padding writes to the tile that it pads.
  bool all = (op->getNumRegions() && !isa<linalg::LinalgOp>(op)) ||
             isa<tensor::PadOp>(op) || !isMemoryEffectFree(op);
  size_t count = all ? runningDots.size() : 0;
  for (auto [number, dot] : llvm::enumerate(runningDots))
    if (llvm::is_contained(op->getOperands(), dot.op.getResult()))
      count = std::max(count, number + 1);
  endDots(count);
  return false;
}
