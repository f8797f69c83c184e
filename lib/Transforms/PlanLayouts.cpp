//===- PlanLayouts.cpp - The cheapest layouts of a body -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dots fix the layouts of their classes, up to their orientation and how
// warpgroups share them out. For every combination of these, up to a number,
// the layouts of the other classes follow along broadcasts and reductions; what
// follows from nothing is laid out for coalesced access to memory.
//
//===----------------------------------------------------------------------===//

#include "AssignLayouts.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::df;

/// Combinations of orientations that are tried at most.
static constexpr size_t kMaxPlans = 256;
/// Cycles that a load or store instruction of all warps takes, about.
static constexpr int64_t kAccessCycles = 4;

using Layouts = std::vector<std::optional<FragmentLayout>>;

namespace {

class Planner {
public:
  Planner(PartOp part, const TileClasses &classes, TileHomes &homes,
          unsigned warps, unsigned groups, const LayoutLimits &limits,
          Refusal &refusal)
      : part(part), classes(classes), homes(homes), warps(warps),
        groups(groups), limits(limits), refusal(refusal) {}

  FailureOr<LayoutPlan> run();

private:
  struct Anchor {
    unsigned number;
    std::vector<FragmentLayout> layouts;
  };

  LogicalResult findAnchors();
  void propagate(Layouts &layouts);
  std::vector<FragmentLayout> following(unsigned number,
                                        const Layouts &layouts) const;
  std::vector<FragmentLayout> freely(unsigned number) const;
  int64_t edgeCost(unsigned number, const FragmentLayout &layout,
                   const Layouts &layouts) const;
  int64_t accessCost(const TileClasses::Access &access,
                     const FragmentLayout &space,
                     const FragmentLayout &tile) const;
  int64_t memoryCost(unsigned number, const FragmentLayout &layout) const;
  int64_t followingCost(unsigned number, const FragmentLayout &layout,
                        const Layouts &layouts) const;
  FailureOr<LayoutPlan> complete(Layouts layouts, Refusal &why);
  LogicalResult checkRegisters(const LayoutPlan &plan, Refusal &why);
  LogicalResult checkScratch(const LayoutPlan &plan, Refusal &why);
  LogicalResult checkWarps(const LayoutPlan &plan, Refusal &why);

  PartOp part;
  const TileClasses &classes;
  TileHomes &homes;
  unsigned warps, groups;
  const LayoutLimits &limits;
  Refusal &refusal;
  SmallVector<Anchor> anchors;
};

} // namespace

/// The layouts that the results of dots may have.
LogicalResult Planner::findAnchors() {
  for (unsigned number = 0; number < classes.size(); ++number) {
    const TileClasses::Class &each = classes[number];
    if (each.dots.empty())
      continue;
    DotOp dot = each.dots.front();
    Anchor anchor{number, {}};
    for (unsigned mDim : {0u, 1u})
      for (DotSplit split : {DotSplit::m, DotSplit::n}) {
        if (groups == 1 && split == DotSplit::n)
          continue;
        if (auto layout =
                FragmentLayout::accumulator(each.shape, mDim, groups, split))
          anchor.layouts.push_back(*layout);
      }
    if (anchor.layouts.empty())
      return refusal.set(dot, "a product of " + Twine(each.shape[0]) + " x " +
                                  Twine(each.shape[1]) +
                                  " needs a multiple of 64 in one dimension "
                                  "and of 8 in the other");
    anchors.push_back(std::move(anchor));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

/// Warps, or sets of warps, that each have their part of a reduction; 1: no
/// exchange.
static int64_t exchangedParts(const FragmentLayout &space,
                              const TileDims &dims) {
  auto isReduced = [&](FragmentLayout::Base base) {
    return !base.isZero() && !llvm::is_contained(dims, int(base.dim));
  };
  return int64_t(1) << (llvm::count_if(space.warpBases(), isReduced) +
                        llvm::count_if(space.groupBases(), isReduced));
}

/// What it costs that a tile does not lie as the space says.
int64_t Planner::accessCost(const TileClasses::Access &access,
                            const FragmentLayout &space,
                            const FragmentLayout &tile) const {
  FragmentLayout here = project(space, access.dims);
  int64_t cost = access.isResult
                     ? getConversionCost(here, tile, access.elementBytes)
                     : getConversionCost(tile, here, access.elementBytes);
  if (access.isResult && here.rank() < space.rank()) {
    // A reduction: lanes, then warps, combine what they have.
    unsigned lanes = 0;
    for (FragmentLayout::Base base : space.laneBases())
      lanes +=
          !base.isZero() && !llvm::is_contained(access.dims, int(base.dim));
    cost += kAccessCycles * lanes * here.registers();
    if (exchangedParts(space, access.dims) > 1)
      cost += 64 + 4 * here.elements() * access.elementBytes / 64;
  }
  return cost * access.weight;
}

/// Instructions for the tiles of a class that are loaded or stored.
int64_t Planner::memoryCost(unsigned number,
                            const FragmentLayout &layout) const {
  const TileClasses::Class &each = classes[number];
  if (each.memoryBytes == 0 || layout.rank() == 0)
    return 0;
  unsigned width =
      std::min(layout.contiguous(layout.rank() - 1), 16 / each.memoryBytes);
  return each.memoryWeight * kAccessCycles * layout.registers() /
         std::max(1u, width);
}

/// What the accesses between a class and those that have layouts cost.
int64_t Planner::edgeCost(unsigned number, const FragmentLayout &layout,
                          const Layouts &layouts) const {
  int64_t cost = memoryCost(number, layout);
  for (const TileClasses::Access &access : classes.getAccesses()) {
    if (access.space == access.tile)
      continue;
    if (access.space == number && layouts[access.tile])
      cost += accessCost(access, layout, *layouts[access.tile]);
    else if (access.tile == number && layouts[access.space])
      cost += accessCost(access, *layouts[access.space], layout);
  }
  return cost;
}

/// What it costs to load and store the tiles that would follow from a layout:
/// rows and columns that are broadcast along it.
int64_t Planner::followingCost(unsigned number, const FragmentLayout &layout,
                               const Layouts &layouts) const {
  int64_t cost = 0;
  SmallVector<unsigned> seen;
  for (const TileClasses::Access &access : classes.getAccesses()) {
    if (access.space != number || access.tile == number ||
        layouts[access.tile] || llvm::is_contained(seen, access.tile))
      continue;
    seen.push_back(access.tile);
    cost += memoryCost(access.tile, project(layout, access.dims));
  }
  return cost;
}

//===----------------------------------------------------------------------===//
// Propagation
//===----------------------------------------------------------------------===//

/// The layouts that a class could have as those of its neighbours say.
std::vector<FragmentLayout> Planner::following(unsigned number,
                                               const Layouts &layouts) const {
  std::vector<FragmentLayout> found;
  for (const TileClasses::Access &access : classes.getAccesses()) {
    std::optional<FragmentLayout> layout;
    if (access.tile == number && layouts[access.space])
      layout = project(*layouts[access.space], access.dims);
    else if (access.space == number && layouts[access.tile] &&
             access.dims.size() == classes[number].shape.size())
      layout = unproject(*layouts[access.tile], access.dims);
    if (layout && !llvm::is_contained(found, *layout))
      found.push_back(*layout);
  }
  return found;
}

/// Those of a class that follows from nothing.
std::vector<FragmentLayout> Planner::freely(unsigned number) const {
  const TileClasses::Class &each = classes[number];
  unsigned bytes = each.memoryBytes ? each.memoryBytes : 4;
  std::vector<FragmentLayout> found = {
      FragmentLayout::blocked(each.shape, warps, groups, bytes)};
  // A warp that reads a tile alone finds the other half of a sector in the
  // cache: with twice as much of a row, a thread has to do with fewer rows.
  if (warps == 1 && each.shape.size() > 1 && bytes > 1)
    found.push_back(
        FragmentLayout::blocked(each.shape, warps, groups, bytes / 2));
  // Beside dots, rows and columns of their results may be used.
  if (!anchors.empty() && each.shape.size() == 2)
    for (unsigned mDim : {0u, 1u})
      if (auto layout = FragmentLayout::accumulator(each.shape, mDim, groups))
        found.push_back(*layout);
  return found;
}

void Planner::propagate(Layouts &layouts) {
  SmallVector<unsigned> order;
  for (unsigned number = 0; number < classes.size(); ++number)
    order.push_back(number);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    int64_t left = classes[a].elements(), right = classes[b].elements();
    return left != right ? left > right : a < b;
  });
  auto choose = [&](unsigned number, ArrayRef<FragmentLayout> from) {
    std::optional<int64_t> best;
    for (const FragmentLayout &layout : from) {
      int64_t cost = edgeCost(number, layout, layouts) +
                     followingCost(number, layout, layouts);
      if (best && *best <= cost)
        continue;
      best = cost;
      layouts[number] = layout;
    }
    return best.has_value();
  };
  while (true) {
    auto left = [&](unsigned number) { return !layouts[number]; };
    if (llvm::none_of(order, left))
      return;
    bool found = false;
    for (unsigned number : order)
      if (!layouts[number] && choose(number, following(number, layouts))) {
        found = true;
        break;
      }
    if (!found) {
      unsigned number = *llvm::find_if(order, left);
      choose(number, freely(number));
    }
  }
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

LogicalResult Planner::checkRegisters(const LayoutPlan &plan, Refusal &why) {
  TilePressure most = findPressure(part, [&](Value value) -> int64_t {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !homes.isFragment(value))
      return 0;
    int64_t bits = plan.layouts[classes.of(value)].registers() *
                   int64_t(type.getElementTypeBitWidth());
    return llvm::divideCeil(bits, 32);
  });
  if (most.registers <= int64_t(limits.registers))
    return success();
  why.registers = true;
  return why.set(most.op, "tiles need " + Twine(most.registers) +
                              " registers a thread here, at most " +
                              Twine(limits.registers) + " are available");
}

static bool isShared(const FragmentLayout &from, const FragmentLayout &to) {
  return from != to && relation(from, to).kind == LayoutRelation::Kind::shared;
}

/// Shared memory that an access takes: warps exchange a tile, or parts of it.
static int64_t scratchOf(const TileClasses::Access &access,
                         const LayoutPlan &plan) {
  const FragmentLayout &space = plan.layouts[access.space];
  const FragmentLayout &tile = plan.layouts[access.tile];
  FragmentLayout here = project(space, access.dims);
  int64_t bytes = tile.elements() * access.elementBytes, sum = 0;
  if (access.isResult ? isShared(here, tile) : isShared(tile, here))
    sum += bytes;
  if (access.isResult && here.rank() < space.rank())
    if (int64_t parts = exchangedParts(space, access.dims); parts > 1)
      sum += parts * llvm::alignTo(bytes, 16);
  return sum;
}

/// Tiles that are staged or change their warps go through shared memory. (A
/// second buffer that saves a barrier is made only where there is room.)
LogicalResult Planner::checkScratch(const LayoutPlan &plan, Refusal &why) {
  int64_t bytes = 0;
  Operation *at = part;
  for (const auto &[op, how] : plan.dots) {
    auto dot = cast<DotOp>(op);
    auto add = [&](const DotOperand &operand, Value value) {
      auto type = cast<RankedTensorType>(value.getType());
      int64_t size = type.getNumElements() * type.getElementTypeBitWidth() / 8;
      if (operand.home == DotOperand::Home::staged)
        bytes += size;
      else if (operand.registers && homes.isFragment(value) &&
               isShared(plan.layouts[classes.of(value)], *operand.registers))
        bytes += size;
      else
        return;
      at = dot;
    };
    add(how.a, how.exchanged ? dot.getB() : dot.getA());
    add(how.b, how.exchanged ? dot.getA() : dot.getB());
  }
  for (const TileClasses::Access &access : classes.getAccesses())
    bytes += scratchOf(access, plan);
  if (bytes <= limits.scratchBytes)
    return success();
  why.scratch = true;
  return why.set(at, "tiles would go through " + Twine(bytes) +
                         " bytes of shared memory, at most " +
                         Twine(limits.scratchBytes) +
                         " are left beside the rings");
}

/// Warps that hold tiles of their own do not exchange anything.
LogicalResult Planner::checkWarps(const LayoutPlan &plan, Refusal &why) {
  if (warps != 1)
    return success();
  if (classes.hasReductions() || !anchors.empty())
    return why.set(part, "its tiles are not for one warp");
  for (const TileClasses::Access &access : classes.getAccesses()) {
    FragmentLayout here = project(plan.layouts[access.space], access.dims);
    const FragmentLayout &tile = plan.layouts[access.tile];
    LayoutRelation moved =
        access.isResult ? relation(here, tile) : relation(tile, here);
    if (moved.kind == LayoutRelation::Kind::shared)
      return why.set(part, "its tiles would go through shared memory");
  }
  return success();
}

FailureOr<LayoutPlan> Planner::complete(Layouts layouts, Refusal &why) {
  propagate(layouts);
  LayoutPlan plan;
  plan.warps = warps;
  plan.groups = groups;
  for (const std::optional<FragmentLayout> &layout : layouts)
    plan.layouts.push_back(*layout);
  auto layoutOf = [&](Value value) -> std::optional<FragmentLayout> {
    if (!homes.isFragment(value))
      return std::nullopt;
    return plan.layouts[classes.of(value)];
  };
  for (const Anchor &anchor : anchors)
    for (DotOp dot : classes[anchor.number].dots) {
      std::string reason;
      FailureOr<DotPlan> planned =
          planDot(dot, plan.layouts[anchor.number], homes, layoutOf, reason);
      if (failed(planned))
        return why.set(dot, reason);
      plan.cost += planned->cost * getWeight(dot);
      plan.dots[dot] = *planned;
    }
  for (unsigned number = 0; number < classes.size(); ++number)
    plan.cost += memoryCost(number, plan.layouts[number]);
  for (const TileClasses::Access &access : classes.getAccesses())
    plan.cost += accessCost(access, plan.layouts[access.space],
                            plan.layouts[access.tile]);
  if (failed(checkWarps(plan, why)) || failed(checkScratch(plan, why)) ||
      failed(checkRegisters(plan, why)))
    return failure();
  return plan;
}

FailureOr<LayoutPlan> Planner::run() {
  if (failed(findAnchors()))
    return failure();
  size_t plans = 1;
  for (const Anchor &anchor : anchors)
    plans = std::min(plans * anchor.layouts.size(), kMaxPlans);
  std::optional<LayoutPlan> best;
  std::optional<int64_t> second;
  Refusal first, mendable;
  for (size_t number = 0; number < plans; ++number) {
    Layouts layouts(classes.size());
    size_t digits = number;
    for (const Anchor &anchor : anchors) {
      layouts[anchor.number] = anchor.layouts[digits % anchor.layouts.size()];
      digits /= anchor.layouts.size();
    }
    Refusal why;
    FailureOr<LayoutPlan> plan = complete(std::move(layouts), why);
    if (failed(plan)) {
      Refusal &kept = why.registers || why.scratch ? mendable : first;
      if (!kept.op)
        kept = why;
      continue;
    }
    if (!best || plan->cost < best->cost) {
      if (best)
        second = best->cost;
      best = *plan;
    } else if (!second || plan->cost < *second) {
      second = plan->cost;
    }
  }
  if (best) {
    best->otherCost = second;
    return *best;
  }
  // Rather a reason that more warpgroups or less deep rings can mend.
  refusal = mendable.op ? mendable : first;
  return failure();
}

FailureOr<LayoutPlan>
mlir::df::planLayouts(PartOp part, const TileClasses &classes, TileHomes &homes,
                      unsigned warps, unsigned groups,
                      const LayoutLimits &limits, Refusal &refusal) {
  return Planner(part, classes, homes, warps, groups, limits, refusal).run();
}
