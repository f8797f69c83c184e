//===- FragmentLayoutTest.cpp ---------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts of fragments against the enumeration of all their places.
//
//===----------------------------------------------------------------------===//

#include "Layouts.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <type_traits>

using namespace mlir::df;
using Base = FragmentLayout::Base;
using Description = FragmentLayout::Description;
using Place = FragmentLayout::Place;

static_assert(std::is_trivially_copyable_v<FragmentLayout> &&
                  std::is_trivially_destructible_v<FragmentLayout>,
              "attributes keep layouts in memory that is never destroyed");

namespace {

RC_GTEST_PROP(Fragment, HasThePlacesOfItsDescription, ()) {
  Description description = randomDescription();
  RC_ASSERT(!FragmentLayout::check(description));
  FragmentLayout layout = FragmentLayout::get(description);
  RC_ASSERT(layout.rank() == description.shape.size());
  forEachPlace(layout, [&](const Place &place) {
    RC_ASSERT(pointAt(layout, place) == pointAt(description, place));
  });
  Description normal = layout.describe();
  RC_ASSERT(!FragmentLayout::check(normal));
  RC_ASSERT(FragmentLayout::get(normal) == layout);
  RC_ASSERT(normal.registers.size() <= description.registers.size());
}

RC_GTEST_PROP(Fragment, HoldsEveryElementEquallyOften, ()) {
  FragmentLayout layout = FragmentLayout::get(randomDescription());
  std::map<Point, unsigned> owners = countOwners(layout);
  RC_ASSERT(int64_t(owners.size()) == layout.elements());
  for (auto &[point, count] : owners) {
    RC_ASSERT(count == layout.replication());
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      RC_ASSERT(point[dim] < layout.shape()[dim]);
  }
  RC_ASSERT(layout.elements() * layout.replication() ==
            int64_t(layout.registers()) * layout.threads());
}

RC_GTEST_PROP(Fragment, PlaceIsTheInverseOfCoordinates, ()) {
  FragmentLayout layout = FragmentLayout::get(randomDescription());
  std::map<Point, Place> first;
  forEachPlace(layout, [&](const Place &place) {
    Point point = pointAt(layout, place);
    Place found = layout.place(point);
    RC_ASSERT(found.reg == place.reg);
    // The place without replicated bits comes before all others.
    Place expected = first.emplace(point, place).first->second;
    RC_ASSERT(found.lane == expected.lane);
    RC_ASSERT(found.warp == expected.warp);
    RC_ASSERT(found.group == expected.group);
  });
}

RC_GTEST_PROP(Fragment, IsEqualWhereItsPlacesAre, ()) {
  std::vector<int64_t> shape = randomShape();
  for (int64_t &size : shape)
    size = std::min<int64_t>(size, 4);
  // Short lists, so that equal layouts come up.
  Description a = randomDescription(shape, 0, 0);
  Description b = randomDescription(shape, 0, 0);
  if (*rc::gen::arbitrary<bool>())
    b.lanes = a.lanes;
  if (FragmentLayout::check(b))
    RC_DISCARD("not a layout");
  FragmentLayout first = FragmentLayout::get(a);
  FragmentLayout second = FragmentLayout::get(b);
  bool same = first.registers() == second.registers();
  if (same)
    forEachPlace(first, [&](const Place &place) {
      same &= pointAt(first, place) == pointAt(second, place);
    });
  RC_ASSERT((first == second) == same);
  RC_ASSERT(!same || hash_value(first) == hash_value(second));
  RC_TAG(same ? "same" : "different");
}

TEST(Fragment, IsEqualHoweverItsBlockIsChosen) {
  // 24 x 8 over one warp: rows in lanes, columns in registers; with blocks that
  // have one, two or all columns, and 3 blocks of 8 rows below each other.
  std::vector<FragmentLayout> layouts;
  for (unsigned bits = 0; bits <= 3; ++bits) {
    Description description;
    description.shape = {24, 8};
    description.block = {8, int64_t(1) << bits};
    description.order = {1, 0};
    description.lanes = {{0, 1}, {0, 2}, {0, 4}, {}, {}};
    for (unsigned bit = 0; bit < bits; ++bit)
      description.registers.push_back({1, 1 << bit});
    layouts.push_back(FragmentLayout::get(description));
    EXPECT_EQ(layouts.back(), layouts.front()) << bits;
    EXPECT_EQ(hash_value(layouts.back()), hash_value(layouts.front())) << bits;
  }
  // Blocks below each other first is another layout.
  Description description = layouts[0].describe();
  description.order = {0, 1};
  EXPECT_NE(FragmentLayout::get(description), layouts[0]);
  // So is one with the lanes in another order.
  description = layouts[0].describe();
  std::swap(description.lanes[0], description.lanes[1]);
  EXPECT_NE(FragmentLayout::get(description), layouts[0]);
  // The order of dimensions without blocks has no meaning.
  description = {};
  description.shape = description.block = {8, 4};
  description.order = {0, 1};
  description.lanes = {{0, 1}, {0, 2}, {0, 4}, {1, 1}, {1, 2}};
  FragmentLayout layout = FragmentLayout::get(description);
  description.order = {1, 0};
  EXPECT_EQ(FragmentLayout::get(description), layout);
}

RC_GTEST_PROP(Fragment, SliceDropsACoordinate, ()) {
  FragmentLayout layout = FragmentLayout::get(randomDescription(1));
  unsigned dim = pick(0u, layout.rank());
  FragmentLayout slice = layout.slice(dim);
  RC_ASSERT(slice.threads() == layout.threads());
  // What a thread holds of the tile, without the dimension, it holds of the
  // slice, once, and in the same order.
  using Thread = std::array<unsigned, 3>;
  auto collect = [&](const FragmentLayout &of, bool drop) {
    std::map<Thread, std::vector<Point>> held;
    forEachPlace(of, [&](const Place &place) {
      Point point = pointAt(of, place);
      if (drop) {
        // Registers of one slice of the tile, the first.
        Point thread = pointAt(of, {0, place.lane, place.warp, place.group});
        if (point[dim] != thread[dim])
          return;
        point.erase(point.begin() + dim);
      }
      held[{place.lane, place.warp, place.group}].push_back(point);
    });
    return held;
  };
  RC_ASSERT(collect(slice, false) == collect(layout, true));
}

RC_GTEST_PROP(Fragment, PermuteMovesCoordinates, ()) {
  FragmentLayout layout = FragmentLayout::get(randomDescription());
  std::vector<unsigned> dims(layout.rank());
  for (unsigned i = 0; i < dims.size(); ++i)
    dims[i] = i;
  shuffleList(dims);
  FragmentLayout moved = layout.permute(dims);
  RC_ASSERT(moved.registers() == layout.registers());
  forEachPlace(layout, [&](const Place &place) {
    Point point = pointAt(layout, place), expected;
    for (unsigned dim : dims)
      expected.push_back(point[dim]);
    RC_ASSERT(pointAt(moved, place) == expected);
  });
}

RC_GTEST_PROP(Fragment, ExpandAddsAZero, ()) {
  FragmentLayout layout = FragmentLayout::get(randomDescription());
  unsigned dim = pick(0u, layout.rank() + 1);
  FragmentLayout expanded = layout.expand(dim);
  forEachPlace(layout, [&](const Place &place) {
    Point point = pointAt(layout, place);
    point.insert(point.begin() + dim, 0);
    RC_ASSERT(pointAt(expanded, place) == point);
  });
  RC_ASSERT(expanded.slice(dim) == layout);
}

RC_GTEST_PROP(Fragment, ContiguousRegistersAreNeighbours, ()) {
  FragmentLayout layout = FragmentLayout::get(randomDescription(1));
  unsigned dim = pick(0u, layout.rank());
  // Runs of this length, at multiples of it: true of 1, of no more than that.
  auto holds = [&](unsigned count) {
    if (layout.registers() % count != 0)
      return false;
    bool neighbours = true;
    forEachPlace(layout, [&](const Place &place) {
      Place start = place;
      start.reg -= place.reg % count;
      Point point = pointAt(layout, start);
      neighbours &= point[dim] % count == 0;
      point[dim] += place.reg % count;
      neighbours &= pointAt(layout, place) == point;
    });
    return neighbours;
  };
  RC_ASSERT(holds(layout.contiguous(dim)));
  RC_ASSERT(!holds(2 * layout.contiguous(dim)));
}

TEST(Fragment, DefaultIsAScalarOfAWarpgroup) {
  FragmentLayout layout;
  EXPECT_EQ(layout.rank(), 0u);
  EXPECT_EQ(layout.registers(), 1u);
  EXPECT_EQ(layout.threads(), 128u);
  EXPECT_EQ(layout.replication(), 128u);
  EXPECT_EQ(layout, FragmentLayout::replicated({}, 4, 1));
  EXPECT_EQ(layout, FragmentLayout::blocked({}, 4, 1, 4));
}

/// A description that has everything: 16 x 8 over 4 warps and 2 warpgroups.
Description getGood() {
  Description good;
  good.shape = {48, 8};
  good.block = {16, 8};
  good.order = {1, 0};
  good.registers = {{1, 1}};
  good.lanes = {{1, 2}, {1, 4}, {0, 1}, {0, 2}, {}};
  good.warps = {{0, 4}, {}};
  good.groups = {{0, 8}};
  return good;
}

template <typename ChangeT>
std::string checkAfter(ChangeT change) {
  Description description = getGood();
  change(description);
  return FragmentLayout::check(description).value_or("");
}

TEST(Fragment, CheckNamesWhatIsWrong) {
  EXPECT_EQ(checkAfter([](Description &) {}), "");
  EXPECT_EQ(checkAfter([](Description &d) {
              d.shape = d.block = {1, 1, 1, 1, 1};
              d.order = {0, 1, 2, 3, 4};
            }),
            "a tile has at most 4 dimensions, got 5");
  EXPECT_EQ(checkAfter([](Description &d) { d.order = {1}; }),
            "block and order must have 2 dimensions, got 2 and 1");
  EXPECT_EQ(checkAfter([](Description &d) { d.order = {1, 1}; }),
            "order must hold every dimension once, got 1 twice");
  EXPECT_EQ(checkAfter([](Description &d) { d.order = {2, 0}; }),
            "order must hold every dimension once, got 2 for a tile of rank 2");
  EXPECT_EQ(checkAfter([](Description &d) { d.shape[0] = 0; }),
            "dimension 0 must have at least 1 element, got 0");
  EXPECT_EQ(checkAfter([](Description &d) { d.shape[0] = 24; }),
            "block must be a power of two that divides the 24 elements of "
            "dimension 0, got 16");
  EXPECT_EQ(checkAfter([](Description &d) { d.block[0] = 12; }),
            "block must be a power of two that divides the 48 elements of "
            "dimension 0, got 12");
  EXPECT_EQ(checkAfter([](Description &d) { d.registers[0] = {}; }),
            "a register bit must add something to a coordinate");
  EXPECT_EQ(checkAfter([](Description &d) { d.registers.resize(13); }),
            "a block has at most 12 register bits, got 13");
  EXPECT_EQ(checkAfter([](Description &d) { d.lanes.pop_back(); }),
            "there must be 5 lane bits, got 4");
  EXPECT_EQ(checkAfter([](Description &d) { d.warps.pop_back(); }),
            "there must be 0 or 2 warp bits, got 1");
  EXPECT_EQ(checkAfter([](Description &d) { d.groups.resize(3); }),
            "there are at most 2 warpgroup bits, got 3");
  EXPECT_EQ(checkAfter([](Description &d) { d.warps.clear(); }),
            "a tile of one warp has no warpgroup bits");
  EXPECT_EQ(checkAfter([](Description &d) { d.lanes[0].dim = 2; }),
            "a lane bit adds to dimension 2 of a tile of rank 2");
  EXPECT_EQ(checkAfter([](Description &d) { d.warps[0].step = 3; }),
            "a warp bit must add a power of two below the block's 16 to "
            "dimension 0, got 3");
  EXPECT_EQ(checkAfter([](Description &d) { d.groups[0].step = 16; }),
            "a warpgroup bit must add a power of two below the block's 16 to "
            "dimension 0, got 16");
  EXPECT_EQ(checkAfter([](Description &d) { d.registers[0].step = -1; }),
            "a register bit must add a power of two below the block's 8 to "
            "dimension 1, got -1");
  EXPECT_EQ(checkAfter([](Description &d) { d.warps[1] = {0, 8}; }),
            "two bits add 8 to dimension 0");
  EXPECT_EQ(checkAfter([](Description &d) { d.warps[0] = {}; }),
            "no bit adds 4 to dimension 0 of the block, which has 16 elements "
            "there");
}

} // namespace
