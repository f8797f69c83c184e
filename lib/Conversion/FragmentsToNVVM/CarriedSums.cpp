//===- CarriedSums.cpp - Sums that a loop carries -------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop that adds to a tile what it reduces, iteration after iteration, needs
// the whole sum behind the loop only. Until then each thread adds what it holds
// itself, and the lanes and warps meet once. Where the sum of the iterations
// before is multiplied first, threads that share an element multiply by the
// same factor; that (a + b) * f may become a * f + b * f the operations have to
// say (`reassoc`).
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;

/// Whether operations may be done in another order, with other roundings.
static bool mayReassociate(Operation *op) {
  auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
  return fast &&
         arith::bitEnumContainsAll(fast.getFastMathFlagsAttr().getValue(),
                                   arith::FastMathFlags::reassoc);
}

/// How many uses of `carried` make `value`, which is that or a product with it,
/// in each branch where there are some. 0: it is something else, too.
static unsigned usesIn(Value value, Value carried) {
  if (value == carried)
    return 1;
  if (!value.hasOneUse())
    return 0;
  if (auto product = value.getDefiningOp<arith::MulFOp>())
    return mayReassociate(product) &&
           llvm::is_contained(product->getOperands(), carried);
  auto branch = value.getDefiningOp<scf::IfOp>();
  if (!branch)
    return 0;
  unsigned number = cast<OpResult>(value).getResultNumber();
  unsigned taken = usesIn(branch.thenYield()->getOperand(number), carried);
  unsigned other = usesIn(branch.elseYield()->getOperand(number), carried);
  return taken && other ? taken + other : 0;
}

/// Whether `op`, whose combiner is `sum`, adds to what `usesIn` finds, and
/// nothing else reads it.
static bool addsTo(linalg::LinalgOp op, Operation *sum, Value carried) {
  OpOperand *initial = op.getDpsInitOperand(0);
  if (initial->get() != carried && !mayReassociate(sum))
    return false;
  unsigned uses = usesIn(initial->get(), carried);
  return uses && carried.hasNUses(uses);
}

std::optional<CarriedSum> df::fragments::findCarriedSum(scf::ForOp loop,
                                                        unsigned number) {
  Value sum = loop.getBody()->getTerminator()->getOperand(number);
  auto op = sum.getDefiningOp<linalg::LinalgOp>();
  if (!op || op->getBlock() != loop.getBody() || op->getNumResults() != 1 ||
      op.getNumReductionLoops() == 0 || !sum.hasOneUse())
    return std::nullopt;
  std::optional<Combiner> combiner = findCombiner(op, 0);
  std::optional<FragmentLayout> result = layoutOf(sum.getType());
  OpOperand *reduced = reducedOperand(op);
  if (!combiner || !isa<arith::AddFOp, arith::AddIOp>(combiner->op) ||
      !result || !reduced ||
      !addsTo(op, combiner->op, loop.getRegionIterArg(number)))
    return std::nullopt;
  return CarriedSum{op, *combiner, *result,
                    *layoutOf(reduced->get().getType())};
}

Fragment df::fragments::shareOut(FragmentLowering &lowering,
                                 const CarriedSum &sum, const Fragment &whole) {
  using Bits = FragmentLowering::Bits;
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc;
  Value number = lowering.i32(0);
  auto append = [&](Bits of, ArrayRef<FragmentLayout::Base> space,
                    ArrayRef<FragmentLayout::Base> result) {
    for (unsigned bit : reducedBits(space, result))
      number = builder.createOrFold<arith::OrIOp>(loc, number,
                                                  lowering.threadBit(of, bit));
  };
  append(Bits::lane, sum.space.laneBases(), sum.result.laneBases());
  append(Bits::warp, sum.space.warpBases(), sum.result.warpBases());
  append(Bits::group, sum.space.groupBases(), sum.result.groupBases());
  Value isFirst = builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::eq, number, lowering.i32(0));
  Fragment shares{whole.layout, {}};
  for (Value value : whole.registers) {
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(value.getType()));
    shares.registers.push_back(
        builder.createOrFold<arith::SelectOp>(loc, isFirst, value, zero));
  }
  return shares;
}

void df::fragments::sumShares(FragmentLowering &lowering, const CarriedSum &sum,
                              Value result) {
  Reduction reduction{
      sum.combiner, sum.result, lowering.fragment(result)->registers, {}};
  mapReductions(lowering, result, {std::move(reduction)}, sum.space);
}
