//===- PlaceBarriers.cpp - Barriers between dependent operations ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A forward dataflow analysis over structured control flow. Its state is the
// set of accesses that some thread may have made since the last barrier; an
// operation with an access that conflicts with one of them gets a barrier in
// front of it. Two accesses conflict if one of them writes, they may touch the
// same memory, and they may come from different threads. They come from the
// same thread if both are made by the first one, or if iteration i of the
// parallel loops touches the same element in both.
//
// Giving back a stage of a ring needs no barrier: each warp gives it for itself
// when its own reads are over, nobody here writes to the stage, and it tells
// nothing of other memory.
//
// Loops are gone through until the state at their head no longer grows; a
// decision once taken stays. Control flow is the same for all threads, so that
// a barrier may stand anywhere.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <set>

using namespace mlir;

namespace {

/// A piece of memory that overlaps no other: a buffer, or a field of a record.
/// Without `pointer`, it may be any.
struct Root {
  void *pointer = nullptr;
  int64_t offset = 0;

  bool operator<(const Root &other) const {
    return std::tie(pointer, offset) < std::tie(other.pointer, other.offset);
  }
  bool mayBe(const Root &other) const {
    return !pointer || !other.pointer ||
           (pointer == other.pointer && offset == other.offset);
  }
};

/// Which element iteration i touches: equal ones are equal functions of i, if
/// `view` is known.
struct Elements {
  const void *view = nullptr;    ///< a memref that is the same everywhere
  const void *map = nullptr;     ///< from the parallel loops to its indices
  const void *extents = nullptr; ///< of the parallel loops

  auto tie() const { return std::tie(view, map, extents); }
};

struct Access {
  Root root;
  bool writes = false;
  bool first = false; ///< by the first thread only
  Elements elements;

  auto tie() const { return std::tie(writes, first); }
  bool operator<(const Access &other) const {
    return std::make_tuple(root, tie(), elements.tie()) <
           std::make_tuple(other.root, other.tie(), other.elements.tie());
  }
  bool sameThread(const Access &other) const {
    return (first && other.first) ||
           (elements.view && elements.tie() == other.elements.tie());
  }
  bool conflicts(const Access &other) const {
    return (writes || other.writes) && !sameThread(other) &&
           root.mayBe(other.root);
  }
};

using State = std::set<Access>;

class BarrierPlacement {
public:
  explicit BarrierPlacement(func::FuncOp function) : function(function) {}
  LogicalResult run();

private:
  LogicalResult visitBlock(Block &block, State &state);
  LogicalResult visitRegions(Operation *op, State &state);
  LogicalResult visitLoop(Operation *op, State &state);
  LogicalResult collect(Operation *op, SmallVectorImpl<Access> &accesses);
  void visitAccesses(Operation *op, ArrayRef<Access> accesses, State &state);

  /// Adds an access to each piece of memory that `memref` may be in.
  void add(Value memref, bool writes, bool first,
           SmallVectorImpl<Access> &accesses, Elements elements = {});
  Elements elementsOf(linalg::LinalgOp op, OpOperand &operand);
  void addPointer(Value pointer, Access access,
                  SmallVectorImpl<Access> &accesses);

  func::FuncOp function;
  llvm::SetVector<Operation *> barriers; ///< operations that get one in front
};

} // namespace

/// The aligned pointer of the descriptor `value`.
static Value pointerOfDescriptor(Value value) {
  while (auto insert = value.getDefiningOp<LLVM::InsertValueOp>()) {
    if (insert.getPosition() == ArrayRef<int64_t>{1})
      return insert.getValue();
    value = insert.getContainer();
  }
  return Value();
}

void BarrierPlacement::addPointer(Value pointer, Access access,
                                  SmallVectorImpl<Access> &accesses) {
  // Offsets of fields are constants; fields do not overlap.
  if (auto field = pointer.getDefiningOp<LLVM::GEPOp>();
      field && field.getDynamicIndices().empty() &&
      field.getRawConstantIndices().size() == 1 &&
      field.getElemType().isInteger(8)) {
    access.root.offset = field.getRawConstantIndices().front();
    pointer = field.getBase();
  }
  auto argument = dyn_cast<BlockArgument>(pointer);
  if (argument && argument.getOwner() == &function.front()) {
    if (function.getArgAttr(argument.getArgNumber(), df::handlers::kReadOnly) &&
        !access.writes)
      return;
    access.root.pointer = pointer.getAsOpaquePointer();
  } else if (pointer.getDefiningOp<func::CallOp>()) {
    access.root.pointer = pointer.getAsOpaquePointer();
  }
  accesses.push_back(access);
}

Elements BarrierPlacement::elementsOf(linalg::LinalgOp op, OpOperand &operand) {
  // A view made within a loop is another one in each iteration.
  if (operand.get().getParentBlock() != &function.front() ||
      df::handlers::sharedOutput(op))
    return {};
  // In terms of the loops that Distribution counts.
  SmallVector<int64_t> ranges = op.getStaticLoopRanges(), extents;
  auto kinds = op.getIteratorTypesArray();
  MLIRContext *context = op->getContext();
  SmallVector<AffineExpr> dims;
  for (auto [range, kind] : llvm::zip(ranges, kinds)) {
    if (kind != utils::IteratorType::parallel) {
      dims.push_back(AffineExpr());
    } else if (range == 1) {
      dims.push_back(getAffineConstantExpr(0, context));
    } else if (ShapedType::isDynamic(range)) {
      return {};
    } else {
      dims.push_back(getAffineDimExpr(extents.size(), context));
      extents.push_back(range);
    }
  }
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (unsigned dim = 0; dim < map.getNumDims(); ++dim) {
    if (!dims[dim] && map.isFunctionOfDim(dim))
      return {};
    if (!dims[dim])
      dims[dim] = getAffineConstantExpr(0, context);
  }
  map = map.replaceDimsAndSymbols(dims, {}, extents.size(), 0);
  return {operand.get().getAsOpaquePointer(), map.getAsOpaquePointer(),
          DenseI64ArrayAttr::get(context, extents).getAsOpaquePointer()};
}

void BarrierPlacement::add(Value memref, bool writes, bool first,
                           SmallVectorImpl<Access> &accesses,
                           Elements elements) {
  Access access;
  access.elements = elements;
  access.writes = writes;
  access.first = first;
  SmallVector<Value> pending{memref};
  DenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (!loop) {
        accesses.push_back(access);
        continue;
      }
      unsigned number = argument.getArgNumber() - 1;
      pending.push_back(loop.getInitArgs()[number]);
      pending.push_back(loop.getYieldedValues()[number]);
      continue;
    }
    Operation *op = value.getDefiningOp();
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op);
        cast && cast.getNumOperands() == 1) {
      if (Value pointer = pointerOfDescriptor(cast.getOperand(0)))
        addPointer(pointer, access, accesses);
      else
        accesses.push_back(access);
    } else if (auto view = dyn_cast<ViewLikeOpInterface>(op)) {
      pending.push_back(view.getViewSource());
    } else if (isa<memref::GetGlobalOp>(op)) {
      // A constant.
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      pending.push_back(loop.getInitArgs()[number]);
      pending.push_back(loop.getYieldedValues()[number]);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      pending.push_back(branch.thenYield().getOperand(number));
      pending.push_back(branch.elseYield().getOperand(number));
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      pending.push_back(select.getTrueValue());
      pending.push_back(select.getFalseValue());
    } else {
      accesses.push_back(access);
    }
  }
}

/// What `op` itself accesses, with the bodies of structured operations.
LogicalResult BarrierPlacement::collect(Operation *op,
                                        SmallVectorImpl<Access> &accesses) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    for (OpOperand *input : linalgOp.getDpsInputOperands())
      if (isa<MemRefType>(input->get().getType()))
        add(input->get(), false, false, accesses, elementsOf(linalgOp, *input));
    for (OpOperand &init : linalgOp.getDpsInitsMutable())
      add(init.get(), true, false, accesses, elementsOf(linalgOp, init));
    WalkResult nested = op->walk([&](Operation *inner) {
      if (auto load = dyn_cast<memref::LoadOp>(inner))
        add(load.getMemRef(), false, false, accesses);
      else if (inner != op && !isMemoryEffectFree(inner) &&
               !inner->hasTrait<OpTrait::IsTerminator>() &&
               !inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
        return inner->emitOpError("cannot be compiled for the device within a "
                                  "structured operation"),
               WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(nested.wasInterrupted());
  }
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    add(load.getMemRef(), false, false, accesses);
    return success();
  }
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    add(store.getMemRef(), true, true, accesses);
    return success();
  }
  if (isMemoryEffectFree(op) || op->hasTrait<OpTrait::IsTerminator>())
    return success();
  return op->emitOpError("cannot be compiled for the device");
}

void BarrierPlacement::visitAccesses(Operation *op, ArrayRef<Access> accesses,
                                     State &state) {
  bool needed = barriers.contains(op);
  for (const Access &access : accesses)
    for (const Access &earlier : state)
      needed |= access.conflicts(earlier);
  if (needed) {
    barriers.insert(op);
    state.clear();
  }
  state.insert(accesses.begin(), accesses.end());
}

LogicalResult BarrierPlacement::visitLoop(Operation *op, State &state) {
  // The regions of scf.while follow each other; a loop may end after any.
  State head = state;
  while (true) {
    State next = head;
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        if (failed(visitBlock(block, next)))
          return failure();
        if (isa<scf::WhileOp>(op))
          state.insert(next.begin(), next.end());
      }
    size_t before = head.size();
    head.insert(next.begin(), next.end());
    if (head.size() == before)
      break;
  }
  state.insert(head.begin(), head.end());
  return success();
}

LogicalResult BarrierPlacement::visitRegions(Operation *op, State &state) {
  if (isa<LoopLikeOpInterface>(op))
    return visitLoop(op, state);
  State result = state;
  for (Region &region : op->getRegions()) {
    State branch = state;
    for (Block &block : region)
      if (failed(visitBlock(block, branch)))
        return failure();
    result.insert(branch.begin(), branch.end());
  }
  state = std::move(result);
  return success();
}

LogicalResult BarrierPlacement::visitBlock(Block &block, State &state) {
  for (Operation &op : block) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      StringRef callee = call.getCallee();
      if (callee == "dfk_sync") {
        state.clear();
      } else if (callee != "dfk_take" && callee != "dfk_give" &&
                 !state.empty()) {
        // Others must find everything done; what they do is ordered by them.
        barriers.insert(&op);
      }
      if (barriers.contains(&op))
        state.clear();
      continue;
    }
    if (op.getNumRegions() != 0 && !isa<linalg::LinalgOp>(op)) {
      if (failed(visitRegions(&op, state)))
        return failure();
      continue;
    }
    SmallVector<Access> accesses;
    if (failed(collect(&op, accesses)))
      return failure();
    visitAccesses(&op, accesses, state);
  }
  return success();
}

LogicalResult BarrierPlacement::run() {
  State state;
  if (failed(visitBlock(function.front(), state)))
    return failure();
  for (Operation *op : barriers) {
    OpBuilder builder(op);
    func::CallOp::create(builder, op->getLoc(), "dfk_sync", TypeRange());
  }
  return success();
}

LogicalResult df::handlers::placeBarriers(func::FuncOp function) {
  return BarrierPlacement(function).run();
}

LogicalResult df::handlers::checkLoadRole(func::FuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    if (!isa<linalg::LinalgOp, memref::StoreOp>(op))
      return WalkResult::advance();
    op->emitOpError("stands in code that only loads");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
