//===- RegisterFold.cpp - The fold of a reduce in registers ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a warp (or, of a record that is not cut, the CTA) has to fold is one
// sequence: all parts of its first slice, all parts of its second one, and so
// on. A window of registers holds the next records of this sequence, on their
// way from memory while earlier ones are merged; it runs on from one slice into
// the next, so that few parts of many slices are as fast as many parts of few.
// The order in which the parts of a slice are merged is that of a plain fold.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::df::nvvm;

/// Registers of a thread for records on their way, and records at most: with
/// more, the code no longer fits the caches of instructions.
static constexpr unsigned kWindowRegisters = 96;
static constexpr unsigned kMaxWindow = 8;
/// The same where a record is looked up in the plan first.
static constexpr unsigned kFarWindow = 2;
/// Registers of a record at most: what has been folded and what comes next have
/// to fit.
static constexpr unsigned kMaxRegisters = 96;

static unsigned registersOf(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return 2;
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 32);
}

std::optional<StateFunctions> df::nvvm::findStateFunctions(Emitter &e,
                                                           StringRef callee) {
  auto name = [&](StringRef suffix) { return (callee + suffix).str(); };
  StateFunctions functions;
  functions.load = name("$load");
  functions.merge = name("$merge");
  functions.store = name("$store");
  if (e.find(name("$head")))
    functions.head = name("$head");
  LLVM::LLVMFuncOp merge = e.find(functions.merge);
  if (!merge || !e.find(functions.load) || !e.find(functions.store))
    return std::nullopt;
  // Several results of a function are a struct, one is itself.
  Type result = merge.getResultTypes().front();
  if (auto several = dyn_cast<LLVM::LLVMStructType>(result))
    functions.scalars = llvm::to_vector(several.getBody());
  else
    functions.scalars = {result};
  for (Type scalar : functions.scalars)
    functions.registers += registersOf(scalar);
  if (functions.registers > kMaxRegisters)
    return std::nullopt;
  return functions;
}

namespace {

class FoldEmitter {
public:
  FoldEmitter(KernelState &state, const dfrt::Stage &stage,
              const StateFunctions &functions, bool sliced, bool byWarp,
              function_ref<RecordView(Value, Value, bool)> part,
              function_ref<RecordView(Value)> output)
      : state(state), e(state.emitter), stage(stage), functions(functions),
        sliced(sliced), byWarp(byWarp), part(part), output(output) {}

  void emit();

private:
  using Registers = SmallVector<Value>; ///< a record, a scalar each

  /// A place in the sequence.
  struct Cursor {
    Value slice, part;
  };

  Value isInside(Cursor at) { return e.less(at.slice, end); }
  Cursor next(Cursor at);
  Registers load(Cursor at);
  Registers merge(Value slice, ValueRange left, ValueRange right);
  void store(Value slice, ValueRange record);
  void fold();
  SmallVector<Value> turn(ValueRange values);

  KernelState &state;
  Emitter &e;
  const dfrt::Stage &stage;
  const StateFunctions &functions;
  bool sliced, byWarp;
  function_ref<RecordView(Value, Value, bool)> part;
  function_ref<RecordView(Value)> output;
  unsigned window = 1;
  bool near = true;       ///< all parts are
  Value count, first;     ///< parts; slice of the instruction
  Value begin, end, step; ///< slices of this warp
};

} // namespace

FoldEmitter::Cursor FoldEmitter::next(Cursor at) {
  Value further = e.add(at.part, e.constant32(1));
  Value ends = e.equal(further, count);
  return {e.select(ends, e.add(at.slice, step), at.slice),
          e.select(ends, e.constant32(0), further)};
}

FoldEmitter::Registers FoldEmitter::load(Cursor at) {
  RecordView from = part(at.part, sliced ? at.slice : Value(), near);
  return e.results(e.call(functions.load, {from.first, from.second}));
}

FoldEmitter::Registers FoldEmitter::merge(Value slice, ValueRange left,
                                          ValueRange right) {
  SmallVector<Value> indices;
  appendIndices(state, stage, {}, sliced ? slice : Value(), indices);
  Value packed = e.cells(std::max<unsigned>(unsigned(indices.size()), 1));
  for (auto [number, value] : llvm::enumerate(indices))
    e.store(value, packed, unsigned(number));
  SmallVector<Value> arguments{packed};
  llvm::append_range(arguments, left);
  llvm::append_range(arguments, right);
  return e.results(e.call(functions.merge, arguments));
}

void FoldEmitter::store(Value slice, ValueRange record) {
  RecordView to = output(sliced ? slice : Value());
  SmallVector<Value> arguments(record);
  arguments.append({to.first, to.second});
  e.call(functions.store, arguments);
  // Slices of one record have the same head.
  if (!functions.head.empty())
    e.when(e.equal(slice, first), [&] { e.call(functions.head, arguments); });
}

/// One turn of the loop: merges every record of the window, and has another one
/// take its place. The values: slice and part of the record in front, the same
/// of the one that is loaded next, what has been folded, the window.
SmallVector<Value> FoldEmitter::turn(ValueRange values) {
  size_t size = functions.scalars.size();
  Cursor front{values[0], values[1]}, back{values[2], values[3]};
  SmallVector<Value> folded(values.slice(4, size));
  SmallVector<Value> records(values.drop_front(4 + size));
  ArrayRef<Type> types = functions.scalars;
  SmallVector<Type> all{e.i32, e.i32};
  llvm::append_range(all, types);

  for (unsigned i = 0; i < window; ++i) {
    SmallVector<Value> record(ArrayRef<Value>(records).slice(i * size, size));
    auto take = [&]() -> SmallVector<Value> {
      SmallVector<Value> now = e.choose(
          e.equal(front.part, e.constant32(0)), types, [&] { return record; },
          [&] { return merge(front.slice, folded, record); });
      Value last = e.equal(e.add(front.part, e.constant32(1)), count);
      e.when(last, [&] { store(front.slice, now); });
      Cursor after = next(front);
      SmallVector<Value> result{after.slice, after.part};
      llvm::append_range(result, now);
      return result;
    };
    // The record in front of a turn is there, or there would be no turn.
    SmallVector<Value> taken =
        i == 0 ? take() : e.choose(isInside(front), all, take, [&] {
          SmallVector<Value> result{front.slice, front.part};
          llvm::append_range(result, folded);
          return result;
        });
    front = {taken[0], taken[1]};
    folded.assign(taken.begin() + 2, taken.end());

    SmallVector<Value> loaded = e.choose(
        isInside(back), types, [&] { return load(back); },
        [&] { return record; });
    llvm::copy(loaded, records.begin() + i * size);
    back = next(back);
  }
  SmallVector<Value> result{front.slice, front.part, back.slice, back.part};
  llvm::append_range(result, folded);
  llvm::append_range(result, records);
  return result;
}

/// Folds everything; there is something to fold.
void FoldEmitter::fold() {
  Value zero = e.constant32(0);
  Cursor back{begin, zero};
  SmallVector<Value> records;
  for (unsigned i = 0; i < window; ++i) {
    // Behind the end, the first record is loaded again; no branch keeps these
    // loads from following each other closely.
    Value inside = isInside(back);
    llvm::append_range(records, load({e.select(inside, back.slice, begin),
                                      e.select(inside, back.part, zero)}));
    back = next(back);
  }
  size_t size = functions.scalars.size();
  SmallVector<Value> values{begin, zero, back.slice, back.part};
  // Nothing has been folded: any values will do.
  values.append(records.begin(), records.begin() + size);
  llvm::append_range(values, records);
  e.repeat(
      values, [&](ValueRange now) { return isInside({now[0], now[1]}); },
      [&](ValueRange now) { return turn(now); });
}

void FoldEmitter::emit() {
  Value w = e.instruction(), zero = e.constant32(0), one = e.constant32(1);
  count = e.word(w, kOperandCount);
  // A record that is not cut counts as one slice.
  begin = first = sliced ? e.half(w, kSlices, false) : zero;
  end = sliced ? e.half(w, kSlices, true) : one;
  step = one;
  if (byWarp) {
    begin = e.add(begin, e.call("dfk_warp"));
    step = warpCount(e);
  }
  e.when(e.less(begin, end), [&] {
    e.when(e.less(count, e.constant32(kNearOperands + 1)), [&] {
      near = true;
      window = std::clamp(kWindowRegisters / std::max(functions.registers, 1u),
                          1u, kMaxWindow);
      fold();
    });
    // So many parts take their time anyway; the code stays small.
    e.when(e.less(e.constant32(kNearOperands), count), [&] {
      near = false;
      window = std::min(window, kFarWindow);
      fold();
    });
  });
}

void df::nvvm::emitRegisterFold(
    KernelState &state, const dfrt::Stage &stage,
    const StateFunctions &functions, bool sliced, bool byWarp,
    function_ref<RecordView(Value, Value, bool)> part,
    function_ref<RecordView(Value)> output) {
  FoldEmitter(state, stage, functions, sliced, byWarp, part, output).emit();
}
