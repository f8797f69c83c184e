//===- ProblemImport.cpp - A program together with its batch --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates an imported program on the inputs that the IR holds.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/ProgramImport.h"

#include "CostAttr.h"
#include "SchedulePasses.h"

using namespace mlir;
using namespace mlir::df;

static FailureOr<std::vector<dfrt::PlanInput>> importInputs(ProgramOp program) {
  std::vector<dfrt::PlanInput> inputs;
  Attribute attribute = program->getAttr("dataflow.inputs");
  if (!attribute)
    return inputs;
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  if (!dictionary)
    return emitProgramError(program)
           << "'dataflow.inputs' must be a dictionary";
  for (NamedAttribute entry : dictionary) {
    dfrt::PlanInput input;
    input.argument = entry.getName().str();
    if (auto shape = dyn_cast<DenseI64ArrayAttr>(entry.getValue())) {
      input.shape.assign(shape.asArrayRef().begin(), shape.asArrayRef().end());
    } else if (auto dense = dyn_cast<DenseIntElementsAttr>(entry.getValue())) {
      ArrayRef<int64_t> extents = dense.getType().getShape();
      input.shape.assign(extents.begin(), extents.end());
      // A splat may be of any size.
      constexpr int64_t kMaxValues = int64_t(1) << 28;
      if (dense.getNumElements() > kMaxValues)
        return emitProgramError(program)
               << "input " << entry.getName() << " of 'dataflow.inputs' has "
               << dense.getNumElements() << " values, expected at most "
               << kMaxValues;
      if (!dense.getElementType().isSignlessInteger() ||
          dense.getElementType().getIntOrFloatBitWidth() > 64)
        return emitProgramError(program)
               << "input " << entry.getName()
               << " of 'dataflow.inputs' must hold signless integers of at "
                  "most 64 bits, got "
               << dense.getElementType();
      input.values.reserve(dense.getNumElements());
      for (const APInt &value : dense.getValues<APInt>())
        input.values.push_back(value.getSExtValue());
    } else {
      return emitProgramError(program)
             << "input " << entry.getName()
             << " of 'dataflow.inputs' must be dense integers or a shape "
                "(array<i64: ...>), got "
             << entry.getValue();
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

FailureOr<dfrt::Problem> mlir::df::importProblem(ProgramOp program,
                                                 TopologyAttr topology) {
  if (!topology)
    topology = program->getAttrOfType<TopologyAttr>("dataflow.topology");
  if (!topology)
    return emitProgramError(program) << "has no 'dataflow.topology'; run "
                                        "dataflow-attach-topology first, or "
                                        "give dataflow-plan the option ctas or "
                                        "chip";
  FailureOr<dfrt::Program> imported = importProgram(program);
  if (failed(imported))
    return failure();
  FailureOr<std::vector<dfrt::PlanInput>> inputs = importInputs(program);
  if (failed(inputs))
    return failure();
  FailureOr<dfrt::CostModel> costs = importCosts(program);
  if (failed(costs))
    return failure();
  dfrt::Expected<dfrt::Problem> problem =
      dfrt::instantiate(*imported, *inputs, topology.getTopology(), *costs);
  if (!problem)
    return emitProgramError(program) << problem.status().message();
  return std::move(*problem);
}
