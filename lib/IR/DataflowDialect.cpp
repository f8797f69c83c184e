//===- DataflowDialect.cpp --------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/Dataflow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::df;

#include "dataflow/IR/DataflowDialect.cpp.inc"
#include "dataflow/IR/DataflowEnums.cpp.inc"

// The enums are the planner's, so that casts convert between them.
template <typename A, typename B>
static constexpr bool sameNumber(A a, B b) {
  return static_cast<uint32_t>(a) == static_cast<uint32_t>(b);
}
static_assert(sameNumber(Arity::collected, dfrt::Arity::collected) &&
              sameNumber(StageKind::finalize, dfrt::StageKind::finalize) &&
              sameNumber(ReshardKind::rekey, dfrt::ReshardKind::rekey) &&
              sameNumber(VariantKind::bounded, dfrt::Variant::Kind::bounded) &&
              sameNumber(MemoryKind::global,
                         dfrt::StageRequests::Memory::global));

void DataflowDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dataflow/IR/DataflowOps.cpp.inc"
      >();
}

Operation *DataflowDialect::materializeConstant(OpBuilder &builder,
                                                Attribute value, Type type,
                                                Location location) {
  return arith::ConstantOp::materialize(builder, value, type, location);
}
