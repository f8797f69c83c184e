//===- SliceAnalysis.h - Which values of a body are sliced ------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forward propagation through one body. Private to Separability.cpp and
// CloneSliced.cpp, which must agree on what a value is.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TRANSFORMS_SLICEANALYSIS_H
#define DATAFLOW_LIB_TRANSFORMS_SLICEANALYSIS_H

#include "dataflow/IR/Dataflow.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/SmallBitVector.h"

#include <optional>
#include <string>

namespace mlir::df {

/// What a value is when the separable fields are cut along their dimension.
struct SliceState {
  enum class Kind : uint8_t {
    whole,  ///< depends on no separable field
    sliced, ///< index i along `dim` depends on index i of separable fields
    output, ///< an output tensor, perhaps with slices inserted
  };
  Kind kind = Kind::whole;
  int64_t dim = -1;

  static SliceState sliced(int64_t dim) { return {Kind::sliced, dim}; }
  static SliceState output() { return {Kind::output, -1}; }
  bool isSliced() const { return kind == Kind::sliced; }
  bool operator==(const SliceState &other) const {
    return kind == other.kind && dim == other.dim;
  }
  bool operator!=(const SliceState &other) const { return !(*this == other); }
};

class SliceAnalysis {
public:
  /// Propagates through `body`, whose arguments have the states `arguments`.
  /// False, with `reason()`, when a value depends on separable fields otherwise
  /// than a sliced one may.
  bool run(Region &body, ArrayRef<SliceState> arguments);

  SliceState state(Value value) const { return states.lookup(value); }
  void setState(Value value, SliceState state) { states[value] = state; }
  /// All values that are sliced.
  SmallVector<Value> slicedValues() const;
  const std::string &reason() const { return why; }

  /// The loop of `op` along which its sliced operands are cut; -1 if none is.
  /// Nothing when they disagree or the loop is no parallel one.
  std::optional<int64_t> findLoop(linalg::LinalgOp op) const;

  /// The dimension of the big tensor that dimension `dim` of the small one of a
  /// slice op is, given the dimensions that the small one lacks.
  static int64_t bigDim(const llvm::SmallBitVector &dropped, int64_t dim);
  /// The converse; -1 when the dimension is dropped.
  static int64_t smallDim(const llvm::SmallBitVector &dropped, int64_t dim);

  /// The states of the arguments of the handler of `stage`, a reduce or a
  /// finalize, when the record's fields are cut along `dims`.
  static SmallVector<SliceState> argumentStates(StageOpInterface stage,
                                                ArrayRef<int32_t> dims);

private:
  bool visitBlock(Block &block);
  bool visit(Operation *op);
  bool visitLinalg(linalg::LinalgOp op);
  bool visitExtractSlice(tensor::ExtractSliceOp op);
  bool visitInsertSlice(tensor::InsertSliceOp op);
  bool visitElementwise(Operation *op);
  bool visitBranch(Operation *op);
  bool visitLoop(Operation *op);
  bool join(SliceState &into, SliceState from, Operation *op);
  bool fail(Operation *op, const Twine &what);

  DenseMap<Value, SliceState> states;
  std::string why;
};

} // namespace mlir::df

#endif // DATAFLOW_LIB_TRANSFORMS_SLICEANALYSIS_H
