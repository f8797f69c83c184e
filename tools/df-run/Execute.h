//===- Execute.h - Runs a plan and checks its results -----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_EXECUTE_H
#define DF_RUN_EXECUTE_H

#include "Plan.h"
#include "Progress.h"

namespace dfrt {

/// Outputs of repeated runs, compared bit by bit with those of the first.
class RepeatedOutputs {
public:
  explicit RepeatedOutputs(Tensors &tensors) : tensors(tensors) {}
  /// Takes the outputs as they are now, after the run called `run`; notes in
  /// `summary` where they are not those of the first run.
  void note(const std::string &run, RunSummary &summary);
  /// Makes the outputs those of the first run again.
  void restore();

private:
  std::string difference();
  Tensors &tensors;
  std::vector<std::vector<uint8_t>> first;
};

/// Runs the plan `options.repeat` times and under every adversarial seed, on
/// outputs that start as NaN. Afterwards the outputs are those of the first
/// run. On the CPU device. Fails when an execution fails; outputs that differ
/// between runs are reported in the result.
Expected<RunSummary> execute(const LoadedArtifact &artifact, const Plan &plan,
                             Tensors &tensors, const Options &options,
                             Progress &progress);

/// Evaluates the reference and compares every output with it.
Expected<std::vector<OutputCheck>> checkOutputs(const LoadedArtifact &artifact,
                                                const Tensors &tensors,
                                                const Options &options);

/// Threads that `options` ask for.
unsigned threadCount(const Options &options);

} // namespace dfrt

#endif // DF_RUN_EXECUTE_H
