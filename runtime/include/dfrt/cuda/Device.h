//===- Device.h - A CUDA device, opened -------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device is opened by ordinal and works in the device's *primary* context, so
// that pointers and streams of a framework in the same process are ours too.
// Every call makes that context current for its own duration only.
//
// After a device error (an illegal access, a watchdog's store to address 0) the
// context is lost: each further call fails alike. `reopen` then resets the
// primary context. That destroys everything in it, of everybody in the process,
// so it is done only when nobody had the context before we opened the device,
// and only when it is lost. Objects made before stay valid C++ objects, fail
// with a clear message when used, and release nothing of the new context. Some
// drivers refuse to go on in the same process; `reopen` reports it.
//
// Handles in this folder share their object: the last one releases it. They may
// be destroyed in any order. An empty handle (default-constructed) may only be
// assigned to, tested and destroyed. Handles are safe to use from several
// threads unless a class says otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_CUDA_DEVICE_H
#define DFRT_CUDA_DEVICE_H

#include "dfrt/cuda/Driver.h"

#include <cstdint>
#include <string>

namespace dfrt::cuda {

/// What the device is; read once when it is opened.
struct DeviceReport {
  std::string name;
  int ordinal = 0;
  int driverVersion = 0;
  uint32_t capabilityMajor = 0, capabilityMinor = 0;
  uint32_t multiprocessors = 0;
  uint32_t maxThreadsPerBlock = 0;
  uint64_t sharedPerBlock = 0;      ///< without opting in
  uint64_t sharedPerBlockOptin = 0; ///< the most that a CTA can have
  uint64_t sharedPerMultiprocessor = 0;
  uint64_t sharedReservedPerBlock = 0; ///< the driver's own
  uint64_t l2Bytes = 0;
  uint64_t memoryBytes = 0;
  uint32_t clockKilohertz = 0;
  bool clusterLaunch = false;
  bool cooperativeLaunch = false;
  bool tensorMaps = false;
  bool sharedWithOtherProcesses = false; ///< an MPS server runs the device

  /// E.g. "sm_90".
  std::string architecture() const;
  /// One JSON object; its keys are those of the members, in snake case.
  std::string json() const;
};

/// The ordinal that a device name means: "cuda" is 0, "cuda:1" is 1. -1 for
/// any other name.
int ordinalOf(const std::string &name);

/// Free and total device memory, in bytes.
struct MemoryInfo {
  uint64_t free = 0, total = 0;
};

struct DeviceState;

/// An open device.
class Device {
public:
  /// Opens the device with this ordinal; opening it again gives the same
  /// device. Fails when there is none, or another process holds it.
  static Expected<Device> open(std::shared_ptr<const Driver> driver,
                               int ordinal = 0);

  explicit operator bool() const { return state != nullptr; }
  const DeviceReport &report() const;
  Expected<MemoryInfo> memory() const;

  /// Waits until all work of the context has ended. Fails with the error of
  /// that work, if there was one.
  Status synchronize() const;

  /// True after a call reported that the context is lost.
  bool lost() const;
  /// Makes the device usable again after `lost`; see the head of this file.
  /// Does nothing on a healthy device. Fails when the context is not ours
  /// alone, or the driver does not let this process go on. No other call on the
  /// device may be under way.
  Status reopen() const;

  const std::shared_ptr<DeviceState> &shared() const { return state; }

private:
  std::shared_ptr<DeviceState> state;
};

} // namespace dfrt::cuda

#endif // DFRT_CUDA_DEVICE_H
