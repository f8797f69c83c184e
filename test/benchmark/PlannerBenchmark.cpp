//===- PlannerBenchmark.cpp - What a plan costs at launch time ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the lengths of a batch to the bytes of its plan on one core. Counters:
// best, p50 and p99 of single plans in microseconds, heap allocations of one
// plan when others of its size were made before, bytes of the plan.
//
//===----------------------------------------------------------------------===//

#include "CountAllocations.h"

#include "Schedule/Workloads.h"
#include "dataflow/Schedule/Message.h"
#include "dataflow/Schedule/Planner.h"
#include "dfrt/Artifact.h"
#include "dfrt/LinePlanner.h"
#include "dfrt/PlanImage.h"
#include "dfrt/dfrt.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

using namespace dfrt;
using namespace dfrt::test;

namespace {

/// What is planned again and again.
struct Case {
  std::string name;
  Program program;
  std::vector<PlanInput> inputs;
  Topology shape;
  ScheduleOptions options;
};

class Stopwatch {
public:
  double microseconds() const {
    return std::chrono::duration<double, std::micro>(
               std::chrono::steady_clock::now() - begin)
        .count();
  }

private:
  std::chrono::steady_clock::time_point begin =
      std::chrono::steady_clock::now();
};

/// Plans one case again and again, as a serving engine does.
class Engine {
public:
  explicit Engine(const Case &c) : c(c), packer(c.program) {}

  Status start() {
    Expected<Planner> made = Planner::create(c.program);
    if (!made)
      return made.status();
    planner = std::move(*made);
    return plan();
  }

  Status plan() {
    DFRT_TRY(planner.read(c.inputs, c.shape, costs));
    DFRT_TRY(planner.plan(c.options));
    DFRT_TRY(packer.pack(planner.problem(), planner.schedule(), bytes));
    size = bytes.size();
    return Status::success();
  }

  uint64_t size = 0;

private:
  std::vector<uint8_t> bytes;
  const Case &c;
  CostModel costs;
  Planner planner;
  PlanPacker packer;
};

/// The same with the solver of the device.
class LineEngine {
public:
  explicit LineEngine(const Case &c) : c(c) {}

  Status start() {
    Expected<DevicePlanner> made =
        DevicePlanner::create(c.program, c.inputs, c.shape);
    if (!made)
      return made.status();
    planner = std::make_unique<LinePlanner>(*made);
    return plan();
  }

  Status plan() {
    DFRT_TRY(planner->plan(c.inputs, bytes));
    size = bytes.size();
    return Status::success();
  }

  uint64_t size = 0;

private:
  std::vector<uint8_t> bytes;
  const Case &c;
  std::unique_ptr<LinePlanner> planner;
};

/// The value that `share` of the samples do not exceed.
double quantile(std::vector<double> &samples, double share) {
  size_t index =
      std::min(samples.size() - 1, size_t(share * double(samples.size())));
  std::nth_element(samples.begin(), samples.begin() + int64_t(index),
                   samples.end());
  return samples[index];
}

/// The next step of the same batch: every length grows by one. Only where that
/// crosses a tile a plan is made.
class Decode {
public:
  explicit Decode(const Case &c)
      : lengths(c.inputs[0].values.begin(), c.inputs[0].values.end()) {
    Artifact artifact;
    artifact.program = c.program;
    Expected<std::vector<uint8_t>> file = writeArtifact(artifact);
    if (!file) {
      failed = file.status();
      return;
    }
    dfrt_plan_options plans;
    dfrt_plan_options_init(&plans);
    plans.ctas = c.shape.ctas;
    plans.cluster_size = c.shape.clusterSize;
    plans.shared_bytes = c.shape.sharedBytes;
    plans.reserved_bytes = c.shape.reservedBytes;
    plans.verify = 0;
    dfrt_planner_options options;
    dfrt_planner_options_init(&options);
    options.plan_options = &plans;
    Expected<ArtifactHandle> loaded =
        ArtifactHandle::fromMemory(file->data(), file->size());
    if (!loaded) {
      failed = loaded.status();
      return;
    }
    Expected<PlannerHandle> made = PlannerHandle::create(*loaded, &options);
    if (!made) {
      failed = made.status();
      return;
    }
    planner = std::move(*made);
    shape = int64_t(lengths.size());
    arguments.resize(2);
    arguments[0] = {lengths.data(), &shape, 1, DFRT_I32};
    // Begin where no length crosses a tile for a while.
    for (int32_t &length : lengths)
      length -= length % 64;
  }

  Status start() { return failed ? plan() : failed; }

  Status plan() {
    step = (step + 1) % 63;
    for (int32_t &length : lengths)
      length += step ? 1 : -62;
    Expected<const dfrt_plan *> made = planner.plan(arguments);
    if (!made)
      return made.status();
    const void *first = nullptr;
    return lastStatus(dfrt_plan_bytes(*made, &first, &size));
  }

  uint64_t size = 0;

private:
  Status failed;
  PlannerHandle planner;
  std::vector<int32_t> lengths;
  std::vector<dfrt_tensor> arguments;
  int64_t shape = 0;
  int step = 0;
};

template <typename Engine>
void measure(benchmark::State &state, const Case &c) {
  Engine engine(c);
  Status status = engine.start();
  for (int warm = 0; warm < 3 && status; ++warm)
    status = engine.plan();
  if (!status) {
    state.SkipWithError(status.message().c_str());
    return;
  }
  std::vector<double> samples;
  samples.reserve(1 << 20);
  uint64_t allocations = allocationCount();
  for (auto _ : state) {
    Stopwatch watch;
    benchmark::DoNotOptimize(engine.plan());
    double time = watch.microseconds();
    state.SetIterationTime(time * 1e-6);
    if (samples.size() < samples.capacity())
      samples.push_back(time);
  }
  allocations = allocationCount() - allocations;
  state.counters["p50_us"] = quantile(samples, 0.5);
  state.counters["best_us"] = quantile(samples, 0);
  state.counters["p99_us"] = quantile(samples, 0.99);
  state.counters["allocations"] =
      double(allocations) / double(state.iterations());
  state.counters["bytes"] = double(engine.size);
}

Case attention(std::string name, std::vector<int64_t> lengths,
               const Topology &shape) {
  return {"attention/" + name,
          latentAttention(),
          {lengthsInput(std::move(lengths))},
          shape,
          ScheduleOptions()};
}

Case experts(const std::vector<int64_t> &rows, int64_t tokens, int64_t blocks,
             const char *solver) {
  Case c;
  c.name = "experts/" + std::to_string(rows.size()) + "x" +
           std::to_string(tokens) + "/" + solver;
  c.program = groupedExperts(7168, 2048, blocks);
  c.inputs = expertInputs(rows, tokens);
  c.shape = topology(132);
  c.options = solvedBy(solver);
  return c;
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  for (const Trace &trace : traces()) {
    if (trace.lengths.size() != 128)
      continue;
    std::string name = "trace" + std::to_string(trace.id);
    cases.push_back(attention(name + "/132x1", trace.lengths, topology(132)));
    cases.push_back(
        attention(name + "/120x4", trace.lengths, topology(120, 4)));
  }
  for (const Trace &trace : traces())
    if (trace.id == 3 || trace.id == 15)
      cases.push_back(attention("1024of" + std::to_string(trace.id),
                                manyLengths(trace, 1024), topology(132)));
  for (const char *solver : {"tickets", "stream"}) {
    for (const Routing &routing : routings())
      if (routing.tokens == 128) {
        cases.push_back(experts(routing.rows, 128, 4, solver));
        break;
      }
    // 256 tokens that each go to eight of 256 experts.
    cases.push_back(experts(std::vector<int64_t>(256, 8), 256, 1, solver));
  }
  return cases;
}

} // namespace

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<Case> cases = allCases();
  auto add = [](const std::string &name,
                void (*run)(benchmark::State &, const Case &), const Case &c) {
    benchmark::RegisterBenchmark(
        name.c_str(), [run, &c](benchmark::State &state) { run(state, c); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  };
  for (const Case &c : cases)
    add(c.name, measure<Engine>, c);
  // The solver of the device takes the cases that have a CTA in a cluster.
  for (const Case &c : cases)
    if (c.shape.clusterSize == 1 && c.options.solver != "tickets")
      add("line/" + c.name, measure<LineEngine>, c);
  // Steps of the first batch of 128 requests, and of 1,024.
  for (size_t requests : {128, 1024})
    for (const Case &c : cases)
      if (c.inputs[0].argument == "lengths" &&
          c.inputs[0].values.size() == requests) {
        add("step/" + c.name, measure<Decode>, c);
        break;
      }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return cases.empty();
}
