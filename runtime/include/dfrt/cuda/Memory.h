//===- Memory.h - Device memory and pinned host memory ----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers that release themselves, and copies in streams. A copy from or to
// host memory that is not pinned waits for the stream; use PinnedBuffer where
// that matters.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_CUDA_MEMORY_H
#define DFRT_CUDA_MEMORY_H

#include "dfrt/cuda/Stream.h"

namespace dfrt::cuda {

struct BufferState;
struct PinnedState;

/// Device memory, aligned to 256 bytes at least.
class Buffer {
public:
  /// `name` is what messages call it. Zero bytes are legal: no memory, address
  /// 0. Fails with `resourceExhausted`, naming what was asked for and what was
  /// free.
  static Expected<Buffer> allocate(const Device &device, uint64_t bytes,
                                   const std::string &name);
  /// The caller's device memory, which outlives the handle.
  static Expected<Buffer> borrow(const Device &device, uint64_t address,
                                 uint64_t bytes, const std::string &name);

  explicit operator bool() const { return state != nullptr; }
  uint64_t address() const;
  uint64_t bytes() const;
  const std::string &name() const;

  /// Copies in `stream`, at byte `offset` of the buffer. Fails, naming offset,
  /// size and limit, when the span is not within the buffer.
  Status upload(const void *host, uint64_t bytes, const Stream &stream,
                uint64_t offset = 0) const;
  Status download(void *host, uint64_t bytes, const Stream &stream,
                  uint64_t offset = 0) const;
  /// Sets a span of bytes (`fill`), or of 32-bit words at an offset that is a
  /// multiple of 4 (`fillWords`), in `stream`.
  Status fill(uint8_t value, uint64_t offset, uint64_t bytes,
              const Stream &stream) const;
  Status fillWords(uint32_t value, uint64_t offset, uint64_t words,
                   const Stream &stream) const;

private:
  Status span(const char *what, uint64_t offset, uint64_t bytes) const;
  std::shared_ptr<BufferState> state;
};

/// Page-locked host memory that the device can read and write. It outlives a
/// lost context until the device is reopened, so what the device left in it
/// before an error can still be read.
class PinnedBuffer {
public:
  static Expected<PinnedBuffer> allocate(const Device &device, uint64_t bytes,
                                         const std::string &name);

  explicit operator bool() const { return state != nullptr; }
  /// Null once the device was reopened.
  uint8_t *data() const;
  uint64_t bytes() const;
  /// Where the device sees the memory.
  uint64_t deviceAddress() const;

private:
  std::shared_ptr<PinnedState> state;
};

} // namespace dfrt::cuda

#endif // DFRT_CUDA_MEMORY_H
