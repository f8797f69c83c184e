//===- Outputs.cpp - Files about one point --------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Outputs.h.
//
//===----------------------------------------------------------------------===//

#include "Outputs.h"

#include "PlanReport.h"
#include "Tensors.h"
#include "Timeline.h"

#include "dataflow/Schedule/Message.h"
#include "dataflow/View/ScheduleView.h"

#include <fmt/format.h>

#include <cstdio>

using namespace dfrt;

std::string dfrt::fileFor(const std::string &name, const std::string &point) {
  std::string result = name;
  size_t at = result.find('%');
  if (at != std::string::npos)
    result.replace(at, 1, point);
  return result;
}

bool dfrt::endsWith(const std::string &name, const char *ending) {
  size_t length = std::char_traits<char>::length(ending);
  return name.size() > length &&
         name.compare(name.size() - length, length, ending) == 0;
}

Status dfrt::checkOutputs(const Options &options) {
  const std::string &view = options.view;
  if (!view.empty() && !endsWith(view, ".html") && !endsWith(view, ".dot"))
    return failure(StatusCode::invalidArgument, "--view ", view,
                   ": the name of the file ends with .html or .dot");
  return Status::success();
}

static std::string titleOf(const Report &report) {
  return fmt::format("{}, point {}", report.program, report.point);
}

static Status write(const std::string &name, const Report &report,
                    const std::string &content) {
  return writeFile(fileFor(name, report.point), content.data(), content.size());
}

static Status writeTimeline(const Options &options, const Plan &plan,
                            const Report &report, const LaunchTrace *trace) {
  Timeline timeline{plan.problem, plan.schedule, *report.prediction,
                    titleOf(report)};
  if (options.timeline == "text") {
    // With --json the standard output has to stay JSON.
    fmt::print(options.json ? stderr : stdout, "{}", drawText(timeline));
    return Status::success();
  }
  if (!options.traceFile())
    return write(options.timeline, report, drawSvg(timeline));
  std::unique_ptr<TraceSink> sink =
      endsWith(options.timeline, ".json") ? makeJsonSink() : makePerfettoSink();
  return write(options.timeline, report,
               traceEvents(plan.problem, plan.schedule, *report.prediction,
                           trace, timeline.title, *sink));
}

static Status writeView(const Options &options, const Plan &plan,
                        const Report &report, const LaunchTrace *trace) {
  Expected<PlanImage> image = readPlan(plan.bytes.data(), plan.bytes.size());
  if (!image)
    return image.status();
  SimulationResult times =
      trace ? asSimulation(*trace, report.prediction->floorNs)
            : *report.prediction;
  ScheduleView view = viewSchedule(*image, titleOf(report), &times, trace);
  return write(options.view, report,
               endsWith(options.view, ".dot") ? toDot(view) : toHtml(view));
}

Status dfrt::writeOutputs(const Options &options, const Plan &plan,
                          const Report &report, const LaunchTrace *trace) {
  if (!options.timeline.empty())
    if (Status s = writeTimeline(options, plan, report, trace); !s)
      return s;
  if (!options.view.empty())
    if (Status s = writeView(options, plan, report, trace); !s)
      return s;
  if (!options.report.empty())
    return write(options.report, report,
                 jsonText(planReport(options, plan, report)) + "\n");
  return Status::success();
}
