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

/// A product that the tensor cores may still work on.
struct RunningProduct {
  FragmentLayout layout;
  Type element;
  SmallVector<Value> accumulators; ///< of one instruction after the other
  /// Which registers of `layout` the accumulators of each instruction are.
  SmallVector<SmallVector<unsigned>> registers;
};

/// Issues a product that passes checkProduct. All warps of all warpgroups of
/// `product.layout` must come here together; `group` is the number of the
/// warpgroup, i32. What other threads or this one wrote to the windows must be
/// visible to the asynchronous proxy; it stays as it is until the product ends.
RunningProduct beginProduct(Assembly &assembly, Value group,
                            const Product &product);

/// Waits for a product, and for all that began before it; `behind` have begun
/// since, and go on. One scalar a register, in the order of the layout.
SmallVector<Value> endProduct(Assembly &assembly, RunningProduct &product,
                              size_t behind);

/// Makes a product and waits for it.
inline SmallVector<Value> multiply(Assembly &assembly, Value group,
                                   const Product &product) {
  RunningProduct running = beginProduct(assembly, group, product);
  return endProduct(assembly, running, 0);
}

} // namespace mlir::df::fragments

#endif // DATAFLOW_LIB_CONVERSION_FRAGMENTSTONVVM_WGMMA_H
