//===- HandlerToLLVM.cpp - Handler bodies to the LLVM dialect -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
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

using namespace mlir;

void df::registerHandlerToLLVMDialects(DialectRegistry &registry) {
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
}

StringRef df::handlers::targetName(HandlerTarget target) {
  return target == HandlerTarget::device ? "device" : "cpu";
}

/// Declares the functions that the bodies call, as their calls see them.
static LogicalResult declareCallees(ModuleOp module) {
  SymbolTable symbols(module);
  WalkResult result = module.walk([&](func::CallOp call) {
    if (symbols.lookup(call.getCallee()))
      return WalkResult::advance();
    if (!call.getCallee().starts_with("dfk_")) {
      call.emitOpError("calls '") << call.getCallee()
                                  << "', which no body can: only functions of "
                                     "the device library, dfk_*";
      return WalkResult::interrupt();
    }
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto callee = func::FuncOp::create(builder, call.getLoc(), call.getCallee(),
                                       call.getCalleeType());
    callee.setPrivate();
    symbols.insert(callee);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Declares what barriers and thread loops call.
static void declareThreadFunctions(ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Type i32 = builder.getI32Type();
  std::pair<StringRef, FunctionType> functions[] = {
      {"dfk_thread", builder.getFunctionType({}, i32)},
      {"dfk_threads", builder.getFunctionType({}, i32)},
      {"dfk_sync", builder.getFunctionType({}, {})}};
  for (auto &[name, type] : functions)
    if (!module.lookupSymbol(name))
      func::FuncOp::create(builder, module.getLoc(), name, type).setPrivate();
}

/// Internal, inlined, and with calls that keep the threads together.
static void markForDevice(ModuleOp module) {
  module.walk([](Operation *op) {
    if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op)) {
      function.setConvergent(true);
      if (function.isExternal())
        return;
      function.setAlwaysInline(true);
      function.setLinkage(LLVM::Linkage::Internal);
    } else if (auto call = dyn_cast<LLVM::CallOp>(op)) {
      call.setConvergent(true);
    }
  });
}

/// Moves what `from` holds to the end of `to`. Constants get new names where
/// theirs are taken; declarations of what is there, or not used, are dropped.
static LogicalResult moveSymbols(ModuleOp from, Operation *to) {
  SymbolTable present(to), moved(from);
  for (Operation &op : llvm::make_early_inc_range(*from.getBody())) {
    StringAttr name = SymbolTable::getSymbolName(&op);
    auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
    if (function && function.isExternal() &&
        (present.lookup(name) || SymbolTable::symbolKnownUseEmpty(&op, from))) {
      op.erase();
      continue;
    }
    if (present.lookup(name)) {
      if (function)
        return emitError(to->getLoc(), "there is a function '")
               << name.getValue() << "' already";
      if (failed(moved.renameToUnique(&op, {&present})))
        return failure();
    }
  }
  Block &block = to->getRegion(0).front();
  block.getOperations().splice(block.mightHaveTerminator()
                                   ? block.getTerminator()->getIterator()
                                   : block.end(),
                               from.getBody()->getOperations());
  return success();
}

FailureOr<std::vector<df::HandlerFunctionInfo>>
df::convertHandlersToLLVM(ArrayRef<HandlerFunction> functions,
                          HandlerTarget target, Operation *destination) {
  MLIRContext *context = destination->getContext();
  DialectRegistry registry;
  registerHandlerToLLVMDialects(registry);
  context->appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    context->getOrLoadDialect(name);

  Location loc = destination->getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  std::vector<fragments::Info> layouts(functions.size());
  for (auto [function, info] : llvm::zip(functions, layouts))
    if (failed(handlers::buildFunction(*module, function, target, info)) ||
        failed(handlers::buildStateFunctions(*module, function)) ||
        failed(handlers::buildSliceFunctions(*module, function)))
      return failure();
  for (const HandlerFunction &function : functions)
    for (const HandlerFunction &reduce : functions)
      if (!function.reduce.empty() && reduce.symbol == function.reduce &&
          failed(handlers::buildFollowFunction(*module, reduce, function)))
        return failure();
  if (failed(declareCallees(*module)) || failed(verify(*module)) ||
      failed(handlers::prepareLinalg(*module, target)) ||
      failed(handlers::bufferizeFunctions(*module, target)))
    return failure();

  if (target == HandlerTarget::device)
    declareThreadFunctions(*module);
  std::vector<HandlerFunctionInfo> infos;
  for (auto [function, layout] : llvm::zip(functions, layouts)) {
    if (function.fragments) {
      HandlerFunctionInfo info;
      info.symbol = function.symbol;
      info.fragmentBytes = layout.scratchBytes;
      info.remarks = std::move(layout.remarks);
      infos.push_back(std::move(info));
      continue;
    }
    auto body = module->lookupSymbol<func::FuncOp>(function.symbol + "$body");
    auto uses = SymbolTable::getSymbolUses(body, *module);
    auto call = cast<func::CallOp>(uses->begin()->getUser());
    HandlerFunctionInfo info;
    info.symbol = function.symbol;
    unsigned scratch = call.getNumOperands() - 1 - function.pointers;
    FailureOr<uint64_t> bytes =
        handlers::planScratch(body, call, scratch, target);
    if (failed(bytes))
      return failure();
    info.scratchBytes = *bytes;
    if (target == HandlerTarget::device) {
      if (failed(function.loadRole ? handlers::checkLoadRole(body)
                                   : handlers::placeBarriers(body)) ||
          failed(handlers::distribute(body, info.remarks)))
        return failure();
    }
    infos.push_back(std::move(info));
  }
  if (failed(handlers::lowerToLLVMDialect(*module, target)))
    return failure();
  if (target == HandlerTarget::device)
    markForDevice(*module);
  if (failed(moveSymbols(*module, destination)))
    return failure();
  return infos;
}
