//===- AppendFinalize.cpp - Two stages in one compute part ----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Behind the body of a map, that of the finalize which may follow it in
// registers: a branch at the end instead of a second copy of the map. Layouts
// are found for both together.
//
//===----------------------------------------------------------------------===//

#include "AssignLayouts.h"

#include "dataflow/IR/FollowingPart.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::df;

void mlir::df::appendFinalize(PartOp part, HandlerOpInterface finalize) {
  Block &block = part.getBody().front();
  Block &from = finalize.getHandlerBody().front();
  auto yield = cast<YieldOp>(block.getTerminator());
  Location loc = finalize.getLoc();
  OpBuilder builder(yield);

  // Coordinates are those of the map, which come first there, too. What is read
  // and written becomes arguments.
  IRMapping map;
  ArrayRef<BlockArgument> arguments = from.getArguments();
  size_t outputs = finalize.getSignature().getNumResults();
  ArrayRef<BlockArgument> indices = arguments.take_while(
      [](BlockArgument argument) { return argument.getType().isIndex(); });
  for (BlockArgument index : indices)
    map.map(index, block.getArgument(index.getArgNumber()));
  arguments = arguments.drop_front(indices.size());
  ArrayRef<BlockArgument> written = arguments.take_back(outputs);
  arguments = arguments.drop_back(outputs);
  ArrayRef<BlockArgument> fields = arguments.take_back(yield->getNumOperands());
  ArrayRef<BlockArgument> read = arguments.drop_back(fields.size());
  auto pass = [&](BlockArgument argument) -> Value {
    Value passed = block.addArgument(argument.getType(), loc);
    map.map(argument, passed);
    return passed;
  };
  for (BlockArgument argument : read)
    pass(argument);
  SmallVector<Value> before, after;
  for (BlockArgument argument : written)
    before.push_back(pass(argument));
  map.map(fields, yield->getOperands());

  Value follows = block.addArgument(builder.getI1Type(), loc);
  auto branch = scf::IfOp::create(builder, loc, ValueRange(before).getTypes(),
                                  follows, /*withElseRegion=*/true);
  OpBuilder inside = branch.getThenBodyBuilder();
  for (Operation &op : from.without_terminator())
    inside.clone(op, map);
  for (Value value : from.getTerminator()->getOperands())
    after.push_back(map.lookupOrDefault(value));
  scf::YieldOp::create(inside, loc, after);
  OpBuilder otherwise = branch.getElseBodyBuilder();
  scf::YieldOp::create(otherwise, loc, before);

  SmallVector<Type> results(part.getResultTypes());
  llvm::append_range(results, branch.getResultTypes());
  yield->insertOperands(yield->getNumOperands(), branch.getResults());
  part.setFunctionType(
      FunctionType::get(part.getContext(), block.getArgumentTypes(), results));
  part->setAttr(kFollowingAttrName,
                FlatSymbolRefAttr::get(finalize.getHandlerName()));
}
