//===- CombineParts.cpp - Reduces of split tasks --------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides for each task of a reduce whether its parts are one already, are
// folded where they lie, shared slice by slice among the lanes that hold them,
// or folded in one place or pairwise.
//
//===----------------------------------------------------------------------===//

#include "ScheduleBuilder.h"
#include "dataflow/Schedule/Message.h"

#include <algorithm>

using namespace dfrt;
using namespace dfrt::detail;

/// A fold reads its parts in series, about one hop's worth of bytes each; above
/// this many a tree's further hops are shorter.
static constexpr size_t kMaxFold = 8;

void ScheduleBuilder::gatherParts(uint32_t s, uint64_t task) {
  parts.clear();
  const Edge &edge = graph.inputs(s)[0];
  const std::vector<uint32_t> &records = recordSlots[edge.source];
  const std::vector<uint64_t> &begin = recordBegin[edge.source];
  if (edge.keys == kNone) {
    for (uint64_t r = begin[task]; r < begin[task + 1]; ++r)
      parts.push({records[r], kNone});
    return;
  }
  gatherKeyed(edge, task, parts);
}

/// Appends what a rekeying reshard delivers to one of its tasks.
void ScheduleBuilder::gatherKeyed(const Edge &edge, uint64_t task,
                                  Table<Part> &list) const {
  const std::vector<uint32_t> &records = recordSlots[edge.source];
  const std::vector<uint64_t> &begin = recordBegin[edge.source];
  const KeySet &keys = problem.keys[edge.keys];
  for (uint64_t k = keys.begin[task]; k < keys.begin[task + 1]; ++k) {
    const KeyedSource &source = keys.sources[k];
    uint64_t record =
        begin.empty() ? source.task
                      : begin[source.task] + static_cast<uint64_t>(source.tile);
    list.push({records[record], source.row});
  }
}

/// Reduces of each lane so far. Lanes may come into being at any time.
uint32_t *ScheduleBuilder::reducesByLane() {
  if (reduceLoad.size() < placement->lanes)
    setSize(reduceLoad, placement->lanes);
  return reduceLoad.data();
}

uint32_t ScheduleBuilder::foldParts(uint32_t s, uint64_t task, uint32_t lane,
                                    const ArrayView<Part> &reads) {
  ++reducesByLane()[lane];
  return addInstruction(s, task, 0, 1, 0, graph.slices(s), lane, reads);
}

/// Folds neighbouring parts that lie on the same lane, so that only one record
/// a run leaves it. A single run would be the result, which is needed
/// elsewhere.
void ScheduleBuilder::joinRuns(uint32_t s, uint64_t task) {
  if (options.batchInvariant)
    return; // a lane's own sum would depend on where the parts are
  bool single = true;
  for (const Part &part : parts)
    single &= laneOf(part.slot) == laneOf(parts[0].slot);
  if (single)
    return;
  size_t kept = 0;
  for (size_t begin = 0; begin < parts.size();) {
    uint32_t lane = laneOf(parts[begin].slot);
    size_t end = begin + 1;
    while (end < parts.size() && laneOf(parts[end].slot) == lane)
      ++end;
    Part part = parts[begin];
    if (end - begin > 1)
      part = {foldParts(s, task, lane, {parts.data() + begin, end - begin}),
              kNone};
    parts[kept++] = part;
    begin = end;
  }
  parts.setSize(kept);
}

Status ScheduleBuilder::reduceTask(uint32_t s, uint64_t task) {
  gatherParts(s, task);
  mostParts = std::max(mostParts, static_cast<uint32_t>(parts.size()));
  uint32_t group = graph.group(s);
  uint32_t *set = setLane(s, task);
  uint32_t lane = set ? *set : kNone;
  Shares *share = group == kNone ? nullptr : &shares[group][task];
  if (share && share->count > 1) {
    joinRuns(s, task);
    scatterParts(s, task, *share);
    return Status::success();
  }
  bool together = true;
  for (const Part &part : parts)
    together &= laneOf(part.slot) == laneOf(parts[0].slot);
  if (share && share->count == 1) {
    lane = shareLanes[share->first];
    // A draw may not read from others what its own results may have led to.
    if (ticket() && !set && !parts.empty() &&
        (!together || laneOf(parts[0].slot) != lane))
      lane = together ? laneOf(parts[0].slot) : newLane();
  }
  if (lane == kNone && together)
    lane = parts.empty() ? homeLane(s, task) : laneOf(parts[0].slot);
  if (set && *set == kNone && lane != kNone)
    *set = lane;

  const StageRequests &requests = graph.stage(s).requests;
  bool plain = requests.memory == StageRequests::Memory::automatic;
  if (parts.size() == 1 && parts[0].row == kNone && plain &&
      laneOf(parts[0].slot) == lane) {
    recordSlots[s][task] = parts[0].slot;
    ++numElided;
  } else if (together && (parts.empty() || laneOf(parts[0].slot) == lane)) {
    recordSlots[s][task] = foldParts(s, task, lane, parts);
  } else {
    return combineParts(s, task, lane);
  }
  if (share && share->count == 0) {
    *share = {static_cast<uint32_t>(shareLanes.size()), 1};
    shareLanes.push(lane);
  }
  return Status::success();
}

/// Keeps those of `lanes` that have the fewest shares, in their order, and
/// counts one more for each. A share takes its time however few slices it has,
/// and a lane with parts of two tasks would have two of them, one after the
/// other, while others wait. Where that leaves fewer than half of the lanes,
/// all stay.
void ScheduleBuilder::keepIdlest(Table<uint32_t> &lanes) {
  uint32_t *reduces = reducesByLane();
  uint32_t fewest = UINT32_MAX;
  size_t idle = 0, kept = 0;
  for (uint32_t lane : lanes) {
    idle = reduces[lane] < fewest ? 1 : idle + (reduces[lane] == fewest);
    fewest = std::min(fewest, reduces[lane]);
  }
  bool all = 2 * idle < lanes.size();
  for (uint32_t lane : lanes)
    if (all || reduces[lane] == fewest) {
      ++reduces[lane];
      lanes[kept++] = lane;
    }
  lanes.setSize(kept);
}

/// Tasks in the order of the lanes on which their parts begin. Neighbours then
/// have at most one lane in common, so that each lane can do without a second
/// share. Empty: as they are.
void ScheduleBuilder::orderReduces(uint32_t s) {
  reduceOrder.clear();
  const Edge &edge = graph.inputs(s)[0];
  if (ticket() || problem.topology.clusterSize != 1 || options.batchInvariant ||
      edge.keys != kNone || graph.stage(edge.source).arity != Arity::pieces)
    return;
  const std::vector<uint32_t> &records = recordSlots[edge.source];
  const std::vector<uint64_t> &begin = recordBegin[edge.source];
  uint64_t tasks = problem.taskCount(s);
  auto firstLane = [&](uint64_t task) {
    return begin[task] == begin[task + 1] ? 0 : laneOf(records[begin[task]]);
  };
  placeBegin.fill(placement->lanes + 1, 0);
  for (uint64_t t = 0; t < tasks; ++t)
    ++placeBegin[firstLane(t) + 1];
  for (uint32_t lane = 0; lane < placement->lanes; ++lane)
    placeBegin[lane + 1] += placeBegin[lane];
  reduceOrder.setSize(tasks);
  for (uint64_t t = 0; t < tasks; ++t)
    reduceOrder[placeBegin[firstLane(t)]++] = t;
}

/// Lanes that hold no part of a split task, and so have nothing to reduce; and
/// how many tasks have two lanes, of which one may be left for all slices.
void ScheduleBuilder::findIdleLanes(uint32_t s) {
  idleFor = s;
  idleLanes.clear();
  numPairs = 0;
  uint32_t source = graph.inputs(s)[0].source;
  const std::vector<Assignment> &pieces = placement->pieces[source];
  if (pieces.empty())
    return;
  busyLanes.fill(placement->lanes, 0);
  size_t cuts = 0; // of the task so far
  for (size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i].task != pieces[i - 1].task) {
      numPairs += cuts == 1;
      cuts = 0;
    } else if (pieces[i].lane != pieces[i - 1].lane) {
      busyLanes[pieces[i].lane] = busyLanes[pieces[i - 1].lane] = 1;
      ++cuts;
    }
  }
  numPairs += cuts == 1;
  for (uint32_t lane = placement->lanes; lane-- > 0;)
    if (!busyLanes[lane] && !reducesByLane()[lane])
      idleLanes.push(lane);
}

/// Appends idle lanes until there are `wanted`, or none is left: they take the
/// shares of lanes that have one of another task. That halves the longest share
/// of a task with two lanes, and so they come before all others.
void ScheduleBuilder::addIdleLanes(uint32_t s, Table<uint32_t> &lanes,
                                   size_t wanted) {
  if (idleFor != s)
    findIdleLanes(s);
  if (wanted == 2 && numPairs)
    --numPairs;
  size_t kept = wanted == 2 ? 0 : numPairs;
  while (lanes.size() < wanted && idleLanes.size() > kept) {
    uint32_t lane = idleLanes[idleLanes.size() - 1];
    idleLanes.setSize(idleLanes.size() - 1);
    ++reducesByLane()[lane];
    lanes.push(lane);
  }
}

/// Parts on several lanes. `lane`: where the result must be, or kNone.
Status ScheduleBuilder::combineParts(uint32_t s, uint64_t task, uint32_t lane) {
  using Combine = ScheduleOptions::Combine;
  joinRuns(s, task);
  uint32_t group = graph.group(s);
  if (options.combine == Combine::scatter && group == kNone)
    return invalidArgument(
        "reduce '", graph.stage(s).name,
        "' cannot be combined by reduce-scatter: it or a reader of its records "
        "is not separable");
  // A member of the group that is tied to one CTA needs the whole record there.
  bool tied = false;
  if (group != kNone && sets.any())
    for (uint32_t member = 0; member < problem.program.stages.size(); ++member)
      tied |= graph.group(member) == group && sets.of(member, task) != kNone;
  if (options.combine == Combine::scatter && tied)
    return invalidArgument("reduce '", graph.stage(s).name,
                           "' cannot be combined by reduce-scatter: task ",
                           task, " is requested to be resident");
  bool scatter = !tied && (options.combine == Combine::scatter ||
                           options.combine == Combine::automatic);
  if (group != kNone && lane == kNone && scatter) {
    candidateLanes.clear();
    for (const Part &part : parts)
      candidateLanes.push(laneOf(part.slot));
    // The lanes in order of their parts, each once.
    Table<uint32_t> &order = candidateLanes;
    size_t kept = 0;
    for (size_t i = 0; i < order.size(); ++i)
      if (std::find(order.begin(), order.begin() + kept, order[i]) ==
          order.begin() + kept)
        order[kept++] = order[i];
    order.setSize(kept);
    // In clusters a hop costs less than a longer share, by the model.
    if (!ticket() && problem.topology.clusterSize == 1) {
      size_t holders = order.size();
      keepIdlest(order);
      addIdleLanes(s, order, holders);
    }
    uint32_t lanes = static_cast<uint32_t>(order.size());
    Shares share;
    share.first = static_cast<uint32_t>(shareLanes.size());
    share.count = std::min(lanes, graph.slices(s));
    for (uint32_t i = 0; i < share.count; ++i)
      shareLanes.push(ticket() ? newLane()
                               : order[uint64_t(i) * lanes / share.count]);
    shares[group][task] = share;
    scatterParts(s, task, share);
    ++numScattered;
    return Status::success();
  }

  // Only in one fold the order does not depend on where the parts are.
  bool fold = options.combine == Combine::fold || lane != kNone ||
              options.batchInvariant ||
              (options.combine != Combine::tree && parts.size() <= kMaxFold);
  ++(fold ? numFolded : numTrees);
  while (!fold && parts.size() > 2) {
    size_t kept = 0;
    for (size_t i = 0; i < parts.size(); i += 2) {
      Part part = parts[i];
      if (i + 1 < parts.size()) {
        uint32_t at = ticket() ? newLane() : laneOf(part.slot);
        part = {foldParts(s, task, at, {parts.data() + i, 2}), kNone};
      }
      parts[kept++] = part;
    }
    parts.setSize(kept);
  }
  if (lane == kNone)
    lane = ownerLane();
  if (uint32_t *set = setLane(s, task))
    *set = lane;
  recordSlots[s][task] = foldParts(s, task, lane, parts);
  if (group != kNone) {
    shares[group][task] = {static_cast<uint32_t>(shareLanes.size()), 1};
    shareLanes.push(lane);
  }
  return Status::success();
}

/// One instruction a share, each reading all parts.
void ScheduleBuilder::scatterParts(uint32_t s, uint64_t task,
                                   const Shares &share) {
  uint32_t slices = graph.slices(s);
  for (uint32_t i = 0; i < share.count; ++i) {
    uint32_t slot = addInstruction(s, task, 0, 1, slices * i / share.count,
                                   slices * (i + 1) / share.count,
                                   shareLanes[share.first + i], parts);
    if (i == 0)
      recordSlots[s][task] = slot;
  }
}

/// The lane that holds most parts and has reduced least; a new draw in a ticket
/// queue.
uint32_t ScheduleBuilder::ownerLane() {
  if (ticket())
    return newLane();
  if (laneBytes.size() < placement->lanes)
    setSize(laneBytes, placement->lanes);
  const uint32_t *reduces = reducesByLane();
  for (const Part &part : parts)
    ++laneBytes[laneOf(part.slot)];
  uint32_t best = laneOf(parts[0].slot);
  for (const Part &part : parts) {
    uint32_t lane = laneOf(part.slot);
    if (laneBytes[lane] > laneBytes[best] ||
        (laneBytes[lane] == laneBytes[best] && reduces[lane] < reduces[best]))
      best = lane;
  }
  for (const Part &part : parts)
    laneBytes[laneOf(part.slot)] = 0;
  return best;
}
