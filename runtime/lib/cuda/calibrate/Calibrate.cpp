//===- Calibrate.cpp - Measures a device ----------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"

#include <ctime>

using namespace dfrt;
using namespace dfrt::cuda;
using namespace dfrt::cuda::calibration;

static std::string now() {
  std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32] = "";
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Expected<DeviceProfile> cuda::calibrate(const Device &device,
                                        const CalibrationOptions &options) {
  if (!device)
    return Status(StatusCode::invalidArgument, "the device handle is empty");
  if (!options.samples)
    return Status(StatusCode::invalidArgument,
                  "calibration needs one sample or more");
  const DeviceReport &report = device.report();
  DeviceProfile profile;
  profile.card = report.name;
  profile.architecture = report.architecture();
  profile.driver = textOf("CUDA ", report.driverVersion / 1000, ".",
                          report.driverVersion % 1000 / 10);
  profile.date = now();
  profile.maximumClockMegahertz = report.clockKilohertz / 1000.0;
  profile.multiprocessors = report.multiprocessors;
  profile.sharedBytes = report.sharedPerBlockOptin;
  profile.l2Bytes = report.l2Bytes;
  profile.memoryBytes = report.memoryBytes;
  Bench bench(device, options);
  DFRT_TRY(bench.open());
  DFRT_TAKE(probe, probeDevice(device));
  for (int i = 0; i < 5; ++i)
    profile.residentClusters[i] = probe.residentClusters[i];
  DFRT_TRY(findProcessingClusters(bench, profile));
  DFRT_TRY(findL2Sides(bench, profile));
  DFRT_TRY(measureLaunches(bench, profile));
  DFRT_TRY(measureReads(bench, profile));
  DFRT_TRY(measureHops(bench, profile));
  if (Status s = check(profile); !s)
    return failure(StatusCode::verificationFailed, "'", report.name,
                   "' gave a profile that cannot be: ", s.message());
  return profile;
}
