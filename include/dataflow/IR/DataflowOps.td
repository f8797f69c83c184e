//===- DataflowOps.td --------------------------------------*- tablegen -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All ops of the dialect, for mlir-tblgen.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_IR_DATAFLOWOPS_TD
#define DATAFLOW_IR_DATAFLOWOPS_TD

include "dataflow/IR/DeviceOps.td"
include "dataflow/IR/FragmentOps.td"
include "dataflow/IR/ProgramOps.td"
include "dataflow/IR/ScheduleOps.td"

#endif // DATAFLOW_IR_DATAFLOWOPS_TD
