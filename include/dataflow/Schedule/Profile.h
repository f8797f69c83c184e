//===- Profile.h - What was measured on a device ----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device profile holds what `df-run --calibrate` measured: a JSON file, which
// docs/calibrate.md describes, and this structure. The planner takes its
// topology and its cost model from it. Nothing here probes a device.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_SCHEDULE_PROFILE_H
#define DATAFLOW_SCHEDULE_PROFILE_H

#include "dataflow/Schedule/Topology.h"

#include <optional>
#include <string>
#include <vector>

namespace dfrt {

/// Ways from one CTA to another that are measured apart.
enum class HopKind : uint32_t {
  clusterShared, ///< bulk copy into the receiver's shared memory
  clusterSignal, ///< arrival at a barrier of another CTA, without data
  globalFlag,    ///< bulk store, flag; acquire, bulk load
  globalData,    ///< a slot whose data are their own flag
  globalSignal,  ///< release of a flag and acquire, without data
  multicast,     ///< from global memory to all CTAs of a cluster
};
inline constexpr uint32_t kHopKinds = 6;
/// As the file calls it, e.g. "cluster_shared".
const char *hopName(HopKind kind);

struct DeviceProfile {
  /// Of the file; another one is refused.
  static constexpr int64_t kVersion = 1;

  std::string card;         ///< e.g. "NVIDIA H200"
  std::string architecture; ///< e.g. "sm_90"
  std::string driver;
  std::string date; ///< UTC, "2026-11-30T12:00:00Z"
  /// Of the multiprocessors: while the kernels ran, and at most.
  double clockMegahertz = 0, maximumClockMegahertz = 0;
  uint32_t multiprocessors = 0;
  uint64_t sharedBytes = 0; ///< most of a CTA
  uint64_t l2Bytes = 0, memoryBytes = 0;
  /// Clusters of 1, 2, 4, 8 and 16 CTAs that are resident with one CTA a
  /// multiprocessor; 0: refused.
  uint32_t residentClusters[5] = {};

  /// Nanoseconds.
  struct Launch {
    double eventPair = 0;   ///< between two events with nothing between
    double emptyKernel = 0; ///< and with one kernel that does nothing
    double graphNode = 0;   ///< of each such kernel in a replayed graph
    /// What a kernel that only reads takes beyond bytes / bandwidth.
    double readKernel = 0;
  } launch;

  /// A rate at which data come from memory with a cold L2.
  struct Read {
    uint32_t ctas = 0; ///< that read, one a multiprocessor
    uint32_t clusterSize = 1;
    double bandwidth = 0; ///< of all together, bytes a nanosecond
  };
  std::vector<Read> reads;

  struct HopSample {
    uint64_t bytes = 0;
    double cycles = 0;
  };
  /// Time from sending a record until the receiver goes on.
  struct Hop {
    HopKind kind = HopKind::clusterShared;
    uint32_t ctas = 2;    ///< of the cluster, or of the ring
    uint32_t waiters = 1; ///< threads of the receiver that wait
    /// Line through the samples. No data: bytesPerCycle is 0.
    double latencyCycles = 0, bytesPerCycle = 0;
    std::vector<HopSample> samples;
  };
  std::vector<Hop> hops;

  /// What compiled kernels take beyond what the probes above measure, fitted to
  /// measured plans by scripts/fit-costs.
  struct Kernels {
    /// Of the rate of a kernel that only reads, what one draws that computes:
    /// its CTAs do not end together.
    double readShare = 1;
    double instruction = 0; ///< fetch, dispatch and ramp of a call, nanoseconds
    double start = 0;       ///< of a CTA, nanoseconds
  };
  std::optional<Kernels> kernels;

  /// [multiprocessors] processing cluster of each, -1 where it was not seen.
  /// Empty: unknown.
  std::vector<int32_t> processingClusters;
  /// [multiprocessors] half of the L2 that is near, 0 or 1. Empty: unknown.
  std::vector<int32_t> l2Sides;

  /// CTAs that are resident together in clusters of `clusterSize`; 0 for a
  /// size that the device does not take, or that does not exist.
  uint32_t residentCtas(uint32_t clusterSize) const;
  /// The hop of this kind between as many CTAs, or the next fewer or more, with
  /// the most waiters; null when none was measured.
  const Hop *hop(HopKind kind, uint32_t ctas) const;
};

/// Fails when a member is missing or out of range, naming it as the file does.
Status check(const DeviceProfile &profile);

/// Puts the line through the samples of `hop`, with the same relative error
/// allowed everywhere.
void fitHop(DeviceProfile::Hop &hop);

/// The profile in the text of a file. `name` is what messages call it. Fails
/// with `invalidFile`, naming the member, when one is missing, unknown or
/// wrong, and when the version is another one.
Expected<DeviceProfile> readProfile(const std::string &text,
                                    const std::string &name = "profile");
/// The same of a file. Fails with `invalidFile` when it cannot be read.
Expected<DeviceProfile> readProfileFile(const std::string &path);
/// The text of a file.
std::string profileText(const DeviceProfile &profile);

/// The device of a profile with clusters of this size. `ctas` and `sharedBytes`
/// 0: as many as there are. Fails when it does not keep so many CTAs resident,
/// saying which sizes it takes, or has less shared memory.
Expected<Topology>
topologyOf(const DeviceProfile &profile, uint32_t clusterSize = 1,
           uint32_t ctas = 0, uint64_t sharedBytes = 0,
           uint64_t reservedBytes = Topology().reservedBytes);

/// The constants of a cost model for clusters of this size. What is not
/// measured keeps its default.
CostModel costModel(const DeviceProfile &profile, uint32_t clusterSize = 1);

} // namespace dfrt

#endif // DATAFLOW_SCHEDULE_PROFILE_H
