//===- Graph.h - Captured graphs whose plan can change ----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph freezes launches and the addresses of its copies. A copy that reads a
// stage of a staging ring can be made to read another stage between two
// replays: the host writes the new plan there, `use`s it, and replays. Replays
// that are already in the stream keep reading the old one; nothing waits for
// the device.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_CUDA_GRAPH_H
#define DFRT_CUDA_GRAPH_H

#include "dfrt/cuda/Launch.h"
#include "dfrt/cuda/Staging.h"

#include <functional>

namespace dfrt::cuda {

struct GraphState;

/// An executable graph. Replays and updates of one graph come from one thread
/// at a time.
class Graph {
public:
  /// Captures what `record` puts into `stream` (which is no legacy default
  /// stream) and makes it executable. The capture ends whatever happens; a
  /// failure of `record` is the result. `ring` is where captured copies read
  /// from; may be empty when there are none. Stays usable by other graphs.
  static Expected<Graph> capture(const Stream &stream, const StagingRing &ring,
                                 const std::function<Status()> &record);

  explicit operator bool() const { return state != nullptr; }

  /// Kernels in the graph, as the driver recorded them: what a launcher asserts
  /// its grid against.
  struct Kernel {
    uint32_t ctas, threads;
    uint64_t sharedBytes;
  };
  const std::vector<Kernel> &kernels() const;
  /// Number of copies that read from the ring, in order of capture.
  uint32_t copies() const;
  /// The stage that copy `copy` reads.
  Expected<uint32_t> stage(uint32_t copy) const;

  /// From the next replay on, copy `copy` reads `stage`, which is published; as
  /// many bytes as were published. Fails when they do not fit the target.
  Status use(uint32_t copy, uint32_t stage) const;

  /// Starts a replay in `stream`. `busy` while one of its stages is written.
  Status replay(const Stream &stream) const;

private:
  std::shared_ptr<GraphState> state;
};

} // namespace dfrt::cuda

#endif // DFRT_CUDA_GRAPH_H
