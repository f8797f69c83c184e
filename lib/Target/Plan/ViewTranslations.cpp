//===- ViewTranslations.cpp - Schedules to look at, by name ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `--schedule-to-html` and `--schedule-to-dot` for tools that translate.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/Plan.h"
#include "dataflow/Transforms/ProgramImport.h"
#include "dataflow/View/ScheduleView.h"

#include "mlir/Tools/mlir-translate/Translation.h"

#include <optional>

using namespace mlir;
using namespace mlir::df;

/// The simulation of a schedule in its program; nothing for one without, or
/// with one that cannot run: the picture then has steps.
static FailureOr<std::optional<dfrt::SimulationResult>>
simulate(ScheduleOp schedule, const dfrt::Schedule &object) {
  std::optional<dfrt::SimulationResult> none;
  ProgramOp program = schedule.getParentProgram();
  if (!program)
    return none;
  FailureOr<dfrt::Problem> problem =
      importProblem(program, schedule.getTopology());
  if (failed(problem))
    return failure();
  dfrt::Expected<dfrt::SimulationResult> result =
      dfrt::simulate(*problem, object);
  if (result)
    return std::optional<dfrt::SimulationResult>(std::move(*result));
  schedule.emitWarning() << "drawn without times: "
                         << result.status().message();
  return none;
}

static LogicalResult
translate(Operation *root, StringRef name, raw_ostream &output,
          function_ref<std::string(const dfrt::ScheduleView &)> write) {
  FailureOr<ScheduleOp> schedule = findSchedule(root, name);
  if (failed(schedule))
    return failure();
  FailureOr<dfrt::PlanImage> image = importPlanImage(*schedule);
  if (failed(image))
    return failure();
  FailureOr<std::optional<dfrt::SimulationResult>> simulation =
      simulate(*schedule, image->schedule);
  if (failed(simulation))
    return failure();
  std::string title =
      (schedule->getSymName() + " of " + schedule->getProgram()).str();
  output << write(viewSchedule(*image, std::move(title),
                               *simulation ? &**simulation : nullptr));
  return success();
}

void mlir::df::registerScheduleViewTranslations(
    std::function<std::string()> scheduleName) {
  auto add = [&](StringRef flag, StringRef description,
                 std::string (*write)(const dfrt::ScheduleView &)) {
    TranslateFromMLIRRegistration(
        flag, description,
        [scheduleName, write](Operation *root, raw_ostream &output) {
          return translate(root, scheduleName ? scheduleName() : "", output,
                           write);
        },
        registerScheduleDialects);
  };
  add("schedule-to-html", "draw a schedule as a page", dfrt::toHtml);
  add("schedule-to-dot", "draw a schedule as a graph", dfrt::toDot);
}
