//===- Timeline.h - When a kernel did what ----------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel built with a timeline says of each instruction, role by role, when
// it began and ended. A launch asks for it by a place for the records
// (Launcher::trace); each role of each CTA has room for the same number of
// them, fixed with the memory. What does not fit is counted and lost, so
// nothing that a kernel does depends on the room.
//
// Times are those of the device's global timer, in nanoseconds, which all
// multiprocessors share. Its steps are not those of a nanosecond.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_CUDA_TIMELINE_H
#define DFRT_CUDA_TIMELINE_H

#include "dfrt/KernelABI.h"
#include "dfrt/cuda/Memory.h"

#include <vector>

namespace dfrt::cuda {

/// The record is that of KernelABI.h.
using TimelineRecord = dfrt_timeline_record;

/// What one role of a CTA left.
struct TimelineLane {
  uint32_t cta = 0;
  uint32_t role = 0;           ///< DFRT_ROLE_LOAD or DFRT_ROLE_COMPUTE
  uint32_t multiprocessor = 0; ///< that ran the CTA; 0 without instructions
  uint32_t instructions = 0;   ///< executed
  std::vector<TimelineRecord> records; ///< of the first of them, in order

  uint64_t lost() const { return instructions - records.size(); }
};

/// Device memory for the records of a launch.
class Timeline {
public:
  /// Room for `capacity` instructions of each role of each of `ctas` CTAs.
  static Expected<Timeline> create(const Device &device, uint32_t ctas,
                                   uint32_t capacity);

  explicit operator bool() const { return launched != 0; }
  uint64_t address() const { return memory.address(); }
  uint32_t ctas() const { return launched; }
  uint32_t capacity() const { return records; }

  /// Before each launch, in its stream.
  Status clear(const Stream &stream) const;
  /// What the launch before in `stream`, which is waited for, has left: two
  /// lanes a CTA, by CTA and role.
  Expected<std::vector<TimelineLane>> read(const Stream &stream) const;
  /// The same as the kernel left it, records that nobody wrote included.
  Status read(const Stream &stream, std::vector<uint8_t> &bytes) const;

private:
  Buffer memory;
  uint32_t launched = 0, records = 0;
};

} // namespace dfrt::cuda

#endif // DFRT_CUDA_TIMELINE_H
