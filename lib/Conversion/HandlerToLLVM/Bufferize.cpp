//===- Bufferize.cpp - Tensors to memory ----------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One-shot bufferization, then the form that planScratch needs: an allocation
// may be executed many times, but never with two of its buffers alive at once.
// One-shot bufferization lets a loop yield a new buffer each iteration; here
// the carried buffer is allocated in front of the loop and copied into instead.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

/// The buffer that `value` is: casts, and loops and branches that hand back the
/// buffer they were given, are looked through.
static Value resolveBuffer(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    Value next;
    if (auto cast = dyn_cast<memref::CastOp>(op)) {
      next = cast.getSource();
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      Value yielded = loop.getBody()->getTerminator()->getOperand(number);
      if (resolveBuffer(yielded) == loop.getRegionIterArg(number))
        next = loop.getInitArgs()[number];
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Value a = resolveBuffer(branch.thenYield().getOperand(number));
      if (a == resolveBuffer(branch.elseYield().getOperand(number)))
        next = a;
    }
    if (!next)
      return value;
    value = next;
  }
  return value;
}

/// Gives every buffer carried by `loop` one place for all iterations.
static LogicalResult fixCarriedBuffers(RewriterBase &rewriter,
                                       scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
    BlockArgument carried = loop.getRegionIterArg(i);
    auto type = dyn_cast<MemRefType>(carried.getType());
    Value yielded = yield.getOperand(i);
    if (!type || resolveBuffer(yielded) == carried)
      continue;
    if (!type.hasStaticShape())
      return loop.emitOpError("carries a tensor of dynamic size from one "
                              "iteration to the next");
    Location loc = loop.getLoc();
    rewriter.setInsertionPoint(loop);
    Value buffer = memref::AllocOp::create(
        rewriter, loc, MemRefType::get(type.getShape(), type.getElementType()));
    linalg::CopyOp::create(rewriter, loc, loop.getInitArgs()[i], buffer);
    Value view = buffer;
    if (buffer.getType() != type)
      view = memref::CastOp::create(rewriter, loc, type, buffer);
    // All reads of the carried buffer come before the copy: bufferization
    // yields a buffer of its own wherever the two could be the same.
    rewriter.setInsertionPoint(yield);
    linalg::CopyOp::create(rewriter, loc, yielded, buffer);
    rewriter.modifyOpInPlace(yield, [&] { yield.setOperand(i, carried); });
    rewriter.modifyOpInPlace(loop,
                             [&] { loop.getInitArgsMutable()[i].set(view); });
    rewriter.replaceAllUsesWith(carried, view);
    rewriter.replaceAllUsesWith(loop.getResult(i), view);
  }
  return success();
}

static LogicalResult checkNoTensors(ModuleOp module, StringRef targetName) {
  WalkResult result = module.walk([&](Operation *op) {
    auto isTensor = [](Type type) { return isa<TensorType>(type); };
    if (llvm::any_of(op->getOperandTypes(), isTensor) ||
        llvm::any_of(op->getResultTypes(), isTensor)) {
      op->emitOpError("cannot be compiled for the ")
          << targetName << ": it has no form on buffers";
      return WalkResult::interrupt();
    }
    if (isa<scf::WhileOp>(op) &&
        llvm::any_of(op->getOperandTypes(),
                     [](Type type) { return isa<MemRefType>(type); })) {
      op->emitOpError("cannot be compiled for the ")
          << targetName << ": it carries tensors; use scf.for";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult df::handlers::bufferizeFunctions(ModuleOp module,
                                               HandlerTarget target) {
  StringRef targetName = handlers::targetName(target);
  // Operations without a bufferization are named before the pass, whose own
  // message does not say what to do.
  WalkResult unsupported = module.walk([&](Operation *op) {
    auto isTensor = [](Type type) { return isa<TensorType>(type); };
    bool onTensors = llvm::any_of(op->getOperandTypes(), isTensor) ||
                     llvm::any_of(op->getResultTypes(), isTensor);
    if (onTensors && !isa<bufferization::BufferizableOpInterface>(op) &&
        !op->hasTrait<OpTrait::IsTerminator>()) {
      op->emitOpError("cannot be compiled for the ")
          << targetName << ": it has no form on buffers";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (unsupported.wasInterrupted())
    return failure();

  bufferization::OneShotBufferizePassOptions options;
  options.allowReturnAllocsFromLoops = true;
  options.bufferizeFunctionBoundaries = false;
  PassManager passes(module.getContext());
  passes.addPass(bufferization::createEmptyTensorEliminationPass());
  passes.addPass(bufferization::createOneShotBufferizePass(options));
  passes.addPass(createForallToForLoopPass());
  if (failed(passes.run(module)) || failed(checkNoTensors(module, targetName)))
    return failure();

  IRRewriter rewriter(module.getContext());
  SmallVector<scf::ForOp> loops;
  module.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    if (failed(fixCarriedBuffers(rewriter, loop)))
      return failure();

  SmallVector<memref::CopyOp> copies;
  module.walk([&](memref::CopyOp op) { copies.push_back(op); });
  for (memref::CopyOp op : copies) {
    rewriter.setInsertionPoint(op);
    if (op.getSource() == op.getTarget())
      rewriter.eraseOp(op);
    else
      rewriter.replaceOpWithNewOp<linalg::CopyOp>(op, op.getSource(),
                                                  op.getTarget());
  }
  PassManager cleanUp(module.getContext());
  cleanUp.addPass(createCanonicalizerPass());
  cleanUp.addPass(createCSEPass());
  cleanUp.addPass(createCanonicalizerPass());
  return cleanUp.run(module);
}
