//===- RingState.h - Stages of a staging ring -------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a ring and the graphs that read from it share.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CUDA_RINGSTATE_H
#define DFRT_LIB_CUDA_RINGSTATE_H

#include "StreamState.h"

#include "dfrt/cuda/Staging.h"

namespace dfrt::cuda {

struct RingState : ContextObject {
  using ContextObject::ContextObject;

  enum class Contents : uint8_t { none, writing, published };
  /// The last read of a stage in one stream. Keeps the stream, so that its
  /// handle cannot come to mean another.
  struct Reader {
    Stream stream;
    Event passed;
  };
  struct Stage {
    std::string name;
    PinnedBuffer memory;
    Contents contents = Contents::none;
    uint64_t bytes = 0; ///< published
    bool read = false;  ///< since it was published
    uint32_t holds = 0;
    std::vector<Reader> readers;
  };
  /// A copy that was captured and that no Graph has taken over yet.
  struct Captured {
    void *stream;
    uint32_t stage;
    uint64_t target; ///< device address
    uint64_t room;   ///< bytes from there to the end of the target buffer
    uint64_t order;  ///< of capture
  };

  Device owner;
  uint64_t bytesPerStage = 0;
  std::mutex mutex; ///< of all below
  std::vector<Stage> stages;
  std::vector<Captured> captured;
  uint64_t capturedCount = 0;
  uint32_t next = 0;

  /// Under the mutex: fails unless `stage` is one of ours.
  Status checkStage(uint32_t stage) const;
  /// Under the mutex: success when no copy can read the stage any more.
  Status readersDone(Stage &stage);
  /// Under the mutex: fails unless the stage has published contents; `busy`
  /// while it is written.
  Status readable(const Stage &stage) const;
  /// Under the mutex: makes sure that `noteRead` has its event. Called before
  /// the work is started, as a read that cannot be noted must not start.
  Status addReader(Stage &stage, const Stream &stream);
  /// Under the mutex: work in `stream` now reads the stage.
  Status noteRead(Stage &stage, const Stream &stream);
};

} // namespace dfrt::cuda

#endif // DFRT_LIB_CUDA_RINGSTATE_H
