//===- FakeWork.cpp - A CUDA driver without a device: memory and work -----===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeState.h"

#include <cstring>

using namespace fakecuda;

namespace {
void enqueue(FakeStream &stream, std::function<void()> work) {
  if (fake().control.holdStreams)
    stream.queue.push_back(std::move(work));
  else
    work();
}
bool isDevice(DevicePointer address, size_t bytes) {
  char *first = reinterpret_cast<char *>(address);
  auto next = fake().memory.upper_bound(first);
  if (next == fake().memory.begin())
    return false;
  --next;
  return first + bytes <= next->first + next->second;
}
void perform(const Work &work) {
  if (work.type != GraphNodeType::copy)
    return;
  const CopyParameters &c = work.copy;
  if (c.sourceType == MemoryType::unified)
    std::memcpy(reinterpret_cast<void *>(c.targetDevice),
                reinterpret_cast<void *>(c.sourceDevice), c.widthBytes);
  else if (c.sourceType == MemoryType::host)
    std::memcpy(reinterpret_cast<void *>(c.targetDevice), c.sourceHost,
                c.widthBytes);
  else
    std::memcpy(c.targetHost, reinterpret_cast<void *>(c.sourceDevice),
                c.widthBytes);
}
Result submit(StreamHandle handle, const Work &work) {
  FakeStream &stream = streamOf(handle);
  if (stream.capture) {
    stream.capture->nodes.emplace_back(new Node{work});
    return Result::success;
  }
  enqueue(stream, [work] { perform(work); });
  return Result::success;
}
Result checkLaunch(const LaunchConfig &config, FakeFunction &function,
                   bool query) {
  FakeDriver &d = fake().control;
  unsigned cluster = 1;
  int cooperative = 0;
  d.lastStatesCluster = 0;
  for (unsigned i = 0; i < config.attributeCount; ++i) {
    if (config.attributes[i].id == LaunchAttributeId::clusterDimension) {
      cluster = config.attributes[i].value.cluster.x;
      d.lastStatesCluster = 1;
    }
    if (config.attributes[i].id == LaunchAttributeId::cooperative)
      cooperative = config.attributes[i].value.cooperative;
  }
  if (d.lastStatesCluster && !d.clusters)
    return Result::notSupported;
  if (cluster > unsigned(d.largestCluster) ||
      (cluster > 8 && !function.nonPortable))
    return Result::invalidClusterSize;
  if (config.gridX % cluster || !config.gridX)
    return Result::invalidValue;
  if (int(config.sharedBytes) > function.dynamicShared)
    return Result::invalidValue;
  if (cooperative && cluster > 1 && !d.cooperativeClusters)
    return Result::notSupported;
  if (cooperative && config.gridX > unsigned(d.multiprocessors))
    return Result::cooperativeLaunchTooLarge;
  if (!query) {
    d.lastCtas = config.gridX;
    d.lastThreads = config.blockX;
    d.lastCluster = cluster;
    d.lastShared = config.sharedBytes;
    d.lastCooperative = cooperative;
  }
  return Result::success;
}
} // namespace

extern "C" {
Result cuMemGetInfo_v2(size_t *free, size_t *total) {
  ENTER();
  *total = fake().control.memoryBytes;
  *free = *total - fake().control.memoryUsed;
  return Result::success;
}
Result cuMemAlloc_v2(DevicePointer *address, size_t bytes) {
  ENTER();
  Fake &f = fake();
  if (f.control.memoryUsed + bytes > f.control.memoryBytes)
    return Result::outOfMemory;
  char *memory = new char[bytes];
  std::memset(memory, 0xa5, bytes);
  f.memory[memory] = bytes;
  f.control.memoryUsed += bytes;
  *address = reinterpret_cast<DevicePointer>(memory);
  return Result::success;
}
Result cuMemFree_v2(DevicePointer address) {
  ENTER();
  auto found = fake().memory.find(reinterpret_cast<char *>(address));
  if (found == fake().memory.end())
    return Result::invalidValue;
  runAll(); // as the driver: waits for work that may use it
  fake().control.memoryUsed -= found->second;
  delete[] found->first;
  fake().memory.erase(found);
  return Result::success;
}
Result cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  ENTER();
  *memory = new char[bytes];
  fake().host.insert(*memory);
  return Result::success;
}
Result cuMemFreeHost(void *memory) {
  ENTER();
  if (!fake().host.erase(memory))
    return Result::invalidValue;
  runAll();
  delete[] static_cast<char *>(memory);
  return Result::success;
}
Result cuMemHostGetDevicePointer_v2(DevicePointer *address, void *memory,
                                    unsigned) {
  ENTER();
  *address = reinterpret_cast<DevicePointer>(memory);
  return Result::success;
}
Result cuMemcpyHtoDAsync_v2(DevicePointer target, const void *source,
                            size_t bytes, StreamHandle stream) {
  ENTER();
  if (!isDevice(target, bytes))
    return Result::invalidValue;
  Work work = {};
  work.type = GraphNodeType::copy;
  work.copy.sourceType = MemoryType::host;
  work.copy.targetType = MemoryType::device;
  work.copy.sourceHost = source;
  work.copy.targetDevice = target;
  work.copy.widthBytes = bytes;
  work.copy.height = work.copy.depth = 1;
  return submit(stream, work);
}
Result cuMemcpyDtoHAsync_v2(void *target, DevicePointer source, size_t bytes,
                            StreamHandle stream) {
  ENTER();
  if (!isDevice(source, bytes))
    return Result::invalidValue;
  Work work = {};
  work.type = GraphNodeType::copy;
  work.copy.sourceType = MemoryType::device;
  work.copy.targetType = MemoryType::host;
  work.copy.sourceDevice = source;
  work.copy.targetHost = target;
  work.copy.widthBytes = bytes;
  work.copy.height = work.copy.depth = 1;
  return submit(stream, work);
}
Result cuMemsetD8Async(DevicePointer address, unsigned char value, size_t count,
                       StreamHandle stream) {
  ENTER();
  if (!isDevice(address, count))
    return Result::invalidValue;
  enqueue(streamOf(stream), [=] {
    std::memset(reinterpret_cast<void *>(address), value, count);
  });
  return Result::success;
}
Result cuMemsetD32Async(DevicePointer address, unsigned value, size_t count,
                        StreamHandle stream) {
  ENTER();
  if (!isDevice(address, count * 4))
    return Result::invalidValue;
  enqueue(streamOf(stream), [=] {
    for (size_t i = 0; i < count; ++i)
      std::memcpy(reinterpret_cast<char *>(address) + i * 4, &value, 4);
  });
  return Result::success;
}

Result cuStreamCreate(StreamHandle *stream, unsigned) {
  ENTER();
  FakeStream *made = new FakeStream;
  fake().streams.insert(made);
  *stream = reinterpret_cast<StreamHandle>(made);
  return Result::success;
}
Result cuStreamDestroy_v2(StreamHandle stream) {
  ENTER();
  runStream(streamOf(stream));
  return destroy(fake().streams, stream);
}
Result cuStreamSynchronize(StreamHandle handle) {
  ENTER();
  FakeStream &stream = streamOf(handle);
  if (stream.capture) {
    stream.invalid = true;
    return Result::captureUnsupported;
  }
  runStream(stream);
  return Result::success;
}
Result cuStreamQuery(StreamHandle stream) {
  ENTER();
  return streamOf(stream).queue.empty() ? Result::success : Result::notReady;
}
Result cuStreamWaitEvent(StreamHandle, EventHandle, unsigned) {
  ENTER();
  return Result::success;
}
Result cuStreamIsCapturing(StreamHandle handle, CaptureStatus *status) {
  ENTER();
  FakeStream &stream = streamOf(handle);
  *status = !stream.capture  ? CaptureStatus::none
            : stream.invalid ? CaptureStatus::invalidated
                             : CaptureStatus::active;
  return Result::success;
}
Result cuStreamBeginCapture_v2(StreamHandle handle, CaptureMode) {
  ENTER();
  FakeStream &stream = streamOf(handle);
  if (!handle || stream.capture)
    return Result::captureUnsupported;
  stream.capture = new FakeGraph;
  stream.invalid = false;
  ++fake().captures;
  return Result::success;
}
Result cuStreamEndCapture(StreamHandle handle, GraphHandle *graph) {
  ENTER();
  FakeStream &stream = streamOf(handle);
  FakeGraph *made = stream.capture;
  stream.capture = nullptr;
  *graph = nullptr;
  if (!made)
    return Result::invalidValue;
  --fake().captures;
  if (stream.invalid) {
    delete made;
    return Result::captureInvalidated;
  }
  fake().graphs.insert(made);
  *graph = reinterpret_cast<GraphHandle>(made);
  return Result::success;
}

Result cuThreadExchangeStreamCaptureMode(CaptureMode *mode) {
  ENTER();
  std::swap(*mode, fake().threadMode);
  return Result::success;
}

Result cuEventCreate(EventHandle *event, unsigned) {
  ENTER();
  FakeEvent *made = new FakeEvent;
  fake().events.insert(made);
  *event = reinterpret_cast<EventHandle>(made);
  return Result::success;
}
Result cuEventDestroy_v2(EventHandle event) {
  ENTER();
  return destroy(fake().events, event);
}
Result cuEventRecord(EventHandle handle, StreamHandle stream) {
  ENTER();
  FakeEvent *event = reinterpret_cast<FakeEvent *>(handle);
  int mark = ++event->marks;
  enqueue(streamOf(stream), [event, mark] {
    if (fake().events.count(event))
      event->passed = mark;
  });
  return Result::success;
}
Result cuEventQuery(EventHandle handle) {
  ENTER();
  if (fake().captures && fake().threadMode != CaptureMode::relaxed)
    return Result::captureUnsupported;
  FakeEvent *event = reinterpret_cast<FakeEvent *>(handle);
  return event->passed == event->marks ? Result::success : Result::notReady;
}
Result cuEventSynchronize(EventHandle) {
  ENTER();
  runAll();
  return Result::success;
}
Result cuEventElapsedTime(float *milliseconds, EventHandle, EventHandle) {
  ENTER();
  *milliseconds = 0.25f;
  return Result::success;
}

Result cuGraphInstantiateWithFlags(GraphExecHandle *exec, GraphHandle handle,
                                   unsigned long long) {
  ENTER();
  FakeGraph *graph = reinterpret_cast<FakeGraph *>(handle);
  FakeExec *made = new FakeExec;
  for (const std::unique_ptr<Node> &node : graph->nodes) {
    made->index[node.get()] = made->work.size();
    made->work.push_back(node->work);
  }
  fake().execs.insert(made);
  *exec = reinterpret_cast<GraphExecHandle>(made);
  return Result::success;
}
Result cuGraphDestroy(GraphHandle graph) {
  ENTER();
  return destroy(fake().graphs, graph);
}
Result cuGraphExecDestroy(GraphExecHandle exec) {
  ENTER();
  return destroy(fake().execs, exec);
}
Result cuGraphLaunch(GraphExecHandle handle, StreamHandle stream) {
  ENTER();
  for (const Work &work : reinterpret_cast<FakeExec *>(handle)->work)
    enqueue(streamOf(stream), [work] {
      perform(work);
      if (!work.parameter.empty() && fake().control.onLaunch)
        fake().control.onLaunch(work.parameter.data());
    });
  return Result::success;
}
Result cuGraphGetNodes(GraphHandle handle, GraphNodeHandle *nodes,
                       size_t *count) {
  ENTER();
  FakeGraph *graph = reinterpret_cast<FakeGraph *>(handle);
  if (nodes)
    for (size_t i = 0; i < graph->nodes.size() && i < *count; ++i)
      nodes[i] = reinterpret_cast<GraphNodeHandle>(graph->nodes[i].get());
  *count = graph->nodes.size();
  return Result::success;
}
Result cuGraphNodeGetType(GraphNodeHandle node, GraphNodeType *type) {
  ENTER();
  *type = reinterpret_cast<Node *>(node)->work.type;
  return Result::success;
}
Result cuGraphMemcpyNodeGetParams(GraphNodeHandle node, CopyParameters *copy) {
  ENTER();
  *copy = reinterpret_cast<Node *>(node)->work.copy;
  if (fake().control.unifiedCopies && copy->sourceType == MemoryType::host) {
    copy->sourceType = copy->targetType = MemoryType::unified;
    copy->sourceDevice = reinterpret_cast<DevicePointer>(copy->sourceHost);
    copy->sourceHost = nullptr;
  }
  if (fake().control.foreignNodes)
    copy->sourceHost = copy;
  return Result::success;
}
Result cuGraphExecMemcpyNodeSetParams(GraphExecHandle handle,
                                      GraphNodeHandle node,
                                      const CopyParameters *copy,
                                      ContextHandle) {
  ENTER();
  FakeExec *exec = reinterpret_cast<FakeExec *>(handle);
  auto found = exec->index.find(reinterpret_cast<Node *>(node));
  if (found == exec->index.end() || copy->height != 1)
    return Result::invalidValue;
  exec->work[found->second].copy = *copy;
  return Result::success;
}
Result cuGraphKernelNodeGetParams_v2(GraphNodeHandle node,
                                     KernelNodeParameters *parameters) {
  ENTER();
  const LaunchConfig &launch = reinterpret_cast<Node *>(node)->work.launch;
  parameters->gridX = launch.gridX;
  parameters->gridY = launch.gridY;
  parameters->gridZ = launch.gridZ;
  parameters->blockX = launch.blockX;
  parameters->blockY = launch.blockY;
  parameters->blockZ = launch.blockZ;
  parameters->sharedBytes = launch.sharedBytes;
  return Result::success;
}

Result cuLaunchKernelEx(const LaunchConfig *config, FunctionHandle function,
                        void **parameters, void **) {
  ENTER();
  Result result = checkLaunch(
      *config, *reinterpret_cast<FakeFunction *>(function), /*query=*/false);
  if (result != Result::success)
    return result;
  Work work = {};
  work.type = GraphNodeType::kernel;
  work.launch = *config;
  FakeDriver &d = fake().control;
  if (d.parameterBytes && parameters &&
      (!d.parameterThreads || d.parameterThreads == config->blockX)) {
    std::memcpy(d.lastParameter, parameters[0], d.parameterBytes);
    work.parameter.assign(d.lastParameter, d.lastParameter + d.parameterBytes);
    // What is captured runs with each replay.
    if (d.onLaunch && !streamOf(config->stream).capture)
      d.onLaunch(d.lastParameter);
  }
  return submit(config->stream, work);
}
Result cuOccupancyMaxActiveClusters(int *count, FunctionHandle function,
                                    const LaunchConfig *config) {
  ENTER();
  Result result = checkLaunch(
      *config, *reinterpret_cast<FakeFunction *>(function), /*query=*/true);
  if (result != Result::success)
    return result;
  unsigned cluster = config->attributes[0].value.cluster.x;
  // Whole clusters within groups of 16 and one of 4 multiprocessors.
  int groups = fake().control.multiprocessors / 16;
  int rest = fake().control.multiprocessors % 16;
  *count = groups * int(16 / cluster) + rest / int(cluster);
  return Result::success;
}
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, FunctionHandle,
                                                   int, size_t) {
  ENTER();
  *count = 1;
  return Result::success;
}
#ifndef FAKE_WITHOUT_TENSOR_MAPS
Result cuTensorMapEncodeTiled(TensorMapBytes *map, int element, unsigned rank,
                              void *address, const uint64_t *extents,
                              const uint64_t *strides, const unsigned *box,
                              const unsigned *, int, int swizzle, int, int) {
  ENTER();
  if (uintptr_t(address) % 16 || rank < 1 || rank > 5)
    return Result::invalidValue;
  map->words[0] = uint64_t(element) << 32 | rank;
  map->words[1] = uintptr_t(address);
  for (unsigned d = 0; d < rank; ++d) {
    map->words[2 + d] = extents[d] << 16 | box[d];
    if (d + 1 < rank)
      map->words[8 + d] = strides[d];
  }
  map->words[15] = uint64_t(swizzle);
  return Result::success;
}
#endif
} // extern "C"
