//===- FuncExtension.cpp ----------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/Dataflow.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::df;

namespace {
struct FuncHandler
    : public HandlerOpInterface::ExternalModel<FuncHandler, func::FuncOp> {
  FunctionType getSignature(Operation *op) const {
    return cast<func::FuncOp>(op).getFunctionType();
  }
  Region &getHandlerBody(Operation *op) const {
    return cast<func::FuncOp>(op).getBody();
  }
  StringAttr getHandlerName(Operation *op) const {
    return cast<func::FuncOp>(op).getSymNameAttr();
  }
};
} // namespace

void mlir::df::registerFuncHandlerExtension(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, func::FuncDialect *) {
    func::FuncOp::attachInterface<FuncHandler>(*context);
  });
}
