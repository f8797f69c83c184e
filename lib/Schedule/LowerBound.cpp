//===- LowerBound.cpp - What no schedule of a batch can beat --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes and calls of every stage, and how long the stages behind it take at
// least. Where a fact depends on what a schedule does, the value that favours
// the schedule is taken.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/LowerBound.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace dfrt;

namespace {

class Bounder {
public:
  explicit Bounder(const Problem &problem);
  LowerBound run();

private:
  /// What the calls of one stage need in all.
  struct Needs {
    bool called = false;
    double bytes = 0, flops = 0;
    double leastCall = 0;   ///< bytes of its smallest call, a slice maybe
    double largestCall = 0; ///< bytes of its largest call that is whole
    double evenBytes = 0;   ///< the share of some CTA, in whole tiles
    double tail = 0;        ///< ns from its last byte to the end of all
  };

  void measure(uint32_t stage);
  bool combined(uint32_t stage, uint32_t &reduce) const;
  double exchange(double end) const;
  double tail(uint32_t stage) const;
  uint32_t slices(const Stage &stage) const;

  const Problem &problem;
  const CostModel &costs;
  double ctas;
  double deviceRate = 0, ctaRate = 0, flopRate = 0; ///< best rates, a ns
  double head = 0;                                  ///< ns until the first byte
  std::vector<Needs> needs;                         ///< [stages]
};

} // namespace

Bounder::Bounder(const Problem &problem)
    : problem(problem), costs(problem.costs), ctas(problem.topology.ctas) {
  for (uint32_t n = 1; n <= problem.topology.ctas; ++n) {
    ctaRate = std::max(ctaRate, costs.readRate(n));
    deviceRate = std::max(deviceRate, n * costs.readRate(n));
  }
  // As in the simulator: about half of a device's CTAs saturate its memory.
  flopRate = costs.flops * costs.ctaBandwidth / (2 * costs.bandwidth);
}

/// In how many calls one task of a stage without a range may be computed.
uint32_t Bounder::slices(const Stage &stage) const {
  uint32_t slices = stage.record.slices;
  if (stage.arity == Arity::none)
    for (const StageInput &in : stage.inputs)
      slices = std::max(slices, problem.program.stages[in.stage].record.slices);
  return stage.separable ? std::max(1u, slices) : 1;
}

void Bounder::measure(uint32_t index) {
  const Stage &stage = problem.program.stages[index];
  Needs &need = needs[index];
  // A reduce of one part is not called.
  if (stage.kind == StageKind::reshard || stage.kind == StageKind::reduce)
    return;
  double tiles = 0, tile = -1, least = -1;
  for (uint64_t t = 0, e = problem.taskCount(index); t < e; ++t) {
    int64_t count = problem.tileCount(index, t);
    if (stage.each && count == 0)
      continue;
    need.called = true;
    double weight = static_cast<double>(problem.tasks[stage.domain].weights[t]);
    need.bytes += static_cast<double>(problem.callBytes(index, t, count));
    double calls = stage.each ? static_cast<double>(count) : 1;
    const Cost &cost = problem.costOf(index, t);
    double flops = static_cast<double>(cost.fixedFlops) * calls;
    if (stage.range != kNone)
      flops += static_cast<double>(cost.tileFlops) * static_cast<double>(count);
    need.flops += weight * flops;
    // Of a range any tile may be on its own; the input of a piece is read with
    // each of them.
    int64_t piece = stage.range == kNone ? 1 : stage.each ? 1 : 0;
    double call = static_cast<double>(problem.callBytes(index, t, piece));
    double part = call / slices(stage);
    least = least < 0 ? part : std::min(least, part);
    need.largestCall = std::max(need.largestCall, part);
    if (stage.range != kNone) {
      double one =
          weight * static_cast<double>(cost.tileBytes +
                                       (stage.each ? cost.fixedBytes : 0));
      tiles += static_cast<double>(count);
      tile = tile < 0 ? one : std::min(tile, one);
    }
  }
  need.leastCall = std::max(0.0, least);
  if (tiles > 0) {
    double share = static_cast<double>(
        (static_cast<uint64_t>(tiles) + problem.topology.ctas - 1) /
        problem.topology.ctas);
    need.evenBytes = share * tile;
    if (!stage.each)
      need.evenBytes += need.leastCall;
  }
}

/// Each record of a stage is read by a later call of each of its readers, at
/// least where both have the same tasks and none is dropped on the way.
double Bounder::tail(uint32_t index) const {
  const Program &program = problem.program;
  double result = 0;
  for (uint32_t reader : program.consumers(index)) {
    const Stage &stage = program.stages[reader];
    bool drops =
        stage.kind == StageKind::reshard && stage.reshard == ReshardKind::rekey;
    if (drops || stage.domain != program.stages[index].domain)
      continue;
    // Called per tile: not at all for a task without tiles.
    if (stage.each && (!program.stages[index].each ||
                       program.stages[index].range != stage.range))
      continue;
    double call = needs[reader].called
                      ? costs.instructionNs + needs[reader].leastCall / ctaRate
                      : 0;
    result = std::max(result, call + needs[reader].tail);
  }
  return result;
}

/// True if all that reads pieces of `stage` is one reduce of the same tasks.
bool Bounder::combined(uint32_t stage, uint32_t &reduce) const {
  const Program &program = problem.program;
  if (program.stages[stage].arity != Arity::pieces)
    return false;
  reduce = stage;
  do {
    std::vector<uint32_t> readers = program.consumers(reduce);
    if (readers.size() != 1)
      return false;
    reduce = readers[0];
  } while (program.stages[reduce].kind == StageKind::reshard);
  return program.stages[reduce].kind == StageKind::reduce &&
         program.stages[reduce].domain == program.stages[stage].domain;
}

/// A schedule that ends at `end` has to cut every task that one CTA cannot have
/// read by then. Returns the end that this leads to, which falls as `end`
/// rises: what is less than its result is no end of a schedule.
double Bounder::exchange(double end) const {
  double result = 0;
  double hop = costs.globalHopCycles / costs.clockGHz;
  if (problem.topology.clusterSize > 1)
    hop = std::min(hop, costs.clusterHopCycles / costs.clockGHz);
  for (uint32_t s = 0; s < needs.size(); ++s) {
    uint32_t reduce = kNone;
    if (!combined(s, reduce))
      continue;
    double tail = needs[s].tail + costs.instructionNs + costs.exitNs;
    double limit = (end - costs.exitNs - needs[s].tail - head) * ctaRate;
    double bytes = 0, all = 0, cut = 0;
    for (uint64_t t = 0, e = problem.taskCount(s); t < e; ++t) {
      int64_t tiles = problem.tileCount(s, t);
      double whole = static_cast<double>(problem.callBytes(s, t, tiles));
      double input = static_cast<double>(problem.callBytes(s, t, 0));
      all += whole;
      if (tiles < 2 || whole <= limit)
        continue;
      double pieces = std::ceil((whole - input) / std::max(limit - input, 1.0));
      pieces = std::min(std::max(pieces, 2.0), static_cast<double>(tiles));
      bytes += whole + (pieces - 1) * input;
      all += (pieces - 1) * input;
      ++cut;
    }
    if (cut == 0)
      continue;
    // Of each task only the piece on the CTA that combines may end as late as
    // that the others' records could no longer arrive.
    double late = std::min(1.0, cut * ctaRate / deviceRate);
    result =
        std::max({result, head + bytes / deviceRate + (1 - late) * hop + tail,
                  head + all / deviceRate + needs[s].tail + costs.exitNs});
  }
  return result;
}

LowerBound Bounder::run() {
  uint32_t count = static_cast<uint32_t>(problem.program.stages.size());
  needs.assign(count, Needs());
  head = costs.launchNs + costs.startNs;
  double flops = 0;
  bool called = false;
  for (uint32_t s = 0; s < count; ++s) {
    measure(s);
    flops += needs[s].flops;
    called |= needs[s].called;
  }
  if (called)
    head += costs.instructionNs;
  LowerBound bound;
  for (uint32_t s = count; s-- > 0;)
    needs[s].tail = tail(s);
  for (uint32_t s = 0; s < count; ++s) {
    const Needs &need = needs[s];
    if (need.bytes == 0)
      continue;
    // All bytes of stages with so long a tail are read before it begins.
    double bytes = 0;
    for (const Needs &other : needs)
      bytes += other.tail >= need.tail ? other.bytes : 0;
    auto raise = [&](double &time, double ns) {
      time = std::max(time, head + ns + need.tail + costs.exitNs);
    };
    raise(bound.bandwidthNs, bytes / deviceRate);
    raise(bound.tilesNs, need.evenBytes / ctaRate);
    raise(bound.callNs, need.largestCall / ctaRate);
    raise(bound.pathNs, need.leastCall / ctaRate);
  }
  // It may begin during the dispatch.
  bound.arithmeticNs =
      costs.launchNs + costs.startNs + flops / (flopRate * ctas) + costs.exitNs;
  bound.pathNs = std::max(bound.pathNs, head + costs.exitNs);
  bound.totalNs = std::max({bound.pathNs, bound.bandwidthNs, bound.tilesNs,
                            bound.arithmeticNs, bound.callNs});
  // Where the end meets what it leads to.
  double low = bound.totalNs, high = std::max(low, exchange(low));
  for (int step = 0; step < 40 && high - low > 1; ++step) {
    double middle = (low + high) / 2;
    (exchange(middle) > middle ? low : high) = middle;
  }
  bound.exchangeNs = low;
  bound.totalNs = low;
  return bound;
}

const char *LowerBound::reason() const {
  if (totalNs <= pathNs)
    return "path";
  if (totalNs <= bandwidthNs)
    return "bandwidth";
  if (totalNs <= tilesNs)
    return "tiles";
  if (totalNs <= callNs)
    return "call";
  return totalNs <= arithmeticNs ? "arithmetic" : "exchange";
}

LowerBound dfrt::lowerBound(const Problem &problem) {
  return Bounder(problem).run();
}
