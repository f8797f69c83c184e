//===- CheckPlan.h - Does a plan fit program and inputs? --------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between `readPlan` (the bytes are a plan) and the verifier (the plan is
// right) lie two questions that are asked of every plan, however it was made,
// so that executing it cannot leave its memory: does it fit the program, and
// was it made for these inputs?
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CPU_CHECKPLAN_H
#define DFRT_LIB_CPU_CHECKPLAN_H

#include "PlanView.h"
#include "Tensors.h"

namespace dfrt::cpu {

/// Tests fingerprint, stage table, variants, operand and output lists, record
/// layouts and the owners of shared slots. Once per plan.
Status checkPlanProgram(const Program &program, const PlanView &plan);

/// Tests tasks, coordinates and ranges against the tensors. Once per launch.
Status checkPlanInputs(const Program &program, const PlanView &plan,
                       ArrayView<TensorView> tensors);

} // namespace dfrt::cpu

#endif // DFRT_LIB_CPU_CHECKPLAN_H
