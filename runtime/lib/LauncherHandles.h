//===- LauncherHandles.h - Launchers behind the C API -----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_LAUNCHERHANDLES_H
#define DFRT_LIB_LAUNCHERHANDLES_H

#include "CudaDevice.h"
#include "Handles.h"

#include <deque>

struct dfrt_kernel {
  std::shared_ptr<dfrt::CudaDevice> device;
  std::shared_ptr<dfrt::ArtifactState> artifact;
  dfrt::cuda::LoadedKernel loaded;
  std::string json;
  std::mutex mutex;
  std::deque<std::string> refused; ///< what was handed out
};

struct dfrt_launcher {
  std::shared_ptr<dfrt::CudaDevice> device;
  std::shared_ptr<dfrt::ArtifactState> artifact;
  dfrt::cuda::Launcher launcher;
  std::shared_ptr<dfrt::PlanState> plan; ///< the last one of the host's
  std::string watchdog;
  dfrt::cuda::Timeline timeline;
  std::vector<uint8_t> recorded; ///< the timeline, or the plan, read last
};

namespace dfrt {

/// Reads the caller's maxima, whose size is stated in them.
Status readMaxima(const dfrt_launch_maxima *given, cuda::LaunchMaxima &maxima);
/// Raises them to `facts`.
Status includeFacts(const cuda::PlanFacts &facts, dfrt_launch_maxima *maxima);

/// Runs `body(launcher, stream)` with the caller's stream or the device's own.
template <typename Body>
dfrt_status inStream(dfrt_launcher *launcher, void *handle, Body body) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(launcher, "launcher"));
    Expected<cuda::Stream> stream = launcher->device->stream(handle);
    if (!stream)
      return stream.status();
    return body(launcher->launcher, *stream);
  });
}

} // namespace dfrt

#endif // DFRT_LIB_LAUNCHERHANDLES_H
