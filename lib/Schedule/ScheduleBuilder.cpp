//===- ScheduleBuilder.cpp - From placement to instructions ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes the calls of all stages; CombineParts.cpp makes the reduces, and
// QueueOrder.cpp puts everything in order.
//
//===----------------------------------------------------------------------===//

#include "ScheduleBuilder.h"

#include "dataflow/Schedule/Message.h"

#include <algorithm>

using namespace dfrt;
using namespace dfrt::detail;

void ScheduleBuilder::clear() {
  instructions.clear();
  nodes.clear();
  localEdges.clear();
  operands.clear();
  slots.clear();
  shareLanes.clear();
  levelCount = 0;
  for (std::vector<uint32_t> &list : recordSlots)
    list.clear();
  for (std::vector<uint64_t> &list : recordBegin)
    list.clear();
  for (std::vector<Shares> &list : shares)
    list.clear();
  reduceLoad.clear();
  idleFor = kNone;
  numScattered = numFolded = numTrees = numElided = 0;
  mostParts = 0;
  uint32_t count = graph.size();
  recordSlots.resize(count);
  recordBegin.resize(count);
  shares.resize(graph.groupCount());
}

Status ScheduleBuilder::build(const char *solver, Placement &decided,
                              const ScheduleOptions &with, Decisions *reasons,
                              Schedule &schedule, Flow &flow) {
  if (with.batchInvariant && with.combine == ScheduleOptions::Combine::tree)
    return invalidArgument(
        "a plan that is to be batch-invariant cannot combine "
        "parts in a tree, whose shape depends on the batch");
  placement = &decided;
  options = with;
  decisions = reasons;
  clear();
  uint32_t count = graph.size();
  for (uint32_t s = 0; s < count; ++s) {
    const Stage &stage = graph.stage(s);
    if (graph.isReshard(s))
      continue;
    uint64_t tasks = problem.taskCount(s);
    if (stage.arity == Arity::one) {
      fill(recordSlots[s], tasks, kNone);
    } else if (stage.arity == Arity::tiles) {
      fill(recordBegin[s], tasks + 1, uint64_t(0));
      for (uint64_t t = 0; t < tasks; ++t)
        recordBegin[s][t + 1] =
            recordBegin[s][t] + static_cast<uint64_t>(graph.tileCount(s, t));
      fill(recordSlots[s], recordBegin[s][tasks], kNone);
    } else if (stage.arity == Arity::pieces) {
      fill(recordBegin[s], tasks + 1, uint64_t(0));
    }
    if (graph.group(s) != kNone)
      setSize(shares[graph.group(s)], tasks);
    if (stage.kind == StageKind::reduce) {
      orderReduces(s);
      for (uint64_t t = 0; t < tasks; ++t)
        DFRT_TRY(reduceTask(s, reduceOrder.empty() ? t : reduceOrder[t]));
    } else {
      buildCalls(s);
    }
  }
  if (decisions)
    explain(solver);
  if (ticket())
    DFRT_TRY(orderDraws());
  else
    orderQueues();
  assemble(solver, schedule, flow);
  return Status::success();
}

void ScheduleBuilder::buildCalls(uint32_t s) {
  const Stage &stage = graph.stage(s);
  if (const Edge *edge = graph.tileEdge(s))
    return followTiles(s, *edge);
  if (!graph.placedBySolver(s))
    return followInputs(s);
  uint32_t slices = graph.slices(s);
  for (const Assignment &a : placement->pieces[s]) {
    addCall(s, a.task, a.begin, a.end, 0, slices, a.lane);
    if (stage.arity == Arity::pieces)
      ++recordBegin[s][a.task + 1];
  }
  if (stage.arity == Arity::pieces)
    for (size_t t = 1; t < recordBegin[s].size(); ++t)
      recordBegin[s][t] += recordBegin[s][t - 1];
}

/// Calls per tile run where the tiles that they read were made.
void ScheduleBuilder::followTiles(uint32_t s, const Edge &edge) {
  uint32_t slices = graph.slices(s);
  int64_t limit = graph.stage(s).requests.maxTiles;
  for (uint64_t t = 0, e = problem.taskCount(s); t < e; ++t) {
    const uint32_t *source =
        recordSlots[edge.source].data() +
        recordBegin[edge.source][graph.sourceTask(edge, t)];
    int64_t tiles = graph.tileCount(s, t);
    uint32_t *set = setLane(s, t);
    if (set && *set == kNone)
      *set = tiles ? laneOf(source[0]) : homeLane(s, t);
    for (int64_t begin = 0; begin < tiles;) {
      uint32_t lane = laneOf(source[begin]);
      int64_t end = begin + 1;
      while (end < tiles && (!limit || end - begin < limit) &&
             (set || laneOf(source[end]) == lane))
        ++end;
      // A draw that read from others after it has published something could be
      // needed by them in turn.
      gatherOperands(s, t, begin, end, 0);
      for (const Part &part : gathered)
        if (ticket() && !set && laneOf(part.slot) != lane) {
          lane = newLane();
          break;
        }
      addCall(s, t, begin, end, 0, slices, set ? *set : lane);
      begin = end;
    }
  }
}

void ScheduleBuilder::followInputs(uint32_t s) {
  uint32_t slices = graph.slices(s);
  uint32_t group = graph.group(s);
  for (uint64_t t = 0, e = problem.taskCount(s); t < e; ++t) {
    // A whole task that is resident elsewhere, or in a ticket queue, goes by
    // its operands as any other.
    uint32_t least = ticket() || setLane(s, t) ? 2 : 1;
    if (group != kNone && shares[group][t].count >= least) {
      Shares share = shares[group][t];
      for (uint32_t i = 0; i < share.count; ++i)
        addCall(s, t, 0, 1, slices * i / share.count,
                slices * (i + 1) / share.count, shareLanes[share.first + i]);
      continue;
    }
    uint32_t *set = setLane(s, t);
    if (set && *set != kNone) {
      addCall(s, t, 0, 1, 0, slices, *set);
      continue;
    }
    uint32_t lane = followLane(s, t);
    if (set)
      *set = lane;
    addCall(s, t, 0, 1, 0, slices, lane);
  }
}

/// The lane that holds most bytes of what the task reads; in a ticket queue the
/// only such lane, or a new one.
uint32_t ScheduleBuilder::followLane(uint32_t s, uint64_t task) {
  gatherOperands(s, task, 0, 1, 0);
  if (gathered.empty())
    return homeLane(s, task);
  if (laneBytes.size() < placement->lanes)
    setSize(laneBytes, placement->lanes);
  candidateLanes.clear();
  for (const Part &part : gathered) {
    const SlotInfo &slot = slots[part.slot];
    uint32_t lane = laneOf(part.slot);
    if (!laneBytes[lane])
      candidateLanes.push(lane);
    laneBytes[lane] +=
        graph.stage(slot.stage).record.bytes(slot.sliceBegin, slot.sliceEnd);
  }
  uint32_t best = candidateLanes[0];
  for (uint32_t lane : candidateLanes)
    if (laneBytes[lane] > laneBytes[best] ||
        (laneBytes[lane] == laneBytes[best] && lane < best))
      best = lane;
  for (uint32_t lane : candidateLanes)
    laneBytes[lane] = 0;
  if (ticket() && candidateLanes.size() > 1)
    return newLane();
  return best;
}

uint32_t ScheduleBuilder::homeLane(uint32_t s, uint64_t task) {
  if (ticket())
    return newLane();
  return static_cast<uint32_t>(task * placement->lanes / problem.taskCount(s));
}

uint32_t *ScheduleBuilder::setLane(uint32_t s, uint64_t task) {
  uint32_t set = sets.of(s, task);
  return set == kNone ? nullptr : &placement->setLanes[set];
}

void ScheduleBuilder::gatherOperands(uint32_t s, uint64_t task, int64_t begin,
                                     int64_t end, uint32_t sliceBegin) {
  gathered.clear();
  for (const Edge &edge : graph.inputs(s)) {
    uint64_t source = graph.sourceTask(edge, task);
    const std::vector<uint32_t> &records = recordSlots[edge.source];
    if (edge.keys != kNone) {
      gatherKeyed(edge, source, gathered);
      continue;
    }
    if (edge.arity == Arity::one) {
      uint32_t slot = records[source];
      uint32_t group = graph.group(edge.source);
      if (group != kNone && shares[group][source].count > 1)
        while (slots[slot].sliceBegin != sliceBegin)
          ++slot;
      gathered.push({slot, kNone});
      continue;
    }
    uint64_t first = recordBegin[edge.source][source];
    uint64_t last = recordBegin[edge.source][source + 1];
    if (edge.arity == Arity::tiles) {
      last = first + static_cast<uint64_t>(end);
      first += static_cast<uint64_t>(begin);
    }
    for (; first < last; ++first)
      gathered.push({records[first], kNone});
  }
}

void ScheduleBuilder::addCall(uint32_t s, uint64_t task, int64_t begin,
                              int64_t end, uint32_t sliceBegin,
                              uint32_t sliceEnd, uint32_t lane) {
  gatherOperands(s, task, begin, end, sliceBegin);
  uint32_t slot =
      addInstruction(s, task, begin, end, sliceBegin, sliceEnd, lane, gathered);
  Arity arity = graph.stage(s).arity;
  if (arity == Arity::pieces) {
    recordSlots[s].push_back(slot);
  } else if (arity == Arity::tiles) {
    uint32_t *tiles = recordSlots[s].data() + recordBegin[s][task];
    for (int64_t tile = begin; tile < end; ++tile)
      tiles[tile] = slot++;
  } else if (arity == Arity::one && sliceBegin == 0) {
    recordSlots[s][task] = slot;
  }
}

uint32_t ScheduleBuilder::addInstruction(uint32_t s, uint64_t task,
                                         int64_t begin, int64_t end,
                                         uint32_t sliceBegin, uint32_t sliceEnd,
                                         uint32_t lane,
                                         const ArrayView<Part> &reads) {
  Arity arity = graph.stage(s).arity;
  uint32_t index = static_cast<uint32_t>(instructions.size());
  Instruction &i = *instructions.extend(1);
  i.stage = s;
  i.variant =
      variantFor(s, task, begin, end, sliceEnd - sliceBegin != graph.slices(s));
  i.task = task;
  i.tileBegin = begin;
  i.tileEnd = end;
  i.sliceBegin = sliceBegin;
  i.sliceEnd = sliceEnd;
  i.firstOperand = static_cast<uint32_t>(operands.size());
  i.operandCount = static_cast<uint32_t>(reads.size());
  i.firstOutput = static_cast<uint32_t>(slots.size());
  i.outputCount = arity == Arity::none ? 0 : 1;
  if (arity == Arity::tiles)
    i.outputCount = static_cast<uint32_t>(end - begin);
  i.draw = false;

  uint32_t level = 0, localLevel = 0;
  Part *operand = operands.extend(reads.size());
  for (const Part &read : reads) {
    SlotInfo &slot = slots[read.slot];
    ++slot.reads;
    bool local = slot.lane == lane;
    level = std::max(level, slot.level + !local);
    localLevel = std::max(localLevel, local ? slot.level + 1 : 0);
    *operand++ = read;
  }
  levelCount = std::max(levelCount, level + 1);
  uint32_t pending = 0;
  if (localLevel > level)
    for (const Part &read : reads) {
      const SlotInfo &slot = slots[read.slot];
      if (slot.lane != lane || slot.level != level)
        continue;
      uint32_t &first = nodes[slot.writer].firstEdge;
      localEdges.push({index, first});
      first = static_cast<uint32_t>(localEdges.size() - 1);
      ++pending;
    }
  nodes.push({lane, level, pending, kNone});

  uint32_t outputCount = i.outputCount, firstOutput = i.firstOutput;
  SlotInfo *made = slots.extend(outputCount);
  for (uint32_t o = 0; o < outputCount; ++o)
    made[o] = {s, sliceBegin, sliceEnd, index, lane, level, 0, kNone};
  return firstOutput;
}

uint32_t ScheduleBuilder::variantFor(uint32_t s, uint64_t task, int64_t begin,
                                     int64_t end, bool sliced) const {
  const Stage &stage = graph.stage(s);
  if (sliced)
    return graph.slicedVariant(s);
  // The whole piece takes less time then, whatever its size.
  if (uint32_t narrow = problem.boundedVariant(s, task))
    return narrow;
  if (!graph.hasSizedVariants(s) || stage.arity != Arity::pieces ||
      begin == end)
    return 0;
  uint32_t best = 0;
  const RangeSet &range = problem.ranges[stage.range];
  int64_t elements =
      std::min(end * range.tile, range.lengths[task]) - begin * range.tile;
  for (uint32_t v = 0; v < stage.variants.size(); ++v) {
    const Variant &variant = stage.variants[v];
    if (variant.kind == Variant::Kind::exact && variant.value == elements)
      return v;
    if (variant.kind == Variant::Kind::tiles && variant.value == end - begin)
      best = v;
  }
  return best;
}

void ScheduleBuilder::explain(const char *solver) {
  for (uint32_t s = 0; s < placement->pieces.size(); ++s) {
    if (placement->pieces[s].empty() || graph.stage(s).range == kNone)
      continue;
    uint64_t split = 0;
    const StageRequests &requests = graph.stage(s).requests;
    bool asked = requests.minTiles > 1 || requests.maxTiles > 0;
    const std::vector<Assignment> &pieces = placement->pieces[s];
    for (size_t i = 0; i < pieces.size(); ++i)
      split += (i == 0 || pieces[i - 1].task != pieces[i].task) &&
               i + 1 < pieces.size() && pieces[i + 1].task == pieces[i].task;
    decisions->push_back(
        {"split",
         textOf(pieces.size(), " pieces of '", graph.stage(s).name, "'"),
         textOf(solver, " spreads ", problem.taskCount(s), " tasks over ",
                placement->lanes, ticket() ? " draws, " : " CTAs, ", split,
                " of them in several pieces"),
         asked                    ? Decider::request
         : options.batchInvariant ? Decider::option
                                  : Decider::solver});
  }
  Decider by = Decider::none;
  auto combined = [&](uint64_t count, const char *choice, const char *why) {
    if (count)
      decisions->push_back(
          {"combine", choice,
           textOf(count, " tasks ", why, ", at most ", mostParts, " parts"),
           by});
  };
  combined(numElided, "none", "have one part, which is the result");
  by = options.combine == ScheduleOptions::Combine::automatic ? Decider::solver
                                                              : Decider::option;
  combined(numScattered, "reduce-scatter",
           "are split and separable: each CTA with a part finishes a share");
  combined(numFolded, "fold", "are combined by one instruction");
  combined(numTrees, "tree", "are combined pairwise");
}
