//===- ImportSlices.cpp - Which records are cut into slices ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Marks the stages of an imported program that can work slice by slice, and
// cuts the records that they exchange.
//
//===----------------------------------------------------------------------===//

#include "ImportSlices.h"

#include "dataflow/Transforms/ProgramImport.h"
#include "dataflow/Transforms/Separability.h"

using namespace mlir;
using namespace mlir::df;

namespace {

class Slicer {
public:
  Slicer(ArrayRef<StageOpInterface> stages, dfrt::Program &result)
      : stages(stages), result(result) {}

  void run();

private:
  bool cutRecords(uint32_t start, const Separability &cut);
  std::optional<SmallVector<uint32_t>> findSliced(uint32_t reduce);

  ArrayRef<StageOpInterface> stages;
  dfrt::Program &result;
};

} // namespace

/// Lays out the records that have to have the layout of `start`: its input, and
/// those that reshards and reduces make of one another. `rows` counts leading
/// dimensions that a record has beyond those of `start`. False when a record is
/// cut in another way already.
bool Slicer::cutRecords(uint32_t start, const Separability &cut) {
  SmallVector<std::pair<uint32_t, int32_t>> work = {{start, 0}};
  DenseMap<uint32_t, int32_t> found;
  auto sameRecord = [&](uint32_t stage) {
    const dfrt::Stage &consumer = result.stages[stage];
    return consumer.kind == dfrt::StageKind::reduce ||
           (consumer.kind == dfrt::StageKind::reshard &&
            consumer.reshard != dfrt::ReshardKind::collect);
  };
  auto rowsOf = [&](uint32_t stage) {
    return result.stages[stage].rekey.rows ? 1 : 0;
  };
  while (!work.empty()) {
    auto [index, rows] = work.pop_back_val();
    if (!found.try_emplace(index, rows).second)
      continue;
    if (sameRecord(index))
      work.push_back(
          {result.stages[index].inputs.front().stage, rows + rowsOf(index)});
    for (uint32_t consumer : result.consumers(index)) {
      if (sameRecord(consumer))
        work.push_back({consumer, rows - rowsOf(consumer)});
    }
  }
  auto dimension = [&](size_t field, int32_t rows) {
    return cut.dims[field] < 0 ? -1 : cut.dims[field] + rows;
  };
  for (auto [index, rows] : found) {
    const dfrt::Record &record = result.stages[index].record;
    if (record.slices != 1)
      return false;
    for (size_t f = 0; f < record.fields.size(); ++f) {
      int32_t separable = dimension(f, rows);
      if (cut.dims[f] >= 0 && separable < 0)
        return false;
    }
  }
  for (auto [index, rows] : found) {
    dfrt::Record &record = result.stages[index].record;
    record.slices = cut.slices;
    for (size_t f = 0; f < record.fields.size(); ++f)
      record.fields[f].separable = dimension(f, rows);
  }
  return true;
}

/// The stages behind a reduce that work on slices with it: all that read it,
/// and the moves in between. Nothing if one of them has no sliced variant.
std::optional<SmallVector<uint32_t>> Slicer::findSliced(uint32_t reduce) {
  SmallVector<uint32_t> sliced = {reduce};
  for (size_t i = 0; i < sliced.size(); ++i) {
    StageOpInterface op = stages[sliced[i]];
    bool move = op.getStageKind() == StageKind::reshard;
    if (!move && llvm::none_of(getVariants(op, /*separable=*/true),
                               [](const HandlerVariant &variant) {
                                 return variant.variant.kind ==
                                        dfrt::Variant::Kind::sliced;
                               }))
      return std::nullopt;
    for (uint32_t consumer : result.consumers(sliced[i]))
      sliced.push_back(consumer);
  }
  return sliced;
}

void Slicer::run() {
  for (uint32_t index = 0; index < stages.size(); ++index) {
    StageOpInterface op = stages[index];
    auto reduce = dyn_cast<ReduceOp>(op.getOperation());
    if (!reduce)
      continue;
    std::optional<SmallVector<uint32_t>> sliced = findSliced(index);
    if (!sliced)
      continue;
    std::optional<Separability> cut = analyzeSeparability(reduce);
    if (!cut || !cutRecords(index, *cut))
      continue;
    for (uint32_t stage : *sliced)
      result.stages[stage].separable = true;
  }
}

void mlir::df::importSlices(ArrayRef<StageOpInterface> stages,
                            dfrt::Program &program) {
  Slicer(stages, program).run();
}
