//===- DataflowOps.cpp ------------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Holds what mlir-tblgen makes of the ops; the hand-written parts are in
// ProgramOps.cpp, StageOps.cpp, ScheduleOps.cpp and DeviceOps.cpp.
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/Dataflow.h"

#include "OpFormat.h"

using namespace mlir;
using namespace mlir::df;

#define GET_OP_CLASSES
#include "dataflow/IR/DataflowOps.cpp.inc"
