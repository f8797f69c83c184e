//===- Toy.h - Somebody else's dialect --------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOY_H
#define TOY_H

#include "dataflow/IR/Dataflow.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

#include <memory>

#include "ToyDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ToyAttrs.h.inc"
#define GET_OP_CLASSES
#include "ToyOps.h.inc"

namespace toy {

/// The dialect, and that `toy.kernel` is a handler of dataflow programs.
void registerToy(mlir::DialectRegistry &registry);

/// Lowers toy.square, so that handler bodies hold upstream operations only.
std::unique_ptr<mlir::Pass> createLowerSquares();

/// Sends what a schedule sends through global memory by #toy.mailbox, wherever
/// that reaches all destinations.
std::unique_ptr<mlir::Pass> createRouteMailboxes(uint32_t reach);

/// The lowering of that transport: back to a slot in global memory. A pass for
/// hardware that has mailboxes would make its own device code here.
std::unique_ptr<mlir::Pass> createLowerMailboxes();

} // namespace toy

#endif // TOY_H
