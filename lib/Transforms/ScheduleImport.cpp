//===- ScheduleImport.cpp - From dataflow.schedule to dfrt::Schedule ------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the ops of the schedule group.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/ScheduleConversion.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::df;
using dfrt::kNone;

static uint32_t orNone(std::optional<uint32_t> value) {
  return value.value_or(kNone);
}

namespace {

class Reader {
public:
  explicit Reader(ScheduleOp op) : op(op) {}

  FailureOr<dfrt::Schedule> run();
  ScheduleIndex index;

private:
  LogicalResult readStages();
  LogicalResult readSlot(SlotOp slot);
  LogicalResult collectQueues();
  LogicalResult readInstruction(uint32_t id);
  LogicalResult readTransfer(uint32_t id);
  LogicalResult readRelease(uint32_t id);

  FailureOr<uint32_t> lookupStage(Operation *user, StringRef name);
  FailureOr<uint32_t> lookupSlot(Operation *user, FlatSymbolRefAttr name);

  /// Puts `found`, the ops of a kind in the order of the queues, into the order
  /// of their ids.
  template <typename OpT>
  LogicalResult sortById(ArrayRef<OpT> found, SmallVectorImpl<OpT> &sorted);

  ScheduleOp op;
  dfrt::Schedule result;
  llvm::StringMap<uint32_t> stages, slots;
  DenseMap<Operation *, uint32_t> ids;
  /// The instruction that a transfer or release follows.
  DenseMap<Operation *, InstructionOp> issuers;
};

} // namespace

FailureOr<uint32_t> Reader::lookupStage(Operation *user, StringRef name) {
  auto it = stages.find(name);
  if (it == stages.end())
    return user->emitOpError("names the unknown stage \"") << name << "\"";
  return it->second;
}

FailureOr<uint32_t> Reader::lookupSlot(Operation *user,
                                       FlatSymbolRefAttr name) {
  auto it = slots.find(name.getValue());
  if (it == slots.end())
    return user->emitOpError("names the unknown slot ") << name;
  return it->second;
}

LogicalResult Reader::readStages() {
  auto add = [&](StringRef name) {
    stages.try_emplace(name, static_cast<uint32_t>(stages.size()));
  };
  if (ProgramOp program = op.getParentProgram()) {
    for (StageOpInterface stage : program.getStages())
      add(stage.getStageName());
  } else if (ArrayAttr table = op.getStagesAttr()) {
    for (auto info : table.getAsRange<StageInfoAttr>())
      add(info.getName());
  } else {
    return op.emitOpError("is not in a program and has no table of stages");
  }
  return success();
}

LogicalResult Reader::readSlot(SlotOp slot) {
  FailureOr<uint32_t> stage = lookupStage(slot, slot.getStage());
  if (failed(stage))
    return failure();
  slots[slot.getSymName()] = static_cast<uint32_t>(result.slots.size());
  dfrt::Slot entry;
  entry.stage = *stage;
  entry.sliceBegin = slot.getSliceBegin();
  entry.sliceEnd = slot.getSliceEnd();
  entry.space = static_cast<dfrt::Space>(slot.getSpace());
  entry.cta = orNone(slot.getCta());
  entry.offset = slot.getOffset();
  entry.barrier = orNone(slot.getBarrier());
  entry.phase = slot.getPhase();
  entry.flag = orNone(slot.getFlag());
  result.slots.push_back(entry);
  index.slots.push_back(slot);
  return success();
}

template <typename OpT>
LogicalResult Reader::sortById(ArrayRef<OpT> found,
                               SmallVectorImpl<OpT> &sorted) {
  sorted.assign(found.size(), OpT());
  for (auto [position, op] : llvm::enumerate(found)) {
    OpT entry = op;
    uint32_t id = entry.getId().value_or(static_cast<uint32_t>(position));
    if (id >= found.size())
      return entry.emitOpError("has id ")
             << id << ", but there are " << found.size() << " of its kind";
    if (sorted[id])
      return entry.emitOpError("has id ") << id << ", as another op has";
    sorted[id] = entry;
    ids[entry] = id;
  }
  return success();
}

LogicalResult Reader::collectQueues() {
  SmallVector<InstructionOp> instructions;
  SmallVector<TransferOp> transfers;
  SmallVector<ReleaseOp> releases;
  for (QueueOp queue : op.getAll<QueueOp>()) {
    index.queues.push_back(queue);
    InstructionOp last;
    for (Operation &nested : queue.getBody().front()) {
      if (auto instruction = dyn_cast<InstructionOp>(nested)) {
        instructions.push_back(instruction);
        last = instruction;
        continue;
      }
      if (!last)
        return nested.emitOpError("does not follow an instruction");
      issuers[&nested] = last;
      if (auto transfer = dyn_cast<TransferOp>(nested))
        transfers.push_back(transfer);
      else if (auto release = dyn_cast<ReleaseOp>(nested))
        releases.push_back(release);
      else
        return nested.emitOpError("has no place in a queue");
    }
  }
  return success(
      succeeded(sortById<InstructionOp>(instructions, index.instructions)) &&
      succeeded(sortById<TransferOp>(transfers, index.transfers)) &&
      succeeded(sortById<ReleaseOp>(releases, index.releases)));
}

LogicalResult Reader::readInstruction(uint32_t id) {
  InstructionOp instruction = index.instructions[id];
  FailureOr<uint32_t> stage = lookupStage(instruction, instruction.getStage());
  if (failed(stage))
    return failure();
  dfrt::Instruction entry;
  entry.stage = *stage;
  entry.variant = instruction.getVariant();
  entry.task = instruction.getTask();
  entry.tileBegin = static_cast<int64_t>(instruction.getTileBegin());
  entry.tileEnd = static_cast<int64_t>(instruction.getTileEnd());
  entry.sliceBegin = instruction.getSliceBegin();
  entry.sliceEnd = instruction.getSliceEnd();
  entry.draw = instruction.getDraw();

  entry.firstOperand = static_cast<uint32_t>(result.operands.size());
  for (auto [position, name] :
       llvm::enumerate(instruction.getIns().getAsRange<FlatSymbolRefAttr>())) {
    FailureOr<uint32_t> slot = lookupSlot(instruction, name);
    if (failed(slot))
      return failure();
    int64_t row = instruction.getRow(position);
    result.operands.push_back({*slot,
                               row < 0 ? kNone : static_cast<uint32_t>(row),
                               instruction.getWait(position)});
  }
  entry.operandCount =
      static_cast<uint32_t>(result.operands.size()) - entry.firstOperand;

  entry.firstOutput = static_cast<uint32_t>(result.outputs.size());
  for (auto name : instruction.getOuts().getAsRange<FlatSymbolRefAttr>()) {
    FailureOr<uint32_t> slot = lookupSlot(instruction, name);
    if (failed(slot))
      return failure();
    result.outputs.push_back(*slot);
  }
  entry.outputCount =
      static_cast<uint32_t>(result.outputs.size()) - entry.firstOutput;
  result.instructions.push_back(entry);
  return success();
}

LogicalResult Reader::readTransfer(uint32_t id) {
  TransferOp transfer = index.transfers[id];
  std::optional<dfrt::Transport> transport =
      getTransport(transfer.getViaAttr());
  if (!transport)
    return transfer.emitOpError("goes by the transport ")
           << transfer.getViaAttr() << ", which the planner does not know";
  FailureOr<uint32_t> source = lookupSlot(transfer, transfer.getSourceAttr());
  if (failed(source))
    return failure();
  dfrt::Transfer entry;
  entry.transport = *transport;
  entry.instruction = ids.lookup(issuers.lookup(transfer));
  entry.source = *source;
  entry.firstDestination = static_cast<uint32_t>(result.destinations.size());
  for (auto name : transfer.getDestinations().getAsRange<FlatSymbolRefAttr>()) {
    FailureOr<uint32_t> slot = lookupSlot(transfer, name);
    if (failed(slot))
      return failure();
    result.destinations.push_back(*slot);
  }
  entry.destinationCount = static_cast<uint32_t>(result.destinations.size()) -
                           entry.firstDestination;
  result.transfers.push_back(entry);
  return success();
}

LogicalResult Reader::readRelease(uint32_t id) {
  ReleaseOp release = index.releases[id];
  FailureOr<uint32_t> slot = lookupSlot(release, release.getSlotAttr());
  if (failed(slot))
    return failure();
  dfrt::Release entry;
  entry.slot = *slot;
  entry.from = ids.lookup(issuers.lookup(release));
  entry.to = release.getTo();
  entry.barrier = orNone(release.getBarrier());
  entry.phase = release.getPhase();
  result.releases.push_back(entry);
  return success();
}

FailureOr<dfrt::Schedule> Reader::run() {
  if (failed(readStages()))
    return failure();
  result.discipline = static_cast<dfrt::Discipline>(op.getDiscipline());
  result.solver = op.getSolver().str();
  result.sharedBytes = op.getSharedBytes();
  result.globalBytes = op.getGlobalBytes();
  result.flags = op.getFlags();
  result.exitBarrier = op.getExitBarrier();
  for (SlotOp slot : op.getAll<SlotOp>()) {
    if (failed(readSlot(slot)))
      return failure();
  }
  for (BarrierOp barrier : op.getAll<BarrierOp>()) {
    result.barriers.push_back({barrier.getCta(), barrier.getArrivals()});
    index.barriers.push_back(barrier);
  }
  if (failed(collectQueues()))
    return failure();
  for (QueueOp queue : index.queues) {
    dfrt::Queue entry;
    entry.cta = orNone(queue.getCta());
    for (auto instruction : queue.getBody().getOps<InstructionOp>())
      entry.instructions.push_back(ids.lookup(instruction));
    result.queues.push_back(std::move(entry));
  }
  for (uint32_t id = 0; id < index.instructions.size(); ++id) {
    if (failed(readInstruction(id)))
      return failure();
  }
  for (uint32_t id = 0; id < index.transfers.size(); ++id) {
    if (failed(readTransfer(id)))
      return failure();
  }
  for (uint32_t id = 0; id < index.releases.size(); ++id) {
    if (failed(readRelease(id)))
      return failure();
  }
  return std::move(result);
}

FailureOr<dfrt::Schedule> mlir::df::importSchedule(ScheduleOp op,
                                                   ScheduleIndex *index) {
  Reader reader(op);
  FailureOr<dfrt::Schedule> schedule = reader.run();
  if (index)
    *index = std::move(reader.index);
  return schedule;
}
