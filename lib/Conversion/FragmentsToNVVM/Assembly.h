//===- Assembly.h - Arithmetic and assembly for fragments -------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the code for shared tiles and tensor cores is written with: arithmetic
// on i32, sums over the bits of a thread's numbers, scalars packed into words,
// and inline assembly. Private to this folder.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_CONVERSION_FRAGMENTSTONVVM_ASSEMBLY_H
#define DATAFLOW_LIB_CONVERSION_FRAGMENTSTONVVM_ASSEMBLY_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <array>

namespace mlir::df::fragments {

/// The numbers of a thread, i32: of the lane in its warp, of the warp in its
/// warpgroup, of the warpgroup.
struct Thread {
  Value lane, warp, group;
};

/// What each bit of a thread's numbers stands for.
struct ThreadWeights {
  std::array<int64_t, 5> lane = {};
  std::array<int64_t, 2> warp = {};
  std::array<int64_t, 2> group = {};

  /// The bitwise or of all.
  int64_t mask() const;
};

class Assembly {
public:
  Assembly(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  OpBuilder &builder;
  Location loc;

  Type i32() { return builder.getI32Type(); }
  Value constant(int64_t value);
  Value add(Value a, Value b);
  Value add(Value a, int64_t b);
  Value multiply(Value a, int64_t b);
  Value exclusiveOr(Value a, Value b);
  Value exclusiveOr(Value a, int64_t b);
  Value bitAnd(Value a, int64_t b);
  Value shiftRight(Value a, unsigned b);

  /// The weights of all set bits of the thread's numbers, added up; null if all
  /// weights are zero.
  Value sum(const Thread &thread, const ThreadWeights &weights);
  /// The same with exclusive or.
  Value parity(const Thread &thread, const ThreadWeights &weights);

  /// Scalars of 8, 16 or 32 bits as i32 words, the first in the lowest bits.
  SmallVector<Value> pack(ValueRange scalars);
  /// And back, to scalars of `type`.
  SmallVector<Value> unpack(ValueRange words, Type type);

  /// Inline assembly with side effects that may access all memory. Its results
  /// are $0, $1, ...; the first of them, one for each of `tied`, begin with
  /// these values; then come `inputs`.
  SmallVector<Value> run(const Twine &text, TypeRange results = {},
                         ValueRange inputs = {}, ValueRange tied = {});

private:
  Value combine(const Thread &thread, const ThreadWeights &weights,
                bool exclusive);
};

} // namespace mlir::df::fragments

#endif // DATAFLOW_LIB_CONVERSION_FRAGMENTSTONVVM_ASSEMBLY_H
