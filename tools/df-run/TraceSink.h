//===- TraceSink.h - Files of trace viewers ---------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Processes with tracks, slices on tracks and flows between slices, as trace
// events in JSON (Perfetto and chrome://tracing read them) or as Perfetto's
// protobuf, which is smaller by a factor of three and keeps the order of
// tracks. Times are nanoseconds. Slices of a track nest.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_TRACESINK_H
#define DF_RUN_TRACESINK_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dfrt {

/// A fact about a slice.
struct TraceArgument {
  const char *name;
  double value;
};

/// One end of an arrow, inside a slice; both ends have the same number.
struct TraceFlow {
  uint64_t number = 0;
  bool begins = false; ///< the arrow leaves here
  double at = 0;
};

class TraceSink {
public:
  virtual ~TraceSink() = default;
  /// Processes are shown in the order of their numbers, tracks too.
  virtual void process(uint32_t number, const std::string &name) = 0;
  virtual void track(uint32_t process, uint32_t number,
                     const std::string &name) = 0;
  /// A slice that takes time.
  virtual void slice(uint32_t process, uint32_t track, double begin, double end,
                     const std::string &name, const char *category,
                     const std::vector<TraceArgument> &arguments = {},
                     const std::vector<TraceFlow> &flows = {}) = 0;
  /// The bytes of the file.
  virtual std::string finish(const std::string &title) = 0;
};

std::unique_ptr<TraceSink> makeJsonSink();
std::unique_ptr<TraceSink> makePerfettoSink();

} // namespace dfrt

#endif // DF_RUN_TRACESINK_H
