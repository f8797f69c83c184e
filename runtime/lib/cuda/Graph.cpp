//===- Graph.cpp - Captured graphs whose plan can change ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dfrt/cuda/Graph.h"

#include "RingState.h"

#include <algorithm>

using namespace dfrt;
using namespace dfrt::cuda;
using api::Result;
using Lock = std::lock_guard<std::mutex>;

namespace dfrt::cuda {
struct GraphState : ContextObject {
  using ContextObject::ContextObject;

  /// A copy node that reads a stage.
  struct Copy {
    api::GraphNodeHandle node;
    api::CopyParameters parameters;
    uint32_t stage;
    uint64_t room;
    uint64_t order;
  };

  StagingRing ring;
  api::GraphHandle graph = nullptr;
  api::GraphExecHandle exec = nullptr;
  std::vector<Copy> copies;
  std::vector<Graph::Kernel> kernels;

  ~GraphState();
  /// Gives back the hold on a stage that the graph reads no longer. The stage
  /// is free then, whether a replay has read it or not.
  void leave(uint32_t stage);
  /// Reads the nodes of `graph`; takes over the holds of its copies.
  Status readNodes();
  /// Under the ring's mutex: makes the executable graph read `stage`.
  Status point(Copy &copy, uint32_t stage);
};
} // namespace dfrt::cuda

GraphState::~GraphState() {
  for (const Copy &copy : copies)
    leave(copy.stage);
  if (!alive() || (!graph && !exec))
    return;
  Entered entered(*device);
  if (!entered.status().ok())
    return;
  if (exec)
    device->table().cuGraphExecDestroy(exec);
  if (graph)
    device->table().cuGraphDestroy(graph);
}

void GraphState::leave(uint32_t stage) {
  RingState &shared = *ring.shared();
  Lock lock(shared.mutex);
  --shared.stages[stage].holds;
  shared.stages[stage].read = true;
}

/// Where a copy from the host reads. The driver may call both sides unified;
/// the addresses are then those of the device, which are the host's.
static const void *sourceOf(const api::CopyParameters &parameters) {
  if (parameters.sourceType == api::MemoryType::unified)
    return reinterpret_cast<const void *>(uintptr_t(parameters.sourceDevice));
  return parameters.sourceHost;
}

Status GraphState::readNodes() {
  size_t count = 0;
  DFRT_CUDA_TRY(*device, cuGraphGetNodes, (graph, nullptr, &count), name);
  std::vector<api::GraphNodeHandle> nodes(count);
  if (count)
    DFRT_CUDA_TRY(*device, cuGraphGetNodes, (graph, nodes.data(), &count),
                  name);
  for (api::GraphNodeHandle node : nodes) {
    auto type = static_cast<api::GraphNodeType>(-1);
    DFRT_CUDA_TRY(*device, cuGraphNodeGetType, (node, &type), name);
    if (type == api::GraphNodeType::kernel) {
      api::KernelNodeParameters parameters = {};
      DFRT_CUDA_TRY(*device, cuGraphKernelNodeGetParams_v2, (node, &parameters),
                    name);
      kernels.push_back(
          {parameters.gridX * parameters.gridY * parameters.gridZ,
           parameters.blockX * parameters.blockY * parameters.blockZ,
           parameters.sharedBytes});
    } else if (type == api::GraphNodeType::copy && ring) {
      Copy copy = {};
      copy.node = node;
      DFRT_CUDA_TRY(*device, cuGraphMemcpyNodeGetParams,
                    (node, &copy.parameters), name);
      RingState &shared = *ring.shared();
      Lock lock(shared.mutex);
      // The target and the stage's memory name the captured copy; where one
      // graph copies the same stage twice to one target, either will do.
      for (size_t i = 0; i < shared.captured.size(); ++i) {
        const RingState::Captured &entry = shared.captured[i];
        if (entry.target != copy.parameters.targetDevice ||
            shared.stages[entry.stage].memory.data() !=
                sourceOf(copy.parameters))
          continue;
        copy.stage = entry.stage;
        copy.room = entry.room;
        copy.order = entry.order;
        copies.push_back(copy);
        shared.captured.erase(shared.captured.begin() + ptrdiff_t(i));
        break;
      }
    }
  }
  std::sort(copies.begin(), copies.end(),
            [](const Copy &a, const Copy &b) { return a.order < b.order; });
  return Status::success();
}

/// Gives back what a capture in `stream` held that no graph took over; says how
/// many copies that were.
static size_t dropCaptured(const StagingRing &ring, const Stream &stream) {
  if (!ring)
    return 0;
  RingState &shared = *ring.shared();
  Lock lock(shared.mutex);
  auto left = std::remove_if(shared.captured.begin(), shared.captured.end(),
                             [&](const RingState::Captured &entry) {
                               if (entry.stream != stream.handle())
                                 return false;
                               --shared.stages[entry.stage].holds;
                               return true;
                             });
  size_t dropped = size_t(shared.captured.end() - left);
  shared.captured.erase(left, shared.captured.end());
  return dropped;
}

Expected<Graph> Graph::capture(const Stream &stream, const StagingRing &ring,
                               const std::function<Status()> &record) {
  DFRT_TRY(requireHandle(stream.shared().get(), "stream"));
  StreamState &source = *stream.shared();
  DeviceState &device = *source.device;
  DFRT_TRY(usableStream(stream, device));
  if (ring && ring.shared()->device != source.device)
    return failure(StatusCode::invalidArgument, ring.shared()->name,
                   ": belongs to another device");
  auto state = std::make_shared<GraphState>(source.device,
                                            textOf("graph of ", source.name));
  state->ring = ring;
  DFRT_CUDA_ENTER(device);
  DFRT_CUDA_TRY(device, cuStreamBeginCapture_v2,
                (source.handle, api::CaptureMode::threadLocal), state->name);
  Status recorded = record();
  Result ended =
      device.table().cuStreamEndCapture(source.handle, &state->graph);
  Status status = recorded;
  if (status.ok() && ended != Result::success)
    status = device.callFailure("cuStreamEndCapture", ended, state->name);
  if (status.ok() && !state->graph)
    status = failure(StatusCode::deviceError, state->name,
                     ": the capture was invalidated; do not synchronise or "
                     "allocate while a stream is captured");
  if (status.ok())
    status = state->readNodes();
  size_t unknown = dropCaptured(ring, stream);
  DFRT_TRY(status);
  // A copy that is not found could not be kept from reading a stage while it is
  // written.
  if (unknown)
    return failure(StatusCode::internalError, state->name, ": ", unknown,
                   " captured copies are not among its nodes");
  DFRT_CUDA_TRY(device, cuGraphInstantiateWithFlags,
                (&state->exec, state->graph, 0), state->name);
  Graph graph;
  graph.state = std::move(state);
  return graph;
}

const std::vector<Graph::Kernel> &Graph::kernels() const {
  return state->kernels;
}
uint32_t Graph::copies() const {
  return state ? uint32_t(state->copies.size()) : 0;
}

static Status checkCopy(const GraphState *state, uint32_t copy) {
  DFRT_TRY(requireHandle(state, "graph"));
  DFRT_TRY(state->usable());
  if (copy < state->copies.size())
    return Status::success();
  return failure(StatusCode::invalidArgument, state->name,
                 ": there is no copy ", copy, ", the graph has ",
                 state->copies.size(), " that read a staging ring");
}

Expected<uint32_t> Graph::stage(uint32_t copy) const {
  DFRT_TRY(checkCopy(state.get(), copy));
  return state->copies[copy].stage;
}

Status GraphState::point(Copy &copy, uint32_t stage) {
  RingState &shared = *ring.shared();
  const RingState::Stage &entry = shared.stages[stage];
  if (entry.bytes > copy.room)
    return failure(StatusCode::resourceExhausted, name, ": stage '", entry.name,
                   "' has ", entry.bytes, " bytes, but there is room for ",
                   copy.room, " where the graph copies them");
  api::CopyParameters parameters = copy.parameters;
  if (parameters.sourceType == api::MemoryType::unified)
    parameters.sourceDevice = reinterpret_cast<uintptr_t>(entry.memory.data());
  else
    parameters.sourceHost = entry.memory.data();
  parameters.widthBytes = entry.bytes;
  // One row: a pitch says nothing, but a stated one has to hold the row.
  for (size_t *pitch : {&parameters.sourcePitch, &parameters.targetPitch})
    if (*pitch)
      *pitch = std::max(*pitch, size_t(entry.bytes));
  Result result = device->table().cuGraphExecMemcpyNodeSetParams(
      exec, copy.node, &parameters, device->context);
  if (result != Result::success)
    return device->callFailure("cuGraphExecMemcpyNodeSetParams", result, name,
                               textOf("to read stage '", entry.name, "'"));
  copy.parameters = parameters;
  copy.stage = stage;
  return Status::success();
}

Status Graph::use(uint32_t copy, uint32_t stage) const {
  DFRT_TRY(checkCopy(state.get(), copy));
  GraphState::Copy &entry = state->copies[copy];
  RingState &ring = *state->ring.shared();
  DFRT_CUDA_ENTER(*state->device);
  uint32_t before = entry.stage;
  {
    Lock lock(ring.mutex);
    DFRT_TRY(ring.checkStage(stage));
    DFRT_TRY(ring.readable(ring.stages[stage]));
    DFRT_TRY(state->point(entry, stage));
    ++ring.stages[stage].holds;
  }
  state->leave(before);
  return Status::success();
}

Status Graph::replay(const Stream &stream) const {
  DFRT_TRY(requireHandle(state.get(), "graph"));
  DFRT_TRY(state->usable());
  DFRT_TRY(usableStream(stream, *state->device));
  DFRT_CUDA_ENTER(*state->device);
  if (state->copies.empty()) {
    DFRT_CUDA_TRY(*state->device, cuGraphLaunch,
                  (state->exec, stream.shared()->handle), state->name);
    return Status::success();
  }
  // The stages stay as they are until the reads of this replay are noted.
  RingState &ring = *state->ring.shared();
  Lock lock(ring.mutex);
  for (GraphState::Copy &copy : state->copies) {
    RingState::Stage &stage = ring.stages[copy.stage];
    DFRT_TRY(ring.readable(stage));
    DFRT_TRY(ring.addReader(stage, stream));
    if (stage.bytes != copy.parameters.widthBytes)
      DFRT_TRY(state->point(copy, copy.stage));
  }
  DFRT_CUDA_TRY(*state->device, cuGraphLaunch,
                (state->exec, stream.shared()->handle), state->name);
  for (const GraphState::Copy &copy : state->copies)
    DFRT_TRY(ring.noteRead(ring.stages[copy.stage], stream));
  return Status::success();
}
