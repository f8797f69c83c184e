//===- Toy.cpp - Somebody else's dialect ----------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `KernelHandler` and the methods of `MailboxAttr` are all that the dataflow
// dialect asks for; the rest is what any dialect has.
//
//===----------------------------------------------------------------------===//

#include "Toy.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace toy;

//===----------------------------------------------------------------------===//
// toy.kernel as a handler
//===----------------------------------------------------------------------===//

namespace {
struct KernelHandler
    : df::HandlerOpInterface::ExternalModel<KernelHandler, KernelOp> {
  FunctionType getSignature(Operation *op) const {
    return cast<KernelOp>(op).getFunctionType();
  }
  Region &getHandlerBody(Operation *op) const {
    return cast<KernelOp>(op).getBody();
  }
  StringAttr getHandlerName(Operation *op) const {
    return cast<KernelOp>(op).getSymNameAttr();
  }
};
} // namespace

void toy::registerToy(DialectRegistry &registry) {
  registry.insert<ToyDialect>();
  registry.addExtension(+[](MLIRContext *context, ToyDialect *) {
    KernelOp::attachInterface<KernelHandler>(*context);
  });
}

//===----------------------------------------------------------------------===//
// #toy.mailbox as a transport
//===----------------------------------------------------------------------===//

StringRef MailboxAttr::getTransportName() const { return "mailbox"; }

LogicalResult
MailboxAttr::verifyRoute(const dfrt::Topology &topology, uint32_t source,
                         ArrayRef<uint32_t> destinations,
                         function_ref<InFlightDiagnostic()> emitError) const {
  for (uint32_t destination : destinations) {
    uint32_t distance =
        source > destination ? source - destination : destination - source;
    if (distance > getReach())
      return emitError() << "a mailbox reaches " << getReach()
                         << " ctas far, but cta " << destination << " is "
                         << distance << " away from cta " << source;
  }
  return success();
}

bool MailboxAttr::needsBarrier() const { return false; }

bool MailboxAttr::needsFlag() const { return true; }

//===----------------------------------------------------------------------===//
// The dialect
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

void ToyDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ToyOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ToyAttrs.cpp.inc"
      >();
}

#include "ToyDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ToyAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "ToyOps.cpp.inc"
