//===- FollowFunction.cpp - A finalize behind a fold in registers ---------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fold leaves a slice of its result in registers. Where a finalize is the
// next to read it, the handler of that becomes a function of these registers:
// its input has the layouts in which the fold has it, and is converted, within
// the warp, to those in which the handler reads it.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"

#include "dataflow/IR/Dataflow.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::df;

LogicalResult handlers::holdField(BlockArgument argument, Type type) {
  if (argument.getType() == type)
    return success();
  std::optional<FragmentLayout> layout = getFragmentLayout(type);
  if (!layout)
    return failure();
  for (Operation *user : argument.getUsers()) {
    auto convert = dyn_cast<ConvertLayoutOp>(user);
    std::optional<FragmentLayout> to;
    if (convert)
      to = getFragmentLayout(convert.getResult().getType());
    if (!to || relation(*layout, *to).kind == LayoutRelation::Kind::shared)
      return failure();
  }
  argument.setType(type);
  for (Operation *user : llvm::make_early_inc_range(argument.getUsers())) {
    if (user->getResult(0).getType() != type)
      continue;
    user->getResult(0).replaceAllUsesWith(argument);
    user->erase();
  }
  return success();
}

LogicalResult handlers::buildFollowFunction(ModuleOp module,
                                            const HandlerFunction &reduce,
                                            const HandlerFunction &function) {
  if (!module.lookupSymbol(reduce.symbol + "$merge") || !reduce.warp ||
      !function.warp || !function.sliced || function.inputs.size() != 1 ||
      function.inputs.front().collected)
    return success();
  OwningOpRef<func::FuncOp> copy =
      func::FuncOp::create(function.body->getLoc(), function.symbol,
                           FunctionType::get(module.getContext(), {}, {}));
  IRMapping mapping;
  function.body->cloneInto(&copy->getBody(), mapping);
  // What is left of the input stands where its fields did.
  Block &block = copy->getBody().front();
  unsigned first = function.indices + function.operands;
  ValueRange results = reduce.body->front().getTerminator()->getOperands();
  SmallVector<Type> held;
  for (Value result :
       results.take_front(function.inputs.front().record.fields.size()))
    held.push_back(result.getType());
  for (auto [number, type] : llvm::enumerate(held))
    if (failed(holdField(block.getArgument(first + unsigned(number)), type)))
      return success();
  HandlerFunction follow = function;
  follow.symbol += "$follow";
  follow.body = &copy->getBody();
  follow.inputs.clear();
  fragments::Info info;
  return buildFunction(module, follow, HandlerTarget::device, info,
                       ArrayRef<Type>(held));
}
