//===- StageInterface.cpp ---------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all stages have in common: look-ups, the signature that a handler must
// have, and the constraints S1 to S10.
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/Dataflow.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::df;

#include "dataflow/IR/DataflowOpInterfaces.cpp.inc"

//===----------------------------------------------------------------------===//
// Look-ups
//===----------------------------------------------------------------------===//

/// The op of the enclosing program that `symbol` names, or null.
static Operation *lookup(StageOpInterface stage, FlatSymbolRefAttr symbol) {
  ProgramOp program = stage.getProgram();
  if (!program || !symbol)
    return nullptr;
  return SymbolTable::lookupSymbolIn(program, symbol.getAttr());
}

ProgramOp StageOpInterface::getProgram() {
  return (*this)->getParentOfType<ProgramOp>();
}

TasksOp StageOpInterface::lookupTasks() {
  return dyn_cast_or_null<TasksOp>(lookup(*this, getDomain()));
}

RangeOp StageOpInterface::lookupRange() {
  return dyn_cast_or_null<RangeOp>(lookup(*this, getRangeSymbol()));
}

HandlerOpInterface StageOpInterface::lookupHandler() {
  return dyn_cast_or_null<HandlerOpInterface>(
      lookup(*this, getHandlerSymbol()));
}

RecordType StageOpInterface::getOutputRecord() {
  Value channel = getOutputChannel();
  return channel ? cast<ChannelType>(channel.getType()).getRecord()
                 : RecordType();
}

StageOpInterface StageOpInterface::getProducer(unsigned index) {
  return getInputChannels()[index].getDefiningOp<StageOpInterface>();
}

FunctionType StageOpInterface::getExpectedSignature() {
  if (!getHandlerSymbol())
    return nullptr;
  MLIRContext *context = (*this)->getContext();
  Type index = IndexType::get(context);
  bool reduce = getStageKind() == StageKind::reduce;
  SmallVector<Type> arguments, results;
  if (!reduce) {
    TasksOp tasks = lookupTasks();
    if (!tasks)
      return nullptr;
    arguments.append(tasks.getAxes().size(), index);
  }
  if (getRangeSymbol())
    arguments.append(2, index);
  llvm::append_range(arguments, getReadTensors().getTypes());
  for (int part = 0; part < (reduce ? 2 : 1); ++part)
    for (Value input : getInputChannels()) {
      auto channel = cast<ChannelType>(input.getType());
      for (unsigned field = 0; field < channel.getRecord().size(); ++field)
        arguments.push_back(getHandlerFieldType(channel, field));
    }
  llvm::append_range(arguments, getWrittenTensors().getTypes());
  if (RecordType record = getOutputRecord())
    llvm::append_range(results, record.getTypes());
  else
    llvm::append_range(results, getWrittenTensors().getTypes());
  return FunctionType::get(context, arguments, results);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verifySymbols(StageOpInterface stage) {
  // S1
  FlatSymbolRefAttr handler = stage.getHandlerSymbol();
  HandlerOpInterface target = stage.lookupHandler();
  if (handler && !target) {
    InFlightDiagnostic diagnostic = stage->emitOpError()
                                    << "'" << handler.getValue()
                                    << "' is not a handler of the program";
    if (Operation *other = lookup(stage, handler))
      diagnostic.attachNote(other->getLoc()) << "it names this op";
    return diagnostic;
  }
  if (handler && !target.getHandlerBody().hasOneBlock()) {
    InFlightDiagnostic diagnostic =
        stage->emitOpError() << "handler '" << handler.getValue()
                             << "' must have a body of one block, got "
                             << target.getHandlerBody().getBlocks().size();
    diagnostic.attachNote(target->getLoc()) << "the handler is defined here";
    return diagnostic;
  }
  // S2
  FlatSymbolRefAttr domain = stage.getDomain();
  if (domain && !stage.lookupTasks()) {
    InFlightDiagnostic diagnostic = stage->emitOpError()
                                    << "'" << domain.getValue()
                                    << "' is not a task domain of the program";
    if (Operation *other = lookup(stage, domain))
      diagnostic.attachNote(other->getLoc()) << "it names this op";
    return diagnostic;
  }
  // S3
  FlatSymbolRefAttr symbol = stage.getRangeSymbol();
  if (!symbol)
    return success();
  RangeOp range = stage.lookupRange();
  if (!range)
    return stage->emitOpError()
           << "'" << symbol.getValue() << "' is not a range of the program";
  if (range.getTasksAttr() != domain) {
    InFlightDiagnostic diagnostic = stage->emitOpError()
                                    << "runs over range '" << symbol.getValue()
                                    << "' of domain '" << range.getTasks()
                                    << "', but its own domain is '"
                                    << domain.getValue() << "'";
    diagnostic.attachNote(range.getLoc()) << "the range is defined here";
    return diagnostic;
  }
  return success();
}

/// S5 for one input.
static LogicalResult verifyArity(StageOpInterface stage, unsigned index,
                                 StageOpInterface producer, Arity arity) {
  StageKind kind = stage.getStageKind();
  if (arity == Arity::one || arity == Arity::collected ||
      kind == StageKind::reduce || kind == StageKind::reshard)
    return success();
  if (arity == Arity::tiles) {
    // Behind a reshard the tiles are still those of the stage before it.
    StageOpInterface source = producer;
    llvm::SmallPtrSet<Operation *, 8> seen;
    while (source && source.getStageKind() == StageKind::reshard &&
           seen.insert(source).second)
      source = source.getProducer(0);
    if (stage.isPerTile() && source &&
        source.getRangeSymbol() == stage.getRangeSymbol())
      return success();
    InFlightDiagnostic diagnostic =
        stage->emitOpError()
        << "reads tiles from input " << index
        << "; it must run for each tile of the same range, or the tiles must "
           "be reduced or collected first";
    diagnostic.attachNote(producer->getLoc()) << "the tiles come from here";
    return diagnostic;
  }
  InFlightDiagnostic diagnostic = stage->emitOpError()
                                  << "input " << index << " has arity "
                                  << stringifyArity(arity)
                                  << ", which only a reduce can read";
  diagnostic.attachNote(producer->getLoc()) << "the channel comes from here";
  return diagnostic;
}

static LogicalResult verifyInputs(StageOpInterface stage) {
  for (auto [index, input] : llvm::enumerate(stage.getInputChannels())) {
    // S4
    StageOpInterface producer = stage.getProducer(index);
    if (!producer)
      return stage->emitOpError()
             << "input " << index << " does not come from a stage";
    // S5
    Arity arity = cast<ChannelType>(input.getType()).getArity();
    if (failed(verifyArity(stage, index, producer, arity)))
      return failure();
    // S6; a reshard's own rules are its C6.
    if (stage.getStageKind() == StageKind::reshard)
      continue;
    TasksOp from = producer.lookupTasks(), to = stage.lookupTasks();
    if (!from || !to)
      continue;
    for (auto axis : from.getAxes().getAsRange<StringAttr>())
      if (!to.getAxis(axis.getValue())) {
        InFlightDiagnostic diagnostic =
            stage->emitOpError()
            << "input " << index << " has axis '" << axis.getValue()
            << "', which domain '" << to.getSymName() << "' has not";
        diagnostic.attachNote(from.getLoc()) << "the input's domain";
        return diagnostic;
      }
  }
  return success();
}

/// Says what argument `index` of the handler is, for messages.
static std::string describeArgument(StageOpInterface stage, unsigned index) {
  auto take = [&](unsigned count) {
    if (index < count)
      return true;
    index -= count;
    return false;
  };
  if (stage.getStageKind() != StageKind::reduce) {
    ArrayAttr axes = stage.lookupTasks().getAxes();
    if (take(axes.size()))
      return ("axis '" + cast<StringAttr>(axes[index]).getValue() + "'").str();
  }
  if (stage.getRangeSymbol() && take(2))
    return index == 0 ? "begin of the piece" : "end of the piece";
  if (take(stage.getReadTensors().size()))
    return "tensor operand " + std::to_string(index);
  int parts = stage.getStageKind() == StageKind::reduce ? 2 : 1;
  for (int part = 0; part < parts; ++part)
    for (auto [input, value] : llvm::enumerate(stage.getInputChannels())) {
      RecordType record = cast<ChannelType>(value.getType()).getRecord();
      if (!take(record.size()))
        continue;
      std::string field =
          ("field '" + record.getNames()[index].getValue() + "' of ").str();
      if (parts == 2)
        return field + (part == 0 ? "the first part" : "the second part");
      return field + "input " + std::to_string(input);
    }
  return "output tensor " + std::to_string(index);
}

static LogicalResult verifySignature(StageOpInterface stage) {
  HandlerOpInterface handler = stage.lookupHandler();
  FunctionType expected = stage.getExpectedSignature();
  if (!handler || !expected)
    return success();
  FunctionType actual = handler.getSignature();
  auto fail = [&](const llvm::Twine &message) {
    InFlightDiagnostic diagnostic = stage->emitOpError()
                                    << "handler '"
                                    << handler.getHandlerName().getValue()
                                    << "' " << message;
    diagnostic.attachNote(handler->getLoc()) << "the handler is defined here";
    return diagnostic;
  };
  // S7
  if (actual.getNumInputs() != expected.getNumInputs())
    return fail("must have " + llvm::Twine(expected.getNumInputs()) +
                " arguments, got " + llvm::Twine(actual.getNumInputs()));
  for (unsigned i = 0; i < expected.getNumInputs(); ++i)
    if (actual.getInput(i) != expected.getInput(i))
      return fail("must have ")
             << expected.getInput(i) << " as argument " << i << " ("
             << describeArgument(stage, i) << "), got " << actual.getInput(i);
  // S8
  if (actual.getNumResults() != expected.getNumResults())
    return fail("must have " + llvm::Twine(expected.getNumResults()) +
                " results, got " + llvm::Twine(actual.getNumResults()));
  for (unsigned i = 0; i < expected.getNumResults(); ++i)
    if (actual.getResult(i) != expected.getResult(i))
      return fail("must have ") << expected.getResult(i) << " as result " << i
                                << ", got " << actual.getResult(i);
  return success();
}

static LogicalResult verifyTensors(StageOpInterface stage) {
  // S9
  ProgramOp program = stage.getProgram();
  for (ValueRange list : {stage.getReadTensors(), stage.getWrittenTensors()})
    for (auto [index, tensor] : llvm::enumerate(list)) {
      auto argument = dyn_cast<BlockArgument>(tensor);
      if (!argument || argument.getOwner()->getParentOp() != program)
        return stage->emitOpError()
               << "tensor " << index << " of type " << tensor.getType()
               << " is not an argument of the program";
    }
  return success();
}

static LogicalResult verifyRequests(StageOpInterface stage) {
  // S10
  ArrayAttr requests = stage.getRequestList();
  if (!requests)
    return success();
  llvm::SmallDenseSet<TypeID> kinds;
  llvm::SmallDenseSet<int64_t> operands;
  for (Attribute attribute : requests) {
    auto request = dyn_cast<RequestAttrInterface>(attribute);
    if (!request)
      return stage->emitOpError() << attribute << " is not a request";
    auto layout = dyn_cast<LayoutAttr>(attribute);
    if (layout ? !operands.insert(layout.getOperand()).second
               : !kinds.insert(attribute.getTypeID()).second) {
      InFlightDiagnostic diagnostic = stage->emitOpError()
                                      << "request " << request.getRequestName()
                                      << " is given twice";
      if (layout)
        diagnostic << " for operand " << layout.getOperand();
      return diagnostic;
    }
    if (failed(request.verifyOn(stage, [&] { return stage->emitOpError(); })))
      return failure();
  }
  return success();
}

LogicalResult mlir::df::detail::verifyStage(StageOpInterface stage) {
  if (!stage.getProgram())
    return stage->emitOpError() << "is not in a program";
  return failure(failed(verifySymbols(stage)) || failed(verifyInputs(stage)) ||
                 failed(verifyTensors(stage)) ||
                 failed(verifySignature(stage)) ||
                 failed(verifyRequests(stage)));
}
