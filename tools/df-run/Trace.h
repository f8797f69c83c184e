//===- Trace.h - A launch as its kernel recorded it -------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The records of a kernel with a timeline (dfrt/cuda/Timeline.h) and the plan
// that it executed give a file for trace viewers, in which the simulated plan
// stands beside, and a summary: where the time of the CTAs went, and which
// instructions the end of the launch waited for.
//
// Times are nanoseconds from the begin of the first CTA.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_TRACE_H
#define DF_RUN_TRACE_H

#include "Json.h"
#include "TraceSink.h"

#include "dataflow/Schedule/Simulator.h"
#include "dfrt/cuda/Timeline.h"

#include <string>
#include <vector>

namespace dfrt {

/// One recorded instruction of one role.
struct TraceSpan {
  uint32_t instruction = kNone;
  uint32_t cta = 0;
  bool loads = false; ///< of the load role: begin and finished only
  double begin = 0, ready = 0, handled = 0, finished = 0;
  double waited = 0; ///< of it for stages of rings
};

/// One launch.
struct LaunchTrace {
  std::string kernel;
  uint32_t ctas = 0;
  std::vector<TraceSpan> spans; ///< by CTA and role, in order of execution
  std::vector<uint32_t> multiprocessors; ///< of the CTAs
  std::vector<double> begins, ends;      ///< of the CTAs
  double totalNs = 0;                    ///< first begin to last end
  uint64_t lost = 0;                     ///< instructions without a record
  unsigned launches = 1; ///< recorded; this is the one of median length
};

/// Checks what a kernel left behind against the plan that it executed. Fails
/// when it recorded nothing, or an instruction that there is not.
Expected<LaunchTrace> readTrace(const Schedule &schedule,
                                const std::vector<cuda::TimelineLane> &lanes,
                                const std::vector<dfrt_stamp> &stamps);

/// The launch as a simulation would tell it: the compute role, instructions
/// that left a record. `floorNs`: of reading the same bytes.
SimulationResult asSimulation(const LaunchTrace &trace, double floorNs);

struct TraceSummary {
  /// Of something done several times.
  struct Times {
    double sum = 0, most = 0;
    uint64_t count = 0;
    void add(double ns);
    double mean() const { return count ? sum / double(count) : 0; }
  };
  struct StageTimes {
    std::string name;
    bool ranged = false;
    /// For operands; in the handler, and of that for tiles; after it; in the
    /// load role.
    Times wait, handler, tiles, finish, fill, full;
    double firstBegin = 0, lastEnd = 0; ///< of the compute role
  };
  /// An instruction that the end waited for, and what it waited for itself.
  struct Step {
    TraceSpan span;
    std::string name;
    bool hop = false; ///< its producer, the step before, ran on another CTA
  };

  std::string kernel;
  uint32_t ctas = 0;
  unsigned launches = 1;
  double totalNs = 0;
  uint64_t lost = 0;
  double lastCtaBegin = 0;
  Times firstInstruction;    ///< begin of a CTA's first, over the CTAs
  Times lastInstruction;     ///< end of a CTA's last
  Times firstFill, lastFill; ///< of the load role: begin and end, likewise
  std::vector<StageTimes> stages;
  /// Shares of the time of all CTAs. They add up to 1.
  double handlers = 0, tiles = 0, operands = 0, finishing = 0, between = 0,
         starting = 0, ending = 0;
  std::vector<Step> critical; ///< first to last
};
TraceSummary summarise(const Problem &problem, const Schedule &schedule,
                       const LaunchTrace &trace);
/// Lines for people.
std::string toText(const TraceSummary &summary);
Json toJson(const TraceSummary &summary);

/// What an instruction is called: "stage (axis 3, ...) tiles 0 to 4".
std::string describeInstruction(const Problem &problem,
                                const Instruction &instruction);

/// A file for trace viewers: process 1 is the launch, where `trace` is not
/// null, with a track for each CTA and role, process 2 the simulation. Flows
/// are transfers to another CTA.
std::string traceEvents(const Problem &problem, const Schedule &schedule,
                        const SimulationResult &simulation,
                        const LaunchTrace *trace, const std::string &title,
                        TraceSink &sink);

} // namespace dfrt

#endif // DF_RUN_TRACE_H
