//===- Reference.h - What results are checked against -----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates a program without a plan: stage by stage, every task, whole range
// as one piece (or per tile), parts folded in ascending order, in f64. Knows
// nothing of CTAs, slots or schedules.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CPU_REFERENCE_H
#define DFRT_LIB_CPU_REFERENCE_H

#include "CodeModule.h"
#include "Tensors.h"

#include "dataflow/Schedule/Problem.h"

namespace dfrt::cpu {

/// `code` is bound to the cpuReference blob; `tensors` has passed checkTensors
/// with `reference`. `threads` 0: one a processor. Fails when memory is short.
Status evaluateReference(const Problem &problem, const ProgramCode &code,
                         ArrayView<TensorView> tensors, uint32_t threads);

} // namespace dfrt::cpu

#endif // DFRT_LIB_CPU_REFERENCE_H
