//===- Passes.h - Passes that make device code ------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constructors, option structs and registration of the passes of Passes.td, all
// generated from it.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_CONVERSION_PASSES_H
#define DATAFLOW_CONVERSION_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <cstdint>
#include <memory>
#include <string>

namespace mlir::df {

#define GEN_PASS_DECL
#include "dataflow/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dataflow/Conversion/Passes.h.inc"

} // namespace mlir::df

#endif // DATAFLOW_CONVERSION_PASSES_H
