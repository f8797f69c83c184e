//===- HandlerCall.h - Argument list of a handler call ----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Puts together the `void **` of the calling convention in dfrt/Artifact.h. The
// order of the `add` calls is the order of the arguments.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CPU_HANDLERCALL_H
#define DFRT_LIB_CPU_HANDLERCALL_H

#include "CodeModule.h"
#include "Records.h"

#include "dataflow/Schedule/ArrayView.h"

#include <deque>

namespace dfrt::cpu {

/// Memory of one thread that handler calls need: scratch, temporaries, the
/// argument list. Temporaries stay valid until `begin`.
class CallMemory {
public:
  explicit CallMemory(uint64_t scratchBytes) : scratchBytes(scratchBytes) {}

  /// Starts an instruction: all temporaries may be used again.
  void begin() { used = 0; }
  /// Memory for `bytes` bytes until the next `begin`, or null.
  uint8_t *take(uint64_t bytes) {
    if (used == temporaries.size())
      temporaries.emplace_back();
    return temporaries[used++].reserve(bytes);
  }
  uint8_t *scratch() { return scratchMemory.reserve(scratchBytes); }

private:
  uint64_t scratchBytes;
  Buffer scratchMemory;
  std::deque<Buffer> temporaries;
  size_t used = 0;
};

/// Argument list of one call.
class HandlerCall {
public:
  void clear() {
    arguments.clear();
    integers.clear();
  }
  void add(void *pointer) { arguments.push_back(pointer); }
  void add(int64_t value) {
    integers.push_back(value);
    arguments.push_back(&integers.back());
  }
  void add(RecordView view) {
    add(view.head);
    add(view.slices);
  }
  /// One descriptor for each of the arguments `indices` of the program.
  void add(const std::vector<uint32_t> &indices,
           std::vector<std::vector<int64_t>> &descriptors) {
    for (uint32_t index : indices)
      arguments.push_back(descriptors[index].data());
  }
  void call(HandlerFunction function, uint8_t *scratch) {
    add(scratch);
    function(arguments.data());
  }

private:
  std::vector<void *> arguments;
  std::deque<int64_t> integers; // their addresses must not change
};

/// The operands of one collected channel, stacked.
struct Stack {
  int64_t count = 0;
  std::vector<uint8_t *> fields;
};

/// Copies whole records of one layout into stacked fields. Fails when memory is
/// short.
Status stackRecords(const Record &record, ArrayView<StoredRecord> sources,
                    CallMemory &memory, Stack &stack);

} // namespace dfrt::cpu

#endif // DFRT_LIB_CPU_HANDLERCALL_H
