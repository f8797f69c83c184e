//===- Options.h - Command line of df-run -----------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_OPTIONS_H
#define DF_RUN_OPTIONS_H

#include "dataflow/Schedule/Schedulers.h"
#include "dataflow/Schedule/Topology.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dfrt {

struct LoadedProfile;

/// What df-run ends with; part of its interface.
enum ExitCode : int {
  kExitSuccess = 0,
  kExitWrong = 1,   ///< a check failed
  kExitUsage = 2,   ///< command line or workload
  kExitFile = 3,    ///< artifact or plan file
  kExitPlan = 4,    ///< no legal plan
  kExitExecute = 5, ///< the run failed
  kExitWrite = 6,   ///< a file could not be written
};

struct Options {
  std::string artifact, workload;
  std::vector<std::string> points; ///< empty: the first
  std::map<std::string, int64_t> dimensions;
  uint64_t seed = 0;

  Topology topology;
  /// Whether the command line says so; else a GPU and its kernel do.
  bool ctasGiven = false, clusterGiven = false, sharedGiven = false,
       reservedGiven = false;
  std::string profileFile; ///< empty: the constants of an H200
  std::shared_ptr<const LoadedProfile> profile;
  ScheduleOptions schedule;
  bool planOnDevice = false;
  std::string planFile, savePlan;
  bool planOnly = false;

  std::string device = "cpu";
  unsigned threads = 0; ///< 0: as many as the machine has
  unsigned adversarial = 0, repeat = 1;
  std::string kernel;    ///< symbol; empty: the first that fits
  bool watchdog = false; ///< a kernel whose waits are bounded
  bool measure = false;
  bool compareChoices = false;
  unsigned samples = 30;
  std::string variant; ///< what results are called

  bool check = false;
  std::optional<double> tolerance;

  bool json = false, quiet = false;
  std::string timeline; ///< "", "text", an SVG file, or one for trace viewers
  bool explain = false; ///< where the time goes
  std::string report;   ///< "", or a JSON file
  std::string view;     ///< "", an HTML file or a DOT file
  std::string saveTensors;
  std::string commandLine; ///< for reports

  /// The timeline is a file for trace viewers.
  bool traceFile() const;
  /// It shows a launch on a GPU.
  bool tracesLaunch() const {
    return traceFile() && device != "cpu" && !planOnly;
  }
};

/// The name is longer than `ending` and ends with it.
bool endsWith(const std::string &name, const char *ending);

/// Reads the command line. Prints help or the complaint and returns the exit
/// code when there is nothing to run.
std::optional<ExitCode> parseOptions(int argc, char **argv, Options &options);

} // namespace dfrt

#endif // DF_RUN_OPTIONS_H
