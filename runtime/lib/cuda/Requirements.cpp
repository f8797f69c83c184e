//===- Requirements.cpp - Code against a device ---------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionState.h"

#include <cstdlib>

using namespace dfrt;
using namespace dfrt::cuda;

namespace {
/// An architecture's name, taken apart.
struct Architecture {
  bool virtualMachine = false; ///< "compute_": PTX
  uint32_t major = 0, minor = 0;
  char suffix = 0; ///< 'a': this one only; 'f': the family

  bool runsOn(const DeviceReport &device) const {
    if (suffix == 'a')
      return device.capabilityMajor == major && device.capabilityMinor == minor;
    if (virtualMachine && !suffix)
      return device.capabilityMajor > major ||
             (device.capabilityMajor == major &&
              device.capabilityMinor >= minor);
    return device.capabilityMajor == major && device.capabilityMinor >= minor;
  }
};

bool parse(const std::string &name, Architecture &result) {
  size_t digits = 0;
  if (name.compare(0, 3, "sm_") == 0) {
    digits = 3;
  } else if (name.compare(0, 8, "compute_") == 0) {
    digits = 8;
    result.virtualMachine = true;
  } else {
    return false;
  }
  char *end = nullptr;
  unsigned long number = std::strtoul(name.c_str() + digits, &end, 10);
  if (end == name.c_str() + digits || number < 10 || number > 9999)
    return false;
  if (*end == 'a' || *end == 'f')
    result.suffix = *end++;
  result.major = uint32_t(number / 10);
  result.minor = uint32_t(number % 10);
  return *end == 0;
}
} // namespace

std::string cuda::requirementDifferences(const DeviceReport &device,
                                         const CodeRequirements &code) {
  Architecture architecture;
  std::string differences;
  auto differs = [&](const auto &...parts) {
    if (!differences.empty())
      differences += "; ";
    differences += textOf(parts...);
  };
  if (!parse(code.architecture, architecture))
    differs("its architecture '", code.architecture,
            "' is not of the form sm_90, sm_90a or compute_90");
  else if (!architecture.runsOn(device))
    differs("it was compiled for ", code.architecture, ", the device is ",
            device.architecture());
  if (code.threads > device.maxThreadsPerBlock)
    differs("it needs ", code.threads,
            " threads a CTA, the device has at most ",
            device.maxThreadsPerBlock);
  if (code.sharedBytes > device.sharedPerBlockOptin)
    differs("it needs ", code.sharedBytes,
            " bytes of shared memory a CTA, the device has at most ",
            device.sharedPerBlockOptin);
  if (code.clusterSize > 1 && !device.clusterLaunch)
    differs("it needs clusters of ", code.clusterSize,
            ", the device has no clusters");
  if (code.cooperative && !device.cooperativeLaunch)
    differs("it needs a cooperative launch, the device has none");
  if (code.tensorMaps && !device.tensorMaps)
    differs("it needs tensor maps, the device has none");
  return differences;
}

Status cuda::checkRequirements(const DeviceReport &device,
                               const CodeRequirements &code) {
  std::string object = textOf("code '", code.name, "'");
  Architecture architecture;
  if (!parse(code.architecture, architecture))
    return failure(StatusCode::invalidFile, object, ": architecture '",
                   code.architecture,
                   "' is not of the form sm_90, sm_90a or compute_90");
  std::string differences = requirementDifferences(device, code);
  if (differences.empty())
    return Status::success();
  return failure(StatusCode::unsupported, object, " does not run on '",
                 device.name, "' (device ", device.ordinal, "): ", differences,
                 "; compile the artifact for this device");
}
