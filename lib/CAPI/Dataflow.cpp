//===- Dataflow.cpp - The dialect and its passes in C ---------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// C entry points over the registration functions of InitAll.h.
//
//===----------------------------------------------------------------------===//

#include "dataflow-c/Dataflow.h"

#include "dataflow/IR/Dataflow.h"
#include "dataflow/InitAll.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Dataflow, dataflow,
                                      mlir::df::DataflowDialect)

void mlirDataflowRegisterDialects(MlirDialectRegistry registry) {
  mlir::df::registerAllDialects(*unwrap(registry));
}

void mlirDataflowRegisterPasses(void) { mlir::df::registerDataflowPasses(); }
