//===- Memory.cpp - Memory of the kernel, and records in memory -----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::df::nvvm;

/// What a handler may take for granted of its scratch, and more.
static constexpr uint64_t kAlignment = 128;

Memory::Place Memory::take(uint64_t bytes) {
  bytes = llvm::alignTo(bytes, kAlignment);
  if (usedShared + bytes <= budget) {
    Place place{true, usedShared};
    usedShared += bytes;
    mostShared = std::max(mostShared, usedShared);
    return place;
  }
  Place place{false, usedGlobal};
  usedGlobal += bytes;
  mostGlobal = std::max(mostGlobal, usedGlobal);
  return place;
}

std::string KernelState::calleeOf(const dfrt::Variant &variant) const {
  return variant.symbol + (split.contains(variant.symbol) ? "$compute" : "");
}

Value KernelState::address(Memory::Place place) {
  Value base = place.shared ? emitter.call("dfk_private")
                            : emitter.call("dfk_scratch", emitter.parameters());
  return emitter.offset(base, place.offset);
}

uint64_t df::nvvm::fieldBytes(const dfrt::Field &field) {
  uint64_t bytes = dfrt::elementBytes(field.element);
  for (int64_t extent : field.shape)
    bytes *= uint64_t(extent);
  return bytes;
}

uint32_t df::nvvm::recordStage(const dfrt::Program &program, uint32_t stage) {
  while (program.stages[stage].kind == dfrt::StageKind::reshard)
    stage = program.stages[stage].inputs[0].stage;
  return stage;
}

bool df::nvvm::mayBeRow(const dfrt::Program &program, uint32_t stage) {
  // A reduce of one part may be missing; its consumers then read the part.
  for (;;) {
    const dfrt::Stage &current = program.stages[stage];
    if (current.kind == dfrt::StageKind::reshard &&
        current.reshard == dfrt::ReshardKind::rekey && current.rekey.rows)
      return true;
    if (current.kind != dfrt::StageKind::reshard &&
        current.kind != dfrt::StageKind::reduce)
      return false;
    stage = current.inputs[0].stage;
  }
}

/// The stage whose whole records rows of `stage` are cut from.
static uint32_t rowSource(const dfrt::Program &program, uint32_t stage) {
  while (program.stages[stage].kind == dfrt::StageKind::reshard ||
         program.stages[stage].kind == dfrt::StageKind::reduce) {
    const dfrt::Stage &current = program.stages[stage];
    stage = current.inputs[0].stage;
    if (current.kind == dfrt::StageKind::reshard &&
        current.reshard == dfrt::ReshardKind::rekey && current.rekey.rows)
      break;
  }
  return recordStage(program, stage);
}

std::pair<Value, Value> df::nvvm::viewOf(Emitter &emitter,
                                         const dfrt::Record &record,
                                         StoredValue stored, Value slice) {
  Value slices = emitter.offset(stored.base, record.headBytes);
  if (slice && record.slices > 1) {
    Value skip =
        emitter.multiply(emitter.extend(emitter.subtract(slice, stored.slice)),
                         emitter.constant64(int64_t(record.sliceBytes)));
    slices = emitter.offset(slices, skip);
  }
  return {stored.base, slices};
}

namespace {
/// How the bytes of a field are spread over a record: of each `block` bytes,
/// every `part` bytes lie `pitch` bytes further on. Not split: one block.
struct Spread {
  uint64_t offset = 0, block = 0, part = 0, pitch = 0;
};
} // namespace

static Spread spreadOf(const dfrt::Record &record, const dfrt::Field &field) {
  constexpr uint64_t kAll = uint64_t(1) << 62;
  if (field.separable < 0)
    return {field.offset, kAll, kAll, 0};
  uint64_t offset = record.headBytes + field.offset;
  if (record.slices == 1)
    return {offset, kAll, kAll, 0};
  uint64_t unit = dfrt::elementBytes(field.element);
  for (size_t d = size_t(field.separable) + 1; d < field.shape.size(); ++d)
    unit *= uint64_t(field.shape[d]);
  uint64_t block = uint64_t(field.shape[size_t(field.separable)]) * unit;
  return {offset, block, block / record.slices, record.sliceBytes};
}

/// The largest piece that divides `bytes` and all runs and places.
static uint64_t unitOf(uint64_t bytes, std::initializer_list<Spread> spreads) {
  uint64_t common = bytes;
  for (const Spread &spread : spreads)
    common |= spread.offset | spread.part | spread.pitch;
  return common % 16 == 0 ? 16 : common % 4 == 0 ? 4 : 1;
}

/// Copies as many bytes as `toField` has, from the byte `skip` of `fromField`
/// on, to `toField` of the record at `to`.
static void copyField(KernelState &state, const dfrt::Record &toRecord,
                      const dfrt::Field &toField, Value to,
                      const dfrt::Record &fromRecord,
                      const dfrt::Field &fromField, Value from, Value skip) {
  Emitter &e = state.emitter;
  Spread target = spreadOf(toRecord, toField);
  Spread source = spreadOf(fromRecord, fromField);
  uint64_t bytes = fieldBytes(toField);
  auto i = [&](uint64_t value) { return e.constant64(int64_t(value)); };
  e.call("dfk_copy_field",
         {e.offset(to, target.offset), i(target.block), i(target.part),
          i(target.pitch), e.offset(from, source.offset), i(source.block),
          i(source.part), i(source.pitch), skip, i(bytes),
          i(unitOf(bytes, {target, source}))});
}

void df::nvvm::stackField(KernelState &state, const dfrt::Record &record,
                          const dfrt::Field &field, Value first, Value count,
                          Value to) {
  Emitter &e = state.emitter;
  Spread source = spreadOf(record, field);
  uint64_t bytes = fieldBytes(field);
  auto i = [&](uint64_t value) { return e.constant64(int64_t(value)); };
  e.call("dfk_stack_field", {e.parameters(), first, count, to, i(source.offset),
                             i(source.block), i(source.part), i(source.pitch),
                             i(bytes), i(unitOf(bytes, {source}))});
}

void df::nvvm::stackAddresses(KernelState &state, const dfrt::Record &record,
                              const dfrt::Field &field, Value first,
                              Value count, Value to) {
  Emitter &e = state.emitter;
  Value offset = e.constant64(int64_t(spreadOf(record, field).offset));
  e.call("dfk_stack_addresses", {e.parameters(), first, count, to, offset});
}

StoredValue df::nvvm::findOperand(KernelState &state, Value number,
                                  bool isNear) {
  Emitter &e = state.emitter;
  if (isNear) {
    SmallVector<Value> found = e.results(
        e.call("dfk_near_place", {number, e.lanePlace(), e.laneSlice()}));
    return {found[0], found[1]};
  }
  Value first = e.word(e.instruction(), kFirstOperand);
  SmallVector<Value> found =
      e.results(e.call("dfk_operand_place", {e.parameters(), first, number,
                                             e.lanePlace(), e.laneSlice()}));
  return {found[0], found[1]};
}

static Value findRow(KernelState &state, Value number) {
  Emitter &e = state.emitter;
  Value first = e.word(e.instruction(), kFirstOperand);
  return e.call("dfk_operand_row",
                {e.parameters(), first, number, e.laneRow()});
}

bool df::nvvm::canReadRow(const dfrt::Program &program, uint32_t stage) {
  const dfrt::Record &record = program.stages[stage].record;
  const dfrt::Record &whole = program.stages[rowSource(program, stage)].record;
  return record.fields.size() == 1 && whole.fields.size() == 1 &&
         record.slices == 1 && whole.slices == 1 &&
         fieldBytes(record.fields.front()) % dfrt::kRecordAlignment == 0;
}

StoredValue df::nvvm::findRowOperand(KernelState &state, uint32_t stage,
                                     Value number, bool isNear) {
  Emitter &e = state.emitter;
  StoredValue stored = findOperand(state, number, isNear);
  const dfrt::Record &record = state.program.stages[stage].record;
  const dfrt::Record &whole =
      state.program.stages[rowSource(state.program, stage)].record;
  const dfrt::Field &field = record.fields.front();
  uint64_t from = spreadOf(whole, whole.fields.front()).offset;
  uint64_t to = spreadOf(record, field).offset;
  Value row = findRow(state, number);
  Value skip =
      e.add(e.multiply(e.extend(row), e.constant64(int64_t(fieldBytes(field)))),
            e.constant64(int64_t(from - to)));
  Value isRow = e.notEqual(row, e.constant32(-1));
  return {e.select(isRow, e.offset(stored.base, skip), stored.base),
          stored.slice};
}

StoredValue df::nvvm::readOperand(KernelState &state, uint32_t stage,
                                  Value number,
                                  std::optional<Memory::Place> row) {
  Emitter &e = state.emitter;
  StoredValue stored = findOperand(state, number);
  if (!row)
    return stored;

  const dfrt::Record &record = state.program.stages[stage].record;
  const dfrt::Record &whole =
      state.program.stages[rowSource(state.program, stage)].record;
  Value rowOf = findRow(state, number);
  Value isRow = e.notEqual(rowOf, e.constant32(-1));
  SmallVector<Value> result = e.choose(
      isRow, {e.pointer, e.i32},
      [&]() -> SmallVector<Value> {
        Value copy = state.address(*row);
        for (auto [to, from] : llvm::zip(record.fields, whole.fields)) {
          Value skip = e.multiply(e.extend(rowOf),
                                  e.constant64(int64_t(fieldBytes(to))));
          copyField(state, record, to, copy, whole, from, stored.base, skip);
        }
        e.call("dfk_sync");
        return {copy, e.constant32(0)};
      },
      [&]() -> SmallVector<Value> { return {stored.base, stored.slice}; });
  return {result[0], result[1]};
}
