//===- SharedTile.cpp - Slices, padding and loads of shared tiles ---------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "SharedAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;

Window df::fragments::windowOf(const SharedTile &tile) {
  return {tile.layout, tile.address, tile.shape[0], tile.shape[1],
          tile.element.getIntOrFloatBitWidth() / 8};
}

LogicalResult FragmentLowering::lowerSharedSlice(tensor::ExtractSliceOp op) {
  SharedTile tile = *shared(op.getSource());
  auto refuse = [&](const Twine &why) {
    return op.emitOpError("of a shared tile ") << why;
  };
  if (!op.hasUnitStride())
    return refuse("has steps other than 1");
  if (op.getType().getRank() != 2)
    return refuse("drops a dimension");
  ArrayRef<int64_t> offsets = op.getStaticOffsets();
  if (ShapedType::isDynamicShape(offsets))
    return refuse("begins where a value says, expected constants");
  if (ShapedType::isDynamic(op.getStaticSizes()[1]))
    return refuse("has as many columns as a value says, expected a constant");
  std::optional<int64_t> offset = tile.layout.windowOffset(
      offsets[0], offsets[1], tile.element.getIntOrFloatBitWidth() / 8);
  if (!offset)
    return refuse("begins at (" + Twine(offsets[0]) + ", " + Twine(offsets[1]) +
                  "), which is not where an atom begins");
  if (*offset)
    tile.address = add(tile.address, i32(*offset));
  tile.shape.assign(op.getStaticSizes().begin(), op.getStaticSizes().end());
  map(op.getResult(), std::move(tile));
  return success();
}

LogicalResult FragmentLowering::lowerSharedPad(tensor::PadOp op) {
  const SharedTile *source = shared(op.getSource());
  if (!source)
    return op.emitOpError("pads a tensor of type ")
           << op.getSourceType() << ", which is no shared tile";
  SharedTile tile = *source;
  auto refuse = [&](const Twine &why) {
    return op.emitOpError("of a shared tile ") << why;
  };
  if (options.warp)
    return refuse("where each warp works by itself");
  Value with = op.getConstantPaddingValue();
  if (!with ||
      !(matchPattern(with, m_AnyZeroFloat()) || matchPattern(with, m_Zero())))
    return refuse("fills with something else than zero");
  SmallVector<OpFoldResult> low = op.getMixedLowPad();
  SmallVector<OpFoldResult> high = op.getMixedHighPad();
  if (!isZeroInteger(low[0]) || !isZeroInteger(low[1]) ||
      !isZeroInteger(high[1]))
    return refuse("adds more than rows behind its own");
  tile.shape.assign(op.getType().getShape().begin(),
                    op.getType().getShape().end());
  Window window = windowOf(tile);
  if (window.columns * window.elementBytes % 16 != 0)
    return refuse("has rows of " + Twine(window.columns * window.elementBytes) +
                  " bytes, expected a multiple of 16");

  // Most tiles are whole: the others pay for a barrier of their own. Rows that
  // are not valid have no meaning for those that still read the tile.
  Value first = arith::SubIOp::create(builder, loc, index(window.rows),
                                      index(scalar(high[0])));
  Value partial =
      call("dfk_any", builder.getI1Type(),
           Value(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       first, index(window.rows))));
  auto branch = scf::IfOp::create(builder, loc, partial, /*withElse=*/false);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Assembly assembly(builder, loc);
    Type i32Type = builder.getI32Type();
    zeroRows(assembly, call("dfk_thread", i32Type),
             call("dfk_threads", i32Type), window,
             arith::IndexCastOp::create(builder, loc, i32Type, first));
    publish(/*async=*/true);
  }
  map(op.getResult(), std::move(tile));
  return success();
}

FailureOr<Fragment> FragmentLowering::load(Operation *op,
                                           const SharedTile &tile,
                                           const FragmentLayout &layout) {
  Window window = windowOf(tile);
  if (auto reason = checkAccess(layout, window))
    return op->emitOpError("cannot load a shared tile: ") << *reason;
  Assembly assembly(builder, loc);
  Fragment fragment{layout, loadShared(assembly, {lane(), warp(), group()},
                                       layout, tile.element, window)};
  noteRead(tile.site);
  return fragment;
}
