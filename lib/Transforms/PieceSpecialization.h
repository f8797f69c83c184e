//===- PieceSpecialization.h - A body for pieces of known size --*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites a handler body that is called with pieces of a known number of tiles
// or of range elements.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TRANSFORMS_PIECESPECIALIZATION_H
#define DATAFLOW_LIB_TRANSFORMS_PIECESPECIALIZATION_H

#include "dataflow/IR/Dataflow.h"

namespace mlir::df {

/// How a stage with a range calls its handler.
struct PieceFrame {
  unsigned begin = 0; ///< number of the argument `begin`; `end` follows it
  int64_t tile = 1;   ///< range elements of a tile
  bool each = false;  ///< called for one tile at a time
};

/// Specialises `body` for pieces of `variant`, which is of kind `tiles` or
/// `exact`: counts of tiles become constants, loops over the piece get constant
/// bounds, loops of one iteration are inlined, and what then folds is folded.
/// Returns false, with the body unchanged, if the size does not matter to it.
bool specializePiece(Region &body, const PieceFrame &frame,
                     VariantAttr variant);

} // namespace mlir::df

#endif // DATAFLOW_LIB_TRANSFORMS_PIECESPECIALIZATION_H
