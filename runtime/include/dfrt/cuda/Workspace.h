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

#include "dfrt/KernelABI.h"
#include "dfrt/cuda/Launch.h"
#include "dfrt/cuda/Memory.h"

namespace dfrt::cuda {

/// First bytes of a workspace, as the device reads them; see KernelABI.h.
using LaunchState = dfrt_launch_state;

/// A word of a sentinel slot that was not written. As a float it is a NaN that
/// no conversion or arithmetic produces.
inline constexpr uint32_t kSentinel = 0xffffffff;

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
  /// Allocates and initialises in `stream`; or uses the first bytes of
  /// `within`, which has enough of them.
  static Expected<Workspace> create(const Device &device,
                                    const WorkspaceMaxima &maxima,
                                    const Stream &stream,
                                    const std::string &name = "workspace",
                                    const Buffer &within = Buffer());

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
