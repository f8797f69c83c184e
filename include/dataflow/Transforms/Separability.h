//===- Separability.h - Which records can be cut into slices ----*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduce is separable along a dimension when its handler, and the handlers of
// the finalize stages that read its records, treat every index of that
// dimension alike and by itself. Then several instructions can each compute a
// slice of the record. Nobody declares this; it is read off the bodies:
//
// - a field is *separable* along dimension d when the result's index i along d
//   depends on index i of the separable fields and on all of the others;
// - a field is a *statistic* when it does not depend on separable fields;
// - in a finalize, separable values may only reach an output tensor through
//   tensor.insert_slice, and statistics anything but separable values.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TRANSFORMS_SEPARABILITY_H
#define DATAFLOW_TRANSFORMS_SEPARABILITY_H

#include "dataflow/IR/Dataflow.h"

#include <optional>
#include <string>

namespace mlir::df {

/// How the records of a reduce are cut.
struct Separability {
  uint32_t slices = 1;       ///< at least 2
  SmallVector<int32_t> dims; ///< one a field; -1: a statistic
};

/// Finds the dimension that gives most slices. `slices` is the largest divisor
/// of its extent that is at most 64 and leaves every row of a slice at least 16
/// bytes where the dimension is a field's innermost one. Returns nothing, and a
/// reason in `whyNot`, when no dimension will do: the consumers must be
/// finalize stages without a range and with this input only (moves may lie in
/// between), and shapes must be static.
std::optional<Separability> analyzeSeparability(ReduceOp reduce,
                                                std::string *whyNot = nullptr);

/// The handler of `stage`, a reduce with this separability or a finalize behind
/// it, for one slice: separable values are as wide as a slice, an index
/// argument `slice` follows the coordinates, insert_slice goes to the slice's
/// place, and outputs that no separable field reaches are written for slice 0
/// only. The clone is called "<handler>_sliced", marked as a variant, and not
/// inserted anywhere; the arith, scf and tensor dialects must be loaded, since
/// it may have operations of theirs that the handler has not. Fails silently
/// when `separability` does not fit.
FailureOr<HandlerOp> cloneSliced(StageOpInterface stage,
                                 const Separability &separability);

} // namespace mlir::df

#endif // DATAFLOW_TRANSFORMS_SEPARABILITY_H
