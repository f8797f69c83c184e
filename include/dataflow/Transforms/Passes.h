//===- Passes.h - Passes on programs and schedules --------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constructors (`createSpecializeProgram(options)`), option structs
// (`SpecializeProgramOptions`) and registration of the passes of Passes.td, all
// generated from it.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TRANSFORMS_PASSES_H
#define DATAFLOW_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

#include <cstdint>
#include <memory>
#include <string>

namespace mlir::df {

#define GEN_PASS_DECL
#include "dataflow/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dataflow/Transforms/Passes.h.inc"

} // namespace mlir::df

#endif // DATAFLOW_TRANSFORMS_PASSES_H
