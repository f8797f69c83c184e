//===- Plan.h - Makes and examines the plan of one point --------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_PLAN_H
#define DF_RUN_PLAN_H

#include "Options.h"
#include "Report.h"
#include "Tensors.h"

#include "dfrt/Artifact.h"
#include "dfrt/PlanImage.h"
#include "dfrt/dfrt.h"

#include <memory>

namespace dfrt {

/// Owners of the runtime's handles.
struct HandleRelease {
  void operator()(dfrt_device *handle) const { dfrt_device_release(handle); }
  void operator()(dfrt_artifact *handle) const {
    dfrt_artifact_release(handle);
  }
  void operator()(dfrt_plan *handle) const { dfrt_plan_release(handle); }
};
using DeviceHandle = std::unique_ptr<dfrt_device, HandleRelease>;
using ArtifactHandle = std::unique_ptr<dfrt_artifact, HandleRelease>;
using PlanHandle = std::unique_ptr<dfrt_plan, HandleRelease>;

/// The status of the runtime's last call on this thread.
Status lastStatus();

/// An artifact as the runtime holds it, its program, and its kernels and code.
struct LoadedArtifact {
  ArtifactHandle handle;
  Program program;
  std::vector<Kernel> kernels;
  std::vector<CodeBlob> code;
};
Expected<LoadedArtifact> loadArtifact(const std::string &path);

/// A plan in the runtime, and what its bytes say.
struct Plan {
  PlanHandle handle;
  std::vector<uint8_t> bytes;
  std::vector<PlanInput> inputs; ///< that `problem` was made from
  Problem problem;
  Schedule schedule;
};

/// Makes the plan of a point with the runtime, or loads `options.planFile`;
/// then reads its bytes back, so that whatever is reported is what will run.
/// Loaded plans are verified against the point here.
Expected<Plan> preparePlan(const LoadedArtifact &artifact,
                           const Tensors &tensors, const Options &options,
                           Decisions &decisions);

/// Measures how long the runtime takes to make this plan.
Expected<PlanTime> measurePlanning(const LoadedArtifact &artifact,
                                   const Tensors &tensors,
                                   const Options &options);

} // namespace dfrt

#endif // DF_RUN_PLAN_H
