//===- ScheduleVerifier.cpp -------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The constraints C1 to C10 of `dataflow.schedule`, in one pass over its ops.
// Whether a schedule is legal is another question, which lib/Schedule answers.
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/Dataflow.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::df;

namespace {

/// What the schedule's ops may refer to.
class Verifier {
public:
  explicit Verifier(ScheduleOp op)
      : op(op), ctas(op.getTopology().getCtas()), flags(op.getFlags()) {}

  LogicalResult run();

private:
  LogicalResult verifyProgram();
  LogicalResult verifyQueues();
  LogicalResult verifyDraws(QueueOp queue);
  LogicalResult verifySlots();
  LogicalResult verifyInstruction(InstructionOp instruction);
  LogicalResult verifyTransfer(TransferOp transfer);
  LogicalResult verifyRelease(ReleaseOp release);

  /// C4 for all ops of a kind.
  template <typename OpT>
  LogicalResult verifyIds(StringRef kind, ArrayRef<OpT> ops);

  LogicalResult verifyStage(Operation *user, StringRef name, bool called);
  LogicalResult verifyBarrier(Operation *user, std::optional<uint32_t> barrier);
  LogicalResult verifyCta(Operation *user, uint32_t cta);
  LogicalResult verifySlotNames(Operation *user, ArrayAttr names);
  LogicalResult verifySlotName(Operation *user, FlatSymbolRefAttr name);

  ScheduleOp op;
  uint32_t ctas, flags, barriers = 0;
  llvm::StringMap<StageKind> stages;
  llvm::DenseSet<StringAttr> slots;
  SmallVector<InstructionOp> instructions;
  SmallVector<TransferOp> transfers;
  SmallVector<ReleaseOp> releases;
};

} // namespace

LogicalResult Verifier::verifyProgram() {
  // C1
  if (ProgramOp program = op.getParentProgram()) {
    if (op.getProgram() != program.getSymName())
      return op.emitOpError()
             << "is of program '" << op.getProgram() << "', but lies in '"
             << program.getSymName() << "'";
    for (StageOpInterface stage : program.getStages())
      stages[stage.getStageName()] = stage.getStageKind();
    return success();
  }
  if (!op.getFingerprint() || !op.getStages())
    return op.emitOpError()
           << "outside a program needs 'fingerprint' and 'stages'";
  for (auto info : op.getStagesAttr().getAsRange<StageInfoAttr>())
    stages[info.getName()] = info.getKind();
  return success();
}

LogicalResult Verifier::verifyCta(Operation *user, uint32_t cta) {
  if (cta < ctas)
    return success();
  return user->emitOpError() << "cta must be below " << ctas << ", got " << cta;
}

LogicalResult Verifier::verifyQueues() {
  bool ticket = op.getDiscipline() == Discipline::ticket;
  llvm::DenseMap<uint32_t, QueueOp> owners;
  QueueOp list;
  for (QueueOp queue : op.getAll<QueueOp>()) {
    // C3
    if (!queue.getCta() != ticket || list) {
      InFlightDiagnostic diagnostic =
          queue.emitOpError()
          << (!ticket ? "is a ticket list, but the schedule is static"
              : list  ? "is the second of a ticket schedule, which has one"
                      : "has a cta, but the schedule has a ticket list");
      diagnostic.attachNote(list ? list.getLoc() : op.getLoc())
          << (list ? "the first is here" : "the schedule is here");
      return diagnostic;
    }
    if (ticket) {
      list = queue;
    } else {
      // C2
      if (failed(verifyCta(queue, *queue.getCta())))
        return failure();
      auto [it, inserted] = owners.insert({*queue.getCta(), queue});
      if (!inserted) {
        InFlightDiagnostic diagnostic =
            queue.emitOpError() << "is the second of cta " << *queue.getCta();
        diagnostic.attachNote(it->second.getLoc()) << "the first is here";
        return diagnostic;
      }
    }
    // C10
    if (failed(verifyDraws(queue)))
      return failure();
    for (Operation &nested : queue.getBody().front()) {
      if (auto instruction = dyn_cast<InstructionOp>(nested))
        instructions.push_back(instruction);
      else if (auto transfer = dyn_cast<TransferOp>(nested))
        transfers.push_back(transfer);
      else if (auto release = dyn_cast<ReleaseOp>(nested))
        releases.push_back(release);
    }
  }
  return success();
}

LogicalResult Verifier::verifyDraws(QueueOp queue) {
  bool ticket = !queue.getCta(), first = true;
  for (auto instruction : queue.getBody().getOps<InstructionOp>()) {
    if (!ticket && instruction.getDraw())
      return instruction.emitOpError()
             << "begins a draw, but is in the queue of a cta";
    if (ticket && first && !instruction.getDraw())
      return instruction.emitOpError()
             << "is the first of a ticket list and must begin a draw";
    first = false;
  }
  return success();
}

template <typename OpT>
LogicalResult Verifier::verifyIds(StringRef kind, ArrayRef<OpT> ops) {
  auto idOf = [](OpT op) { return op.getId(); };
  size_t given = llvm::count_if(ops, [&](OpT op) { return idOf(op); });
  if (given == 0)
    return success();
  if (given != ops.size())
    return op.emitOpError() << "has " << ops.size() << " " << kind << "s, but "
                            << given << " of them have an id";
  llvm::BitVector seen(ops.size());
  for (OpT entry : ops) {
    uint32_t id = *idOf(entry);
    if (id >= ops.size())
      return entry.emitOpError() << "id must be below the number of " << kind
                                 << "s, " << ops.size() << ", got " << id;
    if (seen[id])
      return entry.emitOpError()
             << "has id " << id << ", as another " << kind << " has";
    seen.set(id);
  }
  return success();
}

LogicalResult Verifier::verifyStage(Operation *user, StringRef name,
                                    bool called) {
  // C6
  auto it = stages.find(name);
  if (it == stages.end())
    return user->emitOpError() << "names the unknown stage \"" << name << "\"";
  StageKind without = called ? StageKind::reshard : StageKind::finalize;
  if (it->second != without)
    return success();
  return user->emitOpError()
         << "stage \"" << name << "\" is a " << stringifyStageKind(without)
         << ", which has no " << (called ? "handler" : "record");
}

LogicalResult Verifier::verifyBarrier(Operation *user,
                                      std::optional<uint32_t> barrier) {
  // C8
  if (!barrier || *barrier < barriers)
    return success();
  return user->emitOpError() << "names barrier " << *barrier
                             << ", but the schedule has " << barriers;
}

LogicalResult Verifier::verifySlots() {
  for (BarrierOp barrier : op.getAll<BarrierOp>()) {
    // C8
    if (failed(verifyCta(barrier, barrier.getCta())))
      return failure();
    ++barriers;
  }
  for (SlotOp slot : op.getAll<SlotOp>()) {
    slots.insert(slot.getSymNameAttr());
    if (failed(verifyStage(slot, slot.getStage(), /*called=*/false)) ||
        failed(verifyBarrier(slot, slot.getBarrier())))
      return failure();
    // C8
    if (slot.getFlag() && *slot.getFlag() >= flags)
      return slot.emitOpError() << "has flag " << *slot.getFlag()
                                << ", but the schedule has " << flags;
    // C9
    if (slot.getCta() && failed(verifyCta(slot, *slot.getCta())))
      return failure();
  }
  return success();
}

LogicalResult Verifier::verifySlotName(Operation *user,
                                       FlatSymbolRefAttr name) {
  // C5
  if (slots.contains(name.getAttr()))
    return success();
  return user->emitOpError() << "names the unknown slot " << name;
}

LogicalResult Verifier::verifySlotNames(Operation *user, ArrayAttr names) {
  for (auto name : names.getAsRange<FlatSymbolRefAttr>())
    if (failed(verifySlotName(user, name)))
      return failure();
  return success();
}

LogicalResult Verifier::verifyInstruction(InstructionOp instruction) {
  return failure(failed(verifyStage(instruction, instruction.getStage(),
                                    /*called=*/true)) ||
                 failed(verifySlotNames(instruction, instruction.getIns())) ||
                 failed(verifySlotNames(instruction, instruction.getOuts())));
}

LogicalResult Verifier::verifyTransfer(TransferOp transfer) {
  return failure(failed(verifySlotName(transfer, transfer.getSourceAttr())) ||
                 failed(verifySlotNames(transfer, transfer.getDestinations())));
}

LogicalResult Verifier::verifyRelease(ReleaseOp release) {
  // C7
  if (release.getTo() >= instructions.size())
    return release.emitOpError()
           << "is to instruction " << release.getTo()
           << ", but the schedule has " << instructions.size();
  return failure(failed(verifySlotName(release, release.getSlotAttr())) ||
                 failed(verifyBarrier(release, release.getBarrier())));
}

LogicalResult Verifier::run() {
  if (failed(verifyProgram()) || failed(verifyQueues()) ||
      failed(verifyIds<InstructionOp>("instruction", instructions)) ||
      failed(verifyIds<TransferOp>("transfer", transfers)) ||
      failed(verifyIds<ReleaseOp>("release", releases)) ||
      failed(verifySlots()))
    return failure();
  for (InstructionOp instruction : instructions)
    if (failed(verifyInstruction(instruction)))
      return failure();
  for (TransferOp transfer : transfers)
    if (failed(verifyTransfer(transfer)))
      return failure();
  for (ReleaseOp release : releases)
    if (failed(verifyRelease(release)))
      return failure();
  return success();
}

LogicalResult ScheduleOp::verifyRegions() { return Verifier(*this).run(); }
