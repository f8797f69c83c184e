//===- Distribute.cpp - Structured operations over threads ----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parallel loops of an operation become one loop over their linearised
// iteration space, in which thread t of n takes iterations t, t + n, ...; the
// innermost parallel loop varies fastest, so that neighbouring threads touch
// neighbouring elements where loops are ordered for unit strides. Reduction
// loops run within the thread, in order, and carry what they reduce.
//
// This asks that no two iterations of the parallel loops write one element. An
// operation where that cannot be seen from its maps runs on the first thread.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

/// Iteration spaces up to this size are counted in 32 bits: adding the number
/// of threads does not overflow.
static constexpr int64_t kMaximum32 = int64_t(1) << 30;

namespace {

class Distribution {
public:
  Distribution(func::FuncOp function, std::vector<std::string> &remarks)
      : rewriter(function.getContext()), function(function), remarks(remarks) {}

  LogicalResult run();

private:
  LogicalResult lower(linalg::GenericOp op);
  LogicalResult lowerOnFirst(linalg::GenericOp op);
  /// `body` on the first thread only.
  void onFirst(Location loc, function_ref<void()> body);

  /// Values of the loops of `op` for iteration `number` of the parallel ones.
  void delinearize(Location loc, Value number, ArrayRef<unsigned> loops,
                   ArrayRef<OpFoldResult> sizes, SmallVectorImpl<Value> &ivs);
  /// The reduction loops in `loops`, innermost the body; the reduced values.
  SmallVector<Value> reduce(linalg::GenericOp op, ArrayRef<unsigned> loops,
                            ArrayRef<OpFoldResult> sizes,
                            SmallVectorImpl<Value> &ivs,
                            SmallVector<Value> carried);
  SmallVector<Value> inlineBody(linalg::GenericOp op, ArrayRef<Value> ivs,
                                ArrayRef<Value> carried);
  SmallVector<Value> indices(linalg::GenericOp op, OpOperand *operand,
                             ArrayRef<Value> ivs);
  Value constant(Location loc, Type type, int64_t value) {
    return arith::ConstantOp::create(rewriter, loc, type,
                                     rewriter.getIntegerAttr(type, value));
  }
  Value threadCall(StringRef name);

  IRRewriter rewriter;
  func::FuncOp function;
  std::vector<std::string> &remarks;
  Value thread, threads;
};

} // namespace

Value Distribution::threadCall(StringRef name) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&function.front());
  return func::CallOp::create(rewriter, function.getLoc(), name,
                              TypeRange(rewriter.getI32Type()))
      .getResult(0);
}

void Distribution::onFirst(Location loc, function_ref<void()> body) {
  Value isFirst =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, thread,
                            constant(loc, rewriter.getI32Type(), 0));
  auto branch = scf::IfOp::create(rewriter, loc, isFirst,
                                  /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(branch.thenYield());
  body();
}

std::optional<std::string> df::handlers::sharedOutput(linalg::LinalgOp op) {
  auto kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    llvm::SmallBitVector seen(map.getNumDims());
    for (AffineExpr result : map.getResults()) {
      if (isa<AffineConstantExpr>(result))
        continue;
      auto dim = dyn_cast<AffineDimExpr>(result);
      if (!dim || kinds[dim.getPosition()] != utils::IteratorType::parallel)
        return "output " + std::to_string(number) +
               " is not indexed by parallel loops";
      seen.set(dim.getPosition());
    }
    for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
      if (kinds[loop] == utils::IteratorType::parallel && !seen[loop] &&
          ranges[loop] != 1)
        return "parallel loop " + std::to_string(loop) +
               " does not index output " + std::to_string(number);
  }
  return std::nullopt;
}

void Distribution::delinearize(Location loc, Value number,
                               ArrayRef<unsigned> loops,
                               ArrayRef<OpFoldResult> sizes,
                               SmallVectorImpl<Value> &ivs) {
  Type type = number.getType();
  auto toIndex = [&](Value value) -> Value {
    if (type.isIndex())
      return value;
    return arith::IndexCastUIOp::create(rewriter, loc, rewriter.getIndexType(),
                                        value);
  };
  for (unsigned i = loops.size(); i-- > 1;) {
    std::optional<int64_t> known = getConstantIntValue(sizes[loops[i]]);
    Value size =
        known ? constant(loc, type, *known) : cast<Value>(sizes[loops[i]]);
    ivs[loops[i]] =
        toIndex(arith::RemUIOp::create(rewriter, loc, number, size));
    number = arith::DivUIOp::create(rewriter, loc, number, size);
  }
  if (!loops.empty())
    ivs[loops[0]] = toIndex(number);
}

SmallVector<Value> Distribution::indices(linalg::GenericOp op,
                                         OpOperand *operand,
                                         ArrayRef<Value> ivs) {
  AffineMap map = op.getMatchingIndexingMap(operand);
  SmallVector<OpFoldResult> operands(ivs.begin(), ivs.end());
  SmallVector<Value> result;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    result.push_back(getValueOrCreateConstantIndexOp(
        rewriter, op.getLoc(),
        affine::makeComposedFoldedAffineApply(rewriter, op.getLoc(),
                                              map.getSubMap({i}), operands)));
  return result;
}

SmallVector<Value> Distribution::inlineBody(linalg::GenericOp op,
                                            ArrayRef<Value> ivs,
                                            ArrayRef<Value> carried) {
  Block *body = op.getBody();
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (argument.use_empty())
      continue;
    Value value = input->get();
    if (isa<MemRefType>(value.getType()))
      value = memref::LoadOp::create(rewriter, op.getLoc(), value,
                                     indices(op, input, ivs));
    mapping.map(argument, value);
  }
  for (auto [argument, value] : llvm::zip(op.getRegionOutputArgs(), carried))
    if (value)
      mapping.map(argument, value);
  for (Operation &inner : body->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(index.getResult(), ivs[index.getDim()]);
      continue;
    }
    Operation *copy = rewriter.clone(inner, mapping);
    copy->walk([&](linalg::IndexOp index) {
      rewriter.replaceOp(index, ivs[index.getDim()]);
    });
  }
  SmallVector<Value> results;
  for (Value value : body->getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

SmallVector<Value> Distribution::reduce(linalg::GenericOp op,
                                        ArrayRef<unsigned> loops,
                                        ArrayRef<OpFoldResult> sizes,
                                        SmallVectorImpl<Value> &ivs,
                                        SmallVector<Value> carried) {
  if (loops.empty())
    return inlineBody(op, ivs, carried);
  Location loc = op.getLoc();
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value size =
      getValueOrCreateConstantIndexOp(rewriter, loc, sizes[loops.front()]);
  auto loop = scf::ForOp::create(rewriter, loc, zero, size, one, carried);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  ivs[loops.front()] = loop.getInductionVar();
  SmallVector<Value> results =
      reduce(op, loops.drop_front(), sizes, ivs,
             llvm::to_vector_of<Value>(loop.getRegionIterArgs()));
  scf::YieldOp::create(rewriter, loc, results);
  return llvm::to_vector_of<Value>(loop.getResults());
}

LogicalResult Distribution::lower(linalg::GenericOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<OpFoldResult> sizes;
  for (Range range : cast<linalg::LinalgOp>(op.getOperation())
                         .createLoopRanges(rewriter, loc))
    sizes.push_back(range.size);

  SmallVector<unsigned> parallel, reduction;
  int64_t total = 1;
  Value product;
  SmallVector<Value> ivs(sizes.size());
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (kind != utils::IteratorType::parallel) {
      reduction.push_back(loop);
      continue;
    }
    std::optional<int64_t> known = getConstantIntValue(sizes[loop]);
    if (known && *known == 1) {
      ivs[loop] = arith::ConstantIndexOp::create(rewriter, loc, 0);
      continue;
    }
    parallel.push_back(loop);
    if (known && !llvm::MulOverflow(total, *known, total))
      continue;
    if (known)
      return op.emitOpError("has more than 2^63 iterations");
    Value size = cast<Value>(sizes[loop]);
    product =
        product
            ? arith::MulIOp::create(rewriter, loc, product, size).getResult()
            : size;
  }

  Type type = rewriter.getIndexType();
  Value first, bound, step;
  if (!product && total <= kMaximum32) {
    type = rewriter.getI32Type();
    first = thread;
    bound = constant(loc, type, total);
    step = threads;
  } else {
    auto toIndex = [&](Value value) {
      return arith::IndexCastUIOp::create(rewriter, loc, type, value);
    };
    first = toIndex(thread);
    step = toIndex(threads);
    bound = constant(loc, type, total);
    if (product)
      bound = arith::MulIOp::create(rewriter, loc, bound, product);
  }
  auto loop = scf::ForOp::create(rewriter, loc, first, bound, step);
  rewriter.setInsertionPoint(loop.getBody()->getTerminator());
  delinearize(loc, loop.getInductionVar(), parallel, sizes, ivs);

  SmallVector<Value> carried;
  SmallVector<SmallVector<Value>> places;
  for (auto [argument, init] :
       llvm::zip(op.getRegionOutputArgs(), op.getDpsInitsMutable())) {
    places.push_back(indices(op, &init, ivs));
    bool read = !argument.use_empty() || !reduction.empty();
    carried.push_back(
        read ? memref::LoadOp::create(rewriter, loc, init.get(), places.back())
                   .getResult()
             : Value());
  }
  SmallVector<Value> results =
      reduce(op, reduction, sizes, ivs, std::move(carried));
  for (auto [value, init, place] : llvm::zip(results, op.getDpsInits(), places))
    memref::StoreOp::create(rewriter, loc, value, init, place);
  rewriter.eraseOp(op);
  return success();
}

LogicalResult Distribution::lowerOnFirst(linalg::GenericOp op) {
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::LinalgLoops> loops = failure();
  onFirst(op.getLoc(), [&] {
    rewriter.moveOpBefore(op, rewriter.getInsertionBlock(),
                          rewriter.getInsertionPoint());
    rewriter.setInsertionPoint(op);
    loops = linalg::linalgOpToLoops(rewriter, op);
  });
  if (failed(loops))
    return op.emitOpError("cannot become loops");
  rewriter.eraseOp(op);
  return success();
}

LogicalResult Distribution::run() {
  SmallVector<linalg::LinalgOp> structured;
  SmallVector<memref::StoreOp> stores;
  function.walk([&](Operation *op) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      structured.push_back(linalgOp);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      stores.push_back(store);
  });
  if (structured.empty() && stores.empty())
    return success();
  threads = threadCall("dfk_threads");
  thread = threadCall("dfk_thread");

  for (memref::StoreOp store : stores) {
    rewriter.setInsertionPoint(store);
    onFirst(store.getLoc(), [&] {
      rewriter.moveOpBefore(store, rewriter.getInsertionBlock(),
                            rewriter.getInsertionPoint());
    });
  }
  for (linalg::LinalgOp op : structured) {
    std::string name = op->getName().getStringRef().str();
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic) {
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::GenericOp> made =
          linalg::generalizeNamedOp(rewriter, op);
      if (failed(made))
        return op.emitOpError("has no generic form that could become loops");
      generic = *made;
    }
    std::optional<std::string> shared = df::handlers::sharedOutput(
        cast<linalg::LinalgOp>(generic.getOperation()));
    if (shared)
      remarks.push_back("'" + name + "' runs on one thread: " + *shared);
    if (failed(shared ? lowerOnFirst(generic) : lower(generic)))
      return failure();
  }
  return success();
}

LogicalResult df::handlers::distribute(func::FuncOp function,
                                       std::vector<std::string> &remarks) {
  return Distribution(function, remarks).run();
}
