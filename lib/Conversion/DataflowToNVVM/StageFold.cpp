//===- StageFold.cpp - The left fold of a reduce --------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts are combined in ascending order: in registers where the handler has
// functions for that (RegisterFold.cpp), else through two temporaries in turn,
// and the last call writes the output. No parts: the identity; one part: a
// copy.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "dataflow/Schedule/Following.h"

using namespace mlir;
using namespace mlir::df::nvvm;

namespace {

class StageFold {
public:
  StageFold(KernelState &state, uint32_t index, const dfrt::Variant &variant)
      : state(state), e(state.emitter), index(index),
        stage(state.program.stages[index]), record(stage.record),
        sliced(variant.kind == dfrt::Variant::Kind::sliced),
        split(state.split.contains(variant.symbol)),
        callee(state.calleeOf(variant)), rows(mayBeRow(state.program, index)) {}

  void emit();

private:
  using View = RecordView;

  void findOutput();
  void foldSlices(Value slice);
  void useIdentity();
  void copyPart();
  void copyRecord(StoredValue from);
  StoredValue part(Value number, std::optional<Memory::Place> row) {
    return readOperand(state, index, number, row);
  }
  bool findFinalize();
  void callFinalize(Value slice, ValueRange registers);
  void foldInRegisters(const StateFunctions &functions);

  KernelState &state;
  Emitter &e;
  uint32_t index;
  const dfrt::Stage &stage;
  const dfrt::Record &record;
  bool sliced, split;
  std::string callee;
  bool rows;
  uint32_t finalize = dfrt::kNone; ///< that may follow
  std::string finalizeCallee;
  bool finalizeSplit = false;
  /// Its indices with some slice behind the coordinates.
  SmallVector<Value> finalizeIndices;

  Value count;
  Value sliceBegin, sliceEnd; ///< sliced only
  StoredValue output;
  Memory::Place scratch;
  std::optional<Memory::Place> rowMemory[2];
  Memory::Place temporaries[2];
};

} // namespace

/// Looks up where the output lies.
void StageFold::findOutput() {
  Value written = e.call(
      "dfk_output", {e.parameters(), e.word(e.instruction(), kFirstOutput)});
  output.base = e.call("dfk_output_address", {e.parameters(), written});
  if (sliced)
    output.slice = e.call("dfk_output_slice", written);
}

/// Folds everything, or one slice. At least two parts.
void StageFold::foldSlices(Value slice) {
  Value one = e.constant32(1);
  Value last = e.subtract(count, one);
  View to = viewOf(e, record, output, slice);
  View left = viewOf(e, record, part(e.constant32(0), rowMemory[0]), slice);
  e.loop(one, count, {left.first, left.second},
         [&](Value i, ValueRange carried) -> SmallVector<Value> {
           View right = viewOf(e, record, part(i, rowMemory[1]), slice);
           Value odd = e.equal(e.bitAnd(i, one), one);
           Value temporary = e.select(odd, state.address(temporaries[1]),
                                      state.address(temporaries[0]));
           Value isLast = e.equal(i, last);
           Value head = e.select(isLast, to.first, temporary);
           Value slices = e.select(isLast, to.second,
                                   e.offset(temporary, record.headBytes));
           SmallVector<Value> arguments;
           appendIndices(state, stage, {}, slice, arguments);
           llvm::append_range(arguments, carried);
           arguments.append({right.first, right.second, head, slices,
                             state.address(scratch)});
           if (split)
             arguments.append({e.counters(), e.parameters()});
           e.callPacked(callee, arguments);
           e.call("dfk_sync");
           return {head, slices};
         });
}

/// Copies the slices of the instruction to the output.
void StageFold::copyRecord(StoredValue from) {
  View source = viewOf(e, record, from, sliceBegin);
  View to = viewOf(e, record, output, sliceBegin);
  if (record.headBytes)
    e.call("dfk_copy",
           {to.first, source.first, e.constant64(int64_t(record.headBytes))});
  if (!record.sliceBytes)
    return;
  Value number = sliced ? e.extend(e.subtract(sliceEnd, sliceBegin))
                        : e.constant64(record.slices);
  e.call("dfk_copy",
         {to.second, source.second,
          e.multiply(number, e.constant64(int64_t(record.sliceBytes)))});
}

void StageFold::useIdentity() {
  Value base = sliced ? state.address(temporaries[0]) : output.base;
  e.callPacked(stage.identitySymbol, {base, e.offset(base, record.headBytes),
                                      state.address(scratch)});
  if (!sliced)
    return;
  e.call("dfk_sync");
  copyRecord({base, e.constant32(0)});
}

void StageFold::copyPart() { copyRecord(part(e.constant32(0), rowMemory[0])); }

/// A finalize for slices that may follow this fold in registers, and its
/// function for that.
bool StageFold::findFinalize() {
  uint32_t found = dfrt::findFollowing(state.program, index);
  if (found == dfrt::kNone || !sliced || !state.byWarp.contains(callee))
    return false;
  const dfrt::Variant *variant = findSliced(state.program.stages[found]);
  if (!variant)
    return false;
  finalizeSplit = state.split.contains(variant->symbol);
  finalizeCallee = state.calleeOf(*variant);
  if (!e.find(finalizeCallee + "$follow"))
    return false;
  finalize = found;
  return true;
}

/// Does the work of the finalize for `slice`, which the fold has in registers.
void StageFold::callFinalize(Value slice, ValueRange registers) {
  const dfrt::Stage &its = state.program.stages[finalize];
  SmallVector<Value> arguments(finalizeIndices);
  arguments[state.program.domains[its.domain].axes.size()] =
      e.spill(e.extend(slice));
  for (uint32_t tensor : its.outputs)
    arguments.push_back(
        e.offset(e.parameters(), state.descriptorOffset[tensor]));
  arguments.push_back(state.address(scratch));
  if (finalizeSplit)
    arguments.append({e.counters(), e.parameters()});
  e.callPacked(finalizeCallee + "$follow", arguments, registers);
}

/// The first part alone is stored by the fold, too.
void StageFold::foldInRegisters(const StateFunctions &functions) {
  if (finalize != dfrt::kNone)
    appendIndices(state, state.program.stages[finalize], {}, e.constant32(0),
                  finalizeIndices);
  auto ask = [&] {
    return e.call("dfk_is_followed", {e.parameters(), e.counters(),
                                      e.constant32(int64_t(finalize))});
  };
  auto apply = [&](Value slice, ValueRange registers) {
    callFinalize(slice, registers);
  };
  FoldFollow follow{ask, apply};
  emitRegisterFold(
      state, stage, functions, sliced, state.byWarp.contains(callee),
      [&](Value number, Value slice, bool isNear) {
        StoredValue from = rows ? findRowOperand(state, index, number, isNear)
                                : findOperand(state, number, isNear);
        return viewOf(e, record, from, slice);
      },
      [&] { findOutput(); },
      [&](Value slice) { return viewOf(e, record, output, slice); },
      finalize != dfrt::kNone ? &follow : nullptr);
}

void StageFold::emit() {
  std::optional<StateFunctions> functions;
  if (!rows || canReadRow(state.program, index))
    functions = findStateFunctions(e, callee);
  state.memory.begin();
  uint64_t scratchBytes =
      std::max(state.scratchBytes.lookup(callee),
               state.scratchBytes.lookup(stage.identitySymbol));
  if (functions && findFinalize())
    scratchBytes =
        std::max(scratchBytes, state.scratchBytes.lookup(finalizeCallee));
  scratch = state.memory.take(scratchBytes);
  if (rows && !functions)
    for (auto &row : rowMemory)
      row = state.memory.take(record.bytes());
  // The first one also holds a whole identity.
  uint64_t bytes = sliced ? record.bytes(0, 1) : record.bytes();
  temporaries[0] = state.memory.take(record.bytes());
  if (!functions)
    temporaries[1] = state.memory.take(bytes);

  Value w = e.instruction();
  count = e.word(w, kOperandCount);
  if (sliced) {
    sliceBegin = e.half(w, kSlices, false);
    sliceEnd = e.half(w, kSlices, true);
  }
  if (functions)
    return e.branch(
        count, {0},
        [&](size_t) {
          findOutput();
          useIdentity();
        },
        [&] { foldInRegisters(*functions); });
  findOutput();
  e.branch(
      count, {0, 1},
      [&](size_t parts) {
        if (parts == 0)
          useIdentity();
        else
          copyPart();
      },
      [&] {
        if (!sliced)
          return foldSlices({});
        e.loop(sliceBegin, sliceEnd, [&](Value slice) { foldSlices(slice); });
      });
}

void df::nvvm::emitFold(KernelState &state, uint32_t stage, uint32_t variant,
                        StringRef name) {
  state.emitter.beginInstruction(name, /*operands=*/true);
  StageFold(state, stage, state.program.stages[stage].variants[variant]).emit();
}
