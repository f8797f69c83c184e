//===- SharedLayoutTest.cpp -----------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles in shared memory against the exchange of units as the manuals draw it.
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/FragmentLayout.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

using namespace mlir::df;

namespace {

struct Tile {
  int64_t rows, columns;
  unsigned bytes, swizzle;
  AtomOrder order;
  std::vector<int64_t> shape() const { return {rows, columns}; }
};

std::vector<Tile> getTiles() {
  std::vector<Tile> tiles;
  for (unsigned swizzle : {32u, 64u, 128u})
    for (unsigned bytes : {1u, 2u, 4u})
      for (int64_t rows : {8, 32, 72})
        for (int64_t chunks : {1, 2, 9})
          for (AtomOrder order : {AtomOrder::rows, AtomOrder::columns})
            tiles.push_back(
                {rows, chunks * swizzle / bytes, bytes, swizzle, order});
  return tiles;
}

/// The swizzle modes of tensor maps, as tables: which 16-byte unit of the row a
/// unit is exchanged with.
unsigned manualUnit(unsigned swizzle, unsigned row, unsigned unit) {
  static const unsigned rows128[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  static const unsigned rows64[8] = {0, 0, 1, 1, 2, 2, 3, 3};
  static const unsigned rows32[8] = {0, 0, 0, 0, 1, 1, 1, 1};
  const unsigned *table = swizzle == 128  ? rows128
                          : swizzle == 64 ? rows64
                                          : rows32;
  return unit ^ table[row % 8];
}

TEST(Shared, ExchangesUnitsAsTheManualDraws) {
  for (const Tile &tile : getTiles()) {
    auto layout =
        SharedLayout::get(tile.shape(), tile.bytes, tile.swizzle, tile.order);
    ASSERT_TRUE(layout);
    int64_t chunks = tile.columns * tile.bytes / tile.swizzle;
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; ++column) {
        int64_t byte = column * tile.bytes;
        int64_t chunk = byte / tile.swizzle, inRow = byte % tile.swizzle;
        int64_t atom = tile.order == AtomOrder::rows
                           ? row / 8 * chunks + chunk
                           : chunk * (tile.rows / 8) + row / 8;
        int64_t expected = atom * 8 * tile.swizzle + row % 8 * tile.swizzle +
                           manualUnit(tile.swizzle, row, inRow / 16) * 16 +
                           inRow % 16;
        ASSERT_EQ(layout->byteOffset(row, column, tile.bytes), expected)
            << row << ", " << column << " swizzle " << tile.swizzle;
      }
  }
}

TEST(Shared, HasAPlaceForEveryElement) {
  for (const Tile &tile : getTiles()) {
    auto layout =
        SharedLayout::get(tile.shape(), tile.bytes, tile.swizzle, tile.order);
    std::set<int64_t> places;
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; ++column)
        places.insert(layout->byteOffset(row, column, tile.bytes));
    EXPECT_EQ(int64_t(places.size()), tile.rows * tile.columns);
    EXPECT_EQ(*places.begin(), 0);
    EXPECT_EQ(*places.rbegin(),
              layout->tileBytes(tile.shape(), tile.bytes) - tile.bytes);
    EXPECT_EQ(layout->tileBytes(tile.shape(), tile.bytes),
              tile.rows * tile.columns * tile.bytes);
  }
}

TEST(Shared, WindowsKeepTheLayout) {
  for (const Tile &tile : getTiles()) {
    auto layout =
        SharedLayout::get(tile.shape(), tile.bytes, tile.swizzle, tile.order);
    int64_t chunk = layout->chunkElements(tile.bytes);
    EXPECT_EQ(chunk * tile.bytes, tile.swizzle);
    for (int64_t row = 0; row < tile.rows; row += 4)
      for (int64_t column = 0; column < tile.columns; column += chunk / 2) {
        auto offset = layout->windowOffset(row, column, tile.bytes);
        ASSERT_EQ(offset.has_value(), row % 8 == 0 && column % chunk == 0);
        if (!offset)
          continue;
        EXPECT_EQ(*offset % layout->alignment(), 0);
        for (int64_t r = row; r < tile.rows; ++r)
          for (int64_t c = column; c < tile.columns; c += 4)
            ASSERT_EQ(layout->byteOffset(r, c, tile.bytes),
                      *offset +
                          layout->byteOffset(r - row, c - column, tile.bytes));
      }
  }
}

TEST(Shared, OrdersHaveTheStridesOfTensorMaps) {
  // 64 rows of 576 elements of 2 bytes: 9 chunks of 8 groups.
  auto rows = SharedLayout::get({64, 576}, 2, 128, AtomOrder::rows);
  EXPECT_EQ(*rows, SharedLayout(128, 9216, 1024));
  auto columns = SharedLayout::get({64, 576}, 2, 128, AtomOrder::columns);
  EXPECT_EQ(*columns, SharedLayout(128, 1024, 8192));
  EXPECT_NE(*rows, *columns);
  EXPECT_EQ(rows->alignment(), 1024);
}

TEST(Shared, WithoutSwizzleIsRowMajor) {
  auto layout = SharedLayout::get({5, 7}, 4, 0, AtomOrder::rows);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->byteOffset(3, 2, 4), (3 * 7 + 2) * 4);
  EXPECT_EQ(layout->tileBytes({5, 7}, 4), 5 * 7 * 4);
  EXPECT_EQ(layout->windowOffset(3, 2, 4), (3 * 7 + 2) * 4);
  EXPECT_EQ(layout->chunkStride(), 0);
  EXPECT_FALSE(layout->check({5, 4}, 4));
  EXPECT_EQ(layout->check({5, 8}, 4), "a row has 32 bytes, rows are 28 apart");
}

TEST(Shared, RefusesPartsOfAtoms) {
  EXPECT_FALSE(SharedLayout::get({12, 64}, 2, 128, AtomOrder::rows));
  EXPECT_FALSE(SharedLayout::get({16, 32}, 2, 128, AtomOrder::rows));
  EXPECT_FALSE(SharedLayout::get({16, 96}, 2, 128, AtomOrder::columns));
  EXPECT_FALSE(SharedLayout::get({16, 64, 1}, 2, 128, AtomOrder::columns));
  EXPECT_FALSE(SharedLayout::get({16, 64}, 2, 16, AtomOrder::columns));
  EXPECT_TRUE(SharedLayout::get({16, 32}, 2, 64, AtomOrder::rows));
}

TEST(Shared, CheckNamesWhatIsWrong) {
  EXPECT_EQ(SharedLayout::check(128, 1024, 2048), std::nullopt);
  EXPECT_EQ(SharedLayout::check(16, 1024, 2048),
            "swizzle must be 0, 32, 64 or 128, got 16");
  EXPECT_EQ(SharedLayout::check(0, 12, 0),
            "row_group must be 8 rows of at least 1 byte, got 12");
  EXPECT_EQ(SharedLayout::check(0, 64, 64),
            "chunk must be 0 without swizzle, got 64");
  EXPECT_EQ(SharedLayout::check(128, 512, 1024),
            "row_group must be a multiple of the 1024 bytes of an atom, got "
            "512");
  EXPECT_EQ(SharedLayout::check(64, 512, 768),
            "chunk must be a multiple of the 512 bytes of an atom, got 768");
  SharedLayout layout(128, 2048, 1024);
  EXPECT_EQ(layout.check({64, 128}, 2), std::nullopt);
  EXPECT_EQ(layout.check({64}, 2),
            "a tile in shared memory must have rank 2, got 1");
  EXPECT_EQ(layout.check({20, 128}, 2), "rows must be a multiple of 8, got 20");
  EXPECT_EQ(layout.check({64, 96}, 2),
            "a row must be a multiple of 128 bytes, got 192");
  EXPECT_EQ(layout.check({64, 192}, 2),
            "atoms overlap: 3 chunks, 1024 apart, and 8 groups of rows, 2048 "
            "apart");
  // A window may leave room between its rows.
  EXPECT_EQ(SharedLayout(128, 9216, 1024).check({64, 128}, 2), std::nullopt);
}

// What `check` allows has a place of its own for every element.
RC_GTEST_PROP(Shared, CheckedTilesDoNotOverlap, ()) {
  unsigned swizzle = *rc::gen::element(32u, 64u, 128u);
  int64_t atom = 8 * int64_t(swizzle);
  SharedLayout layout(swizzle, *rc::gen::inRange(1, 10) * atom,
                      *rc::gen::inRange(1, 10) * atom);
  int64_t rows = 8 * *rc::gen::inRange(1, 5);
  int64_t columns = *rc::gen::inRange(1, 5) * int64_t(swizzle) / 4;
  std::set<int64_t> places;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      places.insert(layout.byteOffset(row, column, 4));
  // `check` may refuse what would fit between, but nothing the other way round.
  if (!layout.check({rows, columns}, 4))
    RC_ASSERT(int64_t(places.size()) == rows * columns);
  else
    RC_TAG("refused");
}

} // namespace
