//===- DataflowTypes.cpp ----------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/Dataflow.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::df;

/// (name `:` type (`,` name `:` type)*)?; a name that is no identifier is
/// quoted.
static ParseResult parseRecordFields(AsmParser &parser,
                                     SmallVectorImpl<StringAttr> &names,
                                     SmallVectorImpl<Type> &types) {
  std::string name;
  if (failed(parser.parseOptionalKeywordOrString(&name)))
    return success(); // C1 complains.
  while (true) {
    if (parser.parseColon() || parser.parseType(types.emplace_back()))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    if (failed(parser.parseOptionalComma()))
      return success();
    if (parser.parseKeywordOrString(&name))
      return failure();
  }
}

static void printRecordFields(AsmPrinter &printer, ArrayRef<StringAttr> names,
                              ArrayRef<Type> types) {
  llvm::interleaveComma(llvm::zip_equal(names, types), printer, [&](auto it) {
    printer.printKeywordOrString(std::get<0>(it));
    printer << ": " << std::get<1>(it);
  });
}

/// record (`,` arity)?
static ParseResult parseChannelBody(AsmParser &parser, RecordType &record,
                                    Arity &arity) {
  arity = Arity::one;
  if (parser.parseCustomTypeWithFallback(record))
    return failure();
  if (failed(parser.parseOptionalComma()))
    return success();
  StringRef word;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<Arity> known = symbolizeArity(word);
  if (!known)
    return parser.emitError(location)
           << "expected one of one, pieces, tiles, keyed, collected, got '"
           << word << "'";
  arity = *known;
  return success();
}

static void printChannelBody(AsmPrinter &printer, RecordType record,
                             Arity arity) {
  printer << record;
  if (arity != Arity::one)
    printer << ", " << stringifyArity(arity);
}

#define GET_TYPEDEF_CLASSES
#include "dataflow/IR/DataflowTypes.cpp.inc"

void DataflowDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dataflow/IR/DataflowTypes.cpp.inc"
      >();
}

LogicalResult
RecordType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   ArrayRef<StringAttr> names, ArrayRef<Type> types) {
  // C1
  if (types.empty())
    return emitError() << "record has no fields";
  llvm::SmallDenseSet<StringAttr> seen;
  for (auto [name, type] : llvm::zip_equal(names, types)) {
    // C2
    if (name.empty())
      return emitError() << "record has a field with an empty name";
    if (!seen.insert(name).second)
      return emitError() << "record has two fields named '" << name.getValue()
                         << "'";
    // C3
    Type element = type;
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      element = tensor.getElementType();
    if (!isa<IntegerType, FloatType>(element))
      return emitError() << "field '" << name.getValue()
                         << "' must be an integer, a float or a ranked tensor "
                            "of such, got "
                         << type;
  }
  return success();
}

Type mlir::df::getHandlerFieldType(ChannelType channel, unsigned index) {
  Type type = channel.getRecord().getTypes()[index];
  if (channel.getArity() != Arity::collected)
    return type;
  SmallVector<int64_t> shape{ShapedType::kDynamic};
  Type element = type;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    llvm::append_range(shape, tensor.getShape());
    element = tensor.getElementType();
  }
  return RankedTensorType::get(shape, element);
}
