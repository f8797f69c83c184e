//===- Profile.h - df-run --profile -----------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_PROFILE_H
#define DF_RUN_PROFILE_H

#include "Options.h"

#include "dataflow/Schedule/Profile.h"
#include "dfrt/dfrt.h"

namespace dfrt {

/// A device profile as the tool and as the runtime hold it.
struct LoadedProfile {
  DeviceProfile data;
  std::shared_ptr<dfrt_profile> handle;
};

/// Loads the profile that the options name, if they do, and takes the topology
/// from it where the command line does not say. Prints the complaint and
/// returns the exit code when that cannot be.
std::optional<ExitCode> useProfile(Options &options);

/// What plans with clusters of this size are simulated with.
CostModel planCosts(const Options &options, uint32_t clusterSize);

} // namespace dfrt

#endif // DF_RUN_PROFILE_H
