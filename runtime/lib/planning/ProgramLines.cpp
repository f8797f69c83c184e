//===- ProgramLines.cpp - A program as lines ------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramLines.h"

#include "../cpu/PlanView.h"
#include "dataflow/Schedule/Message.h"
#include "dataflow/Schedule/StageCosts.h"

#include <algorithm>

using namespace dfrt;
using namespace dfrt::planning;

/// Longer pieces are not asked for.
static constexpr int64_t kMostMinTiles = int64_t(1) << 18;

namespace {
class LineFinder {
public:
  LineFinder(const Problem &bound, ArrayView<PlanInput> batch,
             ProgramLines &found)
      : bound(bound), program(bound.program), batch(batch), found(found),
        lineOf(program.stages.size(), kNone) {}

  Status run() {
    if (bound.topology.clusterSize != 1)
      return refuse("clusters of ", bound.topology.clusterSize,
                    " CTAs; it takes clusters of 1");
    for (const Domain &domain : program.domains) {
      const char *what = domain.coordinates != kNone ? "a list of points"
                         : domain.weights != kNone   ? "weights"
                         : domain.axes.size() > DFRT_MAX_AXES
                             ? "more axes than a plan holds"
                             : nullptr;
      if (what)
        return refuse("domain '", domain.name, "', which has ", what);
    }
    for (uint32_t s = 0; s < program.stages.size(); ++s)
      DFRT_TRY(visit(s));
    if (found.lines.empty())
      return refuse("a program without a stage that has a range");
    return Status::success();
  }

private:
  template <typename... Parts>
  Status refuse(const Parts &...parts) const {
    return failure(StatusCode::unsupported, "program '", program.name,
                   "' cannot be planned on a device: it does not take ",
                   parts...);
  }
  template <typename... Parts>
  Status refuseStage(uint32_t s, const Parts &...parts) const {
    return refuse("stage '", program.stages[s].name, "', ", parts...);
  }

  Status visit(uint32_t s) {
    const Stage &stage = program.stages[s];
    const StageRequests &requests = stage.requests;
    if (requests.resident)
      return refuseStage(s, "which is requested to be resident");
    if (requests.maxTiles)
      return refuseStage(s, "whose pieces are requested to have at most ",
                         requests.maxTiles, " tiles");
    if (requests.transport != Transport::automatic &&
        requests.transport != Transport::global)
      return refuseStage(s, "whose transport is requested not to be global");
    if (requests.memory == StageRequests::Memory::shared)
      return refuseStage(s, "whose records are requested in shared memory");
    if (stage.kind == StageKind::reshard)
      return stage.reshard == ReshardKind::rekey
                 ? refuseStage(s, "which sends records to other tasks")
                 : Status::success();
    if (lineOf[s] != kNone)
      return Status::success(); // behind a line that was found
    if (stage.range == kNone)
      return refuseStage(s, "which has no range and does not finish a map "
                            "into pieces");
    return stage.each ? addTiles(s) : addPieces(s);
  }

  /// The one reader of a stage; it has to be of this kind, over the same
  /// tasks, and read nothing else.
  Status onlyReader(uint32_t s, StageKind kind, const char *name,
                    uint32_t &reader) const {
    std::vector<uint32_t> readers = program.consumers(s);
    if (readers.size() != 1)
      return refuseStage(s, "whose records have ", readers.size(),
                         " readers, not one");
    reader = readers.front();
    const Stage &stage = program.stages[reader];
    if (stage.kind != kind || stage.inputs.size() != 1 ||
        stage.domain != program.stages[s].domain || stage.range != kNone)
      return refuseStage(s, "whose reader '", stage.name, "' is no ", name,
                         " of these records alone over the same tasks");
    return Status::success();
  }

  static uint32_t slicedVariant(const Stage &stage) {
    for (size_t v = 0; v < stage.variants.size(); ++v)
      if (stage.variants[v].kind == Variant::Kind::sliced)
        return uint32_t(v);
    return 0;
  }

  Status addPieces(uint32_t s) {
    const Stage &stage = program.stages[s];
    if (!stage.inputs.empty())
      return refuseStage(s, "a map into pieces that reads records");
    uint32_t reduce, finalize;
    DFRT_TRY(onlyReader(s, StageKind::reduce, "reduce", reduce));
    DFRT_TRY(onlyReader(reduce, StageKind::finalize, "finalize", finalize));
    const Stage &merged = program.stages[reduce];
    const Stage &last = program.stages[finalize];
    Line line;
    DFRT_TRY(begin(s, LineKind::split, line));
    line.reduce = reduce;
    line.finalize = finalize;
    line.slices = merged.record.slices;
    line.shares = line.finalSlices = 1;
    if (merged.separable && last.separable) {
      line.shares = line.finalSlices = line.slices;
      line.slicedReduce = slicedVariant(merged);
      line.slicedFinalize = slicedVariant(last);
    }
    line.headBytes = merged.record.headBytes;
    line.sliceBytes = merged.record.sliceBytes;
    line.maxTiles = kMostTiles;
    lineOf[reduce] = lineOf[finalize] = uint32_t(found.lines.size());
    return add(s, line);
  }

  Status addTiles(uint32_t s) {
    const Stage &stage = program.stages[s];
    Line line;
    DFRT_TRY(begin(s, LineKind::tiles, line));
    line.makesRecords = stage.kind == StageKind::map;
    line.slices = line.makesRecords ? stage.record.slices : 1;
    if (stage.inputs.size() > 1)
      return refuseStage(s, "which reads the records of ", stage.inputs.size(),
                         " stages");
    if (!stage.inputs.empty()) {
      const StageInput &input = stage.inputs[0];
      uint32_t source = cpu::recordStage(program, input.stage);
      if (program.stages[input.stage].arity != Arity::collected)
        return refuseStage(s, "which reads single records of '",
                           program.stages[source].name,
                           "'; it takes collected ones");
      line.source = lineOf[source];
      // A task's source has its coordinates along the axes that both have.
      const TaskSet &set = bound.tasks[program.stages[source].domain];
      int64_t stride = 1;
      for (size_t a = input.axes.size(); a-- > 0;) {
        line.sourceStrides[input.axes[a]] = stride;
        stride *= set.extents[a];
      }
    }
    uint64_t tiles = 0;
    for (uint64_t t = 0; t < line.tasks; ++t)
      tiles += uint64_t(bound.ranges[stage.range].tiles(t));
    if (tiles > kMostTiles)
      return refuseStage(s, "with ", tiles, " tiles; it takes ", kMostTiles);
    line.maxTiles = uint32_t(tiles);
    return add(s, line);
  }

  /// What both kinds of lines have.
  Status begin(uint32_t s, LineKind kind, Line &line) {
    const Stage &stage = program.stages[s];
    const Range &range = program.ranges[stage.range];
    const TaskSet &tasks = bound.tasks[stage.domain];
    line = Line();
    line.kind = kind;
    line.stage = s;
    line.tasks = uint32_t(tasks.tasks);
    std::fill(std::begin(line.extents), std::end(line.extents), 1u);
    for (size_t a = 0; a < tasks.extents.size(); ++a)
      line.extents[a] = uint32_t(std::max<int64_t>(tasks.extents[a], 1));
    const RangeSet &lengths = bound.ranges[stage.range];
    line.tile = lengths.tile;
    for (int64_t length : lengths.lengths)
      line.maxLength = std::max(line.maxLength, length);
    if (uint64_t(line.maxLength / line.tile) >= kMostTiles)
      return refuseStage(s, "with a task of ", line.maxLength / line.tile,
                         " tiles; it takes ", kMostTiles);
    DFRT_TRY(value(range.length, lengths.lengths, line.length));
    DFRT_TRY(value(range.offset, lengths.offsets, line.offset));
    StageCosts costs = stageCosts(bound, s);
    double start = double(costs.call) * kTileUnits / double(costs.tile);
    uint32_t most =
        std::min(kMostStart, kMostStarts / std::max<uint32_t>(line.tasks, 1));
    line.start = start < most ? uint32_t(start) : most;
    int64_t least = stage.requests.minTiles;
    if (least > kMostMinTiles)
      return refuseStage(s, "whose pieces are requested to have at least ",
                         least, " tiles; it takes ", kMostMinTiles);
    line.minTiles = uint32_t(least);
    line.source = DFRT_NONE;
    line.recordBytes = stage.record.bytes();
    return Status::success();
  }

  Status add(uint32_t s, const Line &line) {
    if (found.lines.size() == kMaxLines)
      return refuseStage(s, "the stage number ", kMaxLines + 1,
                         " with a range; it takes ", kMaxLines);
    lineOf[s] = uint32_t(found.lines.size());
    found.lines.push_back(line);
    return Status::success();
  }

  /// `values`: of the bound's tasks.
  Status value(const PlanValue &from, const std::vector<int64_t> &values,
               Value &to) {
    to = {};
    to.input = DFRT_NONE;
    if (from.kind != PlanValue::Kind::element) {
      // The bound has the shapes of all batches.
      to.constant = values.empty() ? 0 : values.front();
      return Status::success();
    }
    const Argument &argument = program.arguments[from.argument];
    if (argument.element != ElementType::i32 &&
        argument.element != ElementType::i64)
      return refuse("argument '", argument.name, "' of element type ",
                    elementName(argument.element),
                    " where lengths are; it takes i32 and i64");
    auto &inputs = found.inputs;
    auto known = std::find(inputs.begin(), inputs.end(), from.argument);
    to.input = uint32_t(known - inputs.begin());
    if (known == inputs.end()) {
      if (inputs.size() == kMaxInputs)
        return refuse("lengths and offsets in ", kMaxInputs + 1,
                      " arguments; it takes ", kMaxInputs);
      inputs.push_back(from.argument);
    }
    to.bytes = elementBytes(argument.element);
    const PlanInput *shape = findInput(batch, argument.name);
    int64_t stride = 1;
    for (size_t d = from.axes.size(); d-- > 0;) {
      to.strides[from.axes[d]] += stride;
      stride *= shape ? shape->shape[d] : 0;
    }
    return Status::success();
  }

  const Problem &bound;
  const Program &program;
  ArrayView<PlanInput> batch;
  ProgramLines &found;
  std::vector<uint32_t> lineOf; ///< [stages]
};
} // namespace

const PlanInput *planning::findInput(ArrayView<PlanInput> batch,
                                     const std::string &name) {
  const PlanInput *found = nullptr;
  for (const PlanInput &input : batch)
    if (input.argument == name)
      found = &input;
  return found;
}

Status planning::findLines(const Problem &bound, ArrayView<PlanInput> batch,
                           ProgramLines &found) {
  found = {};
  return LineFinder(bound, batch, found).run();
}
