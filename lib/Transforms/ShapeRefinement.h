//===- ShapeRefinement.h - Static shapes of a body's values -----*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds out which unknown dimensions of the tensors in a body are constants,
// given the types of its arguments, and then rewrites the body to say so.
//
// `evaluate` walks the body forwards and may be called again with other
// argument types; it changes nothing in the IR. Loop-carried tensors start from
// what enters the loop and lose what an iteration does not keep, so every
// dimension found is one that holds in every execution. `materialize` sets the
// types, folds constant sizes into their ops, and inserts a `tensor.cast` where
// an operand is not of the type that its op needs.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TRANSFORMS_SHAPEREFINEMENT_H
#define DATAFLOW_LIB_TRANSFORMS_SHAPEREFINEMENT_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::df {

/// The type with the dimensions that both types state alike; the rest unknown.
/// Types that are not tensors of one rank and element type: `a`.
Type joinTypes(Type a, Type b);

/// The type with the dimensions that either type states; null where they state
/// different ones. Types that are not tensors of one rank and element type:
/// `a`.
Type meetTypes(Type a, Type b);

/// An attribute of an index or integer type; a value that is too wide is cut.
IntegerAttr integerAttr(Type type, int64_t value);

/// Types and integer constants of the values in one single-block region.
class ShapeRefinement {
public:
  explicit ShapeRefinement(Region &region) : region(region) {}

  /// Derives all types from those of the block's arguments. With `report`,
  /// shapes that contradict each other are errors at the op where they meet.
  LogicalResult evaluate(ArrayRef<Type> arguments, bool report = false);

  /// What is known of a value's type: at least its declared type.
  Type typeOf(Value value) const;

  /// Known types of the operands of the block's terminator.
  SmallVector<Type> yieldedTypes() const;

  /// Rewrites the body; the terminator's operands get the types `results`.
  /// Returns the number of values whose type changed.
  unsigned materialize(TypeRange results);

private:
  RankedTensorType tensorOf(Value value) const;
  std::optional<int64_t> constantOf(OpFoldResult value) const;
  int64_t sizeOf(OpFoldResult value) const;
  void setShape(Value value, ArrayRef<int64_t> shape);
  void setType(Value value, Type type);
  void want(OpOperand &operand, Type type);
  int64_t meetSizes(Operation *op, int64_t a, int64_t b);

  void visitBlock(Block &block);
  void visitRegions(Operation *op);
  void visit(Operation *op);
  void visitScalar(Operation *op);
  void visitElementwise(Operation *op);
  void visitStructured(linalg::LinalgOp op);
  void visitSlice(tensor::ExtractSliceOp op);
  void visitInsertSlice(tensor::InsertSliceOp op);
  void visitPad(tensor::PadOp op);
  void visitExpand(tensor::ExpandShapeOp op);
  void visitCollapse(tensor::CollapseShapeOp op);
  void visitFor(scf::ForOp op);
  void visitIf(scf::IfOp op);
  void visitWhile(scf::WhileOp op);
  void visitUnknown(Operation *op);

  void foldSizes(Operation *op);

  Region &region;
  /// Only values of which more is known than they declare.
  llvm::MapVector<Value, Type> types;
  llvm::MapVector<Value, int64_t> constants;
  /// The type that an op needs its operand to have.
  DenseMap<OpOperand *, Type> wanted;
  /// Types of results before `materialize` changed them.
  DenseMap<Operation *, Type> declaredTypes;
  bool reporting = false;
  bool contradiction = false;
};

} // namespace mlir::df

#endif // DATAFLOW_LIB_TRANSFORMS_SHAPEREFINEMENT_H
