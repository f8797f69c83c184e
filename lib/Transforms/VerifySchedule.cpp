//===- VerifySchedule.cpp - Proof that schedules are legal ----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the verifier and puts its message on the op that it names.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/Passes.h"

#include "SchedulePasses.h"

#include "dataflow/IR/Dataflow.h"
#include "dataflow/Transforms/ProgramImport.h"
#include "dataflow/Transforms/ScheduleConversion.h"

namespace mlir::df {
#define GEN_PASS_DEF_VERIFYSCHEDULE
#include "dataflow/Transforms/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;

namespace {

struct VerifySchedulePass
    : public df::impl::VerifyScheduleBase<VerifySchedulePass> {
  using VerifyScheduleBase::VerifyScheduleBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (ScheduleOp schedule : getOperation().getBody().getOps<ScheduleOp>()) {
      if (failed(verifySchedule(getOperation(), schedule)))
        return signalPassFailure();
    }
  }

  LogicalResult verifySchedule(ProgramOp program, ScheduleOp op);
};

} // namespace

/// The op that a message like "V6: instruction 3 (...) reads slot 2" is about:
/// the first one with a number behind it that works or holds a record, else a
/// queue or barrier.
static Operation *findCulprit(StringRef message, ScheduleIndex &index,
                              Operation *fallback) {
  auto entry = [](auto &list, unsigned number) -> Operation * {
    return number < list.size() ? list[number].getOperation() : nullptr;
  };
  SmallVector<StringRef> words;
  message.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  Operation *place = nullptr;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    unsigned number;
    if (words[i + 1].rtrim(",:;.)").getAsInteger(10, number))
      continue;
    StringRef kind = words[i].ltrim("(");
    Operation *op = llvm::StringSwitch<Operation *>(kind)
                        .Case("instruction", entry(index.instructions, number))
                        .Case("slot", entry(index.slots, number))
                        .Case("transfer", entry(index.transfers, number))
                        .Case("release", entry(index.releases, number))
                        .Default(nullptr);
    if (op)
      return op;
    if (!place && kind == "queue")
      place = entry(index.queues, number);
    else if (!place && kind == "barrier")
      place = entry(index.barriers, number);
  }
  return place ? place : fallback;
}

LogicalResult VerifySchedulePass::verifySchedule(ProgramOp program,
                                                 ScheduleOp op) {
  FailureOr<dfrt::Problem> problem = importProblem(program, op.getTopology());
  if (failed(problem))
    return failure();
  ScheduleIndex index;
  FailureOr<dfrt::Schedule> schedule = importSchedule(op, &index);
  if (failed(schedule))
    return failure();
  if (dfrt::Status status = dfrt::verify(*problem, *schedule); !status)
    return emitStatus(findCulprit(status.message(), index, op), status);
  emitMetrics(op, "verify-schedule",
              {{"Instructions", schedule->instructions.size()}});
  numVerified += schedule->instructions.size();
  return success();
}
