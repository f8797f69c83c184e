//===- RequestAttrs.cpp -----------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/Dataflow.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::df;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

/// Fails when a count that must be at least 1 is not.
static LogicalResult verifyPositive(StringRef request, StringRef key,
                                    int64_t value, EmitError emitError) {
  if (value >= 1)
    return success();
  return emitError() << request << ": " << key << " must be at least 1, got "
                     << value;
}

static LogicalResult verifyHasHandler(StringRef request, StageOpInterface stage,
                                      EmitError emitError) {
  if (stage.getStageKind() != StageKind::reshard)
    return success();
  return emitError() << request << " needs a stage with a handler, got a "
                     << stringifyStageKind(stage.getStageKind());
}

static LogicalResult verifyHasOutput(StringRef request, StageOpInterface stage,
                                     EmitError emitError) {
  if (stage.getOutputChannel())
    return success();
  return emitError() << request << " needs a stage with an output channel, got "
                     << "a " << stringifyStageKind(stage.getStageKind());
}

//===----------------------------------------------------------------------===//
// coarsening
//===----------------------------------------------------------------------===//

LogicalResult CoarseningAttr::verify(EmitError emitError, int64_t extent,
                                     int64_t handlerExtent, int64_t outputs) {
  // C1
  if (failed(verifyPositive("coarsening", "extent", extent, emitError)))
    return failure();
  // C2
  if (handlerExtent < extent || handlerExtent % extent)
    return emitError() << "coarsening: handler_extent must be a multiple of "
                          "extent, "
                       << extent << ", got " << handlerExtent;
  // C3
  if (outputs != 1)
    return emitError() << "coarsening: outputs must be 1, got " << outputs;
  return success();
}

StringRef CoarseningAttr::getRequestName() const { return getMnemonic(); }

bool CoarseningAttr::isObeyedByPlanner() const { return true; }

LogicalResult CoarseningAttr::verifyOn(StageOpInterface stage,
                                       EmitError emitError) const {
  // C4
  if (!stage.getRangeSymbol())
    return emitError() << "coarsening needs a stage with a range";
  // C5
  RangeOp range = stage.lookupRange();
  std::optional<int64_t> tile = range ? range.getStaticTile() : std::nullopt;
  if (tile && *tile != getExtent())
    return emitError() << "coarsening: extent must be the tile of range '"
                       << range.getSymName() << "', " << *tile << ", got "
                       << getExtent();
  return success();
}

//===----------------------------------------------------------------------===//
// pipeline
//===----------------------------------------------------------------------===//

LogicalResult PipelineAttr::verify(EmitError emitError, int64_t stages,
                                   int64_t producers, int64_t consumers) {
  // C1
  return failure(
      failed(verifyPositive("pipeline", "stages", stages, emitError)) ||
      failed(verifyPositive("pipeline", "producers", producers, emitError)) ||
      failed(verifyPositive("pipeline", "consumers", consumers, emitError)));
}

StringRef PipelineAttr::getRequestName() const { return getMnemonic(); }

bool PipelineAttr::isObeyedByPlanner() const { return false; }

LogicalResult PipelineAttr::verifyOn(StageOpInterface stage,
                                     EmitError emitError) const {
  // C2
  return verifyHasHandler("pipeline", stage, emitError);
}

//===----------------------------------------------------------------------===//
// bounded
//===----------------------------------------------------------------------===//

LogicalResult BoundedAttr::verify(EmitError emitError, FlatSymbolRefAttr,
                                  ArrayRef<int64_t> sizes) {
  // C1
  if (sizes.empty())
    return emitError() << "bounded names no sizes";
  if (failed(verifyPositive("bounded", "a size", sizes.front(), emitError)))
    return failure();
  for (auto [size, next] : llvm::zip(sizes, sizes.drop_front()))
    if (size >= next)
      return emitError() << "bounded: sizes must ascend, got " << next
                         << " behind " << size;
  return success();
}

StringRef BoundedAttr::getRequestName() const { return getMnemonic(); }

bool BoundedAttr::isObeyedByPlanner() const { return true; }

LogicalResult BoundedAttr::verifyOn(StageOpInterface stage,
                                    EmitError emitError) const {
  // C2
  if (stage.getStageKind() != StageKind::map &&
      stage.getStageKind() != StageKind::finalize)
    return emitError() << "bounded needs a map or a finalize, got a "
                       << stringifyStageKind(stage.getStageKind());
  // C3
  auto range = dyn_cast_or_null<RangeOp>(
      SymbolTable::lookupSymbolIn(stage->getParentOp(), getRange()));
  if (!range)
    return emitError() << "bounded: '" << getRange().getValue()
                       << "' is not a range of the program";
  if (range.getTasksAttr() != stage.getDomain())
    return emitError() << "bounded: range '" << range.getSymName()
                       << "' is of tasks '" << range.getTasks()
                       << "', the stage of '" << stage.getDomain().getValue()
                       << "'";
  if (stage.getRangeSymbol() == getRange())
    return emitError() << "bounded: '" << range.getSymName()
                       << "' is the range that the stage is called with";
  return success();
}

//===----------------------------------------------------------------------===//
// physical_form
//===----------------------------------------------------------------------===//

LogicalResult PhysicalFormAttr::verify(EmitError emitError,
                                       ArrayRef<Space> inputs,
                                       ArrayRef<Space> outputs,
                                       bool directOutput, int64_t alias) {
  // C4
  for (Space space : llvm::concat<const Space>(inputs, outputs))
    if (space == Space::unplaced)
      return emitError() << "physical_form: a space must be shared or global, "
                            "got unplaced";
  // C3
  if (alias < -1)
    return emitError() << "physical_form: output_aliases_input must not be "
                          "negative, got "
                       << alias;
  // C7
  if (inputs.empty() && outputs.empty() && !directOutput && alias == -1)
    return emitError() << "physical_form demands nothing";
  return success();
}

StringRef PhysicalFormAttr::getRequestName() const { return getMnemonic(); }

bool PhysicalFormAttr::isObeyedByPlanner() const { return false; }

LogicalResult PhysicalFormAttr::verifyOn(StageOpInterface stage,
                                         EmitError emitError) const {
  // C5
  if (failed(verifyHasHandler("physical_form", stage, emitError)))
    return failure();
  // C1
  ValueRange channels = stage.getInputChannels();
  if (!getInputs().empty() && getInputs().size() != channels.size())
    return emitError() << "physical_form: inputs must have one space for each "
                          "of the "
                       << channels.size() << " input channels, got "
                       << getInputs().size();
  // C2
  size_t outputs = stage.getOutputChannel() ? 1 : 0;
  if (!getOutputs().empty() && getOutputs().size() != outputs)
    return emitError() << "physical_form: outputs must have one space for each "
                          "of the "
                       << outputs << " output channels, got "
                       << getOutputs().size();
  // C3
  int64_t alias = getOutputAliasesInput();
  if (alias == -1)
    return success();
  if (alias >= static_cast<int64_t>(channels.size()))
    return emitError() << "physical_form: output_aliases_input is " << alias
                       << ", but the stage has " << channels.size()
                       << " input channels";
  auto input = cast<ChannelType>(channels[alias].getType());
  if (input.getRecord() != stage.getOutputRecord())
    return emitError() << "physical_form: output_aliases_input needs equal "
                          "records, but input "
                       << alias << " has " << input.getRecord()
                       << " and the output " << stage.getOutputRecord();
  // C6
  if (!getInputs().empty() && !getOutputs().empty() &&
      getInputs()[alias] != getOutputs()[0])
    return emitError() << "physical_form: the output aliases input " << alias
                       << ", but one is " << stringifySpace(getOutputs()[0])
                       << " and the other "
                       << stringifySpace(getInputs()[alias]);
  return success();
}

//===----------------------------------------------------------------------===//
// reshard_transport
//===----------------------------------------------------------------------===//

LogicalResult ReshardTransportAttr::verify(EmitError emitError,
                                           TransportAttrInterface,
                                           int64_t logical, int64_t physical,
                                           ArrayRef<StringAttr> fieldNames,
                                           ArrayRef<int64_t> fieldAxes,
                                           ConsumerOrder) {
  // C1
  if (logical < 0 || physical < 0)
    return emitError() << "reshard_transport: logical and physical must not be "
                          "negative, got "
                       << logical << " and " << physical;
  if (logical && physical && logical % physical)
    return emitError() << "reshard_transport: logical must be a multiple of "
                          "physical, "
                       << physical << ", got " << logical;
  // C3
  if (fieldNames.size() != fieldAxes.size())
    return emitError() << "reshard_transport: " << fieldNames.size()
                       << " fields have " << fieldAxes.size() << " dimensions";
  llvm::SmallDenseSet<StringAttr> seen;
  for (StringAttr name : fieldNames)
    if (!seen.insert(name).second)
      return emitError() << "reshard_transport: field '" << name.getValue()
                         << "' is given twice";
  return success();
}

StringRef ReshardTransportAttr::getRequestName() const { return getMnemonic(); }

bool ReshardTransportAttr::isObeyedByPlanner() const {
  return getTransport(getVia()).has_value() && getLogical() == 0 &&
         getPhysical() == 0 && getFieldNames().empty() &&
         getOrder() == ConsumerOrder::ascending;
}

LogicalResult ReshardTransportAttr::verifyOn(StageOpInterface stage,
                                             EmitError emitError) const {
  // C2
  if (stage.getStageKind() != StageKind::reshard)
    return emitError() << "reshard_transport needs a reshard, got a "
                       << stringifyStageKind(stage.getStageKind());
  // C3
  RecordType record = stage.getOutputRecord();
  for (auto [name, axis] : llvm::zip_equal(getFieldNames(), getFieldAxes())) {
    const auto *found = llvm::find(record.getNames(), name);
    if (found == record.getNames().end())
      return emitError() << "reshard_transport: the record has no field '"
                         << name.getValue() << "'";
    auto tensor = dyn_cast<RankedTensorType>(
        record.getTypes()[found - record.getNames().begin()]);
    int64_t rank = tensor ? tensor.getRank() : 0;
    if (axis < 0 || axis >= rank)
      return emitError() << "reshard_transport: field '" << name.getValue()
                         << "' has " << rank << " dimensions, got dimension "
                         << axis;
  }
  // C4
  auto reshard = dyn_cast<ReshardOp>(stage.getOperation());
  if (reshard && reshard.getKind() == ReshardKind::rekey &&
      isa_and_nonnull<LocalAttr>(getVia()))
    return emitError() << "reshard_transport: a rekey cannot travel by local";
  return success();
}

//===----------------------------------------------------------------------===//
// handoff
//===----------------------------------------------------------------------===//

LogicalResult HandoffAttr::verify(EmitError emitError, HandoffKind,
                                  int64_t depth) {
  // C1
  return verifyPositive("handoff", "depth", depth, emitError);
}

StringRef HandoffAttr::getRequestName() const { return getMnemonic(); }

bool HandoffAttr::isObeyedByPlanner() const { return getDepth() == 1; }

LogicalResult HandoffAttr::verifyOn(StageOpInterface stage,
                                    EmitError emitError) const {
  // C2
  if (failed(verifyHasOutput("handoff", stage, emitError)))
    return failure();
  // C3
  auto memory = stage.getRequest<MemoryAttr>();
  if (memory && memory.getKind() == MemoryKind::global)
    return emitError() << "handoff<resident> keeps records in shared memory, "
                          "but memory<global> is requested too";
  auto form = stage.getRequest<PhysicalFormAttr>();
  if (form && llvm::is_contained(form.getOutputs(), Space::global))
    return emitError() << "handoff<resident> keeps records in shared memory, "
                          "but physical_form requests global outputs";
  return success();
}

//===----------------------------------------------------------------------===//
// layout
//===----------------------------------------------------------------------===//

LogicalResult LayoutAttr::verify(EmitError emitError, int64_t operand,
                                 int64_t rank, LayoutFamily) {
  // C1
  if (operand < 0)
    return emitError() << "layout: operand must not be negative, got "
                       << operand;
  return verifyPositive("layout", "rank", rank, emitError);
}

StringRef LayoutAttr::getRequestName() const { return getMnemonic(); }

bool LayoutAttr::isObeyedByPlanner() const { return false; }

LogicalResult LayoutAttr::verifyOn(StageOpInterface stage,
                                   EmitError emitError) const {
  // C2
  ValueRange tensors = stage.getReadTensors();
  if (getOperand() >= static_cast<int64_t>(tensors.size()))
    return emitError() << "layout: operand is " << getOperand()
                       << ", but the stage has " << tensors.size()
                       << " tensor operands";
  // C3
  auto type = cast<RankedTensorType>(tensors[getOperand()].getType());
  if (type.getRank() != getRank())
    return emitError() << "layout: operand " << getOperand() << " has rank "
                       << type.getRank() << ", got " << getRank();
  return success();
}

//===----------------------------------------------------------------------===//
// precision
//===----------------------------------------------------------------------===//

LogicalResult PrecisionAttr::verify(EmitError emitError, Type accumulator,
                                    MergePrecision) {
  // C1
  if (!isa<FloatType, IntegerType>(accumulator))
    return emitError() << "precision: accumulator must be a float or an "
                          "integer, got "
                       << accumulator;
  return success();
}

StringRef PrecisionAttr::getRequestName() const { return getMnemonic(); }

bool PrecisionAttr::isObeyedByPlanner() const { return false; }

LogicalResult PrecisionAttr::verifyOn(StageOpInterface stage,
                                      EmitError emitError) const {
  // C2
  return verifyHasHandler("precision", stage, emitError);
}

//===----------------------------------------------------------------------===//
// memory
//===----------------------------------------------------------------------===//

StringRef MemoryAttr::getRequestName() const { return getMnemonic(); }

bool MemoryAttr::isObeyedByPlanner() const { return true; }

LogicalResult MemoryAttr::verifyOn(StageOpInterface stage,
                                   EmitError emitError) const {
  // C1
  if (failed(verifyHasOutput("memory", stage, emitError)))
    return failure();
  // C2
  auto form = stage.getRequest<PhysicalFormAttr>();
  if (!form || form.getOutputs().empty() || getKind() == MemoryKind::automatic)
    return success();
  if (stringifySpace(form.getOutputs()[0]) != stringifyMemoryKind(getKind()))
    return emitError() << "memory<" << stringifyMemoryKind(getKind())
                       << "> contradicts physical_form, which requests "
                       << stringifySpace(form.getOutputs()[0]) << " outputs";
  return success();
}
