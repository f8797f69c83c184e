//===- RegisterFold.cpp - The fold of a reduce in registers ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a warp (or, of a record that is not cut, the CTA) has to fold is one
// sequence: all parts of its first two slices, all parts of the next two, and
// so on. A window of registers holds the next records of this sequence, on
// their way from memory while earlier ones are merged (SliceWindow.cpp says why
// in groups); it runs on from one slice into the next, so that few parts of
// many slices are as fast as many parts of few. The order in which the parts of
// a slice are merged is that of a plain fold.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::df::nvvm;

/// Slices that a warp folds side by side: what they have in common is merged
/// once, and neither waits for the other.
static constexpr unsigned kAbreast = 2;
/// The window at most. What a fold does it does once, mostly: it waits for its
/// instructions as well as for its records.
static constexpr Window kMostRecords{4, 2};
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
  LLVM::LLVMFuncOp merge = e.find(functions.merge);
  if (!merge || !e.find(functions.load) || !e.find(functions.store))
    return std::nullopt;
  functions.scalars = scalarsOf(merge);
  functions.registers = registersOf(functions.scalars);
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
  void layOut();
  Registers sliceOf(ValueRange record, unsigned number);
  void join(Registers &record, ValueRange slice, unsigned number);
  Registers load(Cursor at);
  Registers merge(Value slice, ValueRange left, ValueRange right);
  Registers mergeOne(Value slice, ValueRange left, ValueRange right);
  void store(Value slice, ValueRange record);
  void fold();
  Registers loadGroup(Cursor &back);
  void takeGroup(Cursor &front, Registers &folded, ArrayRef<Value> group);
  SmallVector<Value> turn(ValueRange values);

  KernelState &state;
  Emitter &e;
  const dfrt::Stage &stage;
  const StateFunctions &functions;
  bool sliced, byWarp;
  function_ref<RecordView(Value, Value, bool)> part;
  function_ref<RecordView(Value)> output;
  Window window;
  unsigned abreast = 1;     ///< slices of a part that are one record
  SmallVector<bool> common; ///< scalars that the slices of a record share
  SmallVector<Type> types;  ///< of a record
  bool near = true;         ///< all parts are
  Value count, first;       ///< parts; slice of the instruction
  Value begin, end;         ///< slices of this warp
};

} // namespace

FoldEmitter::Cursor FoldEmitter::next(Cursor at) {
  Value part = e.add(at.part, e.constant32(1));
  Value ends = e.equal(part, count);
  Value slice = e.add(at.slice, e.constant32(abreast));
  return {e.select(ends, slice, at.slice),
          e.select(ends, e.constant32(0), part)};
}

/// Says of what scalars a record consists. Those that are not stored with a
/// slice belong to all of them, and are there once.
void FoldEmitter::layOut() {
  LLVM::LLVMFuncOp store = e.find(functions.store);
  for (size_t k = 0; k < functions.scalars.size(); ++k)
    common.push_back(!functions.head.empty() &&
                     store.getArgument(unsigned(k)).use_empty());
  for (unsigned number = 0; number < abreast; ++number)
    for (auto [type, shared] : llvm::zip(functions.scalars, common))
      if (!shared || number == 0)
        types.push_back(type);
}

/// The scalars of one slice.
FoldEmitter::Registers FoldEmitter::sliceOf(ValueRange record,
                                            unsigned number) {
  size_t size = common.size();
  Registers slice(record.take_front(size));
  if (number == 0)
    return slice;
  size_t own = size_t(llvm::count(common, false));
  ValueRange its = record.slice(size + (number - 1) * own, own);
  for (size_t k = 0, next = 0; k < size; ++k)
    if (!common[k])
      slice[k] = its[next++];
  return slice;
}

/// Appends the scalars of another slice to a record.
void FoldEmitter::join(Registers &record, ValueRange slice, unsigned number) {
  for (auto [value, shared] : llvm::zip(slice, common))
    if (!shared || number == 0)
      record.push_back(value);
}

/// Behind the last slice, that is loaded again.
FoldEmitter::Registers FoldEmitter::load(Cursor at) {
  RecordView from = part(at.part, sliced ? at.slice : Value(), near);
  Registers record;
  for (unsigned number = 0; number < abreast; ++number) {
    if (number)
      from.second =
          e.offset(from.second,
                   e.select(e.less(e.add(at.slice, e.constant32(number)), end),
                            e.constant64(int64_t(stage.record.sliceBytes)),
                            e.constant64(0)));
    join(record, e.results(e.call(functions.load, {from.first, from.second})),
         number);
  }
  return record;
}

FoldEmitter::Registers FoldEmitter::merge(Value slice, ValueRange left,
                                          ValueRange right) {
  Registers record;
  for (unsigned number = 0; number < abreast; ++number)
    join(record,
         mergeOne(number ? e.add(slice, e.constant32(number)) : slice,
                  sliceOf(left, number), sliceOf(right, number)),
         number);
  return record;
}

FoldEmitter::Registers FoldEmitter::mergeOne(Value slice, ValueRange left,
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
  for (unsigned number = 0; number < abreast; ++number) {
    Value its = number ? e.add(slice, e.constant32(number)) : slice;
    auto storeOne = [&] {
      RecordView to = output(sliced ? its : Value());
      Registers arguments = sliceOf(record, number);
      arguments.append({to.first, to.second});
      e.call(functions.store, arguments);
      // Slices of one record have the same head.
      if (!functions.head.empty() && number == 0)
        e.when(e.equal(its, first), [&] { e.call(functions.head, arguments); });
    };
    if (number)
      e.when(e.less(its, end), storeOne);
    else
      storeOne();
  }
}

/// Loads a group of records and moves `back` behind them. Behind the end, the
/// first record is loaded again.
FoldEmitter::Registers FoldEmitter::loadGroup(Cursor &back) {
  Registers records;
  for (unsigned i = 0; i < window.size; ++i) {
    Value inside = isInside(back);
    llvm::append_range(records,
                       load({e.select(inside, back.slice, begin),
                             e.select(inside, back.part, e.constant32(0))}));
    back = next(back);
  }
  return records;
}

/// Merges the group of records from `front` on into what has been folded, and
/// moves `front` behind it. No branch stands between the records: most of what
/// they take does not depend on those before them. Records behind the end are
/// merged, too, but not stored.
void FoldEmitter::takeGroup(Cursor &front, Registers &folded,
                            ArrayRef<Value> group) {
  struct Result {
    Value isLast, slice;
    Registers record;
  };
  SmallVector<Result> results;
  size_t size = types.size();
  for (unsigned i = 0; i < window.size; ++i) {
    ArrayRef<Value> record = group.slice(i * size, size);
    Value isFirst = e.equal(front.part, e.constant32(0));
    Registers merged = merge(front.slice, folded, record);
    for (size_t k = 0; k < size; ++k)
      folded[k] = e.select(isFirst, record[k], merged[k]);
    Value isLast = e.equal(e.add(front.part, e.constant32(1)), count);
    results.push_back({e.bitAnd(isLast, isInside(front)), front.slice, folded});
    front = next(front);
  }
  for (Result &result : results)
    e.when(result.isLast, [&] { store(result.slice, result.record); });
}

/// One turn of the loop: merges every record of the window, and has others take
/// the places of a group. The values: slice and part of the record in front,
/// the same of the one that is loaded next, what has been folded, the window.
SmallVector<Value> FoldEmitter::turn(ValueRange values) {
  size_t size = types.size();
  Cursor front{values[0], values[1]}, back{values[2], values[3]};
  Registers folded(values.slice(4, size));
  ValueRange records = values.drop_front(4 + size);
  SmallVector<Type> group;
  for (unsigned i = 0; i < window.size; ++i)
    llvm::append_range(group, types);

  Registers renewed;
  for (unsigned g = 0; g < window.groups; ++g) {
    Registers present(records.take_front(group.size()));
    records = records.drop_front(group.size());
    takeGroup(front, folded, present);
    Cursor from = back;
    SmallVector<Type> all{e.i32, e.i32};
    llvm::append_range(all, group);
    auto list = [&](ValueRange registers) {
      SmallVector<Value> result{back.slice, back.part};
      llvm::append_range(result, registers);
      return result;
    };
    SmallVector<Value> loaded = e.choose(
        isInside(back), all,
        [&] {
          Registers further = loadGroup(back);
          return list(further);
        },
        [&] {
          back = from;
          return list(present);
        });
    back = {loaded[0], loaded[1]};
    renewed.append(loaded.begin() + 2, loaded.end());
  }
  SmallVector<Value> result{front.slice, front.part, back.slice, back.part};
  llvm::append_range(result, folded);
  llvm::append_range(result, renewed);
  return result;
}

/// Folds everything; there is something to fold.
void FoldEmitter::fold() {
  Cursor back{begin, e.constant32(0)};
  Registers records;
  // No branch keeps these loads from following each other closely.
  for (unsigned g = 0; g < window.groups; ++g) {
    Registers group = loadGroup(back);
    llvm::append_range(records, group);
  }
  SmallVector<Value> values{begin, e.constant32(0), back.slice, back.part};
  // Nothing has been folded: any values will do.
  values.append(records.begin(), records.begin() + types.size());
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
  if (byWarp) {
    WarpSlices slices = warpSlices(e);
    begin = slices.begin;
    end = slices.end;
  }
  if (byWarp)
    abreast = kAbreast;
  layOut();
  e.when(e.less(begin, end), [&] {
    e.when(e.less(count, e.constant32(kNearOperands + 1)), [&] {
      near = true;
      window = windowOf(registersOf(types), kMostRecords);
      fold();
    });
    // So many parts take their time anyway; the code stays small.
    e.when(e.less(e.constant32(kNearOperands), count), [&] {
      near = false;
      window = kFarWindow;
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
