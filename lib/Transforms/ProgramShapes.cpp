//===- ProgramShapes.cpp - Static shapes across stages --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fixpoint over the stage graph. A handler's arguments start from the first
// stage that calls it and lose what another caller does not have, so facts only
// ever get fewer and the rounds end.
//
//===----------------------------------------------------------------------===//

#include "ProgramShapes.h"
#include "ShapeRefinement.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::df;

namespace {

/// A handler body and the types it is called with.
struct Body {
  explicit Body(Region &region)
      : region(region), refinement(std::make_unique<ShapeRefinement>(region)) {}

  Region &region;
  std::unique_ptr<ShapeRefinement> refinement;
  SmallVector<Type> arguments; ///< empty until a stage calls it
  SmallVector<Type> results;   ///< types that its stages expect
  bool called = false;
};

class ProgramRefinement {
public:
  explicit ProgramRefinement(ProgramOp program) : program(program) {}
  FailureOr<unsigned> run();

private:
  Body &bodyOf(Operation *owner, Region &region);
  ChannelType channelOf(Value channel);
  void setChannel(Value channel, RecordType record);
  SmallVector<Type> handlerArguments(StageOpInterface stage, Body &body);
  SmallVector<Type> outputFields(StageOpInterface stage, Body *body);
  Body *originalOf(Operation *owner);
  void visitStage(StageOpInterface stage);
  LogicalResult checkStage(StageOpInterface stage);
  LogicalResult expectResults(Body &body, StageOpInterface stage,
                              TypeRange results);
  unsigned materialize();

  ProgramOp program;
  /// By handler op, or by reduce op for its identity.
  llvm::MapVector<Operation *, std::unique_ptr<Body>> bodies;
  llvm::MapVector<Value, ChannelType> channels;
  bool changed = false;
};

} // namespace

Body &ProgramRefinement::bodyOf(Operation *owner, Region &region) {
  std::unique_ptr<Body> &body = bodies[owner];
  if (!body)
    body = std::make_unique<Body>(region);
  return *body;
}

ChannelType ProgramRefinement::channelOf(Value channel) {
  auto it = channels.find(channel);
  return it == channels.end() ? cast<ChannelType>(channel.getType())
                              : it->second;
}

void ProgramRefinement::setChannel(Value channel, RecordType record) {
  ChannelType type =
      ChannelType::get(record, cast<ChannelType>(channel.getType()).getArity());
  changed |= channelOf(channel) != type;
  channels[channel] = type;
}

SmallVector<Type> ProgramRefinement::handlerArguments(StageOpInterface stage,
                                                      Body &body) {
  SmallVector<Type> types(body.region.getArgumentTypes());
  // Operands, then the fields, which a reduce has twice, then outputs.
  size_t fields = 0;
  unsigned copies = stage.getStageKind() == StageKind::reduce ? 2 : 1;
  for (Value input : stage.getInputChannels())
    fields += channelOf(input).getRecord().size() * copies;
  ValueRange read = stage.getReadTensors(), written = stage.getWrittenTensors();
  size_t next = types.size() - written.size() - fields - read.size();
  // Of a tensor at least as much is known as the program says.
  auto addTensors = [&](ValueRange tensors) {
    for (Value tensor : tensors) {
      if (Type met = meetTypes(types[next], tensor.getType()))
        types[next] = met;
      ++next;
    }
  };
  addTensors(read);
  for (Value input : stage.getInputChannels())
    for (unsigned copy = 0; copy < copies; ++copy)
      for (size_t i = 0; i < channelOf(input).getRecord().size(); ++i)
        types[next++] = getHandlerFieldType(channelOf(input), i);
  addTensors(written);
  return types;
}

SmallVector<Type> ProgramRefinement::outputFields(StageOpInterface stage,
                                                  Body *body) {
  if (stage.getStageKind() == StageKind::map)
    return body->refinement->yieldedTypes();
  // A reduce passes a single part on as it is, hence keeps its type.
  SmallVector<Type> fields(
      channelOf(stage.getInputChannels().front()).getRecord().getTypes());
  if (auto reshard = dyn_cast<ReshardOp>(stage.getOperation());
      reshard && reshard.getRows())
    for (Type &field : fields) {
      auto tensor = cast<RankedTensorType>(field);
      field = tensor.getRank() == 1
                  ? tensor.getElementType()
                  : tensor.clone(tensor.getShape().drop_front());
    }
  return fields;
}

void ProgramRefinement::visitStage(StageOpInterface stage) {
  Body *body = nullptr;
  if (HandlerOpInterface handler = stage.lookupHandler()) {
    body = &bodyOf(handler, handler.getHandlerBody());
    SmallVector<Type> arguments = handlerArguments(stage, *body);
    if (body->called)
      for (auto [known, type] : llvm::zip(body->arguments, arguments))
        type = joinTypes(known, type);
    if (!body->called || arguments != body->arguments) {
      changed = true;
      body->called = true;
      body->arguments = std::move(arguments);
    }
    (void)body->refinement->evaluate(body->arguments);
  }
  Value output = stage.getOutputChannel();
  if (!output)
    return;
  RecordType declared = cast<ChannelType>(output.getType()).getRecord();
  SmallVector<Type> fields = outputFields(stage, body);
  for (auto [field, type] : llvm::zip(fields, declared.getTypes()))
    if (Type met = meetTypes(type, field))
      field = met;
    else
      field = type;
  setChannel(output, RecordType::get(program.getContext(), declared.getNames(),
                                     fields));
}

LogicalResult ProgramRefinement::expectResults(Body &body,
                                               StageOpInterface stage,
                                               TypeRange results) {
  for (auto [i, yielded, expected] :
       llvm::enumerate(body.refinement->yieldedTypes(), results))
    if (!meetTypes(yielded, expected)) {
      InFlightDiagnostic diag =
          stage->emitOpError("stage \"")
          << stage.getStageName() << "\" needs " << expected << " as result "
          << i << " of its "
          << (body.region.getParentOp() == stage ? "identity" : "handler")
          << ", but gets " << yielded;
      diag.attachNote(body.region.front().getTerminator()->getLoc())
          << "yielded here";
      return diag;
    }
  body.results.assign(results.begin(), results.end());
  return success();
}

LogicalResult ProgramRefinement::checkStage(StageOpInterface stage) {
  Value output = stage.getOutputChannel();
  HandlerOpInterface handler = stage.lookupHandler();
  SmallVector<Type> expected;
  if (output) {
    RecordType record = channelOf(output).getRecord();
    for (auto [i, name, type] :
         llvm::enumerate(record.getNames(), record.getTypes())) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || tensor.hasStaticShape())
        continue;
      int64_t dim = llvm::find(tensor.getShape(), ShapedType::kDynamic) -
                    tensor.getShape().begin();
      InFlightDiagnostic diag =
          stage->emitOpError("field '")
          << name.getValue() << "' of the records of stage \""
          << stage.getStageName() << "\" remains " << type << ": dimension "
          << dim << " could not be made static";
      if (handler) {
        Value yielded =
            handler.getHandlerBody().front().getTerminator()->getOperand(i);
        diag.attachNote(yielded.getLoc()) << "its value comes from here";
      }
      return diag;
    }
    expected.assign(record.getTypes().begin(), record.getTypes().end());
  } else {
    for (Value tensor : stage.getWrittenTensors())
      expected.push_back(tensor.getType());
  }
  if (handler && failed(expectResults(bodyOf(handler, handler.getHandlerBody()),
                                      stage, expected)))
    return failure();
  if (auto reduce = dyn_cast<ReduceOp>(stage.getOperation()))
    return expectResults(bodyOf(reduce, reduce.getIdentity()), stage, expected);
  return success();
}

unsigned ProgramRefinement::materialize() {
  unsigned count = 0;
  for (auto &[owner, body] : bodies) {
    count += body->refinement->materialize(body->results);
    if (auto function = dyn_cast<FunctionOpInterface>(owner))
      function.setType(FunctionType::get(program.getContext(),
                                         body->region.getArgumentTypes(),
                                         body->results));
  }
  for (auto &[channel, type] : channels) {
    RecordType before = cast<ChannelType>(channel.getType()).getRecord();
    for (auto [a, b] :
         llvm::zip(before.getTypes(), type.getRecord().getTypes()))
      count += a != b;
    channel.setType(type);
  }
  return count;
}

Body *ProgramRefinement::originalOf(Operation *owner) {
  auto clone = dyn_cast<HandlerOp>(owner);
  // A sliced variant has other types than its handler, and all static ones.
  if (!clone || !clone.getVariantOfAttr() ||
      clone.getVariantAttr().getKind() == VariantKind::sliced)
    return nullptr;
  auto it = bodies.find(program.lookupSymbol(clone.getVariantOfAttr()));
  return it == bodies.end() ? nullptr : it->second.get();
}

FailureOr<unsigned> ProgramRefinement::run() {
  SmallVector<StageOpInterface> stages = program.getStages();
  do {
    changed = false;
    for (StageOpInterface stage : stages)
      visitStage(stage);
  } while (changed);

  for (StageOpInterface stage : stages)
    if (auto reduce = dyn_cast<ReduceOp>(stage.getOperation()))
      (void)bodyOf(reduce, reduce.getIdentity());
  // What no stage calls is called as it declares.
  for (auto handler : program.getOps<HandlerOpInterface>()) {
    // Such a one cannot be called.
    if (!handler.getHandlerBody().hasOneBlock())
      continue;
    Body &body = bodyOf(handler, handler.getHandlerBody());
    if (body.called)
      continue;
    llvm::append_range(body.arguments, handler.getSignature().getInputs());
    llvm::append_range(body.results, handler.getSignature().getResults());
  }
  // A variant is called like its handler.
  for (auto &[owner, body] : bodies)
    if (Body *original = originalOf(owner))
      body->arguments = original->arguments;
  for (auto &[owner, body] : bodies)
    if (failed(body->refinement->evaluate(body->arguments, /*report=*/true)))
      return failure();
  for (StageOpInterface stage : stages)
    if (failed(checkStage(stage)))
      return failure();
  for (auto &[owner, body] : bodies)
    if (Body *original = originalOf(owner)) {
      body->results = original->results;
      // Of fewer rows; whether it is no more than that is the op's affair.
      if (cast<HandlerOp>(owner).getVariantAttr().getKind() ==
          VariantKind::bounded)
        for (auto [type, yielded] :
             llvm::zip(body->results, body->refinement->yieldedTypes()))
          if (!meetTypes(type, yielded))
            type = yielded;
    }
  return materialize();
}

FailureOr<unsigned> mlir::df::refineProgramShapes(ProgramOp program) {
  return ProgramRefinement(program).run();
}
