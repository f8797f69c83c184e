//===- Commands.h - df-run --commands ---------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Many command lines in one process: opening a GPU takes longer than most runs
// of small batches.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_COMMANDS_H
#define DF_RUN_COMMANDS_H

#include "Options.h"

namespace dfrt {

/// Whether the command line is `df-run --commands ...`.
bool asksForCommands(int argc, char **argv);

/// Runs each line of the file that the command line names, and prints its
/// number and exit status behind what it printed. GPUs stay open in between.
/// Returns the first status that is not success. A failed execution on a GPU
/// is the last one, since nothing that the process does there can be relied on
/// any more.
ExitCode runCommands(int argc, char **argv);

} // namespace dfrt

#endif // DF_RUN_COMMANDS_H
