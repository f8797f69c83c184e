//===- PlanFacts.cpp - What a plan asks of a kernel -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanLayout.h"
#include "cpu/PlanView.h"
#include "cpu/Records.h"
#include "dfrt/cuda/PlanningKernel.h"

#include <algorithm>

using namespace dfrt;
using namespace dfrt::cuda;

static constexpr uint64_t kAddressBytes = 8;

/// Bytes of the stacks that an instruction needs at most: of every collected
/// channel every field, dense, each at a multiple of 128. A kernel may put the
/// addresses of fields there instead, which take more than the smallest fields.
static uint64_t collectedBytes(const Program &program, const Stage &stage,
                               uint64_t records) {
  uint64_t bytes = 0;
  for (const StageInput &input : stage.inputs) {
    if (program.stages[input.stage].arity != Arity::collected)
      continue;
    const Record &record =
        program.stages[cpu::recordStage(program, input.stage)].record;
    for (const Field &field : record.fields) {
      uint64_t each = std::max(cpu::fieldBytes(field), kAddressBytes);
      bytes += (records * each + 127) / 128 * 128;
    }
  }
  return bytes;
}

PlanFacts cuda::planFacts(const Program &program, const uint8_t *bytes) {
  cpu::PlanView plan(bytes);
  const dfrt_plan_header &header = plan.header;
  PlanFacts facts;
  facts.fingerprint = header.fingerprint;
  facts.ticket = plan.ticket();
  facts.exitBarrier = plan.exitBarrier();
  facts.ctas = header.ctas;
  facts.clusterSize = header.cluster_size;
  facts.flags = header.global_flags;
  facts.sharedBytes = header.shared_bytes;
  facts.reservedBytes = header.reserved_bytes;
  facts.globalBytes = header.global_bytes;
  facts.planBytes = header.total_bytes;
  for (uint32_t s = 0; s < DFRT_SECTION_COUNT; ++s)
    facts.sections[s] = header.sections[s].offset;
  for (const dfrt_transfer &transfer : plan.transfers)
    facts.transports |= 1u << transfer.transport;
  for (const dfrt_queue &queue : plan.queues)
    facts.barriers = std::max(facts.barriers, queue.barrier_count);
  const auto &entry = header.sections[DFRT_SECTION_INSTRUCTIONS];
  for (uint32_t i = 0; i < entry.count; ++i) {
    const dfrt_instruction &instruction = plan.instructions[i];
    if (instruction.opcode == DFRT_CALL)
      facts.collectedBytes =
          std::max(facts.collectedBytes,
                   collectedBytes(program, program.stages[instruction.stage],
                                  instruction.operand_count));
  }
  // A draw waits for earlier ones only, so any resident subset makes progress.
  facts.resident = !facts.ticket && facts.flags && facts.ctas > 1;
  return facts;
}

PlanFacts cuda::planFacts(const DevicePlanner &planner) {
  const Program &program = planner.program();
  const Topology &topology = planner.topology();
  PlanFacts facts;
  facts.fingerprint = program.fingerprint();
  facts.ctas = topology.ctas;
  facts.clusterSize = topology.clusterSize;
  facts.flags = planner.mostFlags();
  facts.reservedBytes = topology.reservedBytes;
  facts.globalBytes = planner.mostSlotBytes();
  facts.planBytes = planner.planBytes();
  PlanLayout layout = layoutPlan(planner.capacity());
  std::copy(std::begin(layout.offset), std::end(layout.offset),
            std::begin(facts.sections));
  if (facts.flags)
    facts.transports = 1u << DFRT_TRANSPORT_GLOBAL;
  for (size_t s = 0; s < program.stages.size(); ++s)
    if (uint64_t records = planner.stackedRecords()[s])
      facts.collectedBytes =
          std::max(facts.collectedBytes,
                   collectedBytes(program, program.stages[s], records));
  facts.resident = facts.flags && facts.ctas > 1;
  return facts;
}
