//===- Passes.cpp - Our passes in C ---------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Defines what tblgen declares for dataflow-c/Passes.h.
//
//===----------------------------------------------------------------------===//

#include "dataflow-c/Passes.h"

#include "dataflow/Conversion/Passes.h"
#include "dataflow/Transforms/Passes.h"

#include "mlir/CAPI/Pass.h"

using namespace mlir::df;

#include "dataflow/Conversion/Passes.capi.cpp.inc"
#include "dataflow/Transforms/Passes.capi.cpp.inc"
