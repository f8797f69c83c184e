//===- StageCalls.cpp - Handler calls of an instruction -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maps and finalizes: one call, or one a tile, or one a slice. What the calls
// get is the same as on the CPU (runtime/lib/cpu/InstructionRun.cpp).
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::df::nvvm;

Value df::nvvm::warpCount(Emitter &e) {
  return e.shiftRight(e.call("dfk_threads"), e.constant32(5));
}

Value df::nvvm::tileCount(Emitter &e) {
  Value w = e.instruction();
  return e.truncate(e.subtract(e.word64(w, kTileEnd), e.word64(w, kTileBegin)));
}

void df::nvvm::forEachCall(Emitter &e, const dfrt::Stage &stage, bool sliced,
                           Between between,
                           function_ref<void(Value, Value)> body) {
  Value w = e.instruction(), zero = e.constant32(0), one = e.constant32(1);
  bool each = stage.range != dfrt::kNone && stage.each;
  bool alone = between == Between::warps;
  Value warp = alone ? e.call("dfk_warp") : zero;
  Value warps = alone ? warpCount(e) : one;
  // Whoever called last is followed by the barrier of dfk_send_all.
  auto meetBehind = [&](Value before, Value number) {
    if (between == Between::meet)
      e.when(e.less(before, number), [&] { e.call("dfk_sync"); });
  };
  auto slices = [&](Value tile) {
    Value first = e.half(w, kSlices, false);
    e.loop(e.add(first, warp), e.half(w, kSlices, true), warps,
           [&](Value slice) {
             // The first slice of a further tile follows a call, too.
             meetBehind(first, e.add(slice, tile));
             body(tile, slice);
           });
  };
  if (each && sliced)
    return e.loop(zero, tileCount(e), slices);
  if (sliced)
    return slices(zero);
  if (each)
    return e.loop(warp, tileCount(e), warps, [&](Value tile) {
      meetBehind(zero, tile);
      body(tile, {});
    });
  if (!alone)
    return body(zero, {});
  e.when(e.equal(warp, zero), [&] { body(zero, {}); });
}

void df::nvvm::appendIndices(KernelState &state, const dfrt::Stage &stage,
                             Value tile, Value slice,
                             SmallVectorImpl<Value> &arguments) {
  Emitter &e = state.emitter;
  Value w = e.instruction();
  if (stage.kind != dfrt::StageKind::reduce) {
    size_t axes = state.program.domains[stage.domain].axes.size();
    for (size_t a = 0; a < axes; ++a)
      arguments.push_back(
          e.spill(e.extendSigned(e.word(w, unsigned(kCoordinates + a)))));
    if (stage.range != dfrt::kNone) {
      Value begin = e.word64(w, kRangeBegin), end = e.word64(w, kRangeEnd);
      if (stage.each) {
        Value length = e.constant64(state.program.ranges[stage.range].tile);
        begin = e.add(begin, e.multiply(e.extend(tile), length));
        end = e.minimum(e.add(begin, length), end);
      }
      arguments.push_back(e.spill(begin));
      arguments.push_back(e.spill(end));
    }
  }
  if (slice)
    arguments.push_back(e.spill(e.extend(slice)));
  for (uint32_t operand : stage.operands)
    arguments.push_back(
        e.offset(e.parameters(), state.descriptorOffset[operand]));
}

namespace {

class StageCalls {
public:
  StageCalls(KernelState &state, uint32_t stage, const dfrt::Variant &variant)
      : state(state), e(state.emitter), program(state.program),
        stage(program.stages[stage]),
        sliced(variant.kind == dfrt::Variant::Kind::sliced),
        split(state.split.contains(variant.symbol)),
        callee(state.calleeOf(variant)) {
    if (auto it = state.following.find(callee); it != state.following.end())
      following = &program.stages[it->second];
  }

  void emit();

private:
  struct Channel {
    uint32_t stage = 0; ///< that is read
    dfrt::Arity arity = dfrt::Arity::one;
    Value first, count; ///< operands, the first one of the instruction is 0
    StoredValue record; ///< arity one
    std::optional<Memory::Place> row;
    SmallVector<Value> stack; ///< arity collected: a pointer a field
  };

  void splitOperands();
  Value collectedCount(size_t index, Value position, Value left,
                       unsigned stillCollected);
  void stackRecords(Channel &channel, Value &top);
  StoredValue recordOf(const Channel &channel, Value tile);
  void callOnce(Value tile, Value slice);
  void appendTensors(ArrayRef<uint32_t> tensors);
  /// The arguments behind the inputs.
  void appendOutputs(Value tile, Value slice);
  void callAhead(const SliceFunctions &functions, Value tile);
  void argument(Value value) { arguments.push_back(value); }
  void argument(std::pair<Value, Value> view) {
    argument(view.first);
    argument(view.second);
  }

  KernelState &state;
  Emitter &e;
  const dfrt::Program &program;
  const dfrt::Stage &stage;
  bool sliced, split;
  std::string callee;
  /// A finalize whose work the function may do as well.
  const dfrt::Stage *following = nullptr;
  SmallVector<Channel> channels;
  std::optional<Memory::Place> scratch;
  SmallVector<Value> arguments;
};

} // namespace

/// Which operands belong to which channel. All but collected channels have a
/// fixed number; what is left belongs to those.
void StageCalls::splitOperands() {
  Value w = e.instruction();
  Value tiles = tileCount(e);
  Value position = e.constant32(0);
  Value left = e.word(w, kOperandCount);
  unsigned collected = 0;
  for (const dfrt::StageInput &input : stage.inputs) {
    Channel &channel = channels.emplace_back();
    channel.stage = input.stage;
    channel.arity = program.stages[input.stage].arity;
    if (channel.arity == dfrt::Arity::collected) {
      ++collected;
      continue;
    }
    channel.count =
        channel.arity == dfrt::Arity::tiles ? tiles : e.constant32(1);
    left = e.subtract(left, channel.count);
  }
  for (size_t i = 0; i < channels.size(); ++i) {
    Channel &channel = channels[i];
    channel.first = position;
    if (channel.arity == dfrt::Arity::collected) {
      channel.count = collectedCount(i, position, left, collected--);
      left = e.subtract(left, channel.count);
    }
    position = e.add(position, channel.count);
  }
}

/// Several collected channels are told apart by the stage of their slots;
/// channels of one stage share its operands equally.
Value StageCalls::collectedCount(size_t index, Value position, Value left,
                                 unsigned stillCollected) {
  if (stillCollected == 1)
    return left;
  uint32_t source = recordStage(program, channels[index].stage);
  int64_t sharers = 1;
  for (size_t j = index + 1;
       j < channels.size() && channels[j].arity == dfrt::Arity::collected &&
       recordStage(program, channels[j].stage) == source;
       ++j)
    ++sharers;
  Value first = e.add(e.word(e.instruction(), kFirstOperand), position);
  Value run = e.call("dfk_operand_run",
                     {e.parameters(), first, left, e.constant32(source)});
  return e.divide(run, e.constant32(sharers));
}

/// Copies whole records, field by field, to the global scratch behind its fixed
/// part; or, for functions that read them where they are, their addresses. The
/// launcher has room for whichever is larger (PlanFacts.cpp).
void StageCalls::stackRecords(Channel &channel, Value &top) {
  const dfrt::Record &record =
      program.stages[recordStage(program, channel.stage)].record;
  Value first = e.add(e.word(e.instruction(), kFirstOperand), channel.first);
  for (const dfrt::Field &field : record.fields) {
    bool table = state.tables.contains(callee);
    Value bytes = e.constant64(table ? 8 : int64_t(fieldBytes(field)));
    channel.stack.push_back(top);
    if (table)
      stackAddresses(state, record, field, first, channel.count, top);
    else
      stackField(state, record, field, first, channel.count, top);
    Value size = e.multiply(e.extend(channel.count), bytes);
    size = e.bitAnd(e.add(size, e.constant64(127)), e.constant64(-128));
    top = e.offset(top, size);
  }
}

StoredValue StageCalls::recordOf(const Channel &channel, Value tile) {
  if (channel.arity != dfrt::Arity::tiles)
    return channel.record;
  return readOperand(state, channel.stage, e.add(channel.first, tile),
                     channel.row);
}

void StageCalls::callOnce(Value tile, Value slice) {
  arguments.clear();
  appendIndices(state, stage, tile, slice, arguments);
  if (following)
    appendTensors(following->operands);
  for (Channel &channel : channels) {
    if (channel.arity == dfrt::Arity::collected) {
      argument(e.spill(e.extend(channel.count)));
      for (Value field : channel.stack)
        argument(field);
      continue;
    }
    argument(viewOf(e, program.stages[channel.stage].record,
                    recordOf(channel, tile), slice));
  }
  appendOutputs(tile, slice);
  e.callPacked(callee, arguments);
}

void StageCalls::appendTensors(ArrayRef<uint32_t> tensors) {
  for (uint32_t tensor : tensors)
    argument(e.offset(e.parameters(), state.descriptorOffset[tensor]));
}

void StageCalls::appendOutputs(Value tile, Value slice) {
  if (stage.arity != dfrt::Arity::none) {
    Value index = e.word(e.instruction(), kFirstOutput);
    if (stage.arity == dfrt::Arity::tiles)
      index = e.add(index, tile);
    Value output = e.call("dfk_output", {e.parameters(), index});
    StoredValue record{e.call("dfk_output_address", {e.parameters(), output}),
                       {}};
    if (slice && stage.record.slices > 1)
      record.slice = e.call("dfk_output_slice", output);
    argument(viewOf(e, stage.record, record, slice));
  }
  appendTensors(stage.outputs);
  if (following)
    appendTensors(following->outputs);
  argument(state.address(*scratch));

  if (split) {
    argument(e.counters());
    argument(e.parameters());
  }
}

/// Calls for the slices of this warp, which are loaded ahead.
void StageCalls::callAhead(const SliceFunctions &functions, Value tile) {
  SmallVector<StoredValue> records;
  for (const Channel &channel : channels)
    records.push_back(recordOf(channel, tile));
  auto load = [&](StringRef function, Value slice) {
    SmallVector<Value> places;
    for (auto [channel, record] : llvm::zip(channels, records)) {
      RecordView view =
          viewOf(e, program.stages[channel.stage].record, record, slice);
      places.append({view.first, view.second});
    }
    return e.results(e.call(function, places));
  };
  WarpSlices slices = warpSlices(e);
  // The first slice of all has more to do: outputs that do not depend on the
  // slice. The code of the others need not know.
  Value zero = e.constant32(0);
  Value isFirst = e.equal(slices.begin, zero);
  e.when(e.less(slices.begin, slices.end), [&] {
    slices.begin = e.select(isFirst, e.constant32(1), slices.begin);
    SmallVector<Value> common;
    if (!functions.common.empty())
      common = load(functions.common, slices.begin);
    emitSliceWindow(
        state, functions, slices,
        [&](Value slice) { return load(functions.slice, slice); },
        [&] { e.when(isFirst, [&] { callOnce(tile, zero); }); },
        [&](Value slice, ValueRange registers) {
          e.assume(e.notEqual(slice, zero));
          arguments.clear();
          appendIndices(state, stage, tile, slice, arguments);
          appendOutputs(tile, slice);
          SmallVector<Value> held = common;
          llvm::append_range(held, registers);
          e.callPacked(functions.apply, arguments, held);
        });
  });
}

void StageCalls::emit() {
  state.memory.begin();
  scratch = state.memory.take(state.scratchBytes.lookup(callee));
  splitOperands();
  bool stacks = false;
  Value top;
  for (Channel &channel : channels) {
    if (channel.arity == dfrt::Arity::collected) {
      if (!stacks)
        top = e.call("dfk_stacks", e.parameters());
      stacks = true;
      stackRecords(channel, top);
      continue;
    }
    if (mayBeRow(program, channel.stage))
      channel.row =
          state.memory.take(program.stages[channel.stage].record.bytes());
    if (channel.arity != dfrt::Arity::tiles)
      channel.record =
          readOperand(state, channel.stage, channel.first, channel.row);
  }
  if (stacks)
    e.call("dfk_sync");

  // The next call uses the same scratch, and the same memory for rows.
  bool rows = llvm::any_of(
      channels, [](const Channel &channel) { return channel.row.has_value(); });
  bool shares = sliced || rows || state.scratchBytes.lookup(callee) != 0 ||
                state.exchanging.contains(callee);
  Between between = shares ? Between::meet : Between::nothing;
  // To copy a row all threads have to come.
  if (state.byWarp.contains(callee) && !rows)
    between = Between::warps;
  std::optional<SliceFunctions> functions;
  if (between == Between::warps && sliced)
    functions = findSliceFunctions(e, callee);
  if (!functions)
    return forEachCall(e, stage, sliced, between,
                       [&](Value tile, Value slice) { callOnce(tile, slice); });
  Value zero = e.constant32(0);
  if (stage.range == dfrt::kNone || !stage.each)
    return callAhead(*functions, zero);
  e.loop(zero, tileCount(e), [&](Value tile) { callAhead(*functions, tile); });
}

void df::nvvm::emitCalls(KernelState &state, uint32_t stage, uint32_t variant,
                         StringRef name) {
  state.emitter.beginInstruction(name, /*operands=*/true);
  StageCalls(state, stage, state.program.stages[stage].variants[variant])
      .emit();
}
