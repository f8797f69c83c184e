//===- consumer.cpp - Somebody else's compiler ------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds from the install tree alone: registers the dialect in its own context,
// parses a program, adds our planning pipeline to its own pass manager, and
// walks the schedule that comes out.
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/Dataflow.h"
#include "dataflow/InitAll.h"
#include "dataflow/Pipelines/Pipelines.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <cstdio>

int main() {
  mlir::DialectRegistry registry;
  mlir::df::registerAllDialects(registry);
  mlir::df::registerAllExtensions(registry);
  mlir::MLIRContext context(registry);

  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(EXAMPLE, &context);
  if (!module)
    return 1;

  mlir::df::PlanPipelineOptions options;
  options.values = "lengths=5000,0,17";
  options.ctas = 4;
  mlir::PassManager manager(&context);
  mlir::df::buildPlanPipeline(manager, options);
  if (mlir::failed(manager.run(*module)))
    return 1;

  unsigned instructions = 0;
  module->walk([&](mlir::df::InstructionOp) { ++instructions; });
  std::printf("%u instructions\n", instructions);
  return instructions > 0 ? 0 : 1;
}
