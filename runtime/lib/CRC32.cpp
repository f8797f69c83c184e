//===- CRC32.cpp - Checksum of plans and artifacts ------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Eight table look-ups per eight bytes: a plan's checksum must not cost more
// than making the plan.
//
//===----------------------------------------------------------------------===//

#include "CRC32.h"

#include <array>
#include <cstring>

using namespace dfrt;

namespace {
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables makeTables() {
  Tables tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit)
      value = (value >> 1) ^ ((value & 1) ? 0xedb88320u : 0u);
    tables[0][i] = value;
  }
  for (uint32_t i = 0; i < 256; ++i)
    for (size_t t = 1; t < 8; ++t)
      tables[t][i] =
          (tables[t - 1][i] >> 8) ^ tables[0][tables[t - 1][i] & 0xff];
  return tables;
}
constexpr Tables kTables = makeTables();

uint32_t update(uint32_t crc, const uint8_t *bytes, uint64_t size) {
  while (size >= 8) {
    uint32_t low, high;
    std::memcpy(&low, bytes, 4);
    std::memcpy(&high, bytes + 4, 4);
    low ^= crc;
    crc = kTables[7][low & 0xff] ^ kTables[6][(low >> 8) & 0xff] ^
          kTables[5][(low >> 16) & 0xff] ^ kTables[4][low >> 24] ^
          kTables[3][high & 0xff] ^ kTables[2][(high >> 8) & 0xff] ^
          kTables[1][(high >> 16) & 0xff] ^ kTables[0][high >> 24];
    bytes += 8;
    size -= 8;
  }
  for (; size; --size)
    crc = (crc >> 8) ^ kTables[0][(crc ^ *bytes++) & 0xff];
  return crc;
}
} // namespace

uint32_t dfrt::crc32WithHole(const uint8_t *bytes, uint64_t size,
                             uint64_t hole) {
  const uint8_t zero[4] = {};
  uint32_t crc = update(0xffffffffu, bytes, hole);
  crc = update(crc, zero, 4);
  crc = update(crc, bytes + hole + 4, size - hole - 4);
  return ~crc;
}
