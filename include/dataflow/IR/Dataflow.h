//===- Dataflow.h -----------------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything of the dataflow dialect: types, attributes, interfaces and ops.
// What the ops mean and demand is in their documentation, docs/generated.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_IR_DATAFLOW_H
#define DATAFLOW_IR_DATAFLOW_H

#include "dataflow/IR/FragmentLayout.h"
#include "dataflow/Schedule/Program.h"
#include "dataflow/Schedule/Topology.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "dataflow/IR/DataflowDialect.h.inc"
#include "dataflow/IR/DataflowEnums.h.inc"

namespace mlir::df {
class HandlerOpInterface;
class PartOp;
class ProgramOp;
class RangeOp;
class RecordType;
class ScheduleOp;
class StageOpInterface;
class StreamOp;
class TasksOp;

namespace detail {
/// The constraints S1 to S10 that `dataflow.map` documents.
LogicalResult verifyStage(StageOpInterface stage);
} // namespace detail
} // namespace mlir::df

#include "dataflow/IR/DataflowOpInterfaces.h.inc"

#include "dataflow/IR/DataflowAttrInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dataflow/IR/DataflowTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dataflow/IR/DataflowAttrs.h.inc"

#define GET_OP_CLASSES
#include "dataflow/IR/DataflowOps.h.inc"

namespace mlir {
class DialectRegistry;

namespace df {

/// Makes `func.func` a handler: attaches `HandlerOpInterface` to it when the
/// func dialect is loaded.
void registerFuncHandlerExtension(DialectRegistry &registry);

/// The planner's word for a transport attribute: `automatic` for null, nothing
/// for a transport that the planner does not know.
std::optional<dfrt::Transport> getTransport(Attribute transport);
/// The attribute for a transport; null for `automatic`.
TransportAttrInterface getTransportAttr(MLIRContext *context,
                                        dfrt::Transport transport);

/// The layout that a tensor type carries; nothing for other types.
std::optional<FragmentLayout> getFragmentLayout(Type type);
std::optional<SharedLayout> getSharedLayout(Type type);
/// The tensor type with a layout in place of its encoding.
RankedTensorType withLayout(RankedTensorType type,
                            const FragmentLayout &layout);
RankedTensorType withLayout(RankedTensorType type, SharedLayout layout);
/// The type without its layout: other types, and other encodings, stay.
Type withoutLayout(Type type);

/// Type of field `index` as a handler sees it: with a new, dynamic first
/// dimension for a `collected` channel.
Type getHandlerFieldType(ChannelType channel, unsigned index);

} // namespace df
} // namespace mlir

#endif // DATAFLOW_IR_DATAFLOW_H
