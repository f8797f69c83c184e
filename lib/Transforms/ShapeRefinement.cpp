//===- ShapeRefinement.cpp - Static shapes of a body's values -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The forward evaluation of single ops. Loops and branches are in
// ShapeControlFlow.cpp, the rewriting half in ShapeMaterialization.cpp.
//
//===----------------------------------------------------------------------===//

#include "ShapeRefinement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::df;

static constexpr int64_t kUnknown = ShapedType::kDynamic;

static bool comparable(Type a, Type b) {
  auto left = dyn_cast<RankedTensorType>(a);
  auto right = dyn_cast<RankedTensorType>(b);
  return left && right && left.getRank() == right.getRank() &&
         left.getElementType() == right.getElementType();
}

Type mlir::df::joinTypes(Type a, Type b) {
  if (!comparable(a, b))
    return a;
  auto left = cast<RankedTensorType>(a), right = cast<RankedTensorType>(b);
  SmallVector<int64_t> shape;
  for (auto [x, y] : llvm::zip(left.getShape(), right.getShape()))
    shape.push_back(x == y ? x : kUnknown);
  return left.clone(shape);
}

Type mlir::df::meetTypes(Type a, Type b) {
  if (!comparable(a, b))
    return a;
  auto left = cast<RankedTensorType>(a), right = cast<RankedTensorType>(b);
  SmallVector<int64_t> shape;
  for (auto [x, y] : llvm::zip(left.getShape(), right.getShape())) {
    if (x != y && x != kUnknown && y != kUnknown)
      return Type();
    shape.push_back(x == kUnknown ? y : x);
  }
  return left.clone(shape);
}

IntegerAttr mlir::df::integerAttr(Type type, int64_t value) {
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return IntegerAttr::get(
      type, APInt(64, value, /*isSigned=*/true).sextOrTrunc(width));
}

//===----------------------------------------------------------------------===//
// Facts about values
//===----------------------------------------------------------------------===//

Type ShapeRefinement::typeOf(Value value) const {
  auto it = types.find(value);
  return it == types.end() ? value.getType() : it->second;
}

RankedTensorType ShapeRefinement::tensorOf(Value value) const {
  return dyn_cast<RankedTensorType>(typeOf(value));
}

std::optional<int64_t> ShapeRefinement::constantOf(OpFoldResult value) const {
  if (auto known = dyn_cast<Value>(value)) {
    auto it = constants.find(known);
    if (it != constants.end())
      return it->second;
  }
  return getConstantIntValue(value);
}

int64_t ShapeRefinement::sizeOf(OpFoldResult value) const {
  std::optional<int64_t> size = constantOf(value);
  return size && *size >= 0 ? *size : kUnknown;
}

void ShapeRefinement::setType(Value value, Type type) {
  if (type == value.getType())
    types.erase(value);
  else
    types[value] = type;
}

void ShapeRefinement::setShape(Value value, ArrayRef<int64_t> shape) {
  auto declared = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> known;
  Operation *op = value.getDefiningOp();
  for (auto [x, y] : llvm::zip(declared.getShape(), shape))
    known.push_back(
        meetSizes(op ? op : value.getParentBlock()->getParentOp(), x, y));
  setType(value, declared.clone(known));
}

void ShapeRefinement::want(OpOperand &operand, Type type) {
  wanted[&operand] = type;
}

int64_t ShapeRefinement::meetSizes(Operation *op, int64_t a, int64_t b) {
  if (a == kUnknown)
    return b;
  if (b == kUnknown || a == b)
    return a;
  // Reported once a body: what follows is often a consequence.
  if (reporting && !contradiction)
    op->emitOpError("has shapes that disagree once parameters are bound: one "
                    "dimension is both ")
        << a << " and " << b;
  contradiction = true;
  return kUnknown;
}

//===----------------------------------------------------------------------===//
// Traversal
//===----------------------------------------------------------------------===//

LogicalResult ShapeRefinement::evaluate(ArrayRef<Type> arguments, bool report) {
  reporting = report;
  contradiction = false;
  Block &block = region.front();
  for (auto [argument, type] : llvm::zip(block.getArguments(), arguments)) {
    Type known = meetTypes(argument.getType(), type);
    setType(argument, known ? known : argument.getType());
  }
  visitBlock(block);
  return failure(report && contradiction);
}

SmallVector<Type> ShapeRefinement::yieldedTypes() const {
  SmallVector<Type> result;
  for (Value value : region.front().getTerminator()->getOperands())
    result.push_back(typeOf(value));
  return result;
}

void ShapeRefinement::visitBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    for (Value result : op.getResults()) {
      types.erase(result);
      constants.erase(result);
    }
    visit(&op);
  }
}

void ShapeRefinement::visitRegions(Operation *op) {
  for (Region &nested : op->getRegions())
    for (Block &block : nested)
      visitBlock(block);
}

void ShapeRefinement::visit(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case<arith::ConstantOp, tensor::ExtractOp, tensor::RankOp>([](auto) {})
      .Case([&](tensor::EmptyOp empty) {
        SmallVector<int64_t> shape;
        for (OpFoldResult size : empty.getMixedSizes())
          shape.push_back(sizeOf(size));
        setShape(empty.getResult(), shape);
      })
      .Case([&](tensor::SplatOp splat) {
        SmallVector<int64_t> shape(splat.getType().getShape());
        auto size = splat.getDynamicSizes().begin();
        for (int64_t &extent : shape)
          if (extent == kUnknown)
            extent = sizeOf(OpFoldResult(*size++));
        setShape(splat.getResult(), shape);
      })
      .Case([&](tensor::GenerateOp generate) {
        SmallVector<int64_t> shape(
            cast<RankedTensorType>(generate.getType()).getShape());
        auto size = generate.getDynamicExtents().begin();
        for (int64_t &extent : shape)
          if (extent == kUnknown)
            extent = sizeOf(OpFoldResult(*size++));
        setShape(generate.getResult(), shape);
        visitRegions(op);
      })
      .Case([&](tensor::CastOp cast) {
        if (RankedTensorType source = tensorOf(cast.getSource()))
          if (isa<RankedTensorType>(cast.getType()))
            setShape(cast.getResult(), source.getShape());
      })
      .Case([&](tensor::InsertOp insert) {
        setShape(insert.getResult(), tensorOf(insert.getDest()).getShape());
        want(insert.getDestMutable(), typeOf(insert.getResult()));
      })
      .Case([&](tensor::ExtractSliceOp slice) { visitSlice(slice); })
      .Case([&](tensor::InsertSliceOp slice) { visitInsertSlice(slice); })
      .Case([&](tensor::PadOp pad) { visitPad(pad); })
      .Case([&](tensor::ExpandShapeOp expand) { visitExpand(expand); })
      .Case([&](tensor::CollapseShapeOp collapse) { visitCollapse(collapse); })
      .Case([&](scf::ForOp loop) { visitFor(loop); })
      .Case([&](scf::IfOp branch) { visitIf(branch); })
      .Case([&](scf::WhileOp loop) { visitWhile(loop); })
      .Case([&](linalg::LinalgOp structured) { visitStructured(structured); })
      .Default([&](Operation *) {
        if (OpTrait::hasElementwiseMappableTraits(op) &&
            llvm::any_of(op->getResultTypes(),
                         [](Type type) { return isa<RankedTensorType>(type); }))
          visitElementwise(op);
        else if (op->getNumRegions() == 0 && op->getNumResults() == 1 &&
                 op->getResult(0).getType().isIntOrIndex())
          visitScalar(op);
        else
          visitUnknown(op);
      });
}

//===----------------------------------------------------------------------===//
// Ops without regions
//===----------------------------------------------------------------------===//

void ShapeRefinement::visitScalar(Operation *op) {
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    RankedTensorType type = tensorOf(dim.getSource());
    std::optional<int64_t> index = constantOf(OpFoldResult(dim.getIndex()));
    if (type && index && *index >= 0 && *index < type.getRank() &&
        !type.isDynamicDim(*index))
      constants[dim.getResult()] = type.getDimSize(*index);
    return;
  }
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> value;
    if (operand.getType().isIntOrIndex())
      value = constantOf(OpFoldResult(operand));
    // With an operand unknown a fold could rewrite the op in place.
    if (!value)
      return visitUnknown(op);
    operands.push_back(integerAttr(operand.getType(), *value));
  }
  SmallVector<OpFoldResult> results;
  if (!isMemoryEffectFree(op) || failed(op->fold(operands, results)) ||
      results.size() != 1)
    return;
  if (std::optional<int64_t> value = constantOf(results[0]))
    constants[op->getResult(0)] = *value;
}

void ShapeRefinement::visitElementwise(Operation *op) {
  int64_t rank = -1;
  SmallVector<int64_t> shape;
  for (Value operand : op->getOperands()) {
    RankedTensorType type = tensorOf(operand);
    if (!type)
      continue;
    if (rank < 0) {
      rank = type.getRank();
      shape.assign(rank, kUnknown);
    }
    for (auto [known, size] : llvm::zip(shape, type.getShape()))
      known = meetSizes(op, known, size);
  }
  for (Value result : op->getResults())
    setShape(result, shape);
  for (OpOperand &operand : op->getOpOperands())
    if (RankedTensorType type = tensorOf(operand.get()))
      want(operand, type.clone(shape));
}

void ShapeRefinement::visitStructured(linalg::LinalgOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> extents(op.getNumLoops(), kUnknown);
  for (OpOperand &operand : op->getOpOperands()) {
    RankedTensorType type = tensorOf(operand.get());
    if (!type)
      continue;
    AffineMap map = maps[operand.getOperandNumber()];
    for (auto [expr, size] : llvm::zip(map.getResults(), type.getShape()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        extents[dim.getPosition()] =
            meetSizes(op, extents[dim.getPosition()], size);
  }
  for (OpOperand &operand : op->getOpOperands()) {
    RankedTensorType type = tensorOf(operand.get());
    if (!type)
      continue;
    SmallVector<int64_t> shape(type.getShape());
    AffineMap map = maps[operand.getOperandNumber()];
    for (auto [expr, size] : llvm::zip(map.getResults(), shape))
      if (auto dim = dyn_cast<AffineDimExpr>(expr);
          dim && extents[dim.getPosition()] != kUnknown)
        size = extents[dim.getPosition()];
    want(operand, type.clone(shape));
    if (op.isDpsInit(&operand))
      setShape(op.getTiedOpResult(&operand), shape);
  }
  visitRegions(op);
}

void ShapeRefinement::visitUnknown(Operation *op) {
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op)) {
    for (OpOperand &init : dps.getDpsInitsMutable())
      if (RankedTensorType type = tensorOf(init.get())) {
        setShape(dps.getTiedOpResult(&init), type.getShape());
        want(init, typeOf(dps.getTiedOpResult(&init)));
      }
  } else {
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        want(operand, operand.get().getType());
  }
  for (Region &nested : op->getRegions())
    for (Block &block : nested) {
      visitBlock(block);
      if (block.empty() || !block.back().hasTrait<OpTrait::IsTerminator>())
        continue;
      for (OpOperand &operand : block.back().getOpOperands())
        if (isa<RankedTensorType>(operand.get().getType()))
          want(operand, operand.get().getType());
    }
}

/// Sizes of a slice without the dimensions that its type leaves out.
static SmallVector<int64_t> keepDims(ArrayRef<int64_t> sizes,
                                     const llvm::SmallBitVector &dropped) {
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(sizes))
    if (!dropped.test(i))
      shape.push_back(size);
  return shape;
}

void ShapeRefinement::visitSlice(tensor::ExtractSliceOp op) {
  SmallVector<int64_t> sizes;
  for (OpFoldResult size : op.getMixedSizes())
    sizes.push_back(sizeOf(size));
  setShape(op.getResult(), keepDims(sizes, op.getDroppedDims()));
}

void ShapeRefinement::visitInsertSlice(tensor::InsertSliceOp op) {
  setShape(op.getResult(), tensorOf(op.getDest()).getShape());
  want(op.getDestMutable(), typeOf(op.getResult()));
  SmallVector<int64_t> sizes;
  for (OpFoldResult size : op.getMixedSizes())
    sizes.push_back(sizeOf(size));
  // The op accepts exactly the type that its sizes state.
  want(op.getSourceMutable(),
       op.getSourceType().clone(keepDims(sizes, op.getDroppedDims())));
}

void ShapeRefinement::visitPad(tensor::PadOp op) {
  RankedTensorType source = tensorOf(op.getSource());
  SmallVector<OpFoldResult> low = op.getMixedLowPad(),
                            high = op.getMixedHighPad();
  SmallVector<OpFoldResult> sliced;
  if (auto slice = op.getSource().getDefiningOp<tensor::ExtractSliceOp>())
    for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!slice.getDroppedDims().test(dim))
        sliced.push_back(size);
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < source.getRank(); ++dim) {
    int64_t before = sizeOf(low[dim]), after = sizeOf(high[dim]);
    shape.push_back(kUnknown);
    if (before == kUnknown)
      continue;
    if (after != kUnknown && !source.isDynamicDim(dim)) {
      shape.back() = before + source.getDimSize(dim) + after;
      continue;
    }
    // A slice of n padded by c - n has c.
    auto rest = dyn_cast<Value>(high[dim]);
    auto sub = rest ? rest.getDefiningOp<arith::SubIOp>() : nullptr;
    if (!sub || sliced.empty() || sliced[dim] != OpFoldResult(sub.getRhs()))
      continue;
    if (int64_t total = sizeOf(OpFoldResult(sub.getLhs())); total != kUnknown)
      shape.back() = before + total;
  }
  setShape(op.getResult(), shape);
  visitRegions(op);
}

void ShapeRefinement::visitExpand(tensor::ExpandShapeOp op) {
  RankedTensorType source = tensorOf(op.getSrc());
  SmallVector<int64_t> shape;
  for (OpFoldResult size : op.getMixedOutputShape())
    shape.push_back(sizeOf(size));
  SmallVector<int64_t> collapsed(source.getShape());
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    int64_t product = 1, unknowns = 0, last = 0;
    for (int64_t i : group) {
      shape[i] = meetSizes(op, op.getResultType().getDimSize(i), shape[i]);
      if (shape[i] == kUnknown) {
        ++unknowns;
        last = i;
      } else {
        product *= shape[i];
      }
    }
    int64_t total = collapsed[dim];
    if (unknowns == 1 && total != kUnknown && product > 0 &&
        total % product == 0) {
      shape[last] = total / product;
      unknowns = 0;
    } else if (unknowns == 0) {
      meetSizes(op, total, product);
      total = product;
    }
    // The op accepts exactly the type that its output collapses to.
    collapsed[dim] = unknowns == 0 ? total : kUnknown;
  }
  setShape(op.getResult(), shape);
  want(op.getSrcMutable(), source.clone(collapsed));
}

void ShapeRefinement::visitCollapse(tensor::CollapseShapeOp op) {
  RankedTensorType source = tensorOf(op.getSrc());
  SmallVector<int64_t> shape;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    int64_t product = 1;
    for (int64_t i : group)
      product = product == kUnknown || source.isDynamicDim(i)
                    ? kUnknown
                    : product * source.getDimSize(i);
    shape.push_back(product);
  }
  setShape(op.getResult(), shape);
}
