//===- CPU.cpp - Handler bodies to x86-64 code ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/CPU.h"
#include "Stages.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferViewFlowOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;

void df::registerCPUTargetDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect,
                  bufferization::BufferizationDialect, cf::ControlFlowDialect,
                  func::FuncDialect, index::IndexDialect, linalg::LinalgDialect,
                  LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  scf::SCFDialect, tensor::TensorDialect, ub::UBDialect,
                  vector::VectorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  arith::registerBufferViewFlowOpInterfaceExternalModels(registry);
  cf::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerSubsetOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

/// `function` with the record layouts of the reference kind.
static FailureOr<df::CPUFunction> forReference(df::CPUFunction function,
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
  for (df::CPUFunction::Input &input : function.inputs)
    if (failed(relayout(input.record)))
      return failure();
  if (function.output && failed(relayout(*function.output)))
    return failure();
  return function;
}

FailureOr<dfrt::CodeBlob> df::compileForCPU(ArrayRef<CPUFunction> functions,
                                            dfrt::CodeBlob::Kind kind,
                                            Location loc) {
  MLIRContext *context = loc.getContext();
  DialectRegistry registry;
  registerCPUTargetDialects(registry);
  context->appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    context->getOrLoadDialect(name);

  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  bool reference = kind == dfrt::CodeBlob::Kind::cpuReference;
  for (const CPUFunction &function : functions) {
    FailureOr<CPUFunction> adapted =
        reference ? forReference(function, loc) : function;
    if (failed(adapted) ||
        failed(cpu::buildFunction(*module, *adapted, reference)))
      return failure();
  }
  if (failed(verify(*module)) || failed(cpu::prepareLinalg(*module)) ||
      failed(cpu::bufferizeFunctions(*module)))
    return failure();

  dfrt::CodeBlob blob;
  blob.kind = kind;
  blob.target = "x86-64-v3";
  for (const CPUFunction &function : functions) {
    auto body = module->lookupSymbol<func::FuncOp>(function.symbol + "$body");
    auto uses = SymbolTable::getSymbolUses(body, *module);
    auto call = cast<func::CallOp>(uses->begin()->getUser());
    FailureOr<uint64_t> scratch = cpu::planScratch(body, call);
    if (failed(scratch))
      return failure();
    blob.functions.push_back({function.symbol, *scratch});
  }
  SmallVector<char> object;
  if (failed(cpu::lowerToLLVMDialect(*module)) ||
      failed(cpu::emitObject(*module, object)))
    return failure();
  FailureOr<std::vector<uint8_t>> bytes = cpu::linkSharedObject(object, loc);
  if (failed(bytes))
    return failure();
  blob.bytes = std::move(*bytes);
  return blob;
}
