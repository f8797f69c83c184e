//===- SpecializeHandlers.cpp - Clones for known piece sizes and slices ---===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which variants a handler gets, and their names. What knowing the size of the
// piece makes of a body is in PieceSpecialization.cpp.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/Passes.h"

#include "HandlerClones.h"
#include "PieceSpecialization.h"
#include "dataflow/IR/Dataflow.h"
#include "dataflow/Transforms/Separability.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::df {
#define GEN_PASS_DEF_SPECIALIZEHANDLERS
#include "dataflow/Transforms/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;

/// Reads a list of distinct positive numbers.
static FailureOr<SmallVector<int64_t>>
parseList(ProgramOp program, StringRef option, StringRef text) {
  SmallVector<int64_t> values;
  SmallVector<StringRef> pieces;
  text.split(pieces, ',', -1, /*KeepEmpty=*/false);
  for (StringRef piece : pieces) {
    int64_t value = 0;
    if (piece.trim().getAsInteger(10, value) || value < 1)
      return program.emitOpError("option '")
             << option << "' takes numbers of at least 1, got '" << piece.trim()
             << "'";
    values.push_back(value);
  }
  llvm::sort(values);
  values.erase(llvm::unique(values), values.end());
  return values;
}

/// How the stages that share a handler call it.
struct PieceUse {
  PieceFrame frame;
  bool conflict = false; ///< they call it with different ranges
};

static remark::RemarkOpts remarkOptions(StringRef function) {
  return remark::RemarkOpts::name("specialize-handlers")
      .category("dataflow")
      .function(function);
}

namespace {

struct SpecializeHandlers
    : public mlir::df::impl::SpecializeHandlersBase<SpecializeHandlers> {
  using Base::Base;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    FailureOr<SmallVector<int64_t>> tiles =
        parseList(program, "buckets", buckets);
    FailureOr<SmallVector<int64_t>> lengths =
        parseList(program, "exact", exact);
    if (failed(tiles) || failed(lengths))
      return signalPassFailure();
    MLIRContext *context = &getContext();
    for (auto &[op, use] : collectUses(program)) {
      auto handler = cast<HandlerOp>(op);
      if (use.conflict) {
        remark::missed(handler.getLoc(), remarkOptions(handler.getSymName()))
            << "no variants for piece sizes: the stages that call it have "
               "different tiles or axes";
        continue;
      }
      for (int64_t count : *tiles)
        if (count == 1 || !use.frame.each)
          makeVariant(handler, use,
                      VariantAttr::get(context, VariantKind::tiles, count));
      for (int64_t length : *lengths)
        if (length <= use.frame.tile || !use.frame.each)
          makeVariant(handler, use,
                      VariantAttr::get(context, VariantKind::exact, length));
    }
    if (slices)
      makeSliced(program);
  }

  /// The handlers of stages with a range.
  llvm::MapVector<Operation *, PieceUse> collectUses(ProgramOp program) {
    llvm::MapVector<Operation *, PieceUse> uses;
    for (StageOpInterface stage : program.getStages()) {
      RangeOp range = stage.lookupRange();
      HandlerOpInterface target = stage.lookupHandler();
      if (!range || !target)
        continue;
      auto handler = dyn_cast<HandlerOp>(target.getOperation());
      std::optional<int64_t> tile = range.getStaticTile();
      if (!handler || !tile) {
        remark::missed(stage.getLoc(), remarkOptions(stage.getStageName()))
            << (handler
                    ? "no variants for piece sizes: the tile is a parameter"
                    : "no variants for piece sizes: the handler is foreign");
        continue;
      }
      PieceUse use;
      use.frame.begin = stage.lookupTasks().getAxes().size();
      use.frame.tile = *tile;
      use.frame.each = stage.isPerTile();
      auto [it, isNew] = uses.try_emplace(handler, use);
      const PieceFrame &other = it->second.frame;
      if (!isNew &&
          (other.begin != use.frame.begin || other.tile != use.frame.tile ||
           other.each != use.frame.each))
        it->second.conflict = true;
    }
    return uses;
  }

  void makeVariant(HandlerOp handler, const PieceUse &use,
                   VariantAttr variant) {
    if (findVariant(handler, variant))
      return;
    StringRef kind = stringifyVariantKind(variant.getKind());
    std::string name =
        (handler.getSymName() + "_" + kind + Twine(variant.getValue())).str();
    auto clone = cast<HandlerOp>(handler->clone());
    clone.setVariantAttr(variant);
    clone.setVariantOfAttr(FlatSymbolRefAttr::get(handler.getSymNameAttr()));
    clone.setSymName(name);
    if (!specializePiece(clone.getBody(), use.frame, variant)) {
      remark::missed(handler.getLoc(), remarkOptions(handler.getSymName()))
          << ("no variant '" + name + "': nothing in the body would change");
      clone->erase();
      return;
    }
    insertVariant(handler, clone);
    ++numVariants;
    remark::passed(handler.getLoc(), remarkOptions(handler.getSymName()))
        << ("made variant '" + clone.getSymName().str() + "'");
  }

  /// The finalize stages behind a channel, through reshards that move it.
  static void collectReaders(Value channel,
                             SmallVector<StageOpInterface> &readers) {
    for (Operation *user : channel.getUsers()) {
      auto stage = cast<StageOpInterface>(user);
      if (stage.getStageKind() == StageKind::reshard)
        collectReaders(stage.getOutputChannel(), readers);
      else
        readers.push_back(stage);
    }
  }

  /// A reduce that works slice by slice, with all stages that read it.
  struct SlicedReduce {
    ReduceOp reduce;
    uint32_t slices = 1;
    SmallVector<std::pair<HandlerOp, HandlerOp>> clones; ///< by handler
  };

  /// Clones the handlers of a reduce and of what reads it, if all can be cut.
  std::optional<SlicedReduce> cloneForSlices(ReduceOp reduce) {
    auto options = remarkOptions(reduce.getStageName());
    std::string reason;
    std::optional<Separability> separability =
        analyzeSeparability(reduce, &reason);
    if (!separability) {
      remark::missed(reduce.getLoc(), options) << ("not in slices: " + reason);
      return std::nullopt;
    }
    SlicedReduce sliced;
    sliced.reduce = reduce;
    sliced.slices = separability->slices;
    SmallVector<StageOpInterface> stages = {reduce};
    collectReaders(reduce.getChannel(), stages);
    for (StageOpInterface stage : stages) {
      FailureOr<HandlerOp> clone = cloneSliced(stage, *separability);
      if (failed(clone)) {
        remark::missed(reduce.getLoc(), options)
            << ("not in slices: the handler of stage '" +
                stage.getStageName().str() + "' cannot be cut");
        for (auto &[handler, other] : sliced.clones)
          other->erase();
        return std::nullopt;
      }
      sliced.clones.emplace_back(
          cast<HandlerOp>(stage.lookupHandler().getOperation()), *clone);
    }
    return sliced;
  }

  /// Makes the sliced variants. A handler that stages would need cut in
  /// different ways gets none, and so do the reduces that call it.
  void makeSliced(ProgramOp program) {
    SmallVector<SlicedReduce> all;
    DenseMap<Operation *, Type> cuts;
    DenseSet<Operation *> torn;
    for (auto reduce : program.getBody().getOps<ReduceOp>())
      if (std::optional<SlicedReduce> sliced = cloneForSlices(reduce))
        all.push_back(std::move(*sliced));
    for (SlicedReduce &sliced : all)
      for (auto &[handler, clone] : sliced.clones) {
        Type type = clone.getFunctionType();
        if (cuts.try_emplace(handler, type).first->second != type)
          torn.insert(handler);
      }
    for (SlicedReduce &sliced : all) {
      auto options = remarkOptions(sliced.reduce.getStageName());
      bool whole = true;
      for (auto &[handler, clone] : sliced.clones)
        if (torn.contains(handler)) {
          remark::missed(sliced.reduce.getLoc(), options)
              << ("not in slices: stages need handler '" +
                  handler.getSymName().str() + "' cut in different ways");
          whole = false;
        }
      for (auto &[handler, clone] : sliced.clones) {
        if (!whole || findVariant(handler, clone.getVariantAttr()))
          clone->erase();
        else {
          insertVariant(handler, clone);
          ++numVariants;
        }
      }
      if (!whole)
        continue;
      ++numSeparable;
      remark::passed(sliced.reduce.getLoc(), options)
          << ("in slices: " + std::to_string(sliced.slices));
    }
  }
};

} // namespace
