//===- Records.h - Fields, rows and slices of records in memory -*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the elements of a record's fields lie, and the copies that a handler's
// calling convention asks for: rows, stacked fields, runs of slices.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CPU_RECORDS_H
#define DFRT_LIB_CPU_RECORDS_H

#include "dataflow/Schedule/Program.h"

#include <memory>

namespace dfrt::cpu {

/// What a handler gets of a record: its head and its first slice.
struct RecordView {
  uint8_t *head = nullptr;
  uint8_t *slices = nullptr;
};

/// A record, or its head and some slices, in memory.
struct StoredRecord {
  const Record *record = nullptr;
  uint8_t *base = nullptr;
  uint32_t sliceBegin = 0; ///< the first slice that is there

  /// View whose first slice is `slice`. A record of one slice has the same
  /// view for every slice of its consumer.
  RecordView view(uint32_t slice) const {
    uint32_t skip = record->slices > 1 ? slice - sliceBegin : 0;
    uint8_t *slices = base + record->headBytes;
    return {base, slices + skip * record->sliceBytes};
  }
};

/// Bytes of a field, dense.
uint64_t fieldBytes(const Field &field);

/// Copies a whole field of a stored whole record to `target`, dense.
void copyField(const StoredRecord &source, const Field &field, uint8_t *target);

/// Copies row `row` (of the first dimension) of every field of `source`, a
/// whole record, to `target`, a whole record of `targetRecord`'s layout.
void copyRow(const StoredRecord &source, uint32_t row,
             const Record &targetRecord, uint8_t *target);

/// True if a row of `source` fills a record of layout `target`.
bool rowFits(const Record &source, uint32_t row, const Record &target);

/// True if the two records have the same fields in the same places.
bool sameLayout(const Record &a, const Record &b);

/// Memory aligned to 128 bytes that grows and is never copied.
class Buffer {
public:
  /// At least `bytes` bytes with unspecified contents, or null.
  uint8_t *reserve(uint64_t bytes);
  uint8_t *data() const { return memory.get(); }

private:
  struct Free {
    void operator()(uint8_t *pointer) const;
  };
  std::unique_ptr<uint8_t, Free> memory;
  uint64_t size = 0;
};

} // namespace dfrt::cpu

#endif // DFRT_LIB_CPU_RECORDS_H
