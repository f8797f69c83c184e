//===- CostAttr.h - Constants of the cost model in the IR -------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that is planned with a device profile holds the constants as
// `dataflow.costs = {bandwidth = 4.6e+03 : f64, ...}`; those that are not there
// have their default. `readRates` is an array of pairs: CTAs, bandwidth.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TRANSFORMS_COSTATTR_H
#define DATAFLOW_LIB_TRANSFORMS_COSTATTR_H

#include "dataflow/IR/Dataflow.h"
#include "dataflow/Schedule/Topology.h"

namespace mlir::df {

inline constexpr StringLiteral kCostsName = "dataflow.costs";

DictionaryAttr getCosts(MLIRContext *context, const dfrt::CostModel &costs);

/// The constants of a program. Emits an error when a member is unknown or no
/// number.
FailureOr<dfrt::CostModel> importCosts(ProgramOp program);

} // namespace mlir::df

#endif // DATAFLOW_LIB_TRANSFORMS_COSTATTR_H
