//===- Fill.h - How the elements of a tensor come about ---------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fills are functions of (seed, element index) that use integer arithmetic and
// exactly rounded operations only: the same workload gives the same bytes on
// every machine and for any number of threads. docs/workload.md describes each
// kind.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_FILL_H
#define DF_RUN_FILL_H

#include "Json.h"

#include "dataflow/Schedule/Program.h"

#include <functional>
#include <string>
#include <vector>

namespace dfrt {

/// A fill with all names resolved.
struct Fill {
  enum class Kind {
    constant,       ///< number
    values,         ///< numbers or integers
    normal,         ///< mean number, deviation scale
    uniform,        ///< [low, high)
    iota,           ///< number + index * scale
    prefixSum,      ///< exclusive sums of integers
    pageTable,      ///< row r: ceil(integers[r] / tile) page numbers
    permutation,    ///< each row a permutation of 0 .. row - 1
    randomIntegers, ///< integersLow .. integersHigh
    tiles,          ///< a fact of every tile of integers
    tileKeys,       ///< row r: the keys of tile r, behind them unused
    keyPlaces,      ///< row k: where tileKeys has key k, behind that unused
  };
  Kind kind = Kind::constant;
  uint64_t seed = 0;
  double number = 0, scale = 1, low = 0, high = 1;
  std::vector<double> numbers;
  std::vector<int64_t> integers;
  int64_t integersLow = 0, integersHigh = 0;
  bool distinct = false; ///< randomIntegers: no repetition within a row
  int64_t tile = 1;
  int64_t pages = 0; ///< pageTable: numbers are drawn from 0 .. pages - 1
  /// pageTable, tileKeys, keyPlaces: value behind those of a row
  int64_t unused = -1;
  int64_t keys = 0; ///< tileKeys, keyPlaces: keys are 0 .. keys - 1
  /// tiles: which element the tile belongs to, where it begins in all elements
  /// laid end to end, and how long it is.
  enum class TileFact { owner, begin, length };
  TileFact fact = TileFact::owner;
  /// Elements [r, c, ...] with c >= valid[r] get the value `padding` instead.
  bool padded = false;
  std::vector<int64_t> valid;
  double padding = 0;
};

/// Elements of a tensor; their number is known to fit.
uint64_t elementsOf(const std::vector<int64_t> &shape);

/// Pages that `length` elements need; neither is negative.
inline int64_t pagesOf(int64_t length, int64_t tile) {
  return length / tile + (length % tile != 0);
}

/// Tiles of all elements; no length is negative.
inline int64_t pagesOf(const std::vector<int64_t> &lengths, int64_t tile) {
  int64_t sum = 0;
  for (int64_t length : lengths)
    sum += pagesOf(length, tile);
  return sum;
}

/// How a fill asks for things that its file defines elsewhere.
struct FillNames {
  std::function<Expected<std::vector<int64_t>>(const Node &)> list;
  std::function<Expected<int64_t>(const Node &)> dimension;
};

/// Reads the "fill" of an argument. Fails on unknown kinds and keys.
Expected<Fill> readFill(const Node &node, const FillNames &names);

/// Reads the "padding" of an argument into `fill`.
Status readPadding(const Node &node, const FillNames &names, Fill &fill);

/// Tests that `fill` fits a tensor of this type and shape, and that all of its
/// values fit integer elements.
Status checkFill(const Fill &fill, ElementType element,
                 const std::vector<int64_t> &shape, const Node &node);

/// Writes all elements of the tensor at `base`. `seed` is mixed into the fill's
/// own. Large tensors are filled by `threads` threads.
void runFill(const Fill &fill, ElementType element,
             const std::vector<int64_t> &shape, uint64_t seed, unsigned threads,
             void *base);

/// The fill of output tensors: NaN, or 0x55 in every byte of an integer.
void poison(ElementType element, uint64_t elements, void *base);

} // namespace dfrt

#endif // DF_RUN_FILL_H
