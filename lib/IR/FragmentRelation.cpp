//===- FragmentRelation.cpp -----------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What it takes to bring a tile from one layout to another.
//
// Coordinates are sums, and so are places: every bit of a place in the target
// contributes one step along one dimension, and that step alone says which
// register or which lane of the source it leads to. The contributions of bits
// of the thread are the same for all registers.
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/FragmentLayout.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using namespace mlir::df;
using Base = FragmentLayout::Base;
using Kind = LayoutRelation::Kind;

/// The place that a step along one dimension leads to.
static FragmentLayout::Place placeOfStep(const FragmentLayout &layout,
                                         Base base) {
  FragmentLayout::Coordinates coordinates(layout.rank(), 0);
  coordinates[base.dim] = base.step;
  return layout.place(coordinates);
}

/// Whether warps or warpgroups of the target find all they need in themselves:
/// they hold the same part, or in the source everything.
static bool isWithin(llvm::ArrayRef<Base> from, llvm::ArrayRef<Base> to) {
  return from.size() == to.size() &&
         llvm::all_of(llvm::zip(from, to), [](auto pair) {
           auto [source, target] = pair;
           return source.isZero() || source == target;
         });
}

LayoutRelation mlir::df::relation(const FragmentLayout &from,
                                  const FragmentLayout &to) {
  assert(from.shape() == to.shape() && "layouts of different tiles");
  LayoutRelation relation;
  if (!isWithin(from.warpBases(), to.warpBases()) ||
      !isWithin(from.groupBases(), to.groupBases()))
    return relation;

  // Registers and lanes that registers of the target lead to.
  for (unsigned reg = 0; reg < to.registers(); ++reg) {
    FragmentLayout::Place place = from.place(to.coordinates(reg, 0));
    relation.registers.push_back(place.reg);
    relation.lanes.push_back(place.lane);
  }
  // And those that bits of the thread lead to.
  auto addBit = [&](unsigned threadBit, Base source, Base target) {
    // Where the source is replicated the own lane is as good as any other.
    if (threadBit < FragmentLayout::laneBits && source.isZero())
      relation.laneFrom[threadBit] = threadBit;
    if (target.isZero() || (source == target && threadBit >= 5))
      return;
    FragmentLayout::Place place = placeOfStep(from, target);
    if (place.reg != 0)
      relation.selects.push_back({threadBit, place.reg});
    for (unsigned bit = 0; bit < FragmentLayout::laneBits; ++bit)
      if (place.lane >> bit & 1)
        relation.laneFrom[bit] = threadBit;
  };
  for (auto [bit, bases] :
       llvm::enumerate(llvm::zip(from.laneBases(), to.laneBases())))
    addBit(bit, std::get<0>(bases), std::get<1>(bases));
  for (auto [bit, bases] :
       llvm::enumerate(llvm::zip(from.warpBases(), to.warpBases())))
    addBit(FragmentLayout::laneBits + bit, std::get<0>(bases),
           std::get<1>(bases));
  for (auto [bit, bases] :
       llvm::enumerate(llvm::zip(from.groupBases(), to.groupBases())))
    addBit(FragmentLayout::laneBits + FragmentLayout::maxWarpBits + bit,
           std::get<0>(bases), std::get<1>(bases));

  bool ownLane =
      llvm::all_of(relation.lanes, [](unsigned lane) { return lane == 0; });
  for (auto [bit, source] : llvm::enumerate(relation.laneFrom))
    ownLane &= source == int(bit);
  if (!ownLane || !relation.selects.empty())
    relation.kind = Kind::shuffle;
  else if (from.registers() == to.registers() &&
           llvm::all_of(llvm::enumerate(relation.registers),
                        [](auto pair) { return pair.index() == pair.value(); }))
    relation.kind = Kind::same;
  else
    relation.kind = Kind::registers;
  return relation;
}
