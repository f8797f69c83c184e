//===- Workspace.h - Device memory of a kernel's protocol -------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel's CTAs exchange data and signals through a workspace. It has one
// fixed arena per protocol, sized from stated maxima and never from one plan,
// so that one plan's payload can never lie where another expects a sentinel or
// a flag:
//
//   header     LaunchState, 128 bytes
//   counters   of ticket queues and grid barriers, a cache line each; 0
//   flags      of global slots, 32-bit epochs; 0
//   sentinels  slots whose data are their own flag; every word kSentinel
//   scratch    everything else; not initialised
//
// It is initialised once, and kernels leave it ready for the next launch (the
// epoch lives in it; no memset between launches). After any error it has to be
// initialised again; until then it refuses to be used. A workspace is the state
// of one launch at a time: launches that may overlap take one each.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_CUDA_WORKSPACE_H
#define DFRT_CUDA_WORKSPACE_H

#include "dfrt/cuda/Launch.h"
#include "dfrt/cuda/Memory.h"

#include <cstddef>

namespace dfrt::cuda {

/// First bytes of a workspace, as the device reads them.
struct LaunchState {
  uint32_t magic;   ///< kWorkspaceMagic
  uint32_t version; ///< kWorkspaceVersion
  uint32_t epoch;   ///< of the last launch; 0: none yet
  uint32_t started; ///< CTAs of the present launch that have begun
  /// What a kernel saw of its grid; 0: not written. See `checkGrid`.
  uint32_t observedCtas, observedCluster;
  uint32_t error;     ///< not 0: a kernel found a fault, see the watchdog
  uint32_t reserved0; ///< 0
  /// Offsets in the workspace, and its size, in bytes.
  uint64_t counters, flags, sentinels, scratch, bytes;
  uint32_t counterCount, flagCount;
  uint32_t reserved1[12]; ///< 0
};
static_assert(sizeof(LaunchState) == 128);
static_assert(offsetof(LaunchState, observedCtas) == 16);
static_assert(offsetof(LaunchState, counters) == 32);
static_assert(offsetof(LaunchState, counterCount) == 72);

inline constexpr uint32_t kWorkspaceMagic = 0x53575044; // "DPWS"
inline constexpr uint32_t kWorkspaceVersion = 1;
/// A word of a sentinel slot that was not written. As a float it is a NaN that
/// no conversion or arithmetic produces.
inline constexpr uint32_t kSentinel = 0xffffffff;
inline constexpr uint64_t kCounterBytes = 128;
inline constexpr uint64_t kFlagBytes = 4;

/// The most that any plan, of any batch, will need.
struct WorkspaceMaxima {
  uint32_t counters = 0;
  uint32_t flags = 0;
  uint64_t sentinelBytes = 0;
  uint64_t scratchBytes = 0;
};

/// Where the arenas lie. Fails with `resourceExhausted` when the sizes
/// overflow.
Expected<LaunchState> layoutWorkspace(const WorkspaceMaxima &maxima);

/// Bytes of a workspace with these maxima: the one function that says so.
Expected<uint64_t> requiredBytes(const WorkspaceMaxima &maxima);

struct WorkspaceState;

/// A workspace in device memory.
class Workspace {
public:
  /// Allocates and initialises in `stream`.
  static Expected<Workspace> create(const Device &device,
                                    const WorkspaceMaxima &maxima,
                                    const Stream &stream,
                                    const std::string &name = "workspace");

  explicit operator bool() const { return state != nullptr; }
  uint64_t address() const;
  const LaunchState &layout() const;

  /// Puts every arena into its first state, in `stream`.
  Status initialise(const Stream &stream) const;
  /// Says that a launch failed: `begin` fails until `initialise`.
  void invalidate() const;

  /// Around a launch (or replay) in `stream` that uses the workspace. `begin`
  /// is `busy` while a launch in another stream still uses it.
  Status begin(const Stream &stream) const;
  Status end(const Stream &stream) const;

  /// Compares the grid that a kernel saw with what was asked for. Waits for the
  /// stream; for tests and debug builds.
  Status checkGrid(const LaunchShape &shape, const Stream &stream) const;

private:
  std::shared_ptr<WorkspaceState> state;
};

} // namespace dfrt::cuda

#endif // DFRT_CUDA_WORKSPACE_H
