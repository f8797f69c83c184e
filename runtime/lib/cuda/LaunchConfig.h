//===- LaunchConfig.h - A launch in the driver's words ----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The configuration points into the object, which therefore stays where it is.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CUDA_LAUNCHCONFIG_H
#define DFRT_LIB_CUDA_LAUNCHCONFIG_H

#include "DriverTypes.h"

#include "dfrt/cuda/Launch.h"

namespace dfrt::cuda {

struct LaunchRequest {
  /// States the cluster size, also where it is 1, if the device has `clusters`.
  LaunchRequest(const LaunchShape &shape, api::StreamHandle stream,
                bool clusters);
  LaunchRequest(const LaunchRequest &) = delete;
  LaunchRequest &operator=(const LaunchRequest &) = delete;

  api::LaunchConfig config = {};
  api::LaunchAttribute attributes[2] = {};
};

} // namespace dfrt::cuda

#endif // DFRT_LIB_CUDA_LAUNCHCONFIG_H
