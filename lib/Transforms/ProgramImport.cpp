//===- ProgramImport.cpp - From a dataflow.program to the planner ---------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arguments, domains, ranges and stages in program order, which is a
// topological order because channels are SSA values.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/ProgramImport.h"

#include "ArgumentExtents.h"
#include "BoundedVariants.h"
#include "ImportSlices.h"
#include "SchedulePasses.h"

#include "dataflow/Transforms/HandlerCost.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::df;

std::optional<dfrt::ElementType> mlir::df::getElementType(Type type) {
  using dfrt::ElementType;
  Type element = getElementTypeOrSelf(type);
  if (auto integer = dyn_cast<IntegerType>(element)) {
    if (!integer.isSignless())
      return std::nullopt;
    switch (integer.getWidth()) {
    case 64:
      return ElementType::i64;
    case 32:
      return ElementType::i32;
    case 16:
      return ElementType::i16;
    case 8:
      return ElementType::i8;
    case 1:
      return ElementType::i1;
    default:
      return std::nullopt;
    }
  }
  return llvm::TypeSwitch<Type, std::optional<ElementType>>(element)
      .Case([](Float64Type) { return ElementType::f64; })
      .Case([](Float32Type) { return ElementType::f32; })
      .Case([](Float16Type) { return ElementType::f16; })
      .Case([](BFloat16Type) { return ElementType::bf16; })
      .Case([](Float8E4M3FNType) { return ElementType::f8E4M3FN; })
      .Case([](Float8E5M2Type) { return ElementType::f8E5M2; })
      .Default([](Type) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

static dfrt::Variant::Kind convertKind(VariantKind kind) {
  return static_cast<dfrt::Variant::Kind>(kind);
}

SmallVector<HandlerVariant> mlir::df::getVariants(StageOpInterface stage,
                                                  bool separable) {
  SmallVector<HandlerVariant> result;
  HandlerOpInterface generic = stage.lookupHandler();
  if (!generic)
    return result;
  result.push_back({generic, {}});
  auto program = stage->getParentOfType<ProgramOp>();
  for (auto handler : program.getBody().getOps<HandlerOpInterface>()) {
    auto of = handler->getAttrOfType<FlatSymbolRefAttr>("variant_of");
    auto kind = handler->getAttrOfType<VariantAttr>("variant");
    if (!of || !kind || of.getAttr() != generic.getHandlerName())
      continue;
    if (kind.getKind() == VariantKind::sliced && !separable)
      continue;
    // Otherwise it was made for another stage with this handler.
    if (kind.getKind() == VariantKind::bounded &&
        !stage.getRequest<BoundedAttr>())
      continue;
    dfrt::Variant variant;
    variant.kind = convertKind(kind.getKind());
    variant.value = kind.getValue();
    result.push_back({handler, variant});
  }
  llvm::sort(llvm::drop_begin(result),
             [](const HandlerVariant &a, const HandlerVariant &b) {
               return std::make_pair(a.variant.kind, a.variant.value) <
                      std::make_pair(b.variant.kind, b.variant.value);
             });
  for (auto [index, entry] : llvm::enumerate(result))
    entry.variant.symbol = (stage.getStageName() + "$" + Twine(index)).str();
  return result;
}

std::string mlir::df::getIdentitySymbol(StageOpInterface stage) {
  return (stage.getStageName() + "$identity").str();
}

namespace {

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

class Importer {
public:
  explicit Importer(ProgramOp program) : program(program) {}

  FailureOr<dfrt::Program> run();

private:
  LogicalResult importArguments();
  LogicalResult importDomain(TasksOp op);
  LogicalResult importRange(RangeOp op);
  LogicalResult importStage(StageOpInterface op);
  LogicalResult importRecord(StageOpInterface op, dfrt::Stage &stage);
  LogicalResult importRequests(StageOpInterface op, dfrt::Stage &stage);
  LogicalResult importRekey(ReshardOp op, dfrt::Stage &stage);
  HandlerFrame frameOf(HandlerOpInterface handler,
                       const dfrt::Stage &stage) const;
  LogicalResult importCode(StageOpInterface op, dfrt::Stage &stage);
  LogicalResult importVariants(StageOpInterface op, dfrt::Stage &stage);

  FailureOr<dfrt::PlanValue> importValue(Operation *op, Value value,
                                         ArrayAttr axes, uint32_t domain);
  FailureOr<uint32_t> importArgument(Operation *op, Value value);
  FailureOr<std::vector<uint32_t>> importAxes(Operation *op, ArrayAttr axes,
                                              uint32_t domain);
  uint32_t findAxis(uint32_t domain, StringRef name) const;

  ProgramOp program;
  dfrt::Program result;
  DenseMap<Attribute, uint32_t> domains, ranges; // by symbol
  DenseMap<Value, uint32_t> producers;           // by channel
  SmallVector<StageOpInterface> stages;
  SmallVector<ArgumentExtents> extents; // of the arguments
};

/// Appends a default-constructed element to `list` and returns it.
template <typename T>
T &append(std::vector<T> &list) {
  list.emplace_back();
  return list.back();
}

} // namespace

uint32_t Importer::findAxis(uint32_t domain, StringRef name) const {
  const std::vector<dfrt::Axis> &axes = result.domains[domain].axes;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].name == name)
      return static_cast<uint32_t>(i);
  }
  return dfrt::kNone;
}

FailureOr<uint32_t> Importer::importArgument(Operation *op, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner()->getParentOp() != program)
    return op->emitOpError("needs an argument of the program, got a value of "
                           "type ")
           << value.getType() << " that is computed";
  return argument.getArgNumber();
}

FailureOr<std::vector<uint32_t>>
Importer::importAxes(Operation *op, ArrayAttr axes, uint32_t domain) {
  std::vector<uint32_t> positions;
  for (StringAttr name : axes.getAsRange<StringAttr>()) {
    uint32_t axis = findAxis(domain, name);
    if (axis == dfrt::kNone)
      return op->emitOpError("index ") << name << " is not an axis of domain '"
                                       << result.domains[domain].name << "'";
    positions.push_back(axis);
  }
  return positions;
}

FailureOr<dfrt::PlanValue> Importer::importValue(Operation *op, Value value,
                                                 ArrayAttr axes,
                                                 uint32_t domain) {
  dfrt::PlanValue plan;
  if (isa<RankedTensorType>(value.getType())) {
    FailureOr<uint32_t> argument = importArgument(op, value);
    if (failed(argument))
      return failure();
    plan.kind = dfrt::PlanValue::Kind::element;
    plan.argument = *argument;
    if (axes) {
      FailureOr<std::vector<uint32_t>> positions = importAxes(op, axes, domain);
      if (failed(positions))
        return failure();
      plan.axes = std::move(*positions);
    }
    return plan;
  }
  if (std::optional<int64_t> constant = getConstantIntValue(value)) {
    plan.constant = *constant;
    return plan;
  }
  if (auto dim = value.getDefiningOp<tensor::DimOp>()) {
    std::optional<int64_t> dimension = dim.getConstantIndex();
    if (dimension && isa<BlockArgument>(dim.getSource())) {
      FailureOr<uint32_t> argument = importArgument(op, dim.getSource());
      if (failed(argument))
        return failure();
      plan.kind = dfrt::PlanValue::Kind::dimension;
      plan.argument = *argument;
      plan.dimension = static_cast<uint32_t>(*dimension);
      return plan;
    }
  }
  InFlightDiagnostic diagnostic = op->emitOpError(
      "a plan-time value must be a constant, a dimension of a program argument "
      "or an element of one");
  if (Operation *definition = value.getDefiningOp())
    diagnostic.attachNote(definition->getLoc()) << "it is computed here";
  return diagnostic;
}

LogicalResult Importer::importArguments() {
  for (BlockArgument argument : program.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    std::optional<dfrt::ElementType> element = getElementType(type);
    if (!element)
      return emitProgramError(program)
             << "argument '" << program.getArgumentName(argument)
             << "' has elements of type " << type.getElementType()
             << ", which a plan cannot name";
    dfrt::Argument &entry = append(result.arguments);
    entry.name = program.getArgumentName(argument).str();
    entry.element = *element;
    for (int64_t extent : type.getShape())
      entry.shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
    extents.emplace_back(type.getRank()).addUses(argument);
  }
  return success();
}

LogicalResult Importer::importDomain(TasksOp op) {
  uint32_t index = static_cast<uint32_t>(result.domains.size());
  domains[op.getSymNameAttr()] = index;
  dfrt::Domain &domain = append(result.domains);
  domain.name = op.getSymName().str();
  for (auto [name, extent] :
       llvm::zip(op.getAxes().getAsRange<StringAttr>(), op.getExtents())) {
    FailureOr<dfrt::PlanValue> value = importValue(op, extent, {}, index);
    if (failed(value))
      return failure();
    dfrt::Axis &axis = append(domain.axes);
    axis.name = name.str();
    axis.extent = *value;
  }
  for (auto [value, field] :
       {std::make_pair(op.getCoordinates(), &domain.coordinates),
        std::make_pair(op.getWeights(), &domain.weights)}) {
    if (!value)
      continue;
    FailureOr<uint32_t> argument = importArgument(op, value);
    if (failed(argument))
      return failure();
    *field = *argument;
  }
  return success();
}

LogicalResult Importer::importRange(RangeOp op) {
  std::optional<int64_t> tile = op.getStaticTile();
  if (!tile)
    return op.emitOpError("tile is still a parameter; specialise the program "
                          "first");
  ranges[op.getSymNameAttr()] = static_cast<uint32_t>(result.ranges.size());
  dfrt::Range range;
  range.name = op.getSymName().str();
  range.domain = domains.lookup(op.getTasksAttr().getAttr());
  range.tile = *tile;
  FailureOr<dfrt::PlanValue> length =
      importValue(op, op.getLength(), op.getLengthAxesAttr(), range.domain);
  if (failed(length))
    return failure();
  range.length = *length;
  if (op.getOffset()) {
    FailureOr<dfrt::PlanValue> offset =
        importValue(op, op.getOffset(), op.getOffsetAxesAttr(), range.domain);
    if (failed(offset))
      return failure();
    range.offset = *offset;
  }
  result.ranges.push_back(std::move(range));
  return success();
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

LogicalResult Importer::importRecord(StageOpInterface op, dfrt::Stage &stage) {
  auto channel = cast<ChannelType>(op.getOutputChannel().getType());
  stage.arity = static_cast<dfrt::Arity>(channel.getArity());
  RecordType record = channel.getRecord();
  for (auto [name, type] : llvm::zip(record.getNames(), record.getTypes())) {
    std::optional<dfrt::ElementType> element = getElementType(type);
    if (!element)
      return op->emitOpError("field '")
             << name.getValue() << "' has elements of type "
             << getElementTypeOrSelf(type) << ", which a plan cannot name";
    dfrt::Field &field = append(stage.record.fields);
    field.name = name.str();
    field.element = *element;
    if (auto shaped = dyn_cast<RankedTensorType>(type)) {
      if (!shaped.hasStaticShape())
        return op->emitOpError("field '")
               << name.getValue() << "' has the type " << type
               << ", whose shape is not static; specialise the program first";
      field.shape.assign(shaped.getShape().begin(), shaped.getShape().end());
    }
  }
  return success();
}

LogicalResult Importer::importRequests(StageOpInterface op,
                                       dfrt::Stage &stage) {
  ArrayAttr requests = op.getRequestList();
  if (!requests)
    return success();
  // What a kernel has taken over in dataflow-split-roles.
  bool split = !op.getProgram().getBody().getOps<KernelOp>().empty();
  for (auto request : requests.getAsRange<RequestAttrInterface>()) {
    if (split && isa<PipelineAttr>(Attribute(request)))
      continue;
    // What a kernel obeys when it is made.
    if (isa<PrecisionAttr>(Attribute(request)) && isa<ReduceOp>(*op))
      continue;
    if (isa<PipelineAttr>(Attribute(request)))
      return op->emitOpError("request '")
             << request.getRequestName() << "' on stage \"" << op.getStageName()
             << "\" is obeyed by dataflow-split-roles, which has made no "
                "kernel here: "
             << Attribute(request);
    if (!request.isObeyedByPlanner())
      return op->emitOpError("request '")
             << request.getRequestName() << "' on stage \"" << op.getStageName()
             << "\" is not obeyed by any pass yet: " << Attribute(request);
    dfrt::StageRequests &into = stage.requests;
    if (auto coarsening = dyn_cast<CoarseningAttr>(Attribute(request))) {
      into.minTiles = coarsening.getHandlerExtent() / coarsening.getExtent();
    } else if (auto memory = dyn_cast<MemoryAttr>(Attribute(request))) {
      into.memory = static_cast<dfrt::StageRequests::Memory>(memory.getKind());
    } else if (isa<HandoffAttr>(Attribute(request))) {
      into.resident = true;
    } else if (auto bounded = dyn_cast<BoundedAttr>(Attribute(request))) {
      stage.bound = ranges.lookup(bounded.getRange().getAttr());
    } else if (auto reshard =
                   dyn_cast<ReshardTransportAttr>(Attribute(request))) {
      std::optional<dfrt::Transport> via = getTransport(reshard.getVia());
      if (!via)
        return op->emitOpError("request '")
               << request.getRequestName() << "' on stage \""
               << op.getStageName() << "\" names the transport "
               << reshard.getVia() << ", which the planner does not know";
      into.transport = *via;
    } else {
      return op->emitOpError("request '")
             << request.getRequestName() << "' on stage \"" << op.getStageName()
             << "\" has no meaning for the planner";
    }
  }
  return success();
}

LogicalResult Importer::importRekey(ReshardOp op, dfrt::Stage &stage) {
  dfrt::Rekey &rekey = stage.rekey;
  if (!op.getIndex())
    return success();
  uint32_t source = result.stages[stage.inputs.front().stage].domain;
  FailureOr<uint32_t> argument = importArgument(op, op.getIndex());
  if (failed(argument))
    return failure();
  rekey.argument = *argument;
  if (ArrayAttr names = op.getIndexAxesAttr()) {
    FailureOr<std::vector<uint32_t>> axes = importAxes(op, names, source);
    if (failed(axes))
      return failure();
    rekey.axes = std::move(*axes);
  }
  rekey.axis = findAxis(stage.domain, *op.getKey());
  rekey.rows = op.getRows();
  return success();
}

HandlerFrame Importer::frameOf(HandlerOpInterface handler,
                               const dfrt::Stage &stage) const {
  HandlerFrame frame;
  frame.body = &handler.getHandlerBody().front();
  auto arguments = frame.body->getArguments();
  size_t next = stage.kind == dfrt::StageKind::reduce
                    ? 0
                    : result.domains[stage.domain].axes.size();
  if (stage.range != dfrt::kNone) {
    frame.begin = arguments[next++];
    frame.end = arguments[next++];
    frame.tile = result.ranges[stage.range].tile;
  }
  for (size_t i = 0; i < stage.operands.size(); ++i)
    frame.operands.push_back(arguments[next++]);
  for (BlockArgument output : arguments.take_back(stage.outputs.size()))
    frame.outputs.push_back(output);
  return frame;
}

LogicalResult Importer::importCode(StageOpInterface op, dfrt::Stage &stage) {
  HandlerOpInterface handler = op.lookupHandler();
  HandlerFrame frame = frameOf(handler, stage);
  stage.cost = analyzeCost(frame);
  for (auto [index, tensor] : llvm::zip(stage.operands, frame.operands))
    extents[index].addUses(tensor);
  for (auto [index, tensor] : llvm::zip(stage.outputs, frame.outputs))
    extents[index].addUses(tensor);
  return applyCostAttribute(handler, stage.cost);
}

/// The variants of a stage, and what those for few elements cost.
LogicalResult Importer::importVariants(StageOpInterface op,
                                       dfrt::Stage &stage) {
  for (HandlerVariant &entry : getVariants(op, stage.separable)) {
    dfrt::Variant &variant = entry.variant;
    if (variant.kind == dfrt::Variant::Kind::bounded) {
      variant.cost = analyzeCost(frameOf(entry.handler, stage));
      if (failed(applyCostAttribute(entry.handler, variant.cost)))
        return failure();
    }
    stage.variants.push_back(std::move(variant));
  }
  return checkBoundedVariants(op);
}

LogicalResult Importer::importStage(StageOpInterface op) {
  dfrt::Stage stage;
  stage.name = op.getStageName().str();
  stage.kind = static_cast<dfrt::StageKind>(op.getStageKind());
  stage.domain = domains.lookup(op.getDomain().getAttr());
  if (FlatSymbolRefAttr range = op.getRangeSymbol())
    stage.range = ranges.lookup(range.getAttr());
  stage.each = op.isPerTile();
  for (Value channel : op.getInputChannels()) {
    dfrt::StageInput &input = append(stage.inputs);
    input.stage = producers.lookup(channel);
    uint32_t source = result.stages[input.stage].domain;
    for (const dfrt::Axis &axis : result.domains[source].axes)
      input.axes.push_back(findAxis(stage.domain, axis.name));
  }
  for (auto [tensors, indices] :
       {std::make_pair(op.getReadTensors(), &stage.operands),
        std::make_pair(op.getWrittenTensors(), &stage.outputs)}) {
    for (Value tensor : tensors) {
      FailureOr<uint32_t> argument = importArgument(op, tensor);
      if (failed(argument))
        return failure();
      indices->push_back(*argument);
    }
  }
  for (uint32_t output : stage.outputs)
    result.arguments[output].output = true;

  stage.arity = dfrt::Arity::none;
  if (op.getOutputChannel() && failed(importRecord(op, stage)))
    return failure();
  if (failed(importRequests(op, stage)))
    return failure();
  if (auto reshard = dyn_cast<ReshardOp>(op.getOperation())) {
    stage.reshard = static_cast<dfrt::ReshardKind>(reshard.getKind());
    if (stage.reshard == dfrt::ReshardKind::rekey &&
        failed(importRekey(reshard, stage)))
      return failure();
  } else if (failed(importCode(op, stage))) {
    return failure();
  }
  if (stage.kind == dfrt::StageKind::reduce)
    stage.identitySymbol = getIdentitySymbol(op);

  if (op.getOutputChannel())
    producers[op.getOutputChannel()] =
        static_cast<uint32_t>(result.stages.size());
  result.stages.push_back(std::move(stage));
  stages.push_back(op);
  return success();
}

FailureOr<dfrt::Program> Importer::run() {
  result.name = program.getSymName().str();
  if (failed(importArguments()))
    return failure();
  for (TasksOp tasks : program.getBody().getOps<TasksOp>()) {
    if (failed(importDomain(tasks)))
      return failure();
  }
  for (RangeOp range : program.getBody().getOps<RangeOp>()) {
    if (failed(importRange(range)))
      return failure();
  }
  for (StageOpInterface stage : program.getStages()) {
    if (failed(importStage(stage)))
      return failure();
  }
  for (auto [argument, known] : llvm::zip(result.arguments, extents)) {
    for (auto [dimension, extent] : llvm::enumerate(argument.shape))
      if (extent < 0)
        extent = known.get(dimension).value_or(-1);
  }
  importSlices(stages, result);
  for (auto [op, stage] : llvm::zip(stages, result.stages)) {
    if (dfrt::Status status = dfrt::layoutRecord(stage.record); !status)
      return op->emitOpError() << status.message();
    if (failed(importVariants(op, stage)))
      return failure();
  }
  if (dfrt::Status status = dfrt::check(result); !status)
    return emitProgramError(program) << status.message();
  return std::move(result);
}

FailureOr<dfrt::Program> mlir::df::importProgram(ProgramOp program) {
  return Importer(program).run();
}
