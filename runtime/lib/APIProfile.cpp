//===- APIProfile.cpp - C API: device profiles ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

using namespace dfrt;

static Status give(Expected<DeviceProfile> read, dfrt_profile **profile) {
  if (!read)
    return read.status();
  *profile = new dfrt_profile{std::move(*read)};
  return Status::success();
}

dfrt_status dfrt_profile_load_file(const char *path, dfrt_profile **profile) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(path, "path"));
    DFRT_TRY(require(profile, "result pointer"));
    return give(readProfileFile(path), profile);
  });
}

dfrt_status dfrt_profile_load_memory(const char *text, uint64_t size,
                                     dfrt_profile **profile) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(text, "profile text"));
    DFRT_TRY(require(profile, "result pointer"));
    return give(readProfile(std::string(text, size)), profile);
  });
}

void dfrt_profile_release(dfrt_profile *profile) { delete profile; }

dfrt_status dfrt_profile_plan_options(const dfrt_profile *profile,
                                      uint32_t cluster_size,
                                      dfrt_plan_options *options) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(profile, "profile"));
    DFRT_TRY(require(options, "options"));
    // All that is written below, which the first version had.
    constexpr uint32_t kBytes =
        offsetof(dfrt_plan_options, profile) + sizeof(options->profile);
    if (options->struct_bytes < kBytes)
      return failure(StatusCode::invalidArgument, "options have struct_bytes ",
                     options->struct_bytes, ", expected at least ", kBytes,
                     "; use the init function");
    Expected<Topology> topology =
        topologyOf(profile->profile, cluster_size, /*ctas=*/0,
                   /*sharedBytes=*/0, options->reserved_bytes);
    if (!topology)
      return topology.status();
    options->ctas = topology->ctas;
    options->cluster_size = topology->clusterSize;
    options->shared_bytes = topology->sharedBytes;
    options->profile = profile;
    return Status::success();
  });
}
