//===- FragmentRelationTest.cpp -------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Relations of layouts, carried out by threads that are simulated.
//
//===----------------------------------------------------------------------===//

#include "Layouts.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

using namespace mlir::df;
using Kind = LayoutRelation::Kind;
using Place = FragmentLayout::Place;

namespace mlir::df {
static void PrintTo(Kind kind, std::ostream *stream) {
  *stream << (const char *[]){"same", "registers", "shuffle",
                              "shared"}[unsigned(kind)];
}
} // namespace mlir::df

namespace {

/// The least that is needed, found by looking at every element.
Kind enumerate(const FragmentLayout &from, const FragmentLayout &to) {
  using Warp = std::array<unsigned, 2>;
  std::map<Warp, std::set<Point>> held;
  forEachPlace(from, [&](const Place &place) {
    held[{place.warp, place.group}].insert(pointAt(from, place));
  });
  bool inWarp = true;
  forEachPlace(to, [&](const Place &place) {
    inWarp &= held[{place.warp, place.group}].count(pointAt(to, place));
  });
  if (!inWarp)
    return Kind::shared;
  bool inThread = true, same = from.registers() == to.registers();
  for (unsigned reg = 0; reg < to.registers(); ++reg) {
    bool found = false;
    for (unsigned source = 0; source < from.registers(); ++source) {
      bool all = true;
      for (unsigned group = 0; group < to.groups(); ++group)
        for (unsigned warp = 0; warp < to.warps(); ++warp)
          for (unsigned lane = 0; lane < 32; ++lane)
            all &= pointAt(to, {reg, lane, warp, group}) ==
                   pointAt(from, {source, lane, warp, group});
      found |= all;
      if (source == reg)
        same &= all;
    }
    inThread &= found;
  }
  return same ? Kind::same : inThread ? Kind::registers : Kind::shuffle;
}

/// Where a register of the target comes from, as the header says it.
Place followRelation(const LayoutRelation &relation, const Place &place) {
  unsigned thread = place.lane + 32 * place.warp + 128 * place.group;
  Place source = place;
  source.reg = relation.registers[place.reg];
  if (relation.kind != Kind::shuffle)
    return source;
  source.lane = relation.lanes[place.reg];
  for (unsigned bit = 0; bit < 5; ++bit)
    if (relation.laneFrom[bit] >= 0)
      source.lane += (thread >> relation.laneFrom[bit] & 1) << bit;
  for (LayoutRelation::Select select : relation.selects)
    if (thread >> select.threadBit & 1)
      source.reg += select.offset;
  return source;
}

void checkRelation(const FragmentLayout &from, const FragmentLayout &to) {
  LayoutRelation found = relation(from, to);
  RC_ASSERT(found.kind == enumerate(from, to));
  RC_ASSERT((found.kind == Kind::same) == (from == to));
  if (found.kind == Kind::shared)
    return;
  RC_ASSERT(found.registers.size() == to.registers());
  forEachPlace(to, [&](const Place &place) {
    Place source = followRelation(found, place);
    RC_ASSERT(source.reg < from.registers());
    RC_ASSERT(source.lane < 32u);
    RC_ASSERT(pointAt(from, source) == pointAt(to, place));
  });
}

RC_GTEST_PROP(Relation, MovesEveryElement, ()) {
  std::vector<int64_t> shape = randomShape();
  unsigned warps = *rc::gen::element(0u, 2u);
  unsigned groups = warps ? pick(0u, 2u) : 0;
  auto a = randomDescription(shape, warps, groups);
  auto b = randomDescription(shape, warps, groups);
  FragmentLayout from = FragmentLayout::get(a), to = FragmentLayout::get(b);
  if (from.registers() > 64 || to.registers() > 64)
    RC_DISCARD("too large to enumerate");
  checkRelation(from, to);
}

// Random layouts mostly meet in shared memory: here those of one thread, or of
// one warp, stay the same.
RC_GTEST_PROP(Relation, MovesEveryElementOfAWarp, ()) {
  std::vector<int64_t> shape = {int64_t(1) << pick(2, 6), int64_t(3)
                                                              << pick(1, 5)};
  auto description = randomDescription(shape, 2, 1);
  FragmentLayout from = FragmentLayout::get(description);
  shuffleList(description.registers);
  shuffleList(description.order);
  if (*rc::gen::arbitrary<bool>())
    for (unsigned i = 0; i < description.lanes.size(); ++i) {
      // A lane and a register bit change places.
      if (description.registers.empty() || description.lanes[i].isZero() ||
          *rc::gen::arbitrary<bool>())
        continue;
      std::swap(description.lanes[i], description.registers[0]);
    }
  FragmentLayout to = FragmentLayout::get(description);
  if (from.registers() > 64)
    RC_DISCARD("too large to enumerate");
  LayoutRelation found = relation(from, to);
  RC_ASSERT(found.kind != Kind::shared);
  RC_TAG(testing::PrintToString(found.kind));
  checkRelation(from, to);
}

TEST(Relation, KnowsTheOnesThatKernelsNeed) {
  FragmentLayout accumulator = *FragmentLayout::accumulator({64, 32}, 0);
  // A result as the operand of the next product.
  EXPECT_EQ(
      relation(accumulator, *FragmentLayout::registerA({64, 32}, 0, 2)).kind,
      Kind::same);
  EXPECT_EQ(
      relation(accumulator, *FragmentLayout::registerA({64, 32}, 0, 1)).kind,
      Kind::shuffle);
  // Statistics of rows to all threads, and from them to the rows.
  FragmentLayout rows = accumulator.slice(1);
  FragmentLayout everywhere = FragmentLayout::replicated({64}, 4, 1);
  EXPECT_EQ(relation(rows, everywhere).kind, Kind::shared);
  LayoutRelation back = relation(everywhere, rows);
  EXPECT_EQ(back.kind, Kind::shuffle);
  EXPECT_EQ(back.selects.size(), 5u);
  for (int bit = 0; bit < 5; ++bit)
    EXPECT_EQ(back.laneFrom[bit], bit);
  EXPECT_EQ(
      relation(accumulator, FragmentLayout::blocked({64, 32}, 4, 1, 4)).kind,
      Kind::shared);
}

TEST(Relation, WarpsMayPickTheirPart) {
  // All warps hold all; each needs a quarter.
  FragmentLayout from = FragmentLayout::replicated({128}, 4, 1);
  FragmentLayout to = FragmentLayout::blocked({128}, 4, 1, 16);
  LayoutRelation found = relation(from, to);
  EXPECT_EQ(found.kind, Kind::shuffle);
  EXPECT_EQ(found.selects.size(), 7u);
  checkRelation(from, to);
  EXPECT_EQ(relation(to, from).kind, Kind::shared);
}

} // namespace
