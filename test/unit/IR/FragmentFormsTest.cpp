//===- FragmentFormsTest.cpp ----------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layouts of wgmma against the tables of the PTX ISA, written out here as
// the manual has them; and layouts for memory against what makes them good.
//
//===----------------------------------------------------------------------===//

#include "Layouts.h"

#include <gtest/gtest.h>

using namespace mlir::df;
using Place = FragmentLayout::Place;

namespace {

/// Position of an element in the matrix of an instruction.
struct Position {
  int64_t row, column;
};

/// "Register fragments for wgmma.mma_async": matrix D, element d[i] of a thread
/// of the warpgroup.
Position manualD(unsigned thread, unsigned i) {
  unsigned groupID = thread % 32 >> 2, threadInGroup = thread % 32 % 4;
  int64_t row = thread / 32 * 16 + groupID + (i % 4 < 2 ? 0 : 8);
  return {row, i / 4 * 8 + threadInGroup * 2 + (i & 1)};
}

/// Matrix A of m64nNk16, element a[i], i = 0..7.
Position manualA16(unsigned thread, unsigned i) {
  unsigned groupID = thread % 32 >> 2, threadInGroup = thread % 32 % 4;
  bool upper = i < 2 || (4 <= i && i < 6);
  return {thread / 32 * 16 + groupID + (upper ? 0 : 8),
          threadInGroup * 2 + (i & 1) + (i < 4 ? 0 : 8)};
}

/// Matrix A of m64nNk32, element a[i], i = 0..15.
Position manualA8(unsigned thread, unsigned i) {
  unsigned groupID = thread % 32 >> 2, threadInGroup = thread % 32 % 4;
  bool upper = i < 4 || (8 <= i && i < 12);
  return {thread / 32 * 16 + groupID + (upper ? 0 : 8),
          threadInGroup * 4 + (i & 3) + (i < 8 ? 0 : 16)};
}

/// Matrix A of m64nNk8, element a[i], i = 0..3.
Position manualA32(unsigned thread, unsigned i) {
  unsigned groupID = thread % 32 >> 2, threadInGroup = thread % 32 % 4;
  return {thread / 32 * 16 + groupID + (i == 0 || i == 2 ? 0 : 8),
          threadInGroup + (i < 2 ? 0 : 4)};
}

/// Rows and columns of a point whose rows lie along `mDim`.
Position positionOf(const Point &point, unsigned mDim) {
  return {point[mDim], point[1 - mDim]};
}

void expectOwners(const FragmentLayout &layout) {
  auto owners = countOwners(layout);
  EXPECT_EQ(int64_t(owners.size()), layout.elements());
  for (auto &[point, count] : owners)
    EXPECT_EQ(count, layout.replication());
}

TEST(Forms, AccumulatorIsMatrixD) {
  for (int64_t m : {64, 192})
    for (int64_t n : {8, 16, 24, 96, 256})
      for (unsigned mDim : {0u, 1u}) {
        SCOPED_TRACE(testing::Message() << m << "x" << n << " m " << mDim);
        std::vector<int64_t> shape = {m, n};
        if (mDim == 1)
          std::swap(shape[0], shape[1]);
        auto layout = FragmentLayout::accumulator(shape, mDim);
        ASSERT_TRUE(layout);
        ASSERT_EQ(layout->registers(), m * n / 128);
        EXPECT_EQ(layout->replication(), 1u);
        // One instruction of all columns per 64 rows.
        unsigned each = n / 2;
        forEachPlace(*layout, [&](const Place &place) {
          Position expected =
              manualD(place.warp * 32 + place.lane, place.reg % each);
          Position got = positionOf(pointAt(*layout, place), mDim);
          ASSERT_EQ(got.row, expected.row + place.reg / each * 64);
          ASSERT_EQ(got.column, expected.column);
        });
        expectOwners(*layout);
        ASSERT_TRUE(layout->matchAccumulator());
        EXPECT_EQ(layout->matchAccumulator()->mDim, mDim);
        EXPECT_EQ(layout->matchAccumulator()->split, DotSplit::m);
      }
}

TEST(Forms, AccumulatorSplitsRows) {
  for (unsigned groups : {2u, 4u})
    for (unsigned mDim : {0u, 1u}) {
      std::vector<int64_t> shape = {512, 24};
      if (mDim == 1)
        std::swap(shape[0], shape[1]);
      auto layout = FragmentLayout::accumulator(shape, mDim, groups);
      ASSERT_TRUE(layout);
      ASSERT_EQ(layout->registers(), 512u * 24 / 128 / groups);
      // Warpgroups take turns: 64 rows each.
      forEachPlace(*layout, [&](const Place &place) {
        Position expected =
            manualD(place.warp * 32 + place.lane, place.reg % 12);
        Position got = positionOf(pointAt(*layout, place), mDim);
        ASSERT_EQ(got.row,
                  expected.row + (place.reg / 12 * groups + place.group) * 64);
        ASSERT_EQ(got.column, expected.column);
      });
      expectOwners(*layout);
      EXPECT_EQ(layout->matchAccumulator()->split, DotSplit::m);
    }
}

TEST(Forms, AccumulatorSplitsColumns) {
  for (unsigned groups : {2u, 4u})
    for (int64_t n : {32, 64, 96, 160, 256})
      for (unsigned mDim : {0u, 1u}) {
        SCOPED_TRACE(testing::Message() << n << " of " << groups);
        std::vector<int64_t> shape = {128, n};
        if (mDim == 1)
          std::swap(shape[0], shape[1]);
        auto layout =
            FragmentLayout::accumulator(shape, mDim, groups, DotSplit::n);
        ASSERT_TRUE(layout);
        // Runs as long as the columns allow, in turn; ascending in each.
        int64_t run = n % 64 == 0 ? n / groups : 32 / groups;
        unsigned each = n / groups / 2;
        forEachPlace(*layout, [&](const Place &place) {
          Position expected =
              manualD(place.warp * 32 + place.lane, place.reg % each);
          int64_t column = expected.column / run * (run * groups) +
                           place.group * run + expected.column % run;
          Position got = positionOf(pointAt(*layout, place), mDim);
          ASSERT_EQ(got.row, expected.row + place.reg / each * 64);
          ASSERT_EQ(got.column, column);
        });
        expectOwners(*layout);
        EXPECT_EQ(layout->matchAccumulator()->split, DotSplit::n);
        EXPECT_EQ(layout->matchAccumulator()->mDim, mDim);
      }
}

TEST(Forms, AccumulatorRefusesOtherShapes) {
  EXPECT_FALSE(FragmentLayout::accumulator({32, 8}, 0));
  EXPECT_FALSE(FragmentLayout::accumulator({64, 12}, 0));
  EXPECT_FALSE(FragmentLayout::accumulator({64, 8}, 1));
  EXPECT_FALSE(FragmentLayout::accumulator({64}, 0));
  EXPECT_FALSE(FragmentLayout::accumulator({64, 8}, 2));
  EXPECT_FALSE(FragmentLayout::accumulator({64, 8}, 0, 2));
  EXPECT_FALSE(FragmentLayout::accumulator({64, 8}, 0, 2, DotSplit::n));
  EXPECT_FALSE(FragmentLayout::accumulator({192, 8}, 0, 3));
  EXPECT_FALSE(FragmentLayout::accumulator({0, 8}, 0));
  EXPECT_TRUE(FragmentLayout::accumulator({128, 8}, 0, 2));
}

TEST(Forms, RegisterAIsMatrixA) {
  struct Case {
    unsigned bytes, k, each;
    Position (*manual)(unsigned, unsigned);
  };
  for (Case c : {Case{2, 16, 8, manualA16}, Case{1, 32, 16, manualA8},
                 Case{4, 8, 4, manualA32}})
    for (int64_t m : {64, 192})
      for (int64_t blocks : {1, 2, 3, 4})
        for (unsigned mDim : {0u, 1u}) {
          SCOPED_TRACE(testing::Message() << c.bytes << " bytes, " << m << "x"
                                          << blocks * c.k << " m " << mDim);
          std::vector<int64_t> shape = {m, blocks * c.k};
          if (mDim == 1)
            std::swap(shape[0], shape[1]);
          auto layout = FragmentLayout::registerA(shape, mDim, c.bytes);
          ASSERT_TRUE(layout);
          ASSERT_EQ(layout->registers(), m * blocks * c.k / 128);
          // One instruction per k, for all k of 64 rows.
          forEachPlace(*layout, [&](const Place &place) {
            unsigned block = place.reg / c.each;
            Position expected =
                c.manual(place.warp * 32 + place.lane, place.reg % c.each);
            Position got = positionOf(pointAt(*layout, place), mDim);
            ASSERT_EQ(got.row, expected.row + block / blocks * 64);
            ASSERT_EQ(got.column, expected.column + block % blocks * c.k);
          });
          expectOwners(*layout);
          ASSERT_TRUE(layout->matchRegisterA(c.bytes));
          EXPECT_EQ(layout->matchRegisterA(c.bytes)->mDim, mDim);
        }
}

TEST(Forms, AccumulatorServesAsSixteenBitOperand) {
  for (int64_t k : {16, 48, 64})
    EXPECT_EQ(FragmentLayout::registerA({128, k}, 0, 2),
              FragmentLayout::accumulator({128, k}, 0));
  EXPECT_EQ(FragmentLayout::registerA({256, 32}, 0, 2, 2),
            FragmentLayout::accumulator({256, 32}, 0, 2));
  EXPECT_NE(FragmentLayout::registerA({64, 32}, 0, 1),
            FragmentLayout::accumulator({64, 32}, 0));
}

TEST(Forms, OperandIsHeldByAllThatSplitColumns) {
  auto layout = FragmentLayout::registerA({64, 32}, 0, 2, 2, DotSplit::n);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->groups(), 2u);
  EXPECT_EQ(layout->replication(), 2u);
  expectOwners(*layout);
  EXPECT_EQ(layout->matchRegisterA(2)->split, DotSplit::n);
  EXPECT_FALSE(layout->matchAccumulator());
}

TEST(Forms, RegisterARefusesOtherShapes) {
  EXPECT_FALSE(FragmentLayout::registerA({64, 24}, 0, 2));
  EXPECT_FALSE(FragmentLayout::registerA({64, 16}, 0, 1));
  EXPECT_FALSE(FragmentLayout::registerA({64, 16}, 0, 8));
  EXPECT_FALSE(FragmentLayout::registerA({64, 16}, 1, 2));
  EXPECT_FALSE(FragmentLayout::registerA({64, 16}, 0, 2, 2));
  EXPECT_TRUE(FragmentLayout::registerA({64, 16}, 0, 2, 2, DotSplit::n));
}

TEST(Forms, BlockedIsCoalesced) {
  std::vector<std::vector<int64_t>> shapes = {
      {},       {1},       {5},        {8},        {32},        {128},
      {576},    {4096},    {8, 576},   {16, 3},    {7, 64},     {1, 24},
      {32, 32}, {2, 8, 8}, {3, 1, 16}, {6, 2, 40}, {2, 3, 4, 8}};
  for (const auto &shape : shapes)
    for (unsigned warps : {1u, 4u})
      for (unsigned groups : {1u, 2u, 4u}) {
        if (warps == 1 && groups > 1)
          continue;
        for (unsigned bytes : {1u, 2u, 4u, 8u}) {
          SCOPED_TRACE(testing::Message()
                       << testing::PrintToString(shape) << " " << warps << " "
                       << groups << " " << bytes);
          FragmentLayout layout =
              FragmentLayout::blocked(shape, warps, groups, bytes);
          EXPECT_EQ(layout.warps(), warps);
          EXPECT_EQ(layout.groups(), groups);
          expectOwners(layout);
          if (shape.empty())
            continue;
          // Whole vectors, and neighbours in neighbouring lanes. Powers of two
          // that divide the rows are used up before anything is replicated.
          int64_t row = shape.back(), power = row & -row;
          int64_t vector = std::min<int64_t>(power, 16 / bytes);
          unsigned last = layout.rank() - 1;
          EXPECT_GE(layout.contiguous(last), vector);
          for (unsigned lane = 1; lane < std::min<int64_t>(32, power / vector);
               ++lane) {
            Point point = pointAt(layout, {0, lane, 0, 0});
            EXPECT_EQ(point[last], lane * vector);
          }
          int64_t powers = 1;
          for (int64_t size : shape)
            powers *= size & -size;
          EXPECT_EQ(layout.replication(),
                    std::max<int64_t>(1, layout.threads() * vector / powers));
        }
      }
}

TEST(Forms, ReplicatedIsEverywhere) {
  FragmentLayout layout = FragmentLayout::replicated({6, 4}, 4, 2);
  EXPECT_EQ(layout.registers(), 24u);
  EXPECT_EQ(layout.replication(), 256u);
  expectOwners(layout);
  EXPECT_EQ(pointAt(layout, {5, 7, 3, 1}), (Point{1, 1}));
}

// What sums and maxima over rows and over columns leave.
TEST(Forms, SliceOfAnAccumulatorStaysInItsThreads) {
  FragmentLayout layout = *FragmentLayout::accumulator({64, 32}, 0);
  FragmentLayout rows = layout.slice(1), columns = layout.slice(0);
  EXPECT_EQ(rows.registers(), 2u);
  EXPECT_EQ(rows.replication(), 4u);
  EXPECT_EQ(columns.registers(), 8u);
  EXPECT_EQ(columns.replication(), 32u);
  EXPECT_EQ(rows, FragmentLayout::accumulator({64, 8}, 0)->slice(1));
  EXPECT_EQ(rows.slice(0).registers(), 1u);
  EXPECT_EQ(layout.permute({1, 0}), *FragmentLayout::accumulator({32, 64}, 1));
}

} // namespace
