//===- CheckPlanImage.cpp - Rules that an image must obey -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function for writer and reader, so that the reader refuses exactly what
// the writer does not write.
//
//===----------------------------------------------------------------------===//

#include "PlanLayout.h"
#include "dataflow/Schedule/Message.h"

#include <limits>

using namespace dfrt;

namespace {
constexpr uint32_t kMaximum16 = std::numeric_limits<uint16_t>::max();
constexpr uint64_t kMaximumRecordBytes = uint64_t(1) << 40;

class Checker {
public:
  Checker(const PlanImage &image, StatusCode code)
      : image(image), schedule(image.schedule), code(code) {}

  Status run() {
    DFRT_TRY(checkHeader());
    DFRT_TRY(checkStages());
    DFRT_TRY(checkBarriers());
    DFRT_TRY(checkSlots());
    DFRT_TRY(checkInstructions());
    DFRT_TRY(checkQueues());
    DFRT_TRY(checkTransfers());
    return checkReleases();
  }

private:
  template <typename... Parts>
  Status fail(const Parts &...parts) const {
    return failure(code, "plan: ", parts...);
  }

  /// `table[index].field` must be below `limit`.
  Status below(const char *table, size_t index, const char *field,
               uint64_t value, uint64_t limit) const {
    if (value < limit)
      return Status::success();
    return fail(table, "[", index, "].", field, " is ", value,
                ", but must be below ", limit);
  }

  Status span(const char *table, size_t index, const char *field,
              uint64_t first, uint64_t count, uint64_t size) const {
    if (first <= size && count <= size - first)
      return Status::success();
    return fail(table, "[", index, "].", field, " covers ", first, " to ",
                first + count, " of only ", size, " entries");
  }

  Status name(const char *what, const std::string &text) const {
    if (text.find('\0') != std::string::npos)
      return fail(what, " contains a zero byte");
    return Status::success();
  }

  Status checkHeader() const {
    if (Status status = check(image.topology); !status.ok())
      return fail("topology: ", status.message());
    if (schedule.discipline != Discipline::fixed &&
        schedule.discipline != Discipline::ticket)
      return fail("discipline is ", uint32_t(schedule.discipline));
    DFRT_TRY(name("program name", image.program));
    return name("solver name", schedule.solver);
  }

  Status checkStages() const {
    if (image.stages.size() > kMaximum16)
      return fail("stages: ", image.stages.size(), " exceed ", kMaximum16);
    for (size_t i = 0; i < image.stages.size(); ++i) {
      const PlanImage::StageInfo &stage = image.stages[i];
      DFRT_TRY(name("stage name", stage.name));
      DFRT_TRY(below("stages", i, "kind", uint64_t(stage.kind),
                     uint64_t(StageKind::finalize) + 1));
      if (stage.slices == 0)
        return fail("stages[", i, "].slices is 0");
      DFRT_TRY(below("stages", i, "slices", stage.slices, kMaximum16 + 1));
      DFRT_TRY(below("stages", i, "head_bytes", stage.headBytes,
                     kMaximumRecordBytes));
      DFRT_TRY(below("stages", i, "slice_bytes", stage.sliceBytes,
                     kMaximumRecordBytes));
      if (stage.headBytes % kRecordAlignment)
        return fail("stages[", i, "].head_bytes is ", stage.headBytes,
                    ", not a multiple of ", kRecordAlignment);
      if (stage.sliceBytes % kRecordAlignment)
        return fail("stages[", i, "].slice_bytes is ", stage.sliceBytes,
                    ", not a multiple of ", kRecordAlignment);
    }
    return Status::success();
  }

  Status checkBarriers() const {
    if (schedule.discipline == Discipline::ticket && !schedule.barriers.empty())
      return fail("barriers: a ticket plan has none, not ",
                  schedule.barriers.size());
    for (size_t i = 0; i < schedule.barriers.size(); ++i) {
      DFRT_TRY(below("barriers", i, "cta", schedule.barriers[i].cta,
                     image.topology.ctas));
      if (schedule.barriers[i].arrivals == 0)
        return fail("barriers[", i, "].arrivals is 0");
    }
    return Status::success();
  }

  Status barrier(const char *table, size_t index, uint32_t barrier,
                 uint32_t phase, uint32_t cta) const {
    if (barrier == kNone) {
      if (phase != 0)
        return fail(table, "[", index, "].phase is ", phase,
                    " without a barrier");
      return Status::success();
    }
    DFRT_TRY(below(table, index, "barrier", barrier, schedule.barriers.size()));
    if (schedule.barriers[barrier].cta != cta)
      return fail(table, "[", index, "].barrier is ", barrier, " of cta ",
                  schedule.barriers[barrier].cta, ", but must be of cta ", cta);
    return Status::success();
  }

  Status checkSlots() const {
    bool ticket = schedule.discipline == Discipline::ticket;
    for (size_t i = 0; i < schedule.slots.size(); ++i) {
      const Slot &slot = schedule.slots[i];
      DFRT_TRY(below("slots", i, "stage", slot.stage, image.stages.size()));
      const PlanImage::StageInfo &stage = image.stages[slot.stage];
      DFRT_TRY(below("slots", i, "slice_end", slot.sliceEnd, stage.slices + 1));
      DFRT_TRY(
          below("slots", i, "slice_begin", slot.sliceBegin, slot.sliceEnd));
      if (slot.space != Space::shared && slot.space != Space::global)
        return fail("slots[", i, "].space is ", uint32_t(slot.space),
                    ", but must be shared or global");
      if (slot.cta != kNone)
        DFRT_TRY(below("slots", i, "cta", slot.cta, image.topology.ctas));
      else if (slot.space == Space::shared && !ticket)
        return fail("slots[", i, "].cta is missing in a static plan");
      uint64_t arena = slot.space == Space::shared ? schedule.sharedBytes
                                                   : schedule.globalBytes;
      if (slot.offset % kRecordAlignment)
        return fail("slots[", i, "].offset is ", slot.offset,
                    ", not a multiple of ", kRecordAlignment);
      DFRT_TRY(span("slots", i, "offset", slot.offset, slotBytes(image, slot),
                    arena));
      DFRT_TRY(barrier("slots", i, slot.barrier, slot.phase, slot.cta));
      if (slot.flag != kNone)
        DFRT_TRY(below("slots", i, "flag", slot.flag, schedule.flags));
    }
    if (schedule.flags > schedule.slots.size())
      return fail("global_flags is ", schedule.flags, ", but there are only ",
                  schedule.slots.size(), " slots to have one");
    if (schedule.sharedBytes > image.topology.sharedBytes)
      return fail("shared_bytes is ", schedule.sharedBytes,
                  ", but a cta has only ", image.topology.sharedBytes);
    return Status::success();
  }

  Status checkInstructions() const {
    size_t count = schedule.instructions.size();
    if (image.places.size() != count)
      return fail("places: ", image.places.size(), " for ", count,
                  " instructions");
    for (size_t i = 0; i < count; ++i) {
      const Instruction &instruction = schedule.instructions[i];
      const PlanImage::Place &place = image.places[i];
      DFRT_TRY(below("instructions", i, "stage", instruction.stage,
                     image.stages.size()));
      const PlanImage::StageInfo &stage = image.stages[instruction.stage];
      if (stage.kind == StageKind::reshard)
        return fail("instructions[", i, "].stage is reshard '", stage.name,
                    "', which has no instructions");
      DFRT_TRY(below("instructions", i, "variant", instruction.variant,
                     kMaximum16 + 1));
      if (instruction.tileBegin < 0 ||
          instruction.tileEnd < instruction.tileBegin)
        return fail("instructions[", i, "].tile_begin and tile_end are ",
                    instruction.tileBegin, " and ", instruction.tileEnd);
      if (place.rangeEnd < place.rangeBegin)
        return fail("instructions[", i, "].range_begin and range_end are ",
                    place.rangeBegin, " and ", place.rangeEnd);
      DFRT_TRY(below("instructions", i, "slice_end", instruction.sliceEnd,
                     kMaximum16 + 1));
      DFRT_TRY(below("instructions", i, "slice_begin", instruction.sliceBegin,
                     instruction.sliceEnd));
      if (place.coordinates.size() > DFRT_MAX_AXES)
        return fail("instructions[", i, "] has ", place.coordinates.size(),
                    " coordinates, but a plan holds ", DFRT_MAX_AXES);
      for (int64_t coordinate : place.coordinates)
        if (coordinate < 0 || coordinate > std::numeric_limits<int32_t>::max())
          return fail("instructions[", i, "].coordinates has ", coordinate,
                      ", which is not in 0 to 2^31-1");
      DFRT_TRY(span("instructions", i, "operands", instruction.firstOperand,
                    instruction.operandCount, schedule.operands.size()));
      DFRT_TRY(span("instructions", i, "outputs", instruction.firstOutput,
                    instruction.outputCount, schedule.outputs.size()));
    }
    for (size_t i = 0; i < schedule.operands.size(); ++i)
      DFRT_TRY(below("operands", i, "slot", schedule.operands[i].slot,
                     schedule.slots.size()));
    for (size_t i = 0; i < schedule.outputs.size(); ++i)
      DFRT_TRY(below("outputs", i, "slot", schedule.outputs[i],
                     schedule.slots.size()));
    return Status::success();
  }

  Status checkQueues() {
    const std::vector<Queue> &queues = schedule.queues;
    bool ticket = schedule.discipline == Discipline::ticket;
    if (ticket && queues.size() > 1)
      return fail("queues: a ticket plan has one list, not ", queues.size());
    std::vector<bool> ctaSeen(image.topology.ctas);
    queueOf.assign(schedule.instructions.size(), kNone);
    for (size_t q = 0; q < queues.size(); ++q) {
      if (ticket) {
        if (queues[q].cta != kNone)
          return fail("queues[", q, "].cta is ", queues[q].cta,
                      " in a ticket plan");
      } else {
        DFRT_TRY(below("queues", q, "cta", queues[q].cta, image.topology.ctas));
        if (ctaSeen[queues[q].cta])
          return fail("queues[", q, "].cta is ", queues[q].cta,
                      ", which has another queue");
        ctaSeen[queues[q].cta] = true;
      }
      for (uint32_t i : queues[q].instructions) {
        DFRT_TRY(
            below("queues", q, "instruction", i, schedule.instructions.size()));
        if (queueOf[i] != kNone)
          return fail("instruction ", i, " is in a queue twice");
        queueOf[i] = uint32_t(q);
      }
      if (ticket && !queues[q].instructions.empty() &&
          !schedule.instructions[queues[q].instructions[0]].draw)
        return fail("queues[", q, "]: the first instruction begins no draw");
    }
    for (size_t i = 0; i < queueOf.size(); ++i)
      if (queueOf[i] == kNone)
        return fail("instruction ", i, " is in no queue");
    return Status::success();
  }

  Status checkTransfers() const {
    for (size_t i = 0; i < schedule.destinations.size(); ++i)
      DFRT_TRY(below("destinations", i, "slot", schedule.destinations[i],
                     schedule.slots.size()));
    for (size_t i = 0; i < schedule.transfers.size(); ++i) {
      const Transfer &transfer = schedule.transfers[i];
      if (transfer.transport == Transport::automatic ||
          transfer.transport > Transport::multicast)
        return fail("transfers[", i, "].transport is ",
                    uint32_t(transfer.transport), ", but must be 1 to 4");
      DFRT_TRY(below("transfers", i, "instruction", transfer.instruction,
                     schedule.instructions.size()));
      DFRT_TRY(below("transfers", i, "source", transfer.source,
                     schedule.slots.size()));
      DFRT_TRY(span("transfers", i, "destinations", transfer.firstDestination,
                    transfer.destinationCount, schedule.destinations.size()));
      if (transfer.destinationCount == 0)
        return fail("transfers[", i, "].destination_count is 0");
      const Slot &source = schedule.slots[transfer.source];
      uint64_t bytes = 0;
      for (uint32_t d : schedule.destinationsOf(transfer)) {
        const Slot &destination = schedule.slots[d];
        if (destination.stage != source.stage)
          return fail("transfers[", i, "]: slot ", d, " holds stage ",
                      destination.stage, ", but the source holds stage ",
                      source.stage);
        if (destination.sliceBegin < source.sliceBegin ||
            destination.sliceEnd > source.sliceEnd)
          return fail("transfers[", i, "]: slot ", d, " holds slices ",
                      destination.sliceBegin, " to ", destination.sliceEnd,
                      ", the source only ", source.sliceBegin, " to ",
                      source.sliceEnd);
        if (d != schedule.destinationsOf(transfer).front() &&
            bytes != slotBytes(image, destination))
          return fail("transfers[", i, "]: destinations differ in size");
        bytes = slotBytes(image, destination);
      }
    }
    return Status::success();
  }

  Status checkReleases() const {
    if (schedule.releases.size() > kNone / 2)
      return fail("releases: ", schedule.releases.size(), " exceed 2^31");
    for (size_t i = 0; i < schedule.releases.size(); ++i) {
      const Release &release = schedule.releases[i];
      DFRT_TRY(
          below("releases", i, "slot", release.slot, schedule.slots.size()));
      DFRT_TRY(below("releases", i, "from", release.from,
                     schedule.instructions.size()));
      DFRT_TRY(
          below("releases", i, "to", release.to, schedule.instructions.size()));
      DFRT_TRY(barrier("releases", i, release.barrier, release.phase,
                       schedule.queues[queueOf[release.to]].cta));
    }
    return Status::success();
  }

  const PlanImage &image;
  const Schedule &schedule;
  StatusCode code;
  std::vector<uint32_t> queueOf;
};
} // namespace

Status dfrt::checkPlanImage(const PlanImage &image, StatusCode code) {
  return Checker(image, code).run();
}
