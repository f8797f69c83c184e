//===- Probe.cpp - What a device does, found by trying --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionState.h"
#include "StreamState.h"

#include "dataflow/Schedule/JsonWriter.h"

#include "dfrt/cuda/Launch.h"

#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;
using api::Result;

/// Does nothing. PTX, as it has to run on every device with clusters.
static constexpr char kProbeCode[] = ".version 7.8\n"
                                     ".target sm_90\n"
                                     ".address_size 64\n"
                                     ".visible .entry dataflow_probe()\n"
                                     "{\n"
                                     "  ret;\n"
                                     "}\n";

std::string DeviceProbe::json() const {
  JsonWriter json;
  json.beginObject();
  json.beginObject("resident_clusters");
  for (int i = 0; i < 5; ++i)
    json.member(std::to_string(1 << i).c_str(), residentClusters[i]);
  json.endObject();
  json.member("cooperative", cooperative);
  json.member("cooperative_clusters", cooperativeClusters);
  json.member("graphs", graphs);
  json.member("graphs_cooperative", graphsCooperative);
  json.endObject();
  return json.take();
}

/// Whether a launch of `shape` can be captured and a graph be made with it.
/// Whatever the driver refuses is a "no".
static bool tryGraph(const Function &function, const LaunchShape &shape,
                     const Stream &stream) {
  const DriverTable &table = function.shared()->device->table();
  api::StreamHandle handle = stream.shared()->handle;
  if (table.cuStreamBeginCapture_v2(handle, api::CaptureMode::threadLocal) !=
      Result::success)
    return false;
  bool captured = launch(function, shape, {}, stream).ok();
  api::GraphHandle graph = nullptr;
  if (table.cuStreamEndCapture(handle, &graph) != Result::success || !graph)
    return false;
  api::GraphExecHandle exec = nullptr;
  bool made = captured && table.cuGraphInstantiateWithFlags(&exec, graph, 0) ==
                              Result::success;
  if (exec)
    table.cuGraphExecDestroy(exec);
  table.cuGraphDestroy(graph);
  return made;
}

/// Whether a launch of `shape` runs.
static bool tryLaunch(const Function &function, const LaunchShape &shape,
                      const Stream &stream) {
  return launch(function, shape, {}, stream).ok() && stream.synchronize().ok();
}

Expected<DeviceProbe> cuda::probeDevice(const Device &device) {
  DFRT_TRY(requireHandle(device.shared().get(), "device"));
  const DeviceReport &report = device.report();
  DeviceProbe probe;
  probe.cooperative = report.cooperativeLaunch;
  if (!report.clusterLaunch) {
    probe.residentClusters[0] = report.multiprocessors;
    return probe;
  }
  CodeRequirements code;
  code.name = "device probe";
  code.architecture = "compute_90";
  ModuleCache cache(device);
  Expected<Module> module =
      cache.load(kProbeCode, std::strlen(kProbeCode), code);
  if (!module)
    return module.status();
  Expected<Function> function = module->function("dataflow_probe");
  if (!function)
    return function.status();
  LaunchShape shape;
  shape.threads = 128;
  shape.sharedBytes = report.sharedPerBlockOptin;
  for (int i = 0; i < 5; ++i) {
    shape.ctas = shape.clusterSize = 1u << i;
    Expected<uint32_t> count = residentClusters(*function, shape);
    if (!count)
      return count.status();
    probe.residentClusters[i] = *count;
  }
  Expected<Stream> stream = Stream::create(device, "device probe");
  if (!stream)
    return stream.status();
  DFRT_CUDA_ENTER(*device.shared());
  shape.ctas = shape.clusterSize = 2;
  probe.graphs = tryGraph(*function, shape, *stream);
  shape.cooperative = report.cooperativeLaunch;
  if (shape.cooperative) {
    probe.cooperativeClusters = tryLaunch(*function, shape, *stream);
    probe.graphsCooperative = tryGraph(*function, shape, *stream);
  }
  return probe;
}
