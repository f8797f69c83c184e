//===- CPU.cpp - Handler bodies to x86-64 code ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/CPU.h"
#include "Stages.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;

void df::registerCPUTargetDialects(DialectRegistry &registry) {
  registerHandlerToLLVMDialects(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

/// `function` with the record layouts of the reference kind.
static FailureOr<df::HandlerFunction> forReference(df::HandlerFunction function,
                                                   Location loc) {
  auto relayout = [&](dfrt::Record &record) -> LogicalResult {
    dfrt::Expected<dfrt::Record> laidOut = dfrt::referenceRecord(record);
    if (!laidOut)
      return emitError(loc) << "record of '" << function.symbol
                            << "' in f64: " << laidOut.status().message();
    record = *laidOut;
    return success();
  };
  if (function.sliced)
    return emitError(loc) << "reference code has no slices: '"
                          << function.symbol << "'";
  for (df::HandlerFunction::Input &input : function.inputs)
    if (failed(relayout(input.record)))
      return failure();
  if (function.output && failed(relayout(*function.output)))
    return failure();
  return function;
}

FailureOr<dfrt::CodeBlob> df::compileForCPU(ArrayRef<HandlerFunction> functions,
                                            dfrt::CodeBlob::Kind kind,
                                            Location loc) {
  DialectRegistry registry;
  registerCPUTargetDialects(registry);
  loc.getContext()->appendDialectRegistry(registry);

  HandlerTarget target = HandlerTarget::cpu;
  std::vector<HandlerFunction> adapted(functions);
  if (kind == dfrt::CodeBlob::Kind::cpuReference) {
    target = HandlerTarget::cpuReference;
    for (HandlerFunction &function : adapted) {
      FailureOr<HandlerFunction> laidOut = forReference(function, loc);
      if (failed(laidOut))
        return failure();
      function = std::move(*laidOut);
    }
  }
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  FailureOr<std::vector<HandlerFunctionInfo>> infos =
      convertHandlersToLLVM(adapted, target, *module);
  SmallVector<char> object;
  if (failed(infos) || failed(cpu::emitObject(*module, object)))
    return failure();
  FailureOr<std::vector<uint8_t>> bytes = cpu::linkSharedObject(object, loc);
  if (failed(bytes))
    return failure();
  dfrt::CodeBlob blob;
  blob.kind = kind;
  blob.target = "x86-64-v3";
  blob.bytes = std::move(*bytes);
  for (const HandlerFunctionInfo &info : *infos)
    blob.functions.push_back({info.symbol, info.scratchBytes});
  return blob;
}
