//===- Compare.h - Outputs against a float64 reference ----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The error of an output is |value - reference| / |reference| in the L2 norm
// over all finite elements. Infinities and NaNs must stand in the same places
// and be the same; integers must be equal.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_COMPARE_H
#define DF_RUN_COMPARE_H

#include "Report.h"
#include "Workload.h"

namespace dfrt {

/// The error that is accepted unless --tolerance says otherwise: that of
/// rounding to the element type, with some room for the arithmetic before it.
double defaultTolerance(ElementType element);

/// Compares the tensor at `values` with its reference, which has f64 elements
/// for a floating-point output and its own type for an integer output.
OutputCheck compareOutput(const BoundArgument &output, const void *values,
                          const void *reference, double tolerance);

/// "[2, 0, 17]": the coordinates of an element.
std::string formatIndex(const std::vector<int64_t> &shape, uint64_t element);

} // namespace dfrt

#endif // DF_RUN_COMPARE_H
