//===- StageLoads.cpp - Load parts of an instruction ----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the load warp does: for each call of a handler's compute part, in the
// same order, one of its load part. It gets indices and operands only.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

using namespace mlir;
using namespace mlir::df::nvvm;

void df::nvvm::emitLoads(KernelState &state, uint32_t index, uint32_t number,
                         StringRef name) {
  Emitter &e = state.emitter;
  const dfrt::Stage &stage = state.program.stages[index];
  const dfrt::Variant &variant = stage.variants[number];
  bool sliced = variant.kind == dfrt::Variant::Kind::sliced;
  e.beginInstruction(name, /*operands=*/false);
  auto load = [&](Value tile, Value slice) {
    SmallVector<Value> arguments;
    appendIndices(state, stage, tile, slice, arguments);
    // No scratch is used.
    arguments.append({e.parameters(), e.counters(), e.parameters()});
    e.callPacked(variant.symbol + "$load", arguments);
  };
  if (stage.kind != dfrt::StageKind::reduce)
    return forEachCall(e, stage, sliced, Between::nothing, load);

  // A fold calls its handler once for each part but the first.
  Value w = e.instruction();
  Value parts = e.word(w, kOperandCount), one = e.constant32(1);
  auto fold = [&](Value slice) {
    e.when(e.less(one, parts),
           [&] { e.loop(one, parts, [&](Value) { load({}, slice); }); });
  };
  if (!sliced)
    return fold({});
  e.loop(e.half(w, kSlices, false), e.half(w, kSlices, true), fold);
}
