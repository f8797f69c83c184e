//===- LowerToLLVM.cpp - Loops and memrefs to the LLVM dialect ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

/// Functions that LLVM has no intrinsic for, or whose intrinsic MLIR would
/// approximate, become calls of libm. All others are left for LLVM. A power
/// with an integer exponent would call the compiler's support library: it fails
/// here.
static LogicalResult callLibm(ModuleOp module) {
  ConversionTarget target(*module.getContext());
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addIllegalOp<math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp,
                      math::AtanOp, math::Atan2Op, math::AtanhOp, math::CbrtOp,
                      math::CosOp, math::CoshOp, math::ErfOp, math::ErfcOp,
                      math::ExpM1Op, math::FPowIOp, math::Log1pOp, math::SinOp,
                      math::SinhOp, math::TanOp, math::TanhOp>();
  RewritePatternSet patterns(module.getContext());
  populateMathToLibmConversionPatterns(patterns);
  return applyPartialConversion(module, target, std::move(patterns));
}

static LogicalResult expandArithmetic(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  df::handlers::populateExpandFloatConversionPatterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

/// bf16 values that are only moved become 16-bit integers: where LLVM keeps one
/// in a register it may otherwise round it again, with a call.
static void moveBFloatsAsIntegers(ModuleOp module) {
  Type i16 = IntegerType::get(module.getContext(), 16);
  module.walk([&](Operation *op) {
    if (auto constant = dyn_cast<LLVM::ConstantOp>(op))
      if (auto value = dyn_cast<FloatAttr>(constant.getValue());
          value && value.getType().isBF16())
        constant.setValueAttr(
            IntegerAttr::get(i16, value.getValue().bitcastToAPInt()));
    for (OpResult result : op->getResults())
      if (result.getType().isBF16())
        result.setType(i16);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (argument.getType().isBF16())
            argument.setType(i16);
  });
}

/// Reports that `op` has no lowering.
static void refuse(Operation *op, StringRef targetName) {
  auto error = op->emitOpError("cannot be compiled for the ") << targetName;
  if (op->getNumResults() == 1)
    error << " on type " << op->getResult(0).getType();
  if (auto function = op->getParentOfType<FunctionOpInterface>())
    error << ", in '" << function.getName().split("$body").first << "'";
}

static LogicalResult checkLowered(ModuleOp module, StringRef targetName) {
  WalkResult result = module.walk([&](Operation *op) {
    if (op == module || isa<UnrealizedConversionCastOp>(op) ||
        isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()))
      return WalkResult::advance();
    refuse(op, targetName);
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// The code generator for the device aborts on intrinsics that would become
/// calls of a library.
static LogicalResult checkDeviceIntrinsics(ModuleOp module) {
  static const llvm::StringSet<> anyType = {"abs",
                                            "assume",
                                            "bitreverse",
                                            "bswap",
                                            "copysign",
                                            "ctlz",
                                            "ctpop",
                                            "cttz",
                                            "fabs",
                                            "fma",
                                            "fmuladd",
                                            "ceil",
                                            "floor",
                                            "trunc",
                                            "rint",
                                            "nearbyint",
                                            "round",
                                            "roundeven",
                                            "minnum",
                                            "maxnum",
                                            "minimum",
                                            "maximum",
                                            "sqrt",
                                            "smax",
                                            "smin",
                                            "umax",
                                            "umin",
                                            "fshl",
                                            "fshr",
                                            "is.fpclass",
                                            "memcpy",
                                            "memset",
                                            "memmove",
                                            "sadd.sat",
                                            "uadd.sat",
                                            "ssub.sat",
                                            "usub.sat",
                                            "sadd.with.overflow",
                                            "uadd.with.overflow",
                                            "smul.with.overflow",
                                            "umul.with.overflow",
                                            "ssub.with.overflow",
                                            "usub.with.overflow"};
  WalkResult result = module.walk([&](Operation *op) {
    StringRef name = op->getName().getStringRef();
    bool known = true;
    if (name.consume_front("llvm.intr.")) {
      known = anyType.contains(name);
      if (name == "exp2")
        known = op->getResult(0).getType().isF32();
    } else if (isa<LLVM::FRemOp>(op)) {
      known = false;
    }
    if (known)
      return WalkResult::advance();
    refuse(op, df::handlers::targetName(df::HandlerTarget::device));
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult df::handlers::lowerToLLVMDialect(ModuleOp module,
                                               HandlerTarget target) {
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"f16", "bf16", "f8E4M3FN", "f8E5M2"};
  emulate.targetTypeStr = "f32";
  PassManager toLoops(module.getContext());
  toLoops.addPass(createConvertLinalgToLoopsPass());
  toLoops.addPass(createCanonicalizerPass());
  toLoops.addPass(createCSEPass());
  toLoops.addPass(memref::createExpandStridedMetadataPass());
  toLoops.addPass(createLowerAffinePass());
  toLoops.addPass(math::createMathExtendToSupportedTypes());
  toLoops.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  if (failed(toLoops.run(module)))
    return failure();

  StringRef name = targetName(target);
  WalkResult asserts = module.walk([&](cf::AssertOp op) {
    op.emitOpError("cannot be compiled for the ")
        << name << ": code has no way to report";
    return WalkResult::interrupt();
  });
  bool device = target == HandlerTarget::device;
  if (asserts.wasInterrupted() ||
      failed(device ? expandDeviceMath(module) : callLibm(module)) ||
      failed(expandArithmetic(module)))
    return failure();

  PassManager toLLVM(module.getContext());
  toLLVM.addPass(createCanonicalizerPass());
  toLLVM.addPass(createSCFToControlFlowPass());
  // Before arith: a memref.dim whose number is no arith.constant any more would
  // put the sizes on the stack, to index them.
  toLLVM.addPass(createFinalizeMemRefToLLVMConversionPass());
  toLLVM.addPass(createConvertMathToLLVMPass());
  toLLVM.addPass(createArithToLLVMConversionPass());
  toLLVM.addPass(createConvertIndexToLLVMPass());
  toLLVM.addPass(createConvertFuncToLLVMPass());
  toLLVM.addPass(createConvertControlFlowToLLVMPass());
  toLLVM.addPass(createUBToLLVMConversionPass());
  if (failed(toLLVM.run(module)) || failed(checkLowered(module, name)))
    return failure();
  PassManager cleanUp(module.getContext());
  cleanUp.addPass(createReconcileUnrealizedCastsPass());
  if (failed(cleanUp.run(module)))
    return failure();
  moveBFloatsAsIntegers(module);
  if (device && failed(checkDeviceIntrinsics(module)))
    return failure();
  return verify(module);
}
