//===- Module.h - Device code, loaded and kept ------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code is a cubin (or PTX text, which the driver compiles; for tests and
// tools). What code needs is compared with the device before any of it is
// loaded, and everything that differs is said at once. An image is checked to
// be whole, as the driver is not told how long it is. Loaded modules are kept
// by the hash of their content, so loading the same code twice costs a hash.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_CUDA_MODULE_H
#define DFRT_CUDA_MODULE_H

#include "dfrt/cuda/Device.h"

#include <mutex>
#include <unordered_map>

namespace dfrt::cuda {

/// What a piece of code needs of the device.
struct CodeRequirements {
  std::string name; ///< how messages call the code
  /// "sm_90": devices of capability 9.x; "sm_90a": 9.0 only; "sm_100f": the
  /// family 10.x. For PTX "compute_90": 9.0 and all later ones; "compute_90a":
  /// 9.0 only.
  std::string architecture;
  uint32_t threads = 0;     ///< of a CTA
  uint64_t sharedBytes = 0; ///< of a CTA, static and dynamic
  uint32_t clusterSize = 1; ///< the smallest that the code can run with
  bool cooperative = false; ///< all CTAs have to be resident at once
  bool tensorMaps = false;
};

/// What of `code` the device does not meet, with the value asked for and what
/// the device has; empty if it meets everything.
std::string requirementDifferences(const DeviceReport &device,
                                   const CodeRequirements &code);

/// Compares with a device. Fails with `unsupported`, saying each requirement
/// that is not met with the value asked for and what the device has.
Status checkRequirements(const DeviceReport &device,
                         const CodeRequirements &code);

struct ModuleState;
struct FunctionState;

/// What the driver says of a kernel.
struct FunctionReport {
  uint32_t maxThreads = 0; ///< of a CTA, by its registers
  uint32_t registers = 0;  ///< of a thread
  uint64_t staticSharedBytes = 0;
  uint64_t localBytes = 0;      ///< of a thread; spills are here
  uint32_t binaryVersion = 0;   ///< e.g. 90
  uint32_t requiredCluster = 0; ///< fixed at compile time; 0: not fixed
};

/// A kernel of a module; keeps the module.
class Function {
public:
  explicit operator bool() const { return state != nullptr; }
  const std::string &name() const;
  const FunctionReport &report() const;

  const std::shared_ptr<FunctionState> &shared() const { return state; }

private:
  friend class Module;
  std::shared_ptr<FunctionState> state;
};

/// Loaded code.
class Module {
public:
  explicit operator bool() const { return state != nullptr; }
  /// Looks a kernel up. Fails, naming both, when the module has none such.
  Expected<Function> function(const std::string &name) const;

private:
  friend class ModuleCache;
  std::shared_ptr<ModuleState> state;
};

/// The modules of a device. Keeps what it loaded until it is destroyed or
/// cleared; modules and functions that are in use live on.
class ModuleCache {
public:
  explicit ModuleCache(const Device &device) : device(device) {}

  /// Checks `code` against the device, then gives the module of `bytes`, loaded
  /// now or before. The bytes need not outlive the call. A failed load is not
  /// kept.
  Expected<Module> load(const void *image, uint64_t bytes,
                        const CodeRequirements &code);

  uint64_t hits() const { return hitCount; }
  uint64_t misses() const { return missCount; }
  void clear();

private:
  struct Key {
    uint64_t low, high, bytes;
    bool operator==(const Key &other) const {
      return low == other.low && high == other.high && bytes == other.bytes;
    }
  };
  struct KeyHash {
    size_t operator()(const Key &key) const { return size_t(key.low); }
  };
  static Key keyOf(const void *image, uint64_t bytes);

  Device device;
  std::mutex mutex;
  std::unordered_map<Key, Module, KeyHash> modules;
  uint64_t hitCount = 0, missCount = 0;
};

} // namespace dfrt::cuda

#endif // DFRT_CUDA_MODULE_H
