//===- Lifetimes.h - When a shared slot is in use ---------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times are (level, position) pairs packed into one integer, the same for all
// lanes. If the last use of one slot is earlier than the first use of another,
// then a release from that use to that first use keeps the schedule free of
// cycles: it either rises in level or follows a queue. `planSlots` lets only
// such slots share memory, and `insertReleases` makes the releases.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_SCHEDULE_LIFETIMES_H
#define DATAFLOW_LIB_SCHEDULE_LIFETIMES_H

#include "Flow.h"

namespace dfrt {
namespace detail {

using Time = uint64_t;
inline constexpr Time kNever = ~Time(0);

/// The moment of an instruction.
inline Time timeOf(const Flow &flow, uint32_t instruction) {
  return (Time(flow.level[instruction]) << 32) + flow.position[instruction] + 1;
}
/// Before and after all instructions of a level, on any lane.
inline Time levelBegin(uint32_t level) { return Time(level) << 32; }
inline Time levelEnd(uint32_t level) {
  return (Time(level) << 32) | 0xffffffffu;
}

/// Use of a slot in shared memory.
struct Lifetime {
  Time begin = 0; ///< first write
  /// Last use before another slot may be written by an instruction of the owner
  /// (`end`) or by a transfer from a peer (`endForPeer`).
  Time end = 0, endForPeer = 0;
  /// Written by a transfer from a peer.
  bool fromPeer = false;
  uint32_t lane = kNone; ///< owner

  /// True if this slot's uses end before `next` is written.
  bool endsBefore(const Lifetime &next) const {
    return (next.fromPeer ? endForPeer : end) < next.begin;
  }
};

inline bool reachesPeer(const Transfer &transfer) {
  return transfer.transport == Transport::clusterShared ||
         transfer.transport == Transport::multicast;
}

/// Lifetime of a slot in shared memory (or one that would be).
void findLifetime(const Schedule &schedule, const Flow &flow, uint32_t slot,
                  Lifetime &life);

/// All slots in shared memory, owner by owner, each owner's in the order of
/// their first writes. `lifetimes`: of these slots. [slots]
class SlotsByLane {
public:
  const std::vector<uint32_t> &sort(const Schedule &schedule,
                                    const std::vector<Lifetime> &lifetimes,
                                    uint32_t lanes);

private:
  std::vector<uint32_t> slots, unsorted, laneBegin;
};

/// Calls `visit` with the run of each owner in `slots`, which are ordered as by
/// slotsByLane, until it fails.
template <typename Visit>
Status visitLanes(const std::vector<uint32_t> &slots,
                  const std::vector<Lifetime> &lifetimes, Visit visit) {
  for (size_t begin = 0; begin < slots.size();) {
    uint32_t lane = lifetimes[slots[begin]].lane;
    size_t end = begin + 1;
    while (end < slots.size() && lifetimes[slots[end]].lane == lane)
      ++end;
    if (Status s =
            visit(ArrayView<uint32_t>(slots.data() + begin, end - begin));
        !s)
      return s;
    begin = end;
  }
  return Status::success();
}

} // namespace detail
} // namespace dfrt

#endif // DATAFLOW_LIB_SCHEDULE_LIFETIMES_H
