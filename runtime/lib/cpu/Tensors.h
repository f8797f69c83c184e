//===- Tensors.h - Tensor arguments of a launch -----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The caller's tensors, tested against the signature of the program, and what
// handlers see of them.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CPU_TENSORS_H
#define DFRT_LIB_CPU_TENSORS_H

#include "dataflow/Schedule/ArrayView.h"
#include "dataflow/Schedule/Program.h"

namespace dfrt {

/// A dense, row-major tensor in the caller's memory.
struct TensorView {
  ElementType element = ElementType::f32;
  void *data = nullptr;
  std::vector<int64_t> shape;
};

/// Elements of a shape, or -1 when the number does not fit 63 bits.
int64_t elementCount(const std::vector<int64_t> &shape);

/// Tests number, ranks, extents and element types of `tensors` against the
/// arguments of `program`, that data is there and aligned, and that no output
/// overlaps another tensor. With `reference` outputs must have reference types.
Status checkTensors(const Program &program, ArrayView<TensorView> tensors,
                    bool reference);

/// Element `index` of an integer tensor.
int64_t readInteger(const TensorView &tensor, int64_t index);

/// The value of `value` for a task at `coordinates`. Fails when it reads
/// outside its argument.
Expected<int64_t> evaluate(const Program &program, const PlanValue &value,
                           ArrayView<TensorView> tensors,
                           ArrayView<int64_t> coordinates);

/// MLIR's ranked memref descriptor of a tensor, as words.
std::vector<int64_t> makeDescriptor(const TensorView &tensor);

} // namespace dfrt

#endif // DFRT_LIB_CPU_TENSORS_H
