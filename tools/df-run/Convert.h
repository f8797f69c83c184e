//===- Convert.h - Element types of tensors on the host ---------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes single tensor elements of every `ElementType`. Writing
// rounds to nearest even. A value beyond the largest finite one becomes
// infinity, or NaN in a type without infinities (f8E4M3FN), as
// `arith.truncf` does; integers wrap.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_CONVERT_H
#define DF_RUN_CONVERT_H

#include "dataflow/Schedule/Program.h"

#include <cstring>

namespace dfrt {

inline bool isInteger(ElementType type) { return type >= ElementType::i64; }

/// A binary floating-point format of at most 16 bits.
struct SmallFloat {
  int mantissaBits;
  int bias;
  uint16_t largest;  ///< code of the largest finite value
  uint16_t infinity; ///< code, or that of NaN where there is no infinity
  uint16_t nan;
  uint16_t sign;
};

inline constexpr SmallFloat kF16{10, 15, 0x7bff, 0x7c00, 0x7e00, 0x8000};
inline constexpr SmallFloat kBF16{7, 127, 0x7f7f, 0x7f80, 0x7fc0, 0x8000};
inline constexpr SmallFloat kF8E4M3FN{3, 7, 0x7e, 0x7f, 0x7f, 0x80};
inline constexpr SmallFloat kF8E5M2{2, 15, 0x7b, 0x7c, 0x7e, 0x80};

/// Code of the value of `format` nearest to `value`.
inline uint16_t encodeSmall(const SmallFloat &format, double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  uint16_t sign = bits >> 63 ? format.sign : 0;
  bits &= ~(1ull << 63);
  if (bits > 0x7ffull << 52)
    return sign | format.nan;
  int exponent = static_cast<int>(bits >> 52) - 1023;
  if (exponent > format.bias + 1)
    return sign | format.infinity;
  if (exponent < 1 - format.bias)
    exponent = 1 - format.bias;
  // In units of the last place; the multiplication is exact.
  uint64_t scaleBits =
      static_cast<uint64_t>(1023 + format.mantissaBits - exponent) << 52;
  double magnitude, scale;
  std::memcpy(&magnitude, &bits, sizeof(bits));
  std::memcpy(&scale, &scaleBits, sizeof(scaleBits));
  // Adding 2^52 rounds to an integer, to nearest even.
  const double rounder = 4503599627370496.0;
  double units = (magnitude * scale + rounder) - rounder;
  int code = ((exponent + format.bias) << format.mantissaBits) +
             static_cast<int>(units) - (1 << format.mantissaBits);
  return sign | (code > format.largest ? format.infinity
                                       : static_cast<uint16_t>(code));
}

/// Value of the code `code` of `format`.
double decodeSmall(const SmallFloat &format, uint16_t code);

/// Writes `value` as element `index` of the tensor at `base`. Meant for single
/// elements; bulk fills use `encodeSmall` in a loop of known type.
void storeElement(ElementType type, void *base, uint64_t index, double value);
/// The same for integers that a double cannot hold.
void storeInteger(ElementType type, void *base, uint64_t index, int64_t value);
/// Reads element `index` of the tensor at `base`.
double loadElement(ElementType type, const void *base, uint64_t index);
/// The same for an integer type.
int64_t loadInteger(ElementType type, const void *base, uint64_t index);

} // namespace dfrt

#endif // DF_RUN_CONVERT_H
