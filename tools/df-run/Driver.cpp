//===- Driver.cpp - What df-run does --------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Driver.h: the order of the steps, and which exit code a failure of
// each of them has.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include "Choices.h"
#include "Execute.h"
#include "Outputs.h"
#include "Plan.h"
#include "Profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>

using namespace dfrt;

// Prints an error and, where there is one, what to do next.
static ExitCode fail(ExitCode code, const std::string &message,
                     const std::string &next = "") {
  fmt::print(stderr, "df-run: error: {}\n", message);
  if (!next.empty())
    fmt::print(stderr, "df-run: note: {}\n", next);
  return code;
}

// A failure while a plan is made: of the files, the inputs or the options.
static ExitCode failPlan(const Status &status, const Options &options) {
  if (status.code() == StatusCode::invalidFile)
    return fail(kExitFile, status.message(),
                "write a plan of this artifact with --save-plan FILE");
  if (!options.planFile.empty())
    return fail(kExitPlan, status.message(),
                "make the plan for this point and topology again");
  bool forced =
      !options.schedule.solver.empty() ||
      options.schedule.combine != ScheduleOptions::Combine::automatic ||
      options.schedule.transport != Transport::automatic;
  if (forced)
    return fail(kExitPlan, status.message(),
                "leave out --solver, --combine and --transport to let the "
                "planner choose");
  if (status.code() == StatusCode::invalidArgument)
    return fail(kExitUsage, status.message(),
                "compare the workload with the arguments of the program, and "
                "the options with --help");
  return fail(kExitPlan, status.message(),
              "change the topology, or a request in the program");
}

namespace {
class PointRunner {
public:
  explicit PointRunner(const Options &options)
      : options(options), progress(!options.quiet) {}
  ExitCode run();

private:
  ExitCode runPoint(size_t point);
  ExitCode executePoint(const Plan &plan, Tensors &tensors, Report &report,
                        std::optional<LaunchTrace> &trace);

  Options options;
  Progress progress;
  LoadedArtifact artifact;
  std::unique_ptr<CudaRunner> cuda; ///< null: the CPU
  Workload workload;
  Json reports = Json::array();
};
} // namespace

ExitCode PointRunner::executePoint(const Plan &plan, Tensors &tensors,
                                   Report &report,
                                   std::optional<LaunchTrace> &trace) {
  progress.phase("filling the arguments");
  if (Status s = fillTensors(tensors, options.seed, threadCount(options)); !s)
    return fail(kExitExecute, s.message(),
                "choose a smaller point; --plan-only needs no tensors");
  if (cuda) {
    progress.phase("copying the arguments to the GPU");
    if (Status s = cuda->prepare(plan, tensors, options); !s)
      return fail(kExitExecute, s.message());
  }
  Expected<RunSummary> run =
      cuda ? cuda->execute(tensors, options, progress)
           : execute(artifact, plan, tensors, options, progress);
  if (!run)
    return fail(kExitExecute, run.status().message(),
                run.status().code() == StatusCode::deadlock
                    ? "look at the plan with --plan-only --timeline text, and "
                      "report it: plans of the planner cannot deadlock"
                    : "");
  report.run = *run;
  if (!options.saveTensors.empty()) {
    progress.phase("saving the tensors");
    Status saved =
        saveTensors(tensors, fileFor(options.saveTensors, report.point));
    if (!saved)
      return fail(kExitWrite, saved.message());
  }
  if (options.check) {
    progress.phase("evaluating the float64 reference");
    Expected<std::vector<OutputCheck>> checks =
        checkOutputs(artifact, tensors, options);
    if (!checks)
      return fail(kExitExecute, checks.status().message());
    report.checks = std::move(*checks);
  }
  if (options.measure) {
    Expected<Measurement> measured = cuda->measure(
        report.problem.bytes, tensors, *report.run, options, progress);
    if (!measured)
      return fail(kExitExecute, measured.status().message());
    report.measurement = std::move(*measured);
    report.measurement->variant =
        !options.variant.empty()
            ? options.variant
            : fmt::format("{}, {}, clusters of {}", report.plan->solver,
                          report.plan->ticket ? "tickets" : "static",
                          report.plan->topology.clusterSize);
  }
  if (options.tracesLaunch()) {
    Expected<LaunchTrace> recorded =
        cuda->trace(plan, tensors, *report.run, progress);
    if (!recorded)
      return fail(kExitExecute, recorded.status().message());
    trace = std::move(*recorded);
    report.trace = summarise(plan.problem, plan.schedule, *trace);
    // Measured on this card where that was asked for, else predicted.
    double floor = report.measurement ? report.measurement->readFloorUs * 1e3
                                      : report.prediction->floorNs;
    if (options.explain)
      report.explanations.push_back(
          explain(plan.problem, plan.schedule, *trace, floor));
  }
  if (options.compareChoices) {
    Expected<std::vector<ChoiceTime>> choices =
        compareChoices(artifact, tensors, options, *cuda, progress);
    if (!choices)
      return fail(kExitExecute, choices.status().message());
    report.choices = std::move(*choices);
  }
  progress.done();
  return kExitSuccess;
}

ExitCode PointRunner::runPoint(size_t point) {
  Report report;
  report.artifact = options.artifact;
  report.program = artifact.program.name;
  report.workload = options.workload;
  if (options.profile)
    report.card = options.profile->data.card;
  report.point = workload.points()[point].name;

  Expected<std::vector<BoundArgument>> bound =
      workload.bind(point, artifact.program);
  if (!bound)
    return fail(kExitUsage, bound.status().message(),
                "docs/workload.md describes workload files");
  Expected<Tensors> tensors =
      planTensors(std::move(*bound), artifact.program, options.seed);
  if (!tensors)
    return fail(kExitExecute, tensors.status().message());

  progress.phase("planning");
  Expected<Plan> plan =
      preparePlan(artifact, *tensors, options, report.decisions);
  if (!plan)
    return failPlan(plan.status(), options);
  if (cuda && !options.planFile.empty()) {
    cuda::PlanFacts facts =
        cuda::planFacts(artifact.program, plan->bytes.data());
    if (Status s = cuda->choose(&facts, options); !s)
      return fail(kExitExecute, s.message());
  }
  report.problem = summarise(plan->problem);
  progress.phase("simulating the plan");
  Expected<SimulationResult> simulation =
      simulate(plan->problem, plan->schedule);
  if (!simulation)
    return fail(kExitPlan, simulation.status().message());
  report.prediction = std::move(*simulation);
  report.bound = lowerBound(plan->problem);
  report.plan = summarise(plan->problem, plan->schedule, &*report.prediction,
                          plan->bytes.size());
  report.memory = layOutMemory(plan->problem, plan->schedule, artifact.kernels,
                               plan->bytes);
  if (options.explain) {
    Expected<Explanation> predicted =
        explain(plan->problem, plan->schedule, *report.prediction);
    if (!predicted)
      return fail(kExitPlan, predicted.status().message());
    report.explanations.push_back(std::move(*predicted));
  }
  if (options.planFile.empty() && !options.quiet) {
    progress.phase("measuring the planning time");
    Expected<PlanTime> time = measurePlanning(artifact, *tensors, options);
    if (!time)
      return failPlan(time.status(), options);
    report.planTime = *time;
  }
  progress.done();

  if (!options.savePlan.empty()) {
    Status written = writeFile(fileFor(options.savePlan, report.point),
                               plan->bytes.data(), plan->bytes.size());
    if (!written)
      return fail(kExitWrite, written.message());
  }
  std::optional<LaunchTrace> trace;
  if (!options.planOnly)
    if (ExitCode code = executePoint(*plan, *tensors, report, trace);
        code != kExitSuccess)
      return code;
  if (options.json)
    reports.push_back(toJson(report));
  else if (!options.quiet)
    fmt::print("{}",
               report.measurement ? toMeasurementLine(report) : toText(report));
  if (Status s =
          writeOutputs(options, *plan, report, trace ? &*trace : nullptr);
      !s)
    return fail(kExitWrite, s.message());
  if (report.passed())
    return kExitSuccess;
  if (options.quiet || options.json)
    fmt::print(stderr, "df-run: error: point {}: outputs are wrong\n",
               report.point);
  return kExitWrong;
}

ExitCode PointRunner::run() {
  if (Status s = checkOutputs(options); !s)
    return fail(kExitUsage, s.message());
  Expected<LoadedArtifact> loaded = loadArtifact(options.artifact);
  if (!loaded)
    return fail(kExitFile, loaded.status().message(),
                "make an artifact with df-opt --dataflow-prepare FILE.mlir | "
                "df-translate --dataflow-to-artifact -o FILE.dfa");
  artifact = std::move(*loaded);
  Expected<Workload> read =
      Workload::read(options.workload, options.dimensions);
  if (!read)
    return fail(kExitUsage, read.status().message(),
                "docs/workload.md describes workload files");
  workload = std::move(*read);

  if (options.device != "cpu") {
    Expected<std::unique_ptr<CudaRunner>> opened =
        CudaRunner::open(artifact, options);
    if (!opened)
      return fail(kExitExecute, opened.status().message());
    cuda = std::move(*opened);
    if (options.planFile.empty())
      if (Status s = cuda->choose(nullptr, options); !s)
        return fail(kExitExecute, s.message());
  }

  std::vector<size_t> points;
  std::vector<std::string> words = options.points;
  if (words.empty())
    words.push_back(workload.points()[0].name);
  for (const std::string &word : words) {
    Expected<std::vector<size_t>> chosen = workload.select(word);
    if (!chosen)
      return fail(kExitUsage, chosen.status().message());
    points.insert(points.end(), chosen->begin(), chosen->end());
  }
  for (const auto &[option, name] :
       {std::pair<const char *, const std::string &>{"--timeline",
                                                     options.timeline},
        {"--view", options.view},
        {"--report", options.report},
        {"--save-plan", options.savePlan},
        {"--save-tensors", options.saveTensors}})
    if (points.size() > 1 && !name.empty() && name != "text" &&
        name.find('%') == std::string::npos)
      return fail(kExitUsage,
                  fmt::format("{} {}: {} points would overwrite one file",
                              option, name, points.size()),
                  "put a '%' into the name where the point's name shall be");

  ExitCode result = kExitSuccess;
  for (size_t i = 0; i < points.size(); ++i) {
    if (i && !options.json && !options.quiet && !options.measure)
      fmt::print("\n");
    ExitCode code = runPoint(points[i]);
    if (code != kExitSuccess)
      result = code;
    // Wrong results of one point say nothing about the next.
    if (code != kExitSuccess && code != kExitWrong)
      break;
  }
  if (options.json)
    fmt::print("{}\n", jsonText(reports));
  std::fflush(stdout);
  return result;
}

ExitCode dfrt::runPoints(const Options &options) {
  try {
    return PointRunner(options).run();
  } catch (const std::bad_alloc &) {
    return fail(kExitExecute, "out of memory", "choose a smaller point");
  }
}
