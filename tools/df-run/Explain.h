//===- Explain.h - Where the time of a launch goes --------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same account of a recorded launch and of a simulated one: time against
// the read floor, shares of the time of all CTAs, waits by the transfer that
// they were for, the critical path, and what would help most. The last is found
// by simulating the plan again in a world where one thing costs nothing; it
// says at most how much is to be gained there, for this plan.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_EXPLAIN_H
#define DF_RUN_EXPLAIN_H

#include "Trace.h"

namespace dfrt {

/// Waits of all CTAs for one kind of transfer.
struct ExposedWait {
  /// "release" where the wait was for memory, "dispatch" where for nothing that
  /// another instruction does.
  std::string transport;
  std::string from, to; ///< stages
  TraceSummary::Times times;
};

/// How much sooner the launch would end if something cost nothing.
struct Saving {
  std::string what;
  std::string hint; ///< what one can do
  double ns = 0;
};

struct Explanation {
  bool measured = false; ///< else simulated
  double totalNs = 0, floorNs = 0;
  TraceSummary summary; ///< shares and critical path
  std::vector<std::pair<std::string, double>> stages; ///< shares of handlers
  std::vector<ExposedWait> waits;                     ///< longest sum first
  std::vector<Saving> savings; ///< largest first; simulated only
};

/// Explains a recorded launch. `floorNs`: of reading the same bytes.
Explanation explain(const Problem &problem, const Schedule &schedule,
                    const LaunchTrace &trace, double floorNs);
/// Explains a simulated launch, with what would help. Fails as simulate.
Expected<Explanation> explain(const Problem &problem, const Schedule &schedule,
                              const SimulationResult &simulation);

std::string toText(const Explanation &explanation);
Json toJson(const Explanation &explanation);

} // namespace dfrt

#endif // DF_RUN_EXPLAIN_H
