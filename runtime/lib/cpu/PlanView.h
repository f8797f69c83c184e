//===- PlanView.h - Plan bytes, read in place -------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sections of a plan that `readPlan` has accepted, as arrays of the records
// in ABI.h. The CPU device executes these, as a kernel would.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CPU_PLANVIEW_H
#define DFRT_LIB_CPU_PLANVIEW_H

#include "dataflow/Schedule/ArrayView.h"
#include "dataflow/Schedule/Program.h"
#include "dfrt/ABI.h"

namespace dfrt::cpu {

class PlanView {
public:
  explicit PlanView(const uint8_t *bytes)
      : bytes(bytes),
        header(*reinterpret_cast<const dfrt_plan_header *>(bytes)),
        queues(section<dfrt_queue>(DFRT_SECTION_QUEUES)),
        instructions(section<dfrt_instruction>(DFRT_SECTION_INSTRUCTIONS)),
        operands(section<dfrt_operand>(DFRT_SECTION_OPERANDS)),
        outputs(section<dfrt_output>(DFRT_SECTION_OUTPUTS)),
        slots(section<dfrt_slot>(DFRT_SECTION_SLOTS)),
        transfers(section<dfrt_transfer>(DFRT_SECTION_TRANSFERS)),
        destinations(section<dfrt_destination>(DFRT_SECTION_DESTINATIONS)),
        releases(section<dfrt_release>(DFRT_SECTION_RELEASES)),
        barriers(section<dfrt_barrier>(DFRT_SECTION_BARRIERS)),
        stages(section<dfrt_stage>(DFRT_SECTION_STAGES)),
        draws(section<dfrt_draw>(DFRT_SECTION_DRAWS)) {}

  bool ticket() const { return header.flags & DFRT_PLAN_TICKET; }
  bool exitBarrier() const { return header.flags & DFRT_PLAN_EXIT_BARRIER; }
  uint32_t cluster(uint32_t cta) const { return cta / header.cluster_size; }

  /// Instruction `position` of a queue.
  const dfrt_instruction &at(uint32_t queue, uint32_t position) const {
    if (ticket())
      return instructions[queues[queue].rest + position];
    return instructions[position == 0 ? queue
                                      : queues[queue].rest + position - 1];
  }
  ArrayView<dfrt_operand> operandsOf(const dfrt_instruction &i) const {
    return {operands.data() + i.first_operand, i.operand_count};
  }
  ArrayView<dfrt_output> outputsOf(const dfrt_instruction &i) const {
    return {outputs.data() + i.first_output, i.output_count};
  }
  ArrayView<dfrt_transfer> transfersOf(const dfrt_instruction &i) const {
    return {transfers.data() + i.first_transfer, i.transfer_count};
  }
  ArrayView<dfrt_release> releasesOf(const dfrt_instruction &i) const {
    return {releases.data() + i.first_release, i.release_count};
  }
  ArrayView<dfrt_release> acquiresOf(const dfrt_instruction &i) const {
    return {releases.data() + i.first_acquire, i.acquire_count};
  }
  ArrayView<dfrt_destination> destinationsOf(const dfrt_transfer &t) const {
    return {destinations.data() + t.first_destination, t.destination_count};
  }
  /// Barrier `number` of a CTA.
  uint32_t barrierIndex(uint32_t cta, uint32_t number) const {
    return queues[cta].first_barrier + number;
  }
  /// Calls of the plan; identities are below it.
  uint32_t callCount() const {
    uint32_t count = 0;
    for (const dfrt_queue &queue : queues)
      count += queue.count;
    return count;
  }

private:
  template <typename T>
  ArrayView<T> section(uint32_t s) const {
    const dfrt_section_entry &entry = header.sections[s];
    return {reinterpret_cast<const T *>(bytes + entry.offset), entry.count};
  }
  const uint8_t *bytes;

public:
  const dfrt_plan_header &header;
  ArrayView<dfrt_queue> queues;
  ArrayView<dfrt_instruction> instructions;
  ArrayView<dfrt_operand> operands;
  ArrayView<dfrt_output> outputs;
  ArrayView<dfrt_slot> slots;
  ArrayView<dfrt_transfer> transfers;
  ArrayView<dfrt_destination> destinations;
  ArrayView<dfrt_release> releases;
  ArrayView<dfrt_barrier> barriers;
  ArrayView<dfrt_stage> stages;
  ArrayView<dfrt_draw> draws;
};

inline uint64_t taskOf(const dfrt_instruction &instruction) {
  return uint64_t(instruction.task_high) << 32 | instruction.task_low;
}

/// "instruction 12 (merge, task 3)", for messages.
std::string describe(const Program &program,
                     const dfrt_instruction &instruction);

/// The stage whose records an operand that names `stage` finally reads: the one
/// behind a chain of reshards.
uint32_t recordStage(const Program &program, uint32_t stage);

/// How many of an instruction's operands belong to each input channel, in
/// order. Fails when the operand count does not fit the stage.
Status splitOperands(const Program &program, const PlanView &plan,
                     const dfrt_instruction &instruction,
                     std::vector<uint32_t> &counts);

} // namespace dfrt::cpu

#endif // DFRT_LIB_CPU_PLANVIEW_H
