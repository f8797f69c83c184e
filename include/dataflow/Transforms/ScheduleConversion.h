//===- ScheduleConversion.h - dfrt::Schedule and its IR ---------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `dataflow.schedule` op and the C++ object say the same. Reading an
// exported schedule gives an equal object, whatever its state of completion:
//
//   - the position of a slot or barrier op is its index;
//   - instructions, transfers and releases are nested in the queue that runs
//     them, behind the instruction that issues them; where that order is not
//     the order of the indices, all of a kind carry their index as `id`;
//   - operands, outputs and destinations are stored in the order of the
//     instructions and transfers that own them.
//
// The same ops are the readable form of plan bytes; then the table `stages`
// takes the place of the program.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TRANSFORMS_SCHEDULECONVERSION_H
#define DATAFLOW_TRANSFORMS_SCHEDULECONVERSION_H

#include "dataflow/IR/Dataflow.h"
#include "dataflow/Schedule/Schedule.h"

#include "mlir/IR/Builders.h"

namespace mlir::df {

/// The ops of a schedule by the index of what they stand for.
struct ScheduleIndex {
  SmallVector<SlotOp> slots;
  SmallVector<BarrierOp> barriers;
  SmallVector<QueueOp> queues;
  SmallVector<InstructionOp> instructions;
  SmallVector<TransferOp> transfers;
  SmallVector<ReleaseOp> releases;
};

/// Reads a schedule. Stage names are those of the enclosing program or of the
/// table `stages`. Fails, with a diagnostic on the op, on names that do not
/// resolve and on ids that are not 0 to n-1.
FailureOr<dfrt::Schedule> importSchedule(ScheduleOp op,
                                         ScheduleIndex *index = nullptr);

/// Names and facts of a schedule that are not part of the object.
struct ScheduleFrame {
  StringRef name;
  StringRef program;
  TopologyAttr topology;
  SmallVector<StringRef> stages; ///< names, by index
};

/// Makes the op at the builder's insertion point. Fails, with a diagnostic at
/// `loc`, when an index is out of range, an instruction is in no queue or in
/// several, or lists are not stored in order: such an object has no IR.
FailureOr<ScheduleOp> exportSchedule(OpBuilder &builder, Location loc,
                                     const ScheduleFrame &frame,
                                     const dfrt::Schedule &schedule);

/// Makes the op that takes the place of `op`, with its name and its discardable
/// attributes, and erases `op`.
FailureOr<ScheduleOp> replaceSchedule(ScheduleOp op,
                                      const dfrt::Schedule &schedule);

} // namespace mlir::df

#endif // DATAFLOW_TRANSFORMS_SCHEDULECONVERSION_H
