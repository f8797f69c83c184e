//===- AttrFormat.h ---------------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsers and printers of the attributes whose parameters come by key, in any
// order, and are left out when they have their default value.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_IR_ATTRFORMAT_H
#define DATAFLOW_LIB_IR_ATTRFORMAT_H

#include "dataflow/IR/Dataflow.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::df {

/// Parses key (`=` value)? (`,` key (`=` value)?)*, each key at most once.
/// `parse` gets the key and reads everything behind it.
inline ParseResult
parseKeys(AsmParser &parser,
          llvm::function_ref<FailureOr<bool>(StringRef)> parse) {
  llvm::StringSet<> seen;
  return parser.parseCommaSeparatedList([&]() -> ParseResult {
    SMLoc location = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key))
      return failure();
    if (!seen.insert(key).second)
      return parser.emitError(location) << "key '" << key << "' is given twice";
    FailureOr<bool> known = parse(key);
    if (failed(known))
      return failure();
    if (!*known)
      return parser.emitError(location) << "unknown key '" << key << "'";
    return success();
  });
}

/// `[` space (`,` space)* `]`
inline ParseResult parseSpaces(AsmParser &parser,
                               SmallVectorImpl<Space> &spaces) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        FailureOr<Space> space = FieldParser<Space>::parse(parser);
        if (failed(space))
          return failure();
        spaces.push_back(*space);
        return success();
      });
}

inline void printSpaces(AsmPrinter &printer, ArrayRef<Space> spaces) {
  printer << '[';
  llvm::interleaveComma(spaces, printer,
                        [&](Space space) { printer << stringifySpace(space); });
  printer << ']';
}

inline ParseResult parsePhysicalForm(AsmParser &parser,
                                     SmallVector<Space> &inputs,
                                     SmallVector<Space> &outputs,
                                     bool &directOutput, int64_t &alias) {
  directOutput = false;
  alias = -1;
  return parseKeys(parser, [&](StringRef key) -> FailureOr<bool> {
    if (key == "direct_output") {
      directOutput = true;
      return true;
    }
    ParseResult result = success();
    if (key == "inputs")
      result = failure(parser.parseEqual() || parseSpaces(parser, inputs));
    else if (key == "outputs")
      result = failure(parser.parseEqual() || parseSpaces(parser, outputs));
    else if (key == "output_aliases_input")
      result = failure(parser.parseEqual() || parser.parseInteger(alias));
    else
      return false;
    if (failed(result))
      return failure();
    return true;
  });
}

/// Writes ", " before every key but the first.
class KeyPrinter {
public:
  explicit KeyPrinter(AsmPrinter &printer) : printer(printer) {}
  AsmPrinter &key(StringRef name) {
    printer << (first ? "" : ", ") << name;
    first = false;
    return printer;
  }

private:
  AsmPrinter &printer;
  bool first = true;
};

inline void printPhysicalForm(AsmPrinter &printer, ArrayRef<Space> inputs,
                              ArrayRef<Space> outputs, bool directOutput,
                              int64_t alias) {
  KeyPrinter keys(printer);
  if (!inputs.empty())
    printSpaces(keys.key("inputs") << " = ", inputs);
  if (!outputs.empty())
    printSpaces(keys.key("outputs") << " = ", outputs);
  if (directOutput)
    keys.key("direct_output");
  if (alias != -1)
    keys.key("output_aliases_input") << " = " << alias;
}

inline ParseResult parseReshardTransport(AsmParser &parser,
                                         TransportAttrInterface &via,
                                         int64_t &logical, int64_t &physical,
                                         SmallVector<StringAttr> &names,
                                         SmallVector<int64_t> &axes,
                                         ConsumerOrder &order) {
  via = nullptr;
  logical = physical = 0;
  order = ConsumerOrder::ascending;
  auto parseField = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() ||
        parser.parseInteger(axes.emplace_back()))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  };
  return parseKeys(parser, [&](StringRef key) -> FailureOr<bool> {
    if (!llvm::is_contained({"via", "logical", "physical", "fields", "order"},
                            key))
      return false;
    if (parser.parseEqual())
      return failure();
    ParseResult result = success();
    if (key == "via") {
      result = parser.parseAttribute(via);
    } else if (key == "logical") {
      result = parser.parseInteger(logical);
    } else if (key == "physical") {
      result = parser.parseInteger(physical);
    } else if (key == "fields") {
      result = parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                              parseField);
    } else {
      FailureOr<ConsumerOrder> parsed =
          FieldParser<ConsumerOrder>::parse(parser);
      if (failed(parsed))
        return failure();
      order = *parsed;
    }
    if (failed(result))
      return failure();
    return true;
  });
}

inline void printReshardTransport(AsmPrinter &printer,
                                  TransportAttrInterface via, int64_t logical,
                                  int64_t physical, ArrayRef<StringAttr> names,
                                  ArrayRef<int64_t> axes, ConsumerOrder order) {
  KeyPrinter keys(printer);
  if (via)
    keys.key("via") << " = " << Attribute(via);
  if (logical)
    keys.key("logical") << " = " << logical;
  if (physical)
    keys.key("physical") << " = " << physical;
  if (!names.empty()) {
    keys.key("fields") << " = [";
    llvm::interleaveComma(llvm::zip_equal(names, axes), printer, [&](auto it) {
      printer.printKeywordOrString(std::get<0>(it));
      printer << " = " << std::get<1>(it);
    });
    printer << ']';
  }
  keys.key("order") << " = " << stringifyConsumerOrder(order);
}

} // namespace mlir::df

#endif // DATAFLOW_LIB_IR_ATTRFORMAT_H
