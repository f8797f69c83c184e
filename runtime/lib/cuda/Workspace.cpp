//===- Workspace.cpp - Device memory of a kernel's protocol ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dfrt/cuda/Workspace.h"

#include "StreamState.h"

using namespace dfrt;
using namespace dfrt::cuda;
using Lock = std::lock_guard<std::mutex>;

namespace dfrt::cuda {
struct WorkspaceState : ContextObject {
  using ContextObject::ContextObject;
  LaunchState layout = {};
  Buffer memory;
  std::mutex mutex; ///< of all below
  bool ready = false;
  Stream user; ///< of the last launch
  Event passed;
};
} // namespace dfrt::cuda

Expected<LaunchState> cuda::layoutWorkspace(const WorkspaceMaxima &maxima) {
  constexpr uint64_t kLimit = uint64_t(1) << 46; // above any device's memory
  if (maxima.sentinelBytes > kLimit || maxima.scratchBytes > kLimit)
    return failure(StatusCode::resourceExhausted,
                   "workspace: ", maxima.sentinelBytes, " sentinel and ",
                   maxima.scratchBytes, " scratch bytes are more than ",
                   kLimit);
  LaunchState layout = {};
  layout.magic = DFRT_WORKSPACE_MAGIC;
  layout.version = DFRT_WORKSPACE_VERSION;
  layout.counter_count = maxima.counters;
  layout.flag_count = maxima.flags;
  uint64_t end = sizeof(LaunchState);
  auto place = [&](uint64_t &offset, uint64_t bytes) {
    offset = end;
    end += (bytes + 127) / 128 * 128;
  };
  place(layout.counters, uint64_t(maxima.counters) * DFRT_COUNTER_BYTES);
  place(layout.flags, uint64_t(maxima.flags) * sizeof(uint32_t));
  place(layout.sentinels, maxima.sentinelBytes);
  place(layout.scratch, maxima.scratchBytes);
  layout.bytes = end;
  return layout;
}

Expected<uint64_t> cuda::requiredBytes(const WorkspaceMaxima &maxima) {
  Expected<LaunchState> layout = layoutWorkspace(maxima);
  if (!layout)
    return layout.status();
  return layout->bytes;
}

Expected<Workspace> Workspace::create(const Device &device,
                                      const WorkspaceMaxima &maxima,
                                      const Stream &stream,
                                      const std::string &name,
                                      const Buffer &within) {
  DFRT_TRY(requireHandle(device.shared().get(), "device"));
  auto state = std::make_shared<WorkspaceState>(
      device.shared(), textOf("workspace '", name, "'"));
  Expected<LaunchState> layout = layoutWorkspace(maxima);
  if (!layout)
    return layout.status();
  state->layout = *layout;
  state->memory = within;
  if (!within) {
    Expected<Buffer> memory = Buffer::allocate(device, layout->bytes, name);
    if (!memory)
      return memory.status();
    state->memory = *memory;
  }
  Expected<Event> passed = Event::create(device, false, name);
  if (!passed)
    return passed.status();
  state->passed = *passed;
  Workspace workspace;
  workspace.state = std::move(state);
  DFRT_TRY(workspace.initialise(stream));
  return workspace;
}

uint64_t Workspace::address() const {
  return state ? state->memory.address() : 0;
}
const LaunchState &Workspace::layout() const { return state->layout; }

Status Workspace::initialise(const Stream &stream) const {
  DFRT_TRY(requireHandle(state.get(), "workspace"));
  DFRT_TRY(state->usable());
  Lock lock(state->mutex);
  state->ready = false;
  const LaunchState &layout = state->layout;
  // A device that was lost and reopened has another generation, so work that
  // still runs here is work of a launch that was given up.
  if (state->user)
    DFRT_TRY(stream.wait(state->passed));
  DFRT_TRY(state->memory.fillWords(
      0, layout.counters, (layout.sentinels - layout.counters) / 4, stream));
  DFRT_TRY(state->memory.fillWords(kSentinel, layout.sentinels,
                                   (layout.scratch - layout.sentinels) / 4,
                                   stream));
  DFRT_TRY(state->memory.upload(&layout, sizeof(layout), stream));
  DFRT_TRY(state->passed.record(stream));
  state->user = stream;
  state->ready = true;
  return Status::success();
}

void Workspace::invalidate() const {
  if (!state)
    return;
  Lock lock(state->mutex);
  state->ready = false;
}

Status Workspace::begin(const Stream &stream) const {
  DFRT_TRY(requireHandle(state.get(), "workspace"));
  DFRT_TRY(state->usable());
  DFRT_TRY(usableStream(stream, *state->device));
  Lock lock(state->mutex);
  if (state->device->lost)
    state->ready = false;
  if (!state->ready)
    return failure(StatusCode::deviceError, state->name,
                   ": a launch failed; initialise it again first");
  if (state->user && state->user.handle() != stream.handle()) {
    Status done = state->passed.query();
    if (done.code() == StatusCode::busy)
      return failure(StatusCode::busy, state->name, ": is used by a launch in ",
                     state->user.shared()->name,
                     " that has not ended; take one workspace a stream");
    DFRT_TRY(done);
  }
  state->user = stream;
  return Status::success();
}

Status Workspace::end(const Stream &stream) const {
  DFRT_TRY(requireHandle(state.get(), "workspace"));
  DFRT_TRY(state->usable());
  Lock lock(state->mutex);
  return state->passed.record(stream);
}

Status Workspace::checkGrid(const LaunchShape &shape,
                            const Stream &stream) const {
  DFRT_TRY(requireHandle(state.get(), "workspace"));
  LaunchState seen = {};
  DFRT_TRY(state->memory.download(&seen, sizeof(seen), stream));
  DFRT_TRY(stream.synchronize());
  if (seen.observed_ctas == shape.ctas &&
      seen.observed_cluster == shape.clusterSize)
    return Status::success();
  return failure(StatusCode::internalError, state->name, ": the kernel saw ",
                 seen.observed_ctas, " CTAs in clusters of ",
                 seen.observed_cluster, ", but ", shape.ctas,
                 " in clusters of ", shape.clusterSize, " were asked for");
}
