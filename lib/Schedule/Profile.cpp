//===- Profile.cpp - What was measured on a device ------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests of a profile, and what the planner takes from one. ProfileText.cpp has
// the form of the file.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/Profile.h"

#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <cmath>

using namespace dfrt;

const char *dfrt::hopName(HopKind kind) {
  static constexpr const char *kNames[kHopKinds] = {
      "cluster_shared", "cluster_signal", "global_flag",
      "global_data",    "global_signal",  "multicast"};
  return kNames[size_t(kind)];
}

/// Whether a record comes with the hop.
static bool carriesData(HopKind kind) {
  return kind != HopKind::clusterSignal && kind != HopKind::globalSignal;
}

uint32_t DeviceProfile::residentCtas(uint32_t clusterSize) const {
  for (uint32_t i = 0; i < 5; ++i)
    if (clusterSize == 1u << i)
      return residentClusters[i] * clusterSize;
  return 0;
}

const DeviceProfile::Hop *DeviceProfile::hop(HopKind kind,
                                             uint32_t ctas) const {
  const Hop *best = nullptr;
  auto distance = [&](const Hop &hop) {
    double ratio = double(hop.ctas) / double(ctas ? ctas : 1);
    return std::abs(std::log2(ratio));
  };
  for (const Hop &hop : hops) {
    if (hop.kind != kind)
      continue;
    if (!best || distance(hop) < distance(*best) ||
        (distance(hop) == distance(*best) && hop.waiters > best->waiters))
      best = &hop;
  }
  return best;
}

static Status wrong(const std::string &text) {
  return Status(StatusCode::invalidArgument, text);
}

/// Fails when one of the numbers is not within its limits.
template <size_t count>
static Status
checkPositive(const std::pair<const char *, double> (&numbers)[count]) {
  for (const auto &[name, value] : numbers)
    if (!(value > 0 && value < 1e18))
      return wrong(textOf(name, " is ", value, ", expected a positive number"));
  return Status::success();
}

static Status checkHop(const DeviceProfile::Hop &hop, const std::string &name) {
  if (!(hop.latencyCycles >= 0 && hop.latencyCycles < 1e9))
    return wrong(textOf(name, ".latency_cycles is ", hop.latencyCycles,
                        ", expected 0 to 1e9"));
  bool data = carriesData(hop.kind);
  if (data ? !(hop.bytesPerCycle > 0 && hop.bytesPerCycle < 1e9)
           : hop.bytesPerCycle != 0)
    return wrong(textOf(name, ".bytes_per_cycle is ", hop.bytesPerCycle,
                        ", expected ",
                        data ? "a positive number" : "null for a signal"));
  if (hop.ctas == 0 || hop.waiters == 0 || hop.waiters > 1024)
    return wrong(textOf(name, ".", hop.ctas ? "waiters" : "ctas", " is ",
                        hop.ctas ? hop.waiters : 0, ", expected ",
                        hop.ctas ? "1 to 1024" : "1 or more"));
  for (const DeviceProfile::HopSample &sample : hop.samples)
    if (!(sample.cycles > 0 && sample.cycles < 1e12))
      return wrong(textOf(name, ".samples has ", sample.cycles, " cycles for ",
                          sample.bytes, " bytes"));
  return Status::success();
}

static Status checkPlaces(const std::vector<int32_t> &places, const char *name,
                          uint32_t count, int32_t least, int32_t most) {
  if (places.empty())
    return Status::success();
  if (places.size() != count)
    return wrong(textOf(name, " has ", places.size(), " entries for ", count,
                        " multiprocessors"));
  for (size_t i = 0; i < places.size(); ++i)
    if (places[i] < least || places[i] > most)
      return wrong(textOf(name, "[", i, "] is ", places[i], ", expected ",
                          least, " to ", most));
  return Status::success();
}

Status dfrt::check(const DeviceProfile &profile) {
  if (profile.card.empty())
    return wrong("card is empty");
  const std::pair<const char *, double> positive[] = {
      {"clock_mhz", profile.clockMegahertz},
      {"maximum_clock_mhz", profile.maximumClockMegahertz},
      {"multiprocessors", profile.multiprocessors},
      {"shared_bytes", double(profile.sharedBytes)},
      {"l2_bytes", double(profile.l2Bytes)},
      {"memory_bytes", double(profile.memoryBytes)},
      {"resident_clusters.1", double(profile.residentClusters[0])},
      {"launch.empty_kernel_ns", profile.launch.emptyKernel},
      {"launch.graph_node_ns", profile.launch.graphNode}};
  DFRT_TRY(checkPositive(positive));
  const std::pair<const char *, double> others[] = {
      {"launch.event_pair_ns", profile.launch.eventPair},
      {"launch.read_kernel_ns", profile.launch.readKernel}};
  for (const auto &[name, value] : others)
    if (!(value >= 0 && value < 1e18))
      return wrong(textOf(name, " is ", value, ", expected 0 or more"));
  if (profile.kernels) {
    const std::pair<const char *, double> fitted[] = {
        {"kernels.read_share", profile.kernels->readShare},
        {"kernels.instruction_ns", profile.kernels->instruction},
        {"kernels.start_ns", profile.kernels->start}};
    DFRT_TRY(checkPositive(fitted));
  }
  if (profile.multiprocessors > 65536)
    return wrong(textOf("multiprocessors is ", profile.multiprocessors,
                        ", expected at most 65536"));
  for (uint32_t i = 0; i < 5; ++i)
    if (uint64_t(profile.residentClusters[i]) << i > profile.multiprocessors)
      return wrong(textOf("resident_clusters.", 1u << i, " is ",
                          profile.residentClusters[i], ", more than fit on ",
                          profile.multiprocessors, " multiprocessors"));
  // By size, and by CTAs within a size, so that rates can be interpolated.
  bool single = false;
  for (size_t i = 0; i < profile.reads.size(); ++i) {
    const DeviceProfile::Read &read = profile.reads[i];
    std::string name = textOf("reads[", i, "]");
    if (!(read.bandwidth > 0 && read.bandwidth < 1e18))
      return wrong(textOf(name, ".gb_per_s is ", read.bandwidth,
                          ", expected a positive number"));
    uint32_t most = profile.residentCtas(read.clusterSize);
    if (read.ctas == 0 || read.ctas > most)
      return wrong(textOf(name, " has ", read.ctas, " CTAs in clusters of ",
                          read.clusterSize, ", expected 1 to ", most));
    if (i && (read.clusterSize < profile.reads[i - 1].clusterSize ||
              (read.clusterSize == profile.reads[i - 1].clusterSize &&
               read.ctas <= profile.reads[i - 1].ctas)))
      return wrong(textOf(name, " is not in order: cluster sizes and CTAs of "
                                "a size ascend"));
    single |= read.clusterSize == 1;
  }
  if (!single)
    return wrong("reads has no entry with cluster_size 1");
  for (size_t i = 0; i < profile.hops.size(); ++i)
    DFRT_TRY(checkHop(profile.hops[i], textOf("hops[", i, "]")));
  if (!profile.hop(HopKind::globalFlag, 2))
    return wrong("hops has no entry for global_flag");
  DFRT_TRY(checkPlaces(profile.processingClusters, "processing_clusters",
                       profile.multiprocessors, -1, 65535));
  return checkPlaces(profile.l2Sides, "l2_sides", profile.multiprocessors, 0,
                     1);
}

void dfrt::fitHop(DeviceProfile::Hop &hop) {
  // Least squares of (a + b bytes) / cycles - 1. Without data b is 0.
  double s11 = 0, s12 = 0, s22 = 0, r1 = 0, r2 = 0;
  for (const DeviceProfile::HopSample &sample : hop.samples) {
    double one = 1 / sample.cycles, bytes = double(sample.bytes) * one;
    s11 += one * one;
    s12 += one * bytes;
    s22 += bytes * bytes;
    r1 += one;
    r2 += bytes;
  }
  double determinant = s11 * s22 - s12 * s12;
  hop.latencyCycles = s11 > 0 ? r1 / s11 : 0;
  hop.bytesPerCycle = 0;
  if (determinant <= 1e-12 * s11 * s22)
    return;
  double slope = (s11 * r2 - s12 * r1) / determinant;
  if (slope > 0) {
    hop.latencyCycles = std::max(0.0, (s22 * r1 - s12 * r2) / determinant);
    hop.bytesPerCycle = 1 / slope;
  }
}

Expected<Topology> dfrt::topologyOf(const DeviceProfile &profile,
                                    uint32_t clusterSize, uint32_t ctas,
                                    uint64_t sharedBytes,
                                    uint64_t reservedBytes) {
  Topology topology;
  topology.clusterSize = clusterSize;
  topology.reservedBytes = reservedBytes;
  uint32_t most = profile.residentCtas(clusterSize);
  topology.ctas = ctas ? ctas : most;
  topology.sharedBytes = sharedBytes ? sharedBytes : profile.sharedBytes;
  // A size that no device has is left to the check of the topology.
  bool exists =
      clusterSize && clusterSize <= 16 && !(clusterSize & (clusterSize - 1));
  if (exists && topology.ctas > most) {
    std::string sizes;
    for (uint32_t i = 0; i < 5; ++i)
      if (profile.residentClusters[i])
        sizes +=
            textOf(sizes.empty() ? "" : ", ", profile.residentClusters[i] << i,
                   " in clusters of ", 1u << i);
    return failure(StatusCode::invalidArgument, "device profile of '",
                   profile.card, "' keeps at most ", most,
                   " CTAs resident in clusters of ", clusterSize, ", but ",
                   topology.ctas, " are asked for; it takes ", sizes);
  }
  if (exists && most == 0)
    return failure(StatusCode::invalidArgument, "device profile of '",
                   profile.card, "' has no clusters of ", clusterSize);
  if (topology.sharedBytes > profile.sharedBytes)
    return failure(StatusCode::invalidArgument, "device profile of '",
                   profile.card, "' has ", profile.sharedBytes,
                   " bytes of shared memory a CTA, but ", topology.sharedBytes,
                   " are asked for");
  if (!exists)
    topology.ctas = std::max(topology.ctas, 1u);
  DFRT_TRY(check(topology));
  return topology;
}

CostModel dfrt::costModel(const DeviceProfile &profile, uint32_t clusterSize) {
  CostModel costs;
  costs.clockGHz = profile.clockMegahertz / 1000;
  uint32_t size = 1;
  for (const DeviceProfile::Read &read : profile.reads)
    if (read.clusterSize == clusterSize)
      size = clusterSize;
  double share = 1;
  if (profile.kernels) {
    share = profile.kernels->readShare;
    costs.instructionNs = profile.kernels->instruction;
    costs.startNs = profile.kernels->start;
  }
  for (const DeviceProfile::Read &read : profile.reads)
    if (read.clusterSize == size)
      costs.readRates.push_back({double(read.ctas), share * read.bandwidth});
  if (!costs.readRates.empty()) {
    const ReadRate &all = costs.readRates.back();
    costs.bandwidth = 0;
    for (const ReadRate &rate : costs.readRates)
      costs.bandwidth = std::max(costs.bandwidth, rate.bandwidth);
    // Half of the CTAs nearly saturate the memory: what each of them draws.
    costs.ctaBandwidth = costs.readRate(std::max(1.0, all.ctas / 2));
    // These two are the device's, whatever runs on it.
    costs.bandwidth /= share;
    costs.ctaBandwidth /= share;
  }
  costs.launchNs =
      std::max(profile.launch.emptyKernel, profile.launch.readKernel);
  if (const DeviceProfile::Hop *hop =
          profile.hop(HopKind::clusterShared, std::max(clusterSize, 2u))) {
    costs.clusterHopCycles = hop->latencyCycles;
    costs.clusterBytesPerCycle = hop->bytesPerCycle;
  }
  if (const DeviceProfile::Hop *hop = profile.hop(HopKind::globalFlag, 2)) {
    costs.globalHopCycles = hop->latencyCycles;
    costs.globalBytesPerCycle = hop->bytesPerCycle;
  }
  return costs;
}
