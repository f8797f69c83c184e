//===- Options.cpp - Command line of df-run -------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Options.h. CLI11 reports by exception; this is the only place that
// catches one.
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "Completion.h"

#include "dfrt/DevicePlanner.h"
#include "dfrt/cuda/Device.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

using namespace dfrt;

static const char *kDescription =
    "Plans a compiled program for one batch of inputs, verifies and executes "
    "the\nplan, and says what was decided, how long it should take on an H200, "
    "and whether\nthe results are right. ARTIFACT is made by df-translate "
    "--dataflow-to-artifact;\nthe workload file is described in "
    "docs/workload.md.\n";

static const char *kFooter = R"(
EXIT STATUS
  0  everything asked for was done, and every check passed
  1  a check failed: an output is wrong or differs between runs
  2  the command line or the workload file is wrong
  3  the artifact or plan file cannot be read
  4  no legal plan exists under these options, or the plan is refused
  5  the execution failed (deadlock, device error, out of memory)
  6  an output file cannot be written

EXAMPLES
  Plan, run and check the first point:
    df-run mla_decode_f16.dfa --input examples/mla-decode/workload.json --check
  Look at the plan of point 3 on 112 CTAs in clusters of 16, without running it:
    df-run mla_decode_f16.dfa --input workload.json --point 3 --ctas 112 \
      --cluster-size 16 --plan-only --timeline plan.svg
  All points, for another program:
    df-run mla_decode_f16.dfa --input workload.json --point all --plan-only --json
  Run on the first GPU, check, and measure all points:
    df-run mla_decode_f16.dfa --input workload.json --point all --device cuda \
      --check --repeat 2 --measure
  Measure a GPU, and plan with what was measured:
    df-run --calibrate profile.json
    df-run hello.dfa --input examples/hello/workload.json --profile profile.json
  Run each line of a file in one process, as if it stood behind df-run:
    df-run --commands FILE
  Look for a race, in twenty seeded adversarial interleavings:
    df-run hello.dfa --input examples/hello/workload.json --check --adversarial 20
)";

static const std::map<std::string, ScheduleOptions::Combine> kCombines = {
    {"automatic", ScheduleOptions::Combine::automatic},
    {"scatter", ScheduleOptions::Combine::scatter},
    {"fold", ScheduleOptions::Combine::fold},
    {"tree", ScheduleOptions::Combine::tree}};

static const std::map<std::string, Transport> kTransports = {
    {"automatic", Transport::automatic},
    {"local", Transport::local},
    {"cluster_shared", Transport::clusterShared},
    {"global", Transport::global},
    {"multicast", Transport::multicast}};

template <typename T>
static std::vector<std::string>
keysOf(const std::map<std::string, T> &choices) {
  std::vector<std::string> keys;
  for (const auto &choice : choices)
    keys.push_back(choice.first);
  return keys;
}

// An option whose value is one of the keys of `choices`.
template <typename T>
static void addChoice(CLI::App &app, const char *name, std::string &value,
                      const std::map<std::string, T> &choices,
                      const std::string &help) {
  std::vector<std::string> words = keysOf(choices);
  app.add_option(name, value,
                 fmt::format("{} (default automatic): {}", help,
                             fmt::join(words, ", ")))
      ->type_name("HOW")
      ->check(CLI::IsMember(words).description(""))
      ->group("Plan");
}

// Breaks the lines of `text` at spaces, at most `width` characters each.
static std::string wrapped(const std::string &text, size_t width) {
  std::string out;
  size_t line = 0, at = 0;
  while (at < text.size()) {
    size_t end = text.find_first_of(" \n", at);
    if (end == std::string::npos)
      end = text.size();
    if (line && line + 1 + (end - at) > width) {
      out += '\n';
      line = 0;
    } else if (line) {
      out += ' ';
      ++line;
    }
    out += text.substr(at, end - at);
    line += end - at;
    if (end < text.size() && text[end] == '\n') {
      out += '\n';
      line = 0;
    }
    at = end + 1;
  }
  return out;
}

bool Options::traceFile() const {
  return endsWith(timeline, ".json") || endsWith(timeline, ".pftrace");
}

std::optional<ExitCode> dfrt::parseOptions(int argc, char **argv,
                                           Options &options) {
  CLI::App app(kDescription, "df-run");
  app.footer(kFooter);

  app.add_option("artifact", options.artifact, "compiled program (.dfa)")
      ->type_name("ARTIFACT")
      ->required();

  const char *input = "Input";
  app.add_option("--input,-i", options.workload, "workload file")
      ->type_name("FILE")
      ->required()
      ->group(input);
  std::string points;
  app.add_option("--point,-p", points,
                 "point of the workload: a name, an index, or 'all' (default: "
                 "the first); several separated by commas")
      ->type_name("POINT")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->group(input);
  std::vector<std::string> settings;
  app.add_option("--set", settings,
                 "give the workload's dimension NAME another value; may be "
                 "repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(input);
  app.add_option("--seed", options.seed,
                 "vary all random fills together (default 0)")
      ->type_name("N")
      ->group(input);

  const char *device = "Device as the planner sees it";
  Topology &topology = options.topology;
  CLI::Option *ctas =
      app.add_option("--ctas", topology.ctas,
                     "resident CTAs (default: those of the GPU, else 132)")
          ->type_name("N")
          ->group(device);
  CLI::Option *cluster =
      app.add_option("--cluster-size", topology.clusterSize,
                     "CTAs of a cluster: 1, 2, 4, 8 or 16 (default 1)")
          ->type_name("N")
          ->group(device);
  CLI::Option *shared =
      app.add_option("--shared-bytes", topology.sharedBytes,
                     "shared memory of a CTA (default: that of the GPU, else "
                     "232448)")
          ->type_name("BYTES")
          ->group(device);
  CLI::Option *reserved =
      app.add_option("--reserved-bytes", topology.reservedBytes,
                     "part of it that is kept from slots (default: what the "
                     "kernel needs, else 131072)")
          ->type_name("BYTES")
          ->group(device);

  app.add_option("--profile", options.profileFile,
                 "device profile, made by --calibrate FILE (see df-run "
                 "--calibrate --help): gives the topology and the constants of "
                 "the prediction")
      ->type_name("FILE")
      ->group(device);

  const char *plan = "Plan";
  std::vector<std::string> solverNames;
  std::string solverHelp = "how work is placed (default stream):";
  for (const Solver &solver : solvers()) {
    solverNames.push_back(solver.name);
    solverHelp += fmt::format("\n{}: {}", solver.name, solver.summary);
  }
  solverNames.push_back(kBestSolver);
  solverHelp += fmt::format(
      "\n{}: the plan that the simulator finds fastest, of all solvers, "
      "combinations and transports that are left open",
      kBestSolver);
  solverNames.push_back(kLineSolver);
  solverHelp += fmt::format(
      "\n{}: the plan that --plan-on-device makes, made on the host",
      kLineSolver);
  app.add_option("--solver", options.schedule.solver, solverHelp)
      ->type_name("NAME")
      ->check(CLI::IsMember(solverNames).description(""))
      ->group(plan);
  app.add_flag("--plan-on-device", options.planOnDevice,
               "with --device cuda: the GPU makes the plan from the lengths "
               "that it has; fails if it is not that of --solver line")
      ->group(plan);
  std::string combine = "automatic", transport = "automatic";
  addChoice(app, "--combine", combine, kCombines,
            "how parts of a split task are combined");
  addChoice(app, "--transport", transport, kTransports,
            "how records reach another CTA");
  app.add_flag(
         "--batch-invariant", options.schedule.batchInvariant,
         "cut and combine each task in a way that depends on it alone, so "
         "that its results have the same bits in every batch")
      ->group(plan);
  CLI::Option *savePlan =
      app.add_option("--save-plan", options.savePlan, "write the plan's bytes")
          ->type_name("FILE")
          ->group(plan);
  CLI::Option *planFile = app.add_option("--plan", options.planFile,
                                         "run this plan instead of making one")
                              ->type_name("FILE")
                              ->group(plan);
  app.add_flag("--plan-only", options.planOnly,
               "plan and verify, do not execute")
      ->group(plan);

  const char *run = "Execution";
  app.add_option("--device", options.device,
                 "device to run on: cpu (default), cuda, or cuda:N")
      ->type_name("NAME")
      ->check(CLI::Validator(
          [](std::string &name) {
            return name == "cpu" || cuda::ordinalOf(name) >= 0
                       ? std::string()
                       : fmt::format("{} is not cpu, cuda or cuda:N", name);
          },
          ""))
      ->group(run);
  app.add_option("--kernel", options.kernel,
                 "GPU: run this kernel of the artifact (default: the first "
                 "that fits)")
      ->type_name("SYMBOL")
      ->group(run);
  app.add_flag("--watchdog", options.watchdog,
               "GPU: run a kernel whose waits are bounded and say who waits "
               "for whom when one runs out")
      ->group(run);
  app.add_flag("--measure", options.measure,
               "GPU: measure the launch by the yardstick of docs/df-run.md and "
               "print a line a point")
      ->group(run);
  app.add_flag("--compare-choices", options.compareChoices,
               "GPU: measure also the plans of all choices that are left open "
               "(solver, way to combine, transport, cluster size), and the "
               "batch-invariant one")
      ->group(run);
  app.add_option("--samples", options.samples,
                 "samples of a measurement (default 30)")
      ->type_name("N")
      ->check(CLI::Range(1u, 100000u).description(""))
      ->group(run);
  app.add_option("--variant", options.variant,
                 "what results are called in the output of --measure (default: "
                 "solver, queues and cluster size)")
      ->type_name("NAME")
      ->group(run);
  app.add_option("--threads", options.threads,
                 "threads of the CPU device (default: all of the machine)")
      ->type_name("N")
      ->group(run);
  app.add_option("--repeat", options.repeat,
                 "run N times and report the median (default 1)")
      ->type_name("N")
      ->check(CLI::Range(1u, 1000000u).description(""))
      ->group(run);
  app.add_option("--adversarial", options.adversarial,
                 "run also under N seeded adversarial interleavings; all must "
                 "give the same bits")
      ->type_name("N")
      ->group(run);
  app.add_flag("--check", options.check,
               "compare every output with the float64 reference")
      ->group(run);
  app.add_option("--tolerance", options.tolerance,
                 "largest relative L2 error (default by type of the output: "
                 "f32 1e-4, f16 1e-3, bf16 4e-3, f8E4M3FN 5e-2, f8E5M2 1e-1)")
      ->type_name("X")
      ->check(CLI::Range(0.0, 1e9).description(""))
      ->group(run);

  const char *output = "Output";
  app.add_flag("--json", options.json,
               "print JSON (a list, one entry a point), see docs/df-run.md")
      ->group(output);
  app.add_option("--timeline", options.timeline,
                 "draw the simulated plan: 'text' into the terminal, else an "
                 "SVG file ('%' in its name stands for the point). "
                 "FILE.pftrace: for Perfetto, FILE.json: also for "
                 "chrome://tracing; with --device cuda both hold also what a "
                 "kernel built with --timeline records of a launch from a cold "
                 "L2, and a summary is printed")
      ->type_name("text|FILE.svg|FILE.pftrace|FILE.json")
      ->group(output);
  app.add_option("--view", options.view,
                 "write the plan as a page to look at with a browser (rows, "
                 "slots, transfers, search) or as a graph for Graphviz ('%' in "
                 "the name stands for the point)")
      ->type_name("FILE.html|FILE.dot")
      ->group(output);
  app.add_flag("--explain", options.explain,
               "say where the time goes: against the read floor, by stage, in "
               "waits for transfers, on the critical path; and what would help "
               "most. Predicted; with --timeline FILE.pftrace on a GPU also "
               "measured")
      ->group(output);
  app.add_option(
         "--report", options.report,
         "write the plan record by record, the decisions and where they "
         "come from, the target, and the memory, as JSON "
         "(docs/reports.md; '%' in the name stands for the point)")
      ->type_name("FILE.json")
      ->group(output);
  app.add_option("--save-tensors", options.saveTensors,
                 "write every argument as raw bytes to DIR/NAME.bin, and "
                 "DIR/tensors.json with types and shapes")
      ->type_name("DIR")
      ->group(output);
  app.add_flag("--quiet,-q", options.quiet,
               "print nothing but errors; the exit status tells")
      ->group(output);
  app.set_help_flag("--help,-h", "print this text")->group(output);
  app.set_version_flag("--version", "df-run " DATAFLOW_VERSION,
                       "print the version")
      ->group(output);

  CompletionWords words = {{"--solver", solverNames},
                           {"--combine", keysOf(kCombines)},
                           {"--transport", keysOf(kTransports)},
                           {"--device", {"cpu", "cuda"}},
                           {"--timeline", {"text"}},
                           {"--completion", {"bash", "zsh"}}};
  app.add_option_function<std::string>(
         "--completion",
         [&](const std::string &shell) {
           throw CLI::CallForVersion(completionScript(app, words, shell), 0);
         },
         "print a script that completes command lines: for bash put it into "
         "~/.local/share/bash-completion/completions/df-run, in zsh source it")
      ->type_name("bash|zsh")
      ->check(CLI::IsMember({"bash", "zsh"}).description(""))
      ->trigger_on_parse()
      ->group(output);

  planFile->excludes(savePlan);
  const size_t column = 30;
  app.get_formatter()->column_width(column);
  for (CLI::Option *option : app.get_options())
    option->description(wrapped(option->get_description(), 80 - column));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? kExitSuccess : kExitUsage;
  }
  for (size_t at = 0; at < points.size();) {
    size_t comma = std::min(points.find(',', at), points.size());
    options.points.push_back(points.substr(at, comma - at));
    at = comma + 1;
  }
  options.ctasGiven = ctas->count() > 0;
  options.clusterGiven = cluster->count() > 0;
  options.sharedGiven = shared->count() > 0;
  options.reservedGiven = reserved->count() > 0;
  bool gpu = options.device != "cpu";
  for (const auto &[given, name] :
       {std::pair<bool, const char *>{options.measure, "--measure"},
        {options.compareChoices, "--compare-choices"},
        {options.watchdog, "--watchdog"},
        {options.planOnDevice, "--plan-on-device"},
        {!options.kernel.empty(), "--kernel"}})
    if (given && !gpu) {
      fmt::print(stderr, "df-run: {} needs a GPU: add --device cuda\n", name);
      return kExitUsage;
    }
  if (options.schedule.solver == kBestSolver && gpu) {
    fmt::print(stderr, "df-run: --solver best does not know which queues the "
                       "kernel takes: run it on the device cpu and force what "
                       "it chose\n");
    return kExitUsage;
  }
  if (options.planOnDevice) {
    if (options.schedule.solver.empty())
      options.schedule.solver = kLineSolver;
    if (options.schedule.solver != kLineSolver || !options.planFile.empty()) {
      fmt::print(stderr,
                 "df-run: --plan-on-device makes a plan of its own, "
                 "that of --solver line: leave {} out\n",
                 options.planFile.empty() ? "--solver" : "--plan");
      return kExitUsage;
    }
  }
  if (options.compareChoices &&
      (options.planOnDevice || options.watchdog || !options.planFile.empty())) {
    fmt::print(stderr, "df-run: --compare-choices makes plans of its own: "
                       "leave --plan, --plan-on-device and --watchdog out\n");
    return kExitUsage;
  }
  if (options.adversarial && gpu) {
    fmt::print(stderr, "df-run: --adversarial runs on the device cpu only\n");
    return kExitUsage;
  }
  for (int i = 0; i < argc; ++i)
    options.commandLine += fmt::format("{}{}", i ? " " : "", argv[i]);
  options.schedule.combine = kCombines.at(combine);
  options.schedule.transport = kTransports.at(transport);
  for (const std::string &setting : settings) {
    size_t equals = setting.find('=');
    int64_t value = 0;
    if (equals == std::string::npos || equals == 0 ||
        !CLI::detail::lexical_cast(setting.substr(equals + 1), value)) {
      fmt::print(stderr,
                 "df-run: --set {}: expected NAME=VALUE with an integer\n",
                 setting);
      return kExitUsage;
    }
    options.dimensions[setting.substr(0, equals)] = value;
  }
  return std::nullopt;
}
