//===- Cuda.cpp - Runs and measures plans on a GPU ------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Cuda.h.
//
//===----------------------------------------------------------------------===//

#include "Cuda.h"

#include "dfrt/cuda/Measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

using namespace dfrt;
using namespace dfrt::cuda;

// Leaves the function with the failure, or names the value.
#define TAKE(name, expression)                                                 \
  auto name##Taken = (expression);                                             \
  if (!name##Taken)                                                            \
    return name##Taken.status();                                               \
  auto &name = *name##Taken
#define TRY(expression)                                                        \
  if (Status tried = (expression); !tried)                                     \
  return tried

Expected<std::unique_ptr<CudaRunner>>
CudaRunner::open(const LoadedArtifact &artifact, const Options &options) {
  TAKE(driver, Driver::open());
  TAKE(device, Device::open(driver, ordinalOf(options.device)));
  TAKE(probe, probeDevice(device));
  TAKE(stream, Stream::create(device, "df-run"));
  std::unique_ptr<CudaRunner> runner(new CudaRunner(artifact));
  runner->device = device;
  runner->probe = probe;
  runner->stream = stream;
  runner->modules = std::make_unique<ModuleCache>(device);
  return runner;
}

Status CudaRunner::choose(const PlanFacts *plan, Options &options) {
  bool ticket = plan ? plan->ticket : options.schedule.solver == "tickets";
  KernelRequest request;
  request.symbol = options.kernel;
  request.plan = plan;
  request.watchdog = options.watchdog;
  request.timeline = options.tracesLaunch();
  request.disciplines = ticket ? 2 : 1;
  request.clusterSize = plan ? plan->clusterSize : options.topology.clusterSize;
  TAKE(index, chooseKernel(artifact.program.name, artifact.kernels,
                           device.report(), request));
  const Kernel &record = artifact.kernels[index];
  TAKE(loaded, LoadedKernel::load(
                   device, *modules, record, artifact.code[record.blob],
                   artifact.program.name, artifact.program.fingerprint()));
  KernelShapeRequest wanted;
  wanted.clusterSize = wanted.smallestCluster = request.clusterSize;
  if (plan)
    wanted.ctas = plan->ctas;
  else if (options.ctasGiven)
    wanted.ctas = options.topology.ctas;
  if (!plan && options.sharedGiven)
    wanted.sharedBytes = options.topology.sharedBytes;
  wanted.resident = plan ? plan->resident : !ticket;
  wanted.cooperation =
      wanted.resident ? Cooperation::preferred : Cooperation::no;
  TAKE(chosen, chooseKernelShape(loaded, probe, wanted));
  kernel = loaded;
  shape = chosen;
  if (plan)
    return Status::success();
  options.topology.ctas = shape.shape.ctas;
  options.topology.sharedBytes = shape.shape.sharedBytes;
  if (!options.reservedGiven)
    options.topology.reservedBytes = record.reservedBytes;
  return Status::success();
}

Status CudaRunner::planOnDevice(const PlanningKernel &planning,
                                const Plan &made) {
  TRY(launcher.plan(planning, stream));
  TAKE(report, planning.report(stream));
  TRY(report.status);
  std::vector<uint8_t> bytes;
  TRY(launcher.readPlan(stream, bytes));
  TAKE(image, readPlan(bytes.data(), bytes.size()));
  if (!(image.schedule == made.schedule))
    return Status(StatusCode::verificationFailed,
                  "the device's plan is not the host's");
  return Status::success();
}

Status CudaRunner::prepare(const Plan &made, Tensors &tensors,
                           const Options &options) {
  outputs = std::make_unique<RepeatedOutputs>(tensors);
  launcher = Launcher();
  buffers.clear();
  arguments.clear();
  for (size_t i = 0; i < tensors.arguments.size(); ++i) {
    const BoundArgument &argument = tensors.arguments[i];
    TAKE(buffer, Buffer::allocate(device, argument.bytes(), argument.name));
    TRY(buffer.upload(tensors.views[i].data, argument.bytes(), stream));
    arguments.push_back(makeArgument(argument.name, buffer.address(),
                                     argument.element, argument.shape));
    buffers.push_back(buffer);
  }
  TRY(stream.synchronize());
  return load(made, options);
}

Status CudaRunner::load(const Plan &made, const Options &options) {
  launcher = Launcher();
  plan = made.bytes;
  facts = planFacts(artifact.program, plan.data());
  // Only CTAs that wait for each other have to be started together.
  ChosenShape launched = shape;
  launched.shape.cooperative &= facts.resident;
  LaunchMaxima maxima;
  maxima.include(facts);
  PlanningKernel planning;
  if (options.planOnDevice) {
    // This batch alone: it is its own bound.
    TAKE(planner, DevicePlanner::create(made.problem, made.inputs));
    TAKE(loaded, PlanningKernel::create(device, *modules, planner, stream));
    planning = loaded;
    PlanFacts most = planFacts(planner);
    launched.shape.cooperative = shape.shape.cooperative && most.resident;
    maxima.include(most);
  }
  Launcher::Options how;
  how.name = artifact.program.name;
  TAKE(created, Launcher::create(kernel, launched, maxima, stream, how));
  launcher = created;
  TRY(launcher.bind(arguments));
  if (planning) {
    TRY(planOnDevice(planning, made));
  } else {
    TRY(launcher.upload(plan.data(), facts, stream));
  }
  return stream.synchronize();
}

Status CudaRunner::explained(const Status &failed) const {
  std::vector<WatchdogRecord> records = launcher.records();
  if (failed.ok() || records.empty())
    return failed;
  Expected<PlanImage> image = readPlan(plan.data(), plan.size());
  return Status(
      failed.code(),
      fmt::format("{}\n{}", failed.message(),
                  describeWatchdog(records, launcher.shape().shape.ctas,
                                   image ? &*image : nullptr)));
}

Status CudaRunner::download(Tensors &tensors) {
  for (size_t i = 0; i < tensors.arguments.size(); ++i)
    if (tensors.arguments[i].output)
      TRY(buffers[i].download(tensors.views[i].data, buffers[i].bytes(),
                              stream));
  return stream.synchronize();
}

Status CudaRunner::poison(Tensors &tensors) {
  poisonOutputs(tensors);
  for (size_t i = 0; i < tensors.arguments.size(); ++i)
    if (tensors.arguments[i].output)
      TRY(buffers[i].upload(tensors.views[i].data, buffers[i].bytes(), stream));
  return stream.synchronize();
}

Expected<double> CudaRunner::launch(Tensors &tensors) {
  TRY(poison(tensors));
  TAKE(begin, Event::create(device, /*timing=*/true, "begin"));
  TAKE(end, Event::create(device, /*timing=*/true, "end"));
  TRY(begin.record(stream));
  TRY(launcher.launch(stream));
  TRY(end.record(stream));
  TRY(explained(launcher.wait(stream)));
  TRY(download(tensors));
  return end.microsecondsSince(begin);
}

Expected<RunSummary> CudaRunner::execute(Tensors &tensors,
                                         const Options &options,
                                         Progress &progress) {
  RunSummary summary;
  summary.device = fmt::format("{} ({})", options.device, device.report().name);
  summary.threads = launcher.shape().shape.threads;
  summary.runs = options.repeat;
  std::vector<double> times;
  for (unsigned run = 0; run < options.repeat; ++run) {
    progress.phase(
        fmt::format("executing, run {} of {}", run + 1, options.repeat));
    TAKE(spent, launch(tensors));
    times.push_back(spent / 1e3);
    outputs->note(fmt::format("run {}", run + 1), summary);
  }
  std::sort(times.begin(), times.end());
  summary.medianMs = times[times.size() / 2];
  progress.done();
  outputs->restore();
  return summary;
}

// "2026-11-30".
static std::string today() {
  std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday);
}

Expected<Meter> CudaRunner::meter(unsigned samples) {
  MeasureOptions how;
  how.samples = samples;
  return Meter::create(device, *modules, how);
}

Expected<double> CudaRunner::coldTime(const Meter &meter) {
  Expected<double> cold =
      meter.coldMicroseconds([&] { return launcher.launch(meter.stream()); });
  if (!cold)
    return explained(cold.status());
  return cold;
}

Expected<Measurement> CudaRunner::measure(uint64_t bytes, Tensors &tensors,
                                          RunSummary &run,
                                          const Options &options,
                                          Progress &progress) {
  progress.phase("measuring");
  TAKE(meter, this->meter(options.samples));
  Measurement result;
  result.bytes = bytes;
  result.samples = options.samples;
  result.card = device.report().name;
  result.date = today();
  result.command = options.commandLine;
  const LaunchShape &launched = launcher.shape().shape;
  result.kernel = kernel.record().symbol;
  result.cooperative = launched.cooperative;
  auto work = [&] { return launcher.launch(meter.stream()); };
  TRY(poison(tensors));
  // The floor first and again behind: what of it drifts shows.
  TAKE(before, meter.readMicroseconds(bytes));
  TAKE(cold, coldTime(meter));
  result.coldUs = cold;
  if (!launched.cooperative || probe.graphsCooperative) {
    Expected<double> graph = meter.graphMicroseconds(work);
    if (!graph)
      return explained(graph.status());
    result.graphUs = *graph;
  }
  Expected<std::optional<double>> span = meter.spanMicroseconds(
      [&](uint64_t stamps) {
        launcher.stamp(stamps);
        return work();
      },
      launched.ctas);
  launcher.stamp(0);
  if (!span)
    return explained(span.status());
  result.spanUs = *span;
  TAKE(after, meter.readMicroseconds(bytes));
  result.readFloorUs = std::min(before, after);
  TAKE(upload, meter.coldMicroseconds([&] {
    return launcher.upload(plan.data(), facts, meter.stream());
  }));
  result.uploadUs = upload;
  // What was measured is what was checked.
  TRY(download(tensors));
  outputs->note("measured runs", run);
  outputs->restore();
  progress.done();
  return result;
}

// Of each role of a CTA, so that a ticket list that is drawn unevenly has room.
static uint32_t timelineRoom(const Schedule &schedule, uint32_t ctas) {
  size_t most = 0;
  for (const Queue &queue : schedule.queues)
    most = std::max(most, queue.instructions.size());
  if (schedule.discipline == Discipline::ticket)
    most = std::min(most, 256 + 8 * most / ctas);
  return uint32_t(std::max<size_t>(most, 1));
}

Expected<LaunchTrace> CudaRunner::trace(const Plan &made, Tensors &tensors,
                                        RunSummary &run, Progress &progress) {
  constexpr unsigned kWarmups = 3, kLaunches = 9;
  progress.phase("recording a timeline");
  uint32_t ctas = launcher.shape().shape.ctas;
  MeasureOptions how;
  how.warmups = 0;
  how.samples = 1;
  TAKE(meter, Meter::create(device, *modules, how));
  TAKE(room,
       cuda::Timeline::create(device, ctas, timelineRoom(made.schedule, ctas)));
  TAKE(stamped, Buffer::allocate(device, ctas * sizeof(dfrt_stamp), "stamps"));
  TRY(poison(tensors));
  std::vector<LaunchTrace> traces;
  auto record = [&]() -> Status {
    TRY(launcher.trace(room));
    launcher.stamp(stamped.address());
    for (unsigned i = 0; i < kWarmups + kLaunches; ++i) {
      TRY(room.clear(meter.stream()));
      TRY(stamped.fill(0, 0, stamped.bytes(), meter.stream()));
      Expected<double> time = meter.coldMicroseconds(
          [&] { return launcher.launch(meter.stream()); });
      if (!time)
        return explained(time.status());
      if (i < kWarmups)
        continue;
      std::vector<dfrt_stamp> stamps(ctas);
      TRY(stamped.download(stamps.data(), stamped.bytes(), meter.stream()));
      TAKE(lanes, room.read(meter.stream()));
      TAKE(read, readTrace(made.schedule, lanes, stamps));
      traces.push_back(std::move(read));
    }
    return Status::success();
  };
  Status recorded = record();
  launcher.stamp(0);
  TRY(launcher.trace(cuda::Timeline()));
  TRY(recorded);
  std::sort(traces.begin(), traces.end(),
            [](const LaunchTrace &a, const LaunchTrace &b) {
              return a.totalNs < b.totalNs;
            });
  LaunchTrace result = std::move(traces[kLaunches / 2]);
  result.kernel = kernel.record().symbol;
  result.launches = kLaunches;
  // What was recorded is what was checked.
  TRY(download(tensors));
  outputs->note("recorded runs", run);
  outputs->restore();
  progress.done();
  return result;
}
