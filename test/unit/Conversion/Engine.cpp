//===- Engine.cpp - Compiled code in this process -------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine.h"

#include "dataflow/Conversion/HandlerToLLVM.h"
#include "dataflow/IR/Dataflow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"

void conversiontest::loadHandlerDialects(mlir::MLIRContext &context) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::df::DataflowDialect, mlir::func::FuncDialect,
                  mlir::LLVM::LLVMDialect>();
  mlir::df::registerHandlerToLLVMDialects(registry);
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

std::unique_ptr<mlir::ExecutionEngine>
conversiontest::makeEngine(mlir::ModuleOp module,
                           const std::vector<Callee> &callees) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  mlir::ExecutionEngineOptions options;
  auto optimise = mlir::makeOptimizingTransformer(2, 0, nullptr);
  options.transformer = optimise;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  auto engine = mlir::ExecutionEngine::create(module, options);
  if (!engine) {
    ADD_FAILURE() << llvm::toString(engine.takeError());
    return nullptr;
  }
  (*engine)->registerSymbols([&](llvm::orc::MangleAndInterner interner) {
    llvm::orc::SymbolMap symbols;
    for (const Callee &callee : callees)
      symbols[interner(callee.name)] = {callee.address,
                                        llvm::JITSymbolFlags::Exported};
    return symbols;
  });
  return std::move(*engine);
}

std::string conversiontest::replaced(
    std::string text,
    const std::vector<std::pair<std::string, std::string>> &words) {
  for (const auto &[word, with] : words)
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos;
         at += with.size())
      text.replace(at, word.size(), with);
  return text;
}

mlir::OwningOpRef<mlir::ModuleOp>
conversiontest::lowerFragments(const std::string &text,
                               const std::string &symbol, unsigned operands,
                               mlir::MLIRContext &context) {
  auto source = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  auto handler =
      source ? source->lookupSymbol<mlir::func::FuncOp>(symbol) : nullptr;
  if (!handler) {
    ADD_FAILURE() << "no function '" << symbol << "' in the text";
    return nullptr;
  }
  mlir::df::HandlerFunction function;
  function.symbol = symbol;
  function.body = &handler.getBody();
  function.operands = operands;
  function.outputs = 1;
  function.fragments = true;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  if (failed(mlir::df::convertHandlersToLLVM(
          {function}, mlir::df::HandlerTarget::device, *module))) {
    ADD_FAILURE() << "'" << symbol << "' is not lowered";
    return nullptr;
  }
  addRun(*module, symbol, context);
  return module;
}

void conversiontest::addRun(mlir::ModuleOp module, const std::string &symbol,
                            mlir::MLIRContext &context) {
  auto wrapper =
      mlir::parseSourceString<mlir::ModuleOp>(replaced(R"mlir(
llvm.func @SYMBOL(!llvm.ptr)
llvm.func @run(%packed: !llvm.ptr) {
  llvm.call @SYMBOL(%packed) : (!llvm.ptr) -> ()
  llvm.return
}
)mlir",
                                                       {{"SYMBOL", symbol}}),
                                              &context);
  wrapper->lookupSymbol("run")->moveBefore(module.getBody(),
                                           module.getBody()->end());
}

conversiontest::RunFunction
conversiontest::findRun(mlir::ExecutionEngine &engine) {
  auto address = engine.lookup("run");
  if (!address) {
    ADD_FAILURE() << llvm::toString(address.takeError());
    return nullptr;
  }
  return reinterpret_cast<RunFunction>(*address);
}
