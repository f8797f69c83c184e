//===- Execute.cpp - Runs a plan and checks its results -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Execute.h.
//
//===----------------------------------------------------------------------===//

#include "Execute.h"

#include "Compare.h"
#include "Convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

using namespace dfrt;

unsigned dfrt::threadCount(const Options &options) {
  if (options.threads)
    return options.threads;
  return std::max(1u, std::thread::hardware_concurrency());
}

std::string RepeatedOutputs::difference() {
  bool keep = first.empty();
  std::string text;
  size_t next = 0;
  for (size_t i = 0; i < tensors.arguments.size(); ++i) {
    const BoundArgument &argument = tensors.arguments[i];
    if (!argument.output)
      continue;
    const uint8_t *data = static_cast<const uint8_t *>(tensors.views[i].data);
    if (keep) {
      first.emplace_back(data, data + argument.bytes());
      continue;
    }
    const std::vector<uint8_t> &expected = first[next++];
    if (!text.empty() || expected.empty() ||
        std::memcmp(data, expected.data(), expected.size()) == 0)
      continue;
    uint64_t byte = 0;
    while (data[byte] == expected[byte])
      ++byte;
    uint64_t element = byte / elementBytes(argument.element);
    text = fmt::format("{}{} is {} instead of {}", argument.name,
                       formatIndex(argument.shape, element),
                       loadElement(argument.element, data, element),
                       loadElement(argument.element, expected.data(), element));
  }
  return text;
}

void RepeatedOutputs::note(const std::string &run, RunSummary &summary) {
  std::string text = difference();
  if (text.empty() || !summary.identical)
    return;
  summary.identical = false;
  summary.difference = run + ": " + text;
}

void RepeatedOutputs::restore() {
  size_t next = 0;
  for (size_t i = 0; i < tensors.arguments.size(); ++i)
    if (tensors.arguments[i].output) {
      const std::vector<uint8_t> &saved = first[next++];
      std::copy(saved.begin(), saved.end(),
                static_cast<uint8_t *>(tensors.views[i].data));
    }
}

namespace {
/// What one point is executed with.
struct Execution {
  const LoadedArtifact &artifact;
  const Plan &plan;
  Tensors &tensors;
  DeviceHandle device;

  /// Runs once, and returns how long it took in milliseconds.
  Expected<double> launch(const dfrt_launch_options &options) {
    using Clock = std::chrono::steady_clock;
    poisonOutputs(tensors);
    Clock::time_point start = Clock::now();
    if (dfrt_launch(device.get(), artifact.handle.get(), plan.handle.get(),
                    tensors.views.data(), tensors.views.size(),
                    &options) != DFRT_OK)
      return lastStatus();
    return std::chrono::duration<double, std::milli>(Clock::now() - start)
        .count();
  }
};
} // namespace

Expected<RunSummary> dfrt::execute(const LoadedArtifact &artifact,
                                   const Plan &plan, Tensors &tensors,
                                   const Options &options, Progress &progress) {
  Execution execution{artifact, plan, tensors, nullptr};
  dfrt_device *device = nullptr;
  if (dfrt_device_open(options.device.c_str(), &device) != DFRT_OK)
    return lastStatus();
  execution.device.reset(device);

  RunSummary summary;
  summary.device = options.device;
  summary.threads = threadCount(options);
  summary.runs = options.repeat;
  std::vector<double> times;
  RepeatedOutputs outputs(tensors);

  dfrt_launch_options launch;
  dfrt_launch_options_init(&launch);
  launch.threads = summary.threads;
  for (unsigned run = 0; run < options.repeat; ++run) {
    progress.phase(
        fmt::format("executing, run {} of {}", run + 1, options.repeat));
    Expected<double> spent = execution.launch(launch);
    if (!spent)
      return spent.status();
    times.push_back(*spent);
    outputs.note(fmt::format("run {}", run + 1), summary);
  }
  std::sort(times.begin(), times.end());
  summary.medianMs = times[times.size() / 2];

  launch.adversarial = 1;
  for (unsigned n = 0; n < options.adversarial; ++n) {
    progress.phase(fmt::format("executing, adversarial seed {} of {}", n + 1,
                               options.adversarial));
    launch.seed = options.seed + n + 1;
    Expected<double> spent = execution.launch(launch);
    if (!spent)
      return Status(spent.status().code(),
                    fmt::format("adversarial seed {}: {}", launch.seed,
                                spent.status().message()));
    ++summary.seeds;
    outputs.note(fmt::format("adversarial seed {}", launch.seed), summary);
  }
  progress.done();
  outputs.restore();
  return summary;
}

Expected<std::vector<OutputCheck>>
dfrt::checkOutputs(const LoadedArtifact &artifact, const Tensors &tensors,
                   const Options &options) {
  std::vector<dfrt_tensor> views = tensors.views;
  std::vector<Bytes> storage;
  std::vector<size_t> outputs;
  for (size_t i = 0; i < tensors.arguments.size(); ++i) {
    const BoundArgument &argument = tensors.arguments[i];
    if (!argument.output)
      continue;
    ElementType element =
        isInteger(argument.element) ? argument.element : ElementType::f64;
    Expected<Bytes> bytes =
        Bytes::allocate(argument.elements() * elementBytes(element));
    if (!bytes)
      return Status(bytes.status().code(),
                    fmt::format("reference of \"{}\": {}", argument.name,
                                bytes.status().message()));
    poison(element, argument.elements(), bytes->data());
    views[i].data = bytes->data();
    views[i].element = static_cast<uint32_t>(element);
    storage.push_back(std::move(*bytes));
    outputs.push_back(i);
  }
  if (dfrt_reference(artifact.handle.get(), views.data(), views.size(),
                     threadCount(options)) != DFRT_OK)
    return lastStatus();
  std::vector<OutputCheck> checks;
  for (size_t i : outputs) {
    const BoundArgument &argument = tensors.arguments[i];
    checks.push_back(compareOutput(
        argument, tensors.views[i].data, views[i].data,
        options.tolerance.value_or(defaultTolerance(argument.element))));
  }
  return checks;
}
