//===- StreamState.h - Objects behind streams and events --------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver's handles, released in the context they were made in.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CUDA_STREAMSTATE_H
#define DFRT_LIB_CUDA_STREAMSTATE_H

#include "DeviceState.h"

#include "dfrt/cuda/Stream.h"

namespace dfrt::cuda {

struct StreamState : ContextObject {
  using ContextObject::ContextObject;
  api::StreamHandle handle = nullptr;
  bool owned = false;
  ~StreamState();
};

struct EventState : ContextObject {
  using ContextObject::ContextObject;
  api::EventHandle handle = nullptr;
  bool timing = false;
  ~EventState();
};

/// Fails when the handle is empty or dead, or belongs to another device.
Status usableStream(const Stream &stream, const DeviceState &device);

} // namespace dfrt::cuda

#endif // DFRT_LIB_CUDA_STREAMSTATE_H
