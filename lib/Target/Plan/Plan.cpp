//===- Plan.cpp - Schedules as plan bytes and back ------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between `dataflow.schedule` and dfrt::PlanImage; the bytes are the packer's
// business.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/Plan.h"

#include "dataflow/Transforms/ProgramImport.h"
#include "dataflow/Transforms/ScheduleConversion.h"

#include "mlir/IR/Verifier.h"

#include <cstring>

using namespace mlir;
using namespace mlir::df;

//===----------------------------------------------------------------------===//
// IR to bytes
//===----------------------------------------------------------------------===//

FailureOr<dfrt::PlanImage> mlir::df::importPlanImage(ScheduleOp schedule) {
  ScheduleIndex index;
  FailureOr<dfrt::Schedule> object = importSchedule(schedule, &index);
  if (failed(object))
    return failure();
  if (ProgramOp program = schedule.getParentProgram()) {
    FailureOr<dfrt::Problem> problem =
        importProblem(program, schedule.getTopology());
    if (failed(problem))
      return failure();
    return dfrt::makePlanImage(*problem, *object);
  }

  if (!schedule.getFingerprintAttr() || !schedule.getStagesAttr())
    return schedule.emitOpError("outside of a program needs 'fingerprint' and "
                                "'stages'");
  dfrt::PlanImage image;
  image.program = schedule.getProgram().str();
  image.fingerprint = schedule.getFingerprintAttr().getValue().getZExtValue();
  image.topology = schedule.getTopology().getTopology();
  for (auto info : schedule.getStagesAttr().getAsRange<StageInfoAttr>()) {
    dfrt::PlanImage::StageInfo &stage = image.stages.emplace_back();
    stage.name = info.getName().str();
    stage.kind = static_cast<dfrt::StageKind>(info.getKind());
    stage.headBytes = info.getHeadBytes();
    stage.sliceBytes = info.getSliceBytes();
    stage.slices = info.getSlices();
  }
  image.schedule = std::move(*object);
  for (InstructionOp instruction : index.instructions) {
    dfrt::PlanImage::Place &place = image.places.emplace_back();
    if (std::optional<ArrayRef<int64_t>> at = instruction.getAt())
      place.coordinates.assign(at->begin(), at->end());
    if (std::optional<ArrayRef<int64_t>> range = instruction.getRange()) {
      place.rangeBegin = (*range)[0];
      place.rangeEnd = (*range)[1];
    }
  }
  return image;
}

FailureOr<ScheduleOp> mlir::df::findSchedule(Operation *root, StringRef name) {
  SmallVector<ScheduleOp> found;
  root->walk([&](ScheduleOp schedule) {
    if (name.empty() || schedule.getSymName() == name)
      found.push_back(schedule);
  });
  if (found.size() == 1)
    return found.front();
  if (found.empty()) {
    if (name.empty())
      return root->emitError(
          "has no dataflow.schedule; run dataflow-plan first");
    return emitError(root->getLoc()) << "has no dataflow.schedule @" << name;
  }
  InFlightDiagnostic diagnostic = emitError(root->getLoc())
                                  << "has " << found.size() << " schedules"
                                  << (name.empty() ? ", name one" : " of ")
                                  << (name.empty() ? "" : "that name");
  for (ScheduleOp schedule : found)
    diagnostic.attachNote(schedule.getLoc())
        << "schedule @" << schedule.getSymName() << " of "
        << schedule.getProgramAttr();
  return diagnostic;
}

FailureOr<std::vector<uint8_t>> mlir::df::exportPlan(Operation *root,
                                                     StringRef name) {
  FailureOr<ScheduleOp> schedule = findSchedule(root, name);
  if (failed(schedule))
    return failure();
  FailureOr<dfrt::PlanImage> image = importPlanImage(*schedule);
  if (failed(image))
    return failure();
  dfrt::PlanMaxima maxima = dfrt::exactMaxima(*image);
  if (auto capacity =
          (*schedule)->getAttrOfType<DenseI32ArrayAttr>(kCapacityAttr)) {
    if (capacity.size() != DFRT_SECTION_COUNT)
      return schedule->emitOpError("attribute '")
             << kCapacityAttr << "' has " << capacity.size()
             << " entries, expected " << DFRT_SECTION_COUNT;
    for (auto [entry, value] :
         llvm::zip(maxima.capacity, capacity.asArrayRef()))
      entry = static_cast<uint32_t>(value);
  }
  dfrt::Expected<std::vector<uint8_t>> bytes = dfrt::packPlan(*image, maxima);
  if (!bytes)
    return schedule->emitOpError() << bytes.status().message();
  return std::move(*bytes);
}

//===----------------------------------------------------------------------===//
// Bytes to IR
//===----------------------------------------------------------------------===//

/// The room in the sections of a plan, if any has more than it needs.
static DenseI32ArrayAttr readCapacity(ArrayRef<uint8_t> bytes,
                                      const dfrt::PlanImage &image,
                                      MLIRContext *context) {
  dfrt_plan_header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  dfrt::PlanMaxima exact = dfrt::exactMaxima(image);
  SmallVector<int32_t> capacity;
  bool more = false;
  for (auto [section, needed] : llvm::zip(header.sections, exact.capacity)) {
    capacity.push_back(static_cast<int32_t>(section.capacity));
    more |= section.capacity != needed;
  }
  return more ? DenseI32ArrayAttr::get(context, capacity) : DenseI32ArrayAttr();
}

OwningOpRef<ModuleOp> mlir::df::importPlan(ArrayRef<uint8_t> bytes,
                                           MLIRContext *context) {
  context->loadDialect<DataflowDialect>();
  Location loc = UnknownLoc::get(context);
  dfrt::Expected<dfrt::PlanImage> image =
      dfrt::readPlan(bytes.data(), bytes.size());
  if (!image) {
    emitError(loc) << image.status().message();
    return nullptr;
  }
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto emit = [&] { return emitError(loc); };
  llvm::function_ref<InFlightDiagnostic()> fail = emit;

  ScheduleFrame frame;
  frame.name = "plan";
  frame.program = image->program;
  const dfrt::Topology &topology = image->topology;
  frame.topology = TopologyAttr::getChecked(
      fail, context, topology.ctas, topology.clusterSize, topology.sharedBytes,
      topology.reservedBytes);
  SmallVector<Attribute> stages;
  for (const dfrt::PlanImage::StageInfo &stage : image->stages) {
    frame.stages.push_back(stage.name);
    stages.push_back(StageInfoAttr::getChecked(
        fail, context, StringRef(stage.name),
        static_cast<StageKind>(stage.kind), stage.headBytes, stage.sliceBytes,
        stage.slices));
    if (!stages.back())
      return nullptr;
  }
  if (!frame.topology)
    return nullptr;
  FailureOr<ScheduleOp> schedule =
      exportSchedule(builder, loc, frame, image->schedule);
  if (failed(schedule))
    return nullptr;
  schedule->setFingerprintAttr(
      builder.getI64IntegerAttr(static_cast<int64_t>(image->fingerprint)));
  schedule->setStagesAttr(builder.getArrayAttr(stages));
  if (DenseI32ArrayAttr capacity = readCapacity(bytes, *image, context))
    (*schedule)->setAttr(kCapacityAttr, capacity);

  ScheduleIndex index;
  if (failed(importSchedule(*schedule, &index)))
    return nullptr;
  for (auto [instruction, place] :
       llvm::zip(index.instructions, image->places)) {
    // The plan has room for all axes; zeros behind the last one say nothing.
    ArrayRef<int64_t> at(place.coordinates);
    while (!at.empty() && at.back() == 0)
      at = at.drop_back();
    if (!at.empty())
      instruction.setAtAttr(builder.getDenseI64ArrayAttr(at));
    if (place.rangeBegin || place.rangeEnd)
      instruction.setRangeAttr(
          builder.getDenseI64ArrayAttr({place.rangeBegin, place.rangeEnd}));
  }
  if (failed(verify(*module)))
    return nullptr;
  return module;
}
