//===- NormalizeBody.cpp - Few kinds of operations on tiles ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The normal form of a body: tiles of one value are tensor.splat, sums of
// products of two matrices dataflow.dot, other structured operations
// linalg.generic. A contraction is found by its indexing maps, whatever it is
// called; conversions to a wider type in front of it are dropped, as the tensor
// cores multiply narrow elements exactly.
//
//===----------------------------------------------------------------------===//

#include "AssignLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Iterators.h"

using namespace mlir;
using namespace mlir::df;

LogicalResult Refusal::set(Operation *at, const Twine &text) {
  if (!op) {
    op = at;
    reason = text.str();
  }
  return failure();
}

/// The value before conversions that do not change any element.
static Value lookThroughExtensions(Value value) {
  while (auto extend = value.getDefiningOp<arith::ExtFOp>())
    value = extend.getIn();
  return value;
}

/// The block argument that a scalar of a structured op's body is, before
/// conversions to a wider type.
static BlockArgument findInput(Value scalar) {
  return dyn_cast<BlockArgument>(lookThroughExtensions(scalar));
}

/// Whether the body adds the product of both inputs to the output.
static bool isMultiplyAdd(Block &body) {
  if (body.getNumArguments() != 3)
    return false;
  Operation *yield = body.getTerminator();
  if (yield->getNumOperands() != 1)
    return false;
  auto add = yield->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add)
    return false;
  Value product = add.getLhs();
  if (product == body.getArgument(2))
    product = add.getRhs();
  else if (add.getRhs() != body.getArgument(2))
    return false;
  auto multiply = product.getDefiningOp<arith::MulFOp>();
  if (!multiply)
    return false;
  BlockArgument a = findInput(multiply.getLhs());
  BlockArgument b = findInput(multiply.getRhs());
  return a && b && a != b && a.getArgNumber() < 2 && b.getArgNumber() < 2;
}

namespace {

/// The shape of a product of two matrices.
struct Product {
  unsigned lhsContract = 0, rhsContract = 0;
  bool swapped = false; ///< the result's rows are the second operand's
};

} // namespace

/// Whether a structured op is one; its three maps have two results each.
static std::optional<Product> matchProduct(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getNumLoops() != 3 || op.getNumReductionLoops() != 1 ||
      !isMultiplyAdd(*op.getBlock()))
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (AffineMap map : maps)
    if (map.getNumResults() != 2 || !map.isProjectedPermutation())
      return std::nullopt;
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  auto isContracted = [&](AffineMap map, unsigned i) {
    return map.getDimPosition(i) == reductions.front();
  };
  Product product;
  for (unsigned i : {0u, 1u}) {
    if (isContracted(maps[0], i))
      product.lhsContract = i;
    if (isContracted(maps[1], i))
      product.rhsContract = i;
  }
  unsigned lhs = maps[0].getDimPosition(1 - product.lhsContract);
  unsigned rhs = maps[1].getDimPosition(1 - product.rhsContract);
  if (!isContracted(maps[0], product.lhsContract) ||
      !isContracted(maps[1], product.rhsContract) || lhs == rhs)
    return std::nullopt;
  product.swapped = maps[2].getDimPosition(0) == rhs;
  return product;
}

/// Elements that the tensor cores multiply without losing anything.
static bool isDotElement(Type type) {
  return isa<Float16Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type>(type);
}

namespace {

class Normalizer {
public:
  Normalizer(PartOp part, Refusal &refusal)
      : rewriter(part.getContext()), refusal(refusal) {}

  LogicalResult run(PartOp part);

private:
  LogicalResult rewriteStructured(linalg::LinalgOp op);
  LogicalResult rewriteProduct(linalg::LinalgOp op, const Product &product);
  LogicalResult rewriteFill(linalg::FillOp op);
  void rewriteConstant(arith::ConstantOp op);
  void dropUnreadOutputs(linalg::GenericOp op);
  void cutOperands(tensor::ExtractSliceOp op);
  void cutGeneric(tensor::ExtractSliceOp op, linalg::GenericOp source);
  void rewriteInsert(tensor::InsertOp op);
  void rewriteElements(tensor::FromElementsOp op);

  IRRewriter rewriter;
  Refusal &refusal;
};

} // namespace

LogicalResult Normalizer::rewriteFill(linalg::FillOp op) {
  Value scalar = op.getInputs().front();
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() ||
      scalar.getType() != type.getElementType())
    return refusal.set(op, "it converts the value that it fills with");
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<tensor::SplatOp>(op, scalar, type);
  return success();
}

void Normalizer::rewriteConstant(arith::ConstantOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!type || !elements || !elements.isSplat())
    return;
  rewriter.setInsertionPoint(op);
  Value scalar = arith::ConstantOp::create(
      rewriter, op.getLoc(),
      cast<TypedAttr>(elements.getSplatValue<Attribute>()));
  rewriter.replaceOpWithNewOp<tensor::SplatOp>(op, scalar, type);
}

LogicalResult Normalizer::rewriteProduct(linalg::LinalgOp op,
                                         const Product &product) {
  Value lhs = lookThroughExtensions(op.getDpsInputs()[0]);
  Value rhs = lookThroughExtensions(op.getDpsInputs()[1]);
  auto a = cast<RankedTensorType>(lhs.getType());
  auto b = cast<RankedTensorType>(rhs.getType());
  auto c = cast<RankedTensorType>(op->getResult(0).getType());
  auto name = [](Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  };
  if (a.getElementType() != b.getElementType() ||
      !isDotElement(a.getElementType()) || !c.getElementType().isF32())
    return refusal.set(op, "the tensor cores take two operands of one 8-bit or "
                           "16-bit floating-point type and sum in f32, got " +
                               name(a.getElementType()) + ", " +
                               name(b.getElementType()) + " and " +
                               name(c.getElementType()));
  if (!a.hasStaticShape() || !b.hasStaticShape())
    return refusal.set(op, "its operands have no known shape");
  rewriter.setInsertionPoint(op);
  // `a` is the operand of the result's rows; planDot may exchange them.
  if (product.swapped)
    rewriter.replaceOpWithNewOp<DotOp>(op, c, rhs, lhs, op.getDpsInits()[0],
                                       product.rhsContract, product.lhsContract,
                                       false);
  else
    rewriter.replaceOpWithNewOp<DotOp>(op, c, lhs, rhs, op.getDpsInits()[0],
                                       product.lhsContract, product.rhsContract,
                                       false);
  return success();
}

/// An output that the body does not read is no operand: it must not tie, or
/// load, the tensor that happens to stand there.
void Normalizer::dropUnreadOutputs(linalg::GenericOp op) {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    auto type = cast<RankedTensorType>(init.get().getType());
    if (op.payloadUsesValueFromOperand(&init) || !type.hasStaticShape() ||
        init.get().getDefiningOp<tensor::EmptyOp>())
      continue;
    rewriter.setInsertionPoint(op);
    init.set(tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(),
                                     type.getElementType()));
  }
}

LogicalResult Normalizer::rewriteStructured(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return refusal.set(op, "it works on buffers");
  if (auto fill = dyn_cast<linalg::FillOp>(op.getOperation()))
    return rewriteFill(fill);
  if (std::optional<Product> product = matchProduct(op))
    return rewriteProduct(op, *product);
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
    if (failed(made))
      return refusal.set(op, "it has no generic form");
    generic = *made;
  }
  dropUnreadOutputs(generic);
  return success();
}

/// The loop that each dimension of an operand follows, if it follows one.
static bool followsLoops(AffineMap map) {
  return map.isProjectedPermutation(/*allowZeroInResults=*/true);
}

/// cutOperands for a structured operation without reductions.
void Normalizer::cutGeneric(tensor::ExtractSliceOp op,
                            linalg::GenericOp source) {
  SmallVector<AffineMap> maps = source.getIndexingMapsArray();
  if (source.getNumReductionLoops() != 0 || !maps.back().isPermutation() ||
      !llvm::all_of(maps, followsLoops) || source->getNumResults() != 1 ||
      op.getType().getRank() != op.getSourceType().getRank() ||
      !op.getType().hasStaticShape() ||
      !llvm::all_of(op.getMixedStrides(), isOneInteger))
    return;
  SmallVector<OpFoldResult> offsets(source.getNumLoops()), sizes(offsets);
  for (auto [result, offset, size] :
       llvm::enumerate(op.getMixedOffsets(), op.getMixedSizes())) {
    offsets[maps.back().getDimPosition(result)] = offset;
    sizes[maps.back().getDimPosition(result)] = size;
  }
  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  SmallVector<tensor::ExtractSliceOp> cuts;
  SmallVector<Value> operands;
  for (auto [operand, map] : llvm::zip(source->getOperands(), maps)) {
    auto whole = dyn_cast<RankedTensorType>(operand.getType());
    if (!whole || whole.getRank() == 0) {
      operands.push_back(operand);
      continue;
    }
    SmallVector<OpFoldResult> at, extents, steps(whole.getRank(), one);
    SmallVector<int64_t> shape;
    for (AffineExpr expr : map.getResults()) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      at.push_back(loop ? offsets[loop.getPosition()] : zero);
      extents.push_back(loop ? sizes[loop.getPosition()] : one);
      shape.push_back(*getConstantIntValue(extents.back()));
    }
    cuts.push_back(tensor::ExtractSliceOp::create(rewriter, op.getLoc(),
                                                  whole.clone(shape), operand,
                                                  at, extents, steps));
    operands.push_back(cuts.back());
  }
  Operation *made = source->cloneWithoutRegions();
  rewriter.insert(made);
  IRMapping map;
  source.getRegion().cloneInto(&made->getRegion(0), map);
  made->setOperands(operands);
  made->getResult(0).setType(op.getType());
  made->getRegion(0).walk([&](linalg::IndexOp index) {
    rewriter.setInsertionPointAfter(index);
    Value offset = getValueOrCreateConstantIndexOp(rewriter, index.getLoc(),
                                                   offsets[index.getDim()]);
    Value sum = arith::AddIOp::create(rewriter, index.getLoc(), index, offset);
    rewriter.replaceAllUsesExcept(index, sum, sum.getDefiningOp());
  });
  rewriter.replaceOp(op, made->getResults());
  for (tensor::ExtractSliceOp cut : cuts)
    cutOperands(cut);
}

/// A slice of what is computed element by element is computed from slices: a
/// tile in registers is never cut.
void Normalizer::cutOperands(tensor::ExtractSliceOp op) {
  Operation *source = op.getSource().getDefiningOp();
  RankedTensorType type = op.getType();
  if (isStoreMask(op))
    return;
  rewriter.setInsertionPoint(op);
  if (auto splat = dyn_cast_or_null<tensor::SplatOp>(source)) {
    if (type.hasStaticShape())
      rewriter.replaceOpWithNewOp<tensor::SplatOp>(op, splat.getInput(), type);
    return;
  }
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(source)) {
    if (type.hasStaticShape())
      rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, type.getShape(),
                                                   type.getElementType());
    return;
  }
  if (auto generic = dyn_cast_or_null<linalg::GenericOp>(source))
    return cutGeneric(op, generic);
  if (!source || source->getNumResults() != 1 ||
      !OpTrait::hasElementwiseMappableTraits(source))
    return;
  SmallVector<Value> operands;
  SmallVector<tensor::ExtractSliceOp> cuts;
  for (Value operand : source->getOperands()) {
    auto whole = dyn_cast<RankedTensorType>(operand.getType());
    if (!whole) {
      operands.push_back(operand);
      continue;
    }
    cuts.push_back(tensor::ExtractSliceOp::create(
        rewriter, op.getLoc(),
        RankedTensorType::get(type.getShape(), whole.getElementType()), operand,
        op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides()));
    operands.push_back(cuts.back());
  }
  Operation *made =
      rewriter.create(source->getLoc(), source->getName().getIdentifier(),
                      operands, type, source->getAttrs());
  rewriter.replaceOp(op, made->getResults());
  for (tensor::ExtractSliceOp cut : cuts)
    cutOperands(cut);
}

/// One element is a tile without dimensions.
void Normalizer::rewriteInsert(tensor::InsertOp op) {
  rewriter.setInsertionPoint(op);
  Value tile = tensor::SplatOp::create(
      rewriter, op.getLoc(), op.getScalar(),
      RankedTensorType::get({}, op.getScalar().getType()));
  SmallVector<OpFoldResult> offsets(op.getIndices());
  SmallVector<OpFoldResult> ones(offsets.size(), rewriter.getIndexAttr(1));
  rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(op, tile, op.getDest(),
                                                     offsets, ones, ones);
}

void Normalizer::rewriteElements(tensor::FromElementsOp op) {
  if (op.getElements().size() != 1)
    return;
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<tensor::SplatOp>(op, op.getElements().front(),
                                               op.getType());
}

LogicalResult Normalizer::run(PartOp part) {
  SmallVector<arith::ConstantOp> constants;
  SmallVector<linalg::LinalgOp> structured;
  part.getBody().walk([&](Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      constants.push_back(constant);
    else if (auto other = dyn_cast<linalg::LinalgOp>(op))
      structured.push_back(other);
  });
  for (arith::ConstantOp op : constants)
    rewriteConstant(op);
  part.getBody().walk([&](Operation *op) {
    if (auto insert = dyn_cast<tensor::InsertOp>(op))
      rewriteInsert(insert);
    else if (auto elements = dyn_cast<tensor::FromElementsOp>(op))
      rewriteElements(elements);
  });
  for (linalg::LinalgOp op : structured)
    if (failed(rewriteStructured(op)))
      return failure();
  SmallVector<tensor::ExtractSliceOp> slices;
  part.getBody().walk([&](tensor::ExtractSliceOp op) { slices.push_back(op); });
  for (tensor::ExtractSliceOp op : slices)
    cutOperands(op);
  // Extensions in front of products, and what was cut or not read.
  part.getBody().walk<WalkOrder::PostOrder, mlir::ReverseIterator>(
      [&](Operation *op) {
        if (isOpTriviallyDead(op))
          rewriter.eraseOp(op);
      });
  return success();
}

LogicalResult mlir::df::normalizeBody(PartOp part, Refusal &refusal) {
  return Normalizer(part, refusal).run(part);
}
