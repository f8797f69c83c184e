//===- Tensors.cpp - Tensor arguments of a launch -------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors.h"

#include "dataflow/Schedule/Message.h"
#include "dfrt/Artifact.h"

using namespace dfrt;

int64_t dfrt::elementCount(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  bool overflow = false;
  for (int64_t extent : shape) {
    if (extent == 0)
      return 0;
    overflow |= __builtin_mul_overflow(count, extent, &count);
  }
  return overflow ? -1 : count;
}

static Status checkTensor(const Argument &argument, const TensorView &tensor,
                          bool reference) {
  auto fail = [&](const auto &...parts) {
    return failure(StatusCode::invalidArgument, "argument '", argument.name,
                   "'", parts...);
  };
  ElementType element = reference && argument.output
                            ? referenceElement(argument.element)
                            : argument.element;
  if (tensor.element != element)
    return fail(": expected elements ", elementName(element), ", got ",
                elementName(tensor.element));
  if (tensor.shape.size() != argument.shape.size())
    return fail(": expected rank ", argument.shape.size(), ", got ",
                tensor.shape.size());
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    int64_t expected = argument.shape[d], got = tensor.shape[d];
    if (got < 0)
      return fail(" dimension ", d, ": extent ", got, " is negative");
    if (expected >= 0 && got != expected)
      return fail(" dimension ", d, ": expected ", expected, ", got ", got);
  }
  int64_t count = elementCount(tensor.shape);
  int64_t bytes;
  if (count < 0 ||
      __builtin_mul_overflow(count, int64_t(elementBytes(element)), &bytes))
    return fail(": the shape has more than 2^63 bytes");
  if (count > 0 && !tensor.data)
    return fail(": the data pointer is null");
  if (reinterpret_cast<uintptr_t>(tensor.data) % elementBytes(element))
    return fail(": the data is not aligned to ", elementBytes(element),
                " bytes");
  return Status::success();
}

Status dfrt::checkTensors(const Program &program, ArrayView<TensorView> tensors,
                          bool reference) {
  if (tensors.size() != program.arguments.size())
    return failure(StatusCode::invalidArgument, "program '", program.name,
                   "' takes ", program.arguments.size(), " arguments, got ",
                   tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i)
    DFRT_TRY(checkTensor(program.arguments[i], tensors[i], reference));

  auto begin = [&](size_t i) {
    return reinterpret_cast<uintptr_t>(tensors[i].data);
  };
  auto end = [&](size_t i) {
    return begin(i) + uint64_t(elementCount(tensors[i].shape)) *
                          elementBytes(tensors[i].element);
  };
  for (size_t o = 0; o < tensors.size(); ++o) {
    if (!program.arguments[o].output)
      continue;
    for (size_t i = 0; i < tensors.size(); ++i)
      if (i != o && begin(o) < end(i) && begin(i) < end(o))
        return failure(StatusCode::invalidArgument, "output '",
                       program.arguments[o].name, "' overlaps argument '",
                       program.arguments[i].name, "'");
  }
  return Status::success();
}

int64_t dfrt::readInteger(const TensorView &tensor, int64_t index) {
  switch (tensor.element) {
  case ElementType::i64:
    return static_cast<const int64_t *>(tensor.data)[index];
  case ElementType::i32:
    return static_cast<const int32_t *>(tensor.data)[index];
  case ElementType::i16:
    return static_cast<const int16_t *>(tensor.data)[index];
  case ElementType::i8:
    return static_cast<const int8_t *>(tensor.data)[index];
  case ElementType::i1:
    return static_cast<const uint8_t *>(tensor.data)[index] & 1;
  default:
    return 0; // check(Program) lets only integers be read
  }
}

Expected<int64_t> dfrt::evaluate(const Program &program, const PlanValue &value,
                                 ArrayView<TensorView> tensors,
                                 ArrayView<int64_t> coordinates) {
  if (value.kind == PlanValue::Kind::constant)
    return value.constant;
  const TensorView &tensor = tensors[value.argument];
  if (value.kind == PlanValue::Kind::dimension)
    return tensor.shape[value.dimension];
  int64_t index = 0;
  for (size_t d = 0; d < value.axes.size(); ++d) {
    int64_t coordinate = coordinates[value.axes[d]];
    if (coordinate < 0 || coordinate >= tensor.shape[d])
      return failure(StatusCode::invalidArgument, "argument '",
                     program.arguments[value.argument].name, "' dimension ", d,
                     ": index ", coordinate, " is outside the extent ",
                     tensor.shape[d]);
    index = index * tensor.shape[d] + coordinate;
  }
  return readInteger(tensor, index);
}

std::vector<int64_t> dfrt::makeDescriptor(const TensorView &tensor) {
  size_t rank = tensor.shape.size();
  std::vector<int64_t> words(3 + 2 * rank);
  words[0] = words[1] = int64_t(reinterpret_cast<intptr_t>(tensor.data));
  int64_t stride = 1;
  for (size_t d = rank; d-- > 0;) {
    words[3 + d] = tensor.shape[d];
    words[3 + rank + d] = stride;
    stride *= tensor.shape[d];
  }
  return words;
}
