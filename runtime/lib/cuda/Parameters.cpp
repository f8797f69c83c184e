//===- Parameters.cpp - The parameter of a kernel -------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dfrt/cuda/Launcher.h"
#include "dfrt/cuda/TensorMap.h"

#include "DeviceState.h"

#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;

static_assert(sizeof(TensorMap) == DFRT_TENSOR_MAP_BYTES);

/// Fails unless `argument` suits what the kernel asks of it.
static Status checkArgument(const Kernel &kernel, size_t index,
                            const KernelArgument &argument) {
  if (argument.descriptor.size() != 3 + 2 * argument.shape.size())
    return failure(StatusCode::internalError, "argument '", argument.name,
                   "': a descriptor of ", argument.descriptor.size(),
                   " words for rank ", argument.shape.size());
  uint64_t alignment = index < kernel.argumentAlignment.size()
                           ? kernel.argumentAlignment[index]
                           : 1;
  if (alignment && argument.address % alignment)
    return failure(StatusCode::invalidArgument, "argument '", argument.name,
                   "': the address ", argument.address, " is no multiple of ",
                   alignment, " bytes, which kernel '", kernel.symbol,
                   "' needs");
  return Status::success();
}

/// What the copy engine calls an element; it moves bits, so a type that it does
/// not know goes as an integer of the same width.
static MapElement mapElement(ElementType element) {
  switch (element) {
  case ElementType::f64:
    return MapElement::f64;
  case ElementType::f32:
    return MapElement::f32;
  case ElementType::f16:
    return MapElement::f16;
  case ElementType::bf16:
    return MapElement::bf16;
  case ElementType::i64:
    return MapElement::i64;
  case ElementType::i32:
    return MapElement::i32;
  case ElementType::i16:
    return MapElement::u16;
  case ElementType::f8E4M3FN:
  case ElementType::f8E5M2:
  case ElementType::i8:
  case ElementType::i1:
    return MapElement::u8;
  }
  return MapElement::u8;
}

/// Makes the map of a bound argument. One without elements has none: zeros.
static Status makeMap(const Device &device, const TensorMapSpec &spec,
                      const KernelArgument &argument, TensorMap &map) {
  static_assert(TensorMapSpec::kMaxRank == TensorMapDescription::kMaxRank);
  TensorMapDescription description;
  description.name = argument.name;
  description.element = mapElement(spec.element);
  description.rank = uint32_t(spec.dimensions.size());
  description.address = argument.address;
  description.swizzle = MapSwizzle(spec.swizzle);
  description.promotion = MapPromotion(spec.promotion);
  description.fill = MapFill(spec.fill);
  for (int64_t extent : argument.shape)
    if (!extent)
      return Status::success();
  for (uint32_t d = 0; d < description.rank; ++d) {
    const TensorMapSpec::Dimension &dimension = spec.dimensions[d];
    if (dimension.last >= argument.shape.size() || !dimension.unit)
      return failure(StatusCode::invalidFile, "tensor map of '", argument.name,
                     "': dimensions ", dimension.first, " to ", dimension.last,
                     " in steps of ", dimension.unit,
                     " do not exist; build the artifact again");
    uint64_t elements = 1, behind = 1;
    for (uint32_t i = dimension.first; i <= dimension.last; ++i)
      elements *= uint64_t(argument.shape[i]);
    for (size_t i = dimension.last + 1; i < argument.shape.size(); ++i)
      behind *= uint64_t(argument.shape[i]);
    uint64_t unit = dimension.unit, steps = dimension.limit;
    if (!steps) {
      if (elements % unit)
        return failure(StatusCode::invalidArgument, "argument '", argument.name,
                       "': its dimensions ", dimension.first, " to ",
                       dimension.last, " have ", elements,
                       " elements, no multiple of ", unit,
                       ", in which the kernel's copies count them");
      steps = elements / unit;
    }
    // Coordinates have 32 bits and a sign.
    if (steps > (uint64_t(1) << 31))
      return failure(StatusCode::invalidArgument, "argument '", argument.name,
                     "': ", steps, " steps along dimensions ", dimension.first,
                     " to ", dimension.last,
                     ", more than a copy can count (2^31)");
    description.extents[d] = steps;
    description.strides[d] = bytesOf(description.element) * behind * unit;
    description.box[d] = dimension.box;
  }
  Expected<TensorMap> made = makeTensorMap(device, description);
  if (!made)
    return made.status();
  map = *made;
  return Status::success();
}

Expected<std::vector<uint8_t>>
cuda::makeParameters(const Device &device, const Kernel &kernel,
                     const dfrt_kernel_parameters &head,
                     const std::vector<KernelArgument> &arguments) {
  std::vector<uint8_t> block(sizeof(head));
  std::memcpy(block.data(), &head, sizeof(head));
  auto append = [&](const void *bytes, size_t size) {
    const uint8_t *first = static_cast<const uint8_t *>(bytes);
    block.insert(block.end(), first, first + size);
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    DFRT_TRY(checkArgument(kernel, i, arguments[i]));
    append(arguments[i].descriptor.data(),
           arguments[i].descriptor.size() * sizeof(int64_t));
  }
  block.resize((block.size() + 63) / 64 * 64);
  for (const TensorMapSpec &spec : kernel.maps) {
    if (spec.argument >= arguments.size())
      return failure(StatusCode::invalidFile, "kernel '", kernel.symbol,
                     "': a tensor map is of argument ", spec.argument,
                     ", the program has ", arguments.size(),
                     "; build the artifact again");
    TensorMap map;
    DFRT_TRY(makeMap(device, spec, arguments[spec.argument], map));
    append(map.words, sizeof(map.words));
  }
  if (block.size() != kernel.parameterBytes)
    return failure(StatusCode::invalidArgument, "kernel '", kernel.symbol,
                   "': its parameter has ", kernel.parameterBytes,
                   " bytes, but these ", arguments.size(), " arguments make ",
                   block.size(), "; build the artifact again");
  return block;
}
