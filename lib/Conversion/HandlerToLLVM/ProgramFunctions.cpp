//===- ProgramFunctions.cpp - The functions of a program ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Conversion/ProgramFunctions.h"
#include "dataflow/Transforms/ProgramImport.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::df;

HandlerFunction ProgramFunctions::describe(const dfrt::Stage &stage) const {
  HandlerFunction function;
  if (stage.kind == dfrt::StageKind::reduce) {
    function.inputs = {{stage.record, false}, {stage.record, false}};
  } else {
    function.indices = planned.domains[stage.domain].axes.size() +
                       (stage.range != dfrt::kNone ? 2 : 0);
    for (const dfrt::StageInput &input : stage.inputs) {
      const dfrt::Stage &producer = planned.stages[input.stage];
      function.inputs.push_back(
          {producer.record, producer.arity == dfrt::Arity::collected});
    }
  }
  function.operands = stage.operands.size();
  function.outputs = stage.outputs.size();
  if (stage.arity != dfrt::Arity::none)
    function.output = stage.record;
  return function;
}

/// ceil((end - begin) / tile), and 0 for an empty piece.
static LogicalResult expandRangeTiles(RangeTilesOp op) {
  auto tile = dyn_cast<IntegerAttr>(op.getTile());
  if (!tile)
    return op.emitOpError("tile is still a parameter; specialise the program "
                          "first");
  IRRewriter rewriter(op);
  Location loc = op.getLoc();
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value size = arith::ConstantIndexOp::create(rewriter, loc, tile.getInt());
  Value length =
      arith::SubIOp::create(rewriter, loc, op.getEnd(), op.getBegin());
  length = arith::MaxSIOp::create(rewriter, loc, length, zero);
  rewriter.replaceOpWithNewOp<arith::CeilDivUIOp>(op, length, size);
  return success();
}

LogicalResult mlir::df::expandProgramOps(Operation *handler) {
  SmallVector<RangeTilesOp> tiles;
  WalkResult result = handler->walk([&](Operation *op) {
    if (auto rangeTiles = dyn_cast<RangeTilesOp>(op)) {
      tiles.push_back(rangeTiles);
    } else if (isa<ParamOp>(op)) {
      op->emitOpError("is left in handler '")
          << SymbolTable::getSymbolName(handler).getValue()
          << "'; specialise the program first";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (RangeTilesOp op : tiles)
    if (failed(expandRangeTiles(op)))
      return failure();
  return success();
}

/// A copy of `handler` without operations of the dataflow dialect.
FailureOr<Region *> ProgramFunctions::prepareBody(HandlerOpInterface handler) {
  copies.emplace_back(handler->clone());
  Operation *copy = copies.back().get();
  if (failed(expandProgramOps(copy)))
    return failure();
  return &cast<HandlerOpInterface>(copy).getHandlerBody();
}

FailureOr<std::vector<HandlerFunction>>
ProgramFunctions::collect(bool genericOnly) {
  std::vector<HandlerFunction> functions;
  for (auto [op, stage] : llvm::zip(program.getStages(), planned.stages)) {
    if (stage.kind == dfrt::StageKind::reshard)
      continue;
    for (HandlerVariant &variant : getVariants(op, stage.separable)) {
      if (genericOnly && variant.variant.kind != dfrt::Variant::Kind::generic)
        continue;
      FailureOr<Region *> body = prepareBody(variant.handler);
      if (failed(body))
        return failure();
      HandlerFunction function = describe(stage);
      function.symbol = variant.variant.symbol;
      function.body = *body;
      function.sliced = variant.variant.kind == dfrt::Variant::Kind::sliced;
      function.indices += function.sliced;
      // One for few elements returns the first rows of each field.
      if (variant.variant.kind == dfrt::Variant::Kind::bounded &&
          function.output)
        for (auto [field, type] :
             llvm::zip(function.output->fields,
                       variant.handler.getSignature().getResults()))
          if (auto tensor = dyn_cast<RankedTensorType>(type))
            field.shape.assign(tensor.getShape().begin(),
                               tensor.getShape().end());
      functions.push_back(std::move(function));
    }
    if (auto reduce = dyn_cast<ReduceOp>(op.getOperation())) {
      HandlerFunction function;
      function.symbol = stage.identitySymbol;
      function.body = &reduce.getIdentity();
      function.output = stage.record;
      functions.push_back(std::move(function));
    }
  }
  return functions;
}
