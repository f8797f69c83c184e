//===- Stage.cpp - From registers to shared tiles -------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "SharedAccess.h"

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;

FailureOr<SharedTile> FragmentLowering::stage(Operation *op,
                                              const Fragment &fragment,
                                              const SharedLayout &layout) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SharedTile tile{layout, Value(), SmallVector<int64_t>(type.getShape()),
                  type.getElementType(), std::nullopt};
  if (options.warp)
    return op->emitOpError(
        "stages a tile where each warp works by itself: it has no scratch");
  if (fragment.layout.rank() != 2)
    return op->emitOpError("cannot stage a tile of ")
           << fragment.layout.rank() << " dimensions, expected 2";
  Window window = windowOf(tile);
  if (auto reason = checkAccess(fragment.layout, window))
    return op->emitOpError("cannot stage a tile: ") << *reason;
  tile.site = allocateScratch(
      uint64_t(layout.tileBytes(tile.shape, window.elementBytes)),
      uint64_t(layout.alignment()));
  tile.address = window.address = beginWrite(*tile.site);
  Assembly assembly(builder, loc);
  storeShared(assembly, {lane(), warp(), group()}, fragment.layout,
              fragment.registers, window);
  publish(/*async=*/true);
  return tile;
}
