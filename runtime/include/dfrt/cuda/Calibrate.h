//===- Calibrate.h - Measures a device --------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes the profile of a device that the planner reads: bandwidth by number of
// CTAs and cluster size, what a hop costs by every transport, launch costs,
// resident clusters, and which multiprocessors are neighbours. Takes some
// seconds and 2 GiB of device memory, and wants the device for itself. The data
// of every kernel are checked in the same run.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_CUDA_CALIBRATE_H
#define DFRT_CUDA_CALIBRATE_H

#include "dataflow/Schedule/Profile.h"
#include "dfrt/cuda/Device.h"

#include <functional>

namespace dfrt::cuda {

struct CalibrationOptions {
  /// Folder of the compiled kernels (installed as share/dataflow/calibration).
  /// A cubin is taken where it is there and fits the device, else PTX.
  std::string kernels;
  /// Samples of every measurement, of which the median counts.
  uint32_t samples = 9;
  /// Told what is measured next; may be empty.
  std::function<void(const char *what)> progress;
};

/// Fails with `invalidFile` when a kernel is missing, with `unsupported` when
/// the device cannot run them, with `verificationFailed` when data were wrong,
/// and with the device's error.
Expected<DeviceProfile> calibrate(const Device &device,
                                  const CalibrationOptions &options);

/// Fails, naming the first that is missing, when the folder does not hold every
/// kernel.
Status findCalibrationKernels(const std::string &folder);

} // namespace dfrt::cuda

#endif // DFRT_CUDA_CALIBRATE_H
