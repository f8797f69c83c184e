//===- ScheduleExport.cpp - From dfrt::Schedule to dataflow.schedule ------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes the ops of the schedule group.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/ScheduleConversion.h"

using namespace mlir;
using namespace mlir::df;
using dfrt::kNone;

namespace {

class Writer {
public:
  Writer(OpBuilder &builder, Location loc, const ScheduleFrame &frame,
         const dfrt::Schedule &schedule)
      : builder(builder), loc(loc), frame(frame), schedule(schedule) {}

  FailureOr<ScheduleOp> run();

private:
  /// Tests that the object has an IR and finds out which kinds need ids.
  LogicalResult check();
  LogicalResult checkIndices();
  LogicalResult checkOrder();
  void writeSlot(uint32_t slot);
  void writeInstruction(uint32_t id);
  void writeTransfer(uint32_t id);
  void writeRelease(uint32_t id);

  /// A slot's or an instruction's number, or null for none.
  IntegerAttr number(uint32_t value) {
    return value == kNone ? IntegerAttr() : builder.getI32IntegerAttr(value);
  }
  IntegerAttr id(bool needed, uint32_t value) {
    return needed ? builder.getI32IntegerAttr(value) : IntegerAttr();
  }
  FlatSymbolRefAttr slotSymbol(uint32_t slot) {
    return FlatSymbolRefAttr::get(builder.getContext(),
                                  "s" + std::to_string(slot));
  }
  template <typename Range>
  ArrayAttr slotSymbols(const Range &slots) {
    SmallVector<Attribute> symbols;
    for (uint32_t slot : slots)
      symbols.push_back(slotSymbol(slot));
    return builder.getArrayAttr(symbols);
  }

  OpBuilder &builder;
  Location loc;
  const ScheduleFrame &frame;
  const dfrt::Schedule &schedule;
  /// Transfers and releases that each instruction issues, by index.
  std::vector<std::vector<uint32_t>> transfers, releases;
  bool instructionIds = false, transferIds = false, releaseIds = false;
};

} // namespace

LogicalResult Writer::checkIndices() {
  size_t slots = schedule.slots.size(), stages = frame.stages.size(),
         instructions = schedule.instructions.size();
  for (auto [index, slot] : llvm::enumerate(schedule.slots)) {
    if (slot.stage >= stages)
      return emitError(loc) << "slot " << index << " has the record of stage "
                            << slot.stage << " of " << stages;
  }
  for (auto [index, instruction] : llvm::enumerate(schedule.instructions)) {
    if (instruction.stage >= stages)
      return emitError(loc) << "instruction " << index << " calls stage "
                            << instruction.stage << " of " << stages;
  }
  auto inRange = [&](uint32_t slot) { return slot < slots; };
  if (!llvm::all_of(schedule.outputs, inRange) ||
      !llvm::all_of(schedule.destinations, inRange) ||
      !llvm::all_of(schedule.operands, [&](const dfrt::Operand &operand) {
        return inRange(operand.slot);
      }))
    return emitError(loc) << "a list names a slot beyond the " << slots
                          << " that there are";
  for (auto [index, transfer] : llvm::enumerate(schedule.transfers)) {
    if (transfer.instruction >= instructions || !inRange(transfer.source))
      return emitError(loc) << "transfer " << index
                            << " names an instruction or a slot out of range";
  }
  for (auto [index, release] : llvm::enumerate(schedule.releases)) {
    if (release.from >= instructions || release.to >= instructions ||
        !inRange(release.slot))
      return emitError(loc) << "release " << index
                            << " names an instruction or a slot out of range";
  }
  return success();
}

LogicalResult Writer::checkOrder() {
  size_t operand = 0, output = 0, destination = 0;
  for (auto [index, instruction] : llvm::enumerate(schedule.instructions)) {
    if (instruction.firstOperand != operand ||
        instruction.firstOutput != output)
      return emitError(loc) << "the lists of instruction " << index
                            << " are not stored in the order of instructions";
    operand += instruction.operandCount;
    output += instruction.outputCount;
  }
  for (auto [index, transfer] : llvm::enumerate(schedule.transfers)) {
    if (transfer.firstDestination != destination)
      return emitError(loc) << "the destinations of transfer " << index
                            << " are not stored in the order of transfers";
    destination += transfer.destinationCount;
  }
  if (operand != schedule.operands.size() ||
      output != schedule.outputs.size() ||
      destination != schedule.destinations.size())
    return emitError(loc) << "a list has entries that nothing owns";
  return success();
}

LogicalResult Writer::check() {
  if (failed(checkIndices()) || failed(checkOrder()))
    return failure();
  transfers.resize(schedule.instructions.size());
  releases.resize(schedule.instructions.size());
  for (auto [index, transfer] : llvm::enumerate(schedule.transfers))
    transfers[transfer.instruction].push_back(index);
  for (auto [index, release] : llvm::enumerate(schedule.releases))
    releases[release.from].push_back(index);

  std::vector<bool> queued(schedule.instructions.size());
  uint32_t instruction = 0, transfer = 0, release = 0;
  for (const dfrt::Queue &queue : schedule.queues) {
    for (uint32_t index : queue.instructions) {
      if (index >= queued.size() || queued[index])
        return emitError(loc) << "instruction " << index
                              << " is queued twice or does not exist";
      queued[index] = true;
      instructionIds |= index != instruction++;
      for (uint32_t issued : transfers[index])
        transferIds |= issued != transfer++;
      for (uint32_t issued : releases[index])
        releaseIds |= issued != release++;
    }
  }
  if (instruction != queued.size())
    return emitError(loc) << queued.size() - instruction
                          << " instructions are in no queue";
  return success();
}

void Writer::writeSlot(uint32_t index) {
  const dfrt::Slot &slot = schedule.slots[index];
  SlotOp::create(builder, loc, slotSymbol(index).getValue(),
                 frame.stages[slot.stage], slot.sliceBegin, slot.sliceEnd,
                 static_cast<Space>(slot.space), number(slot.cta), slot.offset,
                 number(slot.barrier), slot.phase, number(slot.flag));
}

void Writer::writeInstruction(uint32_t index) {
  const dfrt::Instruction &instruction = schedule.instructions[index];
  SmallVector<Attribute> ins;
  SmallVector<int64_t> rows;
  SmallVector<bool> waits;
  bool anyRow = false, anyWait = false;
  for (const dfrt::Operand &operand : schedule.operandsOf(instruction)) {
    ins.push_back(slotSymbol(operand.slot));
    rows.push_back(operand.row == kNone ? -1 : int64_t(operand.row));
    waits.push_back(operand.wait);
    anyRow |= operand.row != kNone;
    anyWait |= operand.wait;
  }
  InstructionOp::create(
      builder, loc, frame.stages[instruction.stage], instruction.variant,
      instruction.task, static_cast<uint64_t>(instruction.tileBegin),
      static_cast<uint64_t>(instruction.tileEnd), instruction.sliceBegin,
      instruction.sliceEnd, builder.getArrayAttr(ins),
      anyRow ? builder.getDenseI64ArrayAttr(rows) : DenseI64ArrayAttr(),
      anyWait ? builder.getDenseBoolArrayAttr(waits) : DenseBoolArrayAttr(),
      slotSymbols(schedule.outputsOf(instruction)), instruction.draw,
      /*at=*/DenseI64ArrayAttr(), /*range=*/DenseI64ArrayAttr(),
      id(instructionIds, index));
}

void Writer::writeTransfer(uint32_t index) {
  const dfrt::Transfer &transfer = schedule.transfers[index];
  TransferOp::create(builder, loc, slotSymbol(transfer.source),
                     slotSymbols(schedule.destinationsOf(transfer)),
                     getTransportAttr(builder.getContext(), transfer.transport),
                     id(transferIds, index));
}

void Writer::writeRelease(uint32_t index) {
  const dfrt::Release &release = schedule.releases[index];
  ReleaseOp::create(builder, loc, slotSymbol(release.slot).getValue(),
                    release.to, number(release.barrier), release.phase,
                    id(releaseIds, index));
}

FailureOr<ScheduleOp> Writer::run() {
  if (failed(check()))
    return failure();
  auto op = ScheduleOp::create(
      builder, loc, frame.name, frame.program, frame.topology,
      static_cast<Discipline>(schedule.discipline), schedule.solver,
      schedule.sharedBytes, schedule.globalBytes, schedule.flags,
      schedule.exitBarrier,
      /*fingerprint=*/IntegerAttr(), /*stages=*/ArrayAttr());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&op.getBody().emplaceBlock());
  for (uint32_t slot = 0; slot < schedule.slots.size(); ++slot)
    writeSlot(slot);
  for (const dfrt::Barrier &barrier : schedule.barriers)
    BarrierOp::create(builder, loc, barrier.cta, barrier.arrivals);
  for (const dfrt::Queue &queue : schedule.queues) {
    OpBuilder::InsertionGuard queueGuard(builder);
    auto queueOp = QueueOp::create(builder, loc, number(queue.cta));
    builder.setInsertionPointToEnd(&queueOp.getBody().emplaceBlock());
    for (uint32_t index : queue.instructions) {
      writeInstruction(index);
      for (uint32_t transfer : transfers[index])
        writeTransfer(transfer);
      for (uint32_t release : releases[index])
        writeRelease(release);
    }
  }
  return op;
}

FailureOr<ScheduleOp> mlir::df::exportSchedule(OpBuilder &builder, Location loc,
                                               const ScheduleFrame &frame,
                                               const dfrt::Schedule &schedule) {
  return Writer(builder, loc, frame, schedule).run();
}

FailureOr<ScheduleOp>
mlir::df::replaceSchedule(ScheduleOp op, const dfrt::Schedule &schedule) {
  ScheduleFrame frame;
  frame.name = op.getSymName();
  frame.program = op.getProgram();
  frame.topology = op.getTopology();
  if (ProgramOp program = op.getParentProgram()) {
    for (StageOpInterface stage : program.getStages())
      frame.stages.push_back(stage.getStageName());
  } else if (ArrayAttr table = op.getStagesAttr()) {
    for (auto info : table.getAsRange<StageInfoAttr>())
      frame.stages.push_back(info.getName());
  }
  OpBuilder builder(op);
  FailureOr<ScheduleOp> made =
      exportSchedule(builder, op.getLoc(), frame, schedule);
  if (failed(made))
    return failure();
  (*made)->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  if (op.getFingerprintAttr())
    made->setFingerprintAttr(op.getFingerprintAttr());
  if (op.getStagesAttr())
    made->setStagesAttr(op.getStagesAttr());
  op.erase();
  return made;
}
