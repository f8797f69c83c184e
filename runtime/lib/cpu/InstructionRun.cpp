//===- InstructionRun.cpp - One instruction on the CPU --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstructionRun.h"

#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <cstring>

using namespace dfrt;
using namespace dfrt::cpu;

Status InstructionRun::run(const dfrt_instruction &instruction, uint32_t cta) {
  const Stage &stage = launch.program.stages[instruction.stage];
  memory.begin();
  for (const dfrt_output &output : launch.plan.outputsOf(instruction))
    launch.memory.beginWrite(output.slot, cta);
  DFRT_TRY(stage.kind == StageKind::reduce ? fold(instruction, cta)
                                           : callTiles(instruction, cta));
  for (const dfrt_operand &operand : launch.plan.operandsOf(instruction))
    launch.memory.endRead(operand.slot, cta);
  return Status::success();
}

Status InstructionRun::take(uint64_t bytes, uint8_t *&result) {
  result = memory.take(bytes);
  if (result)
    return Status::success();
  return failure(StatusCode::resourceExhausted, "cpu: no memory for ", bytes,
                 " bytes of temporaries");
}

/// The record of an operand. A row is copied out to a temporary with the
/// layout of `channel`, its consumer's record.
Status InstructionRun::resolve(const dfrt_operand &operand,
                               const Record &channel, uint32_t cta,
                               StoredRecord &result) {
  result = launch.memory.slot(operand.slot, cta);
  if (operand.row == DFRT_NONE)
    return Status::success();
  uint8_t *row;
  DFRT_TRY(take(channel.bytes(), row));
  copyRow(result, operand.row, channel, row);
  result = {&channel, row, 0};
  return Status::success();
}

Status InstructionRun::gather(const dfrt_instruction &instruction,
                              uint32_t cta) {
  const Stage &stage = launch.program.stages[instruction.stage];
  DFRT_TRY(splitOperands(launch.program, launch.plan, instruction, counts));
  ArrayView<dfrt_operand> operands = launch.plan.operandsOf(instruction);
  channels.resize(stage.inputs.size());
  size_t position = 0;
  for (size_t i = 0; i < channels.size(); ++i) {
    const Stage &input = launch.program.stages[stage.inputs[i].stage];
    Channel &channel = channels[i];
    channel.arity = input.arity;
    channel.records.resize(counts[i]);
    for (StoredRecord &record : channel.records)
      DFRT_TRY(resolve(operands[position++], input.record, cta, record));
    if (input.arity == Arity::collected) {
      const Record &layout =
          launch.program
              .stages[recordStage(launch.program, stage.inputs[i].stage)]
              .record;
      DFRT_TRY(stackRecords(layout, channel.records, memory, channel.stack));
    }
  }
  return Status::success();
}

Status InstructionRun::callTiles(const dfrt_instruction &instruction,
                                 uint32_t cta) {
  const Stage &stage = launch.program.stages[instruction.stage];
  DFRT_TRY(gather(instruction, cta));
  bool sliced =
      stage.variants[instruction.variant].kind == Variant::Kind::sliced;
  bool each = stage.range != kNone && stage.each;
  int64_t calls = each ? instruction.tile_end - instruction.tile_begin : 1;
  ArrayView<dfrt_output> outputs = launch.plan.outputsOf(instruction);
  for (int64_t tile = 0; tile < calls; ++tile) {
    StoredRecord output;
    bool hasOutput = !outputs.empty();
    if (hasOutput)
      output = launch.memory.slot(
          outputs[stage.arity == Arity::tiles ? size_t(tile) : 0].slot, cta);
    uint32_t begin = sliced ? instruction.slice_begin : 0;
    uint32_t end = sliced ? instruction.slice_end : 1;
    for (uint32_t slice = begin; slice < end; ++slice)
      callOnce(instruction, tile, slice, sliced, hasOutput ? &output : nullptr);
  }
  return Status::success();
}

void InstructionRun::callOnce(const dfrt_instruction &instruction, int64_t tile,
                              uint32_t slice, bool sliced,
                              const StoredRecord *output) {
  const Stage &stage = launch.program.stages[instruction.stage];
  call.clear();
  size_t axes = launch.program.domains[stage.domain].axes.size();
  for (size_t a = 0; a < axes; ++a)
    call.add(int64_t(instruction.coordinates[a]));
  if (stage.range != kNone) {
    int64_t begin = instruction.range_begin, end = instruction.range_end;
    if (stage.each) {
      int64_t length = launch.program.ranges[stage.range].tile;
      begin += tile * length;
      end = std::min(begin + length, end);
    }
    call.add(begin);
    call.add(end);
  }
  if (sliced)
    call.add(int64_t(slice));
  call.add(stage.operands, launch.descriptors);
  for (Channel &channel : channels) {
    if (channel.arity == Arity::collected) {
      call.add(channel.stack.count);
      for (uint8_t *field : channel.stack.fields)
        call.add(field);
      continue;
    }
    size_t k = channel.arity == Arity::tiles ? size_t(tile) : 0;
    const StoredRecord &record = channel.records[k];
    call.add(record.view(sliced ? slice : record.sliceBegin));
  }
  if (output)
    call.add(output->view(sliced ? slice : output->sliceBegin));
  call.add(stage.outputs, launch.descriptors);
  call.call(launch.code.stages[instruction.stage].variants[instruction.variant],
            memory.scratch());
}

/// Part `index` of a reduce; a row is copied to `rowMemory`.
Status InstructionRun::part(const dfrt_instruction &instruction, uint32_t index,
                            uint32_t cta, uint8_t *rowMemory,
                            StoredRecord &result) {
  const dfrt_operand &operand = launch.plan.operandsOf(instruction)[index];
  result = launch.memory.slot(operand.slot, cta);
  if (operand.row != DFRT_NONE) {
    const Record &record = launch.program.stages[instruction.stage].record;
    copyRow(result, operand.row, record, rowMemory);
    result = {&record, rowMemory, 0};
  }
  return Status::success();
}

Status InstructionRun::fold(const dfrt_instruction &instruction, uint32_t cta) {
  const Stage &stage = launch.program.stages[instruction.stage];
  const Record &record = stage.record;
  StoredRecord output =
      launch.memory.slot(launch.plan.outputsOf(instruction)[0].slot, cta);
  bool sliced =
      stage.variants[instruction.variant].kind == Variant::Kind::sliced;
  uint32_t begin = sliced ? instruction.slice_begin : 0;
  uint32_t end = sliced ? instruction.slice_end : record.slices;
  if (instruction.operand_count >= 2) {
    if (!sliced)
      return foldSlices(instruction, cta, begin, end, output);
    for (uint32_t slice = begin; slice < end; ++slice)
      DFRT_TRY(foldSlices(instruction, cta, slice, slice + 1, output));
    return Status::success();
  }

  StoredRecord source;
  uint8_t *whole;
  DFRT_TRY(take(record.bytes(), whole));
  if (instruction.operand_count == 0) {
    source = {&record, whole, 0};
    call.clear();
    call.add(source.view(0));
    call.call(launch.code.stages[instruction.stage].identity, memory.scratch());
  } else {
    DFRT_TRY(part(instruction, 0, cta, whole, source));
  }
  RecordView from = source.view(begin), to = output.view(begin);
  std::memcpy(to.head, from.head, record.headBytes);
  std::memcpy(to.slices, from.slices, record.sliceBytes * (end - begin));
  return Status::success();
}

/// Left fold of all parts over the slices [begin, end), through two temporaries
/// in turn; the last call writes the output.
Status InstructionRun::foldSlices(const dfrt_instruction &instruction,
                                  uint32_t cta, uint32_t begin, uint32_t end,
                                  const StoredRecord &output) {
  const Stage &stage = launch.program.stages[instruction.stage];
  const Record &record = stage.record;
  bool sliced =
      stage.variants[instruction.variant].kind == Variant::Kind::sliced;
  memory.begin();
  uint8_t *rows[2], *temporaries[2];
  for (uint8_t *&row : rows)
    DFRT_TRY(take(record.bytes(), row));
  for (uint8_t *&temporary : temporaries)
    DFRT_TRY(take(record.bytes(begin, end), temporary));

  StoredRecord left, right;
  DFRT_TRY(part(instruction, 0, cta, rows[0], left));
  for (uint32_t i = 1; i < instruction.operand_count; ++i) {
    DFRT_TRY(part(instruction, i, cta, rows[1], right));
    StoredRecord result = output;
    if (i + 1 < instruction.operand_count)
      result = {&record, temporaries[i % 2], begin};
    call.clear();
    if (sliced)
      call.add(int64_t(begin));
    call.add(stage.operands, launch.descriptors);
    call.add(left.view(begin));
    call.add(right.view(begin));
    call.add(result.view(begin));
    call.call(
        launch.code.stages[instruction.stage].variants[instruction.variant],
        memory.scratch());
    left = result;
  }
  return Status::success();
}
