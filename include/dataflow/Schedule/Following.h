//===- Following.h - Finalizes that can follow in registers -----*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A record that one finalize alone reads need not be stored where that finalize
// is the next instruction of the CTA: whoever made the record can do the work
// of both. Whether a finalize comes into question is a fact of the program, and
// is told here; whether it is the next instruction, and reads this very record,
// the kernel sees in the plan (docs/kernel.md).
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_SCHEDULE_FOLLOWING_H
#define DATAFLOW_SCHEDULE_FOLLOWING_H

#include "dataflow/Schedule/Program.h"

namespace dfrt {

/// The finalize that may follow `stage`, a map or reduce with a handler, in
/// registers; kNone without.
///
/// It has the tasks of the stage and no range, and its only input are the
/// records of the stage, one a task: directly, or behind reshards that move
/// them, or, for a map, behind one reduce, which a task with one part has no
/// instruction of. Nothing else reads the records, or those on the way. So an
/// instruction of it whose operand is a slot of the stage is the only reader of
/// that slot on its CTA.
///
/// `reason`, if given, says why there is none.
uint32_t findFollowing(const Program &program, uint32_t stage,
                       std::string *reason = nullptr);

} // namespace dfrt

#endif // DATAFLOW_SCHEDULE_FOLLOWING_H
