//===- RegisterFold.cpp - The fold of a reduce in registers ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a warp (or, of a record that is not cut, the CTA) has to fold is one
// sequence: all parts of its first slice, all parts of the next one, and so on.
// A window of registers holds the next records of this sequence, on their way
// from memory while earlier ones are merged (SliceWindow.cpp says why in
// groups); it runs on from one slice into the next, so that few parts of many
// slices are as fast as many parts of few. The order in which the parts of a
// slice are merged is that of a plain fold.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::df::nvvm;

/// The window at most. Where every CTA with a part finishes a share of the
/// slices, a warp has about so many records altogether.
static constexpr Window kMostRecords{3, 4};
/// The window where a record is looked up in the plan first.
static constexpr Window kFarWindow{1, 2};
/// Registers of a record at most: what has been folded and what comes next have
/// to fit.
static constexpr unsigned kMaxRegisters = 96;

SmallVector<Type> df::nvvm::scalarsOf(LLVM::LLVMFuncOp function) {
  Type result = function.getResultTypes().front();
  if (auto several = dyn_cast<LLVM::LLVMStructType>(result))
    return llvm::to_vector(several.getBody());
  return {result};
}

unsigned df::nvvm::registersOf(ArrayRef<Type> scalars) {
  unsigned registers = 0;
  for (Type type : scalars)
    registers += isa<LLVM::LLVMPointerType>(type)
                     ? 2
                     : llvm::divideCeil(type.getIntOrFloatBitWidth(), 32);
  return registers;
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
  if (e.find(name("$widen")))
    functions.widen = name("$widen");
  LLVM::LLVMFuncOp merge = e.find(functions.merge);
  LLVM::LLVMFuncOp load = e.find(functions.load);
  if (!merge || !load || !e.find(functions.store))
    return std::nullopt;
  functions.scalars = scalarsOf(merge);
  functions.loaded = scalarsOf(load);
  functions.registers = registersOf(functions.loaded);
  if (registersOf(functions.scalars) > kMaxRegisters)
    return std::nullopt;
  return functions;
}

namespace {

class FoldEmitter {
public:
  FoldEmitter(KernelState &state, const dfrt::Stage &stage,
              const StateFunctions &functions, bool sliced, bool byWarp,
              function_ref<RecordView(Value, Value, bool)> part,
              function_ref<void()> meanwhile,
              function_ref<RecordView(Value)> output, const FoldFollow *follow)
      : state(state), e(state.emitter), stage(stage), functions(functions),
        sliced(sliced), byWarp(byWarp), part(part), meanwhile(meanwhile),
        output(output), follow(follow) {}

  void emit();

private:
  using Registers = SmallVector<Value>; ///< a record, a scalar each

  /// A place in the sequence.
  struct Cursor {
    Value slice, part;
  };

  /// What there is behind a record.
  struct Result {
    Value isLast, slice; ///< of the slice, and inside
    Registers record;    ///< folded
  };

  Value isInside(Cursor at) { return e.less(at.slice, end); }
  Cursor next(Cursor at);
  Registers load(Cursor at);
  Registers widen(ArrayRef<Value> loaded);
  Registers merge(Value slice, ValueRange left, ValueRange right);
  void store(Value slice, ValueRange record);
  void keep(Value slice, ValueRange record);
  void keepResults(ArrayRef<Result> results, Registers &first);
  Registers fold();
  Registers loadGroup(Cursor &back);
  void takeGroup(Cursor &front, Registers &folded, Registers &first,
                 ArrayRef<Value> group);
  SmallVector<Value> turn(ValueRange values);

  KernelState &state;
  Emitter &e;
  const dfrt::Stage &stage;
  const StateFunctions &functions;
  bool sliced, byWarp;
  function_ref<RecordView(Value, Value, bool)> part;
  function_ref<void()> meanwhile;
  function_ref<RecordView(Value)> output;
  const FoldFollow *follow;
  Value followed; ///< an i1, with `follow`
  Window window;
  bool near = true;   ///< all parts are
  Value count, first; ///< parts; slice of the instruction
  Value begin, end;   ///< slices of this warp
};

} // namespace

FoldEmitter::Cursor FoldEmitter::next(Cursor at) {
  Value part = e.add(at.part, e.constant32(1));
  Value ends = e.equal(part, count);
  Value slice = e.add(at.slice, e.constant32(1));
  return {e.select(ends, slice, at.slice),
          e.select(ends, e.constant32(0), part)};
}

FoldEmitter::Registers FoldEmitter::load(Cursor at) {
  RecordView from = part(at.part, sliced ? at.slice : Value(), near);
  return e.results(e.call(functions.load, {from.first, from.second}));
}

/// A record of what was loaded.
FoldEmitter::Registers FoldEmitter::widen(ArrayRef<Value> loaded) {
  if (functions.widen.empty())
    return Registers(loaded);
  return e.results(e.call(functions.widen, loaded));
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

/// Does with a slice what is to be done. Where the finalize follows, the first
/// slice of all is left to the end: it may have more to do, and the code of the
/// others need not contain that.
void FoldEmitter::keep(Value slice, ValueRange record) {
  if (!follow)
    return store(slice, record);
  e.when(
      followed,
      [&] {
        Value isOther = e.notEqual(slice, e.constant32(0));
        e.when(isOther, [&] {
          e.assume(isOther);
          follow->apply(slice, record);
        });
      },
      [&] { store(slice, record); });
}

/// Loads a group of records and moves `back` behind them. Behind the end, those
/// of the last slice are loaded again.
FoldEmitter::Registers FoldEmitter::loadGroup(Cursor &back) {
  Registers records;
  Value last = e.subtract(end, e.constant32(1));
  for (unsigned i = 0; i < window.size; ++i) {
    llvm::append_range(records, load({e.minimum(back.slice, last), back.part}));
    back = next(back);
  }
  return records;
}

/// Merges the group of records from `front` on into what has been folded, and
/// moves `front` behind it. No branch stands between the records: most of what
/// they take does not depend on those before them. Of the last group, records
/// behind the end are merged, too, but not kept.
void FoldEmitter::takeGroup(Cursor &front, Registers &folded, Registers &first,
                            ArrayRef<Value> group) {
  SmallVector<Result> results;
  size_t size = functions.scalars.size(), loadedSize = functions.loaded.size();
  for (unsigned i = 0; i < window.size; ++i) {
    ArrayRef<Value> loaded = group.slice(i * loadedSize, loadedSize);
    Value isFirst = e.equal(front.part, e.constant32(0));
    Registers record = widen(loaded);
    Registers merged = merge(front.slice, folded, loaded);
    for (size_t k = 0; k < size; ++k)
      folded[k] = e.select(isFirst, record[k], merged[k]);
    Value isLast = e.equal(e.add(front.part, e.constant32(1)), count);
    results.push_back({e.bitAnd(isLast, isInside(front)), front.slice, folded});
    front = next(front);
  }
  keepResults(results, first);
}

/// Keeps those of the records with which a slice ends; `first` becomes that of
/// the first slice of all. Mostly there is one of them at most, so they share
/// the code: it is long.
void FoldEmitter::keepResults(ArrayRef<Result> results, Registers &first) {
  Value ends = e.constant32(0);
  for (auto [number, result] : llvm::enumerate(results))
    ends = e.add(ends, e.select(result.isLast, e.constant32(1 << number),
                                e.constant32(0)));
  SmallVector<Value> initial{ends};
  llvm::append_range(initial, first);
  SmallVector<Value> kept = e.repeat(
      initial,
      [&](ValueRange now) { return e.notEqual(now[0], e.constant32(0)); },
      [&](ValueRange now) {
        // The lowest bit says which.
        Value rest = e.bitAnd(now[0], e.subtract(now[0], e.constant32(1)));
        Value bit = e.subtract(now[0], rest);
        Value slice = results.back().slice;
        Registers record = results.back().record;
        for (size_t i = results.size() - 1; i-- > 0;) {
          Value isIts = e.equal(bit, e.constant32(1 << i));
          slice = e.select(isIts, results[i].slice, slice);
          for (auto [value, its] : llvm::zip(record, results[i].record))
            value = e.select(isIts, its, value);
        }
        keep(slice, record);
        SmallVector<Value> next{rest};
        Value isFirst = e.equal(slice, e.constant32(0));
        for (auto [value, old] : llvm::zip(record, now.drop_front()))
          next.push_back(e.select(isFirst, value, old));
        return next;
      });
  first.assign(kept.begin() + 1, kept.end());
}

/// One turn of the loop: merges every record of the window, and has others take
/// the places of a group. The values: slice and part of the record in front,
/// the same of the one that is loaded next, what has been folded, with `follow`
/// the first slice of all, the window.
SmallVector<Value> FoldEmitter::turn(ValueRange values) {
  size_t size = functions.scalars.size();
  Cursor front{values[0], values[1]}, back{values[2], values[3]};
  Registers folded(values.slice(4, size));
  size_t firstSize = follow ? size : 0;
  Registers firstSlice(values.slice(4 + size, firstSize));
  ValueRange records = values.drop_front(4 + size + firstSize);
  SmallVector<Type> state(functions.scalars), group;
  if (follow)
    llvm::append_range(state, functions.scalars);
  for (unsigned i = 0; i < window.size; ++i)
    llvm::append_range(group, functions.loaded);
  // A cursor and registers, as a branch returns them.
  auto join = [](Cursor at, ValueRange registers) {
    SmallVector<Value> values{at.slice, at.part};
    llvm::append_range(values, registers);
    return values;
  };
  auto typesOf = [&](ArrayRef<Type> registers) {
    SmallVector<Type> types{e.i32, e.i32};
    llvm::append_range(types, registers);
    return types;
  };

  Registers renewed;
  for (unsigned g = 0; g < window.groups; ++g) {
    Registers present(records.take_front(group.size()));
    records = records.drop_front(group.size());
    auto takenOf = [&](Cursor at, Registers its, ArrayRef<Value> ofFirst) {
      llvm::append_range(its, ofFirst);
      return join(at, its);
    };
    auto take = [&] {
      Cursor at = front;
      Registers its = folded, ofFirst = firstSlice;
      takeGroup(at, its, ofFirst, present);
      return takenOf(at, its, ofFirst);
    };
    // The loop has seen that there is a first group.
    SmallVector<Value> taken =
        g == 0 ? take() : e.choose(isInside(front), typesOf(state), take, [&] {
          return takenOf(front, folded, firstSlice);
        });
    front = {taken[0], taken[1]};
    ArrayRef<Value> its = ArrayRef(taken).drop_front(2);
    folded.assign(its.begin(), its.begin() + size);
    firstSlice.assign(its.begin() + size, its.end());

    auto loadNext = [&] {
      Cursor at = back;
      Registers further = loadGroup(at);
      return join(at, further);
    };
    SmallVector<Value> loaded =
        e.choose(isInside(back), typesOf(group), loadNext,
                 [&] { return join(back, present); });
    back = {loaded[0], loaded[1]};
    renewed.append(loaded.begin() + 2, loaded.end());
  }
  SmallVector<Value> result = join(front, {back.slice, back.part});
  llvm::append_range(result, folded);
  llvm::append_range(result, firstSlice);
  llvm::append_range(result, renewed);
  return result;
}

/// Folds everything; there is something to fold. With `follow`, returns the
/// first slice of all, if it is among what this warp folds.
FoldEmitter::Registers FoldEmitter::fold() {
  Cursor back{begin, e.constant32(0)};
  Registers records;
  // No branch keeps these loads from following each other closely.
  for (unsigned g = 0; g < window.groups; ++g) {
    Registers group = loadGroup(back);
    llvm::append_range(records, group);
  }
  // The plan is read while these are on their way.
  meanwhile();
  if (follow)
    followed = follow->ask();
  SmallVector<Value> values{begin, e.constant32(0), back.slice, back.part};
  // Nothing has been folded: any values will do that need not be waited for.
  size_t size = functions.scalars.size();
  for (unsigned i = 0; i < (follow ? 2 : 1); ++i)
    for (Type type : functions.scalars)
      values.push_back(LLVM::ZeroOp::create(e.builder, e.loc, type));
  llvm::append_range(values, records);
  SmallVector<Value> left = e.repeat(
      values, [&](ValueRange now) { return isInside({now[0], now[1]}); },
      [&](ValueRange now) { return turn(now); });
  if (!follow)
    return {};
  return Registers(ArrayRef(left).slice(4 + size, size));
}

void FoldEmitter::emit() {
  Value w = e.instruction(), zero = e.constant32(0), one = e.constant32(1);
  count = e.word(w, kOperandCount);
  // A record that is not cut counts as one slice.
  begin = first = sliced ? e.half(w, kSlices, false) : zero;
  end = sliced ? e.half(w, kSlices, true) : one;
  if (byWarp) {
    WarpSlices slices = warpSlices(e);
    begin = slices.begin;
    end = slices.end;
  }
  auto foldNear = [&] {
    near = true;
    window = windowOf(functions.registers, kMostRecords, state.windowRegisters);
    return fold();
  };
  // So many parts take their time anyway; the code stays small.
  auto foldFar = [&] {
    near = false;
    window = kFarWindow;
    return fold();
  };
  Value areNear = e.less(count, e.constant32(kNearOperands + 1));
  if (!follow)
    return e.when(e.less(begin, end),
                  [&] { e.when(areNear, foldNear, foldFar); });
  auto foldAll = [&] {
    auto result = [&](function_ref<Registers()> foldThem) {
      Registers first = foldThem();
      first.push_back(followed);
      return first;
    };
    SmallVector<Type> types(functions.scalars);
    types.push_back(e.i1);
    Registers first = e.choose(
        areNear, types, [&] { return result(foldNear); },
        [&] { return result(foldFar); });
    Value follows = first.pop_back_val();
    e.when(e.bitAnd(follows, e.equal(begin, zero)),
           [&] { follow->apply(zero, first); });
  };
  e.when(e.less(begin, end), foldAll, [&] { follow->ask(); });
}

void df::nvvm::emitRegisterFold(
    KernelState &state, const dfrt::Stage &stage,
    const StateFunctions &functions, bool sliced, bool byWarp,
    function_ref<RecordView(Value, Value, bool)> part,
    function_ref<void()> meanwhile, function_ref<RecordView(Value)> output,
    const FoldFollow *follow) {
  FoldEmitter(state, stage, functions, sliced, byWarp, part, meanwhile, output,
              follow)
      .emit();
}
