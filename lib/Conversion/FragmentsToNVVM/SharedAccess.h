//===- SharedAccess.h - Access to swizzled tiles ----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Moves tiles between registers and shared memory. Where the layout of the
// registers is that of a matrix instruction (stmatrix, ldmatrix) in one of its
// two directions, and elements have 16 bits, these move four 8 x 8 matrices at
// once; else every thread moves what it holds in as few words as are
// contiguous, up to 16 bytes.
//
// None of these functions has a barrier or a fence: the caller knows who reads
// and writes. Private to this folder.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_CONVERSION_FRAGMENTSTONVVM_SHAREDACCESS_H
#define DATAFLOW_LIB_CONVERSION_FRAGMENTSTONVVM_SHAREDACCESS_H

#include "Assembly.h"
#include "dataflow/IR/FragmentLayout.h"

namespace mlir::df::fragments {

/// A tile of two dimensions in shared memory, or whole atoms of one.
struct Window {
  SharedLayout layout;
  Value address; ///< i32, of element (0, 0), which begins an atom
  int64_t rows = 0, columns = 0;
  unsigned elementBytes = 0;
};

struct SharedTile;
/// All of a tile, whose shape is static.
Window windowOf(const SharedTile &tile);

/// Addresses in a window, of one thread. What threads add to a coordinate and
/// what is added for all of them have no bit in common.
///
/// An address is a sum of strides of atoms and a place in an atom. The latter
/// is linear over the bits of row and column, with exclusive or for a sum: bits
/// that no thread sets can be part of the instruction, the others cost one
/// exclusive or for each of their combinations that occurs.
class SharedAddresses {
public:
  /// How many rows and columns each bit of the thread's numbers adds.
  SharedAddresses(Assembly &assembly, const Window &window,
                  const Thread &thread, const ThreadWeights &rows,
                  const ThreadWeights &columns);

  /// A register and a number of bytes to add to it.
  struct Address {
    Value base;
    int64_t bytes;
  };
  /// Of the element (row + the thread's rows, column + the thread's columns).
  Address at(int64_t row, int64_t column);

private:
  Assembly &assembly;
  Window window;
  Value base;       ///< with the thread's whole atoms
  Value inAtom;     ///< the thread's place in an atom; null: its begin
  int64_t variable; ///< bits that `inAtom` may set
  SmallVector<std::pair<int64_t, Value>> bases;
};

/// What each bit of a thread's numbers adds to coordinate `dim`.
ThreadWeights threadWeights(const FragmentLayout &layout, unsigned dim);

/// Why a tile of such registers can be moved to or from no shared tile; nothing
/// when it can.
std::optional<std::string> checkAccess(const FragmentLayout &layout,
                                       const Window &window);

/// Writes `registers`, scalars of 8, 16 or 32 bits in the order of `layout`.
void storeShared(Assembly &assembly, const Thread &thread,
                 const FragmentLayout &layout, ValueRange registers,
                 const Window &window);

/// Reads a tile into registers of `type`.
SmallVector<Value> loadShared(Assembly &assembly, const Thread &thread,
                              const FragmentLayout &layout, Type type,
                              const Window &window);

/// Sets the rows from `first` on to zero bytes. Thread number `thread` of
/// `threads` does its share; all are i32. The window's rows must have a
/// multiple of 16 bytes.
void zeroRows(Assembly &assembly, Value thread, Value threads,
              const Window &window, Value first);

} // namespace mlir::df::fragments

#endif // DATAFLOW_LIB_CONVERSION_FRAGMENTSTONVVM_SHAREDACCESS_H
