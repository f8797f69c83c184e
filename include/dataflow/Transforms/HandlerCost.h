//===- HandlerCost.h - Traffic and arithmetic of a handler ------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The planner balances bytes, so it has to know what one call of a handler
// moves. That is read off the body:
//
//   - an op inside a loop over the piece [begin, end) counts per tile, an op
//     outside of all such loops per call; loops with constant bounds multiply;
//   - `tensor.extract_slice` and `tensor.extract` of an operand are loads;
//   slices
//     of a loaded tile alias it and cost nothing; integer elements that are
//     only used as indices are addresses, not traffic;
//   - a slice of unknown size is a view, its slices are the loads;
//   - `tensor.insert_slice` and `tensor.insert` into an output are stores;
//   - a contraction of M x N x K costs 2*M*N*K operations, any other op one an
//     element.
//
// A body that the analysis cannot see through (an opaque call, a data-dependent
// loop) states its cost with the attribute `cost` on the handler:
// `cost = {fixed_bytes = 0, tile_bytes = 4096, fixed_flops = 0, tile_flops =
// 0}`; keys that are left out keep the value that was read off.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TRANSFORMS_HANDLERCOST_H
#define DATAFLOW_TRANSFORMS_HANDLERCOST_H

#include "dataflow/Schedule/Program.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::df {

/// What the block arguments of a handler are to the stage that calls it.
struct HandlerFrame {
  Block *body = nullptr;
  Value begin, end;               ///< null for a stage without a range
  int64_t tile = 1;               ///< range elements of a tile
  SmallVector<Value, 4> operands; ///< tensor operands that are read
  SmallVector<Value, 2> outputs;  ///< tensors that a finalize writes
};

/// Bytes and operations of one call, and of each tile of its piece.
dfrt::Cost analyzeCost(const HandlerFrame &frame);

/// Replaces the parts of `cost` that the attribute `cost` of `handler` states.
/// Fails, with a diagnostic on the handler, on an unknown key or a value that
/// is not a non-negative integer.
LogicalResult applyCostAttribute(Operation *handler, dfrt::Cost &cost);

} // namespace mlir::df

#endif // DATAFLOW_TRANSFORMS_HANDLERCOST_H
