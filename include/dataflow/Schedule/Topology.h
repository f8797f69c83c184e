//===- Topology.h - The device as the planner sees it -----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many CTAs run, how they are grouped, what each can hold, and what things
// cost. Nothing here probes a device: the values come from an attribute, from a
// device profile or from the defaults, which were measured on one H200.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_SCHEDULE_TOPOLOGY_H
#define DATAFLOW_SCHEDULE_TOPOLOGY_H

#include "dataflow/Schedule/Status.h"

#include <cstdint>
#include <vector>

namespace dfrt {

/// CTAs that are resident together. CTA c has rank c % clusterSize in cluster
/// c / clusterSize.
struct Topology {
  uint32_t ctas = 132;
  uint32_t clusterSize = 1; ///< 1, 2, 4, 8 or 16; divides ctas
  /// Shared memory of a CTA in bytes (H200: 227 KB).
  uint64_t sharedBytes = 232448;
  /// Part of it that slots may not use: rings and handler scratch.
  uint64_t reservedBytes = 131072;

  uint32_t cluster(uint32_t cta) const { return cta / clusterSize; }
  uint64_t slotBytes() const {
    return sharedBytes > reservedBytes ? sharedBytes - reservedBytes : 0;
  }
};

/// Fails when clusterSize is not 1, 2, 4, 8 or 16 or does not divide ctas, when
/// ctas is 0 or above 65,536, or when reservedBytes exceeds sharedBytes.
Status check(const Topology &topology);

/// What some CTAs together read from memory.
struct ReadRate {
  double ctas = 0;
  double bandwidth = 0; ///< bytes a nanosecond
};

/// Constants of the cost model. Defaults: one NVIDIA H200, 132 SMs at 1980 MHz,
/// measured in November 2026; docs/results has the tables.
struct CostModel {
  double clockGHz = 1.98;
  /// Best HBM read rate of the whole device, bytes a nanosecond (= GB/s).
  double bandwidth = 4600.0;
  /// Most that one CTA can draw; 64 CTAs reach 90 % of the whole.
  double ctaBandwidth = 64.7;
  /// Measured rates by number of CTAs that read, ascending. Empty: each CTA
  /// draws `ctaBandwidth` until all draw `bandwidth`.
  std::vector<ReadRate> readRates;
  /// Dense 16-bit matrix rate of the whole device, FLOP a nanosecond.
  double flops = 799000.0;
  /// Event span of a kernel that does nothing, ns.
  double launchNs = 4900.0;
  /// Barrier initialisation, plan fetch and pipeline fill of a CTA, ns.
  double startNs = 3000.0;
  /// Store of the last results and cluster exit, ns.
  double exitNs = 1500.0;
  /// A byte of the record that a further segment on a CTA makes costs as much
  /// as this many bytes read: it is written, sent and read once more. 1 follows
  /// from 1.5 tiles a segment, measured as best on an H200 (flat from 1
  /// to 2), where tile, record and the input of a segment have 72, 64 and 36
  /// KB.
  double recordWeight = 1.0;
  /// Latency of one hop, cycles, and bytes that follow per cycle.
  double clusterHopCycles = 320.0, clusterBytesPerCycle = 21.0;
  double globalHopCycles = 2360.0, globalBytesPerCycle = 24.0;
  /// Fetch and dispatch of one instruction, ns.
  double instructionNs = 150.0;
  /// From a draw of a ticket list until its first instruction is there, ns: an
  /// atomic access and two dependent reads. A CTA draws while it executes the
  /// draw before, so shorter draws leave it idle.
  double drawNs = 2000.0;

  /// What each of so many CTAs that read at the same time draws, bytes a
  /// nanosecond; between measured numbers of CTAs on a straight line.
  double readRate(double ctas) const;
};

/// Fails, naming the constant, when one is negative, 0 where it divides, or
/// when `readRates` do not ascend.
Status check(const CostModel &costs);

} // namespace dfrt

#endif // DATAFLOW_SCHEDULE_TOPOLOGY_H
