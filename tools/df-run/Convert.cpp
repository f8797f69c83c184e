//===- Convert.cpp - Element types of tensors on the host -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Convert.h.
//
//===----------------------------------------------------------------------===//

#include "Convert.h"

#include <cmath>
#include <limits>

using namespace dfrt;

double dfrt::decodeSmall(const SmallFloat &format, uint16_t code) {
  bool negative = code & format.sign;
  int magnitude = code & (format.sign - 1);
  double value;
  if (magnitude <= format.largest) {
    int exponent = magnitude >> format.mantissaBits;
    int mantissa = magnitude & ((1 << format.mantissaBits) - 1);
    if (exponent == 0)
      exponent = 1;
    else
      mantissa += 1 << format.mantissaBits;
    value = std::ldexp(mantissa, exponent - format.bias - format.mantissaBits);
  } else if (magnitude == format.infinity && format.infinity != format.nan) {
    value = std::numeric_limits<double>::infinity();
  } else {
    value = std::numeric_limits<double>::quiet_NaN();
  }
  return negative ? -value : value;
}

template <typename T>
static void put(void *base, uint64_t index, T value) {
  std::memcpy(static_cast<char *>(base) + index * sizeof(T), &value,
              sizeof(value));
}

template <typename T>
static T get(const void *base, uint64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(base) + index * sizeof(T),
              sizeof(value));
  return value;
}

void dfrt::storeInteger(ElementType type, void *base, uint64_t index,
                        int64_t value) {
  switch (type) {
  case ElementType::i64:
    return put(base, index, value);
  case ElementType::i32:
    return put(base, index, static_cast<int32_t>(value));
  case ElementType::i16:
    return put(base, index, static_cast<int16_t>(value));
  case ElementType::i8:
    return put(base, index, static_cast<int8_t>(value));
  case ElementType::i1:
    return put(base, index, static_cast<int8_t>(value & 1));
  default:
    return storeElement(type, base, index, static_cast<double>(value));
  }
}

void dfrt::storeElement(ElementType type, void *base, uint64_t index,
                        double value) {
  switch (type) {
  case ElementType::f64:
    return put(base, index, value);
  case ElementType::f32:
    return put(base, index, static_cast<float>(value));
  case ElementType::f16:
    return put(base, index, encodeSmall(kF16, value));
  case ElementType::bf16:
    return put(base, index, encodeSmall(kBF16, value));
  case ElementType::f8E4M3FN:
    return put(base, index,
               static_cast<uint8_t>(encodeSmall(kF8E4M3FN, value)));
  case ElementType::f8E5M2:
    return put(base, index, static_cast<uint8_t>(encodeSmall(kF8E5M2, value)));
  default:
    return storeInteger(type, base, index, static_cast<int64_t>(value));
  }
}

double dfrt::loadElement(ElementType type, const void *base, uint64_t index) {
  switch (type) {
  case ElementType::f64:
    return get<double>(base, index);
  case ElementType::f32:
    return get<float>(base, index);
  case ElementType::f16:
    return decodeSmall(kF16, get<uint16_t>(base, index));
  case ElementType::bf16:
    return decodeSmall(kBF16, get<uint16_t>(base, index));
  case ElementType::f8E4M3FN:
    return decodeSmall(kF8E4M3FN, get<uint8_t>(base, index));
  case ElementType::f8E5M2:
    return decodeSmall(kF8E5M2, get<uint8_t>(base, index));
  default:
    return static_cast<double>(loadInteger(type, base, index));
  }
}

int64_t dfrt::loadInteger(ElementType type, const void *base, uint64_t index) {
  switch (type) {
  case ElementType::i64:
    return get<int64_t>(base, index);
  case ElementType::i32:
    return get<int32_t>(base, index);
  case ElementType::i16:
    return get<int16_t>(base, index);
  case ElementType::i8:
    return get<int8_t>(base, index);
  case ElementType::i1:
    return get<uint8_t>(base, index) ? 1 : 0;
  default:
    return static_cast<int64_t>(loadElement(type, base, index));
  }
}
