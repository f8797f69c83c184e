//===- Launch.cpp - Launch shapes and launches ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionState.h"
#include "LaunchConfig.h"
#include "StreamState.h"

using namespace dfrt;
using namespace dfrt::cuda;
using api::Result;

LaunchRequest::LaunchRequest(const LaunchShape &shape, api::StreamHandle stream,
                             bool clusters) {
  config.gridX = shape.ctas;
  config.gridY = config.gridZ = 1;
  config.blockX = shape.threads;
  config.blockY = config.blockZ = 1;
  config.sharedBytes = unsigned(shape.sharedBytes);
  config.stream = stream;
  auto add = [&](api::LaunchAttributeId id) -> api::LaunchAttribute & {
    api::LaunchAttribute &attribute = attributes[config.attributeCount++];
    attribute.id = id;
    return attribute;
  };
  // Said for clusters of one, too: without it a bulk copy to the CTA's own
  // place in the cluster is an illegal instruction (H200, driver 580).
  if (clusters) {
    auto &cluster = add(api::LaunchAttributeId::clusterDimension).value.cluster;
    cluster.x = shape.clusterSize;
    cluster.y = cluster.z = 1;
  }
  if (shape.cooperative)
    add(api::LaunchAttributeId::cooperative).value.cooperative = 1;
  config.attributes = config.attributeCount ? attributes : nullptr;
}

static std::string describe(const LaunchShape &shape) {
  return textOf(shape.ctas, " CTAs of ", shape.threads,
                " threads in clusters of ", shape.clusterSize, " with ",
                shape.sharedBytes, " bytes of dynamic shared memory",
                shape.cooperative ? ", cooperative" : "");
}

/// What can be said of a shape without asking the driver.
static Status checkShape(const FunctionState &kernel,
                         const LaunchShape &shape) {
  const DeviceReport &device = kernel.device->report;
  auto wrong = [&](StatusCode code, const auto &...why) {
    return failure(code, kernel.name, ": a launch of ", describe(shape), ": ",
                   why...);
  };
  uint32_t cluster = shape.clusterSize;
  if (!shape.threads || shape.threads > kernel.report.maxThreads)
    return wrong(StatusCode::invalidArgument, "the kernel takes 1 to ",
                 kernel.report.maxThreads, " threads a CTA");
  if (!cluster || cluster & (cluster - 1) || cluster > 16)
    return wrong(StatusCode::invalidArgument,
                 "a cluster size is 1, 2, 4, 8 or 16");
  if (shape.ctas % cluster)
    return wrong(StatusCode::invalidArgument,
                 "the cluster size does not divide the number of CTAs");
  if (cluster > 1 && !device.clusterLaunch)
    return wrong(StatusCode::unsupported, "'", device.name,
                 "' has no clusters");
  if (kernel.report.requiredCluster && kernel.report.requiredCluster != cluster)
    return wrong(StatusCode::invalidArgument,
                 "the kernel was compiled for clusters of ",
                 kernel.report.requiredCluster);
  if (shape.cooperative && !device.cooperativeLaunch)
    return wrong(StatusCode::unsupported, "'", device.name,
                 "' has no cooperative launches");
  return Status::success();
}

Expected<uint32_t> cuda::residentClusters(const Function &function,
                                          const LaunchShape &shape) {
  DFRT_TRY(requireHandle(function.shared().get(), "kernel"));
  FunctionState &kernel = *function.shared();
  DeviceState &device = *kernel.device;
  DFRT_TRY(kernel.usable());
  DFRT_TRY(checkShape(kernel, shape));
  DFRT_CUDA_ENTER(device);
  DFRT_TRY(kernel.prepare(shape.sharedBytes, /*nonPortable=*/false));
  if (shape.clusterSize > kPortableCluster) {
    // A device without such clusters may refuse the very attribute.
    Status prepared = kernel.prepare(shape.sharedBytes, /*nonPortable=*/true);
    if (!prepared.ok())
      return device.lost ? Expected<uint32_t>(prepared) : uint32_t(0);
  }
  int count = 0;
  if (!device.report.clusterLaunch) {
    DFRT_CUDA_TRY(
        device, cuOccupancyMaxActiveBlocksPerMultiprocessor,
        (&count, kernel.handle, int(shape.threads), size_t(shape.sharedBytes)),
        kernel.name);
    return uint32_t(count) * device.report.multiprocessors;
  }
  LaunchShape asked = shape;
  asked.cooperative = false; // says nothing of what fits
  LaunchRequest request(asked, nullptr, /*clusters=*/true);
  Result result = device.table().cuOccupancyMaxActiveClusters(
      &count, kernel.handle, &request.config);
  if (result == Result::invalidClusterSize)
    return uint32_t(0);
  if (result != Result::success)
    return device.callFailure("cuOccupancyMaxActiveClusters", result,
                              kernel.name, describe(shape));
  return uint32_t(count < 0 ? 0 : count);
}

std::string ChosenShape::text() const {
  std::string text =
      textOf(describe(shape), ", ", residentCtas, " CTAs can be resident");
  for (const std::string &reason : refused)
    text += textOf("; ", reason);
  return text;
}

/// Whether `shape` will do; the reason, when not. Settles `cooperative`.
static Status tryShape(const Function &function, const DeviceProbe &probe,
                       const ShapeRequest &request, LaunchShape &shape,
                       uint32_t &residentCtas, std::string &reason) {
  uint32_t cluster = shape.clusterSize;
  bool allowed = cluster > 1 ? probe.cooperativeClusters : probe.cooperative;
  shape.cooperative = request.cooperation != Cooperation::no && allowed;
  if (request.cooperation == Cooperation::required && !allowed) {
    reason = "the driver takes no cooperative launch";
    if (cluster > 1)
      reason += " with clusters";
    return Status::success();
  }
  uint32_t required = function.report().requiredCluster;
  if (required && required != cluster) {
    reason = textOf("the kernel was compiled for clusters of ", required);
    return Status::success();
  }
  if (cluster > 1 && !function.shared()->device->report.clusterLaunch) {
    reason = "the device has no clusters";
    return Status::success();
  }
  Expected<uint32_t> clusters = residentClusters(function, shape);
  if (!clusters)
    return clusters.status();
  residentCtas = *clusters * cluster;
  if (!*clusters)
    reason = "not one such cluster fits the device";
  else if ((request.resident || shape.cooperative) && residentCtas < shape.ctas)
    reason = textOf("only ", residentCtas, " of ", shape.ctas,
                    " CTAs can be resident at once");
  return Status::success();
}

Expected<ChosenShape> cuda::chooseShape(const Function &function,
                                        const DeviceProbe &probe,
                                        const ShapeRequest &request) {
  DFRT_TRY(requireHandle(function.shared().get(), "kernel"));
  const FunctionState &kernel = *function.shared();
  ChosenShape chosen;
  chosen.shape = request.wanted;
  uint32_t cluster = request.wanted.clusterSize;
  if (!cluster || cluster & (cluster - 1) || cluster > 16)
    return failure(StatusCode::invalidArgument, kernel.name, ": cluster size ",
                   cluster, " is not 1, 2, 4, 8 or 16");
  std::string reasons;
  for (; cluster && cluster >= request.smallestCluster; cluster /= 2) {
    chosen.shape.clusterSize = cluster;
    std::string reason;
    DFRT_TRY(tryShape(function, probe, request, chosen.shape,
                      chosen.residentCtas, reason));
    if (reason.empty())
      return chosen;
    chosen.refused.push_back(
        textOf("clusters of ", cluster, " were refused: ", reason));
    if (!reasons.empty())
      reasons += "; ";
    reasons += chosen.refused.back();
  }
  return failure(StatusCode::resourceExhausted, kernel.name,
                 ": no launch shape for ", request.wanted.ctas, " CTAs of ",
                 request.wanted.threads, " threads with ",
                 request.wanted.sharedBytes,
                 " bytes of shared memory: ", reasons,
                 "; lower the number of CTAs or the shared memory");
}

Status cuda::launch(const Function &function, const LaunchShape &shape,
                    const std::vector<void *> &arguments,
                    const Stream &stream) {
  DFRT_TRY(requireHandle(function.shared().get(), "kernel"));
  FunctionState &kernel = *function.shared();
  DeviceState &device = *kernel.device;
  DFRT_TRY(kernel.usable());
  DFRT_TRY(usableStream(stream, device));
  if (!shape.ctas)
    return Status::success();
  DFRT_TRY(checkShape(kernel, shape));
  DFRT_CUDA_ENTER(device);
  DFRT_TRY(
      kernel.prepare(shape.sharedBytes, shape.clusterSize > kPortableCluster));
  LaunchRequest request(shape, stream.shared()->handle,
                        function.shared()->device->report.clusterLaunch);
  Result result = device.table().cuLaunchKernelEx(
      &request.config, kernel.handle, const_cast<void **>(arguments.data()),
      nullptr);
  if (result == Result::success)
    return Status::success();
  return device.callFailure(
      "cuLaunchKernelEx", result, kernel.name,
      textOf("asked for ", describe(shape), " on ", stream.shared()->name));
}
