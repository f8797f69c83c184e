//===- Memory.cpp - Device memory and pinned host memory ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StreamState.h"

#include "dfrt/cuda/Memory.h"

using namespace dfrt;
using namespace dfrt::cuda;
using api::Result;

namespace dfrt::cuda {
struct BufferState : ContextObject {
  using ContextObject::ContextObject;
  api::DevicePointer address = 0;
  uint64_t bytes = 0;
  bool owned = false;
  ~BufferState() {
    if (!address || !owned || !alive())
      return;
    Entered entered(*device);
    if (entered.status().ok())
      device->table().cuMemFree_v2(address);
  }
};

struct PinnedState : ContextObject {
  using ContextObject::ContextObject;
  void *data = nullptr;
  api::DevicePointer address = 0;
  uint64_t bytes = 0;
  ~PinnedState() {
    if (!data || !alive())
      return;
    Entered entered(*device);
    if (entered.status().ok())
      device->table().cuMemFreeHost(data);
  }
};
} // namespace dfrt::cuda

Expected<Buffer> Buffer::allocate(const Device &device, uint64_t bytes,
                                  const std::string &name) {
  DFRT_TRY(requireHandle(device.shared().get(), "device"));
  auto state = std::make_shared<BufferState>(device.shared(),
                                             textOf("buffer '", name, "'"));
  if (bytes) {
    DFRT_CUDA_ENTER(*state->device);
    const DriverTable &table = state->device->table();
    Result result = table.cuMemAlloc_v2(&state->address, bytes);
    if (result != Result::success) {
      state->address = 0;
      size_t free = 0, total = 0;
      std::string detail = textOf("asked for ", bytes, " bytes");
      if (table.cuMemGetInfo_v2(&free, &total) == Result::success)
        detail += textOf(" with ", free, " of ", total, " free");
      return state->device->callFailure("cuMemAlloc", result, state->name,
                                        detail);
    }
  }
  state->bytes = bytes;
  state->owned = true;
  Buffer buffer;
  buffer.state = std::move(state);
  return buffer;
}

Expected<Buffer> Buffer::borrow(const Device &device, uint64_t address,
                                uint64_t bytes, const std::string &name) {
  DFRT_TRY(requireHandle(device.shared().get(), "device"));
  Buffer buffer;
  buffer.state = std::make_shared<BufferState>(device.shared(),
                                               textOf("buffer '", name, "'"));
  buffer.state->address = address;
  buffer.state->bytes = bytes;
  return buffer;
}

uint64_t Buffer::address() const { return state ? state->address : 0; }
uint64_t Buffer::bytes() const { return state ? state->bytes : 0; }
const std::string &Buffer::name() const {
  static const std::string *empty = new std::string("empty buffer");
  return state ? state->name : *empty;
}

Status Buffer::span(const char *what, uint64_t offset, uint64_t bytes) const {
  DFRT_TRY(requireHandle(state.get(), "buffer"));
  DFRT_TRY(state->usable());
  if (offset > state->bytes || bytes > state->bytes - offset)
    return failure(StatusCode::invalidArgument, state->name, ": ", what, " of ",
                   bytes, " bytes at offset ", offset,
                   " leaves the buffer, which has ", state->bytes, " bytes");
  return Status::success();
}

Status Buffer::upload(const void *host, uint64_t bytes, const Stream &stream,
                      uint64_t offset) const {
  DFRT_TRY(span("upload", offset, bytes));
  DFRT_TRY(usableStream(stream, *state->device));
  if (!bytes)
    return Status::success();
  DFRT_CUDA_ENTER(*state->device);
  DFRT_CUDA_TRY(*state->device, cuMemcpyHtoDAsync_v2,
                (state->address + offset, host, bytes, stream.shared()->handle),
                state->name);
  return Status::success();
}

Status Buffer::download(void *host, uint64_t bytes, const Stream &stream,
                        uint64_t offset) const {
  DFRT_TRY(span("download", offset, bytes));
  DFRT_TRY(usableStream(stream, *state->device));
  if (!bytes)
    return Status::success();
  DFRT_CUDA_ENTER(*state->device);
  DFRT_CUDA_TRY(*state->device, cuMemcpyDtoHAsync_v2,
                (host, state->address + offset, bytes, stream.shared()->handle),
                state->name);
  return Status::success();
}

Status Buffer::fill(uint8_t value, uint64_t offset, uint64_t bytes,
                    const Stream &stream) const {
  DFRT_TRY(span("fill", offset, bytes));
  DFRT_TRY(usableStream(stream, *state->device));
  if (!bytes)
    return Status::success();
  DFRT_CUDA_ENTER(*state->device);
  DFRT_CUDA_TRY(
      *state->device, cuMemsetD8Async,
      (state->address + offset, value, bytes, stream.shared()->handle),
      state->name);
  return Status::success();
}

Status Buffer::fillWords(uint32_t value, uint64_t offset, uint64_t words,
                         const Stream &stream) const {
  DFRT_TRY(
      span("fill", offset, words > UINT64_MAX / 4 ? UINT64_MAX : words * 4));
  DFRT_TRY(usableStream(stream, *state->device));
  if (offset % 4)
    return failure(StatusCode::invalidArgument, state->name,
                   ": fill of words "
                   "at offset ",
                   offset, ", which is no multiple of 4");
  if (!words)
    return Status::success();
  DFRT_CUDA_ENTER(*state->device);
  DFRT_CUDA_TRY(
      *state->device, cuMemsetD32Async,
      (state->address + offset, value, words, stream.shared()->handle),
      state->name);
  return Status::success();
}

Expected<PinnedBuffer> PinnedBuffer::allocate(const Device &device,
                                              uint64_t bytes,
                                              const std::string &name) {
  DFRT_TRY(requireHandle(device.shared().get(), "device"));
  auto state = std::make_shared<PinnedState>(
      device.shared(), textOf("pinned buffer '", name, "'"));
  if (bytes) {
    DFRT_CUDA_ENTER(*state->device);
    Result result = state->device->table().cuMemHostAlloc(
        &state->data, bytes, api::kHostPortable | api::kHostDeviceMap);
    if (result != Result::success) {
      state->data = nullptr;
      return state->device->callFailure(
          "cuMemHostAlloc", result, state->name,
          textOf("asked for ", bytes, " bytes"),
          result == Result::outOfMemory
              ? "lower the size, or raise the limit of locked memory"
              : "");
    }
    DFRT_CUDA_TRY(*state->device, cuMemHostGetDevicePointer_v2,
                  (&state->address, state->data, 0), state->name);
  }
  state->bytes = bytes;
  PinnedBuffer buffer;
  buffer.state = std::move(state);
  return buffer;
}

uint8_t *PinnedBuffer::data() const {
  if (!state || !state->alive())
    return nullptr;
  return static_cast<uint8_t *>(state->data);
}
uint64_t PinnedBuffer::bytes() const { return state ? state->bytes : 0; }
uint64_t PinnedBuffer::deviceAddress() const {
  return state ? state->address : 0;
}
