//===- RecordsTest.cpp - Fields, rows and slices in memory ----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the copies with an element-by-element model of the layout.
//
//===----------------------------------------------------------------------===//

#include "cpu/Records.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace dfrt;
using namespace dfrt::cpu;

namespace {
/// Byte offset of element `index` (row-major) of a field in a whole record.
uint64_t offsetOf(const Record &record, const Field &field, uint64_t index) {
  uint64_t bytes = elementBytes(field.element);
  if (field.separable < 0)
    return field.offset + index * bytes;
  uint64_t inner = 1;
  for (size_t d = size_t(field.separable) + 1; d < field.shape.size(); ++d)
    inner *= uint64_t(field.shape[d]);
  uint64_t extent = uint64_t(field.shape[size_t(field.separable)]);
  uint64_t width = extent / record.slices;
  uint64_t i = index % inner, s = index / inner % extent,
           o = index / inner / extent;
  return record.headBytes + s / width * record.sliceBytes + field.offset +
         ((o * width + s % width) * inner + i) * bytes;
}

uint64_t elements(const Field &field) {
  return fieldBytes(field) / elementBytes(field.element);
}

Record makeRecord(std::vector<Field> fields, uint32_t slices) {
  Record record;
  record.fields = std::move(fields);
  record.slices = slices;
  EXPECT_TRUE(layoutRecord(record).ok());
  return record;
}

/// Field values that tell field and element.
int32_t mark(size_t field, uint64_t index) {
  return int32_t(field * 1000 + index);
}

std::vector<uint8_t> filled(const Record &record) {
  std::vector<uint8_t> bytes(record.bytes(), 0xee);
  for (size_t f = 0; f < record.fields.size(); ++f)
    for (uint64_t i = 0; i < elements(record.fields[f]); ++i) {
      int32_t value = mark(f, i);
      std::memcpy(&bytes[offsetOf(record, record.fields[f], i)], &value, 4);
    }
  return bytes;
}
} // namespace

TEST(Records, FieldsAreCopiedDense) {
  Record record = makeRecord({{"a", ElementType::i32, {3}, -1, 0},
                              {"b", ElementType::i32, {3, 8, 2}, 1, 0},
                              {"c", ElementType::i32, {8, 5}, 0, 0}},
                             4);
  std::vector<uint8_t> bytes = filled(record);
  for (size_t f = 0; f < record.fields.size(); ++f) {
    std::vector<int32_t> dense(elements(record.fields[f]));
    copyField({&record, bytes.data(), 0}, record.fields[f],
              reinterpret_cast<uint8_t *>(dense.data()));
    for (uint64_t i = 0; i < dense.size(); ++i)
      EXPECT_EQ(dense[i], mark(f, i));
  }
}

TEST(Records, RowsAreCopiedBetweenLayouts) {
  Record rows = makeRecord({{"a", ElementType::i32, {3}, -1, 0},
                            {"b", ElementType::i32, {3, 8, 2}, 1, 0}},
                           4);
  Record row = makeRecord({{"a", ElementType::i32, {}, -1, 0},
                           {"b", ElementType::i32, {8, 2}, 0, 0}},
                          2);
  std::vector<uint8_t> bytes = filled(rows);
  for (uint32_t r = 0; r < 3; ++r) {
    ASSERT_TRUE(rowFits(rows, r, row));
    std::vector<uint8_t> copy(row.bytes(), 0);
    copyRow({&rows, bytes.data(), 0}, r, row, copy.data());
    for (size_t f = 0; f < 2; ++f)
      for (uint64_t i = 0; i < elements(row.fields[f]); ++i) {
        int32_t value;
        std::memcpy(&value, &copy[offsetOf(row, row.fields[f], i)], 4);
        EXPECT_EQ(value, mark(f, r * elements(row.fields[f]) + i));
      }
  }
  EXPECT_FALSE(rowFits(rows, 3, row));
  EXPECT_FALSE(rowFits(row, 0, rows));
}
