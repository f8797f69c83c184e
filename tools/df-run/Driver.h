//===- Driver.h - What df-run does ------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_DRIVER_H
#define DF_RUN_DRIVER_H

#include "Options.h"

namespace dfrt {

/// Treats every chosen point of the workload as `options` ask, and prints.
ExitCode runPoints(const Options &options);

} // namespace dfrt

#endif // DF_RUN_DRIVER_H
