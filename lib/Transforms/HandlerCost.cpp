//===- HandlerCost.cpp - Traffic and arithmetic of a handler --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts are doubles until the end: a loop whose step is not the tile makes a
// fraction of an iteration per tile, and all values are small enough to be
// exact.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/HandlerCost.h"

#include "dataflow/IR/Dataflow.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/DenseSet.h"

#include <cmath>

using namespace mlir;
using namespace mlir::df;

namespace {

/// How often something happens: `count` times a call or, with `perTile`, a
/// tile.
struct Frequency {
  double count = 1;
  bool perTile = false;
};

/// One load, so that a second load of the same place is not counted again.
struct Load {
  Value source;
  Block *block;
  SmallVector<OpFoldResult> offsets;
  double bytes;
  Frequency frequency;
};

class CostAnalysis {
public:
  explicit CostAnalysis(const HandlerFrame &frame) : frame(frame) {}

  dfrt::Cost run();

private:
  /// Range elements that one unit of `value` stands for, if it depends on the
  /// piece: 1 for begin and end, the tile for a number of tiles.
  std::optional<double> rangeScale(Value value);
  std::optional<double> rangeScaleOfOp(Operation *op);
  Frequency frequencyOf(Operation *op);
  /// Iterations of a loop that does not depend on the piece; 1 if unknown.
  double constantTrips(LoopLikeOpInterface loop);

  /// A constant or an upper bound that the defining op states.
  std::optional<int64_t> upperBound(OpFoldResult size);
  /// `end - begin`, which is a whole piece.
  bool isPieceLength(OpFoldResult size);
  /// Bytes of a block of these sizes, scaling `frequency` when one of them is
  /// the length of the piece. Nothing if a size is unknown.
  std::optional<double> blockBytes(ArrayRef<OpFoldResult> sizes, Type element,
                                   Frequency &frequency);
  std::optional<double> typeBytes(Type type);

  bool isOutput(Value value);
  bool isAddress(Value value);

  void addBytes(double bytes, Frequency frequency);
  void addFlops(double flops, Frequency frequency);
  void addLoad(Value source, Block *block, ArrayRef<OpFoldResult> offsets,
               double bytes, Frequency frequency);
  void visitUse(Operation *user, Value view);
  void visitStore(Operation *op);
  void visitArithmetic(Operation *op);

  const HandlerFrame &frame;
  DenseMap<Value, std::optional<double>> scales;
  SmallVector<Load> loads;
  double fixedBytes = 0, tileBytes = 0, fixedFlops = 0, tileFlops = 0;
};

double elementBytes(Type element) {
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  return bits <= 8 ? 1 : bits / 8;
}

} // namespace

//===----------------------------------------------------------------------===//
// How often
//===----------------------------------------------------------------------===//

std::optional<double> CostAnalysis::rangeScaleOfOp(Operation *op) {
  std::optional<double> found;
  for (Value operand : op->getOperands()) {
    if (!found)
      found = rangeScale(operand);
  }
  if (!found)
    return std::nullopt;
  if (auto tiles = dyn_cast<RangeTilesOp>(op)) {
    auto tile = dyn_cast<IntegerAttr>(tiles.getTileAttr());
    return *found * static_cast<double>(tile ? tile.getInt() : frame.tile);
  }
  if (op->getNumOperands() == 2) {
    std::optional<int64_t> constant = getConstantIntValue(op->getOperand(1));
    if (constant && *constant > 0) {
      if (isa<arith::DivUIOp, arith::DivSIOp, arith::CeilDivUIOp,
              arith::CeilDivSIOp, arith::FloorDivSIOp>(op))
        return *found * static_cast<double>(*constant);
      if (isa<arith::MulIOp>(op))
        return *found / static_cast<double>(*constant);
    }
  }
  return found;
}

std::optional<double> CostAnalysis::rangeScale(Value value) {
  if (!frame.begin)
    return std::nullopt;
  if (value == frame.begin || value == frame.end)
    return 1.0;
  auto known = scales.find(value);
  if (known != scales.end())
    return known->second;
  std::optional<double> result;
  if (Operation *op = value.getDefiningOp()) {
    if (isa<RangeTilesOp, affine::AffineApplyOp, affine::AffineMinOp,
            affine::AffineMaxOp>(op) ||
        isa<arith::ArithDialect>(op->getDialect()))
      result = rangeScaleOfOp(op);
  } else if (auto loop = dyn_cast_or_null<scf::ForOp>(
                 value.getParentBlock()->getParentOp())) {
    if (value == loop.getInductionVar()) {
      result = rangeScale(loop.getUpperBound());
      if (!result)
        result = rangeScale(loop.getLowerBound());
    }
  }
  scales[value] = result;
  return result;
}

double CostAnalysis::constantTrips(LoopLikeOpInterface loop) {
  auto lower = loop.getLoopLowerBounds(), upper = loop.getLoopUpperBounds(),
       step = loop.getLoopSteps();
  if (!lower || !upper || !step)
    return 1;
  double trips = 1;
  for (auto [l, u, s] : llvm::zip(*lower, *upper, *step)) {
    auto from = getConstantIntValue(l), to = getConstantIntValue(u),
         by = getConstantIntValue(s);
    if (!from || !to || !by || *by <= 0)
      continue;
    trips *=
        *to > *from ? static_cast<double>((*to - *from + *by - 1) / *by) : 0;
  }
  return trips;
}

Frequency CostAnalysis::frequencyOf(Operation *op) {
  Frequency result;
  for (Operation *parent = op->getParentOp();
       parent && op->getBlock() != frame.body;
       op = parent, parent = parent->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      std::optional<double> scale = rangeScale(loop.getUpperBound());
      if (!scale)
        scale = rangeScale(loop.getLowerBound());
      if (!scale) {
        result.count *= constantTrips(loop);
      } else if (!result.perTile) {
        // A range loop inside another one covers the outer one's step, so that
        // the innermost alone says how often its body runs per tile.
        double step = static_cast<double>(
            getConstantIntValue(loop.getStep()).value_or(1));
        result.perTile = true;
        result.count *= static_cast<double>(frame.tile) / (step * *scale);
      }
    } else if (auto loop = dyn_cast<LoopLikeOpInterface>(parent)) {
      result.count *= constantTrips(loop);
    } else if (auto structured = dyn_cast<linalg::LinalgOp>(parent)) {
      for (int64_t extent : structured.getStaticLoopRanges())
        result.count *= ShapedType::isDynamic(extent) ? 1 : extent;
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// How much
//===----------------------------------------------------------------------===//

std::optional<int64_t> CostAnalysis::upperBound(OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return constant;
  Operation *op = cast<Value>(size).getDefiningOp();
  if (!op)
    return std::nullopt;
  std::optional<int64_t> bound;
  auto narrow = [&](std::optional<int64_t> other) {
    if (other)
      bound = bound ? std::min(*bound, *other) : *other;
  };
  if (isa<arith::MinSIOp, arith::MinUIOp>(op)) {
    for (Value operand : op->getOperands())
      narrow(upperBound(operand));
  } else if (auto min = dyn_cast<affine::AffineMinOp>(op)) {
    for (AffineExpr expr : min.getAffineMap().getResults()) {
      if (auto constant = dyn_cast<AffineConstantExpr>(expr))
        narrow(constant.getValue());
    }
  }
  return bound;
}

bool CostAnalysis::isPieceLength(OpFoldResult size) {
  auto value = dyn_cast<Value>(size);
  auto sub = value ? value.getDefiningOp<arith::SubIOp>() : arith::SubIOp();
  return sub && frame.begin && sub.getLhs() == frame.end &&
         sub.getRhs() == frame.begin;
}

std::optional<double> CostAnalysis::blockBytes(ArrayRef<OpFoldResult> sizes,
                                               Type element,
                                               Frequency &frequency) {
  double bytes = elementBytes(element);
  for (OpFoldResult size : sizes) {
    if (std::optional<int64_t> bound = upperBound(size)) {
      bytes *= static_cast<double>(*bound);
    } else if (isPieceLength(size)) {
      bytes *= static_cast<double>(frame.tile);
      frequency.perTile = true;
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

std::optional<double> CostAnalysis::typeBytes(Type type) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  if (!shaped)
    return elementBytes(type);
  if (!shaped.hasStaticShape())
    return std::nullopt;
  return elementBytes(shaped.getElementType()) *
         static_cast<double>(shaped.getNumElements());
}

void CostAnalysis::addBytes(double bytes, Frequency frequency) {
  (frequency.perTile ? tileBytes : fixedBytes) += bytes * frequency.count;
}

void CostAnalysis::addFlops(double flops, Frequency frequency) {
  (frequency.perTile ? tileFlops : fixedFlops) += flops * frequency.count;
}

void CostAnalysis::addLoad(Value source, Block *block,
                           ArrayRef<OpFoldResult> offsets, double bytes,
                           Frequency frequency) {
  for (Load &load : loads) {
    if (load.source == source && load.block == block &&
        ArrayRef<OpFoldResult>(load.offsets) == offsets) {
      load.bytes = std::max(load.bytes, bytes);
      return;
    }
  }
  loads.push_back(
      {source, block, SmallVector<OpFoldResult>(offsets), bytes, frequency});
}

//===----------------------------------------------------------------------===//
// Loads, stores, arithmetic
//===----------------------------------------------------------------------===//

/// An integer that only becomes an index is an address.
bool CostAnalysis::isAddress(Value value) {
  return value.getType().isIntOrIndex() && !value.use_empty() &&
         llvm::all_of(value.getUsers(), [](Operation *user) {
           return isa<arith::IndexCastOp, arith::IndexCastUIOp>(user);
         });
}

void CostAnalysis::visitUse(Operation *user, Value view) {
  Frequency frequency = frequencyOf(user);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user)) {
    Type element = slice.getSourceType().getElementType();
    if (auto bytes = blockBytes(slice.getMixedSizes(), element, frequency)) {
      addLoad(view, slice->getBlock(), slice.getMixedOffsets(), *bytes,
              frequency);
      return;
    }
    for (Operation *next : slice.getResult().getUsers())
      visitUse(next, slice.getResult());
    return;
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(user)) {
    if (!isAddress(extract.getResult()))
      addLoad(view, extract->getBlock(),
              getAsOpFoldResult(extract.getIndices()),
              elementBytes(extract.getType()), frequency);
    return;
  }
  if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
          user)) {
    for (Operation *next : user->getUsers())
      visitUse(next, user->getResult(0));
    return;
  }
  if (auto gather = dyn_cast<tensor::GatherOp>(user)) {
    if (std::optional<double> bytes = typeBytes(gather.getType());
        bytes && gather.getSource() == view)
      addBytes(*bytes, frequency);
    return;
  }
  if (isa<tensor::DimOp>(user) || user->hasTrait<OpTrait::IsTerminator>())
    return;
  // Whatever else uses the tensor reads all of it.
  if (std::optional<double> bytes = typeBytes(view.getType()))
    addLoad(view, user->getBlock(), {}, *bytes, frequency);
}

bool CostAnalysis::isOutput(Value value) {
  DenseSet<Value> seen;
  while (value && seen.insert(value).second) {
    if (llvm::is_contained(frame.outputs, value))
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *parent = argument.getOwner()->getParentOp();
      if (auto forall = dyn_cast<scf::ForallOp>(parent)) {
        OpOperand *tied = forall.getTiedOpOperand(argument);
        value = tied ? tied->get() : Value();
      } else if (auto loop = dyn_cast<LoopLikeOpInterface>(parent)) {
        OpOperand *init = loop.getTiedLoopInit(argument);
        value = init ? init->get() : Value();
      } else {
        return false;
      }
      continue;
    }
    auto result = cast<OpResult>(value);
    Operation *op = result.getOwner();
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      value = insert.getDest();
    else if (auto insert = dyn_cast<tensor::InsertOp>(op))
      value = insert.getDest();
    else if (auto cast = dyn_cast<tensor::CastOp>(op))
      value = cast.getSource();
    else if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
      OpOperand *init = loop.getTiedLoopInit(result);
      value = init ? init->get() : Value();
    } else if (auto branch = dyn_cast<scf::IfOp>(op))
      value = branch.thenYield().getOperand(result.getResultNumber());
    else if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      value = structured.getDpsInits()[result.getResultNumber()];
    else
      return false;
  }
  return false;
}

void CostAnalysis::visitStore(Operation *op) {
  Frequency frequency = frequencyOf(op);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    if (!isOutput(insert.getDest()))
      return;
    Type element = insert.getSourceType().getElementType();
    if (auto bytes = blockBytes(insert.getMixedSizes(), element, frequency))
      addBytes(*bytes, frequency);
  } else if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op)) {
    if (!isOutput(insert.getDest()))
      return;
    Type element = insert.getSourceType().getElementType();
    if (auto bytes = blockBytes(insert.getMixedSizes(), element, frequency))
      addBytes(*bytes, frequency);
  } else if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
    if (isOutput(insert.getDest()))
      addBytes(elementBytes(insert.getScalar().getType()), frequency);
  } else if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    for (Value init : structured.getDpsInits()) {
      std::optional<double> bytes = typeBytes(init.getType());
      if (bytes && isOutput(init))
        addBytes(*bytes, frequency);
    }
  }
}

void CostAnalysis::visitArithmetic(Operation *op) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    if (isa<linalg::FillOp, linalg::CopyOp, linalg::TransposeOp,
            linalg::BroadcastOp>(op))
      return;
    double points = 1;
    for (int64_t extent : structured.getStaticLoopRanges())
      points *= ShapedType::isDynamic(extent) ? 1 : extent;
    bool contraction = linalg::isaContractionOpInterface(structured);
    addFlops(contraction ? 2 * points : points, frequencyOf(op));
    return;
  }
  // Ops of a linalg body are counted with it.
  if (op->getParentOfType<linalg::LinalgOp>() || op->getNumResults() != 1 ||
      isa<arith::ConstantOp, CastOpInterface>(op) ||
      !isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return;
  Type type = op->getResult(0).getType();
  if (!isa<FloatType>(getElementTypeOrSelf(type)))
    return;
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    addFlops(1, frequencyOf(op));
  else if (shaped.hasStaticShape())
    addFlops(static_cast<double>(shaped.getNumElements()), frequencyOf(op));
}

dfrt::Cost CostAnalysis::run() {
  for (Value operand : frame.operands) {
    for (Operation *user : operand.getUsers())
      visitUse(user, operand);
  }
  for (const Load &load : loads)
    addBytes(load.bytes, load.frequency);
  frame.body->walk([&](Operation *op) {
    visitStore(op);
    visitArithmetic(op);
  });

  auto rounded = [](double value) {
    return static_cast<uint64_t>(std::llround(std::min(value, 9.0e18)));
  };
  dfrt::Cost cost;
  cost.fixedBytes = rounded(fixedBytes);
  cost.tileBytes = rounded(tileBytes);
  cost.fixedFlops = rounded(fixedFlops);
  cost.tileFlops = rounded(tileFlops);
  return cost;
}

dfrt::Cost mlir::df::analyzeCost(const HandlerFrame &frame) {
  return CostAnalysis(frame).run();
}

LogicalResult mlir::df::applyCostAttribute(Operation *handler,
                                           dfrt::Cost &cost) {
  Attribute attribute = handler->getAttr("cost");
  if (!attribute)
    return success();
  auto stated = dyn_cast<DictionaryAttr>(attribute);
  if (!stated)
    return handler->emitOpError("attribute 'cost' must be a dictionary");
  for (NamedAttribute entry : stated) {
    uint64_t *field = llvm::StringSwitch<uint64_t *>(entry.getName())
                          .Case("fixed_bytes", &cost.fixedBytes)
                          .Case("tile_bytes", &cost.tileBytes)
                          .Case("fixed_flops", &cost.fixedFlops)
                          .Case("tile_flops", &cost.tileFlops)
                          .Default(nullptr);
    if (!field)
      return handler->emitOpError("attribute 'cost' has the unknown key ")
             << entry.getName() << "; known are fixed_bytes, tile_bytes, "
             << "fixed_flops and tile_flops";
    auto value = dyn_cast<IntegerAttr>(entry.getValue());
    if (!value || value.getValue().isNegative())
      return handler->emitOpError("cost ")
             << entry.getName() << " must be a non-negative integer, got "
             << entry.getValue();
    *field = value.getValue().getZExtValue();
  }
  return success();
}
