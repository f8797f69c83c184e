//===- StageGraph.cpp - The stages as solvers see them --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Resolves reshards, groups separable stages, ties resident tasks.
//
//===----------------------------------------------------------------------===//

#include "StageGraph.h"
#include "Table.h"

#include <algorithm>
#include <numeric>

using namespace dfrt;
using namespace dfrt::detail;

StageGraph::StageGraph(const Problem &problem) : problem(problem) {
  resolveInputs();
  findGroups();
  countSlices();
  readVariants();
}

void StageGraph::readBatch() {
  countTiles();
  findSources();
  findCosts();
  findPlaced();
}

void StageGraph::resolveInputs() {
  const Program &program = problem.program;
  uint32_t count = static_cast<uint32_t>(program.stages.size());
  inputEdges.resize(count);
  readerEdges.resize(count);
  sourceTasks.resize(count);
  for (uint32_t s = 0; s < count; ++s) {
    const Stage &consumer = program.stages[s];
    uint32_t tiled = s;
    while (isReshard(tiled) && stage(tiled).arity == Arity::tiles)
      tiled = stage(tiled).inputs[0].stage;
    tileRanges.push_back(stage(tiled).range);
    if (consumer.kind == StageKind::reshard)
      continue;
    sourceTasks[s].resize(consumer.inputs.size());
    for (uint32_t i = 0; i < consumer.inputs.size(); ++i) {
      Edge edge;
      edge.stage = s;
      edge.input = i;
      edge.source = consumer.inputs[i].stage;
      edge.arity = program.stages[edge.source].arity;
      auto take = [&](const StageRequests &r) {
        if (edge.transport == Transport::automatic)
          edge.transport = r.transport;
        edge.resident |= r.resident;
      };
      take(program.stages[edge.source].requests);
      while (isReshard(edge.source)) {
        if (program.stages[edge.source].reshard == ReshardKind::rekey)
          edge.keys = edge.source;
        edge.source = program.stages[edge.source].inputs[0].stage;
        take(program.stages[edge.source].requests);
      }
      inputEdges[s].push_back(edge);
      readerEdges[edge.source].push_back(edge);
    }
  }
}

void StageGraph::countSlices() {
  for (uint32_t s = 0; s < size(); ++s) {
    uint32_t slices =
        stage(s).arity == Arity::none ? 1 : stage(s).record.slices;
    if (stage(s).arity == Arity::none && stage(s).separable)
      for (const Edge &edge : inputs(s))
        if (stage(edge.source).separable) {
          slices = stage(edge.source).record.slices;
          break;
        }
    sliceCounts.push_back(slices);
  }
}

void StageGraph::readVariants() {
  slicedVariants.assign(size(), 0);
  sized.assign(size(), 0);
  for (uint32_t s = 0; s < size(); ++s)
    for (size_t v = stage(s).variants.size(); v-- > 0;) {
      Variant::Kind kind = stage(s).variants[v].kind;
      if (kind == Variant::Kind::sliced)
        slicedVariants[s] = static_cast<uint32_t>(v);
      sized[s] |= kind == Variant::Kind::tiles || kind == Variant::Kind::exact;
    }
}

void StageGraph::countTiles() {
  rangeTiles.resize(problem.ranges.size());
  for (size_t r = 0; r < rangeTiles.size(); ++r) {
    const RangeSet &range = problem.ranges[r];
    setSize(rangeTiles[r], range.lengths.size());
    for (size_t t = 0; t < range.lengths.size(); ++t)
      rangeTiles[r][t] = range.tiles(t);
  }
}

/// Tasks of the producers in other domains.
void StageGraph::findSources() {
  const Program &program = problem.program;
  for (uint32_t s = 0; s < size(); ++s) {
    const Stage &consumer = program.stages[s];
    for (uint32_t i = 0; i < sourceTasks[s].size(); ++i) {
      const StageInput &in = consumer.inputs[i];
      uint32_t domain = program.stages[in.stage].domain;
      if (domain == consumer.domain)
        continue;
      const TaskSet &set = problem.tasks[consumer.domain];
      taskIndex.read(problem.tasks[domain],
                     program.domains[domain].coordinates != kNone);
      std::vector<uint32_t> &map = sourceTasks[s][i];
      setSize(map, set.tasks);
      point.resize(in.axes.size());
      for (uint64_t t = 0; t < set.tasks; ++t) {
        for (size_t a = 0; a < point.size(); ++a)
          point[a] = set.at(t)[in.axes[a]];
        map[t] = static_cast<uint32_t>(taskIndex.find(point));
      }
    }
  }
}

void StageGraph::findGroups() {
  uint32_t count = static_cast<uint32_t>(inputEdges.size());
  groups.assign(count, kNone);
  auto eligible = [&](uint32_t s) {
    return stage(s).separable && !isReshard(s) && stage(s).range == kNone;
  };
  // Members first, then groups that any reader spoils are dissolved.
  std::vector<uint32_t> parent(count);
  std::iota(parent.begin(), parent.end(), 0u);
  auto find = [&](uint32_t s) {
    while (parent[s] != s)
      s = parent[s] = parent[parent[s]];
    return s;
  };
  std::vector<bool> spoiled(count, false), hasReduce(count, false);
  auto joins = [&](const Edge &edge) {
    return edge.arity == Arity::one && eligible(edge.stage) &&
           stage(edge.stage).domain == stage(edge.source).domain &&
           (stage(edge.stage).arity == Arity::none ||
            stage(edge.stage).record.slices ==
                stage(edge.source).record.slices);
  };
  for (uint32_t s = 0; s < count; ++s) {
    if (!eligible(s))
      continue;
    for (const Edge &edge : readers(s))
      if (joins(edge))
        parent[find(edge.stage)] = find(s);
  }
  for (uint32_t s = 0; s < count; ++s) {
    if (!eligible(s))
      continue;
    uint32_t root = find(s);
    if (stage(s).kind == StageKind::reduce) {
      hasReduce[root] = true;
      // A slice of an empty separable part cannot be shared.
      if (stage(s).record.slices < 2)
        spoiled[root] = true;
    }
    for (const Edge &edge : readers(s))
      if (!joins(edge))
        spoiled[root] = true;
    // A member needs its shares before it is built, from a member before it.
    bool fed = stage(s).kind == StageKind::reduce;
    for (const Edge &edge : inputs(s))
      fed |= eligible(edge.source) && find(edge.source) == root;
    if (!fed)
      spoiled[root] = true;
  }
  std::vector<uint32_t> number(count, kNone);
  for (uint32_t s = 0; s < count; ++s) {
    if (!eligible(s))
      continue;
    uint32_t root = find(s);
    if (spoiled[root] || !hasReduce[root])
      continue;
    if (number[root] == kNone)
      number[root] = numGroups++;
    groups[s] = number[root];
  }
}

const Edge *StageGraph::tileEdge(uint32_t index) const {
  if (stage(index).each)
    for (const Edge &edge : inputs(index))
      if (edge.arity == Arity::tiles)
        return &edge;
  return nullptr;
}

void StageGraph::findPlaced() {
  uint32_t count = static_cast<uint32_t>(inputEdges.size());
  placed.assign(count, 0);
  depths.assign(count, 0);
  // Moving a record costs a hop; a call that takes several of them is worth
  // balancing on its own.
  const CostModel &costs = problem.costs;
  double hopBytes = costs.globalHopCycles / costs.clockGHz * costs.ctaBandwidth;
  for (uint32_t s = 0; s < count; ++s) {
    if (isReshard(s))
      continue;
    const Stage &st = stage(s);
    uint32_t before = 0;
    for (const Edge &edge : inputs(s))
      before = std::max(before, depths[edge.source]);
    bool own = false;
    if (st.kind == StageKind::reduce || group(s) != kNone) {
      own = false;
    } else if (st.range != kNone) {
      own = tileEdge(s) == nullptr;
    } else if (inputs(s).empty()) {
      own = true;
    } else {
      uint64_t tasks = problem.taskCount(s);
      uint64_t most = 0;
      double total = 0;
      for (const Edge &edge : inputs(s))
        most = std::max(most, problem.taskCount(edge.source));
      for (uint64_t t = 0; t < tasks; ++t)
        total += static_cast<double>(cost(s, t, 1));
      own = tasks > most || total > 2 * hopBytes * static_cast<double>(tasks);
    }
    placed[s] = own;
    depths[s] = before + own;
  }
}

static uint64_t asBytes(const CostModel &costs, uint64_t bytes,
                        uint64_t flops) {
  double seconds = static_cast<double>(flops) / costs.flops;
  double equivalent = std::min(seconds * costs.bandwidth, 1e15);
  return std::max(bytes, static_cast<uint64_t>(equivalent));
}

void StageGraph::findCosts() {
  unitCosts.clear();
  firstCost.clear();
  for (uint32_t index = 0; index < size(); ++index) {
    const Stage &s = stage(index);
    auto add = [&](const Cost &cost) {
      uint64_t bytes = cost.tileBytes + (s.each ? cost.fixedBytes : 0);
      uint64_t flops = cost.tileFlops + (s.each ? cost.fixedFlops : 0);
      unitCosts.push_back(
          {asBytes(problem.costs, cost.fixedBytes, cost.fixedFlops),
           asBytes(problem.costs, bytes, flops)});
    };
    firstCost.push_back(unitCosts.size());
    add(s.cost);
    for (size_t v = 1; v < s.variants.size(); ++v)
      add(s.variants[v].kind == Variant::Kind::bounded ? s.variants[v].cost
                                                       : s.cost);
  }
}

uint64_t StageGraph::cost(uint32_t index, uint64_t task, int64_t tiles) const {
  const Stage &s = stage(index);
  uint64_t fixed = s.each ? 0 : fixedCost(index, task);
  if (s.range == kNone)
    return std::max<uint64_t>(1, fixed);
  return std::max<uint64_t>(1, fixed + static_cast<uint64_t>(tiles) *
                                           tileCost(index, task));
}

/// True for an edge whose ends must run on one CTA.
static bool tied(const Edge &edge) {
  return edge.resident || edge.transport == Transport::local;
}

ResidentSets::ResidentSets(const StageGraph &graph) : graph(graph) {
  for (uint32_t s = 0; s < graph.size(); ++s)
    for (const Edge &edge : graph.inputs(s))
      requested |= tied(edge);
}

void ResidentSets::readBatch() {
  count = 0;
  costs.clear();
  if (!requested)
    return;
  const Problem &problem = graph.problem;
  uint32_t stages = graph.size();
  first.resize(stages);
  uint64_t total = 0;
  for (uint32_t s = 0; s < stages; ++s) {
    first[s] = total;
    total += problem.taskCount(s);
  }
  setSize(parent, total);
  std::iota(parent.begin(), parent.end(), 0u);
  auto find = [&](uint32_t node) {
    while (parent[node] != node)
      node = parent[node] = parent[parent[node]];
    return node;
  };
  fill(member, total, uint8_t(0));
  auto join = [&](const Edge &edge, uint64_t task, uint64_t source) {
    uint32_t a = static_cast<uint32_t>(first[edge.stage] + task);
    uint32_t b = static_cast<uint32_t>(first[edge.source] + source);
    member[a] = member[b] = 1;
    uint32_t ra = find(a), rb = find(b);
    parent[std::max(ra, rb)] = std::min(ra, rb);
  };
  for (uint32_t s = 0; s < stages; ++s)
    for (const Edge &edge : graph.inputs(s)) {
      if (!tied(edge))
        continue;
      for (uint64_t t = 0; t < problem.taskCount(s); ++t) {
        uint64_t source = graph.sourceTask(edge, t);
        if (edge.keys == kNone) {
          join(edge, t, source);
          continue;
        }
        const KeySet &keys = problem.keys[edge.keys];
        for (uint64_t k = keys.begin[source]; k < keys.begin[source + 1]; ++k)
          join(edge, t, keys.sources[k].task);
      }
    }
  fill(ids, total, kNone);
  fill(number, total, kNone);
  for (uint32_t s = 0; s < stages; ++s)
    for (uint64_t t = 0; t < problem.taskCount(s); ++t) {
      uint64_t node = first[s] + t;
      if (!member[node])
        continue;
      uint32_t root = find(static_cast<uint32_t>(node));
      if (number[root] == kNone) {
        number[root] = count++;
        costs.push_back(0);
      }
      ids[node] = number[root];
      if (!graph.isReshard(s))
        costs[ids[node]] += graph.cost(s, t, graph.tileCount(s, t));
    }
}
