//===- BuildParts.cpp - The load and the compute part of a handler --------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fills and takes are where the loads were, in copies of the same loops and
// branches, so that both parts have as many of them, in the same order.
//
//===----------------------------------------------------------------------===//

#include "SplitRoles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::df;

/// Makes a part of this role with an entry block, at the end of the kernel.
static PartOp createPart(KernelOp kernel, const SplitHandler &split,
                         PartRole role) {
  HandlerOpInterface handler = split.frame.handler;
  FunctionType type = handler.getSignature();
  if (role == PartRole::load)
    type = FunctionType::get(type.getContext(), type.getInputs(), {});
  StringAttr name = handler.getHandlerName();
  auto builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  auto part =
      PartOp::create(builder, handler.getLoc(),
                     (name.getValue() + "_" + stringifyPartRole(role)).str(),
                     name.getValue(), role, type, /*fragments=*/false,
                     /*arg_attrs=*/ArrayAttr(), /*res_attrs=*/ArrayAttr());
  Block &block = part.getBody().emplaceBlock();
  for (BlockArgument argument : split.frame.body().getArguments())
    block.addArgument(argument.getType(), argument.getLoc());
  return part;
}

/// Removes what nothing uses any more, inner ops first.
static void eraseUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        eraseUnused(inner);
    if (isOpTriviallyDead(&op))
      op.erase();
  }
}

//===----------------------------------------------------------------------===//
// Load part
//===----------------------------------------------------------------------===//

namespace {

/// Copies the part of a body that is in a LoadSlice.
class LoadWriter {
public:
  LoadWriter(PartOp part, const SplitHandler &split,
             ArrayRef<StringAttr> streams, const LoadSlice &slice)
      : part(part), streams(streams), slice(slice) {
    Block &from = split.frame.body().front();
    map.map(from.getArguments(), part.getBody().getArguments());
    for (const Load &load : split.loads)
      loads[load.op] = &load;
  }

  void write(Block &from, OpBuilder &builder);

private:
  void writeFill(const Load &load, OpBuilder &builder);
  void writeLoop(scf::ForOp loop, OpBuilder &builder);
  void writeBranch(scf::IfOp branch, OpBuilder &builder);

  PartOp part;
  ArrayRef<StringAttr> streams;
  const LoadSlice &slice;
  IRMapping map;
  DenseMap<Operation *, const Load *> loads;
};

} // namespace

void LoadWriter::writeFill(const Load &load, OpBuilder &builder) {
  tensor::ExtractSliceOp op = load.op;
  auto mapped = [&](OperandRange values) {
    SmallVector<Value> result;
    for (Value value : values)
      result.push_back(map.lookup(value));
    return result;
  };
  SmallVector<Value> sizes = mapped(op.getSizes());
  SmallVector<int64_t> fixed(op.getStaticSizes());
  if (load.partial && op.getType().hasStaticShape()) {
    // A known number of rows, fewer than the stage has.
    int64_t dim = op.getDroppedDims().find_first_unset();
    sizes.push_back(
        arith::ConstantIndexOp::create(builder, op.getLoc(), fixed[dim]));
    fixed[dim] = ShapedType::kDynamic;
  }
  FillOp::create(builder, op.getLoc(),
                 FlatSymbolRefAttr::get(streams[load.stream]),
                 part.getBody().getArgument(load.operand),
                 mapped(op.getOffsets()), sizes, ValueRange(),
                 op.getStaticOffsetsAttr(), builder.getDenseI64ArrayAttr(fixed),
                 op.getStaticStridesAttr(), TypeAttr::get(load.tile));
}

void LoadWriter::writeLoop(scf::ForOp loop, OpBuilder &builder) {
  SmallVector<unsigned> carried;
  SmallVector<Value> initial;
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
    if (slice.contains(argument)) {
      carried.push_back(i);
      initial.push_back(map.lookup(loop.getInitArgs()[i]));
    }
  auto copy = scf::ForOp::create(
      builder, loop.getLoc(), map.lookup(loop.getLowerBound()),
      map.lookup(loop.getUpperBound()), map.lookup(loop.getStep()), initial,
      nullptr, loop.getUnsignedCmp());
  map.map(loop.getInductionVar(), copy.getInductionVar());
  for (auto [i, number] : llvm::enumerate(carried)) {
    map.map(loop.getRegionIterArg(number), copy.getRegionIterArg(i));
    map.map(loop.getResult(number), copy.getResult(i));
  }
  Block *body = copy.getBody();
  if (!body->empty() && body->back().hasTrait<OpTrait::IsTerminator>())
    body->back().erase();
  auto inner = OpBuilder::atBlockEnd(body);
  write(*loop.getBody(), inner);
  SmallVector<Value> yielded;
  for (unsigned number : carried)
    yielded.push_back(map.lookup(loop.getYieldedValues()[number]));
  scf::YieldOp::create(inner, loop.getLoc(), yielded);
}

void LoadWriter::writeBranch(scf::IfOp branch, OpBuilder &builder) {
  SmallVector<Type> types;
  SmallVector<unsigned> needed;
  for (auto [i, result] : llvm::enumerate(branch.getResults()))
    if (slice.contains(result)) {
      needed.push_back(i);
      types.push_back(result.getType());
    }
  auto copy = scf::IfOp::create(builder, branch.getLoc(), types,
                                map.lookup(branch.getCondition()),
                                /*addThenBlock=*/true,
                                /*addElseBlock=*/branch.elseBlock() != nullptr);
  auto writeSide = [&](Block *from, Block *to) {
    if (!from)
      return;
    if (!to->empty())
      to->back().erase();
    auto inner = OpBuilder::atBlockEnd(to);
    write(*from, inner);
    SmallVector<Value> yielded;
    for (unsigned number : needed)
      yielded.push_back(map.lookup(from->getTerminator()->getOperand(number)));
    scf::YieldOp::create(inner, branch.getLoc(), yielded);
  };
  writeSide(branch.thenBlock(), copy.thenBlock());
  writeSide(branch.elseBlock(), copy.elseBlock());
  for (auto [i, number] : llvm::enumerate(needed))
    map.map(branch.getResult(number), copy.getResult(i));
}

void LoadWriter::write(Block &from, OpBuilder &builder) {
  for (Operation &op : from.without_terminator()) {
    if (const Load *load = loads.lookup(&op))
      writeFill(*load, builder);
    if (!slice.contains(&op))
      continue;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      writeLoop(loop, builder);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      writeBranch(branch, builder);
    else
      builder.clone(op, map);
  }
}

PartOp mlir::df::buildLoadPart(KernelOp kernel, const SplitHandler &split,
                               ArrayRef<StringAttr> names) {
  PartOp part = createPart(kernel, split, PartRole::load);
  LoadSlice slice(split.frame);
  std::string reason;
  for (const Load &load : split.loads)
    (void)slice.add(load.op, reason);
  auto builder = OpBuilder::atBlockEnd(&part.getBody().front());
  LoadWriter(part, split, names, slice)
      .write(split.frame.body().front(), builder);
  YieldOp::create(builder, part.getLoc());
  return part;
}

//===----------------------------------------------------------------------===//
// Compute part
//===----------------------------------------------------------------------===//

PartOp mlir::df::buildComputePart(KernelOp kernel, const SplitHandler &split,
                                  ArrayRef<StringAttr> names) {
  PartOp part = createPart(kernel, split, PartRole::compute);
  Block &from = split.frame.body().front(), &block = part.getBody().front();
  IRMapping map;
  map.map(from.getArguments(), block.getArguments());
  auto builder = OpBuilder::atBlockEnd(&block);
  for (Operation &op : from.without_terminator())
    builder.clone(op, map);
  SmallVector<Value> results;
  for (Value value : from.getTerminator()->getOperands())
    results.push_back(map.lookupOrDefault(value));
  YieldOp::create(builder, from.getTerminator()->getLoc(), results);

  // Gives first: the last use may be another load.
  for (const Load &load : split.loads) {
    builder.setInsertionPointAfter(map.lookup(load.last));
    GiveOp::create(builder, map.lookup(load.last)->getLoc(),
                   FlatSymbolRefAttr::get(names[load.stream]));
  }
  for (const Load &load : split.loads) {
    tensor::ExtractSliceOp original = load.op;
    auto op = cast<tensor::ExtractSliceOp>(map.lookup(original.getOperation()));
    builder.setInsertionPoint(op);
    Value tile = TakeOp::create(builder, op.getLoc(), load.tile,
                                FlatSymbolRefAttr::get(names[load.stream]));
    if (load.partial) {
      SmallVector<OpFoldResult> offsets(load.tile.getRank(),
                                        builder.getIndexAttr(0));
      SmallVector<OpFoldResult> strides(load.tile.getRank(),
                                        builder.getIndexAttr(1));
      SmallVector<OpFoldResult> sizes;
      for (int64_t extent : load.tile.getShape())
        sizes.push_back(builder.getIndexAttr(extent));
      // A known number of rows that are padded is no part of the type either:
      // what is not whole atoms has no layout.
      SmallVector<int64_t> shape(op.getType().getShape());
      if (ShapedType::isDynamic(shape.front())) {
        sizes.front() = op.getSizes().front();
      } else if (llvm::all_of(op->getUsers(), llvm::IsaPred<tensor::PadOp>)) {
        sizes.front() =
            arith::ConstantIndexOp::create(builder, op.getLoc(), shape.front())
                .getResult();
        shape.front() = ShapedType::kDynamic;
      } else {
        sizes.front() = builder.getIndexAttr(shape.front());
      }
      tile = tensor::ExtractSliceOp::create(builder, op.getLoc(),
                                            op.getType().clone(shape), tile,
                                            offsets, sizes, strides);
    }
    op.getResult().replaceAllUsesWith(tile);
    op.erase();
  }
  eraseUnused(block);
  return part;
}
