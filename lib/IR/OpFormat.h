//===- OpFormat.h -----------------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The custom directives of the ops' declarative formats.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_IR_OPFORMAT_H
#define DATAFLOW_LIB_IR_OPFORMAT_H

#include "dataflow/IR/Dataflow.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

namespace mlir::df {

using Unresolved = OpAsmParser::UnresolvedOperand;

/// The value of an enum attribute as a bare word.
template <typename AttrT>
ParseResult parseWord(OpAsmParser &parser, AttrT &attribute) {
  using Enum = decltype(attribute.getValue());
  FailureOr<Enum> value = FieldParser<Enum>::parse(parser);
  if (failed(value))
    return failure();
  attribute = AttrT::get(parser.getContext(), *value);
  return success();
}

template <typename AttrT>
void printWord(OpAsmPrinter &printer, Operation *, AttrT attribute) {
  printer << stringifyEnum(attribute.getValue());
}

//===----------------------------------------------------------------------===//
// Program group
//===----------------------------------------------------------------------===//

/// `[` name (`,` name)* `]`, possibly empty.
inline ParseResult parseNameList(OpAsmParser &parser, ArrayAttr &names) {
  SmallVector<Attribute> list;
  auto parseName = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return failure();
    list.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseName))
    return failure();
  names = parser.getBuilder().getArrayAttr(list);
  return success();
}

inline void printNameList(OpAsmPrinter &printer, ArrayAttr names) {
  printer << '[';
  llvm::interleaveComma(
      names.getAsRange<StringAttr>(), printer,
      [&](StringAttr name) { printer.printKeywordOrString(name.getValue()); });
  printer << ']';
}

/// (name `=` extent (`,` name `=` extent)*)?
inline ParseResult parseAxes(OpAsmParser &parser, ArrayAttr &axes,
                             SmallVectorImpl<Unresolved> &extents) {
  SmallVector<Attribute> names;
  std::string name;
  while (succeeded(parser.parseOptionalKeywordOrString(&name))) {
    if (parser.parseEqual() || parser.parseOperand(extents.emplace_back()))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    if (failed(parser.parseOptionalComma()))
      break;
  }
  axes = parser.getBuilder().getArrayAttr(names);
  return success();
}

inline void printAxes(OpAsmPrinter &printer, Operation *, ArrayAttr axes,
                      OperandRange extents) {
  llvm::interleaveComma(llvm::zip_equal(axes.getAsRange<StringAttr>(), extents),
                        printer, [&](auto it) {
                          printer.printKeywordOrString(
                              std::get<0>(it).getValue());
                          printer << " = " << std::get<1>(it);
                        });
}

/// operand (`[` axis (`,` axis)* `]`)?
inline ParseResult parsePlanValue(OpAsmParser &parser, Unresolved &value,
                                  ArrayAttr &axes) {
  if (parser.parseOperand(value))
    return failure();
  SMLoc location = parser.getCurrentLocation();
  if (failed(parser.parseOptionalLSquare()))
    return success();
  SmallVector<Attribute> names;
  if (succeeded(parser.parseOptionalRSquare())) {
    axes = parser.getBuilder().getArrayAttr(names);
    return success();
  }
  do {
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return parser.emitError(location, "expected a list of task axes");
    names.push_back(parser.getBuilder().getStringAttr(name));
  } while (succeeded(parser.parseOptionalComma()));
  axes = parser.getBuilder().getArrayAttr(names);
  return parser.parseRSquare();
}

inline void printPlanValue(OpAsmPrinter &printer, Operation *, Value value,
                           ArrayAttr axes) {
  printer << value;
  if (axes)
    printNameList(printer, axes);
}

/// plan-value, behind `offset`
inline ParseResult parseOffsetValue(OpAsmParser &parser,
                                    std::optional<Unresolved> &offset,
                                    ArrayAttr &axes) {
  offset.emplace();
  return parsePlanValue(parser, *offset, axes);
}

inline void printOffsetValue(OpAsmPrinter &printer, Operation *op, Value offset,
                             ArrayAttr axes) {
  if (offset)
    printPlanValue(printer, op, offset, axes);
}

/// (`:` types of the indexed values)?
inline ParseResult parsePlanValueTypes(OpAsmParser &parser, Type &length,
                                       ArrayAttr lengthAxes,
                                       std::optional<Unresolved> offsetValue,
                                       Type &offset, ArrayAttr offsetAxes) {
  length = parser.getBuilder().getIndexType();
  if (offsetValue)
    offset = length;
  if (!lengthAxes && !offsetAxes)
    return success();
  if (parser.parseColon())
    return failure();
  if (lengthAxes && parser.parseType(length))
    return failure();
  if (lengthAxes && offsetAxes && parser.parseComma())
    return failure();
  return offsetAxes ? parser.parseType(offset) : ParseResult(success());
}

inline void printPlanValueTypes(OpAsmPrinter &printer, Operation *, Type length,
                                ArrayAttr lengthAxes, Value, Type offset,
                                ArrayAttr offsetAxes) {
  if (lengthAxes)
    printer << ": " << length;
  if (offsetAxes)
    printer << (lengthAxes ? ", " : ": ") << offset;
}

/// integer | string
inline ParseResult parseTile(OpAsmParser &parser, Attribute &tile) {
  int64_t number;
  OptionalParseResult result = parser.parseOptionalInteger(number);
  if (!result.has_value()) {
    std::string name;
    if (parser.parseString(&name))
      return failure();
    tile = parser.getBuilder().getStringAttr(name);
    return success();
  }
  tile = parser.getBuilder().getI64IntegerAttr(number);
  return *result;
}

inline void printTile(OpAsmPrinter &printer, Operation *, Attribute tile) {
  if (auto number = dyn_cast<IntegerAttr>(tile))
    printer << number.getInt();
  else
    printer << tile;
}

/// ((`over` | `each`) range)?
inline OptionalParseResult parseRangeClause(OpAsmParser &parser,
                                            FlatSymbolRefAttr &range,
                                            UnitAttr &each) {
  if (succeeded(parser.parseOptionalKeyword("each")))
    each = parser.getBuilder().getUnitAttr();
  else if (failed(parser.parseOptionalKeyword("over")))
    return std::nullopt;
  return parser.parseAttribute(range);
}

inline void printRangeClause(OpAsmPrinter &printer, Operation *,
                             FlatSymbolRefAttr range, UnitAttr each) {
  if (range)
    printer << (each ? "each " : "over ") << range;
}

/// (`to` tasks (`by` index `[` axes `]` `key` axis `rows`?)?)?
inline OptionalParseResult parseRekeyClause(OpAsmParser &parser,
                                            FlatSymbolRefAttr &tasks,
                                            std::optional<Unresolved> &index,
                                            ArrayAttr &axes, StringAttr &key,
                                            UnitAttr &rows) {
  if (failed(parser.parseOptionalKeyword("to")))
    return std::nullopt;
  if (parser.parseAttribute(tasks))
    return failure();
  if (failed(parser.parseOptionalKeyword("by")))
    return success();
  index.emplace();
  std::string name;
  if (parser.parseOperand(*index) || parseNameList(parser, axes) ||
      parser.parseKeyword("key") || parser.parseKeywordOrString(&name))
    return failure();
  key = parser.getBuilder().getStringAttr(name);
  if (succeeded(parser.parseOptionalKeyword("rows")))
    rows = parser.getBuilder().getUnitAttr();
  return success();
}

inline void printRekeyClause(OpAsmPrinter &printer, Operation *,
                             FlatSymbolRefAttr tasks, Value index,
                             ArrayAttr axes, StringAttr key, UnitAttr rows) {
  if (!tasks)
    return;
  printer << "to " << tasks;
  if (!index || !axes || !key)
    return;
  printer << " by " << index;
  printNameList(printer, axes);
  printer << " key ";
  printer.printKeywordOrString(key.getValue());
  if (rows)
    printer << " rows";
}

/// A region in which names may be used again: its op is isolated from above.
inline ParseResult parseIdentityRegion(OpAsmParser &parser, Region &region) {
  return parser.parseRegion(region, {}, /*enableNameShadowing=*/true);
}

inline void printIdentityRegion(OpAsmPrinter &printer, Operation *,
                                Region &region) {
  printer.printRegion(region);
}

//===----------------------------------------------------------------------===//
// Schedule group
//===----------------------------------------------------------------------===//

/// The whole attribute, so that `#dataflow.topology` is read and written.
inline ParseResult parseTopology(OpAsmParser &parser, TopologyAttr &topology) {
  return parser.parseAttribute(topology);
}

inline void printTopology(OpAsmPrinter &printer, Operation *,
                          TopologyAttr topology) {
  printer << Attribute(topology);
}

/// (keyword `[` begin `,` end `]`)?
template <typename IntT>
inline OptionalParseResult parseSpan(OpAsmParser &parser, StringRef keyword,
                                     IntegerAttr &begin, IntegerAttr &end) {
  Builder &builder = parser.getBuilder();
  constexpr unsigned width = sizeof(IntT) * 8;
  if (failed(parser.parseOptionalKeyword(keyword)))
    return std::nullopt;
  IntT first, last;
  if (parser.parseLSquare() || parser.parseInteger(first) ||
      parser.parseComma() || parser.parseInteger(last) || parser.parseRSquare())
    return failure();
  begin = builder.getIntegerAttr(builder.getIntegerType(width), first);
  end = builder.getIntegerAttr(builder.getIntegerType(width), last);
  return success();
}

inline void printSpan(OpAsmPrinter &printer, StringRef keyword,
                      IntegerAttr begin, IntegerAttr end) {
  int64_t first = begin ? begin.getInt() : 0, last = end ? end.getInt() : 1;
  if (first != 0 || last != 1)
    printer << keyword << " [" << first << ", " << last << ']';
}

inline OptionalParseResult parseSlices(OpAsmParser &parser, IntegerAttr &begin,
                                       IntegerAttr &end) {
  return parseSpan<int32_t>(parser, "slices", begin, end);
}

inline void printSlices(OpAsmPrinter &printer, Operation *, IntegerAttr begin,
                        IntegerAttr end) {
  printSpan(printer, "slices", begin, end);
}

inline OptionalParseResult parseTiles(OpAsmParser &parser, IntegerAttr &begin,
                                      IntegerAttr &end) {
  return parseSpan<int64_t>(parser, "tiles", begin, end);
}

inline void printTiles(OpAsmPrinter &printer, Operation *, IntegerAttr begin,
                       IntegerAttr end) {
  printSpan(printer, "tiles", begin, end);
}

/// `ticket` | `cta` number
inline ParseResult parseQueueOwner(OpAsmParser &parser, IntegerAttr &cta) {
  if (succeeded(parser.parseOptionalKeyword("ticket")))
    return success();
  int32_t number;
  if (parser.parseKeyword("cta") || parser.parseInteger(number))
    return failure();
  cta = parser.getBuilder().getI32IntegerAttr(number);
  return success();
}

inline void printQueueOwner(OpAsmPrinter &printer, Operation *,
                            IntegerAttr cta) {
  if (cta)
    printer << "cta " << cta.getInt();
  else
    printer << "ticket";
}

/// (`ins` `[` slot (`row` number)? `wait`? (`,` ...)* `]`)?
/// (`outs` `[` slot (`,` slot)* `]`)?
inline ParseResult parseSlotLists(OpAsmParser &parser, ArrayAttr &ins,
                                  DenseI64ArrayAttr &rows,
                                  DenseBoolArrayAttr &waits, ArrayAttr &outs) {
  SmallVector<Attribute> slots;
  SmallVector<int64_t> rowList;
  SmallVector<bool> waitList;
  auto parseSlot = [&]() -> ParseResult {
    FlatSymbolRefAttr slot;
    if (parser.parseAttribute(slot))
      return failure();
    slots.push_back(slot);
    rowList.push_back(-1);
    if (succeeded(parser.parseOptionalKeyword("row")) &&
        parser.parseInteger(rowList.back()))
      return failure();
    waitList.push_back(succeeded(parser.parseOptionalKeyword("wait")));
    return success();
  };
  if (succeeded(parser.parseOptionalKeyword("ins")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseSlot))
    return failure();
  Builder &builder = parser.getBuilder();
  ins = builder.getArrayAttr(slots);
  outs = builder.getArrayAttr({});
  if (llvm::any_of(rowList, [](int64_t row) { return row != -1; }))
    rows = builder.getDenseI64ArrayAttr(rowList);
  if (llvm::is_contained(waitList, true))
    waits = builder.getDenseBoolArrayAttr(waitList);
  if (succeeded(parser.parseOptionalKeyword("outs")))
    return parser.parseAttribute(outs);
  return success();
}

inline void printSlotLists(OpAsmPrinter &printer, Operation *, ArrayAttr ins,
                           DenseI64ArrayAttr rows, DenseBoolArrayAttr waits,
                           ArrayAttr outs) {
  if (!ins.empty()) {
    printer << "ins [";
    llvm::interleaveComma(llvm::enumerate(ins), printer, [&](auto it) {
      printer << it.value();
      if (rows && rows[it.index()] != -1)
        printer << " row " << rows[it.index()];
      if (waits && waits[it.index()])
        printer << " wait";
    });
    printer << (outs.empty() ? "]" : "] ");
  }
  if (!outs.empty())
    printer << "outs " << outs;
}

} // namespace mlir::df

#endif // DATAFLOW_LIB_IR_OPFORMAT_H
