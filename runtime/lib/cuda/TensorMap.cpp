//===- TensorMap.cpp - Descriptors of tensors for bulk copies -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dfrt/cuda/TensorMap.h"

#include "DeviceState.h"

#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;
using api::Result;

uint32_t cuda::bytesOf(MapElement element) {
  switch (element) {
  case MapElement::u8:
    return 1;
  case MapElement::u16:
  case MapElement::f16:
  case MapElement::bf16:
    return 2;
  case MapElement::u32:
  case MapElement::i32:
  case MapElement::f32:
    return 4;
  case MapElement::u64:
  case MapElement::i64:
  case MapElement::f64:
    return 8;
  }
  return 0;
}

static bool isFloat(MapElement element) {
  return element == MapElement::f16 || element == MapElement::bf16 ||
         element == MapElement::f32 || element == MapElement::f64;
}

Status cuda::checkTensorMap(const TensorMapDescription &map) {
  auto wrong = [&](const auto &...why) {
    return failure(StatusCode::invalidArgument, "tensor map of '", map.name,
                   "': ", why...);
  };
  uint32_t size = bytesOf(map.element);
  if (!size)
    return wrong("element ", uint32_t(map.element), " is unknown");
  if (map.rank < 1 || map.rank > map.kMaxRank)
    return wrong("rank ", map.rank, " is not 1 to ", map.kMaxRank);
  if (map.swizzle > MapSwizzle::b128 || map.promotion > MapPromotion::b256 ||
      map.fill > MapFill::nan)
    return wrong("swizzle ", uint32_t(map.swizzle), ", promotion ",
                 uint32_t(map.promotion), " or fill ", uint32_t(map.fill),
                 " is unknown");
  if (!map.address || map.address % 16)
    return wrong("address ", map.address,
                 " is null or no multiple of 16 bytes");
  for (uint32_t d = 0; d < map.rank; ++d) {
    if (!map.extents[d])
      return wrong("dimension ", d, " is empty: skip the copy instead");
    if (map.extents[d] > (uint64_t(1) << 32))
      return wrong("dimension ", d, " has ", map.extents[d],
                   " elements, more than 2^32");
    if (map.box[d] < 1 || map.box[d] > 256)
      return wrong("the box has ", map.box[d], " elements in dimension ", d,
                   ", which is not 1 to 256");
    if (!d)
      continue;
    if (map.strides[d] % 16)
      return wrong("the stride of dimension ", d, " is ", map.strides[d],
                   " bytes, no multiple of 16");
    if (!map.strides[d] || map.strides[d] >= (uint64_t(1) << 40))
      return wrong("the stride of dimension ", d, " is ", map.strides[d],
                   " bytes, which is not 16 to 2^40 - 16");
  }
  uint32_t inner = map.box[0] * size;
  if (inner % 16)
    return wrong("the box is ", inner,
                 " bytes wide in dimension 0, no multiple of 16");
  if (map.swizzle != MapSwizzle::none) {
    uint32_t span = 16u << uint32_t(map.swizzle);
    if (inner > span)
      return wrong("the box is ", inner,
                   " bytes wide in dimension 0, more than the swizzle's ",
                   span);
  }
  if (map.fill == MapFill::nan && !isFloat(map.element))
    return wrong("the fill is NaN, but the element is an integer");
  return Status::success();
}

Expected<TensorMap> cuda::makeTensorMap(const Device &device,
                                        const TensorMapDescription &map) {
  DFRT_TRY(requireHandle(device.shared().get(), "device"));
  DFRT_TRY(checkTensorMap(map));
  if (!device.report().tensorMaps)
    return failure(StatusCode::unsupported, "tensor map of '", map.name, "': '",
                   device.report().name, "' has none");
  uint64_t strides[TensorMapDescription::kMaxRank] = {};
  uint32_t steps[TensorMapDescription::kMaxRank];
  for (uint32_t d = 0; d < map.kMaxRank; ++d) {
    steps[d] = 1;
    if (d + 1 < map.rank)
      strides[d] = map.strides[d + 1];
  }
  // The call touches no device memory, but the driver wants a current context.
  DFRT_CUDA_ENTER(*device.shared());
  api::TensorMapBytes bytes = {};
  Result result = device.shared()->table().cuTensorMapEncodeTiled(
      &bytes, int(map.element), map.rank,
      reinterpret_cast<void *>(uintptr_t(map.address)), map.extents, strides,
      map.box, steps, /*interleave=*/0, int(map.swizzle), int(map.promotion),
      int(map.fill));
  if (result != Result::success) {
    std::string detail = textOf("rank ", map.rank, ", extents");
    for (uint32_t d = 0; d < map.rank; ++d)
      detail += textOf(" ", map.extents[d]);
    detail += ", box";
    for (uint32_t d = 0; d < map.rank; ++d)
      detail += textOf(" ", map.box[d]);
    return device.shared()->callFailure(
        "cuTensorMapEncodeTiled", result,
        textOf("tensor map of '", map.name, "'"), detail,
        "check extents, strides and box of the argument");
  }
  TensorMap made;
  static_assert(sizeof(made) == sizeof(bytes));
  std::memcpy(made.words, bytes.words, sizeof(made.words));
  return made;
}
