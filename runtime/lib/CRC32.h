//===- CRC32.h - Checksum of plans and artifacts ----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CRC-32 as in IEEE 802.3 (reflected polynomial 0xedb88320, initial value and
// final inversion of all ones).
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CRC32_H
#define DFRT_LIB_CRC32_H

#include <cstdint>

namespace dfrt {

/// Checksum of `size` bytes, of which the four at `hole` count as zero.
uint32_t crc32WithHole(const uint8_t *bytes, uint64_t size, uint64_t hole);

} // namespace dfrt

#endif // DFRT_LIB_CRC32_H
