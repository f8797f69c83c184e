//===- Separability.cpp - Which records can be cut into slices ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every dimension of every field is tried as a seed; fields whose results turn
// out to be sliced become separable too, until nothing changes.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/Separability.h"
#include "SliceAnalysis.h"
#include "dataflow/Transforms/ProgramImport.h"

using namespace mlir;
using namespace mlir::df;

static constexpr int64_t kMaximumSlices = 64;
static constexpr int64_t kMinimumRowBytes = 16;

namespace {

class Search {
public:
  explicit Search(ReduceOp reduce) : reduce(reduce) {}

  bool collectConsumers(Value channel);
  /// Completes `dims`, in which one field is given, or fails.
  bool propagate(SmallVectorImpl<int32_t> &dims);
  uint32_t countSlices(ArrayRef<int32_t> dims);
  uint64_t countBytes(ArrayRef<int32_t> dims);
  /// The record travels to this reduce alone, and rows are not split off it.
  bool checkProducers();

  ReduceOp reduce;
  SmallVector<StageOpInterface> consumers;
  bool firstRows = false; ///< variants for few elements write no more of parts
  std::string why;

private:
  RankedTensorType fieldType(unsigned field) {
    return dyn_cast<RankedTensorType>(
        cast<ChannelType>(reduce.getChannel().getType())
            .getRecord()
            .getTypes()[field]);
  }
};

} // namespace

static std::string quoted(StageOpInterface stage) {
  return ("stage \"" + stage.getStageName() + "\"").str();
}

bool Search::collectConsumers(Value channel) {
  for (Operation *user : channel.getUsers()) {
    auto stage = dyn_cast<StageOpInterface>(user);
    if (!stage)
      continue;
    if (auto reshard = dyn_cast<ReshardOp>(user);
        reshard && reshard.getKind() == ReshardKind::move) {
      if (!collectConsumers(reshard->getResult(0)))
        return false;
      continue;
    }
    if (stage.getStageKind() != StageKind::finalize || stage.lookupRange() ||
        stage.getInputChannels().size() != 1) {
      why = quoted(stage) + " reads the record and is no finalize without a "
                            "range whose only input it is";
      return false;
    }
    consumers.push_back(stage);
  }
  return true;
}

bool Search::checkProducers() {
  Value channel = reduce.getInput();
  while (true) {
    if (!channel.hasOneUse()) {
      why = "the parts have other readers than the reduce";
      return false;
    }
    auto reshard = channel.getDefiningOp<ReshardOp>();
    if (!reshard) {
      auto writer = channel.getDefiningOp<StageOpInterface>();
      firstRows = writer && writer.getRequest<BoundedAttr>();
      return true;
    }
    if (reshard.getRows()) {
      why = quoted(cast<StageOpInterface>(reshard.getOperation())) +
            " splits the records into rows on their way to the reduce";
      return false;
    }
    channel = cast<StageOpInterface>(reshard.getOperation())
                  .getInputChannels()
                  .front();
  }
}

bool Search::propagate(SmallVectorImpl<int32_t> &dims) {
  auto handler = cast<StageOpInterface>(reduce.getOperation()).lookupHandler();
  Region &body = handler.getHandlerBody();
  SliceAnalysis analysis;
  for (bool changed = true; changed;) {
    changed = false;
    auto arguments = SliceAnalysis::argumentStates(
        cast<StageOpInterface>(reduce.getOperation()), dims);
    if (arguments.size() != body.getNumArguments() ||
        !analysis.run(body, arguments)) {
      why = "handler '" + handler.getHandlerName().str() +
            "': " + analysis.reason();
      return false;
    }
    for (auto [i, result] :
         llvm::enumerate(body.front().getTerminator()->getOperands())) {
      SliceState state = analysis.state(result);
      if (!state.isSliced() || state.dim == dims[i])
        continue;
      if (dims[i] >= 0) {
        why = "field " + std::to_string(i) + " is separable along dimension " +
              std::to_string(dims[i]) + " before the reduce and " +
              std::to_string(state.dim) + " behind it";
        return false;
      }
      dims[i] = state.dim;
      changed = true;
    }
  }
  for (StageOpInterface consumer : consumers) {
    HandlerOpInterface target = consumer.lookupHandler();
    Region &code = target.getHandlerBody();
    auto arguments = SliceAnalysis::argumentStates(consumer, dims);
    bool fits = arguments.size() == code.getNumArguments() &&
                analysis.run(code, arguments);
    for (Value result : code.front().getTerminator()->getOperands())
      fits = fits && analysis.state(result) == SliceState::output();
    if (!fits) {
      why = "handler '" + target.getHandlerName().str() + "': " +
            (analysis.reason().empty() ? "does not return its output tensors"
                                       : analysis.reason());
      return false;
    }
  }
  return true;
}

uint32_t Search::countSlices(ArrayRef<int32_t> dims) {
  for (int64_t slices = kMaximumSlices; slices > 1; --slices) {
    bool fits = true;
    for (auto [field, dim] : llvm::enumerate(dims)) {
      if (dim < 0)
        continue;
      RankedTensorType type = fieldType(field);
      int64_t extent = type.getDimSize(dim);
      fits &= extent % slices == 0;
      std::optional<dfrt::ElementType> element = getElementType(type);
      if (dim == type.getRank() - 1)
        fits &= element && extent / slices * dfrt::elementBytes(*element) >=
                               kMinimumRowBytes;
    }
    if (fits)
      return slices;
  }
  return 1;
}

uint64_t Search::countBytes(ArrayRef<int32_t> dims) {
  uint64_t bytes = 0;
  for (auto [field, dim] : llvm::enumerate(dims))
    if (std::optional<dfrt::ElementType> element;
        dim >= 0 && (element = getElementType(fieldType(field))))
      bytes += fieldType(field).getNumElements() * dfrt::elementBytes(*element);
  return bytes;
}

std::optional<Separability> mlir::df::analyzeSeparability(ReduceOp reduce,
                                                          std::string *whyNot) {
  Search search(reduce);
  auto refuse = [&](std::string reason) -> std::optional<Separability> {
    if (whyNot)
      *whyNot = std::move(reason);
    return std::nullopt;
  };
  if (!search.checkProducers() || !search.collectConsumers(reduce.getChannel()))
    return refuse(search.why);
  if (search.consumers.empty())
    return refuse("nothing reads the record");
  auto stage = cast<StageOpInterface>(reduce.getOperation());
  for (StageOpInterface each : search.consumers)
    if (!isa_and_nonnull<HandlerOp>(each.lookupHandler().getOperation()))
      return refuse(quoted(each) + " has no handler that can be cloned");
  if (!isa_and_nonnull<HandlerOp>(stage.lookupHandler().getOperation()))
    return refuse(quoted(stage) + " has no handler that can be cloned");

  RecordType record = stage.getOutputRecord();
  std::optional<Separability> best;
  uint64_t bestBytes = 0;
  std::string reason = "no field is a tensor";
  for (auto [field, type] : llvm::enumerate(record.getTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      continue;
    if (!tensor.hasStaticShape())
      return refuse("field " + std::to_string(field) +
                    " of the record has no static shape");
    for (int32_t dim = 0; dim < tensor.getRank(); ++dim) {
      SmallVector<int32_t> dims(record.getTypes().size(), -1);
      dims[field] = dim;
      if (!search.propagate(dims)) {
        reason = search.why;
        continue;
      }
      if (search.firstRows && llvm::is_contained(dims, 0)) {
        reason = "variants for few elements write the first rows of parts";
        continue;
      }
      uint32_t slices = search.countSlices(dims);
      if (slices < 2) {
        reason = "extent " + std::to_string(tensor.getDimSize(dim)) +
                 " has no divisor that leaves slices of at least " +
                 std::to_string(kMinimumRowBytes) + " bytes a row";
        continue;
      }
      uint64_t bytes = search.countBytes(dims);
      // Of equals the last dimension: what slices have in common is then the
      // same for all of them, and a fold keeps it in registers. A slice of rows
      // would read its own part of it from memory, for every record.
      if (best && std::make_pair(best->slices, bestBytes) >
                      std::make_pair(slices, bytes))
        continue;
      best = Separability{slices, dims};
      bestBytes = bytes;
    }
  }
  if (!best)
    return refuse(reason);
  return best;
}
