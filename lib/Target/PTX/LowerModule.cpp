//===- LowerModule.cpp - A device module in the LLVM dialect --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The target is attached to a copy of the gpu.module first, so that operations
// which know what chip they need say so themselves; the passes then run on a
// builtin.module, since the lowering of cf is restricted to that.
//
//===----------------------------------------------------------------------===//

#include "Stages.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVM/NVVM/Target.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

static constexpr StringRef kLayout = "llvm.data_layout";
static constexpr StringRef kTriple = "llvm.target_triple";

void df::registerPTXTargetDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                  func::FuncDialect, index::IndexDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, nvgpu::NVGPUDialect,
                  scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  // These also bring the gpu and nvvm dialects, whose headers are heavy.
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  NVVM::registerNVVMTargetInterfaceExternalModels(registry);
}

/// L2: a layout that differs would have decided things already.
static LogicalResult checkLayout(Operation *module,
                                 const df::PTXOptions &options) {
  std::pair<StringRef, std::string> expected[] = {
      {kLayout, df::ptx::dataLayout(options)},
      {kTriple, df::ptx::triple().str()}};
  for (auto &[name, value] : expected)
    if (auto found = module->getAttrOfType<StringAttr>(name);
        found && !found.getValue().empty() && found.getValue() != value)
      return emitError(module->getLoc(), "[L2] ")
             << name << " is \"" << found.getValue() << "\", but the target's"
             << " is \"" << value << "\"; leave it out, it is set here";
  return success();
}

/// A gpu.module for the chip with copies of what `module` holds, alone in a
/// builtin.module.
static FailureOr<OwningOpRef<ModuleOp>>
copyWithTarget(Operation *module, const df::PTXOptions &options) {
  MLIRContext *context = module->getContext();
  std::string text = "#nvvm.target<chip = \"" + options.chip + "\"";
  if (!options.features.empty())
    text += ", features = \"" + options.features + "\"";
  Attribute target = parseAttribute(text + ">", context);
  if (!target)
    return emitError(module->getLoc(), "no target for chip '")
           << options.chip << "' with features '" << options.features << "'";
  OwningOpRef<ModuleOp> root = ModuleOp::create(module->getLoc());
  OpBuilder builder = OpBuilder::atBlockBegin(root->getBody());
  auto name =
      module->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
  OperationState state(module->getLoc(), "gpu.module");
  state.addAttribute(SymbolTable::getSymbolAttrName(),
                     name ? name : builder.getStringAttr("device"));
  state.addAttribute("targets", builder.getArrayAttr(target));
  state.addRegion()->emplaceBlock();
  Block &body = builder.create(state)->getRegion(0).front();
  builder.setInsertionPointToStart(&body);
  for (Operation &op : module->getRegion(0).front())
    builder.clone(op);
  if (failed(verify(*root)))
    return failure();
  return root;
}

static LogicalResult checkLowered(ModuleOp module) {
  WalkResult result = module.walk([&](Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    if (op == module || dialect == "llvm" || dialect == "nvvm")
      return WalkResult::advance();
    emitError(op->getLoc(), "'")
        << op->getName() << "' cannot be compiled to PTX";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

FailureOr<OwningOpRef<ModuleOp>>
df::ptx::lowerToLLVMDialect(Operation *module, const PTXOptions &options) {
  if (failed(checkLayout(module, options)))
    return failure();
  FailureOr<OwningOpRef<ModuleOp>> copy = copyWithTarget(module, options);
  if (failed(copy))
    return failure();
  ModuleOp root = **copy;
  Operation &device = root.getBody()->front();
  root.getBody()->getOperations().splice(
      root.getBody()->end(), device.getRegion(0).front().getOperations());
  device.erase();
  Builder builder(module->getContext());
  root->setAttr(kLayout, builder.getStringAttr(dataLayout(options)));
  root->setAttr(kTriple, builder.getStringAttr(triple()));

  bool nvgpu = false;
  root.walk([&](Operation *op) {
    nvgpu |= op->getName().getDialectNamespace() == "nvgpu";
  });
  PassManager manager(module->getContext());
  // Before scf becomes blocks, whose arguments would keep nvgpu's types.
  if (nvgpu)
    manager.addPass(createConvertNVGPUToNVVMPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertNVVMToLLVMPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createUBToLLVMConversionPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  if (failed(manager.run(root)) || failed(checkLowered(root)))
    return failure();
  return copy;
}
