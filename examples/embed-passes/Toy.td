//===- Toy.td - Somebody else's dialect --------------------*- tablegen -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Knows nothing of dataflow programs but for the transport, an attribute that
// says it is one. That a `toy.kernel` can be a handler is told by an external
// model, in Toy.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef TOY_TD
#define TOY_TD

include "dataflow/IR/DataflowInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Toy_Dialect : Dialect {
  let name = "toy";
  let cppNamespace = "::toy";
  let useDefaultAttributePrinterParser = 1;
}

def Toy_KernelOp : Op<Toy_Dialect, "kernel", [
    IsolatedFromAbove, FunctionOpInterface]> {
  let summary = "a function of the toy compiler";
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def Toy_ResultOp : Op<Toy_Dialect, "result", [
    Pure, ReturnLike, Terminator, HasParent<"KernelOp">]> {
  let summary = "what a kernel gives back";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Toy_SquareOp : Op<Toy_Dialect, "square", [Pure, SameOperandsAndResultType]> {
  let summary = "x times x";
  let arguments = (ins AnyFloat:$x);
  let results = (outs AnyFloat:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Toy_Mailbox : AttrDef<Toy_Dialect, "Mailbox", [
    DeclareAttrInterfaceMethods<Dataflow_TransportAttrInterface>]> {
  let mnemonic = "mailbox";
  let summary = "a route to the CTAs whose numbers are at most `reach` away";
  let parameters = (ins "uint32_t":$reach);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // TOY_TD
