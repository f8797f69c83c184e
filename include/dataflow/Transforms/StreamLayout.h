//===- StreamLayout.h - Streams whose tiles tensor maps bring ---*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stream with a layout is filled by copies through a tensor map, which put
// the tile into shared memory as wgmma reads it. Which layouts a fill can have,
// and what the map and its copies then look like, is decided here: whoever
// gives layouts to streams asks `streamLayout`, the lowering asks `streamMap`.
//
// A map sees the source as three runs of dimensions: the columns of the tile
// (the last dimension), those between columns and rows, which the slice does
// not extend along, and the rows with all dimensions outside of them. Columns
// are split into chunks as wide as the swizzle where the source and the place
// of the slice allow; then one copy brings all chunks, else each chunk has one.
// In the order `rows` the rows are split into groups of 8 as well: that is the
// order in which a row-major tensor lies in memory, so such copies read long
// runs.
//
// A copy moves its whole box. What it reads behind the last row of a partial
// tile is whatever the tensor has there, and zero behind the tensor's end.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TRANSFORMS_STREAMLAYOUT_H
#define DATAFLOW_TRANSFORMS_STREAMLAYOUT_H

#include "dataflow/IR/Dataflow.h"
#include "dfrt/Artifact.h"

#include <array>
#include <optional>
#include <string>

namespace mlir::df {

/// How one fill is made of copies through a tensor map.
struct StreamMap {
  /// The map. A copy's coordinate along a dimension with a limit is 0; along
  /// another one it is the place of the slice in the dimension's run, divided
  /// by its unit, plus `steps` of the copy.
  dfrt::TensorMapSpec spec;
  struct Copy {
    int64_t place = 0; ///< in bytes from the beginning of the stage
    std::array<int64_t, dfrt::TensorMapSpec::kMaxRank> steps = {};
  };
  SmallVector<Copy, 1> copies; ///< together they bring every byte once
};

/// The copies that bring the tiles of `fill` in `layout`; nothing, with a
/// reason, when tensor maps cannot.
std::optional<StreamMap> streamMap(FillOp fill, SharedLayout layout,
                                   std::string &reason);

/// A layout for the tiles of `fill` with this swizzle: atoms ordered by rows
/// where the source and the place of the slice are known to be whole groups of
/// 8 rows, else by columns. Nothing, with a reason, when tensor maps cannot.
std::optional<SharedLayout> streamLayout(FillOp fill, unsigned swizzle,
                                         std::string &reason);
/// The same for all fills of a stream.
std::optional<SharedLayout> streamLayout(StreamOp stream, unsigned swizzle,
                                         std::string &reason);

/// The numbers of the program's arguments that the source of `fill` stands for,
/// one for each stage that calls the handler, without repetitions.
SmallVector<unsigned> filledArguments(FillOp fill);

} // namespace mlir::df

#endif // DATAFLOW_TRANSFORMS_STREAMLAYOUT_H
