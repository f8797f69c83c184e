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

/// A reduction whose registers have been combined within the thread.
struct Reduction {
  Combiner combiner;
  FragmentLayout result;
  SmallVector<Value> registers; ///< of `result`
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

} // namespace mlir::df::fragments

#endif // DATAFLOW_LIB_CONVERSION_FRAGMENTSTONVVM_REDUCTIONS_H
