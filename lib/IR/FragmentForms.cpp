//===- FragmentForms.cpp --------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts that the instructions of the device prescribe, and those for memory.
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/FragmentLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace mlir::df;
using llvm::ArrayRef;

/// The largest power of two that divides a number.
static int64_t powerOfTwo(int64_t number) {
  return int64_t(1) << llvm::countr_zero(uint64_t(number));
}

static bool isGroupCount(unsigned groups) {
  return groups == 1 || groups == 2 || groups == 4;
}

/// What accumulator and operand A have in common: 64 rows along `mDim`, of
/// which a lane holds two, 8 apart.
static FragmentLayout::Description getRows(ArrayRef<int64_t> shape,
                                           unsigned mDim) {
  FragmentLayout::Description description;
  description.shape.assign(shape.begin(), shape.end());
  description.block = {64, 64};
  description.order = {1 - mDim, mDim};
  description.warps = {{mDim, 16}, {mDim, 32}};
  return description;
}

/// Gives the warpgroups runs of 64 rows.
static void splitRows(FragmentLayout::Description &description, unsigned mDim,
                      unsigned groups) {
  for (unsigned bit = 1; bit < groups; bit *= 2)
    description.groups.push_back({mDim, int32_t(64 * bit)});
  description.block[mDim] = 64 * int64_t(groups);
}

std::optional<FragmentLayout>
FragmentLayout::accumulator(ArrayRef<int64_t> shape, unsigned mDim,
                            unsigned groups, DotSplit split) {
  if (shape.size() != 2 || mDim > 1 || !isGroupCount(groups))
    return std::nullopt;
  unsigned nDim = 1 - mDim;
  bool splitM = split == DotSplit::m;
  if (shape[0] < 1 || shape[1] < 1 ||
      shape[mDim] % (64 * (splitM ? groups : 1)) != 0 ||
      shape[nDim] % (8 * (splitM ? 1 : groups)) != 0)
    return std::nullopt;
  Description description = getRows(shape, mDim);
  description.registers = {{nDim, 1}, {mDim, 8}};
  description.lanes = {{nDim, 2}, {nDim, 4}, {mDim, 1}, {mDim, 2}, {mDim, 4}};
  description.block[nDim] = 8;
  if (splitM) {
    splitRows(description, mDim, groups);
  } else if (groups > 1) {
    int64_t run = powerOfTwo(shape[nDim]) / groups;
    for (int64_t step = 8; step < run; step *= 2)
      description.registers.push_back({nDim, int32_t(step)});
    for (unsigned bit = 1; bit < groups; bit *= 2)
      description.groups.push_back({nDim, int32_t(run * bit)});
    description.block[nDim] = run * groups;
  }
  if (description.registers.size() > maxRegisterBits)
    return std::nullopt;
  return get(description);
}

std::optional<FragmentLayout> FragmentLayout::registerA(ArrayRef<int64_t> shape,
                                                        unsigned mDim,
                                                        unsigned elementBytes,
                                                        unsigned groups,
                                                        DotSplit split) {
  if (shape.size() != 2 || mDim > 1 || !isGroupCount(groups) ||
      (elementBytes != 1 && elementBytes != 2 && elementBytes != 4))
    return std::nullopt;
  unsigned kDim = 1 - mDim;
  bool splitM = split == DotSplit::m;
  int32_t packed = 4 / elementBytes;
  if (shape[0] < 1 || shape[1] < 1 ||
      shape[mDim] % (64 * (splitM ? groups : 1)) != 0 ||
      shape[kDim] % (8 * packed) != 0)
    return std::nullopt;
  Description description = getRows(shape, mDim);
  // The elements of a 32-bit register, rows 8 apart, halves of the K block.
  for (int32_t step = 1; step < packed; step *= 2)
    description.registers.push_back({kDim, step});
  description.registers.push_back({mDim, 8});
  description.registers.push_back({kDim, 4 * packed});
  description.lanes = {
      {kDim, packed}, {kDim, 2 * packed}, {mDim, 1}, {mDim, 2}, {mDim, 4}};
  description.block[kDim] = 8 * packed;
  if (splitM) {
    splitRows(description, mDim, groups);
  } else {
    for (unsigned bit = 1; bit < groups; bit *= 2)
      description.groups.push_back({});
  }
  return get(description);
}

FragmentLayout FragmentLayout::blocked(ArrayRef<int64_t> shape, unsigned warps,
                                       unsigned groups, unsigned elementBytes) {
  assert(shape.size() <= maxRank && (warps == 1 || warps == 4) &&
         isGroupCount(groups) && "no such threads");
  Description description;
  description.shape.assign(shape.begin(), shape.end());
  description.block.assign(shape.size(), 1);
  // Doubles the block along the last dimension that can still grow.
  size_t dim = shape.size();
  auto grow = [&]() -> Base {
    while (dim > 0 && description.block[dim - 1] == powerOfTwo(shape[dim - 1]))
      --dim;
    if (dim == 0)
      return {};
    Base base{unsigned(dim - 1), int32_t(description.block[dim - 1])};
    description.block[dim - 1] *= 2;
    return base;
  };
  for (unsigned number = shape.size(); number-- > 0;)
    description.order.push_back(number);
  if (!shape.empty())
    for (unsigned bytes = elementBytes;
         bytes < 16 && description.block.back() < powerOfTwo(shape.back());
         bytes *= 2)
      description.registers.push_back(grow());
  for (unsigned bit = 0; bit < laneBits; ++bit)
    description.lanes.push_back(grow());
  for (unsigned bit = 1; bit < warps; bit *= 2)
    description.warps.push_back(grow());
  for (unsigned bit = 1; bit < groups; bit *= 2)
    description.groups.push_back(grow());
  return get(description);
}

FragmentLayout FragmentLayout::replicated(ArrayRef<int64_t> shape,
                                          unsigned warps, unsigned groups) {
  assert(shape.size() <= maxRank && (warps == 1 || warps == 4) &&
         isGroupCount(groups) && "no such threads");
  Description description;
  description.shape.assign(shape.begin(), shape.end());
  description.block.assign(shape.size(), 1);
  for (unsigned number = shape.size(); number-- > 0;)
    description.order.push_back(number);
  description.lanes.resize(laneBits);
  description.warps.resize(warps == 1 ? 0 : maxWarpBits);
  description.groups.resize(llvm::Log2_32(groups));
  return get(description);
}

std::optional<FragmentLayout::DotForm>
FragmentLayout::matchAccumulator() const {
  for (DotForm form : {DotForm{0, DotSplit::m}, DotForm{1, DotSplit::m},
                       DotForm{0, DotSplit::n}, DotForm{1, DotSplit::n}})
    if (accumulator(shape(), form.mDim, groups(), form.split) == *this)
      return form;
  return std::nullopt;
}

std::optional<FragmentLayout::DotForm>
FragmentLayout::matchRegisterA(unsigned elementBytes) const {
  for (DotForm form : {DotForm{0, DotSplit::m}, DotForm{1, DotSplit::m},
                       DotForm{0, DotSplit::n}, DotForm{1, DotSplit::n}})
    if (registerA(shape(), form.mDim, elementBytes, groups(), form.split) ==
        *this)
      return form;
  return std::nullopt;
}
