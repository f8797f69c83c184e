//===- Artifact.cpp - A program as an artifact ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/Artifact.h"
#include "dataflow/Target/CPU.h"
#include "dataflow/Transforms/ProgramImport.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;
using namespace mlir::df;

#ifndef DATAFLOW_VERSION
#define DATAFLOW_VERSION "unknown"
#endif

namespace {

/// The functions of a program's stages.
class FunctionList {
public:
  FunctionList(ProgramOp program, const dfrt::Program &planned)
      : program(program), planned(planned) {}

  /// Lists the functions of all stages. `reference`: generic variants only.
  FailureOr<std::vector<CPUFunction>> collect(bool reference);

private:
  CPUFunction describe(const dfrt::Stage &stage) const;
  /// A copy of `handler` without operations of the dataflow dialect.
  FailureOr<Region *> prepareBody(HandlerOpInterface handler);

  ProgramOp program;
  const dfrt::Program &planned;
  std::vector<OwningOpRef<Operation *>> copies;
};

} // namespace

/// The arguments and results of the handler of `stage`.
CPUFunction FunctionList::describe(const dfrt::Stage &stage) const {
  CPUFunction function;
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

FailureOr<Region *> FunctionList::prepareBody(HandlerOpInterface handler) {
  copies.emplace_back(handler->clone());
  Operation *copy = copies.back().get();
  SmallVector<RangeTilesOp> tiles;
  WalkResult result = copy->walk([&](Operation *op) {
    if (auto rangeTiles = dyn_cast<RangeTilesOp>(op)) {
      tiles.push_back(rangeTiles);
    } else if (isa<ParamOp>(op)) {
      op->emitOpError("is left in handler '")
          << handler.getHandlerName().getValue()
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
  return &cast<HandlerOpInterface>(copy).getHandlerBody();
}

FailureOr<std::vector<CPUFunction>> FunctionList::collect(bool reference) {
  std::vector<CPUFunction> functions;
  for (auto [op, stage] : llvm::zip(program.getStages(), planned.stages)) {
    if (stage.kind == dfrt::StageKind::reshard)
      continue;
    for (HandlerVariant &variant : getVariants(op, stage.separable)) {
      if (reference && variant.variant.kind != dfrt::Variant::Kind::generic)
        continue;
      FailureOr<Region *> body = prepareBody(variant.handler);
      if (failed(body))
        return failure();
      CPUFunction function = describe(stage);
      function.symbol = variant.variant.symbol;
      function.body = *body;
      function.sliced = variant.variant.kind == dfrt::Variant::Kind::sliced;
      function.indices += function.sliced;
      functions.push_back(std::move(function));
    }
    if (auto reduce = dyn_cast<ReduceOp>(op.getOperation())) {
      CPUFunction function;
      function.symbol = stage.identitySymbol;
      function.body = &reduce.getIdentity();
      function.output = stage.record;
      functions.push_back(std::move(function));
    }
  }
  return functions;
}

FailureOr<dfrt::Artifact> mlir::df::buildArtifact(ProgramOp program) {
  FailureOr<dfrt::Program> planned = importProgram(program);
  if (failed(planned))
    return failure();
  dfrt::Artifact artifact;
  artifact.producer =
      "dataflow " DATAFLOW_VERSION " (LLVM " LLVM_VERSION_STRING ")";
  artifact.program = *planned;
  for (auto kind :
       {dfrt::CodeBlob::Kind::cpu, dfrt::CodeBlob::Kind::cpuReference}) {
    FunctionList list(program, artifact.program);
    FailureOr<std::vector<CPUFunction>> functions =
        list.collect(kind == dfrt::CodeBlob::Kind::cpuReference);
    if (failed(functions))
      return failure();
    FailureOr<dfrt::CodeBlob> blob =
        compileForCPU(*functions, kind, program.getLoc());
    if (failed(blob))
      return failure();
    artifact.code.push_back(std::move(*blob));
  }
  return artifact;
}
