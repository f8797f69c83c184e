//===- Calibrate.h - df-run --calibrate -------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures a GPU, prints a table, and writes the device profile that --profile
// reads. A command line of its own: it has neither artifact nor workload.
// docs/calibrate.md is its manual.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_CALIBRATE_H
#define DF_RUN_CALIBRATE_H

#include "Options.h"

#include "dataflow/Schedule/Profile.h"

namespace dfrt {

/// Whether the command line has --calibrate.
bool asksForCalibration(int argc, char **argv);

/// Does what such a command line says.
ExitCode runCalibration(int argc, char **argv);

/// The profile as a table for people.
std::string profileTable(const DeviceProfile &profile);

} // namespace dfrt

#endif // DF_RUN_CALIBRATE_H
