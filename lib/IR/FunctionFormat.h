//===- FunctionFormat.h - Syntax of function-like operations ----*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What handlers and their parts have in common behind their names: arguments,
// results, attributes and a body.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_IR_FUNCTIONFORMAT_H
#define DATAFLOW_LIB_IR_FUNCTIONFORMAT_H

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

namespace mlir::df {

/// Parses the signature, the attributes and the body of an `OpT`, a
/// FunctionOpInterface.
template <typename OpT>
ParseResult parseSignatureAndBody(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<DictionaryAttr> resultAttrs;
  SmallVector<Type> argumentTypes, resultTypes;
  bool variadic = false;
  if (function_interface_impl::parseFunctionSignatureWithArguments(
          parser, /*allowVariadic=*/false, arguments, variadic, resultTypes,
          resultAttrs) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  for (const OpAsmParser::Argument &argument : arguments)
    argumentTypes.push_back(argument.type);
  result.addAttribute(
      OpT::getFunctionTypeAttrName(result.name),
      TypeAttr::get(builder.getFunctionType(argumentTypes, resultTypes)));
  call_interface_impl::addArgAndResultAttrs(
      builder, result, arguments, resultAttrs,
      OpT::getArgAttrsAttrName(result.name),
      OpT::getResAttrsAttrName(result.name));
  return parser.parseRegion(*result.addRegion(), arguments,
                            /*enableNameShadowing=*/true);
}

} // namespace mlir::df

#endif // DATAFLOW_LIB_IR_FUNCTIONFORMAT_H
