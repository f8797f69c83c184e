//===- VerifyProgram.cpp - Can a program be planned and compiled? ---------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The checks P1 to P10 of the pass description, one function each. All failures
// are reported, not just the first one.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/Passes.h"

#include "dataflow/IR/Dataflow.h"
#include "dataflow/Transforms/ProgramImport.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::df {
#define GEN_PASS_DEF_VERIFYPROGRAM
#include "dataflow/Transforms/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;

/// P1
static LogicalResult verifyNoParams(ProgramOp program) {
  LogicalResult result = success();
  if (program.getParamsAttr() && !program.getParamsAttr().empty())
    result = program.emitOpError("P1: still has the parameter '")
             << program.getParamsAttr().begin()->getName().getValue()
             << "'; run dataflow-specialize-program";
  program.walk([&](Operation *op) {
    if (auto param = dyn_cast<ParamOp>(op))
      result = op->emitOpError("P1: parameter '")
               << param.getParam() << "' is not bound";
    Attribute tile;
    if (auto range = dyn_cast<RangeOp>(op))
      tile = range.getTile();
    else if (auto tiles = dyn_cast<RangeTilesOp>(op))
      tile = tiles.getTile();
    if (auto name = dyn_cast_or_null<StringAttr>(tile))
      result = op->emitOpError("P1: tile '")
               << name.getValue() << "' is not bound";
  });
  return result;
}

/// P2, P6 and P7
static LogicalResult verifyRecord(StageOpInterface stage) {
  RecordType type = stage.getOutputRecord();
  if (!type)
    return success();
  auto fail = [&](StringRef field) {
    return stage->emitOpError("stage \"")
           << stage.getStageName() << "\" field '" << field << "': ";
  };
  dfrt::Record record;
  for (auto [name, field] : llvm::zip(type.getNames(), type.getTypes())) {
    dfrt::Field &entry = record.fields.emplace_back();
    entry.name = name.str();
    std::optional<dfrt::ElementType> element = getElementType(field);
    if (!element)
      return fail(name) << "P6: a plan cannot name the element type "
                        << getElementTypeOrSelf(field);
    entry.element = *element;
    auto tensor = dyn_cast<RankedTensorType>(field);
    if (!tensor)
      continue;
    for (auto [dim, size] : llvm::enumerate(tensor.getShape())) {
      if (ShapedType::isDynamic(size))
        return fail(name) << "P2: dimension " << dim << " of " << field
                          << " is not static";
      if (size < 1)
        return fail(name) << "P2: dimension " << dim << " of " << field
                          << " is at least 1, but is " << size;
      entry.shape.push_back(size);
    }
  }
  dfrt::Status status = dfrt::layoutRecord(record);
  if (!status)
    return stage->emitOpError("stage \"")
           << stage.getStageName() << "\" P7: " << status.message();
  constexpr uint64_t kMaxBytes = (uint64_t(1) << 31) - 1;
  if (record.bytes() > kMaxBytes)
    return stage->emitOpError("stage \"")
           << stage.getStageName() << "\" P7: a record has at most "
           << kMaxBytes << " bytes, but this one has " << record.bytes();
  return success();
}

/// Whether an index is what a plan can evaluate without code.
static LogicalResult verifyIndex(Operation *op, ProgramOp program,
                                 StringRef what, StringRef check, Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value)) {
    if (*constant >= 0)
      return success();
    return op->emitOpError()
           << check << ": " << what << " is at least 0, but is " << *constant;
  }
  if (auto dim = value.getDefiningOp<tensor::DimOp>()) {
    auto argument = dyn_cast<BlockArgument>(dim.getSource());
    if (argument && argument.getOwner() == &program.getBody().front() &&
        dim.getConstantIndex())
      return success();
  }
  InFlightDiagnostic diag =
      op->emitOpError()
      << check << ": " << what
      << " is neither a constant nor a dimension of an argument "
         "of the program";
  diag.attachNote(value.getLoc()) << "it is computed here";
  return diag;
}

/// P3
static LogicalResult verifyTasks(TasksOp tasks, ProgramOp program) {
  LogicalResult result = success();
  for (auto [axis, extent] : llvm::zip(tasks.getAxes(), tasks.getExtents()))
    if (failed(verifyIndex(
            tasks, program,
            ("extent of axis '" + cast<StringAttr>(axis).getValue() + "'")
                .str(),
            "P3", extent)))
      result = failure();
  return result;
}

/// P4; that indexed values are arguments is a constraint of the op itself.
static LogicalResult verifyRange(RangeOp range, ProgramOp program) {
  LogicalResult result = success();
  if (range.getLength().getType().isIndex() &&
      failed(verifyIndex(range, program, "length", "P4", range.getLength())))
    result = failure();
  if (range.getOffset() && range.getOffset().getType().isIndex() &&
      failed(verifyIndex(range, program, "offset", "P4", range.getOffset())))
    result = failure();
  return result;
}

/// P5
static LogicalResult verifyBody(Region &body) {
  WalkResult walked = body.walk([&](Operation *op) -> WalkResult {
    // The end of a handler that is no dataflow.handler.
    if (op->getParentRegion() == &body && op->hasTrait<OpTrait::ReturnLike>())
      return WalkResult::advance();
    StringRef dialect = op->getName().getDialectNamespace();
    if (dialect == "arith" || dialect == "math" || dialect == "linalg" ||
        dialect == "tensor" || dialect == "scf" || dialect == "index" ||
        isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp,
            RangeTilesOp>(op))
      return WalkResult::advance();
    return op->emitOpError("P5: is not an op that code is generated for");
  });
  return failure(walked.wasInterrupted());
}

/// P6 for tensors.
static LogicalResult verifyArguments(ProgramOp program) {
  LogicalResult result = success();
  for (BlockArgument argument : program.getArguments())
    if (!getElementType(argument.getType()))
      result = program.emitOpError("argument '")
               << program.getArgumentName(argument)
               << "' P6: a plan cannot name the element type "
               << getElementTypeOrSelf(argument.getType());
  return result;
}

/// The space that the producer's requests give its records, if any does.
static Space requestedSpace(StageOpInterface stage) {
  if (auto memory = stage.getRequest<MemoryAttr>()) {
    if (memory.getKind() == MemoryKind::shared)
      return Space::shared;
    if (memory.getKind() == MemoryKind::global)
      return Space::global;
  }
  if (auto form = stage.getRequest<PhysicalFormAttr>())
    if (!form.getOutputs().empty())
      return form.getOutputs().front();
  return Space::unplaced;
}

/// P8 for one edge of the stage graph.
static LogicalResult verifyEdge(StageOpInterface producer,
                                StageOpInterface consumer, unsigned input) {
  auto fail = [&]() {
    return consumer->emitOpError("P8: stage \"")
           << consumer.getStageName() << "\" and its producer \""
           << producer.getStageName() << "\" disagree: ";
  };
  Space space = requestedSpace(producer);
  if (producer.getRequest<HandoffAttr>()) {
    if (consumer.getStageKind() == StageKind::reshard &&
        cast<ReshardOp>(consumer.getOperation()).getKind() ==
            ReshardKind::rekey)
      return fail() << "resident records cannot be sent to other tasks";
    if (consumer.getDomain() != producer.getDomain())
      return fail() << "resident records are read by tasks of the same domain, "
                       "but the domains are "
                    << producer.getDomain() << " and " << consumer.getDomain();
  }
  if (auto form = consumer.getRequest<PhysicalFormAttr>())
    if (input < form.getInputs().size() && space != Space::unplaced &&
        form.getInputs()[input] != space)
      return fail() << "the records are asked for in " << stringifySpace(space)
                    << " memory by the one and in "
                    << stringifySpace(form.getInputs()[input])
                    << " memory by the other";
  if (auto transport = consumer.getRequest<ReshardTransportAttr>()) {
    Attribute via = transport.getVia();
    if (isa_and_nonnull<ClusterSharedAttr>(via) && space == Space::global)
      return fail()
             << "cluster_shared moves records in shared memory, but they "
                "are asked for in global memory";
    if (isa_and_nonnull<MulticastAttr>(via) && space == Space::shared)
      return fail() << "multicast moves records in global memory, but they are "
                       "asked for in shared memory";
  }
  return success();
}

/// P8 and P10
static LogicalResult verifyEdges(ArrayRef<StageOpInterface> stages) {
  LogicalResult result = success();
  for (StageOpInterface stage : stages) {
    for (auto [input, channel] : llvm::enumerate(stage.getInputChannels()))
      if (auto producer = channel.getDefiningOp<StageOpInterface>())
        if (failed(verifyEdge(producer, stage, input)))
          result = failure();
    Value output = stage.getOutputChannel();
    if (!output)
      continue;
    if (output.use_empty())
      result = stage->emitOpError("P10: the records of stage \"")
               << stage.getStageName() << "\" are read by no stage";
    size_t readers = llvm::range_size(output.getUsers());
    if (readers > 1 && stage.getRequest<HandoffAttr>())
      result = stage->emitOpError("P8: the resident records of stage \"")
               << stage.getStageName()
               << "\" are read by at most one stage, but by " << readers;
  }
  return result;
}

/// P9
static LogicalResult verifyOutputs(ArrayRef<StageOpInterface> stages) {
  LogicalResult result = success();
  for (StageOpInterface stage : stages)
    for (Value tensor : stage.getWrittenTensors())
      for (Operation *user : tensor.getUsers()) {
        // Its shape may be asked for.
        if (user == stage || isa<tensor::DimOp>(user))
          continue;
        auto other = dyn_cast<StageOpInterface>(user);
        bool writes =
            other && llvm::is_contained(other.getWrittenTensors(), tensor);
        // Of two writers, the later one is reported.
        if (writes && !stage->isBeforeInBlock(user))
          continue;
        InFlightDiagnostic diag = user->emitOpError("P9: ")
                                  << (writes ? "writes" : "reads")
                                  << " the tensor that stage \""
                                  << stage.getStageName() << "\" writes";
        diag.attachNote(stage.getLoc()) << "written here";
        result = diag;
      }
  return result;
}

namespace {

struct VerifyProgram : public mlir::df::impl::VerifyProgramBase<VerifyProgram> {
  using Base::Base;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    bool ok = succeeded(verifyNoParams(program));
    ok &= succeeded(verifyArguments(program));
    for (auto tasks : program.getBody().getOps<TasksOp>())
      ok &= succeeded(verifyTasks(tasks, program));
    for (auto range : program.getBody().getOps<RangeOp>())
      ok &= succeeded(verifyRange(range, program));
    for (auto handler : program.getBody().getOps<HandlerOpInterface>())
      ok &= succeeded(verifyBody(handler.getHandlerBody()));
    for (auto reduce : program.getBody().getOps<ReduceOp>())
      ok &= succeeded(verifyBody(reduce.getIdentity()));

    SmallVector<StageOpInterface> stages = program.getStages();
    for (StageOpInterface stage : stages)
      ok &= succeeded(verifyRecord(stage));
    ok &= succeeded(verifyEdges(stages));
    ok &= succeeded(verifyOutputs(stages));
    numCheckedStages += stages.size();
    if (!ok)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
