//===- Dispatch.cpp - From an instruction to its code ---------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

using namespace mlir;
using namespace mlir::df::nvvm;

static constexpr unsigned kStageVariant = 1;

bool df::nvvm::isCompiled(const dfrt::Variant &variant) {
  return variant.kind != dfrt::Variant::Kind::tiles;
}

LogicalResult df::nvvm::emitDispatch(KernelState &state) {
  const dfrt::Program &program = state.program;
  auto nameOf = [](uint32_t stage, uint32_t variant) {
    return ("dfk_stage_" + Twine(stage) + "_" + Twine(variant)).str();
  };
  SmallVector<int64_t> stages;
  for (uint32_t s = 0; s < program.stages.size(); ++s) {
    const dfrt::Stage &stage = program.stages[s];
    if (stage.kind == dfrt::StageKind::reshard)
      continue;
    stages.push_back(s);
    bool reduces = stage.kind == dfrt::StageKind::reduce;
    for (uint32_t v = 0; v < stage.variants.size(); ++v)
      if (isCompiled(stage.variants[v]) &&
          failed((reduces ? emitFold : emitCalls)(state, s, v, nameOf(s, v))))
        return failure();
  }

  Emitter &e = state.emitter;
  e.beginFunction("dfk_dispatch");
  Value key = e.word(e.instruction(), kStageVariant);
  Value variantOf = e.shiftRight(key, e.constant32(16));
  Value stageOf = e.bitAnd(key, e.constant32(0xffff));
  auto run = [&](uint32_t stage, uint32_t variant) {
    e.call(nameOf(stage, variant), {e.parameters(), e.instruction()});
  };
  e.branch(
      stageOf, stages,
      [&](size_t position) {
        uint32_t s = uint32_t(stages[position]);
        const dfrt::Stage &stage = program.stages[s];
        SmallVector<int64_t> own;
        for (uint32_t v = 1; v < stage.variants.size(); ++v)
          if (isCompiled(stage.variants[v]))
            own.push_back(v);
        if (own.empty())
          return run(s, 0);
        e.branch(
            variantOf, own, [&](size_t v) { run(s, uint32_t(own[v])); },
            [&] { run(s, 0); });
      },
      [] {});
  return success();
}
