//===- FragmentLayout.cpp -------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The normal form of layouts, their places, and layouts made of others.
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/FragmentLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>

using namespace mlir::df;
using llvm::ArrayRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

FragmentLayout::FragmentLayout() = default;

/// What is wrong with the bases of one kind of bits, or nothing. Marks the
/// steps that they add.
static std::string checkBases(const FragmentLayout::Description &description,
                              ArrayRef<FragmentLayout::Base> bases,
                              llvm::StringRef kind, bool zeros,
                              llvm::MutableArrayRef<int64_t> covered) {
  for (FragmentLayout::Base base : bases) {
    if (base.isZero()) {
      if (!zeros)
        return ("a register bit must add something to a coordinate");
      continue;
    }
    if (base.dim >= description.shape.size())
      return (kind + " bit adds to dimension " + Twine(base.dim) +
              " of a tile of rank " + Twine(description.shape.size()))
          .str();
    int64_t block = description.block[base.dim];
    if (base.step < 0 || !llvm::isPowerOf2_64(base.step) || base.step >= block)
      return (kind + " bit must add a power of two below the block's " +
              Twine(block) + " to dimension " + Twine(base.dim) + ", got " +
              Twine(base.step))
          .str();
    if (covered[base.dim] & base.step)
      return ("two bits add " + Twine(base.step) + " to dimension " +
              Twine(base.dim))
          .str();
    covered[base.dim] |= base.step;
  }
  return {};
}

std::optional<std::string>
FragmentLayout::check(const Description &description) {
  size_t rank = description.shape.size();
  if (rank > maxRank)
    return ("a tile has at most " + Twine(maxRank) + " dimensions, got " +
            Twine(rank))
        .str();
  if (description.block.size() != rank || description.order.size() != rank)
    return ("block and order must have " + Twine(rank) + " dimensions, got " +
            Twine(description.block.size()) + " and " +
            Twine(description.order.size()))
        .str();
  unsigned seen = 0;
  for (unsigned dim : description.order) {
    if (dim >= rank || (seen >> dim & 1))
      return ("order must hold every dimension once, got " + Twine(dim) +
              (dim >= rank ? " for a tile of rank " + Twine(rank)
                           : Twine(" twice")))
          .str();
    seen |= 1u << dim;
  }
  for (auto [dim, size, block] :
       llvm::enumerate(description.shape, description.block)) {
    if (size < 1)
      return ("dimension " + Twine(dim) +
              " must have at least 1 element, got " + Twine(size))
          .str();
    if (block < 1 || !llvm::isPowerOf2_64(block) || size % block != 0)
      return ("block must be a power of two that divides the " + Twine(size) +
              " elements of dimension " + Twine(dim) + ", got " + Twine(block))
          .str();
  }
  if (description.registers.size() > maxRegisterBits)
    return ("a block has at most " + Twine(maxRegisterBits) +
            " register bits, got " + Twine(description.registers.size()))
        .str();
  if (description.lanes.size() != laneBits)
    return ("there must be " + Twine(laneBits) + " lane bits, got " +
            Twine(description.lanes.size()))
        .str();
  if (description.warps.size() != 0 && description.warps.size() != maxWarpBits)
    return ("there must be 0 or " + Twine(maxWarpBits) + " warp bits, got " +
            Twine(description.warps.size()))
        .str();
  if (description.groups.size() > maxGroupBits)
    return ("there are at most " + Twine(maxGroupBits) +
            " warpgroup bits, got " + Twine(description.groups.size()))
        .str();
  if (description.warps.empty() && !description.groups.empty())
    return std::string("a tile of one warp has no warpgroup bits");

  int64_t covered[maxRank] = {};
  for (auto [bases, kind, zeros] :
       {std::tuple(ArrayRef<Base>(description.registers), "a register", false),
        std::tuple(ArrayRef<Base>(description.lanes), "a lane", true),
        std::tuple(ArrayRef<Base>(description.warps), "a warp", true),
        std::tuple(ArrayRef<Base>(description.groups), "a warpgroup", true)}) {
    std::string problem = checkBases(description, bases, kind, zeros, covered);
    if (!problem.empty())
      return problem;
  }
  for (size_t dim = 0; dim < rank; ++dim)
    if (covered[dim] != description.block[dim] - 1)
      return ("no bit adds " +
              Twine(1ll << llvm::countr_one(uint64_t(covered[dim]))) +
              " to dimension " + Twine(dim) + " of the block, which has " +
              Twine(description.block[dim]) + " elements there")
          .str();
  return std::nullopt;
}

FragmentLayout FragmentLayout::get(const Description &description) {
  assert(!check(description) && "not a layout");
  FragmentLayout layout;
  layout.rankValue = description.shape.size();
  layout.numRegisterBits = description.registers.size();
  layout.numWarpBits = description.warps.size();
  layout.numGroupBits = description.groups.size();
  llvm::copy(description.shape, layout.shapeValue);
  llvm::copy(description.block, layout.blockValue);
  llvm::copy(description.order, layout.orderValue);
  llvm::copy(description.registers, layout.registerValues);
  llvm::copy(description.lanes, layout.laneValues);
  llvm::copy(description.warps, layout.warpValues);
  llvm::copy(description.groups, layout.groupValues);
  layout.normalize();
  return layout;
}

FragmentLayout::Description FragmentLayout::describe() const {
  Description description;
  description.shape.assign(shape().begin(), shape().end());
  description.block.assign(block().begin(), block().end());
  description.order.assign(order().begin(), order().end());
  description.registers.assign(registerBases().begin(), registerBases().end());
  description.lanes.assign(laneBases().begin(), laneBases().end());
  description.warps.assign(warpBases().begin(), warpBases().end());
  description.groups.assign(groupBases().begin(), groupBases().end());
  return description;
}

// A register bit that is the upper half of the block, along the dimension in
// which blocks are numbered fastest, numbers blocks too: it is taken out of the
// block. What remains is the smallest block.
void FragmentLayout::normalize() {
  auto blocksAlong = [&](unsigned dim) {
    return shapeValue[dim] / blockValue[dim];
  };
  // The order of dimensions with one block has no meaning: they come last.
  auto sortOrder = [&] {
    llvm::SmallVector<unsigned, maxRank> sorted;
    for (unsigned dim : order())
      if (blocksAlong(dim) != 1)
        sorted.push_back(dim);
    for (unsigned dim = rankValue; dim-- > 0;)
      if (blocksAlong(dim) == 1)
        sorted.push_back(dim);
    llvm::copy(sorted, orderValue);
  };
  sortOrder();
  while (numRegisterBits != 0) {
    Base base = registerValues[numRegisterBits - 1];
    if (base.step * 2 != blockValue[base.dim] ||
        (blocksAlong(base.dim) != 1 && orderValue[0] != base.dim))
      break;
    blockValue[base.dim] = base.step;
    registerValues[--numRegisterBits] = {};
    unsigned *place = std::find(orderValue, orderValue + rankValue, base.dim);
    std::rotate(orderValue, place, place + 1);
    sortOrder();
  }
  for (llvm::MutableArrayRef<Base> bases :
       {llvm::MutableArrayRef<Base>(laneValues),
        llvm::MutableArrayRef<Base>(warpValues),
        llvm::MutableArrayRef<Base>(groupValues)})
    for (Base &base : bases)
      if (base.isZero())
        base = {};
}

bool mlir::df::operator==(const FragmentLayout &a, const FragmentLayout &b) {
  return a.shape() == b.shape() && a.block() == b.block() &&
         a.order() == b.order() && a.registerBases() == b.registerBases() &&
         a.laneBases() == b.laneBases() && a.warpBases() == b.warpBases() &&
         a.groupBases() == b.groupBases();
}

llvm::hash_code mlir::df::hash_value(const FragmentLayout &layout) {
  llvm::hash_code code = llvm::hash_combine(
      llvm::hash_combine_range(layout.shape()),
      llvm::hash_combine_range(layout.block()),
      llvm::hash_combine_range(layout.order()), layout.numRegisterBits,
      layout.numWarpBits, layout.numGroupBits);
  for (ArrayRef<FragmentLayout::Base> bases :
       {layout.registerBases(), layout.laneBases(), layout.warpBases(),
        layout.groupBases()})
    for (FragmentLayout::Base base : bases)
      code = llvm::hash_combine(code, base.dim, base.step);
  return code;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

int64_t FragmentLayout::elements() const {
  int64_t elements = 1;
  for (int64_t size : shape())
    elements *= size;
  return elements;
}

unsigned FragmentLayout::blocks() const {
  unsigned blocks = 1;
  for (auto [size, block] : llvm::zip_equal(shape(), block()))
    blocks *= size / block;
  return blocks;
}

unsigned FragmentLayout::replication() const {
  unsigned bits = 0;
  for (ArrayRef<Base> bases : {laneBases(), warpBases(), groupBases()})
    bits += llvm::count_if(bases, [](Base base) { return base.isZero(); });
  return 1u << bits;
}

static void addBases(ArrayRef<FragmentLayout::Base> bases, unsigned number,
                     FragmentLayout::Coordinates &coordinates) {
  for (auto [bit, base] : llvm::enumerate(bases))
    if ((number >> bit & 1) && !base.isZero())
      coordinates[base.dim] += base.step;
}

FragmentLayout::Coordinates FragmentLayout::coordinates(unsigned reg,
                                                        unsigned lane,
                                                        unsigned warp,
                                                        unsigned group) const {
  assert(reg < registers() && lane < 32 && warp < 4 && group < groups() &&
         "no such place");
  Coordinates result(rankValue, 0);
  unsigned number = reg >> numRegisterBits;
  for (unsigned dim : order()) {
    unsigned count = shapeValue[dim] / blockValue[dim];
    result[dim] = int64_t(number % count) * blockValue[dim];
    number /= count;
  }
  addBases(registerBases(), reg, result);
  addBases(laneBases(), lane, result);
  addBases(warpBases(), warp, result);
  addBases(groupBases(), group, result);
  return result;
}

static unsigned findBits(ArrayRef<FragmentLayout::Base> bases,
                         ArrayRef<int64_t> coordinates) {
  unsigned number = 0;
  for (auto [bit, base] : llvm::enumerate(bases))
    if (!base.isZero() && (coordinates[base.dim] & base.step))
      number |= 1u << bit;
  return number;
}

FragmentLayout::Place
FragmentLayout::place(ArrayRef<int64_t> coordinates) const {
  assert(coordinates.size() == rankValue && "not of the tile's rank");
  unsigned number = 0, stride = 1;
  for (unsigned dim : order()) {
    number += coordinates[dim] / blockValue[dim] * stride;
    stride *= shapeValue[dim] / blockValue[dim];
  }
  Place place;
  place.reg =
      number << numRegisterBits | findBits(registerBases(), coordinates);
  place.lane = findBits(laneBases(), coordinates);
  place.warp = findBits(warpBases(), coordinates);
  place.group = findBits(groupBases(), coordinates);
  return place;
}

unsigned FragmentLayout::contiguous(unsigned dim) const {
  unsigned count = 1;
  for (Base base : registerBases()) {
    if (base.dim != dim || base.step != int32_t(count))
      return count;
    count *= 2;
  }
  // Blocks of neighbours go on, where the block is nothing else.
  if (count != blockValue[dim] || rankValue == 0 || orderValue[0] != dim)
    return count;
  uint64_t blocks = shapeValue[dim] / blockValue[dim];
  return count << llvm::countr_zero(blocks);
}

//===----------------------------------------------------------------------===//
// Derived layouts
//===----------------------------------------------------------------------===//

FragmentLayout FragmentLayout::slice(unsigned dim) const {
  assert(dim < rankValue && "no such dimension");
  Description from = describe(), to;
  auto drop = [&](auto &list, const auto &source) {
    for (auto [index, value] : llvm::enumerate(source))
      if (index != dim)
        list.push_back(value);
  };
  drop(to.shape, from.shape);
  drop(to.block, from.block);
  for (unsigned other : from.order)
    if (other != dim)
      to.order.push_back(other - (other > dim));
  auto dropBases = [&](auto &list, ArrayRef<Base> source, bool zeros) {
    for (Base base : source) {
      bool gone = base.isZero() || base.dim == dim;
      if (!gone)
        list.push_back({base.dim - (base.dim > dim), base.step});
      else if (zeros)
        list.push_back({});
    }
  };
  dropBases(to.registers, from.registers, false);
  dropBases(to.lanes, from.lanes, true);
  dropBases(to.warps, from.warps, true);
  dropBases(to.groups, from.groups, true);
  return get(to);
}

FragmentLayout FragmentLayout::permute(ArrayRef<unsigned> dims) const {
  assert(dims.size() == rankValue && "not of the tile's rank");
  unsigned inverse[maxRank] = {};
  Description description = describe();
  for (auto [index, dim] : llvm::enumerate(dims)) {
    inverse[dim] = index;
    description.shape[index] = shapeValue[dim];
    description.block[index] = blockValue[dim];
  }
  for (unsigned &dim : description.order)
    dim = inverse[dim];
  auto move = [&](auto &bases) {
    for (Base &base : bases)
      base.dim = inverse[base.dim];
  };
  move(description.registers);
  move(description.lanes);
  move(description.warps);
  move(description.groups);
  return get(description);
}

FragmentLayout FragmentLayout::expand(unsigned dim) const {
  assert(dim <= rankValue && rankValue < maxRank && "no such dimension");
  Description description = describe();
  description.shape.insert(description.shape.begin() + dim, 1);
  description.block.insert(description.block.begin() + dim, 1);
  auto move = [&](unsigned &other) { other += other >= dim; };
  for (unsigned &other : description.order)
    move(other);
  description.order.push_back(dim);
  auto moveBases = [&](auto &bases) {
    for (Base &base : bases)
      if (!base.isZero())
        move(base.dim);
  };
  moveBases(description.registers);
  moveBases(description.lanes);
  moveBases(description.warps);
  moveBases(description.groups);
  return get(description);
}
