//===- ArgumentExtents.h - Extents that handlers rely on --------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A specialised program still has arguments of dynamic shape, but a dimension
// that every handler slices whole, from 0 and by the same static size, can have
// no other extent: a smaller tensor would be read out of bounds, and of a
// larger one a part would silently be left out. dataflow-specialize-program
// puts these extents into the types, so that strides are numbers, and
// importProgram states them in the artifact, so that the runtime refuses other
// tensors by name.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TRANSFORMS_ARGUMENTEXTENTS_H
#define DATAFLOW_LIB_TRANSFORMS_ARGUMENTEXTENTS_H

#include "dataflow/IR/Dataflow.h"

namespace mlir::df {

/// What the uses of one tensor say of its extents.
class ArgumentExtents {
public:
  explicit ArgumentExtents(int64_t rank) : extents(rank, kUnseen) {}

  /// Takes in all uses of `tensor`, the program's argument or a handler's view
  /// of it, and of what is made from it by insertion.
  void addUses(Value tensor);

  /// The extent that all uses agree on, or none.
  std::optional<int64_t> get(int64_t dimension) const;

private:
  static constexpr int64_t kUnseen = -1, kOpen = -2;

  void addSlice(OffsetSizeAndStrideOpInterface slice);
  void join(int64_t dimension, int64_t extent);
  void open();

  SmallVector<int64_t, 4> extents;
};

/// Puts the extents that all uses agree on into the types of the program's
/// arguments and of the handlers' views of them; what handlers make of them has
/// to be refined again. Returns the number of arguments whose type changed.
unsigned refineArgumentTypes(ProgramOp program);

} // namespace mlir::df

#endif // DATAFLOW_LIB_TRANSFORMS_ARGUMENTEXTENTS_H
