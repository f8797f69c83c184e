//===- Staging.h - Ring of pinned staging buffers ---------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans travel to the device from a few pinned buffers with names, the stages
// of a ring. A stage is acquired for writing, published when its contents are
// complete, and read by copies in streams. The rules, kept by the ring:
//
//   - nobody gets a stage for writing that a copy may still read, that is
//     published and was never read, or that somebody holds: `busy` instead;
//   - no copy and no graph replay is started that reads a stage while it is
//     written: `busy` (or an error, where it holds nothing).
//
// So a copy never reads half-rewritten bytes. A copy that was captured reads
// its stage at every replay: capturing it takes a *hold* on the stage, which a
// Graph (Graph.h) gives back when it reads another stage or is destroyed. A
// held stage is rewritten by asking for it by name, which succeeds between
// replays. Whoever replays a captured copy without a Graph calls `noteRead`
// after each replay and `release` when the graph is gone.
//
// Nothing here waits for the device.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_CUDA_STAGING_H
#define DFRT_CUDA_STAGING_H

#include "dfrt/cuda/Memory.h"

#include <vector>

namespace dfrt::cuda {

struct RingState;

/// A ring of staging buffers. Safe to use from several threads.
class StagingRing {
public:
  /// One stage a name; names are unique.
  static Expected<StagingRing> create(const Device &device,
                                      const std::vector<std::string> &names,
                                      uint64_t bytesPerStage);

  explicit operator bool() const { return state != nullptr; }
  uint32_t size() const;
  uint64_t bytesPerStage() const;
  const std::string &name(uint32_t stage) const;

  /// Gives the next stage that is free, for writing. `busy`, with what each
  /// stage is waiting for, when there is none.
  Expected<uint32_t> acquire() const;
  /// Gives the stage with this name, held or not. `busy` while it is written or
  /// a copy may still read it; what it held is gone.
  Expected<uint32_t> acquire(const std::string &name) const;
  /// Where to write, after `acquire` and until `publish`.
  uint8_t *data(uint32_t stage) const;
  /// The first `bytes` of the stage are complete.
  Status publish(uint32_t stage, uint64_t bytes) const;
  /// Gives a stage back without contents that was acquired, or published and
  /// copied by nobody.
  Status abandon(uint32_t stage) const;
  /// Bytes published; 0 when none are.
  uint64_t publishedBytes(uint32_t stage) const;

  /// Copies the published bytes to `target` in `stream`. In a captured stream
  /// the copy becomes part of the graph and the stage is held.
  Status copy(uint32_t stage, const Buffer &target, const Stream &stream,
              uint64_t offset = 0) const;
  /// Work that is in `stream` now reads the stage (a replay made elsewhere).
  Status noteRead(uint32_t stage, const Stream &stream) const;
  /// Keeps `acquire()` from giving the stage away, until `release`; it is free
  /// then, whether it was read or not.
  Status hold(uint32_t stage) const;
  Status release(uint32_t stage) const;

  const std::shared_ptr<RingState> &shared() const { return state; }

private:
  std::shared_ptr<RingState> state;
};

} // namespace dfrt::cuda

#endif // DFRT_CUDA_STAGING_H
