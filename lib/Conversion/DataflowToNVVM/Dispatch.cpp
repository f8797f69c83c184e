//===- Dispatch.cpp - From an instruction to its code ---------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

using namespace mlir;
using namespace mlir::df::nvvm;

bool df::nvvm::isCompiled(const dfrt::Variant &variant) {
  return variant.kind != dfrt::Variant::Kind::tiles;
}

const dfrt::Variant *df::nvvm::findSliced(const dfrt::Stage &stage) {
  for (const dfrt::Variant &variant : stage.variants)
    if (variant.kind == dfrt::Variant::Kind::sliced)
      return &variant;
  return nullptr;
}

static std::string nameOf(StringRef prefix, uint32_t stage, uint32_t variant) {
  return (prefix + "_" + Twine(stage) + "_" + Twine(variant)).str();
}

/// Whether calls for slices are as good as a call for all of them: warps share
/// the slices, and keep what they work on in registers.
static bool prefersSlices(KernelState &state, const dfrt::Stage &stage) {
  const dfrt::Variant *variant = findSliced(stage);
  if (!variant)
    return false;
  std::string callee = state.calleeOf(*variant);
  return state.byWarp.contains(callee) &&
         (stage.kind != dfrt::StageKind::reduce ||
          findStateFunctions(state.emitter, callee));
}

namespace {
/// A stage with code and its variants; the first also stands in for others.
struct StageVariants {
  uint32_t stage = 0;
  SmallVector<uint32_t> variants;
};
} // namespace

/// A function that calls `<prefix>_<stage>_<variant>` for an instruction.
static void emitSwitch(Emitter &e, StringRef name, StringRef prefix,
                       ArrayRef<StageVariants> stages, bool operands) {
  e.beginInstruction(name, operands);
  if (stages.empty())
    return;
  Value key = e.word(e.instruction(), kStageVariant);
  Value variantOf = e.shiftRight(key, e.constant32(16));
  Value stageOf = e.bitAnd(key, e.constant32(0xffff));
  SmallVector<int64_t> numbers;
  for (const StageVariants &stage : stages)
    numbers.push_back(stage.stage);
  e.branch(
      stageOf, numbers,
      [&](size_t position) {
        const StageVariants &stage = stages[position];
        auto run = [&](int64_t variant) {
          e.call(nameOf(prefix, stage.stage, uint32_t(variant)),
                 e.allArguments());
        };
        SmallVector<int64_t> own;
        for (uint32_t variant : llvm::drop_begin(stage.variants))
          own.push_back(variant);
        if (own.empty())
          return run(stage.variants.front());
        e.branch(
            variantOf, own, [&](size_t v) { run(own[v]); },
            [&] { run(stage.variants.front()); });
      },
      [] {});
}

void df::nvvm::emitDispatch(KernelState &state) {
  constexpr StringLiteral execute = "dfk_stage", load = "dfk_load_stage";
  SmallVector<StageVariants> all, loading;
  for (uint32_t s = 0; s < state.program.stages.size(); ++s) {
    const dfrt::Stage &stage = state.program.stages[s];
    if (stage.kind == dfrt::StageKind::reshard)
      continue;
    bool reduces = stage.kind == dfrt::StageKind::reduce, loads = false;
    StageVariants entry{s, {}};
    bool slices = prefersSlices(state, stage);
    for (uint32_t v = 0; v < stage.variants.size(); ++v) {
      if ((!isCompiled(stage.variants[v]) &&
           !state.split.contains(stage.variants[v].symbol)) ||
          (slices && stage.variants[v].kind == dfrt::Variant::Kind::generic))
        continue;
      entry.variants.push_back(v);
      (reduces ? emitFold : emitCalls)(state, s, v, nameOf(execute, s, v));
      if (state.loads.contains(stage.variants[v].symbol)) {
        emitLoads(state, s, v, nameOf(load, s, v));
        loads = true;
      } else {
        state.emitter.beginInstruction(nameOf(load, s, v), false);
      }
    }
    all.push_back(entry);
    if (loads)
      loading.push_back(entry);
  }
  emitSwitch(state.emitter, "dfk_dispatch", execute, all, true);
  emitSwitch(state.emitter, "dfk_dispatch_load", load, loading, false);
}
