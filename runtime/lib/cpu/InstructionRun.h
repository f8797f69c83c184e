//===- InstructionRun.h - One instruction on the CPU ------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls the handlers of an instruction: once, per tile, per slice, or as a
// left fold over the parts of a reduce. Waiting and signalling are the
// executor's business.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CPU_INSTRUCTIONRUN_H
#define DFRT_LIB_CPU_INSTRUCTIONRUN_H

#include "HandlerCall.h"
#include "SlotMemory.h"
#include "Tensors.h"

namespace dfrt::cpu {

/// What all instructions of a launch share.
struct LaunchCode {
  const Program &program;
  const PlanView &plan;
  const ProgramCode &code;
  SlotMemory &memory;
  std::vector<std::vector<int64_t>> descriptors; ///< of the arguments
};

/// Executes instructions for one thread at a time.
class InstructionRun {
public:
  explicit InstructionRun(LaunchCode &launch)
      : launch(launch), memory(launch.code.scratchBytes) {}

  /// Calls the handlers of `instruction` on `cta` and ends the reads of its
  /// operands. Fails only when memory is short or the operands do not fit.
  Status run(const dfrt_instruction &instruction, uint32_t cta);

private:
  /// The operands of one channel, as stored records (rows copied out).
  struct Channel {
    Arity arity = Arity::one;
    std::vector<StoredRecord> records;
    Stack stack; ///< of a collected channel
  };

  Status gather(const dfrt_instruction &instruction, uint32_t cta);
  Status resolve(const dfrt_operand &operand, const Record &channel,
                 uint32_t cta, StoredRecord &result);
  Status take(uint64_t bytes, uint8_t *&result);
  Status callTiles(const dfrt_instruction &instruction, uint32_t cta);
  void callOnce(const dfrt_instruction &instruction, int64_t tile,
                uint32_t slice, bool sliced, const StoredRecord *output);
  Status fold(const dfrt_instruction &instruction, uint32_t cta);
  Status foldSlices(const dfrt_instruction &instruction, uint32_t cta,
                    uint32_t begin, uint32_t end, const StoredRecord &output);
  Status part(const dfrt_instruction &instruction, uint32_t index, uint32_t cta,
              uint8_t *rowMemory, StoredRecord &result);

  LaunchCode &launch;
  CallMemory memory;
  HandlerCall call;
  std::vector<uint32_t> counts;
  std::vector<Channel> channels;
};

} // namespace dfrt::cpu

#endif // DFRT_LIB_CPU_INSTRUCTIONRUN_H
