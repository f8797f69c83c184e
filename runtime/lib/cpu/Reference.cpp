//===- Reference.cpp - What results are checked against -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The records of a stage are kept until its last reader has been evaluated.
//
//===----------------------------------------------------------------------===//

#include "Reference.h"

#include "HandlerCall.h"
#include "Threads.h"
#include "dataflow/Schedule/Message.h"

#include "dfrt/Artifact.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

using namespace dfrt;
using namespace dfrt::cpu;

namespace {
/// A record (or row of it) that a handler call reads: record `index` of
/// `stage`.
struct Part {
  uint32_t stage = kNone;
  uint64_t index = 0;
  uint32_t row = kNone;
};

class Evaluator {
public:
  Evaluator(const Problem &problem, const ProgramCode &code,
            ArrayView<TensorView> tensors, uint32_t threads)
      : problem(problem), program(problem.program), code(code),
        threads(threads), stages(problem.program.stages.size()) {
    for (const TensorView &tensor : tensors)
      descriptors.push_back(makeDescriptor(tensor));
  }

  Status run() {
    for (uint32_t s = 0; s < stages.size(); ++s) {
      if (program.stages[s].arity == Arity::collected)
        continue; // stacked from its source's records
      Expected<Record> record = referenceRecord(program.stages[s].record);
      if (!record)
        return record.status();
      stages[s].record = std::move(*record);
      if (program.stages[s].kind != StageKind::reshard)
        for (const StageInput &input : program.stages[s].inputs)
          stages[storing(input.stage)].lastReader = s;
    }
    for (uint32_t s = 0; s < stages.size(); ++s) {
      if (program.stages[s].kind == StageKind::reshard)
        continue;
      DFRT_TRY(evaluate(s));
      for (StageData &stage : stages)
        if (stage.lastReader == s)
          stage.memory = Buffer();
    }
    return Status::success();
  }

private:
  struct StageData {
    Record record;               ///< reference layout
    std::vector<uint64_t> begin; ///< [tasks + 1]: first call of each task
    Buffer memory;               ///< one record a call
    uint32_t lastReader = kNone;
  };
  struct Thread {
    explicit Thread(uint64_t scratchBytes) : memory(scratchBytes) {}
    CallMemory memory;
    HandlerCall call;
  };

  /// The stage behind a chain of reshards, which stores the records.
  uint32_t storing(uint32_t stage) const {
    while (program.stages[stage].kind == StageKind::reshard)
      stage = program.stages[stage].inputs[0].stage;
    return stage;
  }

  bool perTile(uint32_t stage) const {
    return program.stages[stage].range != kNone && program.stages[stage].each;
  }

  /// Appends the records that `task` of the channel `stage` consists of, in
  /// ascending order.
  void appendParts(uint32_t stage, uint64_t task, std::vector<Part> &parts) {
    const Stage &s = program.stages[stage];
    if (s.kind != StageKind::reshard) {
      for (uint64_t i = stages[stage].begin[task];
           i < stages[stage].begin[task + 1]; ++i)
        parts.push_back({stage, i, kNone});
      return;
    }
    uint32_t input = s.inputs[0].stage;
    if (s.reshard != ReshardKind::rekey) {
      uint64_t source = problem.producerTask(stage, 0, task);
      if (source != UINT64_MAX)
        appendParts(input, source, parts);
      return;
    }
    const KeySet &keys = problem.keys[stage];
    for (uint64_t k = keys.begin[task]; k < keys.begin[task + 1]; ++k) {
      const KeyedSource &key = keys.sources[k];
      // Reshards between records and keys keep the task.
      uint32_t source = storing(input);
      parts.push_back({source,
                       stages[source].begin[key.task] + uint64_t(key.tile),
                       key.row});
    }
  }

  StoredRecord stored(uint32_t stage, uint64_t index) const {
    const StageData &data = stages[stage];
    return {&data.record, data.memory.data() + index * data.record.bytes(), 0};
  }

  /// The record of a part; rows are copied out with the layout of `channel`.
  Status resolve(const Part &part, const Record &channel, Thread &thread,
                 StoredRecord &result) const {
    result = stored(part.stage, part.index);
    if (part.row == kNone)
      return Status::success();
    uint8_t *row;
    DFRT_TRY(take(thread, channel.bytes(), row));
    copyRow(result, part.row, channel, row);
    result = {&channel, row, 0};
    return Status::success();
  }

  static Status take(Thread &thread, uint64_t bytes, uint8_t *&result) {
    result = thread.memory.take(bytes);
    if (result)
      return Status::success();
    return failure(StatusCode::resourceExhausted, "reference: no memory for ",
                   bytes, " bytes of temporaries");
  }

  Status evaluate(uint32_t index) {
    const Stage &stage = program.stages[index];
    StageData &data = stages[index];
    uint64_t tasks = problem.taskCount(index);
    data.begin.assign(tasks + 1, 0);
    for (uint64_t task = 0; task < tasks; ++task)
      data.begin[task + 1] =
          data.begin[task] +
          (perTile(index) ? uint64_t(problem.ranges[stage.range].tiles(task))
                          : 1);
    uint64_t calls = data.begin[tasks];
    uint64_t bytes = data.record.bytes();
    if (stage.kind != StageKind::finalize) {
      uint64_t total;
      if (__builtin_mul_overflow(bytes, calls, &total) ||
          !data.memory.reserve(total))
        return failure(
            StatusCode::resourceExhausted, "reference: no memory for ", calls,
            " records of stage '", stage.name, "' of ", bytes, " bytes each");
    }
    return forAll(calls, [&](uint64_t call, Thread &thread) {
      uint64_t task = uint64_t(std::upper_bound(data.begin.begin(),
                                                data.begin.end(), call) -
                               data.begin.begin()) -
                      1;
      return stage.kind == StageKind::reduce
                 ? fold(index, task, thread)
                 : callHandler(index, task, call, thread);
    });
  }

  /// Calls `body(i, thread)` for all i below `count`, on all threads.
  template <typename Body>
  Status forAll(uint64_t count, Body body) {
    std::atomic<uint64_t> next{0};
    std::mutex mutex;
    Status result;
    auto fail = [&](Status status) {
      std::lock_guard<std::mutex> lock(mutex);
      result = std::move(status);
      next = count;
    };
    runOnThreads(
        std::min<uint64_t>(threads, count),
        [&] {
          Thread thread(code.scratchBytes);
          for (uint64_t i; (i = next++) < count;)
            if (Status status = body(i, thread); !status.ok())
              return fail(std::move(status));
        },
        [&] {
          fail(Status(StatusCode::resourceExhausted,
                      "reference: out of memory"));
        });
    return result;
  }

  Status callHandler(uint32_t index, uint64_t task, uint64_t callIndex,
                     Thread &thread) {
    const Stage &stage = program.stages[index];
    HandlerCall &call = thread.call;
    thread.memory.begin();
    call.clear();
    for (int64_t coordinate : problem.tasks[stage.domain].at(task))
      call.add(coordinate);
    uint64_t tile = callIndex - stages[index].begin[task];
    if (stage.range != kNone) {
      const RangeSet &range = problem.ranges[stage.range];
      int64_t begin = range.offsets[task];
      int64_t end = begin + range.lengths[task];
      if (stage.each) {
        begin += int64_t(tile) * range.tile;
        end = std::min(begin + range.tile, end);
      }
      call.add(begin);
      call.add(end);
    }
    call.add(stage.operands, descriptors);
    for (uint32_t i = 0; i < stage.inputs.size(); ++i) {
      uint32_t channel = stage.inputs[i].stage;
      std::vector<Part> parts;
      uint64_t source = problem.producerTask(index, i, task);
      if (source == UINT64_MAX)
        return failure(StatusCode::invalidArgument, "reference: stage '",
                       stage.name, "' task ", task, " has no record of '",
                       program.stages[channel].name, "'");
      appendParts(channel, source, parts);
      if (program.stages[channel].arity == Arity::collected) {
        DFRT_TRY(addStack(channel, parts, thread));
        continue;
      }
      size_t k =
          program.stages[channel].arity == Arity::tiles ? size_t(tile) : 0;
      StoredRecord record;
      DFRT_TRY(resolve(parts[k], stages[channel].record, thread, record));
      call.add(record.view(0));
    }
    if (stage.kind != StageKind::finalize)
      call.add(stored(index, callIndex).view(0));
    call.add(stage.outputs, descriptors);
    call.call(code.stages[index].variants[0], thread.memory.scratch());
    return Status::success();
  }

  Status addStack(uint32_t channel, const std::vector<Part> &parts,
                  Thread &thread) {
    const Record &record = stages[storing(channel)].record;
    std::vector<StoredRecord> records(parts.size());
    for (size_t i = 0; i < parts.size(); ++i)
      DFRT_TRY(resolve(parts[i], record, thread, records[i]));
    Stack stack;
    DFRT_TRY(stackRecords(record, records, thread.memory, stack));
    thread.call.add(stack.count);
    for (uint8_t *field : stack.fields)
      thread.call.add(field);
    return Status::success();
  }

  Status fold(uint32_t index, uint64_t task, Thread &thread) {
    const Stage &stage = program.stages[index];
    const Record &record = stages[index].record;
    StoredRecord output = stored(index, task);
    std::vector<Part> parts;
    uint64_t source = problem.producerTask(index, 0, task);
    if (source != UINT64_MAX)
      appendParts(stage.inputs[0].stage, source, parts);
    HandlerCall &call = thread.call;
    if (parts.empty()) {
      call.clear();
      call.add(output.view(0));
      call.call(code.stages[index].identity, thread.memory.scratch());
      return Status::success();
    }
    thread.memory.begin();
    uint8_t *accumulators[2], *rows[2];
    for (uint8_t *&memory : accumulators)
      DFRT_TRY(take(thread, record.bytes(), memory));
    for (uint8_t *&memory : rows)
      DFRT_TRY(take(thread, record.bytes(), memory));
    auto part = [&](size_t i, uint8_t *row) {
      StoredRecord result = stored(parts[i].stage, parts[i].index);
      if (parts[i].row == kNone)
        return result;
      copyRow(result, parts[i].row, record, row);
      return StoredRecord{&record, row, 0};
    };
    StoredRecord left = part(0, rows[0]);
    for (size_t i = 1; i < parts.size(); ++i) {
      StoredRecord result{&record, accumulators[i % 2], 0};
      call.clear();
      call.add(stage.operands, descriptors);
      call.add(left.view(0));
      call.add(part(i, rows[1]).view(0));
      call.add(result.view(0));
      call.call(code.stages[index].variants[0], thread.memory.scratch());
      left = result;
    }
    std::memcpy(output.base, left.base, record.bytes());
    return Status::success();
  }

  const Problem &problem;
  const Program &program;
  const ProgramCode &code;
  uint32_t threads;
  std::vector<StageData> stages;
  std::vector<std::vector<int64_t>> descriptors;
};
} // namespace

Status cpu::evaluateReference(const Problem &problem, const ProgramCode &code,
                              ArrayView<TensorView> tensors, uint32_t threads) {
  return Evaluator(problem, code, tensors, threadCount(threads)).run();
}
