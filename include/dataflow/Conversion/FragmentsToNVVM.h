//===- FragmentsToNVVM.h - Bodies on register fragments ---------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers a body whose tensors carry layouts (`dataflow-assign-layouts`) for the
// compute threads of a CTA. A tensor is one of three things:
//
//   memory    no encoding: an operand, a field of a record or an output, and
//             slices of them
//   shared    #dataflow.shared: a stage of a ring or a staged tile
//   fragment  #dataflow.fragment: each thread holds some elements, each in a
//             register of its own
//
// What comes out is scalar code: arith, math and scf, with loads, stores and
// inline assembly of the LLVM dialect and calls of the device library. It is
// lowered further with the other bodies (HandlerToLLVM).
//
// Reductions have a fixed order, which depends on the layout only: first over
// the registers of a thread, then over lanes, then over warps; the initial
// value comes last. So results are repeatable, but not those of the portable
// path. Divisions of f32 are within 2 ulp.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_CONVERSION_FRAGMENTSTONVVM_H
#define DATAFLOW_CONVERSION_FRAGMENTSTONVVM_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

#include <string>
#include <vector>

namespace mlir::df::fragments {

/// Where a tensor argument or a field to write lies.
struct Place {
  /// A memref of the LLVM dialect's descriptor behind a cast, or for a scalar
  /// argument its value.
  Value value;
  /// A separable dimension whose slices lie apart: `value` then has one more
  /// dimension, in front, the slices, and dimension `split` is that of a slice.
  int64_t split = -1;
  /// What the first element's address is a multiple of, in bytes.
  uint64_t alignment = 1;
  /// There are 64-bit addresses instead, one for each element of the first
  /// dimension: where the others of it lie.
  bool table = false;
  /// The body's type of floating-point elements that memory has narrower; null:
  /// they are of one type.
  Type wide = {};
  /// Instead of the above, for an argument whose type has a fragment layout:
  /// what the thread holds of it, as appendRegisterTypes says.
  SmallVector<Value> registers = {};
};

/// Appends the types of the registers in which a thread passes a value of
/// `type`, a fragment or a scalar, from one function to another. Elements of 8
/// and 16 bits share words, so that what was loaded may still be on its way.
void appendRegisterTypes(Type type, SmallVectorImpl<Type> &types);

struct Options {
  /// Each warp runs the function by itself: layouts have one warp, and there
  /// are no barriers.
  bool warp = false;
  /// Buffers that only save barriers are not made beyond so many bytes.
  uint64_t scratchLimit = UINT64_MAX;
  /// Fields are not stored: their registers come back as Info::results.
  bool returnFields = false;
  /// Fields lie in global memory, and others read them soon: until then the L2
  /// cache is to keep them.
  bool lastingFields = false;
  /// The last operand of the terminator is an i1, the same in all threads:
  /// fields are not stored where it is true.
  bool mayDrop = false;
};

/// What a lowered body asks of its kernel.
struct Info {
  /// Shared memory at `dfk_fragment_at`, which is a multiple of 1024.
  uint64_t scratchBytes = 0;
  std::vector<std::string> remarks;
  /// With Options::returnFields: the registers of the fields, one field after
  /// the other.
  SmallVector<Value> results;
};

/// Writes the code for `body` where `builder` stands. `arguments` belong to the
/// arguments of the block, `fields` to the first operands of its terminator;
/// the others are outputs, which insertions have updated already. Emits
/// diagnostics; `body` is not changed.
LogicalResult lowerBody(OpBuilder &builder, Block &body,
                        ArrayRef<Place> arguments, ArrayRef<Place> fields,
                        const Options &options, Info &info);

} // namespace mlir::df::fragments

#endif // DATAFLOW_CONVERSION_FRAGMENTSTONVVM_H
