//===- PlanScratch.cpp - Places for a function's buffers ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer lives from its allocation to the end of the last operation that
// contains a use of it or of a view of it, and lies in the innermost block that
// holds both: a branch may hand its buffer to what follows the branch.
// Operations are numbered in program order. Buffers with disjoint lifetimes
// share a region of the scratch memory; regions are disjoint, and each is a
// `noalias` argument of its own, so that LLVM need not compare addresses.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace {
struct Buffer {
  memref::AllocOp op;
  uint64_t bytes = 0;
  unsigned begin = 0, end = 0; ///< numbers of operations, both inclusive
};

struct ScratchRegion {
  uint64_t bytes = 0;
  unsigned end = 0; ///< last operation that needs it
  SmallVector<Buffer *> buffers;
};
} // namespace

static constexpr uint64_t kAlignment = 64;
/// Offsets are 32-bit constants in the code.
static constexpr uint64_t kMaximum = 0x7fffffff;

static uint64_t elementBytes(Type type) {
  if (type.isIndex())
    return 8;
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

/// Sizes and lifetimes of all allocations in `function`.
static LogicalResult collectBuffers(func::FuncOp function, StringRef targetName,
                                    SmallVectorImpl<Buffer> &buffers) {
  DenseMap<Operation *, unsigned> first, last;
  unsigned number = 0;
  std::function<void(Operation *)> count = [&](Operation *op) {
    first[op] = number++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &nested : block)
          count(&nested);
    last[op] = number;
  };
  count(function);

  BufferViewFlowAnalysis views(function);
  WalkResult result = function.walk([&](Operation *op) {
    if (isa<memref::AllocaOp, memref::ReallocOp>(op)) {
      op->emitOpError("cannot be compiled for the ") << targetName;
      return WalkResult::interrupt();
    }
    auto alloc = dyn_cast<memref::AllocOp>(op);
    if (!alloc)
      return WalkResult::advance();
    MemRefType type = alloc.getType();
    if (!type.hasStaticShape()) {
      op->emitError("a tensor of dynamic size needs a buffer here, which the ")
          << targetName
          << " code generator does not allocate; make its shape static ("
          << type.getShape().size() << " dimensions, type " << type << ")";
      return WalkResult::interrupt();
    }
    if (!type.getLayout().isIdentity()) {
      op->emitError("needs a buffer with a layout: ") << type;
      return WalkResult::interrupt();
    }
    Buffer buffer;
    buffer.op = alloc;
    uint64_t bytes = elementBytes(type.getElementType());
    for (int64_t extent : type.getShape()) {
      if (extent != 0 && bytes > kMaximum / extent) {
        op->emitError("a tensor of type ")
            << type << " needs more than " << kMaximum << " bytes of scratch";
        return WalkResult::interrupt();
      }
      bytes *= extent;
    }
    buffer.bytes = llvm::alignTo(std::max<uint64_t>(bytes, 1), kAlignment);
    buffer.begin = buffer.end = first[op];
    for (Value alias : views.resolve(alloc))
      for (Operation *user : alias.getUsers()) {
        Operation *atLevel = nullptr;
        for (Block *block = op->getBlock(); !atLevel;
             block = block->getParentOp()->getBlock())
          atLevel = block->findAncestorOpInBlock(*user);
        buffer.end = std::max(buffer.end, last[atLevel]);
      }
    buffers.push_back(buffer);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Gives each buffer the free region of the closest size, or a new one.
static std::vector<ScratchRegion>
assignRegions(MutableArrayRef<Buffer> buffers) {
  std::vector<ScratchRegion> regions;
  SmallVector<Buffer *> order;
  for (Buffer &buffer : buffers)
    order.push_back(&buffer);
  llvm::sort(order, [](const Buffer *a, const Buffer *b) {
    return a->begin < b->begin;
  });
  for (Buffer *buffer : order) {
    ScratchRegion *best = nullptr;
    auto waste = [&](const ScratchRegion &region) {
      return std::max(region.bytes, buffer->bytes) -
             std::min(region.bytes, buffer->bytes);
    };
    for (ScratchRegion &region : regions)
      if (region.end < buffer->begin && (!best || waste(region) < waste(*best)))
        best = &region;
    if (!best)
      best = &regions.emplace_back();
    best->bytes = std::max(best->bytes, buffer->bytes);
    best->end = buffer->end;
    best->buffers.push_back(buffer);
  }
  return regions;
}

FailureOr<uint64_t> df::handlers::planScratch(func::FuncOp function,
                                              func::CallOp call,
                                              unsigned scratchNumber,
                                              HandlerTarget target) {
  SmallVector<Buffer> buffers;
  if (failed(collectBuffers(function, targetName(target), buffers)))
    return failure();

  LLVMTypeConverter converter(function.getContext());
  OpBuilder outer(call), inner(function.getContext());
  inner.setInsertionPointToStart(&function.front());
  Value scratch = call.getOperand(scratchNumber);
  uint64_t total = 0;
  for (ScratchRegion &region : assignRegions(buffers)) {
    Location loc = region.buffers.front()->op.getLoc();
    Value base =
        LLVM::GEPOp::create(outer, loc, scratch.getType(), outer.getI8Type(),
                            scratch, ArrayRef<LLVM::GEPArg>{int32_t(total)});
    total += region.bytes;
    if (total > kMaximum)
      return function.emitError("needs ")
             << total << " bytes of scratch, the limit is " << kMaximum;
    unsigned number = function.getNumArguments();
    SmallVector<NamedAttribute> attributes{
        inner.getNamedAttr("llvm.align", inner.getI64IntegerAttr(kAlignment))};
    // See BuildFunctions.cpp.
    if (target != HandlerTarget::device)
      attributes.push_back(
          inner.getNamedAttr("llvm.noalias", inner.getUnitAttr()));
    if (failed(function.insertArgument(
            number, base.getType(), inner.getDictionaryAttr(attributes), loc)))
      return failure();
    call->insertOperands(number, base);
    for (Buffer *buffer : region.buffers) {
      Value descriptor = MemRefDescriptor::fromStaticShape(
          inner, loc, converter, buffer->op.getType(),
          function.getArgument(number));
      Value view = UnrealizedConversionCastOp::create(
                       inner, loc, buffer->op.getType(), descriptor)
                       .getResult(0);
      buffer->op.replaceAllUsesWith(view);
      buffer->op.erase();
    }
  }
  return total;
}
