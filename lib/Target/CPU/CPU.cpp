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

FailureOr<dfrt::CodeBlob> df::compileForCPU(ArrayRef<HandlerFunction> functions,
                                            dfrt::CodeBlob::Kind kind,
                                            Location loc) {
  DialectRegistry registry;
  registerCPUTargetDialects(registry);
  loc.getContext()->appendDialectRegistry(registry);

  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  FailureOr<std::vector<HandlerFunctionInfo>> infos = convertHandlersToLLVM(
      functions,
      kind == dfrt::CodeBlob::Kind::cpuReference ? HandlerTarget::cpuReference
                                                 : HandlerTarget::cpu,
      *module);
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
