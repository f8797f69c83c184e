//===- Stream.cpp - Streams and events ------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StreamState.h"

using namespace dfrt;
using namespace dfrt::cuda;
using api::Result;

StreamState::~StreamState() {
  if (!handle || !owned || !alive())
    return;
  Entered entered(*device);
  if (entered.status().ok())
    device->table().cuStreamDestroy_v2(handle);
}

EventState::~EventState() {
  if (!handle || !alive())
    return;
  Entered entered(*device);
  if (entered.status().ok())
    device->table().cuEventDestroy_v2(handle);
}

namespace {
/// Lets this thread ask for the state of events while a stream is captured,
/// which the driver otherwise takes for a mistake. What is asked has nothing to
/// do with what is captured: staging buffers, read before.
class AskWhileCapturing {
public:
  explicit AskWhileCapturing(const DriverTable &table) : table(table) {
    table.cuThreadExchangeStreamCaptureMode(&mode);
  }
  ~AskWhileCapturing() { table.cuThreadExchangeStreamCaptureMode(&mode); }

private:
  const DriverTable &table;
  api::CaptureMode mode = api::CaptureMode::relaxed;
};
} // namespace

Status cuda::usableStream(const Stream &stream, const DeviceState &device) {
  DFRT_TRY(requireHandle(stream.shared().get(), "stream"));
  DFRT_TRY(stream.shared()->usable());
  if (stream.shared()->device.get() != &device)
    return failure(StatusCode::invalidArgument, stream.shared()->name,
                   ": belongs to another device");
  return Status::success();
}

Expected<Stream> Stream::create(const Device &device, const std::string &name) {
  DFRT_TRY(requireHandle(device.shared().get(), "device"));
  auto state = std::make_shared<StreamState>(device.shared(),
                                             textOf("stream '", name, "'"));
  DFRT_CUDA_ENTER(*state->device);
  DFRT_CUDA_TRY(*state->device, cuStreamCreate,
                (&state->handle, api::kStreamNonBlocking), state->name);
  state->owned = true;
  Stream stream;
  stream.state = std::move(state);
  return stream;
}

Expected<Stream> Stream::borrow(const Device &device, void *handle,
                                const std::string &name) {
  DFRT_TRY(requireHandle(device.shared().get(), "device"));
  Stream stream;
  stream.state = std::make_shared<StreamState>(device.shared(),
                                               textOf("stream '", name, "'"));
  stream.state->handle = static_cast<api::StreamHandle>(handle);
  return stream;
}

void *Stream::handle() const { return state ? state->handle : nullptr; }

Status Stream::synchronize() const {
  DFRT_TRY(requireHandle(state.get(), "stream"));
  DFRT_TRY(state->usable());
  DFRT_CUDA_ENTER(*state->device);
  DFRT_CUDA_TRY(*state->device, cuStreamSynchronize, (state->handle),
                state->name);
  return Status::success();
}

Status Stream::query() const {
  DFRT_TRY(requireHandle(state.get(), "stream"));
  DFRT_TRY(state->usable());
  DFRT_CUDA_ENTER(*state->device);
  DFRT_CUDA_TRY(*state->device, cuStreamQuery, (state->handle), state->name);
  return Status::success();
}

Status Stream::wait(const Event &event) const {
  DFRT_TRY(requireHandle(state.get(), "stream"));
  DFRT_TRY(requireHandle(event.shared().get(), "event"));
  DFRT_TRY(state->usable());
  DFRT_TRY(event.shared()->usable());
  DFRT_CUDA_ENTER(*state->device);
  DFRT_CUDA_TRY(*state->device, cuStreamWaitEvent,
                (state->handle, event.shared()->handle, 0), state->name);
  return Status::success();
}

Expected<bool> Stream::capturing() const {
  DFRT_TRY(requireHandle(state.get(), "stream"));
  DFRT_TRY(state->usable());
  DFRT_CUDA_ENTER(*state->device);
  api::CaptureStatus status = api::CaptureStatus::none;
  DFRT_CUDA_TRY(*state->device, cuStreamIsCapturing, (state->handle, &status),
                state->name);
  return status != api::CaptureStatus::none;
}

Expected<Event> Event::create(const Device &device, bool timing,
                              const std::string &name) {
  DFRT_TRY(requireHandle(device.shared().get(), "device"));
  auto state = std::make_shared<EventState>(device.shared(),
                                            textOf("event '", name, "'"));
  state->timing = timing;
  DFRT_CUDA_ENTER(*state->device);
  DFRT_CUDA_TRY(
      *state->device, cuEventCreate,
      (&state->handle, timing ? api::kEventDefault : api::kEventDisableTiming),
      state->name);
  Event event;
  event.state = std::move(state);
  return event;
}

Status Event::record(const Stream &stream) const {
  DFRT_TRY(requireHandle(state.get(), "event"));
  DFRT_TRY(state->usable());
  DFRT_TRY(usableStream(stream, *state->device));
  DFRT_CUDA_ENTER(*state->device);
  DFRT_CUDA_TRY(*state->device, cuEventRecord,
                (state->handle, stream.shared()->handle), state->name);
  return Status::success();
}

Status Event::query() const {
  DFRT_TRY(requireHandle(state.get(), "event"));
  DFRT_TRY(state->usable());
  DFRT_CUDA_ENTER(*state->device);
  AskWhileCapturing allowed(state->device->table());
  DFRT_CUDA_TRY(*state->device, cuEventQuery, (state->handle), state->name);
  return Status::success();
}

Status Event::synchronize() const {
  DFRT_TRY(requireHandle(state.get(), "event"));
  DFRT_TRY(state->usable());
  DFRT_CUDA_ENTER(*state->device);
  DFRT_CUDA_TRY(*state->device, cuEventSynchronize, (state->handle),
                state->name);
  return Status::success();
}

Expected<double> Event::microsecondsSince(const Event &begin) const {
  DFRT_TRY(requireHandle(state.get(), "event"));
  DFRT_TRY(requireHandle(begin.state.get(), "event"));
  DFRT_TRY(state->usable());
  DFRT_TRY(begin.state->usable());
  if (!state->timing || !begin.state->timing)
    return failure(StatusCode::invalidArgument, state->name, " or ",
                   begin.state->name, " was created without timing");
  DFRT_CUDA_ENTER(*state->device);
  float milliseconds = 0;
  DFRT_CUDA_TRY(*state->device, cuEventElapsedTime,
                (&milliseconds, begin.state->handle, state->handle),
                state->name);
  return milliseconds * 1e3;
}
