//===- CRC32.cpp - Checksum of plans and artifacts ------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Carry-less products where the processor has them, else eight table look-ups
// per eight bytes: a plan's checksum must cost less than making the plan.
//
//===----------------------------------------------------------------------===//

#include "CRC32.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

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

uint32_t updateByTables(uint32_t crc, const uint8_t *bytes, uint64_t size) {
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

#if defined(__x86_64__)
/// `value` times x^n, n given by `keys`, plus `next`.
__attribute__((target("pclmul"))) __m128i fold(__m128i value, __m128i keys,
                                               __m128i next) {
  __m128i low = _mm_clmulepi64_si128(value, keys, 0x00);
  __m128i high = _mm_clmulepi64_si128(value, keys, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/// Folds the bytes into 16 that have the same remainder (Gopal et al., "Fast
/// CRC Computation Using PCLMULQDQ"). `size`: a multiple of 64, not 0.
__attribute__((target("pclmul"))) uint32_t
updateByProducts(uint32_t crc, const uint8_t *bytes, uint64_t size) {
  const __m128i over64 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
  const __m128i over16 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
  auto load = [](const uint8_t *at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i *>(at));
  };
  __m128i lanes[4];
  for (int l = 0; l < 4; ++l)
    lanes[l] = load(bytes + 16 * l);
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(int(crc)));
  for (uint64_t at = 64; at < size; at += 64)
    for (int l = 0; l < 4; ++l)
      lanes[l] = fold(lanes[l], over64, load(bytes + at + 16 * l));
  __m128i rest = lanes[0];
  for (int l = 1; l < 4; ++l)
    rest = fold(rest, over16, lanes[l]);
  uint8_t last[16];
  _mm_storeu_si128(reinterpret_cast<__m128i *>(last), rest);
  return updateByTables(0, last, sizeof(last));
}

/// The same with four products a register, into 256 bytes. `size`: a multiple
/// of 256, not 0.
__attribute__((target("avx512f,vpclmulqdq"))) uint32_t
updateByWideProducts(uint32_t crc, const uint8_t *bytes, uint64_t size) {
  const __m512i over256 =
      _mm512_broadcast_i32x4(_mm_set_epi64x(0x1322d1430, 0x11542778a));
  __m512i lanes[4];
  for (int l = 0; l < 4; ++l)
    lanes[l] = _mm512_loadu_si512(bytes + 64 * l);
  lanes[0] = _mm512_xor_si512(
      lanes[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128(int(crc))));
  for (uint64_t at = 256; at < size; at += 256)
    for (int l = 0; l < 4; ++l) {
      __m512i next = _mm512_loadu_si512(bytes + at + 64 * l);
      __m512i low = _mm512_clmulepi64_epi128(lanes[l], over256, 0x00);
      __m512i high = _mm512_clmulepi64_epi128(lanes[l], over256, 0x11);
      lanes[l] = _mm512_ternarylogic_epi64(low, high, next, 0x96); // xor
    }
  uint8_t last[256];
  for (int l = 0; l < 4; ++l)
    _mm512_storeu_si512(last + 64 * l, lanes[l]);
  return updateByProducts(0, last, sizeof(last));
}
#endif

uint32_t update(uint32_t crc, const uint8_t *bytes, uint64_t size) {
#if defined(__x86_64__)
  static const bool hasWideProducts = __builtin_cpu_supports("avx512f") &&
                                      __builtin_cpu_supports("vpclmulqdq") &&
                                      __builtin_cpu_supports("pclmul");
  if (uint64_t folded = size / 256 * 256; hasWideProducts && folded) {
    crc = updateByWideProducts(crc, bytes, folded);
    bytes += folded;
    size -= folded;
  }
  static const bool hasProducts = __builtin_cpu_supports("pclmul");
  if (uint64_t folded = size / 64 * 64; hasProducts && folded) {
    crc = updateByProducts(crc, bytes, folded);
    bytes += folded;
    size -= folded;
  }
#endif
  return updateByTables(crc, bytes, size);
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
