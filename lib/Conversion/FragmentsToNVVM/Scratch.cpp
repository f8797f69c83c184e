//===- Scratch.cpp - Exchange between warps and its barriers --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A write of a place must not overtake reads of what was there before. Each
// write begins with a barrier that stands for this; when the whole body is
// lowered, a walk along all paths finds the places that may have been read
// since the last barrier, and barriers that no such place needs are removed.
//
// In a loop, a place that would need one may have two buffers instead, which
// iterations use in turn: then the barriers of one iteration protect the buffer
// of the one before it.
//
// The caller has a barrier between two calls of functions that use the scratch.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;

static constexpr uint64_t kAlignment = 128;
/// Places that have two buffers take at most this much more.
static constexpr uint64_t kDoubleBytes = 8192;

unsigned FragmentLowering::allocateScratch(uint64_t bytes, uint64_t alignment) {
  assert(!options.warp && "warps by themselves have no scratch");
  ScratchPlace place;
  place.bytes = llvm::alignTo(bytes, alignment);
  place.alignment = alignment;
  places.push_back(place);
  return unsigned(places.size() - 1);
}

/// Where the place begins in the scratch; a barrier if the write needs one.
Value FragmentLowering::openPlace(unsigned site) {
  ScratchPlace &place = places[site];
  place.guard = func::CallOp::create(builder, loc, "dfk_sync", TypeRange());
  guards[place.guard] = site;
  place.loop = place.guard->getParentOfType<scf::ForOp>();
  // Both are set when all places are known.
  IntegerAttr zero = builder.getI32IntegerAttr(0);
  auto offset = arith::ConstantOp::create(builder, loc, zero);
  auto turn = arith::ConstantOp::create(builder, loc, zero);
  place.offset = offset;
  place.turn = turn;
  return arith::AddIOp::create(builder, loc, offset, turn);
}

Value FragmentLowering::beginWrite(unsigned site) {
  Value offset = openPlace(site);
  Value base = call("dfk_fragment_window", builder.getI32Type());
  return arith::AddIOp::create(builder, loc, base, offset);
}

Value FragmentLowering::beginWritePointer(unsigned site) {
  Value offset = openPlace(site);
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext(), 3);
  Value base = call("dfk_fragment_pointer", pointer);
  return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

void FragmentLowering::defer(ValueRange results,
                             std::function<void()> complete) {
  deferred.emplace_back(SmallVector<Value>(results), std::move(complete));
}

void FragmentLowering::completeFor(Operation *op) {
  auto needs = [&](Value value) {
    return llvm::any_of(deferred, [&](auto &entry) {
      return llvm::is_contained(entry.first, value);
    });
  };
  // Loops and branches begin with nothing left to do.
  if (isa<scf::ForOp, scf::IfOp>(op) || llvm::any_of(op->getOperands(), needs))
    if (!deferred.empty())
      publish();
}

void FragmentLowering::publish(bool async) {
  if (async)
    call("dfk_fence_async", {});
  call("dfk_sync", {});
  auto waiting = std::move(deferred);
  deferred.clear();
  for (auto &entry : waiting)
    entry.second();
}

void FragmentLowering::noteRead(Site site) {
  if (!site)
    return;
  Block::iterator point = builder.getInsertionPoint();
  reads[&*std::prev(point)].push_back(*site);
}

namespace {

/// Places that may have been read since the last barrier: in the buffer that
/// the current iteration uses, and in the other one.
struct Pending {
  llvm::SmallBitVector current, other;

  explicit Pending(size_t places) : current(places), other(places) {}
  void clear() {
    current.reset();
    other.reset();
  }
  void merge(const Pending &with) {
    current |= with.current;
    other |= with.other;
  }
  bool operator==(const Pending &with) const {
    return current == with.current && other == with.other;
  }
};

/// Finds the guards that are needed.
class GuardAnalysis {
public:
  using Guards = llvm::MapVector<Operation *, unsigned>;
  using Reads = llvm::DenseMap<Operation *, SmallVector<unsigned>>;

  /// `turning[loop]`: places with two buffers, which take turns in it.
  GuardAnalysis(
      size_t places, const Guards &guards, const Reads &reads,
      const llvm::DenseMap<Operation *, SmallVector<unsigned>> &turning)
      : places(places), guards(guards), reads(reads), turning(turning) {}

  llvm::DenseSet<Operation *> run(Block &block) {
    size_t before;
    do {
      before = needed.size();
      Pending pending(places);
      visit(block, pending);
    } while (needed.size() != before);
    return needed;
  }

private:
  static bool isBarrier(func::CallOp call) {
    return llvm::is_contained({"dfk_sync", "dfk_any_thread", "dfk_all_threads"},
                              call.getCallee());
  }

  void visit(Block &block, Pending &pending) {
    for (Operation &op : block) {
      if (auto call = dyn_cast<func::CallOp>(op); call && isBarrier(call)) {
        auto guard = guards.find(&op);
        if (guard == guards.end()) {
          pending.clear();
        } else {
          if (pending.current.test(guard->second))
            needed.insert(&op);
          if (needed.contains(&op))
            pending.clear();
        }
      } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
        visitLoop(loop, pending);
      } else if (op.getNumRegions()) {
        Pending before = pending;
        // One of the branches is run.
        if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.elseBlock())
          pending.clear();
        for (Region &region : op.getRegions())
          for (Block &nested : region) {
            Pending own = before;
            visit(nested, own);
            pending.merge(own);
          }
      }
      auto read = reads.find(&op);
      if (read != reads.end())
        for (unsigned place : read->second)
          pending.current.set(place);
    }
  }

  void visitLoop(scf::ForOp loop, Pending &pending) {
    ArrayRef<unsigned> turns;
    if (auto it = turning.find(loop); it != turning.end())
      turns = it->second;
    Pending begin = pending;
    for (;;) {
      Pending state = begin;
      visit(*loop.getBody(), state);
      // What the next iteration sees as the other buffer.
      Pending next = state;
      for (unsigned place : turns) {
        next.current[place] = state.other[place];
        next.other[place] = state.current[place];
      }
      Pending merged = begin;
      merged.merge(next);
      pending.merge(state);
      if (merged == begin)
        break;
      begin = merged;
    }
    // Which buffer was the last is not known here.
    for (unsigned place : turns) {
      bool any = pending.current[place] || pending.other[place];
      pending.current[place] = pending.other[place] = any;
    }
  }

  size_t places;
  const Guards &guards;
  const Reads &reads;
  const llvm::DenseMap<Operation *, SmallVector<unsigned>> &turning;
  llvm::DenseSet<Operation *> needed;
};

} // namespace

void FragmentLowering::placeBarriers(Block &block) {
  if (places.empty())
    return;
  llvm::DenseMap<Operation *, SmallVector<unsigned>> turning;
  auto analyse = [&] {
    return GuardAnalysis(places.size(), guards, reads, turning).run(block);
  };
  llvm::DenseSet<Operation *> needed = analyse();
  uint64_t single = 0, doubled = 0;
  for (const ScratchPlace &place : places)
    single += place.bytes;
  for (auto [number, place] : llvm::enumerate(places)) {
    if (!place.loop || !needed.contains(place.guard) ||
        doubled + place.bytes > kDoubleBytes ||
        single + doubled + place.bytes > options.scratchLimit)
      continue;
    SmallVector<unsigned> &own = turning[place.loop];
    own.push_back(unsigned(number));
    llvm::DenseSet<Operation *> fewer = analyse();
    if (fewer.size() >= needed.size()) {
      own.pop_back();
      continue;
    }
    needed = std::move(fewer);
    place.doubled = true;
    doubled += place.bytes;
  }

  SmallVector<ScratchPlace *> order;
  for (ScratchPlace &place : places)
    order.push_back(&place);
  llvm::stable_sort(order, [](const ScratchPlace *a, const ScratchPlace *b) {
    return a->alignment > b->alignment;
  });
  uint64_t at = 0;
  for (ScratchPlace *place : order) {
    at = llvm::alignTo(at, place->alignment);
    OpBuilder::InsertionGuard guard(builder);
    place->offset.setValueAttr(builder.getI32IntegerAttr(int32_t(at)));
    if (place->doubled) {
      builder.setInsertionPointAfter(place->turn);
      loc = place->turn.getLoc();
      Value parity = arith::AndIOp::create(
          builder, loc, place->loop.getInductionVar(), i32(1));
      place->turn.getResult().replaceAllUsesWith(
          multiply(parity, i32(int64_t(place->bytes))));
    }
    at += place->bytes << place->doubled;
  }
  for (auto [guard, site] : guards)
    if (!needed.contains(guard))
      guard->erase();
  info.scratchBytes =
      std::max(info.scratchBytes, uint64_t(llvm::alignTo(at, kAlignment)));
}
