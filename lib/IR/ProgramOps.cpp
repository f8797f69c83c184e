//===- ProgramOps.cpp -------------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs, task domains, ranges, handlers and the ops of handler bodies.
//
//===----------------------------------------------------------------------===//

#include "FunctionFormat.h"
#include "dataflow/IR/Dataflow.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::df;

/// The first name that is empty or there before, or null.
static StringAttr findBadName(ArrayAttr names) {
  llvm::SmallDenseSet<StringAttr> seen;
  for (auto name : names.getAsRange<StringAttr>())
    if (name.empty() || !seen.insert(name).second)
      return name;
  return nullptr;
}

/// Fails unless `param` is an index parameter of the program around `op`.
static LogicalResult verifyIndexParam(Operation *op, StringRef param) {
  auto program = op->getParentOfType<ProgramOp>();
  if (!program)
    return op->emitOpError()
           << "names parameter '" << param << "', but is not in a program";
  if (isa_and_nonnull<IntegerAttr>(program.getParam(param)))
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError()
                                  << "'" << param
                                  << "' is not an index parameter of program '"
                                  << program.getSymName() << "'";
  diagnostic.attachNote(program.getLoc()) << "the program is defined here";
  return diagnostic;
}

/// Fails unless `tile` is at least 1 or names an index parameter.
static LogicalResult verifyTile(Operation *op, Attribute tile) {
  if (auto name = dyn_cast<StringAttr>(tile))
    return verifyIndexParam(op, name.getValue());
  int64_t value = cast<IntegerAttr>(tile).getInt();
  if (value < 1)
    return op->emitOpError() << "tile must be at least 1, got " << value;
  return success();
}

/// Whether `value` is an argument of the program around `op`.
static bool isProgramArgument(Operation *op, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument &&
         argument.getOwner()->getParentOp() == op->getParentOfType<ProgramOp>();
}

//===----------------------------------------------------------------------===//
// ProgramOp
//===----------------------------------------------------------------------===//

/// Whether `name` reads back as it is when it is printed as an SSA name.
static bool isSSAName(StringRef name) {
  auto isWord = [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-';
  };
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name, isWord);
}

void ProgramOp::getAsmBlockArgumentNames(Region &region,
                                         OpAsmSetValueNameFn setName) {
  for (auto [argument, name] :
       llvm::zip(region.getArguments(), getArgNames().getAsRange<StringAttr>()))
    if (isSSAName(name.getValue()))
      setName(argument, name.getValue());
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("params"))) {
    DictionaryAttr params;
    if (parser.parseAttribute(params, getParamsAttrName(result.name),
                              result.attributes))
      return failure();
  }
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  // The names are given only where the SSA names cannot carry them.
  if (!result.attributes.get(getArgNamesAttrName(result.name))) {
    SmallVector<StringRef> names;
    for (const OpAsmParser::Argument &argument : arguments)
      names.push_back(argument.ssaName.name.drop_front());
    result.addAttribute(getArgNamesAttrName(result.name),
                        builder.getStrArrayAttr(names));
  }
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments, /*enableNameShadowing=*/true))
    return failure();
  if (body->empty()) {
    Block &block = body->emplaceBlock();
    for (const OpAsmParser::Argument &argument : arguments)
      block.addArgument(argument.type,
                        parser.getEncodedSourceLoc(argument.ssaName.location));
  }
  return success();
}

void ProgramOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(getArguments(), printer, [&](BlockArgument argument) {
    printer.printRegionArgument(argument);
  });
  printer << ')';
  SmallVector<StringRef> hidden{getSymNameAttrName(), getParamsAttrName()};
  if (getParams())
    printer << " params " << getParamsAttr();
  if (llvm::all_of(getArgNames().getAsRange<StringAttr>(),
                   [](StringAttr name) { return isSSAName(name.getValue()); }))
    hidden.push_back(getArgNamesAttrName());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), hidden);
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/true,
                      /*printEmptyBlock=*/false);
}

BlockArgument ProgramOp::getArgument(StringRef name) {
  for (BlockArgument argument : getArguments())
    if (getArgumentName(argument) == name)
      return argument;
  return nullptr;
}

StringRef ProgramOp::getArgumentName(BlockArgument argument) {
  return cast<StringAttr>(getArgNames()[argument.getArgNumber()]).getValue();
}

SmallVector<StageOpInterface> ProgramOp::getStages() {
  return llvm::to_vector(getBody().getOps<StageOpInterface>());
}

ScheduleOp ProgramOp::getSchedule() {
  auto schedules = getBody().getOps<ScheduleOp>();
  return schedules.empty() ? ScheduleOp() : *schedules.begin();
}

LogicalResult ProgramOp::verifyRegions() {
  // C1
  for (BlockArgument argument : getArguments()) {
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    if (!tensor || !isa<IntegerType, FloatType>(tensor.getElementType()))
      return emitOpError() << "argument " << argument.getArgNumber()
                           << " must be a ranked tensor of integers or floats, "
                              "got "
                           << argument.getType();
  }
  // C2
  if (getArgNames().size() != getArguments().size())
    return emitOpError() << "has " << getArguments().size()
                         << " arguments, but arg_names has "
                         << getArgNames().size() << " entries";
  if (StringAttr name = findBadName(getArgNames()))
    return emitOpError() << "argument name '" << name.getValue()
                         << "' is empty or given twice";
  // C3
  if (DictionaryAttr params = getParamsAttr())
    for (NamedAttribute param : params) {
      auto number = dyn_cast<IntegerAttr>(param.getValue());
      if (isa<TypeAttr>(param.getValue()) ||
          (number && number.getType().isIndex()))
        continue;
      return emitOpError() << "parameter '" << param.getName().getValue()
                           << "' must be an index or a type, got "
                           << param.getValue();
    }
  // C4
  llvm::DenseMap<StringRef, Operation *> stages;
  for (StageOpInterface stage : getBody().getOps<StageOpInterface>()) {
    auto [it, inserted] = stages.insert({stage.getStageName(), stage});
    if (inserted)
      continue;
    InFlightDiagnostic diagnostic = stage->emitOpError()
                                    << "stage name '" << stage.getStageName()
                                    << "' is taken";
    diagnostic.attachNote(it->second->getLoc()) << "by this stage";
    return diagnostic;
  }
  // C5
  for (ScheduleOp schedule : getBody().getOps<ScheduleOp>())
    if (schedule->getNextNode())
      return schedule.emitOpError() << "must be the last op of its program";
  return success();
}

//===----------------------------------------------------------------------===//
// TasksOp
//===----------------------------------------------------------------------===//

std::optional<unsigned> TasksOp::getAxis(StringRef name) {
  for (auto [index, axis] : llvm::enumerate(getAxes().getAsRange<StringAttr>()))
    if (axis.getValue() == name)
      return index;
  return std::nullopt;
}

LogicalResult TasksOp::verify() {
  // C1
  if (getAxes().size() != getExtents().size())
    return emitOpError() << "has " << getAxes().size() << " axes, but "
                         << getExtents().size() << " extents";
  // C2
  if (StringAttr name = findBadName(getAxes()))
    return emitOpError() << "axis name '" << name.getValue()
                         << "' is empty or given twice";
  // C3
  if (getAxes().size() > 4)
    return emitOpError() << "has " << getAxes().size()
                         << " axes, at most 4 are supported";
  // C4
  if (Value coordinates = getCoordinates()) {
    auto type = cast<RankedTensorType>(coordinates.getType());
    int64_t axes = getAxes().size();
    if (!isProgramArgument(*this, coordinates))
      return emitOpError() << "coordinates must be an argument of the program";
    if (type.getRank() != 2 ||
        (!type.isDynamicDim(1) && type.getDimSize(1) != axes))
      return emitOpError() << "coordinates must have shape [tasks, " << axes
                           << "], got " << type;
  }
  // C5
  if (Value weights = getWeights()) {
    if (!isProgramArgument(*this, weights))
      return emitOpError() << "weights must be an argument of the program";
    if (cast<RankedTensorType>(weights.getType()).getRank() != 1)
      return emitOpError() << "weights must have rank 1, got "
                           << weights.getType();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// RangeOp
//===----------------------------------------------------------------------===//

std::optional<int64_t> RangeOp::getStaticTile() {
  if (auto number = dyn_cast<IntegerAttr>(getTile()))
    return number.getInt();
  return std::nullopt;
}

/// C2 for length or offset.
static LogicalResult verifyPlanValue(RangeOp range, StringRef what, Value value,
                                     ArrayAttr axes) {
  if (!value)
    return axes ? range.emitOpError() << "has indices, but no " << what
                : LogicalResult(success());
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!axes) {
    if (tensor)
      return range.emitOpError() << what << " without indices must be an index,"
                                 << " got " << tensor;
    return success();
  }
  if (!tensor || !isProgramArgument(range, value))
    return range.emitOpError()
           << "indexed " << what << " must be an argument of the program, got "
           << value.getType();
  if (tensor.getRank() != static_cast<int64_t>(axes.size()))
    return range.emitOpError()
           << what << " has " << tensor.getRank() << " dimensions, but "
           << axes.size() << " indices";
  return success();
}

LogicalResult RangeOp::verify() {
  // C2
  if (failed(
          verifyPlanValue(*this, "length", getLength(), getLengthAxesAttr())) ||
      failed(
          verifyPlanValue(*this, "offset", getOffset(), getOffsetAxesAttr())))
    return failure();
  // C4
  return verifyTile(*this, getTile());
}

LogicalResult RangeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // C1
  auto tasks = symbols.lookupNearestSymbolFrom<TasksOp>(*this, getTasksAttr());
  if (!tasks)
    return emitOpError() << "'" << getTasks()
                         << "' is not a task domain of the program";
  // C3
  for (ArrayAttr axes : {getLengthAxesAttr(), getOffsetAxesAttr()}) {
    if (!axes)
      continue;
    for (auto axis : axes.getAsRange<StringAttr>())
      if (!tasks.getAxis(axis.getValue())) {
        InFlightDiagnostic diagnostic =
            emitOpError() << "domain '" << getTasks() << "' has no axis '"
                          << axis.getValue() << "'";
        diagnostic.attachNote(tasks.getLoc()) << "the domain is defined here";
        return diagnostic;
      }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// HandlerOp
//===----------------------------------------------------------------------===//

void HandlerOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                      FunctionType type) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.addRegion();
}

// Not parseFunctionOp: the arguments may have the names of the program's.
ParseResult HandlerOp::parse(OpAsmParser &parser, OperationState &result) {
  (void)impl::parseOptionalVisibilityKeyword(parser, result.attributes);
  StringAttr name;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes))
    return failure();
  return parseSignatureAndBody<HandlerOp>(parser, result);
}

void HandlerOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

FunctionType HandlerOp::getSignature() { return getFunctionType(); }
Region &HandlerOp::getHandlerBody() { return getBody(); }
StringAttr HandlerOp::getHandlerName() { return getSymNameAttr(); }

/// Whether a result is that of the original but for its last rows.
static bool hasFirstRows(Type result, Type original) {
  auto rows = dyn_cast<RankedTensorType>(result);
  auto whole = dyn_cast<RankedTensorType>(original);
  if (!rows || !whole || rows.getRank() == 0 ||
      rows.getRank() != whole.getRank() || rows.isDynamicDim(0) ||
      rows.getDimSize(0) > whole.getDimSize(0))
    return result == original;
  SmallVector<int64_t> shape(whole.getShape());
  shape.front() = rows.getDimSize(0);
  return result == whole.clone(shape);
}

LogicalResult HandlerOp::verify() {
  // C1
  if (getBody().empty())
    return emitOpError() << "has no body";
  // C2
  if (getVariant().has_value() != getVariantOf().has_value())
    return emitOpError() << "has only one of variant and variant_of";
  // C3
  if (!getVariantOf())
    return success();
  auto original = dyn_cast_or_null<HandlerOpInterface>(
      SymbolTable::lookupSymbolIn((*this)->getParentOp(), getVariantOfAttr()));
  if (!original || original == getOperation())
    return emitOpError() << "variant_of '" << *getVariantOf()
                         << "' is not another handler of the program";
  if (original->hasAttr(getVariantOfAttrName()))
    return emitOpError() << "variant_of '" << *getVariantOf()
                         << "' is itself a variant";
  // C4
  if (getVariant()->getKind() == VariantKind::sliced ||
      getFunctionType() == original.getSignature())
    return success();
  FunctionType whole = original.getSignature();
  if (getVariant()->getKind() == VariantKind::bounded &&
      getFunctionType().getInputs() == whole.getInputs() &&
      llvm::equal(getFunctionType().getResults(), whole.getResults(),
                  hasFirstRows))
    return success();
  InFlightDiagnostic diagnostic =
      emitOpError() << "must have the type of '" << *getVariantOf() << "', "
                    << original.getSignature() << ", got " << getFunctionType();
  diagnostic.attachNote(original->getLoc()) << "the original is defined here";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Ops of handler bodies
//===----------------------------------------------------------------------===//

LogicalResult YieldOp::verify() {
  // C1; an identity is verified by its reduce, a missing body by the handler.
  auto function = dyn_cast<FunctionOpInterface>((*this)->getParentOp());
  if (!function || function.getResultTypes() == getOperandTypes())
    return success();
  // A part that is laid out yields tiles wherever they lie.
  auto part = dyn_cast<PartOp>(function.getOperation());
  if (part && part.getFragments() &&
      llvm::equal(part.getResultTypes(),
                  llvm::map_range(getOperandTypes(), withoutLayout)))
    return success();
  StringRef kind = isa<PartOp>(function) ? "part" : "handler";
  InFlightDiagnostic diagnostic =
      emitOpError() << "yields (" << getOperandTypes() << "), but " << kind
                    << " '" << function.getName() << "' has results ("
                    << function.getResultTypes() << ")";
  diagnostic.attachNote(function.getLoc())
      << "the " << kind << " is defined here";
  return diagnostic;
}

void ParamOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getParam());
}

LogicalResult ParamOp::verify() {
  // C1
  return verifyIndexParam(*this, getParam());
}

LogicalResult RangeTilesOp::verify() {
  // C1
  return verifyTile(*this, getTile());
}

OpFoldResult RangeTilesOp::fold(FoldAdaptor adaptor) {
  auto begin = dyn_cast_or_null<IntegerAttr>(adaptor.getBegin());
  auto end = dyn_cast_or_null<IntegerAttr>(adaptor.getEnd());
  auto tile = dyn_cast<IntegerAttr>(getTile());
  int64_t length;
  if (!begin || !end || !tile ||
      llvm::SubOverflow(end.getInt(), begin.getInt(), length))
    return nullptr;
  int64_t tiles =
      length > 0 ? llvm::divideCeilSigned(length, tile.getInt()) : 0;
  return IntegerAttr::get(IndexType::get(getContext()), tiles);
}
