//===- TensorMap.h - Descriptors of tensors for bulk copies -----*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor map tells the copy engine how a tensor lies in memory and which box
// of it a copy moves. It holds the tensor's address, so it is made when an
// argument is bound; binding another pointer makes another map and recompiles
// nothing. The driver's only answer to a bad description is "invalid value";
// ours is checked first, and the message names the dimension, the limit and the
// value.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_CUDA_TENSORMAP_H
#define DFRT_CUDA_TENSORMAP_H

#include "dfrt/cuda/Device.h"

#include <string>

namespace dfrt::cuda {

/// Element of a tensor map; the values are the driver's.
enum class MapElement : uint32_t {
  u8 = 0,
  u16 = 1,
  u32 = 2,
  i32 = 3,
  u64 = 4,
  i64 = 5,
  f16 = 6,
  f32 = 7,
  f64 = 8,
  bf16 = 9,
};
uint32_t bytesOf(MapElement element);

/// How 16-byte pieces of a box are permuted in shared memory.
enum class MapSwizzle : uint32_t { none = 0, b32 = 1, b64 = 2, b128 = 3 };
/// What the L2 fetches at a time.
enum class MapPromotion : uint32_t { none = 0, b64 = 1, b128 = 2, b256 = 3 };
/// What is read outside the tensor.
enum class MapFill : uint32_t { zero = 0, nan = 1 };

/// A tensor and a box. Dimension 0 is the one whose elements are contiguous.
struct TensorMapDescription {
  static constexpr uint32_t kMaxRank = 5;
  std::string name; ///< how messages call it
  MapElement element = MapElement::u8;
  uint32_t rank = 0;
  uint64_t address = 0; ///< a multiple of 16
  uint64_t extents[kMaxRank] = {};
  /// Bytes from one index to the next, of dimensions 1 to rank - 1; [0] unused.
  uint64_t strides[kMaxRank] = {};
  uint32_t box[kMaxRank] = {}; ///< elements
  MapSwizzle swizzle = MapSwizzle::none;
  MapPromotion promotion = MapPromotion::none;
  MapFill fill = MapFill::zero;
};

/// The descriptor; a kernel takes it by value, as a parameter that it aligns to
/// 64 bytes. On the host it may lie anywhere.
struct TensorMap {
  uint64_t words[16] = {};
};
static_assert(sizeof(TensorMap) == 128);

/// Tests everything that the driver would refuse.
Status checkTensorMap(const TensorMapDescription &description);

/// Makes the descriptor. A tensor with an empty dimension has none: such
/// arguments never reach the copy engine.
Expected<TensorMap> makeTensorMap(const Device &device,
                                  const TensorMapDescription &description);

} // namespace dfrt::cuda

#endif // DFRT_CUDA_TENSORMAP_H
