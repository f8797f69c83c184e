//===- Records.cpp - Fields, rows and slices of records in memory ---------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Records.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace dfrt;
using namespace dfrt::cpu;

uint64_t cpu::fieldBytes(const Field &field) {
  uint64_t bytes = elementBytes(field.element);
  for (int64_t extent : field.shape)
    bytes *= uint64_t(extent);
  return bytes;
}

/// Calls `visit(denseOffset, recordOffset, bytes)` for every contiguous run of
/// the dense bytes [begin, end) of `field`.
template <typename Visit>
static void forEachRun(const Record &record, const Field &field, uint64_t begin,
                       uint64_t end, Visit visit) {
  if (begin >= end)
    return;
  if (field.separable < 0) {
    visit(begin, field.offset + begin, end - begin);
    return;
  }
  uint64_t extent = uint64_t(field.shape[size_t(field.separable)]);
  uint64_t unit = elementBytes(field.element);
  for (size_t d = size_t(field.separable) + 1; d < field.shape.size(); ++d)
    unit *= uint64_t(field.shape[d]);
  uint64_t block = extent * unit;
  uint64_t part = block / record.slices;
  for (uint64_t outer = begin / block; outer * block < end; ++outer)
    for (uint64_t slice = 0; slice < record.slices; ++slice) {
      uint64_t runBegin = outer * block + slice * part;
      uint64_t first = std::max(begin, runBegin);
      uint64_t last = std::min(end, runBegin + part);
      if (first < last)
        visit(first,
              record.headBytes + slice * record.sliceBytes + field.offset +
                  outer * part + (first - runBegin),
              last - first);
    }
}

void cpu::copyField(const StoredRecord &source, const Field &field,
                    uint8_t *target) {
  forEachRun(*source.record, field, 0, fieldBytes(field),
             [&](uint64_t dense, uint64_t stored, uint64_t bytes) {
               std::memcpy(target + dense, source.base + stored, bytes);
             });
}

void cpu::copyRow(const StoredRecord &source, uint32_t row,
                  const Record &targetRecord, uint8_t *target) {
  for (size_t f = 0; f < targetRecord.fields.size(); ++f) {
    const Field &from = source.record->fields[f];
    const Field &to = targetRecord.fields[f];
    uint64_t rowBytes = fieldBytes(to);
    uint64_t begin = row * rowBytes;
    forEachRun(*source.record, from, begin, begin + rowBytes,
               [&](uint64_t dense, uint64_t stored, uint64_t bytes) {
                 uint64_t inRow = dense - begin;
                 forEachRun(targetRecord, to, inRow, inRow + bytes,
                            [&](uint64_t d, uint64_t s, uint64_t b) {
                              std::memcpy(target + s,
                                          source.base + stored + (d - inRow),
                                          b);
                            });
               });
  }
}

bool cpu::rowFits(const Record &source, uint32_t row, const Record &target) {
  if (source.fields.size() != target.fields.size())
    return false;
  for (size_t f = 0; f < source.fields.size(); ++f) {
    const Field &from = source.fields[f];
    if (from.element != target.fields[f].element || from.shape.empty() ||
        row >= uint64_t(from.shape[0]) ||
        fieldBytes(from) !=
            fieldBytes(target.fields[f]) * uint64_t(from.shape[0]))
      return false;
  }
  return true;
}

bool cpu::sameLayout(const Record &a, const Record &b) {
  if (a.fields.size() != b.fields.size() || a.slices != b.slices ||
      a.headBytes != b.headBytes || a.sliceBytes != b.sliceBytes)
    return false;
  for (size_t f = 0; f < a.fields.size(); ++f)
    if (a.fields[f].element != b.fields[f].element ||
        a.fields[f].offset != b.fields[f].offset ||
        a.fields[f].separable != b.fields[f].separable ||
        fieldBytes(a.fields[f]) != fieldBytes(b.fields[f]))
      return false;
  return true;
}

void Buffer::Free::operator()(uint8_t *pointer) const { std::free(pointer); }

uint8_t *Buffer::reserve(uint64_t bytes) {
  if (bytes > size || !memory) {
    if (bytes > (uint64_t(1) << 56))
      return nullptr;
    uint64_t rounded = (std::max<uint64_t>(bytes, 1) + 127) & ~uint64_t(127);
    memory.reset(static_cast<uint8_t *>(std::aligned_alloc(128, rounded)));
    size = memory ? rounded : 0;
  }
  return memory.get();
}
