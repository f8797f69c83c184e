//===- DataflowToNVVM.cpp - Make a persistent kernel of each program ------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Conversion/DataflowToNVVM.h"
#include "dataflow/Conversion/Passes.h"

namespace mlir::df {
#define GEN_PASS_DEF_CONVERTDATAFLOWTONVVM
#include "dataflow/Conversion/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;

namespace {
struct ConvertDataflowToNVVM
    : df::impl::ConvertDataflowToNVVMBase<ConvertDataflowToNVVM> {
  using ConvertDataflowToNVVMBase::ConvertDataflowToNVVMBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerDataflowToNVVMDialects(registry);
  }

  void runOnOperation() override {
    std::vector<std::string> names(specializations.begin(),
                                   specializations.end());
    KernelOptions options;
    options.watchdog = watchdog;
    options.timeline = timeline;
    options.threads = threads;
    options.maxBarriers = maxBarriers;
    options.privateBytes = privateBytes;
    SmallVector<ProgramOp> programs;
    getOperation()->walk(
        [&](ProgramOp program) { programs.push_back(program); });
    for (ProgramOp program : programs) {
      FailureOr<std::vector<KernelSpecialization>> wanted =
          names.empty() ? selectSpecializations(program)
                        : kernelSpecializations(names, program.getLoc());
      if (failed(wanted))
        return signalPassFailure();
      OpBuilder builder(&getContext());
      builder.setInsertionPointAfter(program);
      for (const KernelSpecialization &specialization : *wanted)
        if (failed(convertProgramToKernel(builder, program, specialization,
                                          options)))
          return signalPassFailure();
    }
  }
};
} // namespace
