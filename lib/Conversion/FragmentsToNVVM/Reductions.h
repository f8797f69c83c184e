//===- Reductions.h - Reductions over threads -------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Combines what several registers, lanes and warps hold. The order is fixed: it
// depends on layouts only. Private to this folder.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_CONVERSION_FRAGMENTSTONVVM_REDUCTIONS_H
#define DATAFLOW_LIB_CONVERSION_FRAGMENTSTONVVM_REDUCTIONS_H

#include "Lowering.h"

namespace mlir::df::fragments {

/// The operation of a body that adds an element to an accumulator.
struct Combiner {
  Operation *op = nullptr;
  bool accumulatorFirst = true;
  Value element; ///< of the body
};

/// That of a result of a reduction, if it has one.
std::optional<Combiner> findCombiner(linalg::LinalgOp op, unsigned number);

/// The tensor that a reduction runs over, the first input with all its loops;
/// null where there is none.
OpOperand *reducedOperand(linalg::LinalgOp op);

/// A reduction whose registers have been combined within the thread.
struct Reduction {
  Combiner combiner;
  FragmentLayout result;
  SmallVector<Value> registers; ///< of `result`
  SmallVector<Value> initial;   ///< values of it that come first; may be none
};

/// Whether `op` is associative and commutative, roundings aside.
bool isCombiner(Operation *op);
Value combine(FragmentLowering &lowering, const Combiner &combiner,
              Value accumulator, Value element);
/// Combines neighbours until one value is left.
Value combineTree(FragmentLowering &lowering, const Combiner &combiner,
                  SmallVector<Value> values);
/// What warps still have to exchange for a reduction.
struct Exchange {
  Reduction *reduction = nullptr;
  unsigned site = 0, parts = 0;
  Value pointer;     ///< to the place
  int64_t bytes = 0; ///< of what one part writes
};

/// Combines the registers of `reductions` with those of all threads that hold
/// other elements of `space`, the layout before the reduction; afterwards all
/// of these have the same values. Where other warps hold some, their values are
/// written for them, and behind a barrier `finishExchange` reads and combines.
SmallVector<Exchange> reduceThreads(FragmentLowering &lowering,
                                    MutableArrayRef<Reduction> reductions,
                                    const FragmentLayout &space);
void finishExchange(FragmentLowering &lowering, const Exchange &exchange);

/// Does all of this and maps `results`, at the next barrier where one is
/// needed.
void mapReductions(FragmentLowering &lowering, ValueRange results,
                   std::vector<Reduction> reductions,
                   const FragmentLayout &space);

/// Bits whose elements `result` has not: it has no base where `space` has one.
SmallVector<unsigned> reducedBits(ArrayRef<FragmentLayout::Base> space,
                                  ArrayRef<FragmentLayout::Base> result);

//===----------------------------------------------------------------------===//
// Sums that a loop carries (CarriedSums.cpp)
//===----------------------------------------------------------------------===//

/// A sum of which each thread has a share until the loop ends.
struct CarriedSum {
  linalg::LinalgOp op; ///< adds to it in each iteration
  Combiner combiner;
  FragmentLayout result, space; ///< of it, and of what is added
};

/// What the iteration argument `number` of the loop is, if it is such a sum.
std::optional<CarriedSum> findCarriedSum(scf::ForOp loop, unsigned number);

/// The shares of `whole`: one of the threads that hold an element has it.
Fragment shareOut(FragmentLowering &lowering, const CarriedSum &sum,
                  const Fragment &whole);

/// Sums up the shares that `result` stands for.
void sumShares(FragmentLowering &lowering, const CarriedSum &sum, Value result);

} // namespace mlir::df::fragments

#endif // DATAFLOW_LIB_CONVERSION_FRAGMENTSTONVVM_REDUCTIONS_H
