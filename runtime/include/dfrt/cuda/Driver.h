//===- Driver.h - The CUDA driver, loaded at run time -----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime links no CUDA. It opens the driver's library when a CUDA device
// is asked for, and takes the entry points it needs by the symbol that carries
// the version of their interface. A machine without a driver, with one that is
// too old, or with a library that is no driver gets an error that says what to
// do; nothing else of the project is affected.
//
// Every error of this folder names the object of ours that was concerned, the
// CUDA call, its result by name and number, and the next step.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_CUDA_DRIVER_H
#define DFRT_CUDA_DRIVER_H

#include "dataflow/Schedule/Status.h"

#include <memory>

namespace dfrt::cuda {

/// The entry points; internal.
struct DriverTable;

/// An opened and initialised driver. Stays loaded until the process ends.
class Driver {
public:
  /// CUDA version, as cuDriverGetVersion counts, of the oldest driver that has
  /// all we need (launch attributes, tensor maps).
  static constexpr int kOldestVersion = 12000;
  static constexpr const char *kDefaultLibrary = "libcuda.so.1";

  /// Opens `library` (a file name or path) and initialises it. Fails with
  /// `unsupported` when it is missing, too old, no driver, or sees no device.
  static Expected<std::shared_ptr<const Driver>>
  open(const std::string &library = kDefaultLibrary);

  ~Driver();
  Driver(const Driver &) = delete;
  Driver &operator=(const Driver &) = delete;

  /// E.g. 13000 for CUDA 13.0.
  int version() const { return driverVersion; }
  /// E.g. "13.0".
  std::string versionText() const;
  const std::string &library() const { return path; }
  int deviceCount() const { return devices; }

  const DriverTable &table() const { return *entries; }

private:
  Driver();
  std::unique_ptr<DriverTable> entries;
  std::string path;
  int driverVersion = 0;
  int devices = 0;
};

} // namespace dfrt::cuda

#endif // DFRT_CUDA_DRIVER_H
