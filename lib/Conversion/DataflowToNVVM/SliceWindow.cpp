//===- SliceWindow.cpp - Slices that a warp loads ahead -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slices are loaded in groups, without a branch between their loads: a warp has
// few counters to tell which of its loads are there, and a branch makes it wait
// for more of them than it needs. While a group is worked on, the groups behind
// it are on their way.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::df::nvvm;

/// Records on their way at most: with more, the code no longer fits the caches
/// of instructions.
static constexpr Window kMostSlices{2, 4};

Window df::nvvm::windowOf(unsigned registers, Window most, unsigned available) {
  unsigned records = available / std::max(registers, 1u);
  Window window;
  window.size = std::clamp(records / 2, 1u, most.size);
  window.groups = std::clamp(records / window.size, 1u, most.groups);
  return window;
}

std::optional<SliceFunctions> df::nvvm::findSliceFunctions(Emitter &e,
                                                           StringRef callee) {
  SliceFunctions functions;
  functions.slice = (callee + "$slice").str();
  functions.apply = (callee + "$apply").str();
  std::string common = (callee + "$common").str();
  if (e.find(common))
    functions.common = common;
  LLVM::LLVMFuncOp load = e.find(functions.slice);
  if (!load || !e.find(functions.apply))
    return std::nullopt;
  functions.scalars = scalarsOf(load);
  functions.registers = registersOf(functions.scalars);
  return functions;
}

WarpSlices df::nvvm::warpSlices(Emitter &e) {
  Value w = e.instruction(), one = e.constant32(1);
  Value first = e.half(w, kSlices, false), end = e.half(w, kSlices, true);
  Value warps = warpCount(e);
  Value rounded = e.add(e.subtract(end, first), e.subtract(warps, one));
  Value each = e.divide(rounded, warps);
  Value begin = e.add(first, e.multiply(e.call("dfk_warp"), each));
  return {begin, e.minimum(e.add(begin, each), end)};
}

void df::nvvm::emitSliceWindow(KernelState &state,
                               const SliceFunctions &functions,
                               WarpSlices slices,
                               function_ref<SmallVector<Value>(Value)> load,
                               function_ref<void()> first,
                               function_ref<void(Value, ValueRange)> apply) {
  Emitter &e = state.emitter;
  Window window =
      windowOf(functions.registers, kMostSlices, state.windowRegisters);
  size_t size = functions.scalars.size();
  Value last = e.subtract(slices.end, e.constant32(1));
  SmallVector<Type> types;
  for (unsigned i = 0; i < window.size; ++i)
    llvm::append_range(types, functions.scalars);
  auto behind = [&](Value slice, unsigned number) {
    return number ? e.add(slice, e.constant32(number)) : slice;
  };
  // Behind the end, the last slice is loaded again.
  auto loadGroup = [&](Value slice) {
    SmallVector<Value> registers;
    for (unsigned i = 0; i < window.size; ++i)
      llvm::append_range(registers, load(e.minimum(behind(slice, i), last)));
    return registers;
  };

  SmallVector<Value> values{slices.begin};
  SmallVector<Value> group = loadGroup(slices.begin);
  llvm::append_range(values, group);
  // Where there are no further slices, any values will do. Those of others
  // would be waited for, and poison has LLVM rewrite the loop until it no
  // longer fits the registers.
  SmallVector<Value> zeros;
  for (Type type : types)
    zeros.push_back(LLVM::ZeroOp::create(e.builder, e.loc, type));
  for (unsigned g = 1; g < window.groups; ++g) {
    Value at = behind(slices.begin, g * window.size);
    llvm::append_range(values, e.choose(
                                   e.less(at, slices.end), types,
                                   [&] { return loadGroup(at); },
                                   [&] { return zeros; }));
  }
  first();
  e.repeat(
      values, [&](ValueRange now) { return e.less(now[0], slices.end); },
      [&](ValueRange now) {
        SmallVector<Value> next{behind(now[0], window.records())};
        for (unsigned g = 0; g < window.groups; ++g) {
          SmallVector<Value> group(
              now.slice(1 + g * window.size * size, window.size * size));
          Value at = behind(now[0], g * window.size);
          for (unsigned i = 0; i < window.size; ++i) {
            Value slice = behind(at, i);
            e.when(e.less(slice, slices.end), [&] {
              apply(slice, ArrayRef<Value>(group).slice(i * size, size));
            });
          }
          Value further = behind(at, window.records());
          llvm::append_range(next, e.choose(
                                       e.less(further, slices.end), types,
                                       [&] { return loadGroup(further); },
                                       [&] { return group; }));
        }
        return next;
      });
}
