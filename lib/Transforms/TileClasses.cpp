//===- TileClasses.cpp - Which tiles share a layout -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elementwise operations, loops and branches put tiles into one class; a tile
// that lies in an iteration space in another way than as a whole is an access.
//
//===----------------------------------------------------------------------===//

#include "AssignLayouts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::df;

/// How many times a loop of unknown length is taken to run.
static constexpr int64_t kLoopWeight = 8;

int64_t mlir::df::getWeight(Operation *op) {
  int64_t weight = 1;
  while ((op = op->getParentOp()) && !isa<PartOp>(op))
    if (isa<scf::ForOp>(op))
      weight *= kLoopWeight;
  return weight;
}

//===----------------------------------------------------------------------===//
// Dims
//===----------------------------------------------------------------------===//

std::optional<TileDims> mlir::df::getTileDims(AffineMap map) {
  TileDims dims;
  for (AffineExpr expression : map.getResults()) {
    auto constant = dyn_cast<AffineConstantExpr>(expression);
    auto dim = dyn_cast<AffineDimExpr>(expression);
    if (!dim && !(constant && constant.getValue() == 0))
      return std::nullopt;
    int number = dim ? int(dim.getPosition()) : kUnitDim;
    if (dim && llvm::is_contained(dims, number))
      return std::nullopt;
    dims.push_back(number);
  }
  return dims;
}

bool mlir::df::isIdentity(const TileDims &dims, size_t rank) {
  if (dims.size() != rank)
    return false;
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim != int(i))
      return false;
  return true;
}

FragmentLayout mlir::df::project(const FragmentLayout &space,
                                 const TileDims &dims) {
  FragmentLayout layout = space;
  SmallVector<int> left; // dimensions of the space that are left
  for (unsigned dim = 0; dim < space.rank(); ++dim)
    left.push_back(dim);
  for (unsigned dim = space.rank(); dim-- > 0;)
    if (!llvm::is_contained(dims, int(dim))) {
      layout = layout.slice(dim);
      left.erase(left.begin() + dim);
    }
  SmallVector<unsigned> order;
  for (int dim : dims)
    if (dim != kUnitDim)
      order.push_back(llvm::find(left, dim) - left.begin());
  layout = layout.permute(order);
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim == kUnitDim)
      layout = layout.expand(i);
  return layout;
}

std::optional<FragmentLayout> mlir::df::unproject(const FragmentLayout &tile,
                                                  const TileDims &dims) {
  SmallVector<unsigned> order(dims.size());
  llvm::SmallDenseSet<int> seen;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (dim == kUnitDim || dim >= int(dims.size()) || !seen.insert(dim).second)
      return std::nullopt;
    order[dim] = i;
  }
  return tile.permute(order);
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

unsigned TileClasses::addNode(ArrayRef<int64_t> shape) {
  parents.push_back(parents.size());
  classes.emplace_back();
  classes.back().shape.assign(shape.begin(), shape.end());
  return parents.size() - 1;
}

unsigned TileClasses::node(Value tile) {
  auto it = nodes.find(tile);
  if (it != nodes.end())
    return it->second;
  unsigned number = addNode(cast<RankedTensorType>(tile.getType()).getShape());
  nodes[tile] = number;
  return number;
}

unsigned TileClasses::find(unsigned number) const {
  while (parents[number] != number)
    number = parents[number] = parents[parents[number]];
  return number;
}

void TileClasses::unite(unsigned a, unsigned b) {
  a = find(a);
  b = find(b);
  assert(classes[a].shape == classes[b].shape && "tiles of different shapes");
  // The first keeps its number, so that the numbers follow the program.
  parents[std::max(a, b)] = std::min(a, b);
}

unsigned TileClasses::of(Value tile) const { return find(nodes.lookup(tile)); }

unsigned TileClasses::spaceOf(Operation *op) const {
  return find(spaces.lookup(op));
}

void TileClasses::touchMemory(unsigned number, Type type, Operation *op) {
  unsigned bytes =
      std::max(1u, cast<RankedTensorType>(type).getElementTypeBitWidth() / 8);
  Class &touched = classes[number];
  touched.memoryBytes =
      touched.memoryBytes ? std::min(touched.memoryBytes, bytes) : bytes;
  touched.memoryWeight += getWeight(op);
}

void TileClasses::addUse(Operation *op, Value value, unsigned space,
                         const TileDims &dims, bool isResult) {
  bool whole = isIdentity(dims, classes[space].shape.size());
  TileHome home = isResult ? TileHome::fragment : homes.of(value);
  if (home == TileHome::memory && whole)
    touchMemory(space, value.getType(), op);
  if (home != TileHome::fragment)
    return;
  if (whole)
    return unite(node(value), space);
  Access access;
  access.space = space;
  access.tile = node(value);
  access.dims = dims;
  access.elementBytes = std::max(
      1u, cast<RankedTensorType>(value.getType()).getElementTypeBitWidth() / 8);
  access.weight = getWeight(op);
  access.isResult = isResult;
  accesses.push_back(access);
}

void TileClasses::addElementwise(Operation *op) {
  unsigned space = node(op->getResult(0));
  spaces[op] = space;
  TileDims whole;
  for (size_t dim = 0; dim < classes[space].shape.size(); ++dim)
    whole.push_back(dim);
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      addUse(op, operand, space, whole, /*isResult=*/false);
  for (Value result : op->getResults())
    addUse(op, result, space, whole, /*isResult=*/true);
}

void TileClasses::addGeneric(linalg::GenericOp op) {
  unsigned space = addNode(op.getStaticLoopRanges());
  spaces[op] = space;
  reductions |= op.getNumReductionLoops() != 0;
  for (auto extract : op.getBody()->getOps<tensor::ExtractOp>())
    touchMemory(space, extract.getTensor().getType(), op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    TileDims dims = *getTileDims(op.getMatchingIndexingMap(&operand));
    if (op.isDpsInit(&operand)) {
      Value result = op.getTiedOpResult(&operand);
      addUse(op, result, space, dims, /*isResult=*/true);
      // What is updated lies as the update.
      if (homes.isFragment(operand.get()))
        unite(node(operand.get()), node(result));
      else if (homes.of(operand.get()) == TileHome::memory)
        touchMemory(node(result), operand.get().getType(), op);
      continue;
    }
    addUse(op, operand.get(), space, dims, /*isResult=*/false);
  }
}

void TileClasses::addLoop(scf::ForOp op) {
  for (auto [init, argument, result, yielded] :
       llvm::zip(op.getInitArgs(), op.getRegionIterArgs(), op.getResults(),
                 op.getYieldedValues())) {
    if (!isa<RankedTensorType>(result.getType()) || !homes.isFragment(result))
      continue;
    unite(node(argument), node(result));
    if (homes.isFragment(init))
      unite(node(init), node(result));
    if (homes.isFragment(yielded))
      unite(node(yielded), node(result));
  }
}

void TileClasses::addBranch(scf::IfOp op) {
  for (OpResult result : op.getResults()) {
    if (!isa<RankedTensorType>(result.getType()) || !homes.isFragment(result))
      continue;
    for (scf::YieldOp yield : {op.thenYield(), op.elseYield()}) {
      Value value = yield.getOperand(result.getResultNumber());
      if (homes.isFragment(value))
        unite(node(value), node(result));
    }
  }
}

void TileClasses::addOp(Operation *op) {
  if (auto dot = dyn_cast<DotOp>(op)) {
    unsigned number = node(dot.getResult());
    spaces[op] = number;
    classes[number].dots.push_back(dot);
    if (homes.isFragment(dot.getC()))
      unite(node(dot.getC()), number);
    else if (homes.of(dot.getC()) == TileHome::memory)
      touchMemory(number, dot.getC().getType(), op);
    for (Value operand : {dot.getA(), dot.getB()})
      if (homes.isFragment(operand))
        node(operand);
  } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    addGeneric(generic);
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    addLoop(loop);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    addBranch(branch);
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    Value source = insert.getSource();
    if (auto mask = source.getDefiningOp<tensor::ExtractSliceOp>();
        mask && isStoreMask(mask))
      source = mask.getSource();
    if (homes.isFragment(source))
      touchMemory(node(source), source.getType(), op);
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    if (homes.isFragment(pad.getResult()))
      touchMemory(node(pad.getResult()), pad.getType(), op);
  } else if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    if (homes.isFragment(extract.getTensor()))
      node(extract.getTensor());
  } else if (isa<YieldOp>(op)) {
    for (Value value : op->getOperands())
      if (isa<RankedTensorType>(value.getType()) && homes.isFragment(value))
        touchMemory(node(value), value.getType(), op);
  } else if (OpTrait::hasElementwiseMappableTraits(op) &&
             op->getNumResults() == 1 &&
             isa<RankedTensorType>(op->getResult(0).getType())) {
    addElementwise(op);
  }
}

/// Gives the classes that are left numbers of their own.
void TileClasses::renumber() {
  SmallVector<unsigned> numbers(classes.size());
  SmallVector<Class> kept;
  for (unsigned number = 0; number < classes.size(); ++number) {
    unsigned root = find(number);
    if (root == number) {
      numbers[number] = kept.size();
      kept.push_back(std::move(classes[number]));
      continue;
    }
    numbers[number] = numbers[root];
    Class &into = kept[numbers[root]];
    Class &from = classes[number];
    llvm::append_range(into.dots, from.dots);
    if (from.memoryBytes)
      into.memoryBytes = into.memoryBytes
                             ? std::min(into.memoryBytes, from.memoryBytes)
                             : from.memoryBytes;
    into.memoryWeight += from.memoryWeight;
  }
  for (auto &[value, number] : nodes)
    number = numbers[number];
  for (auto &[op, number] : spaces)
    number = numbers[number];
  for (Access &access : accesses) {
    access.space = numbers[access.space];
    access.tile = numbers[access.tile];
  }
  classes = std::move(kept);
  parents.clear();
  for (unsigned number = 0; number < classes.size(); ++number)
    parents.push_back(number);
}

TileClasses::TileClasses(PartOp part, TileHomes &homes) : homes(homes) {
  part.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    addOp(op);
    return isa<linalg::LinalgOp>(op) ? WalkResult::skip()
                                     : WalkResult::advance();
  });
  renumber();
}
