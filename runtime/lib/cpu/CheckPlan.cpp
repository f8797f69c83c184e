//===- CheckPlan.cpp - Does a plan fit program and inputs? ----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckPlan.h"

#include "Records.h"
#include "dataflow/Schedule/Message.h"
#include "dataflow/Schedule/Problem.h"

#include <algorithm>

using namespace dfrt;
using namespace dfrt::cpu;

namespace {
class ProgramChecker {
public:
  ProgramChecker(const Program &program, const PlanView &plan)
      : program(program), plan(plan) {}

  Status run() {
    DFRT_TRY(checkStages());
    ctaOf.assign(plan.callCount(), kNone);
    for (uint32_t q = 0; q < plan.queues.size(); ++q)
      for (uint32_t j = 0; j < plan.queues[q].count; ++j) {
        const dfrt_instruction &instruction = plan.at(q, j);
        ctaOf[instruction.identity] = plan.queues[q].cta;
        DFRT_TRY(checkInstruction(instruction, plan.queues[q].cta));
      }
    for (const dfrt_transfer &transfer : plan.transfers)
      DFRT_TRY(checkTransfer(transfer));
    return Status::success();
  }

private:
  template <typename... Parts>
  Status fail(const Parts &...parts) const {
    return failure(StatusCode::verificationFailed, "plan: ", parts...);
  }
  template <typename... Parts>
  Status fail(const dfrt_instruction &instruction,
              const Parts &...parts) const {
    return failure(StatusCode::verificationFailed,
                   describe(program, instruction), ": ", parts...);
  }

  Status checkStages() const {
    if (plan.header.fingerprint != program.fingerprint())
      return fail("fingerprint is ", plan.header.fingerprint, ", but program '",
                  program.name, "' has ", program.fingerprint());
    if (plan.stages.size() != program.stages.size())
      return fail("has ", plan.stages.size(), " stages, but program '",
                  program.name, "' has ", program.stages.size());
    for (size_t i = 0; i < plan.stages.size(); ++i) {
      const dfrt_stage &told = plan.stages[i];
      const Stage &stage = program.stages[i];
      if (told.kind != uint32_t(stage.kind) ||
          told.head_bytes != stage.record.headBytes ||
          told.slice_bytes != stage.record.sliceBytes ||
          told.slices != stage.record.slices)
        return fail("stages[", i, "] is not stage '", stage.name,
                    "' of the program");
      if (program.domains[stage.domain].axes.size() > DFRT_MAX_AXES)
        return fail("stage '", stage.name, "' has more than ", DFRT_MAX_AXES,
                    " axes");
    }
    return Status::success();
  }

  Status checkInstruction(const dfrt_instruction &instruction, uint32_t cta) {
    const Stage &stage = program.stages[instruction.stage];
    if (instruction.variant >= stage.variants.size())
      return fail(instruction, "variant ", instruction.variant,
                  " does not exist");
    bool sliced =
        stage.variants[instruction.variant].kind == Variant::Kind::sliced;
    int64_t tiles = instruction.tile_end - instruction.tile_begin;
    if (stage.range == kNone &&
        (instruction.tile_begin != 0 || instruction.tile_end != 1))
      return fail(instruction, "has tiles, but its stage has no range");
    DFRT_TRY(splitOperands(program, plan, instruction, counts));

    size_t position = 0;
    for (size_t channel = 0; channel < counts.size(); ++channel)
      for (uint32_t k = 0; k < counts[channel]; ++k)
        DFRT_TRY(checkOperand(instruction, cta, sliced,
                              stage.inputs[channel].stage,
                              plan.operandsOf(instruction)[position++]));

    uint64_t outputs = stage.kind == StageKind::finalize ? 0
                       : stage.arity == Arity::tiles     ? uint64_t(tiles)
                                                         : 1;
    if (instruction.output_count != outputs)
      return fail(instruction, "has ", instruction.output_count,
                  " output slots, expected ", outputs);
    for (const dfrt_output &output : plan.outputsOf(instruction)) {
      const dfrt_slot &slot = plan.slots[output.slot];
      if (slot.stage != instruction.stage)
        return fail(instruction, "output slot ", output.slot,
                    " holds records of '", program.stages[slot.stage].name,
                    "'");
      DFRT_TRY(checkSlot(instruction, cta, sliced, output.slot));
    }
    return Status::success();
  }

  /// The slot must be in reach, and hold the slices that a call touches.
  Status checkSlot(const dfrt_instruction &instruction, uint32_t cta,
                   bool sliced, uint32_t index) const {
    const dfrt_slot &slot = plan.slots[index];
    if (slot.space == DFRT_SPACE_SHARED && slot.cta != cta)
      return fail(instruction, "slot ", index, " is in shared memory of cta ",
                  slot.cta, ", but the instruction runs on cta ", cta);
    uint32_t slices = plan.stages[slot.stage].slices;
    bool part = sliced && slices > 1;
    uint32_t begin = part ? instruction.slice_begin : 0;
    uint32_t end = part ? instruction.slice_end : slices;
    if (slot.slice_begin > begin || slot.slice_end < end)
      return fail(instruction, "slot ", index, " holds slices ",
                  slot.slice_begin, " to ", slot.slice_end,
                  ", but the call needs ", begin, " to ", end);
    return Status::success();
  }

  Status checkOperand(const dfrt_instruction &instruction, uint32_t cta,
                      bool sliced, uint32_t channel,
                      const dfrt_operand &operand) const {
    const dfrt_slot &slot = plan.slots[operand.slot];
    const Record &stored = program.stages[slot.stage].record;
    const Record &expected = program.stages[channel].record;
    bool row = operand.row != DFRT_NONE;
    // A collected channel is stacked field by field, whatever its own layout.
    bool fits = row ? rowFits(stored, operand.row, expected)
                : program.stages[channel].arity == Arity::collected
                    ? slot.stage == recordStage(program, channel)
                    : sameLayout(stored, expected);
    if (!fits)
      return fail(instruction, "slot ", operand.slot, " holds a record of '",
                  program.stages[slot.stage].name, "', which is not ",
                  row ? "one whose rows '" : "one that '",
                  program.stages[channel].name, "' delivers");
    if ((operand.flags & DFRT_OPERAND_WAIT) && slot.barrier == DFRT_NONE &&
        slot.flag == DFRT_NONE)
      return fail(instruction, "waits for slot ", operand.slot,
                  ", which has neither barrier nor flag");
    bool whole = row || program.stages[channel].arity == Arity::collected;
    return checkSlot(instruction, cta, sliced && !whole, operand.slot);
  }

  Status checkTransfer(const dfrt_transfer &transfer) const {
    uint32_t cta = ctaOf[transfer.instruction];
    const dfrt_slot &source = plan.slots[transfer.source];
    if (source.space == DFRT_SPACE_SHARED && source.cta != cta)
      return fail("transfer ", transfer.identity,
                  " reads shared memory of cta ", source.cta,
                  ", but is issued by cta ", cta);
    for (const dfrt_destination &to : plan.destinationsOf(transfer)) {
      const dfrt_slot &slot = plan.slots[to.slot];
      if (slot.space != DFRT_SPACE_SHARED || slot.cta == cta)
        continue;
      if (slot.cta == DFRT_NONE || cta == DFRT_NONE ||
          plan.cluster(slot.cta) != plan.cluster(cta))
        return fail("transfer ", transfer.identity,
                    " writes shared memory of cta ", slot.cta,
                    ", which is not in the cluster of cta ", cta);
    }
    return Status::success();
  }

  const Program &program;
  const PlanView &plan;
  std::vector<uint32_t> ctaOf;
  std::vector<uint32_t> counts;
};

class InputChecker {
public:
  InputChecker(const Program &program, const PlanView &plan,
               ArrayView<TensorView> tensors)
      : program(program), plan(plan), tensors(tensors) {}

  Status run() {
    DFRT_TRY(evaluateDomains());
    for (uint32_t q = 0; q < plan.queues.size(); ++q)
      for (uint32_t j = 0; j < plan.queues[q].count; ++j) {
        DFRT_TRY(checkPlace(plan.at(q, j)));
        DFRT_TRY(checkRange(plan.at(q, j)));
      }
    return checkCoverage();
  }

private:
  template <typename... Parts>
  Status fail(const Parts &...parts) const {
    return failure(StatusCode::invalidArgument, parts...,
                   "; the plan was made for other inputs");
  }

  Status evaluateDomains() {
    for (const Domain &domain : program.domains) {
      std::vector<int64_t> extents;
      for (const Axis &axis : domain.axes) {
        Expected<int64_t> extent = evaluate(program, axis.extent, tensors, {});
        if (!extent)
          return extent.status();
        extents.push_back(*extent);
      }
      int64_t tasks = elementCount(extents);
      if (domain.coordinates != kNone) {
        const std::vector<int64_t> &shape = tensors[domain.coordinates].shape;
        if (shape.size() != 2 || shape[1] != int64_t(extents.size()))
          return fail("domain '", domain.name, "': coordinates do not have ",
                      extents.size(), " columns");
        tasks = shape[0];
      }
      if (tasks < 0)
        return fail("domain '", domain.name, "' has more than 2^63 tasks");
      taskExtents.push_back(std::move(extents));
      taskCounts.push_back(tasks);
    }
    return Status::success();
  }

  /// Coordinates of a task; false when the task does not exist.
  bool locate(uint32_t domain, uint64_t task, int64_t *coordinates) const {
    const std::vector<int64_t> &extents = taskExtents[domain];
    if (task >= uint64_t(taskCounts[domain]))
      return false;
    uint32_t listed = program.domains[domain].coordinates;
    if (listed != kNone) {
      for (size_t a = 0; a < extents.size(); ++a)
        coordinates[a] =
            readInteger(tensors[listed], int64_t(task * extents.size() + a));
      return true;
    }
    for (size_t a = extents.size(); a-- > 0;) {
      coordinates[a] = int64_t(task % uint64_t(extents[a]));
      task /= uint64_t(extents[a]);
    }
    return true;
  }

  Status checkPlace(const dfrt_instruction &instruction) const {
    const Stage &stage = program.stages[instruction.stage];
    int64_t coordinates[DFRT_MAX_AXES] = {};
    if (!locate(stage.domain, taskOf(instruction), coordinates))
      return fail(describe(program, instruction), ": domain '",
                  program.domains[stage.domain].name, "' has ",
                  taskCounts[stage.domain], " tasks");
    const std::vector<int64_t> &extents = taskExtents[stage.domain];
    for (size_t a = 0; a < extents.size(); ++a)
      if (coordinates[a] != instruction.coordinates[a] ||
          coordinates[a] >= extents[a])
        return fail(describe(program, instruction), ": coordinate ", a, " is ",
                    instruction.coordinates[a], ", expected ", coordinates[a],
                    " below ", extents[a]);
    return Status::success();
  }

  Status range(uint32_t index, ArrayView<int64_t> coordinates, int64_t &offset,
               int64_t &length) const {
    const Range &range = program.ranges[index];
    Expected<int64_t> begin =
        evaluate(program, range.offset, tensors, coordinates);
    if (!begin)
      return begin.status();
    Expected<int64_t> extent =
        evaluate(program, range.length, tensors, coordinates);
    if (!extent)
      return extent.status();
    if (*extent < 0 || *extent > kMaxRangeExtent || *begin < 0 ||
        *begin > kMaxRangeExtent)
      return fail("range '", range.name, "' has length ", *extent,
                  " and offset ", *begin);
    offset = *begin;
    length = *extent;
    return Status::success();
  }

  Status checkRange(const dfrt_instruction &instruction) {
    const Stage &stage = program.stages[instruction.stage];
    if (stage.range == kNone)
      return Status::success();
    const std::vector<int64_t> &extents = taskExtents[stage.domain];
    int64_t at[DFRT_MAX_AXES];
    std::copy(instruction.coordinates, instruction.coordinates + DFRT_MAX_AXES,
              at);
    int64_t offset = 0, length = 0;
    DFRT_TRY(range(stage.range, {at, extents.size()}, offset, length));
    int64_t tile = program.ranges[stage.range].tile;
    int64_t tiles = length / tile + (length % tile != 0);
    if (instruction.tile_end > tiles)
      return fail(describe(program, instruction), ": covers tile ",
                  instruction.tile_end - 1, " of ", tiles);
    int64_t begin = offset + std::min(instruction.tile_begin * tile, length);
    int64_t end =
        offset +
        (instruction.tile_end == tiles ? length : instruction.tile_end * tile);
    if (instruction.range_begin != begin || instruction.range_end != end)
      return fail(describe(program, instruction), ": range '",
                  program.ranges[stage.range].name, "' piece is ",
                  instruction.range_begin, " to ", instruction.range_end,
                  ", expected ", begin, " to ", end);
    std::vector<int64_t> &covered = coveredTiles[instruction.stage];
    if (covered.empty())
      covered.assign(size_t(taskCounts[stage.domain]), 0);
    int64_t &last = covered[taskOf(instruction)];
    last = std::max(last, instruction.tile_end);
    return Status::success();
  }

  /// Lengths that have grown leave every piece in place, but tiles uncovered.
  Status checkCoverage() {
    for (size_t s = 0; s < program.stages.size(); ++s) {
      const Stage &stage = program.stages[s];
      if (stage.range == kNone)
        continue;
      const std::vector<int64_t> &covered = coveredTiles[s];
      for (int64_t task = 0; task < taskCounts[stage.domain]; ++task) {
        int64_t at[DFRT_MAX_AXES] = {};
        locate(stage.domain, uint64_t(task), at);
        int64_t offset = 0, length = 0;
        DFRT_TRY(range(stage.range, {at, taskExtents[stage.domain].size()},
                       offset, length));
        int64_t tile = program.ranges[stage.range].tile;
        int64_t tiles = length / tile + (length % tile != 0);
        int64_t planned = covered.empty() ? 0 : covered[size_t(task)];
        if (planned != tiles)
          return fail("stage '", stage.name, "' task ", task, " has ", tiles,
                      " tiles, but the plan covers ", planned);
      }
    }
    return Status::success();
  }

  const Program &program;
  const PlanView &plan;
  ArrayView<TensorView> tensors;
  std::vector<std::vector<int64_t>> taskExtents; ///< [domains][axes]
  std::vector<int64_t> taskCounts;               ///< [domains]
  /// [stages][tasks]: end of the last tile that an instruction covers.
  std::vector<std::vector<int64_t>> coveredTiles =
      std::vector<std::vector<int64_t>>(program.stages.size());
};
} // namespace

Status cpu::checkPlanProgram(const Program &program, const PlanView &plan) {
  return ProgramChecker(program, plan).run();
}

Status cpu::checkPlanInputs(const Program &program, const PlanView &plan,
                            ArrayView<TensorView> tensors) {
  return InputChecker(program, plan, tensors).run();
}
