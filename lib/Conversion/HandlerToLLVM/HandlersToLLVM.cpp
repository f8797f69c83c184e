//===- HandlersToLLVM.cpp - The pass dataflow-handlers-to-llvm ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Conversion/Passes.h"
#include "dataflow/Conversion/ProgramFunctions.h"
#include "dataflow/Transforms/ProgramImport.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"

namespace mlir::df {
#define GEN_PASS_DEF_HANDLERSTOLLVM
#include "dataflow/Conversion/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;

/// The threads of a block as compute threads.
static constexpr StringLiteral kThreads = R"mlir(
llvm.func internal @dfk_thread() -> i32 attributes {always_inline} {
  %0 = nvvm.read.ptx.sreg.tid.x : i32
  llvm.return %0 : i32
}
llvm.func internal @dfk_threads() -> i32 attributes {always_inline} {
  %0 = nvvm.read.ptx.sreg.ntid.x : i32
  llvm.return %0 : i32
}
llvm.func internal @dfk_sync() attributes {always_inline, convergent} {
  nvvm.barrier
  llvm.return
}
)mlir";

/// A kernel that calls the function `symbol`.
static void addEntry(OpBuilder &builder, Location loc, StringRef symbol) {
  MLIRContext *context = builder.getContext();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                          LLVM::LLVMPointerType::get(context));
  auto entry =
      LLVM::LLVMFuncOp::create(builder, loc, (symbol + "$entry").str(), type);
  entry->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                 builder.getUnitAttr());
  OpBuilder::InsertionGuard guard(builder);
  Block *block = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  LLVM::CallOp::create(builder, loc, TypeRange(), symbol,
                       ValueRange(block->getArgument(0)));
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

namespace {
struct HandlersToLLVM : df::impl::HandlersToLLVMBase<HandlersToLLVM> {
  using HandlersToLLVMBase::HandlersToLLVMBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerHandlerToLLVMDialects(registry);
    registry.insert<gpu::GPUDialect, NVVM::NVVMDialect>();
  }

  LogicalResult convert(ProgramOp program, HandlerTarget handlerTarget) {
    FailureOr<dfrt::Program> planned = importProgram(program);
    if (failed(planned))
      return failure();
    ProgramFunctions list(program, *planned);
    FailureOr<std::vector<HandlerFunction>> functions =
        list.collect(/*genericOnly=*/false);
    if (failed(functions))
      return failure();

    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(program);
    Location loc = program.getLoc();
    std::string name = (program.getSymName() + "_handlers").str();
    bool device = handlerTarget == HandlerTarget::device;
    Operation *module =
        device ? gpu::GPUModuleOp::create(builder, loc, name).getOperation()
               : ModuleOp::create(builder, loc, name).getOperation();
    Block *block = &module->getRegion(0).front();
    if (device && failed(parseSourceString(kThreads, block, &getContext())))
      return failure();
    FailureOr<std::vector<HandlerFunctionInfo>> infos =
        convertHandlersToLLVM(*functions, handlerTarget, module);
    if (failed(infos))
      return failure();
    SmallVector<NamedAttribute> scratch;
    SmallVector<Attribute> remarks;
    builder.setInsertionPointToEnd(block);
    for (const HandlerFunctionInfo &info : *infos) {
      scratch.push_back(builder.getNamedAttr(
          info.symbol, builder.getI64IntegerAttr(info.scratchBytes)));
      for (const std::string &remark : info.remarks)
        remarks.push_back(builder.getStringAttr(info.symbol + ": " + remark));
      if (device)
        addEntry(builder, loc, info.symbol);
    }
    module->setAttr("dataflow.scratch_bytes",
                    builder.getDictionaryAttr(scratch));
    module->setAttr("dataflow.remarks", builder.getArrayAttr(remarks));
    return success();
  }

  void runOnOperation() override {
    std::optional<HandlerTarget> chosen =
        llvm::StringSwitch<std::optional<HandlerTarget>>(target)
            .Case("device", HandlerTarget::device)
            .Case("cpu", HandlerTarget::cpu)
            .Default(std::nullopt);
    if (!chosen) {
      emitError(getOperation().getLoc(), "no target '")
          << target << "', expected device or cpu";
      return signalPassFailure();
    }
    SmallVector<ProgramOp> programs;
    getOperation()->walk(
        [&](ProgramOp program) { programs.push_back(program); });
    for (ProgramOp program : programs)
      if (failed(convert(program, *chosen)))
        return signalPassFailure();
    for (ProgramOp program : programs)
      program.erase();
  }
};
} // namespace
