//===- Outputs.h - Files about one point ------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pictures of a plan and of a launch: which kind of file is told by the end of
// its name.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_OUTPUTS_H
#define DF_RUN_OUTPUTS_H

#include "Options.h"
#include "Plan.h"
#include "Report.h"
#include "Trace.h"

namespace dfrt {

/// `name` with the point in place of '%'.
std::string fileFor(const std::string &name, const std::string &point);

/// Fails unless the names of the files that `options` ask for have a known end;
/// says which.
Status checkOutputs(const Options &options);

/// Writes what --timeline and --view ask for; `trace` is null without a launch,
/// else --view shows its times.
/// Text goes to the standard output or, where that is JSON, to the error
/// output.
Status writeOutputs(const Options &options, const Plan &plan,
                    const Report &report, const LaunchTrace *trace);

} // namespace dfrt

#endif // DF_RUN_OUTPUTS_H
