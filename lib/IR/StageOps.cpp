//===- StageOps.cpp ---------------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The four kinds of stages. What they have in common is in StageInterface.cpp.
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/Dataflow.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::df;

static ChannelType channelType(Value channel) {
  return cast<ChannelType>(channel.getType());
}

/// The domain of the records on `channel`: that of the first stage behind it
/// that names one. Null if there is none, or a cycle, which dominance forbids
/// only after this is asked.
static FlatSymbolRefAttr domainOf(Value channel) {
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (Operation *op = channel.getDefiningOp()) {
    if (!seen.insert(op).second)
      return nullptr;
    if (auto reduce = dyn_cast<ReduceOp>(op))
      channel = reduce.getInput();
    else if (auto reshard = dyn_cast<ReshardOp>(op);
             reshard && !reshard.getTasksAttr())
      channel = reshard.getInput();
    else if (auto stage = dyn_cast<StageOpInterface>(op))
      return stage.getDomain();
    else
      return nullptr;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// MapOp
//===----------------------------------------------------------------------===//

StringRef MapOp::getStageName() { return getAs().value_or(getHandler()); }
StageKind MapOp::getStageKind() { return StageKind::map; }
ValueRange MapOp::getInputChannels() { return getInputs(); }
Value MapOp::getOutputChannel() { return getChannel(); }
FlatSymbolRefAttr MapOp::getHandlerSymbol() { return getHandlerAttr(); }
FlatSymbolRefAttr MapOp::getDomain() { return getTasksAttr(); }
FlatSymbolRefAttr MapOp::getRangeSymbol() { return getRangeAttr(); }
bool MapOp::isPerTile() { return getEach(); }
ValueRange MapOp::getReadTensors() { return getTensors(); }
ArrayAttr MapOp::getRequestList() { return getRequestsAttr(); }

void MapOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getChannel(), getStageName());
}

LogicalResult MapOp::verify() {
  // C1
  if (getEach() && !getRange())
    return emitOpError() << "has 'each' without a range";
  Arity expected = !getRange() ? Arity::one
                   : getEach() ? Arity::tiles
                               : Arity::pieces;
  Arity actual = channelType(getChannel()).getArity();
  if (actual != expected)
    return emitOpError() << "must have a channel of arity "
                         << stringifyArity(expected) << ", got "
                         << stringifyArity(actual);
  return success();
}

//===----------------------------------------------------------------------===//
// ReduceOp
//===----------------------------------------------------------------------===//

StringRef ReduceOp::getStageName() { return getAs().value_or(getHandler()); }
StageKind ReduceOp::getStageKind() { return StageKind::reduce; }
ValueRange ReduceOp::getInputChannels() { return (*this)->getOperands(); }
Value ReduceOp::getOutputChannel() { return getChannel(); }
FlatSymbolRefAttr ReduceOp::getHandlerSymbol() { return getHandlerAttr(); }
FlatSymbolRefAttr ReduceOp::getDomain() { return domainOf(getInput()); }
ArrayAttr ReduceOp::getRequestList() { return getRequestsAttr(); }

void ReduceOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getChannel(), getStageName());
}

LogicalResult ReduceOp::verify() {
  // C1
  ChannelType from = channelType(getInput()), to = channelType(getChannel());
  if (from.getArity() != Arity::pieces && from.getArity() != Arity::tiles &&
      from.getArity() != Arity::keyed)
    return emitOpError() << "must read a channel of arity pieces, tiles or "
                            "keyed, got "
                         << stringifyArity(from.getArity());
  // C2
  if (to != ChannelType::get(from.getRecord()))
    return emitOpError() << "must have " << ChannelType::get(from.getRecord())
                         << " as result, got " << to;
  // C3
  Block &identity = getIdentity().front();
  if (identity.getNumArguments() != 0)
    return emitOpError() << "identity must have no arguments, got "
                         << identity.getNumArguments();
  auto yield =
      identity.empty() ? YieldOp() : dyn_cast<YieldOp>(identity.back());
  if (!yield)
    return emitOpError() << "identity must end with dataflow.yield";
  if (yield.getOperandTypes() != TypeRange(from.getRecord().getTypes())) {
    InFlightDiagnostic diagnostic =
        emitOpError() << "identity must yield (" << from.getRecord().getTypes()
                      << "), got (" << yield.getOperandTypes() << ")";
    diagnostic.attachNote(yield.getLoc()) << "it yields here";
    return diagnostic;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ReshardOp
//===----------------------------------------------------------------------===//

StringRef ReshardOp::getStageName() { return getAs(); }
StageKind ReshardOp::getStageKind() { return StageKind::reshard; }
ValueRange ReshardOp::getInputChannels() {
  return (*this)->getOperands().take_front();
}
Value ReshardOp::getOutputChannel() { return getChannel(); }
FlatSymbolRefAttr ReshardOp::getHandlerSymbol() { return nullptr; }
FlatSymbolRefAttr ReshardOp::getDomain() {
  return getTasksAttr() ? getTasksAttr() : domainOf(getInput());
}
ArrayAttr ReshardOp::getRequestList() { return getRequestsAttr(); }

void ReshardOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getChannel(), getStageName());
}

/// The record whose fields are rows of the fields of `record`, or null when a
/// field has no first dimension or these differ.
static RecordType getRowRecord(RecordType record) {
  SmallVector<Type> types;
  std::optional<int64_t> rows;
  for (Type type : record.getTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() == 0)
      return nullptr;
    if (rows.value_or(tensor.getDimSize(0)) != tensor.getDimSize(0))
      return nullptr;
    rows = tensor.getDimSize(0);
    if (tensor.getRank() == 1)
      types.push_back(tensor.getElementType());
    else
      types.push_back(RankedTensorType::get(tensor.getShape().drop_front(),
                                            tensor.getElementType()));
  }
  return RecordType::get(record.getContext(), record.getNames(), types);
}

/// Whether the records of a channel are rows of others.
static bool sendsRows(Value channel) {
  llvm::SmallPtrSet<Operation *, 8> seen;
  auto reshard = channel.getDefiningOp<ReshardOp>();
  while (reshard && !reshard.getRows() && seen.insert(reshard).second)
    reshard = reshard.getInput().getDefiningOp<ReshardOp>();
  return reshard && reshard.getRows();
}

LogicalResult ReshardOp::verify() {
  ChannelType from = channelType(getInput()), to = channelType(getChannel());
  // C4
  bool index = getIndex() && getIndexAxes() && getKey();
  bool part = getIndex() || getIndexAxes() || getKey() || getRows();
  bool rekey = getKind() == ReshardKind::rekey;
  if (rekey ? !getTasks() : getTasks() || part)
    return emitOpError() << stringifyReshardKind(getKind())
                         << (rekey ? " needs a" : " takes no")
                         << " target ('to')";
  if (part && !index)
    return emitOpError()
           << "rekey needs an index ('by'), its axes and a key together";
  ChannelType expected;
  switch (getKind()) {
  case ReshardKind::move:
    // C1
    expected = from;
    break;
  case ReshardKind::collect:
    // C2
    if (from.getArity() != Arity::tiles && from.getArity() != Arity::keyed)
      return emitOpError()
             << "collect must read a channel of arity tiles or keyed, got "
             << stringifyArity(from.getArity());
    if (sendsRows(getInput()))
      return emitOpError() << "collect must read whole records, got rows";
    expected = ChannelType::get(from.getRecord(), Arity::collected);
    break;
  case ReshardKind::rekey: {
    // C3
    if (from.getArity() != Arity::one && from.getArity() != Arity::tiles)
      return emitOpError()
             << "rekey must read a channel of arity one or tiles, got "
             << stringifyArity(from.getArity());
    RecordType record =
        getRows() ? getRowRecord(from.getRecord()) : from.getRecord();
    if (!record)
      return emitOpError() << "rows need fields with equal first dimensions, "
                              "got "
                           << from.getRecord();
    expected = ChannelType::get(record, Arity::keyed);
    break;
  }
  }
  if (to != expected)
    return emitOpError() << "must have " << expected << " as result, got "
                         << to;
  return success();
}

static LogicalResult verifyIndex(ReshardOp op, TasksOp source, TasksOp target) {
  // C5
  auto index = cast<RankedTensorType>(op.getIndex().getType());
  auto argument = dyn_cast<BlockArgument>(op.getIndex());
  if (!argument || argument.getOwner()->getParentOp() != op->getParentOp())
    return op.emitOpError() << "index must be an argument of the program";
  int64_t rank = op.getIndexAxes()->size() + (op.getRows() ? 1 : 0);
  if (index.getRank() != rank)
    return op.emitOpError()
           << "index must have " << rank << " dimensions, got " << index;
  for (auto axis : op.getIndexAxes()->getAsRange<StringAttr>())
    if (!source.getAxis(axis.getValue()))
      return op.emitOpError() << "index axis '" << axis.getValue()
                              << "' is not an axis of the source's domain '"
                              << source.getSymName() << "'";
  // C6
  if (!target.getAxis(*op.getKey()))
    return op.emitOpError() << "key '" << *op.getKey()
                            << "' is not an axis of the target domain '"
                            << target.getSymName() << "'";
  return success();
}

LogicalResult ReshardOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getKind() != ReshardKind::rekey)
    return success();
  auto lookup = [&](FlatSymbolRefAttr symbol) {
    return symbol ? symbols.lookupNearestSymbolFrom<TasksOp>(*this, symbol)
                  : TasksOp();
  };
  TasksOp source = lookup(domainOf(getInput())), target = lookup(getDomain());
  if (!source || !target)
    return success(); // S2 and S4 complain.
  if (getIndex() && failed(verifyIndex(*this, source, target)))
    return failure();
  // C6
  for (auto axis : target.getAxes().getAsRange<StringAttr>())
    if (axis != getKeyAttr() && !source.getAxis(axis.getValue()))
      return emitOpError() << "target axis '" << axis.getValue()
                           << "' is neither the key nor an axis of the "
                              "source's domain '"
                           << source.getSymName() << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// FinalizeOp
//===----------------------------------------------------------------------===//

StringRef FinalizeOp::getStageName() { return getAs().value_or(getHandler()); }
StageKind FinalizeOp::getStageKind() { return StageKind::finalize; }
ValueRange FinalizeOp::getInputChannels() { return getInputs(); }
Value FinalizeOp::getOutputChannel() { return nullptr; }
FlatSymbolRefAttr FinalizeOp::getHandlerSymbol() { return getHandlerAttr(); }
FlatSymbolRefAttr FinalizeOp::getDomain() { return getTasksAttr(); }
FlatSymbolRefAttr FinalizeOp::getRangeSymbol() { return getRangeAttr(); }
bool FinalizeOp::isPerTile() { return getEach(); }
ValueRange FinalizeOp::getReadTensors() { return getTensors(); }
ValueRange FinalizeOp::getWrittenTensors() { return getOuts(); }
ArrayAttr FinalizeOp::getRequestList() { return getRequestsAttr(); }

LogicalResult FinalizeOp::verify() {
  // C1
  if (getEach() != getRange().has_value())
    return emitOpError() << (getEach() ? "has 'each' without a range"
                                       : "takes a range with 'each' only");
  // C2
  if (getOuts().empty())
    return emitOpError() << "has no output tensor";
  // C3
  llvm::SmallPtrSet<Value, 8> seen(getTensors().begin(), getTensors().end());
  for (auto [index, out] : llvm::enumerate(getOuts()))
    if (!seen.insert(out).second)
      return emitOpError() << "output tensor " << index
                           << " is given twice or read as an operand";
  return success();
}
