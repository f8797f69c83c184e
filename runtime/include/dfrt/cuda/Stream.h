//===- Stream.h - Streams and events ----------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stream of our own, or one that the caller borrowed from a framework. Events
// mark places in a stream; with timing they measure the time between two.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_CUDA_STREAM_H
#define DFRT_CUDA_STREAM_H

#include "dfrt/cuda/Device.h"

namespace dfrt::cuda {

class Event;
struct StreamState;
struct EventState;

/// An ordered queue of device work.
class Stream {
public:
  /// A new stream that does not synchronise with the legacy default stream.
  static Expected<Stream> create(const Device &device,
                                 const std::string &name = "stream");
  /// The caller's CUstream, in the device's primary context; not destroyed by
  /// the handle. Null is the legacy default stream, which cannot be captured.
  static Expected<Stream> borrow(const Device &device, void *handle,
                                 const std::string &name = "stream");

  explicit operator bool() const { return state != nullptr; }
  /// The CUstream.
  void *handle() const;
  /// Waits for all work in the stream.
  Status synchronize() const;
  /// Success when all work has ended, `busy` when not.
  Status query() const;
  /// Later work in the stream waits for `event`.
  Status wait(const Event &event) const;
  /// Whether work goes to a graph instead of the device.
  Expected<bool> capturing() const;

  const std::shared_ptr<StreamState> &shared() const { return state; }

private:
  std::shared_ptr<StreamState> state;
};

/// A mark in a stream.
class Event {
public:
  static Expected<Event> create(const Device &device, bool timing = false,
                                const std::string &name = "event");

  explicit operator bool() const { return state != nullptr; }
  /// Puts the mark behind the work that is in `stream` now; an earlier mark is
  /// forgotten.
  Status record(const Stream &stream) const;
  /// Success when the mark was passed, or never set; `busy` when not passed.
  Status query() const;
  Status synchronize() const;
  /// Microseconds from `begin` to this event; both have timing and were passed.
  Expected<double> microsecondsSince(const Event &begin) const;

  const std::shared_ptr<EventState> &shared() const { return state; }

private:
  std::shared_ptr<EventState> state;
};

} // namespace dfrt::cuda

#endif // DFRT_CUDA_STREAM_H
