//===- Wgmma.h - Products on the tensor cores -------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One product of two tiles by wgmma, the matrix instructions of Hopper's
// warpgroups. A comes from shared memory or registers, B from shared memory,
// the accumulator stays in registers. Private to this folder.
//
// What the assembler needs to keep the instructions asynchronous, beyond what
// PTX asks for (docs/rationale/fragments.md lists the remarks that show it):
//
//   - Accumulators stay in their registers. The instructions of one product are
//     a chain in which each begins with the results of the one before it; the
//     wait at the end is tied to all accumulators, so that no code generator
//     moves a read in front of it, and so is the fence at the begin.
//   - An accumulator that begins with zero costs nothing: the first step does
//     not read it.
//   - The same instructions in the same order for all warps: descriptors come
//     from values that are the same in a warp.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_CONVERSION_FRAGMENTSTONVVM_WGMMA_H
#define DATAFLOW_LIB_CONVERSION_FRAGMENTSTONVVM_WGMMA_H

#include "SharedAccess.h"

namespace mlir::df::fragments {

/// An operand of a product: a window of shared memory or, if `registers` are
/// given, the tile of this layout.
struct ProductOperand {
  /// 0 or 1: the dimension over which products are summed up.
  unsigned contract = 1;
  Type element;
  std::optional<Window> window;
  FragmentLayout layout;
  ValueRange registers;
};

struct Product {
  ProductOperand a, b;
  /// Of accumulator and result.
  FragmentLayout layout;
  Type element; ///< f32 or f16
  /// One scalar a register, in the order of `layout`; none: zero.
  ValueRange initial;
};

/// Why a product cannot be made; nothing when it can. Rows of A are dimension
/// `mDim` of the accumulator. Values are not looked at: `registers` may be
/// empty, and addresses null.
std::optional<std::string> checkProduct(const Product &product, unsigned mDim);

/// Makes a product that passes checkProduct and waits for it. All warps of all
/// warpgroups of `product.layout` must come here together; `group` is the
/// number of the warpgroup, i32. What other threads or this one wrote to the
/// windows must be visible to the asynchronous proxy.
SmallVector<Value> multiply(Assembly &assembly, Value group,
                            const Product &product);

} // namespace mlir::df::fragments

#endif // DATAFLOW_LIB_CONVERSION_FRAGMENTSTONVVM_WGMMA_H
