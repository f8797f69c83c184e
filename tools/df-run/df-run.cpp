//===- df-run.cpp - Plans, runs and checks a compiled program -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The command-line tool. docs/df-run.md is its manual.
//
//===----------------------------------------------------------------------===//

#include "Calibrate.h"
#include "Commands.h"
#include "Driver.h"
#include "Profile.h"

int main(int argc, char **argv) {
  if (dfrt::asksForCalibration(argc, argv))
    return dfrt::runCalibration(argc, argv);
  if (dfrt::asksForCommands(argc, argv))
    return dfrt::runCommands(argc, argv);
  dfrt::Options options;
  if (std::optional<dfrt::ExitCode> done =
          dfrt::parseOptions(argc, argv, options))
    return *done;
  if (std::optional<dfrt::ExitCode> done = dfrt::useProfile(options))
    return *done;
  return dfrt::runPoints(options);
}
