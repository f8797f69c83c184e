//===- Layouts.h ----------------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random layouts, and layouts evaluated by their definition.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_IR_LAYOUTS_H
#define DATAFLOW_TEST_UNIT_IR_LAYOUTS_H

#include "dataflow/IR/FragmentLayout.h"

#include <rapidcheck.h>

#include <map>
#include <ostream>
#include <vector>

namespace mlir::df {

using Point = std::vector<int64_t>;

/// Calls `visit` for every thread and register, in that order.
template <typename VisitT>
void forEachPlace(const FragmentLayout &layout, VisitT visit) {
  for (unsigned group = 0; group < layout.groups(); ++group)
    for (unsigned warp = 0; warp < layout.warps(); ++warp)
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned reg = 0; reg < layout.registers(); ++reg)
          visit(FragmentLayout::Place{reg, lane, warp, group});
}

inline Point pointAt(const FragmentLayout &layout,
                     const FragmentLayout::Place &place) {
  auto coordinates =
      layout.coordinates(place.reg, place.lane, place.warp, place.group);
  return Point(coordinates.begin(), coordinates.end());
}

/// The definition, word by word: number of the block, then the bits.
inline Point pointAt(const FragmentLayout::Description &description,
                     const FragmentLayout::Place &place) {
  Point point(description.shape.size());
  unsigned number = place.reg / (1u << description.registers.size());
  for (unsigned dim : description.order) {
    unsigned count = description.shape[dim] / description.block[dim];
    point[dim] = number % count * description.block[dim];
    number = number / count;
  }
  auto add = [&](const auto &bases, unsigned bits) {
    for (size_t bit = 0; bit < bases.size(); ++bit)
      if (bits & (1u << bit) && bases[bit].step)
        point[bases[bit].dim] += bases[bit].step;
  };
  add(description.registers, place.reg);
  add(description.lanes, place.lane);
  add(description.warps, place.warp);
  add(description.groups, place.group);
  return point;
}

/// How often every element is held.
inline std::map<Point, unsigned> countOwners(const FragmentLayout &layout) {
  std::map<Point, unsigned> owners;
  forEachPlace(layout, [&](const FragmentLayout::Place &place) {
    ++owners[pointAt(layout, place)];
  });
  return owners;
}

/// A number from `begin` on, below `end`, however small the case is to be.
template <typename T>
T pick(T begin, T end) {
  return *rc::gen::resize(100, rc::gen::inRange<T>(begin, end));
}

template <typename ListT>
void shuffleList(ListT &list) {
  for (size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1], list[pick<size_t>(0, i)]);
}

/// A random layout of a shape, blocks of which are at most 2^5 along each
/// dimension. `warps` and `groups` are numbers of bits.
inline FragmentLayout::Description
randomDescription(llvm::ArrayRef<int64_t> shape, unsigned warps,
                  unsigned groups) {
  using Base = FragmentLayout::Base;
  FragmentLayout::Description description;
  std::vector<Base> bases;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    int64_t block = 1;
    while (shape[dim] % (2 * block) == 0 && block < 32 && pick(0, 4) != 0) {
      bases.push_back({dim, int32_t(block)});
      block *= 2;
    }
    description.shape.push_back(shape[dim]);
    description.block.push_back(block);
    description.order.push_back(dim);
  }
  shuffleList(bases);
  shuffleList(description.order);
  auto take = [&](auto &list, unsigned bits) {
    for (unsigned bit = 0; bit < bits; ++bit) {
      bool zero = bases.empty() || pick(0, 3) == 0;
      list.push_back(zero ? Base{} : bases.back());
      if (!zero)
        bases.pop_back();
    }
  };
  take(description.lanes, 5);
  take(description.warps, warps);
  take(description.groups, groups);
  description.registers.assign(bases.begin(), bases.end());
  return description;
}

/// A shape of rank `least` to 3, with sizes that are powers of two times 1
/// or 3.
inline std::vector<int64_t> randomShape(unsigned least = 0) {
  std::vector<int64_t> shape(pick(least, 4u));
  for (int64_t &size : shape)
    size = (int64_t(1) << pick(0, 5)) * *rc::gen::element<int64_t>(1, 1, 3);
  return shape;
}

inline FragmentLayout::Description randomDescription(unsigned leastRank = 0) {
  unsigned warps = *rc::gen::element(0u, 2u);
  return randomDescription(randomShape(leastRank), warps,
                           warps ? pick(0u, 3u) : 0);
}

} // namespace mlir::df

#endif // DATAFLOW_TEST_UNIT_IR_LAYOUTS_H
