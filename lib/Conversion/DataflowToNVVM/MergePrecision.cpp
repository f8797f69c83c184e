//===- MergePrecision.cpp - Records with narrow fields --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of a reduce are written once and read once, and both take the time
// that their bytes take. Where their large fields, the separable ones, are
// stored in 16 bits, that is half of it. Only the functions of the kernel know:
// slots keep their places and sizes, a narrow field lies in the front of its
// place in the slice, and nothing changes for plans, transports and the CPU.
//
// Rounding is for memory only. A fold keeps f32 and widens what it loads, so
// each part is rounded once, however many there are.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "dataflow/Transforms/ProgramImport.h"
#include "mlir/Analysis/SliceAnalysis.h"

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::nvvm;

namespace {

class PartStorage {
public:
  PartStorage(ProgramOp program, const dfrt::Program &planned, KernelOp kernel)
      : program(program), planned(planned), kernel(kernel),
        stages(llvm::to_vector(program.getStages())) {}

  /// The separable fields of the records of reduce `number` have the type
  /// `accumulator`.
  LogicalResult checkAccumulator(ReduceOp op, uint32_t number,
                                 Type accumulator) const;
  /// Why they cannot be stored in 16 bits; empty: they can. `sharers` become
  /// the stages whose records are those of the reduce.
  std::string findObstacle(uint32_t number,
                           SmallVectorImpl<uint32_t> &sharers) const;
  /// The type of 16 bits that all outputs have which are made of these fields.
  std::optional<dfrt::ElementType> findOutputType(uint32_t number) const;

private:
  /// The stages that read the records which `number` wrote, reshards left out.
  SmallVector<uint32_t> readersOf(uint32_t number) const;
  /// The reshards from `stage` back to `writer`, which pass on what they get.
  void addBetween(uint32_t stage, uint32_t writer,
                  SmallVectorImpl<uint32_t> &sharers) const {
    for (; stage != writer; stage = planned.stages[stage].inputs.front().stage)
      sharers.push_back(stage);
  }

  ProgramOp program;
  const dfrt::Program &planned;
  KernelOp kernel;
  SmallVector<StageOpInterface> stages;
};

} // namespace

SmallVector<uint32_t> PartStorage::readersOf(uint32_t number) const {
  SmallVector<uint32_t> readers;
  for (uint32_t other = 0; other < planned.stages.size(); ++other)
    if (planned.stages[other].kind != dfrt::StageKind::reshard)
      for (const dfrt::StageInput &input : planned.stages[other].inputs)
        if (recordStage(planned, input.stage) == number)
          readers.push_back(other);
  return readers;
}

LogicalResult PartStorage::checkAccumulator(ReduceOp op, uint32_t number,
                                            Type accumulator) const {
  for (const dfrt::Field &field : planned.stages[number].record.fields)
    if (field.separable >= 0 && getElementType(accumulator) != field.element)
      return op->emitOpError("request 'precision' on stage \"")
             << planned.stages[number].name << "\" asks for accumulators of "
             << accumulator << ", but field '" << field.name << "' has "
             << dfrt::elementName(field.element);
  return success();
}

std::string
PartStorage::findObstacle(uint32_t number,
                          SmallVectorImpl<uint32_t> &sharers) const {
  const dfrt::Stage &stage = planned.stages[number];
  if (llvm::none_of(stage.record.fields, [](const dfrt::Field &field) {
        return field.separable >= 0 && field.element == dfrt::ElementType::f32;
      }))
    return "no field of its record is f32 and separable";
  const dfrt::Variant *sliced = findSliced(stage);
  KernelOp parts = kernel;
  PartOp part;
  for (HandlerVariant &variant : getVariants(stages[number], stage.separable))
    if (parts && sliced && variant.variant.symbol == sliced->symbol)
      part = parts.getPart(variant.handler.getHandlerName(), PartRole::compute);
  if (!part || !part.getFragments() || !part->hasAttr("warp"))
    return "its handler does not merge slices in the registers of a warp";
  sharers.push_back(number);
  for (const dfrt::StageInput &input : stage.inputs) {
    uint32_t writer = recordStage(planned, input.stage);
    const std::string &name = planned.stages[writer].name;
    if (planned.stages[writer].kind != dfrt::StageKind::map)
      return "its parts are records of '" + name + "', which is no map";
    if (mayBeRow(planned, input.stage))
      return "its parts are rows of records of '" + name + "'";
    if (readersOf(writer).size() != 1)
      return "records of '" + name + "' have other readers, too";
    addBetween(input.stage, writer, sharers);
    sharers.push_back(writer);
  }
  for (uint32_t reader : readersOf(number)) {
    const dfrt::Stage &its = planned.stages[reader];
    if (its.kind == dfrt::StageKind::reduce)
      return "its records are parts of '" + its.name + "'";
    for (const dfrt::StageInput &input : its.inputs) {
      if (recordStage(planned, input.stage) != number)
        continue;
      if (planned.stages[input.stage].arity == dfrt::Arity::collected ||
          mayBeRow(planned, input.stage))
        return "'" + its.name + "' reads collected records, or rows, of it";
      addBetween(input.stage, number, sharers);
    }
  }
  return {};
}

std::optional<dfrt::ElementType>
PartStorage::findOutputType(uint32_t number) const {
  std::optional<dfrt::ElementType> type;
  const dfrt::Record &record = planned.stages[number].record;
  for (uint32_t reader : readersOf(number)) {
    const dfrt::Stage &stage = planned.stages[reader];
    if (stage.kind != dfrt::StageKind::finalize)
      return std::nullopt;
    Region &body =
        getVariants(stages[reader], false).front().handler.getHandlerBody();
    Operation *end = body.front().getTerminator();
    // Fields stand in front of the outputs, in the order of the inputs.
    unsigned next = body.getNumArguments() - stage.outputs.size();
    for (const dfrt::StageInput &input : llvm::reverse(stage.inputs)) {
      const dfrt::Stage &from = planned.stages[input.stage];
      next -= from.record.fields.size();
      if (recordStage(planned, input.stage) != number)
        continue;
      for (auto [i, field] : llvm::enumerate(record.fields)) {
        if (field.separable < 0)
          continue;
        llvm::SetVector<Operation *> users;
        getForwardSlice(body.getArgument(next + unsigned(i)), &users);
        for (Value output : end->getOperands()) {
          if (!users.contains(output.getDefiningOp()))
            continue;
          std::optional<dfrt::ElementType> its =
              getElementType(getElementTypeOrSelf(output.getType()));
          if (!its || (type && *type != *its))
            return std::nullopt;
          type = its;
        }
      }
    }
  }
  if (type != dfrt::ElementType::f16 && type != dfrt::ElementType::bf16)
    return std::nullopt;
  return type;
}

static PrecisionAttr findRequest(StageOpInterface stage) {
  if (ArrayAttr requests = stage.getRequestList())
    for (Attribute request : requests)
      if (auto precision = dyn_cast<PrecisionAttr>(request))
        return precision;
  return {};
}

FailureOr<StoredTypes>
df::nvvm::chooseStoredTypes(ProgramOp program, const dfrt::Program &planned,
                            KernelOp kernel,
                            const llvm::DenseSet<uint32_t> &unfolded,
                            std::vector<std::string> &remarks) {
  PartStorage storage(program, planned, kernel);
  StoredTypes types(planned.stages.size());
  for (auto [number, stage] : llvm::enumerate(program.getStages())) {
    auto op = dyn_cast<ReduceOp>(*stage);
    PrecisionAttr request = op ? findRequest(stage) : PrecisionAttr();
    if (!request)
      continue;
    if (failed(storage.checkAccumulator(op, number, request.getAccumulator())))
      return failure();
    MergePrecision merge = request.getMerge();
    if (merge == MergePrecision::f32)
      continue;
    bool automatic = merge == MergePrecision::automatic;
    const std::string &name = planned.stages[number].name;
    SmallVector<uint32_t> sharers;
    std::string obstacle = storage.findObstacle(number, sharers);
    if (obstacle.empty() && unfolded.contains(number))
      obstacle = "a fold does not keep slices of them in registers";
    std::optional<dfrt::ElementType> type;
    if (!automatic)
      type = merge == MergePrecision::f16 ? dfrt::ElementType::f16
                                          : dfrt::ElementType::bf16;
    else if (obstacle.empty() && !(type = storage.findOutputType(number)))
      obstacle = "outputs made of them are not all f16, nor all bf16";
    if (!obstacle.empty() && !automatic)
      return op.emitOpError("request 'precision' on stage \"")
             << name << "\": parts cannot be stored in "
             << dfrt::elementName(*type) << ", because " << obstacle;
    if (!obstacle.empty()) {
      remarks.push_back("parts of '" + name + "' stay as they are, because " +
                        obstacle);
      continue;
    }
    for (uint32_t sharer : sharers)
      types[sharer] = type;
    remarks.push_back("parts of '" + name + "' are stored in " +
                      dfrt::elementName(*type));
  }
  return types;
}

void df::nvvm::narrowRecords(const dfrt::Program &planned,
                             const StoredTypes &types,
                             std::vector<HandlerFunction> &functions) {
  llvm::StringMap<uint32_t> stageOf;
  for (auto [number, stage] : llvm::enumerate(planned.stages)) {
    for (const dfrt::Variant &variant : stage.variants)
      stageOf[variant.symbol] = uint32_t(number);
    if (!stage.identitySymbol.empty())
      stageOf[stage.identitySymbol] = uint32_t(number);
  }
  for (HandlerFunction &function : functions) {
    uint32_t number = stageOf.lookup(function.symbol);
    const dfrt::Stage &stage = planned.stages[number];
    function.narrow = types[number];
    for (auto [i, input] : llvm::enumerate(function.inputs)) {
      // Both inputs of a reduce are records of its own layout.
      bool reduces = stage.kind == dfrt::StageKind::reduce;
      input.narrow = types[reduces ? number : stage.inputs[i].stage];
    }
  }
}

std::optional<uint32_t> df::nvvm::findUnfolded(KernelState &state,
                                               const StoredTypes &types) {
  for (auto [number, stage] : llvm::enumerate(state.program.stages))
    if (stage.kind == dfrt::StageKind::reduce && types[number] &&
        !findStateFunctions(state.emitter, state.calleeOf(*findSliced(stage))))
      return uint32_t(number);
  return std::nullopt;
}
