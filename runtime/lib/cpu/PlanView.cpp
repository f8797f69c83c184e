//===- PlanView.cpp - Plan bytes, read in place ---------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanView.h"

#include "dataflow/Schedule/Message.h"

using namespace dfrt;
using namespace dfrt::cpu;

std::string cpu::describe(const Program &program,
                          const dfrt_instruction &instruction) {
  return textOf("instruction ", instruction.identity, " (",
                program.stages[instruction.stage].name, ", task ",
                taskOf(instruction), ")");
}

uint32_t cpu::recordStage(const Program &program, uint32_t stage) {
  while (program.stages[stage].kind == StageKind::reshard)
    stage = program.stages[stage].inputs[0].stage;
  return stage;
}

Status cpu::splitOperands(const Program &program, const PlanView &plan,
                          const dfrt_instruction &instruction,
                          std::vector<uint32_t> &counts) {
  const Stage &stage = program.stages[instruction.stage];
  counts.assign(stage.inputs.size(), 0);
  if (stage.kind == StageKind::reduce) {
    counts[0] = instruction.operand_count;
    return Status::success();
  }
  // All but collected channels have a fixed number; what is left belongs to
  // those.
  uint64_t fixed = 0;
  size_t collected = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    switch (program.stages[stage.inputs[i].stage].arity) {
    case Arity::tiles:
      counts[i] = uint32_t(instruction.tile_end - instruction.tile_begin);
      break;
    case Arity::collected:
      ++collected;
      break;
    default:
      counts[i] = 1;
    }
    fixed += counts[i];
  }
  auto mismatch = [&] {
    return failure(StatusCode::verificationFailed,
                   describe(program, instruction), " has ",
                   instruction.operand_count, " operands, but its stage takes ",
                   fixed, collected ? " and those of collected inputs" : "");
  };
  if (fixed > instruction.operand_count ||
      (!collected && fixed != instruction.operand_count))
    return mismatch();
  uint32_t left = uint32_t(instruction.operand_count - fixed);
  // Several collected channels are told apart by the stage of their slots;
  // channels of one stage share its operands equally.
  ArrayView<dfrt_operand> operands = plan.operandsOf(instruction);
  uint32_t position = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (program.stages[stage.inputs[i].stage].arity == Arity::collected) {
      if (collected == 1) {
        counts[i] = left;
      } else {
        uint32_t source = recordStage(program, stage.inputs[i].stage);
        uint32_t run = 0, sharers = 1;
        while (run < left &&
               plan.slots[operands[position + run].slot].stage == source)
          ++run;
        for (size_t j = i + 1;
             j < counts.size() &&
             program.stages[stage.inputs[j].stage].arity == Arity::collected &&
             recordStage(program, stage.inputs[j].stage) == source;
             ++j)
          ++sharers;
        counts[i] = run / sharers;
      }
      left -= counts[i];
      --collected;
    }
    position += counts[i];
  }
  return left == 0 ? Status::success() : mismatch();
}
