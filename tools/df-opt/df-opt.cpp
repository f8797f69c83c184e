//===- df-opt.cpp -----------------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs passes on `.mlir` files.
//
//===----------------------------------------------------------------------===//

#include "dataflow/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::df::registerAllDialects(registry);
  mlir::df::registerAllExtensions(registry);
  mlir::df::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "dataflow optimizer driver\n", registry));
}
