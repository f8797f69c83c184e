//===- Report.h - What df-run found out about one point ---------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain data, printed as text for people and as JSON for programs. The JSON
// names are stable and documented in docs/df-run.md.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_REPORT_H
#define DF_RUN_REPORT_H

#include "Explain.h"
#include "Json.h"
#include "Memory.h"
#include "Trace.h"

#include "dataflow/Schedule/LowerBound.h"
#include "dataflow/Schedule/Schedulers.h"
#include "dataflow/Schedule/Simulator.h"

#include <optional>
#include <string>
#include <vector>

namespace dfrt {

struct ProblemSummary {
  struct Tasks {
    std::string name;
    uint64_t tasks = 0;
  };
  struct Extent {
    std::string name;
    int64_t tile = 1, elements = 0, tiles = 0, longest = 0;
    uint64_t empty = 0; ///< tasks without an element
  };
  std::vector<Tasks> domains;
  std::vector<Extent> ranges;
  uint64_t bytes = 0; ///< global traffic of the whole batch
};

struct PlanSummary {
  struct StageCount {
    std::string name;
    uint64_t instructions = 0;
  };
  std::string solver;
  Topology topology;
  bool ticket = false;
  std::vector<StageCount> stages;
  uint64_t instructions = 0, busyCtas = 0;
  uint64_t transfers[5] = {}; ///< by `Transport`
  uint64_t slotsShared = 0, slotsGlobal = 0;
  uint64_t sharedBytes = 0, globalBytes = 0, planBytes = 0;
  uint64_t releases = 0, barriers = 0, flags = 0;
  bool exitBarrier = false;
  uint64_t fewestBytes = 0, mostBytes = 0; ///< of a CTA
};

/// How long planning took on this machine.
struct PlanTime {
  double medianUs = 0, leastUs = 0;
  unsigned runs = 0;
};

/// How long execution took, and on what.
struct RunSummary {
  std::string device;
  unsigned threads = 0, runs = 0;
  double medianMs = 0;
  unsigned seeds = 0; ///< adversarial interleavings
  bool identical = true;
  std::string difference; ///< where outputs of two runs differ
};

/// What a launch on a GPU takes, by the yardstick of docs/df-run.md.
struct Measurement {
  std::string variant, kernel;
  bool cooperative = false;
  double coldUs = 0; ///< median of launches from a cold L2
  /// Of one of ten launches in a graph; none where the driver captures no such
  /// launch.
  std::optional<double> graphUs;
  std::optional<double> spanUs; ///< between stamps of the kernel
  double readFloorUs = 0;       ///< cold read of `bytes` in the same process
  double uploadUs = 0;          ///< copy of the plan
  uint64_t bytes = 0;           ///< global traffic of the batch
  unsigned samples = 0;
  std::string card, date, command;
};

/// What a launch takes that was planned in one of the ways there are.
struct ChoiceTime {
  std::string solver, combine, transport;
  uint32_t ctas = 0, clusterSize = 1;
  bool batchInvariant = false;
  double predictedUs = 0, coldUs = 0;
  std::string refusal; ///< why there is no such plan or launch
};

/// Comparison of one output with the float64 reference.
struct OutputCheck {
  std::string name;
  uint64_t elements = 0;
  double relativeL2 = 0, tolerance = 0;
  uint64_t special = 0;    ///< infinities and NaNs of the reference
  uint64_t mismatched = 0; ///< of them, or others, that are not the same here
  std::string firstMismatch;
  bool passed = true;
};

struct Report {
  std::string artifact, program, workload, point;
  std::string card = "an H200"; ///< for which times are predicted
  ProblemSummary problem;
  std::optional<PlanSummary> plan;
  Decisions decisions;
  std::optional<SimulationResult> prediction;
  LowerBound bound; ///< of the problem; with a prediction
  std::optional<PlanTime> planTime;
  std::optional<RunSummary> run;
  std::vector<OutputCheck> checks;
  std::optional<Measurement> measurement;
  std::vector<ChoiceTime> choices; ///< the planner's first
  std::optional<TraceSummary> trace;
  std::optional<MemoryLayout> memory;
  std::vector<Explanation> explanations;

  /// Nothing that was checked is wrong.
  bool passed() const;
};

ProblemSummary summarise(const Problem &problem);
PlanSummary summarise(const Problem &problem, const Schedule &schedule,
                      const SimulationResult *simulation, uint64_t planBytes);

/// Sections separated by nothing, a line or more each, ending in a newline.
std::string toText(const Report &report);
/// The measurement in one line, and a line for everything that is wrong.
std::string toMeasurementLine(const Report &report);
/// The planner's choice against the best, and a line for each, fastest first.
std::string toText(const std::vector<ChoiceTime> &choices);
Json toJson(const std::vector<ChoiceTime> &choices);
Json toJson(const Decisions &decisions);
Json toJson(const Report &report);

/// "12.3 KB", "4.0 MB", ...; powers of 1000.
std::string formatBytes(uint64_t bytes);
/// With a comma between groups of three digits.
std::string formatCount(uint64_t count);

} // namespace dfrt

#endif // DF_RUN_REPORT_H
