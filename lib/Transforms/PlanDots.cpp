//===- PlanDots.cpp - How a product is computed, and what it costs --------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cost model counts cycles of one SM, about, of what layouts decide: the
// tensor cores, shared memory and shuffles. It is to compare plans, not to
// predict times.
//
//   wgmma m64nN, 32 bytes of K   N / 2, at least 16 with A in shared memory
//   a tile through shared memory 64 for the barrier, and its bytes / 64
//   a shuffled register          4
//
//===----------------------------------------------------------------------===//

#include "AssignLayouts.h"

using namespace mlir;
using namespace mlir::df;

/// wgmma's M, its largest N, and the bytes of K that it takes.
static constexpr int64_t kDotRows = 64, kDotColumns = 256, kDotBytes = 32;
static constexpr int64_t kBarrierCycles = 64, kSharedBytesPerCycle = 64;
static constexpr int64_t kShuffleCycles = 4;

static int64_t exchangeCost(int64_t bytes) {
  return kBarrierCycles + bytes / kSharedBytesPerCycle;
}

static unsigned elementBytes(RankedTensorType type) {
  return std::max(1u, type.getElementTypeBitWidth() / 8);
}

int64_t mlir::df::getConversionCost(const FragmentLayout &from,
                                    const FragmentLayout &to,
                                    unsigned elementBytes) {
  if (from == to)
    return 0;
  switch (relation(from, to).kind) {
  case LayoutRelation::Kind::same:
  case LayoutRelation::Kind::registers:
    return 0;
  case LayoutRelation::Kind::shuffle:
    return kShuffleCycles * to.registers();
  case LayoutRelation::Kind::shared:
    return exchangeCost(2 * from.elements() * elementBytes);
  }
  llvm_unreachable("no other kind");
}

/// The layout of a tile that is staged for a dot: the widest swizzle that fits.
static std::optional<SharedLayout> getStagedLayout(RankedTensorType type) {
  for (unsigned swizzle : {128, 64, 32})
    if (std::optional<SharedLayout> layout = SharedLayout::get(
            type.getShape(), elementBytes(type), swizzle, AtomOrder::columns))
      return layout;
  return std::nullopt;
}

namespace {

/// Plans one dot of one orientation.
class DotPlanner {
public:
  DotPlanner(DotOp dot, TileHomes &homes,
             llvm::function_ref<std::optional<FragmentLayout>(Value)> layoutOf,
             std::string &reason)
      : dot(dot), homes(homes), layoutOf(layoutOf), reason(reason) {}

  FailureOr<DotPlan> run(const FragmentLayout &layout);

private:
  LogicalResult refuse(const Twine &text) {
    reason = text.str();
    return failure();
  }
  FailureOr<DotOperand> planShared(Value value, unsigned contract);
  std::optional<DotOperand> planRegisters(Value value, unsigned contract,
                                          const FragmentLayout &result,
                                          FragmentLayout::DotForm form);

  DotOp dot;
  TileHomes &homes;
  llvm::function_ref<std::optional<FragmentLayout>(Value)> layoutOf;
  std::string &reason;
};

} // namespace

/// An operand in shared memory: the stage itself, or staged.
FailureOr<DotOperand> DotPlanner::planShared(Value value, unsigned contract) {
  auto type = cast<RankedTensorType>(value.getType());
  if (contract == 0 && elementBytes(type) != 2)
    return refuse("operands of 8-bit elements must have the contracted "
                  "dimension last");
  DotOperand operand;
  if (homes.of(value) == TileHome::stage)
    return operand;
  std::optional<SharedLayout> layout = getStagedLayout(type);
  if (!layout)
    return refuse("an operand of " + Twine(type.getDimSize(0)) + " x " +
                  Twine(type.getDimSize(1)) +
                  " elements is not whole atoms of shared memory (8 rows of 32 "
                  "bytes)");
  operand.home = DotOperand::Home::staged;
  operand.staged = *layout;
  operand.cost = exchangeCost(type.getNumElements() * elementBytes(type));
  return operand;
}

/// Operand A in registers; nothing where it would cost more than to stage it.
std::optional<DotOperand>
DotPlanner::planRegisters(Value value, unsigned contract,
                          const FragmentLayout &result,
                          FragmentLayout::DotForm form) {
  auto type = cast<RankedTensorType>(value.getType());
  if (elementBytes(type) != 2 || homes.of(value) == TileHome::stage)
    return std::nullopt;
  std::optional<FragmentLayout> layout = FragmentLayout::registerA(
      type.getShape(), 1 - contract, 2, result.groups(), form.split);
  if (!layout)
    return std::nullopt;
  DotOperand operand;
  operand.home = DotOperand::Home::registers;
  operand.registers = layout;
  if (std::optional<FragmentLayout> from = layoutOf(value))
    operand.cost = getConversionCost(*from, *layout, 2);
  else if (homes.of(value) == TileHome::memory)
    operand.cost = kShuffleCycles * layout->registers() / 2;
  return operand;
}

FailureOr<DotPlan> DotPlanner::run(const FragmentLayout &layout) {
  std::optional<FragmentLayout::DotForm> form = layout.matchAccumulator();
  DotPlan plan;
  plan.exchanged = form->mDim == 1;
  Value a = dot.getA(), b = dot.getB();
  unsigned aDim = dot.getADim(), bDim = dot.getBDim();
  if (plan.exchanged) {
    std::swap(a, b);
    std::swap(aDim, bDim);
  }
  auto type = cast<RankedTensorType>(a.getType());
  int64_t bytes = type.getDimSize(aDim) * elementBytes(type);
  if (bytes % kDotBytes != 0)
    return refuse("the contracted dimension has " + Twine(bytes) +
                  " bytes, no multiple of " + Twine(kDotBytes));
  FailureOr<DotOperand> second = planShared(b, bDim);
  if (failed(second))
    return failure();
  plan.b = *second;
  FailureOr<DotOperand> first = planShared(a, aDim);
  std::optional<DotOperand> registers = planRegisters(a, aDim, layout, *form);
  if (failed(first) && !registers)
    return failure();
  if (succeeded(first) && (!registers || first->cost <= registers->cost))
    plan.a = *first;
  else
    plan.a = *registers;

  int64_t m = layout.shape()[form->mDim], n = layout.shape()[1 - form->mDim];
  int64_t steps = m / kDotRows * (bytes / kDotBytes);
  int64_t least = plan.a.home == DotOperand::Home::registers ? 4 : 16;
  int64_t cycles = 0;
  for (int64_t left = n; left > 0; left -= kDotColumns)
    cycles += std::max(least, std::min(left, kDotColumns) / 2);
  plan.cost = steps * cycles + plan.a.cost + plan.b.cost;
  return plan;
}

FailureOr<DotPlan> mlir::df::planDot(
    DotOp dot, const FragmentLayout &layout, TileHomes &homes,
    llvm::function_ref<std::optional<FragmentLayout>(Value)> layoutOf,
    std::string &reason) {
  return DotPlanner(dot, homes, layoutOf, reason).run(layout);
}
