//===- InitAll.cpp ----------------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/InitAll.h"

#include "dataflow/Conversion/Passes.h"
#include "dataflow/IR/Dataflow.h"
#include "dataflow/Pipelines/Pipelines.h"
#include "dataflow/Transforms/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

using namespace mlir;

void mlir::df::registerDataflowDialects(DialectRegistry &registry) {
  registry.insert<DataflowDialect>();
  registerFuncHandlerExtension(registry);
}

void mlir::df::registerDataflowPasses() {
  registerDataflowTransformsPasses();
  registerDataflowConversionPasses();
  registerPipelines();
}

void mlir::df::registerAllDialects(DialectRegistry &registry) {
  registerDataflowDialects(registry);
  mlir::registerAllDialects(registry);
}

void mlir::df::registerAllExtensions(DialectRegistry &registry) {
  mlir::registerAllExtensions(registry);
}

void mlir::df::registerAllPasses() {
  registerDataflowPasses();
  mlir::registerAllPasses();
}
