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

#include <CLI/CLI.hpp>
#include <fmt/format.h>

using namespace dfrt;

static const char *kDescription =
    "Plans a compiled program for one batch of inputs, verifies and executes "
    "the plan,\nand says what was decided, how long it should take on an H200, "
    "and whether the\nresults are right. ARTIFACT is made by df-translate "
    "--dataflow-to-artifact; the\nworkload file is described in "
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
  Look for a race, in twenty seeded adversarial interleavings:
    df-run hello.dfa --input examples/hello/workload.json --check --adversarial 20
)";

std::optional<ExitCode> dfrt::parseOptions(int argc, char **argv,
                                           Options &options) {
  CLI::App app(kDescription, "df-run");
  app.footer(kFooter);
  app.get_formatter()->column_width(32);
  app.option_defaults()->always_capture_default(false);

  app.add_option("artifact", options.artifact, "compiled program (.dfa)")
      ->type_name("ARTIFACT")
      ->required();

  const char *input = "Input";
  app.add_option("--input,-i", options.workload, "workload file")
      ->type_name("FILE")
      ->required()
      ->group(input);
  app.add_option("--point,-p", options.points,
                 "point of the workload: a name, an index, or 'all' (default: "
                 "the first); several separated by commas")
      ->type_name("POINT")
      ->expected(1)
      ->delimiter(',')
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
  app.add_option("--ctas", topology.ctas, "resident CTAs (default 132)")
      ->type_name("N")
      ->group(device);
  app.add_option("--cluster-size", topology.clusterSize,
                 "CTAs of a cluster: 1, 2, 4, 8 or 16 (default 1)")
      ->type_name("N")
      ->group(device);
  app.add_option("--shared-bytes", topology.sharedBytes,
                 "shared memory of a CTA (default 232448)")
      ->type_name("BYTES")
      ->group(device);
  app.add_option("--reserved-bytes", topology.reservedBytes,
                 "part of it that is kept from slots (default 131072)")
      ->type_name("BYTES")
      ->group(device);

  const char *plan = "Plan";
  std::vector<std::string> solverNames;
  std::string solverHelp = "how work is placed (default stream):";
  for (const Solver &solver : solvers()) {
    solverNames.push_back(solver.name);
    solverHelp += fmt::format("\n{}: {}", solver.name, solver.summary);
  }
  app.add_option("--solver", options.schedule.solver, solverHelp)
      ->type_name("NAME")
      ->check(CLI::IsMember(solverNames))
      ->group(plan);
  using Combine = ScheduleOptions::Combine;
  app.add_option("--combine", options.schedule.combine,
                 "how parts of a split task are combined: automatic, scatter, "
                 "fold or tree (default automatic)")
      ->type_name("HOW")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Combine>{{"automatic", Combine::automatic},
                                         {"scatter", Combine::scatter},
                                         {"fold", Combine::fold},
                                         {"tree", Combine::tree}}))
      ->group(plan);
  app.add_option("--transport", options.schedule.transport,
                 "how records reach another CTA: automatic, cluster_shared, "
                 "global or multicast (default automatic)")
      ->type_name("HOW")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Transport>{
          {"automatic", Transport::automatic},
          {"local", Transport::local},
          {"cluster_shared", Transport::clusterShared},
          {"global", Transport::global},
          {"multicast", Transport::multicast}}))
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
  app.add_option("--device", options.device, "device to run on (default cpu)")
      ->type_name("NAME")
      ->check(CLI::IsMember(std::vector<std::string>{"cpu"}))
      ->group(run);
  app.add_option("--threads", options.threads,
                 "threads of the CPU device (default: all of the machine)")
      ->type_name("N")
      ->group(run);
  app.add_option("--repeat", options.repeat,
                 "run N times and report the median (default 1)")
      ->type_name("N")
      ->check(CLI::Range(1u, 1000000u))
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
      ->check(CLI::NonNegativeNumber)
      ->group(run);

  const char *output = "Output";
  app.add_flag("--json", options.json,
               "print JSON (a list, one entry a point), see docs/df-run.md")
      ->group(output);
  app.add_option("--timeline", options.timeline,
                 "draw the simulated plan: 'text' into the terminal, else an "
                 "SVG file ('%' in its name stands for the point)")
      ->type_name("text|FILE.svg")
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
  app.set_version_flag("--version", "df-run " DATAFLOW_VERSION)->group(output);

  planFile->excludes(savePlan);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? kExitSuccess : kExitUsage;
  }
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
