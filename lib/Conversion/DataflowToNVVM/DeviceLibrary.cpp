//===- DeviceLibrary.cpp - The functions of device/*.mlir -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::df;

/// The text of all files, one behind the other.
static constexpr char kLibrary[] =
#include "DeviceLibrary.inc"
    ;

LogicalResult nvvm::insertDeviceLibrary(Operation *module) {
  ParserConfig config(module->getContext(), /*verifyAfterParse=*/false);
  OwningOpRef<ModuleOp> library =
      parseSourceString<ModuleOp>(StringRef(kLibrary), config, "device");
  if (!library)
    return failure();
  Block &body = module->getRegion(0).front();
  body.getOperations().splice(body.end(), library->getBody()->getOperations());
  // Positions in the library's text help nobody who reads a diagnostic.
  module->walk([&](Operation *op) {
    if (op != module)
      op->setLoc(module->getLoc());
  });
  return success();
}

void nvvm::defineFact(Operation *module, StringRef name, Type type,
                      int64_t value) {
  // Handlers may have declared it.
  if (Operation *declared = SymbolTable::lookupSymbolIn(module, name))
    declared->erase();
  OpBuilder builder(module->getContext());
  builder.setInsertionPointToEnd(&module->getRegion(0).front());
  Location loc = module->getLoc();
  auto function = LLVM::LLVMFuncOp::create(
      builder, loc, name, LLVM::LLVMFunctionType::get(type, {}),
      LLVM::Linkage::Internal);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  Value constant = arith::ConstantIntOp::create(builder, loc, type, value);
  LLVM::ReturnOp::create(builder, loc, constant);
}

static bool isKernel(LLVM::LLVMFuncOp function) {
  return function->hasAttr("nvvm.kernel");
}

static void removeUnused(Operation *module) {
  bool changed = true;
  while (changed) {
    changed = false;
    llvm::StringSet<> used;
    module->walk([&](Operation *op) {
      if (auto call = dyn_cast<LLVM::CallOp>(op)) {
        if (call.getCallee())
          used.insert(*call.getCallee());
      } else if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
        used.insert(address.getGlobalName());
      }
    });
    for (Operation &op :
         llvm::make_early_inc_range(module->getRegion(0).front())) {
      auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
      if (!function || isKernel(function) || used.contains(function.getName()))
        continue;
      op.erase();
      changed = true;
    }
  }
}

void nvvm::finishModule(Operation *module) {
  removeUnused(module);
  Builder builder(module->getContext());
  for (auto function : module->getRegion(0).getOps<LLVM::LLVMFuncOp>()) {
    function.setConvergent(true);
    if (isKernel(function) || function.isExternal())
      continue;
    function.setAlwaysInline(true);
    function.setLinkage(LLVM::Linkage::Internal);
  }
}
