//===- PieceSpecialization.cpp - A body for pieces of known size ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A piece of n tiles says how often a loop over whole tiles runs, but not where
// it ends: its last tile may be partial. A piece of n elements says both.
//
//===----------------------------------------------------------------------===//

#include "PieceSpecialization.h"
#include "ScalarFolding.h"
#include "ShapeRefinement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace mlir;
using namespace mlir::df;

namespace {

class PieceSpecializer {
public:
  PieceSpecializer(Region &body, const PieceFrame &frame, VariantAttr variant)
      : begin(body.getArgument(frame.begin)),
        end(body.getArgument(frame.begin + 1)), tile(frame.tile),
        exact(variant.getKind() == VariantKind::exact),
        count(variant.getValue()) {}

  /// Steps of `step` elements that cover the piece, if that is known.
  std::optional<int64_t> steps(int64_t step) const {
    if (step < 1)
      return std::nullopt;
    if (exact)
      return llvm::divideCeil(count, step);
    if (step % tile != 0)
      return std::nullopt;
    return llvm::divideCeil(count, step / tile);
  }

  /// Steps of `step` from `lower` to `upper`, if the piece's size decides them.
  std::optional<int64_t> steps(Value lower, Value upper, int64_t step) const {
    bool overPiece = lower == begin && upper == end;
    if (auto length = upper.getDefiningOp<arith::SubIOp>())
      overPiece |= isConstantIntValue(lower, 0) && length.getLhs() == end &&
                   length.getRhs() == begin;
    return overPiece ? steps(step) : std::nullopt;
  }

  bool run(Region &body);

private:
  void rewriteLoop(scf::ForOp loop, int64_t trips);

  Value begin, end;
  int64_t tile;
  bool exact;
  int64_t count;
};

} // namespace

void PieceSpecializer::rewriteLoop(scf::ForOp loop, int64_t trips) {
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  Location loc = loop.getLoc();
  if (trips == 1) {
    Operation *yield = loop.getBody()->getTerminator();
    SmallVector<Value> arguments = {loop.getLowerBound()};
    llvm::append_range(arguments, loop.getInitArgs());
    SmallVector<Value> results(yield->getOperands());
    // Values that the loop only passes on.
    for (Value &result : results)
      if (auto argument = dyn_cast<BlockArgument>(result);
          argument && argument.getOwner() == loop.getBody())
        result = arguments[argument.getArgNumber()];
    rewriter.eraseOp(yield);
    rewriter.inlineBlockBefore(loop.getBody(), loop, arguments);
    rewriter.replaceOp(loop, results);
    return;
  }
  Value lower = loop.getLowerBound(), step = loop.getStep();
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value last = arith::ConstantIndexOp::create(rewriter, loc, trips);
  rewriter.setInsertionPointToStart(loop.getBody());
  Value counter = loop.getInductionVar();
  auto distance = arith::MulIOp::create(rewriter, loc, counter, step);
  Value position = arith::AddIOp::create(rewriter, loc, lower, distance);
  rewriter.replaceAllUsesExcept(counter, position, distance);
  loop.setLowerBound(zero);
  loop.setUpperBound(last);
  loop.setStep(one);
}

bool PieceSpecializer::run(Region &body) {
  SmallVector<std::pair<scf::ForOp, int64_t>> loops;
  SmallVector<std::pair<RangeTilesOp, int64_t>> counts;
  body.walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      std::optional<int64_t> step = getConstantIntValue(loop.getStep());
      if (!step || !loop.getInductionVar().getType().isIndex())
        return;
      std::optional<int64_t> trips =
          steps(loop.getLowerBound(), loop.getUpperBound(), *step);
      // A loop over the number of tiles.
      if (auto tiles = loop.getUpperBound().getDefiningOp<RangeTilesOp>();
          tiles && *step == 1 && isConstantIntValue(loop.getLowerBound(), 0))
        if (auto size = dyn_cast<IntegerAttr>(tiles.getTile()))
          trips = steps(tiles.getBegin(), tiles.getEnd(), size.getInt());
      if (trips)
        loops.emplace_back(loop, *trips);
    } else if (auto tiles = dyn_cast<RangeTilesOp>(op)) {
      auto size = dyn_cast<IntegerAttr>(tiles.getTile());
      if (!size)
        return;
      if (std::optional<int64_t> number =
              steps(tiles.getBegin(), tiles.getEnd(), size.getInt()))
        counts.emplace_back(tiles, *number);
    }
  });
  if (loops.empty() && counts.empty() && (!exact || end.use_empty()))
    return false;

  for (auto [loop, trips] : loops)
    rewriteLoop(loop, trips);
  for (auto [tiles, number] : counts) {
    OpBuilder builder(tiles);
    tiles.replaceAllUsesWith(
        arith::ConstantIndexOp::create(builder, tiles.getLoc(), number)
            .getResult());
    tiles.erase();
  }
  if (exact && !end.use_empty()) {
    OpBuilder builder = OpBuilder::atBlockBegin(&body.front());
    Location loc = end.getLoc();
    Value length = arith::ConstantIndexOp::create(builder, loc, count);
    end.replaceAllUsesWith(arith::AddIOp::create(builder, loc, begin, length));
  }
  SmallVector<Operation *> ops;
  body.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  foldScalars(ops);
  ShapeRefinement shapes(body);
  SmallVector<Type> arguments(body.getArgumentTypes());
  SmallVector<Type> results(body.front().getTerminator()->getOperandTypes());
  (void)shapes.evaluate(arguments);
  shapes.materialize(results);
  return true;
}

bool mlir::df::specializePiece(Region &body, const PieceFrame &frame,
                               VariantAttr variant) {
  return PieceSpecializer(body, frame, variant).run(body);
}
