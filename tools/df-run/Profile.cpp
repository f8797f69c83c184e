//===- Profile.cpp - df-run --profile -------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Profile.h"

#include "Plan.h"

#include <fmt/format.h>

using namespace dfrt;

static ExitCode fail(ExitCode code, const Status &status, const char *next) {
  fmt::print(stderr, "df-run: error: {}\ndf-run: note: {}\n", status.message(),
             next);
  return code;
}

std::optional<ExitCode> dfrt::useProfile(Options &options) {
  if (options.profileFile.empty())
    return std::nullopt;
  const char *next = "make one with df-run --calibrate FILE";
  Expected<DeviceProfile> data = readProfileFile(options.profileFile);
  if (!data)
    return fail(kExitFile, data.status(), next);
  dfrt_profile *handle = nullptr;
  if (dfrt_profile_load_file(options.profileFile.c_str(), &handle) != DFRT_OK)
    return fail(kExitFile, lastStatus(), next);
  auto loaded = std::make_shared<LoadedProfile>();
  loaded->handle.reset(handle, dfrt_profile_release);
  Topology &topology = options.topology;
  Expected<Topology> chosen = topologyOf(
      *data, topology.clusterSize, options.ctasGiven ? topology.ctas : 0,
      options.sharedGiven ? topology.sharedBytes : 0, topology.reservedBytes);
  if (!chosen)
    return fail(kExitUsage, chosen.status(),
                "change --ctas, --cluster-size or --shared-bytes");
  topology = *chosen;
  loaded->data = std::move(*data);
  options.profile = std::move(loaded);
  return std::nullopt;
}

CostModel dfrt::planCosts(const Options &options, uint32_t clusterSize) {
  return options.profile ? costModel(options.profile->data, clusterSize)
                         : CostModel();
}
