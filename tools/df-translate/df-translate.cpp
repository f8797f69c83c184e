//===- df-translate.cpp -----------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns programs and schedules into files and back.
//
//===----------------------------------------------------------------------===//

#include "DeviceOptions.h"
#include "dataflow/InitAll.h"

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "llvm/Support/CommandLine.h"

int main(int argc, char **argv) {
  static llvm::cl::opt<std::string> schedule(
      "schedule", llvm::cl::desc("Name of the schedule for --dataflow-to-plan "
                                 "and --schedule-to-...; not needed if there "
                                 "is only one"));
  mlir::df::registerAllTranslations([] { return schedule.getValue(); },
                                    deviceOptions);
  return failed(
      mlir::mlirTranslateMain(argc, argv, "dataflow translation driver"));
}
