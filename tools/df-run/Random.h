//===- Random.h - Numbers as functions of seed and index --------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counter-based: element i of a stream costs the same whoever asks first, so
// threads may fill a tensor in any order.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_RANDOM_H
#define DF_RUN_RANDOM_H

#include <cstdint>

namespace dfrt {

/// Finaliser of splitmix64: a bijection that spreads every bit.
inline uint64_t scramble(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Element `index` of the stream `seed`.
inline uint64_t randomBits(uint64_t seed, uint64_t index) {
  return scramble(scramble(seed) + (index + 1) * 0x9e3779b97f4a7c15ull);
}

/// Uniform in [0, 1), 53 bits.
inline double randomUnit(uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// Mean 0, deviation 1, |x| <= 3.47: the sum of four uniform 16-bit numbers.
inline double randomNormal(uint64_t bits) {
  int64_t sum = static_cast<int64_t>((bits & 0xffff) + (bits >> 16 & 0xffff) +
                                     (bits >> 32 & 0xffff) + (bits >> 48));
  return static_cast<double>(sum - 131070) * 2.6428878e-05;
}

/// Uniform in 0 .. count - 1.
inline uint64_t randomBelow(uint64_t bits, uint64_t count) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(bits) * count >>
                               64);
}

} // namespace dfrt

#endif // DF_RUN_RANDOM_H
