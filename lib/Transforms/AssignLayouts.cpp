//===- AssignLayouts.cpp - Lay compute parts out over threads -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which parts are tried, which streams are swizzled for them, and how many
// warpgroups compute. The steps for one part are in AssignLayouts.h.
//
//===----------------------------------------------------------------------===//

#include "AssignLayouts.h"

#include "SchedulePasses.h"
#include "SplitRoles.h"
#include "dataflow/Schedule/Following.h"
#include "dataflow/Transforms/Passes.h"
#include "dataflow/Transforms/ProgramImport.h"
#include "dataflow/Transforms/StreamLayout.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::df {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "dataflow/Transforms/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;

/// Shared memory of a kernel beside rings and tiles: barriers, for the most.
static constexpr int64_t kOtherBytes = 1024;

/// Registers that tiles may take where `groups` warpgroups compute; addresses
/// and temporaries need the others. Two get some of the load role's, more share
/// the file evenly with it.
static unsigned tileRegisters(unsigned groups) {
  constexpr unsigned file = 65536, granule = 8, others = 36;
  unsigned each = file / (128 * (groups + 1)) / granule * granule;
  return (groups == 1 ? 255 : groups == 2 ? 224 : each) - others;
}

static remark::RemarkOpts remarkOptions(StringRef function) {
  return remark::RemarkOpts::name("assign-layouts")
      .category("dataflow")
      .function(function);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// The stream whose stage an operand of a product lies in; null when it is
/// something else.
static TakeOp findTake(Value operand) {
  while (Operation *op = operand.getDefiningOp()) {
    if (auto take = dyn_cast<TakeOp>(op))
      return take;
    if (!isa<tensor::ExtractSliceOp, tensor::PadOp>(op))
      break;
    operand = op->getOperand(0);
  }
  return {};
}

/// Whether every window of a tile begins and ends at atoms of `layout`.
static bool fitsWindows(Value tile, SharedLayout layout) {
  for (Operation *user : tile.getUsers()) {
    if (isa<tensor::PadOp>(user) && !fitsWindows(user->getResult(0), layout))
      return false;
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice)
      continue;
    RankedTensorType type = slice.getType();
    unsigned bytes = type.getElementTypeBitWidth() / 8;
    ArrayRef<int64_t> offsets = slice.getStaticOffsets();
    if (type.getRank() != 2 || llvm::any_of(offsets, ShapedType::isDynamic) ||
        !layout.windowOffset(offsets[0], offsets[1], bytes) ||
        (type.hasStaticShape() && layout.check(type.getShape(), bytes)) ||
        !fitsWindows(slice, layout))
      return false;
  }
  return true;
}

namespace {

/// A compute part and what becomes of it.
struct Candidate {
  PartOp part;
  unsigned outputs = 0; ///< results that update arguments
  bool sliced = false;
  bool isNew = false;           ///< made here, for a handler without streams
  HandlerOpInterface following; ///< of a finalize that may follow, or null
};

/// A copy of a part, with a plan for it.
struct Attempt {
  OwningOpRef<PartOp> copy;
  std::unique_ptr<TileHomes> homes;
  std::unique_ptr<TileClasses> classes;
  LayoutPlan plan;
  Refusal refusal;
  bool follows = false;     ///< the finalize is appended to the copy
  std::string notFollowing; ///< why it is not

  bool succeeded() const { return refusal.op == nullptr; }
  bool hasDots() const { return !plan.dots.empty(); }
};

/// The attempts at all candidates with one number of warpgroups.
struct Round {
  unsigned groups = 1;
  StreamLayouts streams;
  std::vector<Attempt> attempts;

  size_t refused() const {
    return llvm::count_if(attempts,
                          [](const Attempt &a) { return !a.succeeded(); });
  }
};

struct AssignLayouts : public df::impl::AssignLayoutsBase<AssignLayouts> {
  using Base::Base;

  void runOnOperation() override;

private:
  void run(ProgramOp program, KernelOp kernel);
  llvm::DenseMap<Operation *, HandlerOpInterface>
  collectFollowing(ProgramOp program);
  std::vector<Candidate> collect(ProgramOp program, KernelOp kernel);
  StreamLayouts chooseStreams(KernelOp kernel, ArrayRef<Candidate> candidates);
  Attempt attempt(const Candidate &candidate, const StreamLayouts &streams,
                  unsigned groups);
  Round play(KernelOp kernel, ArrayRef<Candidate> candidates, unsigned groups);
  std::optional<Round> playAll(KernelOp kernel, ArrayRef<Candidate> candidates);
  void shrinkRings(KernelOp kernel, ArrayRef<Candidate> candidates,
                   Round &best);
  void apply(KernelOp kernel, MutableArrayRef<Candidate> candidates,
             Round &round);
  void reportPlan(const Candidate &candidate, Attempt &attempt);
  void reportRefusal(const Candidate &candidate, const Refusal &refusal);

  /// Shared memory that the rings leave.
  int64_t scratch = 0;
  unsigned laidOut = 0, portable = 0, swizzled = 0;
};

} // namespace

/// Layouts of the streams in whose stages operands of products lie.
StreamLayouts AssignLayouts::chooseStreams(KernelOp kernel,
                                           ArrayRef<Candidate> candidates) {
  llvm::StringSet<> wanted;
  llvm::StringMap<SmallVector<Value>> tiles;
  for (const Candidate &candidate : candidates) {
    PartOp part = candidate.part;
    OwningOpRef<PartOp> copy(part.clone());
    Refusal refusal;
    (void)normalizeBody(*copy, refusal);
    copy->getBody().walk([&](DotOp dot) {
      for (Value operand : {dot.getA(), dot.getB()})
        if (TakeOp take = findTake(operand))
          wanted.insert(take.getStream());
    });
    part.getBody().walk(
        [&](TakeOp take) { tiles[take.getStream()].push_back(take); });
  }
  StreamLayouts layouts;
  for (StreamOp stream : kernel.getStreams()) {
    if (!wanted.contains(stream.getSymName()))
      continue;
    for (unsigned swizzle : {128, 64, 32}) {
      std::string reason;
      std::optional<SharedLayout> layout =
          streamLayout(stream, swizzle, reason);
      if (!layout || !llvm::all_of(tiles[stream.getSymName()], [&](Value tile) {
            return fitsWindows(tile, *layout);
          }))
        continue;
      layouts[stream.getSymNameAttr()] = *layout;
      break;
    }
  }
  return layouts;
}

//===----------------------------------------------------------------------===//
// Attempts
//===----------------------------------------------------------------------===//

Attempt AssignLayouts::attempt(const Candidate &candidate,
                               const StreamLayouts &streams, unsigned groups) {
  auto tryWarps = [&](unsigned warps, unsigned groups,
                      HandlerOpInterface following = {}) {
    Attempt made;
    PartOp part = candidate.part;
    made.copy = part.clone();
    if (following)
      appendFinalize(*made.copy, following);
    made.follows = following != nullptr;
    made.homes = std::make_unique<TileHomes>(streams);
    if (failed(normalizeBody(*made.copy, made.refusal)) ||
        failed(checkBody(*made.copy, *made.homes, made.refusal)))
      return made;
    made.classes = std::make_unique<TileClasses>(*made.copy, *made.homes);
    LayoutLimits limits;
    limits.registers = std::min<unsigned>(registers, tileRegisters(groups));
    limits.scratchBytes = scratch;
    FailureOr<LayoutPlan> plan =
        planLayouts(*made.copy, *made.classes, *made.homes, warps, groups,
                    limits, made.refusal);
    if (succeeded(plan))
      made.plan = std::move(*plan);
    return made;
  };
  if (candidate.sliced) {
    Attempt made = tryWarps(/*warps=*/1, /*groups=*/1);
    if (made.succeeded())
      return made;
  }
  if (!candidate.following)
    return tryWarps(/*warps=*/4, groups);
  Attempt both = tryWarps(/*warps=*/4, groups, candidate.following);
  if (both.succeeded())
    return both;
  Attempt alone = tryWarps(/*warps=*/4, groups);
  alone.notFollowing = std::move(both.refusal.reason);
  return alone;
}

/// A stream that a portable part takes from is row-major for all, which may
/// make other parts portable in turn.
Round AssignLayouts::play(KernelOp kernel, ArrayRef<Candidate> candidates,
                          unsigned groups) {
  Round round;
  round.groups = groups;
  round.streams = chooseStreams(kernel, candidates);
  while (true) {
    // What was refused stays so: the first reason is the true one.
    std::vector<Attempt> last = std::move(round.attempts);
    round.attempts.clear();
    llvm::StringSet<> rowMajor;
    for (auto [i, candidate] : llvm::enumerate(candidates)) {
      if (!last.empty() && !last[i].succeeded())
        round.attempts.push_back(std::move(last[i]));
      else
        round.attempts.push_back(attempt(candidate, round.streams, groups));
      if (round.attempts.back().succeeded())
        continue;
      PartOp part = candidate.part;
      part.getBody().walk(
          [&](TakeOp take) { rowMajor.insert(take.getStream()); });
    }
    size_t before = round.streams.size();
    round.streams.remove_if([&](const auto &entry) {
      return rowMajor.contains(entry.first.getValue());
    });
    if (round.streams.size() == before)
      return round;
  }
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

static std::string describe(const DotOperand &operand, RankedTensorType type) {
  switch (operand.home) {
  case DotOperand::Home::stage:
    return "in its stage";
  case DotOperand::Home::registers:
    return "in registers";
  case DotOperand::Home::staged:
    return "staged in " +
           std::to_string(type.getNumElements() *
                          type.getElementTypeBitWidth() / 8) +
           " bytes of shared memory";
  }
  llvm_unreachable("no other home");
}

void AssignLayouts::reportPlan(const Candidate &candidate, Attempt &attempt) {
  PartOp part = candidate.part;
  const LayoutPlan &plan = attempt.plan;
  attempt.copy->getBody().walk([&](DotOp dot) {
    const DotPlan &how = plan.dots.find(dot)->second;
    RankedTensorType a = dot.getAType(), b = dot.getBType();
    int64_t m = dot.getM(), n = dot.getN();
    if (how.exchanged) {
      std::swap(a, b);
      std::swap(m, n);
    }
    remark::passed(dot.getLoc(), remarkOptions(part.getHandler()))
        << ("wgmma with M = " + std::to_string(m) + ", N = " +
            std::to_string(n) + ", K = " + std::to_string(dot.getK()) +
            (how.exchanged ? ", transposed" : "") + ": A " +
            describe(how.a, a) + ", B " + describe(how.b, b));
  });
  std::string text =
      plan.warps == 1 ? "laid out over a warp"
      : plan.groups == 1
          ? "laid out over a warpgroup"
          : "laid out over " + std::to_string(plan.groups) + " warpgroups";
  text += ": cost " + std::to_string(plan.cost);
  if (plan.otherCost)
    text += ", the next best plan " + std::to_string(*plan.otherCost);
  remark::passed(part.getLoc(), remarkOptions(part.getHandler())) << text;
  if (!candidate.following)
    return;
  HandlerOpInterface finalize = candidate.following;
  std::string name = ("'" + finalize.getHandlerName().getValue() + "'").str();
  if (attempt.follows) {
    remark::passed(part.getLoc(), remarkOptions(part.getHandler()))
        << (name + " follows in registers where it is the next instruction");
    return;
  }
  remark::missed(part.getLoc(), remarkOptions(part.getHandler()))
      << (name + " does not follow in registers: " + attempt.notFollowing);
}

void AssignLayouts::reportRefusal(const Candidate &candidate,
                                  const Refusal &refusal) {
  PartOp part = candidate.part;
  remark::missed(refusal.op->getLoc(), remarkOptions(part.getHandler()))
      << ("stays portable because of '" +
          refusal.op->getName().getStringRef().str() + "': " + refusal.reason);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// By the handler of a map that one stage calls: that of the finalize that may
/// follow it in registers.
llvm::DenseMap<Operation *, HandlerOpInterface>
AssignLayouts::collectFollowing(ProgramOp program) {
  llvm::DenseMap<Operation *, HandlerOpInterface> following;
  if (!follow)
    return following;
  // A program that cannot be planned gets no kernel.
  FailureOr<dfrt::Program> planned = failure();
  {
    ScopedDiagnosticHandler silent(&getContext(),
                                   [](Diagnostic &) { return success(); });
    planned = importProgram(program);
  }
  if (failed(planned))
    return following;
  SmallVector<StageOpInterface> stages(program.getStages());
  llvm::DenseMap<Operation *, unsigned> callers;
  for (StageOpInterface stage : stages)
    if (HandlerOpInterface handler = stage.lookupHandler())
      ++callers[handler];
  for (auto [number, stage] : llvm::enumerate(stages)) {
    if (stage.getStageKind() != StageKind::map)
      continue;
    HandlerOpInterface handler = stage.lookupHandler();
    std::string reason = "several stages call its handler";
    uint32_t finalize = dfrt::kNone;
    if (callers.lookup(handler) == 1)
      finalize = dfrt::findFollowing(*planned, number, &reason);
    if (finalize != dfrt::kNone)
      following[handler] = stages[finalize].lookupHandler();
    else
      remark::missed(stage.getLoc(),
                     remarkOptions(handler.getHandlerName().getValue()))
          << ("no finalize follows in registers: " + reason);
  }
  return following;
}

/// The compute parts of the kernel, and new ones for handlers without streams.
std::vector<Candidate> AssignLayouts::collect(ProgramOp program,
                                              KernelOp kernel) {
  std::vector<Candidate> candidates;
  llvm::DenseMap<Operation *, HandlerOpInterface> following =
      collectFollowing(program);
  llvm::DenseMap<Operation *, std::optional<unsigned>> outputs;
  SmallVector<HandlerOpInterface> handlers;
  for (StageOpInterface stage : program.getStages()) {
    HandlerOpInterface handler = stage.lookupHandler();
    if (!handler)
      continue;
    unsigned count = stage.getWrittenTensors().size();
    auto [it, isNew] = outputs.insert({handler, count});
    if (!isNew && it->second && *it->second != count)
      it->second.reset(); // stages disagree: not tried
    if (isNew)
      handlers.push_back(handler);
  }
  auto add = [&](HandlerOpInterface handler, unsigned count, bool sliced,
                 HandlerOpInterface finalize) {
    Candidate candidate;
    candidate.outputs = count;
    candidate.sliced = sliced;
    candidate.following = finalize;
    candidate.part =
        kernel.getPart(handler.getHandlerName(), PartRole::compute);
    if (!candidate.part) {
      SplitHandler split;
      split.frame.handler = handler;
      candidate.part = buildComputePart(kernel, split, {});
      candidate.isNew = true;
    }
    candidates.push_back(candidate);
  };
  for (HandlerOpInterface handler : handlers) {
    std::optional<unsigned> count = outputs.lookup(handler);
    if (!count)
      continue;
    HandlerOpInterface finalize = following.lookup(handler);
    add(handler, *count, /*sliced=*/false, finalize);
    for (auto variant : program.getBody().getOps<HandlerOp>()) {
      if (!variant.getVariantOfAttr() ||
          variant.getVariantOfAttr().getAttr() != handler.getHandlerName())
        continue;
      VariantKind kind = variant.getVariant()->getKind();
      auto name = cast<HandlerOpInterface>(variant.getOperation());
      // Variants for tile counts are not in kernels, unless they are split.
      if (kind != VariantKind::tiles ||
          kernel.getPart(name.getHandlerName(), PartRole::compute))
        add(name, *count, kind == VariantKind::sliced,
            // What follows takes whole records.
            kind == VariantKind::bounded ? HandlerOpInterface() : finalize);
    }
  }
  return candidates;
}

void AssignLayouts::apply(KernelOp kernel,
                          MutableArrayRef<Candidate> candidates, Round &round) {
  UnitAttr yes = UnitAttr::get(&getContext());
  bool any = false;
  for (auto [candidate, attempt] : llvm::zip(candidates, round.attempts)) {
    if (!attempt.succeeded()) {
      reportRefusal(candidate, attempt.refusal);
      ++portable;
      if (candidate.isNew)
        candidate.part.erase();
      continue;
    }
    reportPlan(candidate, attempt);
    ++laidOut;
    any = true;
    unsigned outputs = candidate.outputs;
    if (attempt.follows)
      outputs += candidate.following.getSignature().getNumResults();
    rewriteBody(*attempt.copy, *attempt.classes, *attempt.homes, attempt.plan,
                outputs);
    prefetchTiles(*attempt.copy, tileRegisters(round.groups));
    PartOp made = attempt.copy.release();
    made.setFragments(true);
    if (attempt.plan.warps == 1)
      made->setAttr("warp", yes);
    OpBuilder(candidate.part).insert(made);
    candidate.part.erase();
    candidate.part = made;
  }
  for (StreamOp stream : kernel.getStreams())
    if (auto it = round.streams.find(stream.getSymNameAttr());
        it != round.streams.end()) {
      stream.setLayoutAttr(SharedAttr::get(&getContext(), it->second));
      ++swizzled;
    }
  if (any)
    kernel.setConsumers(round.groups);
}

/// The round with the fewest refusals; nothing when the number of warpgroups
/// that is asked for cannot share tiles.
std::optional<Round> AssignLayouts::playAll(KernelOp kernel,
                                            ArrayRef<Candidate> candidates) {
  scratch = std::max<int64_t>(
      0, int64_t(sharedBytes) - int64_t(kernel.getRingBytes()) - kOtherBytes);
  SmallVector<unsigned> choices;
  if (std::optional<uint32_t> consumers = kernel.getConsumers())
    choices.push_back(*consumers);
  else
    for (unsigned groups = 1; groups <= maxConsumers; groups *= 2)
      choices.push_back(groups);
  std::optional<Round> best;
  for (unsigned groups : choices) {
    if (!llvm::isPowerOf2_32(groups) ||
        groups > 1u << FragmentLayout::maxGroupBits)
      continue;
    Round round = play(kernel, candidates, groups);
    bool registers = llvm::any_of(round.attempts, [](const Attempt &each) {
      return each.refusal.registers;
    });
    if (!best || round.refused() < best->refused())
      best = std::move(round);
    if (!registers)
      break;
  }
  // The portable path shares its loops among as many threads as there are.
  if (best && best->refused() > 0 && best->groups == 1 && maxConsumers > 1 &&
      !kernel.getConsumers() &&
      llvm::none_of(best->attempts,
                    [](const Attempt &each) { return each.hasDots(); })) {
    Round round = play(kernel, candidates, 2);
    if (round.refused() <= best->refused())
      best = std::move(round);
  }
  return best;
}

/// Where only shared memory is missing, rings give up stages: first those of
/// tiles that are used again, then the largest. Waiting for a tile costs less
/// than the portable path.
void AssignLayouts::shrinkRings(KernelOp kernel, ArrayRef<Candidate> candidates,
                                Round &best) {
  SmallVector<std::pair<StreamOp, uint32_t>> kept;
  auto keep = [&] {
    kept.clear();
    for (StreamOp stream : kernel.getStreams())
      kept.push_back({stream, stream.getDepth()});
  };
  keep();
  while (llvm::any_of(best.attempts, [](const Attempt &each) {
    return each.refusal.scratch;
  })) {
    StreamOp largest;
    auto order = [](StreamOp stream) {
      return std::pair(!stream.getEvictFirst(),
                       stream.getDepth() * stream.getStageBytes());
    };
    for (StreamOp stream : kernel.getStreams())
      if (stream.getDepth() > 1 && (!largest || order(stream) > order(largest)))
        largest = stream;
    if (!largest)
      break;
    largest.setDepth(largest.getDepth() - 1);
    std::optional<Round> round = playAll(kernel, candidates);
    if (!round || round->refused() >= best.refused())
      continue;
    best = std::move(*round);
    for (auto [stream, depth] : kept)
      if (stream.getDepth() != depth)
        remark::passed(stream.getLoc(), remarkOptions(kernel.getSymName()))
            << ("stream '" + stream.getSymName().str() + "' has " +
                std::to_string(stream.getDepth()) + " stages instead of " +
                std::to_string(depth) +
                ", so that tiles can go through shared memory");
    keep();
  }
  for (auto [stream, depth] : kept)
    stream.setDepth(depth);
}

void AssignLayouts::run(ProgramOp program, KernelOp kernel) {
  std::vector<Candidate> candidates = collect(program, kernel);
  std::optional<Round> best = playAll(kernel, candidates);
  if (best) {
    // A request says how deep rings are, and how many warpgroups there are.
    if (!kernel.getConsumers())
      shrinkRings(kernel, candidates, *best);
    apply(kernel, candidates, *best);
    return;
  }
  for (Candidate &candidate : candidates) {
    Refusal refusal;
    (void)refusal.set(candidate.part,
                      Twine(*kernel.getConsumers()) +
                          " warpgroups cannot share tiles, only 1, 2 or 4");
    reportRefusal(candidate, refusal);
    ++portable;
    if (candidate.isNew)
      candidate.part.erase();
  }
}

void AssignLayouts::runOnOperation() {
  ProgramOp program = getOperation();
  laidOut = portable = swizzled = 0;
  SmallVector<KernelOp> kernels(program.getBody().getOps<KernelOp>());
  if (kernels.empty()) {
    if (Operation *taken = SymbolTable::lookupSymbolIn(program, kernel)) {
      InFlightDiagnostic diagnostic = emitProgramError(program)
                                      << "already has a symbol @" << kernel
                                      << "; name the kernel differently";
      diagnostic.attachNote(taken->getLoc()) << "it is here";
      return signalPassFailure();
    }
    OpBuilder builder(&getContext());
    if (ScheduleOp schedule = program.getSchedule())
      builder.setInsertionPoint(schedule);
    else
      builder.setInsertionPointToEnd(&program.getBody().front());
    auto made = KernelOp::create(builder, program.getLoc(), kernel,
                                 /*consumers=*/IntegerAttr());
    made.getBody().emplaceBlock();
    kernels.push_back(made);
  }
  for (KernelOp each : kernels) {
    run(program, each);
    if (each.getBody().front().empty())
      each.erase();
  }
  emitMetrics(program, "assign-layouts",
              {{"LaidOut", laidOut},
               {"Portable", portable},
               {"SwizzledStreams", swizzled}});
  numLaidOut += laidOut;
  numPortable += portable;
  numSwizzled += swizzled;
}
