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

#include "llvm/ADT/SetVector.h"

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

/// Cuts the records that have the layout of `start`'s: its input, and those
/// that reshards and reduces make of one another. False, and nothing is cut,
/// when one of them is cut in another way already or loses its rows on the way,
/// or when variants for few elements write its first rows, which then lie in
/// slices of another size.
bool Slicer::cutRecords(uint32_t start, const Separability &cut) {
  auto sameRecord = [&](uint32_t stage) {
    const dfrt::Stage &consumer = result.stages[stage];
    return consumer.kind == dfrt::StageKind::reduce ||
           (consumer.kind == dfrt::StageKind::reshard &&
            consumer.reshard != dfrt::ReshardKind::collect);
  };
  llvm::SetVector<uint32_t> found;
  found.insert(start);
  for (size_t i = 0; i < found.size(); ++i) {
    uint32_t index = found[i];
    if (sameRecord(index))
      found.insert(result.stages[index].inputs.front().stage);
    for (uint32_t consumer : result.consumers(index)) {
      if (sameRecord(consumer))
        found.insert(consumer);
    }
  }
  for (uint32_t index : found) {
    const dfrt::Stage &stage = result.stages[index];
    if (stage.record.slices != 1 || stage.rekey.rows ||
        (stage.bound != dfrt::kNone && llvm::is_contained(cut.dims, 0)))
      return false;
  }
  for (uint32_t index : found) {
    dfrt::Record &record = result.stages[index].record;
    record.slices = cut.slices;
    for (auto [field, dimension] : llvm::zip(record.fields, cut.dims))
      field.separable = dimension;
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
