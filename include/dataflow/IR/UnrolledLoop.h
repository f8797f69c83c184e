//===- UnrolledLoop.h - Loops lowered several iterations at a time --------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An `scf.for` of a part with fragments may have the attribute
// `dataflow.unroll = n`: its body is lowered n times, so that n iterations have
// registers of their own for what they hand on. Its bounds are constants, and
// the number of its iterations a multiple of n; where it is n, there is no loop
// any more.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_IR_UNROLLEDLOOP_H
#define DATAFLOW_IR_UNROLLEDLOOP_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::df {

inline constexpr llvm::StringLiteral kUnrollAttrName = "dataflow.unroll";

/// How many iterations a loop has, where that is known.
inline std::optional<int64_t> getTrips(scf::ForOp loop) {
  std::optional<int64_t> begin = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> end = getConstantIntValue(loop.getUpperBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!begin || !end || !step || *step < 1)
    return std::nullopt;
  return llvm::divideCeil(std::max<int64_t>(*end - *begin, 0), *step);
}

/// How many iterations of a loop are lowered at a time; nothing where the
/// number of its iterations is not known to be a multiple.
inline std::optional<int64_t> getUnroll(scf::ForOp loop) {
  auto times = loop->getAttrOfType<IntegerAttr>(kUnrollAttrName);
  if (!times)
    return 1;
  std::optional<int64_t> trips = getTrips(loop);
  if (times.getInt() < 1 || !trips || *trips % times.getInt())
    return std::nullopt;
  return times.getInt();
}

} // namespace mlir::df

#endif // DATAFLOW_IR_UNROLLEDLOOP_H
