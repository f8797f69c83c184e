//===- PartsToLLVM.cpp - Show what becomes of the parts of a kernel -------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Conversion/Passes.h"
#include "dataflow/Conversion/ProgramFunctions.h"
#include "dataflow/Conversion/StreamLowering.h"
#include "dataflow/Schedule/Following.h"
#include "dataflow/Transforms/ProgramImport.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::df {
#define GEN_PASS_DEF_PARTSTOLLVM
#include "dataflow/Conversion/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;

static LogicalResult convertParts(ProgramOp program, KernelOp kernel) {
  FailureOr<dfrt::Program> planned = importProgram(program);
  if (failed(planned))
    return failure();
  ProgramFunctions list(program, *planned);
  FailureOr<std::vector<HandlerFunction>> handlers =
      list.collect(/*genericOnly=*/false);
  if (failed(handlers))
    return failure();
  RingLayout layout = layoutRings(kernel, 0, kernel.getRingBytes());
  PartFunctions parts(kernel, layout, placeMaps(*planned));
  std::vector<HandlerFunction> functions;
  for (auto [number, op] : llvm::enumerate(program.getStages())) {
    const dfrt::Stage &stage = planned->stages[number];
    if (stage.kind == dfrt::StageKind::reshard)
      continue;
    uint32_t following = dfrt::findFollowing(*planned, number);
    for (HandlerVariant &variant : getVariants(op, stage.separable))
      for (PartRole role : {PartRole::load, PartRole::compute}) {
        PartOp part = kernel.getPart(variant.handler.getHandlerName(), role);
        if (!part)
          continue;
        auto handler =
            llvm::find_if(*handlers, [&](const HandlerFunction &function) {
              return function.symbol == variant.variant.symbol;
            });
        FailureOr<HandlerFunction> function =
            parts.lower(part, *handler, following);
        if (failed(function))
          return failure();
        functions.push_back(*function);
      }
  }
  OpBuilder builder(program.getContext());
  builder.setInsertionPointAfter(program);
  auto module = gpu::GPUModuleOp::create(
      builder, kernel.getLoc(),
      (program.getSymName() + "_" + kernel.getSymName()).str());
  SmallVector<int64_t> alignment;
  for (uint32_t bytes : fillAlignment(program, kernel))
    alignment.push_back(bytes);
  module->setAttr("dataflow.argument_alignment",
                  builder.getDenseI64ArrayAttr(alignment));
  SmallVector<Attribute> maps;
  for (const dfrt::TensorMapSpec &map : parts.getMaps())
    maps.push_back(describeMap(builder, map));
  if (!maps.empty())
    module->setAttr("dataflow.maps", builder.getArrayAttr(maps));
  return convertHandlersToLLVM(functions, HandlerTarget::device, module);
}

namespace {
struct PartsToLLVM : df::impl::PartsToLLVMBase<PartsToLLVM> {
  using PartsToLLVMBase::PartsToLLVMBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerHandlerToLLVMDialects(registry);
    registry.insert<gpu::GPUDialect>();
  }

  void runOnOperation() override {
    SmallVector<KernelOp> kernels;
    getOperation()->walk([&](KernelOp kernel) { kernels.push_back(kernel); });
    for (KernelOp kernel : kernels)
      if (failed(convertParts(kernel->getParentOfType<ProgramOp>(), kernel)))
        return signalPassFailure();
  }
};
} // namespace
