//===- ScheduleOps.cpp ------------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slots, queues and what they hold. What concerns more than one op is verified
// by the schedule.
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/Dataflow.h"

using namespace mlir;
using namespace mlir::df;

/// Fails unless begin < end.
static LogicalResult verifySlices(Operation *op, uint32_t begin, uint32_t end) {
  if (begin < end)
    return success();
  return op->emitOpError() << "slices must be [begin, end) with begin below "
                              "end, got ["
                           << begin << ", " << end << "]";
}

LogicalResult SlotOp::verify() {
  // C1
  if (failed(verifySlices(*this, getSliceBegin(), getSliceEnd())))
    return failure();
  // C2
  if (getSpace() == Space::unplaced && getOffset() != 0)
    return emitOpError() << "has offset " << getOffset() << ", but no space";
  // C3
  if (getPhase() != 0 && !getBarrier())
    return emitOpError() << "has phase " << getPhase() << ", but no barrier";
  // C4
  if (getBarrier() && getSpace() == Space::global)
    return emitOpError() << "is in global memory, but has a barrier";
  if (getFlag() && getSpace() == Space::shared)
    return emitOpError() << "is in shared memory, but has a flag";
  return success();
}

LogicalResult InstructionOp::verify() {
  // C1
  if (getTileBegin() > getTileEnd())
    return emitOpError() << "tiles must be [begin, end) with begin at most "
                            "end, got ["
                         << getTileBegin() << ", " << getTileEnd() << "]";
  if (failed(verifySlices(*this, getSliceBegin(), getSliceEnd())))
    return failure();
  // C2
  size_t operands = getIns().size();
  if (getRows() && getRows()->size() != operands)
    return emitOpError() << "has " << operands << " inputs, but "
                         << getRows()->size() << " rows";
  if (getWaits() && getWaits()->size() != operands)
    return emitOpError() << "has " << operands << " inputs, but "
                         << getWaits()->size() << " wait marks";
  if (std::optional<ArrayRef<int64_t>> rows = getRows())
    for (int64_t row : *rows)
      if (row < -1 || row >= UINT32_MAX)
        return emitOpError() << "row must be -1 or an unsigned 32-bit number, "
                                "got "
                             << row;
  // C4
  if (getAt() && getAt()->size() > 4)
    return emitOpError() << "has " << getAt()->size()
                         << " coordinates, at most 4 are supported";
  // C5
  if (getRange() && getRange()->size() != 2)
    return emitOpError() << "range must be [begin, end], got "
                         << getRange()->size() << " numbers";
  return success();
}

LogicalResult TransferOp::verify() {
  // C1
  size_t count = getDestinations().size();
  if (count == 0)
    return emitOpError() << "has no destination";
  if (count > 1 &&
      isa_and_nonnull<LocalAttr, ClusterSharedAttr, GlobalAttr>(getViaAttr()))
    return emitOpError() << "via " << getViaAttr()
                         << " has one destination, got " << count;
  return success();
}

LogicalResult ReleaseOp::verify() {
  // C1
  if (getPhase() != 0 && !getBarrier())
    return emitOpError() << "has phase " << getPhase() << ", but no barrier";
  return success();
}

LogicalResult QueueOp::verifyRegions() {
  bool issued = false;
  for (Operation &op : getBody().front()) {
    // C1
    if (!isa<InstructionOp, TransferOp, ReleaseOp>(op)) {
      InFlightDiagnostic diagnostic =
          emitOpError() << "holds instructions, transfers and releases only";
      diagnostic.attachNote(op.getLoc()) << "but this op is in it";
      return diagnostic;
    }
    // C2
    issued |= isa<InstructionOp>(op);
    if (!issued)
      return op.emitOpError() << "does not follow an instruction";
  }
  return success();
}

ProgramOp ScheduleOp::getParentProgram() {
  return dyn_cast<ProgramOp>((*this)->getParentOp());
}
