//===- DataflowInterfaces.td -------------------------------*- tablegen -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the passes need to know of a stage, a handler, a transport and a
// request. Embedders implement these on their own ops and attributes; no pass
// asks for a concrete class where an interface will do.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_IR_DATAFLOWINTERFACES_TD
#define DATAFLOW_IR_DATAFLOWINTERFACES_TD

include "mlir/IR/Interfaces.td"

def Dataflow_StageOpInterface : OpInterface<"StageOpInterface"> {
  let cppNamespace = "::mlir::df";
  let description = [{
    A node of a program's stage graph: reads the records of its input channels,
    calls a handler for every task (and piece of the task's range), and puts the
    results on its output channel or into its output tensors. The interface
    verifies what all stages have in common: (S1) to (S10) of `dataflow.map`.
  }];
  let methods = [
    InterfaceMethod<"Name of the stage, unique in the program.",
      "::llvm::StringRef", "getStageName">,
    InterfaceMethod<"Kind of the stage.",
      "::mlir::df::StageKind", "getStageKind">,
    InterfaceMethod<"Input channels, in the order of the handler's arguments.",
      "::mlir::ValueRange", "getInputChannels">,
    InterfaceMethod<"Output channel, or null for a finalize.",
      "::mlir::Value", "getOutputChannel">,
    InterfaceMethod<"Symbol of the handler, or null for a reshard.",
      "::mlir::FlatSymbolRefAttr", "getHandlerSymbol">,
    InterfaceMethod<[{Symbol of the task domain, or null when it cannot be
      told because an input does not come from a stage.}],
      "::mlir::FlatSymbolRefAttr", "getDomain">,
    InterfaceMethod<"Symbol of the range, or null.",
      "::mlir::FlatSymbolRefAttr", "getRangeSymbol",
      (ins), "", "return nullptr;">,
    InterfaceMethod<"Whether the handler is called for each tile of the range.",
      "bool", "isPerTile", (ins), "", "return false;">,
    InterfaceMethod<"Tensor operands that the handler reads.",
      "::mlir::ValueRange", "getReadTensors", (ins), "", "return {};">,
    InterfaceMethod<"Tensor operands that the handler updates.",
      "::mlir::ValueRange", "getWrittenTensors", (ins), "", "return {};">,
    InterfaceMethod<"Request attributes; may be null.",
      "::mlir::ArrayAttr", "getRequestList">
  ];
  let extraClassDeclaration = [{
    /// The program that holds this stage, or null.
    ::mlir::df::ProgramOp getProgram();
    /// What the symbols name; null when they name nothing of that kind.
    ::mlir::df::TasksOp lookupTasks();
    ::mlir::df::RangeOp lookupRange();
    ::mlir::df::HandlerOpInterface lookupHandler();
    /// Record of the output channel, or null for a finalize.
    ::mlir::df::RecordType getOutputRecord();
    /// The stage whose channel is input `index`, or null.
    ::mlir::df::StageOpInterface getProducer(unsigned index);
    /// The signature that the handler must have, or null when the operands or
    /// the task domain do not tell (or for a reshard).
    ::mlir::FunctionType getExpectedSignature();
    /// The request of this kind, or null.
    template <typename RequestT>
    RequestT getRequest() {
      if (::mlir::ArrayAttr requests = getRequestList())
        for (::mlir::Attribute request : requests)
          if (auto found = ::llvm::dyn_cast<RequestT>(request))
            return found;
      return {};
    }
  }];
  let verify = [{
    return ::mlir::df::detail::verifyStage(
        ::mlir::cast<::mlir::df::StageOpInterface>($_op));
  }];
  let verifyWithRegions = 1;
}

def Dataflow_HandlerOpInterface : OpInterface<"HandlerOpInterface"> {
  let cppNamespace = "::mlir::df";
  let description = [{
    The code of a stage: a symbol with a signature and one body region whose
    returns yield the results. Attached to `dataflow.handler` and, as an
    external model, to `func.func`. In text, the arguments of a `func.func` must
    not have the names of values of the program around it; those of a
    `dataflow.handler` may.
  }];
  let methods = [
    InterfaceMethod<"Argument and result types.",
      "::mlir::FunctionType", "getSignature">,
    InterfaceMethod<"The code.", "::mlir::Region &", "getHandlerBody">,
    InterfaceMethod<"The symbol by which stages name it.",
      "::mlir::StringAttr", "getHandlerName">
  ];
}

def Dataflow_TransportAttrInterface
    : AttrInterface<"TransportAttrInterface"> {
  let cppNamespace = "::mlir::df";
  let description = [{
    A way for a record to travel from a producer's slot to its consumers. A new
    route is one attribute with this interface and one lowering.
  }];
  let methods = [
    InterfaceMethod<"The word by which messages and reports call it.",
      "::llvm::StringRef", "getTransportName">,
    InterfaceMethod<[{Succeeds if a record may travel from CTA `source` to the
      CTAs `destinations` of this topology; else says why not.}],
      "::llvm::LogicalResult", "verifyRoute",
      (ins "const ::dfrt::Topology &":$topology, "uint32_t":$source,
           "::llvm::ArrayRef<uint32_t>":$destinations,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
    InterfaceMethod<"Every destination slot needs a barrier phase.",
      "bool", "needsBarrier">,
    InterfaceMethod<"Every destination slot needs a global flag.",
      "bool", "needsFlag">
  ];
}

def Dataflow_RequestAttrInterface : AttrInterface<"RequestAttrInterface"> {
  let cppNamespace = "::mlir::df";
  let description = [{
    A request on a stage: an input to legality and selection. The compiler
    obeys it or refuses it by name; it never ignores one.
  }];
  let methods = [
    InterfaceMethod<"The word by which messages call it.",
      "::llvm::StringRef", "getRequestName">,
    InterfaceMethod<[{Succeeds if the request makes sense on `stage`, given the
      stage's other requests.}],
      "::llvm::LogicalResult", "verifyOn",
      (ins "::mlir::df::StageOpInterface":$stage,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
    InterfaceMethod<"The planner obeys the request exactly as it is written.",
      "bool", "isObeyedByPlanner">
  ];
}

#endif // DATAFLOW_IR_DATAFLOWINTERFACES_TD
