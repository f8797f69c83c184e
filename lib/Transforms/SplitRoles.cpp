//===- SplitRoles.cpp - Cut handlers into a load and a compute part -------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which handlers are split, what their arguments are, what stages ask for, and
// the kernel that holds the result. The steps are in SplitRoles.h.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/Passes.h"

#include "SchedulePasses.h"
#include "SplitRoles.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

#include <numeric>

namespace mlir::df {
#define GEN_PASS_DEF_SPLITROLES
#include "dataflow/Transforms/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;

static remark::RemarkOpts remarkOptions(StringRef function) {
  return remark::RemarkOpts::name("split-roles")
      .category("dataflow")
      .function(function);
}

namespace {

struct SplitRoles : public df::impl::SplitRolesBase<SplitRoles> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult run(ProgramOp program);
  FailureOr<SmallVector<VariantKind>> parseVariants(ProgramOp program);
  LogicalResult addStage(StageOpInterface stage);
  LogicalResult addRequest(StageOpInterface stage, SplitHandler &split);
  void addVariants(ProgramOp program, ArrayRef<VariantKind> kinds,
                   std::vector<SplitHandler> &all);
  LogicalResult checkRequests(ArrayRef<SplitHandler> handlers);
  void buildKernel(ProgramOp program, ArrayRef<SplitHandler> handlers,
                   const RingPlan &plan);

  /// By handler; a null handler in the frame: stages call it in different ways.
  llvm::MapVector<Operation *, SplitHandler> generic;
  std::optional<int64_t> consumers;
  Operation *consumersRequest = nullptr;
};

} // namespace

FailureOr<SmallVector<VariantKind>>
SplitRoles::parseVariants(ProgramOp program) {
  SmallVector<VariantKind> kinds;
  SmallVector<StringRef> words;
  StringRef(variants).split(words, ',', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    std::optional<VariantKind> kind = symbolizeVariantKind(word.trim());
    if (!kind) {
      emitProgramError(program) << "option 'variants' takes generic, tiles, "
                                   "exact, sliced and bounded, got '"
                                << word.trim() << "'";
      return failure();
    }
    kinds.push_back(*kind);
  }
  return kinds;
}

SmallVector<int64_t> mlir::df::indexMultiples(StageOpInterface stage) {
  SmallVector<int64_t> multiples;
  if (stage.getStageKind() != StageKind::reduce)
    multiples.assign(stage.lookupTasks().getAxes().size(), 1);
  if (RangeOp range = stage.lookupRange()) {
    // A piece begins at a whole tile behind the offset, and ends anywhere.
    int64_t tile = range.getStaticTile().value_or(1);
    multiples.push_back(range.getOffset() ? 1 : tile);
    multiples.push_back(1);
  }
  return multiples;
}

/// Takes over what a stage says about its handler.
LogicalResult SplitRoles::addStage(StageOpInterface stage) {
  HandlerOpInterface handler = stage.lookupHandler();
  if (!handler)
    return success();
  SplitHandler split;
  split.frame.handler = handler;
  split.frame.multiples = indexMultiples(stage);
  // Coordinates, then where a piece begins: where it ends follows from it. All
  // tasks have the same coordinate along an axis of extent 1.
  SmallVector<Value> extents;
  if (stage.getStageKind() != StageKind::reduce)
    extents = llvm::to_vector(stage.lookupTasks().getExtents());
  split.frame.coordinates = extents.size();
  size_t ends = stage.lookupRange() ? 1 : 0;
  for (unsigned i = 0; i + ends < split.frame.multiples.size(); ++i)
    if (i >= extents.size() || !matchPattern(extents[i], m_One()))
      split.frame.identity.push_back(i);
  split.frame.perTile = stage.isPerTile();
  split.frame.firstOperand = split.frame.multiples.size();
  llvm::append_range(split.operands, stage.getReadTensors());
  split.frame.endOperand = split.frame.firstOperand + split.operands.size();

  auto [it, isNew] = generic.insert({handler, split});
  SplitHandler &known = it->second;
  if (!isNew) {
    HandlerArguments &frame = known.frame;
    if (!frame.handler || frame.firstOperand != split.frame.firstOperand ||
        frame.endOperand != split.frame.endOperand) {
      remark::missed(handler.getLoc(),
                     remarkOptions(handler.getHandlerName().getValue()))
          << "not split: the stages that call it have different operands";
      frame.handler = {};
      return addRequest(stage, known);
    }
    for (auto [a, b] : llvm::zip(frame.multiples, split.frame.multiples))
      a = std::gcd(a, b);
    for (auto [a, b] : llvm::zip(known.operands, split.operands))
      if (a != b)
        a = {};
  }
  return addRequest(stage, known);
}

LogicalResult SplitRoles::addRequest(StageOpInterface stage,
                                     SplitHandler &split) {
  auto request = stage.getRequest<PipelineAttr>();
  if (!request)
    return success();
  if (request.getProducers() != 1)
    return stage->emitOpError("request 'pipeline' asks for ")
           << request.getProducers() << " producers, a kernel has 1";
  if (consumers && *consumers != request.getConsumers()) {
    InFlightDiagnostic diagnostic =
        stage->emitOpError("request 'pipeline' asks for ")
        << request.getConsumers() << " consumers, the kernel has "
        << *consumers;
    diagnostic.attachNote(consumersRequest->getLoc())
        << "because of this stage";
    return diagnostic;
  }
  if (split.depth && split.depth != request.getStages()) {
    InFlightDiagnostic diagnostic =
        stage->emitOpError("request 'pipeline' asks for ")
        << request.getStages() << " stages of a handler that has "
        << split.depth;
    diagnostic.attachNote(split.request->getLoc()) << "because of this stage";
    return diagnostic;
  }
  consumers = request.getConsumers();
  consumersRequest = stage;
  split.depth = request.getStages();
  split.request = stage;
  return success();
}

/// The handlers and those variants of them that the kernel will have.
void SplitRoles::addVariants(ProgramOp program, ArrayRef<VariantKind> kinds,
                             std::vector<SplitHandler> &all) {
  for (auto &[op, split] : generic) {
    if (!split.frame.handler)
      continue;
    StringAttr name = split.frame.handler.getHandlerName();
    if (llvm::is_contained(kinds, VariantKind::generic))
      all.push_back(split);
    for (auto variant : program.getBody().getOps<HandlerOp>()) {
      if (!variant.getVariantOfAttr() ||
          variant.getVariantOfAttr().getAttr() != name ||
          !llvm::is_contained(kinds, variant.getVariant()->getKind()))
        continue;
      SplitHandler other = split;
      other.frame.handler = variant;
      if (variant.getVariant()->getKind() == VariantKind::sliced) {
        // The number of the slice comes behind all other indices.
        other.frame.identity.push_back(split.frame.multiples.size());
        other.frame.multiples.assign(split.frame.multiples.size() + 1, 1);
        ++other.frame.firstOperand;
        ++other.frame.endOperand;
      }
      all.push_back(std::move(other));
    }
  }
  for (SplitHandler &split : all)
    split.loads = findLoads(split.frame);
}

LogicalResult SplitRoles::checkRequests(ArrayRef<SplitHandler> handlers) {
  for (auto &[op, split] : generic)
    if (!split.frame.handler && split.request)
      return split.request->emitOpError(
                 "request 'pipeline' needs a handler that can be split, but "
                 "the stages that call '")
             << cast<HandlerOpInterface>(op).getHandlerName().getValue()
             << "' have different operands";
  for (auto &[op, split] : generic)
    if (split.request && llvm::none_of(handlers, [&](const SplitHandler &each) {
          return each.request == split.request;
        }))
      return split.request->emitOpError("request 'pipeline' needs a handler "
                                        "that is split, but option 'variants' "
                                        "leaves none of '")
             << split.frame.name() << "', got '" << variants << "'";
  for (const SplitHandler &split : handlers)
    if (split.request && split.loads.empty() &&
        !split.frame.handler->hasAttr("variant_of"))
      return split.request->emitOpError("request 'pipeline' needs a slice of "
                                        "an operand that can be streamed, "
                                        "handler '")
             << split.frame.name() << "' has none";
  return success();
}

void SplitRoles::buildKernel(ProgramOp program, ArrayRef<SplitHandler> handlers,
                             const RingPlan &plan) {
  OpBuilder builder(&getContext());
  if (ScheduleOp schedule = program.getSchedule())
    builder.setInsertionPoint(schedule);
  else
    builder.setInsertionPointToEnd(&program.getBody().front());
  IntegerAttr width;
  if (consumers)
    width = builder.getI32IntegerAttr(*consumers);
  auto op = KernelOp::create(builder, program.getLoc(), kernel, width);
  op.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(&op.getBody().front());
  SymbolTable symbols(op);
  SmallVector<StringAttr> names;
  for (const RingStream &stream : plan.streams) {
    auto ring = StreamOp::create(builder, program.getLoc(), stream.name,
                                 stream.depth, stream.tile,
                                 /*layout=*/SharedAttr(), stream.readOnce);
    names.push_back(symbols.insert(ring));
    ++numStreams;
  }
  for (const SplitHandler &split : handlers) {
    if (split.loads.empty())
      continue;
    buildLoadPart(op, split, names);
    buildComputePart(op, split, names);
    ++numSplitHandlers;
    for (const Load &load : split.loads) {
      const RingStream &stream = plan.streams[load.stream];
      tensor::ExtractSliceOp slice = load.op;
      remark::passed(slice.getLoc(), remarkOptions(split.frame.name()))
          << ("loaded ahead through stream '" +
              names[load.stream].getValue().str() +
              "': " + std::to_string(stream.depth) + " stages of " +
              std::to_string(stream.stageBytes()) + " bytes");
    }
  }
  emitMetrics(program, "split-roles",
              {{"Streams", plan.streams.size()}, {"RingBytes", plan.bytes()}});
}

LogicalResult SplitRoles::run(ProgramOp program) {
  generic.clear();
  consumers.reset();
  if (Operation *taken = SymbolTable::lookupSymbolIn(program, kernel)) {
    InFlightDiagnostic diagnostic = emitProgramError(program)
                                    << "already has a symbol @" << kernel
                                    << "; name the kernel differently";
    diagnostic.attachNote(taken->getLoc()) << "it is here";
    return diagnostic;
  }
  FailureOr<SmallVector<VariantKind>> kinds = parseVariants(program);
  if (failed(kinds))
    return failure();
  for (StageOpInterface stage : program.getStages())
    if (failed(addStage(stage)))
      return failure();
  std::vector<SplitHandler> handlers;
  addVariants(program, *kinds, handlers);
  if (failed(checkRequests(handlers)))
    return failure();
  FailureOr<RingPlan> plan =
      planRings(program, handlers, {ringBytes, flightBytes});
  if (failed(plan))
    return failure();
  buildKernel(program, handlers, *plan);
  auto made = cast<KernelOp>(SymbolTable::lookupSymbolIn(program, kernel));
  return verifyKernel(made);
}
