//===- Choices.cpp - The planner's choice against all others --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Choices.h"

#include "dataflow/Schedule/Message.h"
#include "dataflow/Schedule/Simulator.h"
#include "dfrt/DevicePlanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

using namespace dfrt;

using Combine = ScheduleOptions::Combine;

std::vector<Options> dfrt::choicesOf(const Options &options) {
  std::vector<std::string> names = {options.schedule.solver};
  if (names[0].empty()) {
    names.clear();
    for (const Solver &solver : solvers())
      names.push_back(solver.name);
    names.push_back(kLineSolver);
  }
  std::vector<Combine> combines = {options.schedule.combine};
  if (combines[0] == Combine::automatic)
    combines = {Combine::automatic, Combine::fold, Combine::tree};
  std::vector<uint32_t> sizes = {1, 2, 4, 8, 16};
  if (options.clusterGiven)
    sizes = {options.topology.clusterSize};
  std::vector<Options> choices = {options};
  for (uint32_t size : sizes) {
    // In clusters of one all records go through global memory.
    std::vector<Transport> transports = {options.schedule.transport};
    if (transports[0] == Transport::automatic && size > 1)
      transports = {Transport::automatic, Transport::global};
    for (const std::string &name : names)
      for (Transport transport : transports)
        for (Combine combine : combines) {
          choices.push_back(options);
          choices.back().topology.clusterSize = size;
          choices.back().schedule.solver = name;
          choices.back().schedule.combine = combine;
          choices.back().schedule.transport = transport;
        }
  }
  if (!options.schedule.batchInvariant) {
    choices.push_back(options);
    choices.back().schedule.batchInvariant = true;
  }
  return choices;
}

/// What was forced; the rest is as the planner decides.
static ChoiceTime describe(const Options &options) {
  ChoiceTime choice;
  choice.solver = options.schedule.solver.empty()
                      ? defaultSolver(options.schedule)
                      : options.schedule.solver;
  choice.combine = combineName(options.schedule.combine);
  choice.transport = transportName(options.schedule.transport);
  choice.clusterSize = options.topology.clusterSize;
  choice.batchInvariant = options.schedule.batchInvariant;
  return choice;
}

namespace {
/// Measures plans of one batch, each once.
class ChoiceMeter {
public:
  ChoiceMeter(const LoadedArtifact &artifact, const Tensors &tensors,
              CudaRunner &cuda, const cuda::Meter &meter)
      : artifact(artifact), tensors(tensors), cuda(cuda), meter(meter) {}

  /// Fails where a plan that was made cannot be run.
  Status measure(Options options, ChoiceTime &choice) {
    if (Status s = cuda.choose(nullptr, options); !s) {
      choice.refusal = s.message();
      return Status::success();
    }
    choice.ctas = options.topology.ctas;
    Decisions decisions;
    Expected<Plan> plan = preparePlan(artifact, tensors, options, decisions);
    if (!plan) {
      choice.refusal = plan.status().message();
      return Status::success();
    }
    Expected<SimulationResult> simulated =
        simulate(plan->problem, plan->schedule);
    if (!simulated)
      return simulated.status();
    choice.predictedUs = simulated->totalNs / 1e3;
    for (const Known &known : measured)
      if (known.bytes == plan->bytes) {
        choice.coldUs = known.coldUs;
        return Status::success();
      }
    DFRT_TRY(cuda.load(*plan, options));
    Expected<double> time = cuda.coldTime(meter);
    if (!time)
      return time.status();
    choice.coldUs = *time;
    measured.push_back({std::move(plan->bytes), *time});
    return Status::success();
  }

private:
  struct Known {
    std::vector<uint8_t> bytes;
    double coldUs;
  };
  const LoadedArtifact &artifact;
  const Tensors &tensors;
  CudaRunner &cuda;
  const cuda::Meter &meter;
  std::vector<Known> measured;
};
} // namespace

Expected<std::vector<ChoiceTime>>
dfrt::compareChoices(const LoadedArtifact &artifact, const Tensors &tensors,
                     const Options &options, CudaRunner &cuda,
                     Progress &progress) {
  Expected<cuda::Meter> meter = cuda.meter(options.samples);
  if (!meter)
    return meter.status();
  ChoiceMeter measuring(artifact, tensors, cuda, *meter);
  std::vector<Options> all = choicesOf(options);
  std::vector<ChoiceTime> choices;
  for (const Options &forced : all) {
    progress.phase(fmt::format("measuring choice {} of {}", choices.size() + 1,
                               all.size()));
    choices.push_back(describe(forced));
    if (Status s = measuring.measure(forced, choices.back()); !s)
      return s;
  }
  Options own = options;
  if (Status s = cuda.choose(nullptr, own); !s)
    return s;
  progress.done();
  return choices;
}

static std::string nameOf(const ChoiceTime &choice) {
  return fmt::format("{}, combine {}, transport {}, clusters of {}{}",
                     choice.solver, choice.combine, choice.transport,
                     choice.clusterSize,
                     choice.batchInvariant ? ", batch-invariant" : "");
}

std::string dfrt::toText(const std::vector<ChoiceTime> &choices) {
  if (choices.empty())
    return "";
  std::vector<const ChoiceTime *> order;
  for (const ChoiceTime &choice : choices)
    order.push_back(&choice);
  auto key = [](const ChoiceTime *c) {
    return std::make_tuple(!c->refusal.empty(), c->coldUs, c);
  };
  std::sort(order.begin(), order.end(),
            [&](const ChoiceTime *a, const ChoiceTime *b) {
              return key(a) < key(b);
            });
  const ChoiceTime &own = choices[0];
  std::string out = fmt::format(
      "choices      the planner's takes {:.2f} us, {:.1f} % more than the best "
      "of {}\n",
      own.coldUs,
      order[0]->coldUs > 0 ? 100 * (own.coldUs / order[0]->coldUs - 1) : 0.0,
      choices.size());
  for (const ChoiceTime *choice : order)
    out +=
        choice->refusal.empty()
            ? fmt::format("{:>12.2f} us (predicted {:.2f}): {}{}\n",
                          choice->coldUs, choice->predictedUs, nameOf(*choice),
                          choice == &own ? " (the planner's)" : "")
            : fmt::format("{:>15} {}: {}\n", "refused:", nameOf(*choice),
                          choice->refusal);
  return out;
}

Json dfrt::toJson(const std::vector<ChoiceTime> &choices) {
  Json list = Json::array();
  for (const ChoiceTime &choice : choices) {
    list.push_back({{"solver", choice.solver},
                    {"combine", choice.combine},
                    {"transport", choice.transport},
                    {"cluster_size", choice.clusterSize},
                    {"batch_invariant", choice.batchInvariant}});
    if (!choice.refusal.empty()) {
      list.back()["refusal"] = choice.refusal;
      continue;
    }
    list.back()["ctas"] = choice.ctas;
    list.back()["predicted_us"] = choice.predictedUs;
    list.back()["p50_us"] = choice.coldUs;
  }
  return list;
}
