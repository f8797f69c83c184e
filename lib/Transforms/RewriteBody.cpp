//===- RewriteBody.cpp - Layouts into the types of a body -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Goes through the body once, in order. A tile in another layout than its use
// asks for is converted in front of the first use, in the block where the tile
// is defined: what a loop does not change is converted once. Tiles of one value
// are made again for each use.
//
//===----------------------------------------------------------------------===//

#include "AssignLayouts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"

using namespace mlir;
using namespace mlir::df;

namespace {

class BodyRewriter {
public:
  BodyRewriter(PartOp part, const TileClasses &classes, TileHomes &homes,
               const LayoutPlan &plan, unsigned outputs)
      : part(part), classes(classes), homes(homes), plan(plan),
        outputs(outputs), builder(part.getContext()) {}

  void run();

private:
  const FragmentLayout &layoutOf(Value tile) const {
    return plan.layouts[classes.of(tile)];
  }
  void setLayout(Value tile, const FragmentLayout &layout) {
    tile.setType(withLayout(cast<RankedTensorType>(tile.getType()), layout));
  }
  /// What a tile is loaded in that no other one says anything about.
  FragmentLayout freeLayout(RankedTensorType type) const {
    return FragmentLayout::blocked(
        type.getShape(), plan.warps, plan.groups,
        std::max(1u, type.getElementTypeBitWidth() / 8));
  }
  Value convert(Value tile, RankedTensorType type, Operation *user);
  Value toFragment(Value tile, const FragmentLayout &layout, Operation *user);
  void toFragment(OpOperand &operand, const FragmentLayout &layout) {
    operand.set(toFragment(operand.get(), layout, operand.getOwner()));
  }
  Value toShared(Value tile, const DotOperand &operand, Operation *user);
  void moveResult(Value result, const FragmentLayout &from);

  void rewriteBlock(Block &block);
  void rewrite(Operation *op);
  void rewriteElementwise(Operation *op);
  void rewriteGeneric(linalg::GenericOp op);
  void rewriteDot(DotOp op);
  void rewriteLoop(scf::ForOp op);
  void rewriteBranch(scf::IfOp op);
  void rewriteInsert(tensor::InsertSliceOp op);
  void rewriteYield(YieldOp op);
  void rewriteStage(Operation *op);

  PartOp part;
  const TileClasses &classes;
  TileHomes &homes;
  const LayoutPlan &plan;
  unsigned outputs;
  OpBuilder builder;
  /// What a tile was converted to already.
  llvm::DenseMap<std::pair<Value, Type>, Value> converted;
};

} // namespace

static bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

Value BodyRewriter::convert(Value tile, RankedTensorType type,
                            Operation *user) {
  if (tile.getType() == type)
    return tile;
  Value &made = converted[{tile, type}];
  if (!made) {
    builder.setInsertionPoint(
        tile.getParentBlock()->findAncestorOpInBlock(*user));
    made = ConvertLayoutOp::create(builder, user->getLoc(), type, tile);
  }
  return made;
}

Value BodyRewriter::toFragment(Value tile, const FragmentLayout &layout,
                               Operation *user) {
  auto type = withLayout(cast<RankedTensorType>(tile.getType()), layout);
  if (homes.of(tile) != TileHome::uniform)
    return convert(tile, type, user);
  builder.setInsertionPoint(user);
  if (auto splat = tile.getDefiningOp<tensor::SplatOp>())
    return tensor::SplatOp::create(builder, splat.getLoc(), splat.getInput(),
                                   type);
  return tensor::EmptyOp::create(builder, tile.getLoc(), type, ValueRange());
}

Value BodyRewriter::toShared(Value tile, const DotOperand &operand,
                             Operation *user) {
  switch (operand.home) {
  case DotOperand::Home::stage:
    return tile;
  case DotOperand::Home::registers:
    return toFragment(tile, *operand.registers, user);
  case DotOperand::Home::staged:
    break;
  }
  auto type = cast<RankedTensorType>(tile.getType());
  if (!homes.isFragment(tile))
    tile = toFragment(tile, freeLayout(type), user);
  return convert(tile, withLayout(type, operand.staged), user);
}

/// Gives the result of an op, which comes as `from`, the layout of its class.
void BodyRewriter::moveResult(Value result, const FragmentLayout &from) {
  FragmentLayout to = layoutOf(result);
  setLayout(result, from);
  if (from == to)
    return;
  auto type = withLayout(cast<RankedTensorType>(result.getType()), to);
  builder.setInsertionPointAfter(result.getDefiningOp());
  auto moved = ConvertLayoutOp::create(builder, result.getLoc(), type, result);
  result.replaceAllUsesExcept(moved, moved);
}

void BodyRewriter::rewriteElementwise(Operation *op) {
  const FragmentLayout &layout = layoutOf(op->getResult(0));
  for (OpOperand &operand : op->getOpOperands())
    if (isTensor(operand.get()))
      toFragment(operand, layout);
  setLayout(op->getResult(0), layout);
}

void BodyRewriter::rewriteGeneric(linalg::GenericOp op) {
  const FragmentLayout &space = plan.layouts[classes.spaceOf(op)];
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isTensor(operand.get()))
      continue;
    FragmentLayout layout =
        project(space, *getTileDims(op.getMatchingIndexingMap(&operand)));
    toFragment(operand, layout);
    if (op.isDpsInit(&operand))
      moveResult(op.getTiedOpResult(&operand), layout);
  }
}

void BodyRewriter::rewriteDot(DotOp op) {
  const DotPlan &dot = plan.dots.find(op)->second;
  Value a = op.getA(), b = op.getB();
  int64_t aDim = op.getADim(), bDim = op.getBDim();
  if (dot.exchanged) {
    std::swap(a, b);
    std::swap(aDim, bDim);
  }
  a = toShared(a, dot.a, op);
  b = toShared(b, dot.b, op);
  op.getAMutable().set(a);
  op.getBMutable().set(b);
  op.setADim(aDim);
  op.setBDim(bDim);
  op.setTransposed(dot.exchanged);
  toFragment(op.getCMutable(), layoutOf(op.getResult()));
  setLayout(op.getResult(), layoutOf(op.getResult()));
}

void BodyRewriter::rewriteLoop(scf::ForOp op) {
  for (auto [init, argument, result] : llvm::zip(
           op.getInitArgsMutable(), op.getRegionIterArgs(), op.getResults())) {
    if (!isTensor(result) || !homes.isFragment(result))
      continue;
    toFragment(init, layoutOf(result));
    setLayout(argument, layoutOf(result));
    setLayout(result, layoutOf(result));
  }
  rewriteBlock(*op.getBody());
}

void BodyRewriter::rewriteBranch(scf::IfOp op) {
  for (Value result : op.getResults())
    if (isTensor(result) && homes.isFragment(result))
      setLayout(result, layoutOf(result));
  rewriteBlock(*op.thenBlock());
  if (op.elseBlock())
    rewriteBlock(*op.elseBlock());
}

/// A store: the tile lies as it was computed.
void BodyRewriter::rewriteInsert(tensor::InsertSliceOp op) {
  OpOperand *stored = &op.getSourceMutable();
  if (auto mask = op.getSource().getDefiningOp<tensor::ExtractSliceOp>();
      mask && isStoreMask(mask)) {
    // The tile is cut once it is on its way to memory.
    stored = &mask.getSourceMutable();
    if (stored->get().getDefiningOp<ConvertLayoutOp>())
      return; // for another store
  }
  Value source = stored->get();
  auto memory = cast<RankedTensorType>(source.getType());
  memory = RankedTensorType::get(memory.getShape(), memory.getElementType());
  Operation *user = stored->getOwner();
  if (!homes.isFragment(source))
    source = toFragment(source, freeLayout(memory), user);
  builder.setInsertionPoint(user);
  stored->set(ConvertLayoutOp::create(builder, op.getLoc(), memory, source));
}

/// Fields of records are yielded as they lie; outputs were updated in place.
void BodyRewriter::rewriteYield(YieldOp op) {
  unsigned fields = op->getNumOperands() - outputs;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isTensor(operand.get()) || homes.isFragment(operand.get()))
      continue;
    bool isOutput = operand.getOperandNumber() >= fields;
    if (isOutput && homes.of(operand.get()) == TileHome::memory)
      continue;
    toFragment(operand,
               freeLayout(cast<RankedTensorType>(operand.get().getType())));
  }
}

/// Slices and padding of stages have the layout of the stage.
void BodyRewriter::rewriteStage(Operation *op) {
  Value result = op->getResult(0);
  result.setType(withLayout(cast<RankedTensorType>(result.getType()),
                            homes.stageLayout(result)));
}

void BodyRewriter::rewrite(Operation *op) {
  if (auto dot = dyn_cast<DotOp>(op))
    return rewriteDot(dot);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return rewriteGeneric(generic);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return rewriteLoop(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return rewriteBranch(branch);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return rewriteInsert(insert);
  if (auto yield = dyn_cast<YieldOp>(op))
    return rewriteYield(yield);
  if (isa<scf::YieldOp>(op)) {
    for (OpOperand &operand : op->getOpOperands()) {
      Value result = op->getParentOp()->getResult(operand.getOperandNumber());
      if (isTensor(result) && homes.isFragment(result))
        toFragment(operand, layoutOf(result));
    }
    return;
  }
  if (isa<TakeOp, tensor::ExtractSliceOp, tensor::PadOp>(op)) {
    if (homes.of(op->getResult(0)) == TileHome::stage)
      rewriteStage(op);
    else if (isa<tensor::PadOp>(op))
      setLayout(op->getResult(0), layoutOf(op->getResult(0)));
    return;
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    // One element of a tile without dimensions.
    if (homes.of(extract.getTensor()) == TileHome::uniform)
      toFragment(extract.getTensorMutable(),
                 FragmentLayout::replicated({}, plan.warps, plan.groups));
    return;
  }
  if (op->getNumResults() == 1 && isTensor(op->getResult(0)) &&
      homes.isFragment(op->getResult(0)))
    rewriteElementwise(op);
}

void BodyRewriter::rewriteBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    rewrite(&op);
}

void BodyRewriter::run() {
  rewriteBlock(part.getBody().front());
  // Tiles of one value that every use has made again.
  part.getBody().walk<WalkOrder::PostOrder, mlir::ReverseIterator>(
      [&](Operation *op) {
        if (isOpTriviallyDead(op))
          op->erase();
      });
}

void mlir::df::rewriteBody(PartOp part, const TileClasses &classes,
                           TileHomes &homes, const LayoutPlan &plan,
                           unsigned outputs) {
  BodyRewriter(part, classes, homes, plan, outputs).run();
}
