//===- execute-campaign.cpp - Plans under hostile orders, many of them ---===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes plans on the CPU device in seeded, hostile orders: any CTA may start
// late or never get ahead, every transfer takes as long as the seed likes, dead
// and unwritten slots hold NaNs, and for ticket plans only some of the CTAs may
// find room. Every output is compared, bit by bit.
//
//   execute-campaign [--executions N] [--seed S] [--set NAME=VALUE]...
//                    [ARTIFACT WORKLOAD]...
//
// Without artifacts: the programs of the runtime's tests, with random batches
// and exact expected results. With them: the points of the workload, which have
// to give the same bits in every order of a plan. Exit code 0 when all did.
// `execute-examples` runs it for the examples.
//
//===----------------------------------------------------------------------===//

#include "Runtime/TestPrograms.h"
#include "Tensors.h"
#include "Workload.h"

#include "dfrt/dfrt.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

using namespace dfrt;
using namespace dfrt::test;

namespace {

using Random = std::mt19937_64;

/// One plan on one batch.
struct Subject {
  std::string name;
  const ArtifactHandle *artifact = nullptr;
  PlanHandle plan;
  bool ticket = false;
  uint32_t ctas = 1;
};

std::vector<std::vector<uint8_t>> outputsOf(const Tensors &tensors) {
  std::vector<std::vector<uint8_t>> result;
  for (size_t i = 0; i < tensors.arguments.size(); ++i)
    if (tensors.arguments[i].output) {
      const uint8_t *data = static_cast<const uint8_t *>(tensors.views[i].data);
      result.emplace_back(data, data + tensors.arguments[i].bytes());
    }
  return result;
}

class Campaign {
public:
  Campaign(uint64_t executions, uint64_t seed)
      : most(executions), random(seed) {}

  /// Executes up to `count` times; `arguments` and `judge` for each.
  template <typename Prepare, typename Judge>
  void execute(const Subject &subject, uint64_t count, Prepare arguments,
               Judge judge);
  void testPrograms();
  /// About `count` executions of random plans of random points.
  void example(const std::string &artifact, const std::string &workload,
               const std::map<std::string, int64_t> &dimensions,
               uint64_t count);
  int finish() const;
  uint64_t done() const { return executions; }

private:
  uint32_t below(uint32_t limit) { return uint32_t(random() % limit); }
  std::vector<int64_t> lengths();
  /// A random launch shape and solver; empty where a plan is refused.
  PlanHandle plan(const ArtifactHandle &artifact,
                  const std::vector<dfrt_tensor> &arguments, Subject &subject);
  void fail(const std::string &what) {
    if (++failures <= 20)
      std::printf("FAIL %s\n", what.c_str());
  }

  uint64_t most;
  Random random;
  DeviceHandle device = [] {
    Expected<DeviceHandle> opened = DeviceHandle::open("cpu");
    return opened ? std::move(*opened) : DeviceHandle();
  }();
  uint64_t executions = 0, plans = 0, partial = 0, failures = 0, refused = 0;
};

PlanHandle Campaign::plan(const ArtifactHandle &artifact,
                          const std::vector<dfrt_tensor> &arguments,
                          Subject &subject) {
  const std::pair<uint32_t, uint32_t> shapes[] = {
      {1, 1}, {2, 2}, {5, 1}, {8, 4}, {16, 16}, {24, 8}, {33, 1}};
  const char *const solvers[] = {"stream", "longest-first", "tickets"};
  dfrt_plan_options options;
  dfrt_plan_options_init(&options);
  auto [ctas, cluster] = shapes[below(7)];
  options.ctas = ctas;
  options.cluster_size = cluster;
  options.solver = solvers[below(3)];
  const uint32_t combines[] = {DFRT_COMBINE_AUTOMATIC, DFRT_COMBINE_FOLD,
                               DFRT_COMBINE_TREE};
  options.combine = combines[below(3)];
  if (below(3) == 0) // so little room that memory is used again
    options.reserved_bytes = options.shared_bytes - 16 * (8 + below(200));
  subject.ticket = std::strcmp(options.solver, "tickets") == 0;
  subject.ctas = ctas;
  subject.name += std::string(", ") + options.solver + ", " +
                  std::to_string(ctas) + "x" + std::to_string(cluster) +
                  ", combine " + std::to_string(options.combine) +
                  ", reserved " + std::to_string(options.reserved_bytes);
  Expected<PlanHandle> made = PlanHandle::make(artifact, arguments, &options);
  if (!made) {
    ++refused;
    if (made.status().code() != StatusCode::resourceExhausted &&
        made.status().code() != StatusCode::unsupported)
      fail(subject.name + ": " + made.status().message());
    return PlanHandle();
  }
  ++plans;
  return std::move(*made);
}

template <typename Prepare, typename Judge>
void Campaign::execute(const Subject &subject, uint64_t count,
                       Prepare arguments, Judge judge) {
  for (uint64_t i = 0; i < count && executions < most; ++i) {
    dfrt_launch_options options;
    dfrt_launch_options_init(&options);
    options.adversarial = 1;
    options.seed = random();
    options.poison = 1;
    if (subject.ticket && below(2)) {
      options.resident = 1 + below(subject.ctas);
      ++partial;
    }
    std::string name = subject.name + ", seed " + std::to_string(options.seed) +
                       ", resident " + std::to_string(options.resident);
    Status status =
        device.launch(*subject.artifact, subject.plan, arguments(), &options);
    ++executions;
    std::string difference = status.ok() ? judge() : status.message();
    if (!difference.empty())
      fail(name + ": " + difference);
  }
}

std::vector<int64_t> Campaign::lengths() {
  std::vector<int64_t> result(below(10));
  for (int64_t &length : result)
    length = below(3) == 0 ? 0 : below(below(4) == 0 ? 500 : 30);
  return result;
}

void Campaign::testPrograms() {
  std::vector<int64_t> index(4 * below(20));
  for (int64_t &target : index)
    target = int64_t(below(9)) - 1;
  uint32_t which = below(3);
  TestCase test = which == 0   ? raggedCase(lengths())
                  : which == 1 ? spreadCase(lengths())
                               : routeCase(8, index);
  const std::string &name = test.program().name;
  Expected<std::vector<uint8_t>> bytes = writeArtifact(test.artifact);
  Expected<ArtifactHandle> loaded =
      bytes ? ArtifactHandle::fromMemory(bytes->data(), bytes->size())
            : Expected<ArtifactHandle>(bytes.status());
  if (!loaded)
    return fail(name + ": " + loaded.status().message());
  for (uint32_t k = 0; k < 4; ++k) {
    Subject one;
    one.name = name;
    one.artifact = &*loaded;
    one.plan = plan(*loaded, test.arguments(), one);
    if (!one.plan)
      continue;
    execute(
        one, 10,
        [&] {
          test.clearOutputs();
          return test.arguments();
        },
        [&] { return test.differences(); });
  }
}

void Campaign::example(const std::string &path, const std::string &file,
                       const std::map<std::string, int64_t> &dimensions,
                       uint64_t count) {
  auto give = [&](const Status &status) {
    fail(path + ": " + status.message());
  };
  Expected<ArtifactHandle> artifact = ArtifactHandle::fromFile(path);
  if (!artifact)
    return give(artifact.status());
  std::ifstream stream(path, std::ios::binary);
  std::vector<uint8_t> bytes(std::istreambuf_iterator<char>(stream), {});
  Expected<Artifact> read = readArtifact(bytes.data(), bytes.size());
  if (!read)
    return give(read.status());
  Expected<Workload> workload = Workload::read(file, dimensions);
  if (!workload)
    return give(workload.status());
  constexpr uint64_t kSmall = uint64_t(4) << 20; // bytes of one batch
  std::vector<std::pair<std::string, Tensors>> points;
  for (size_t p = 0; p < workload->points().size(); ++p) {
    Expected<std::vector<BoundArgument>> bound =
        workload->bind(p, read->program);
    if (!bound)
      return give(bound.status());
    uint64_t all = 0;
    for (const BoundArgument &argument : *bound)
      all += argument.bytes();
    if (all > kSmall)
      continue;
    Expected<Tensors> tensors =
        planTensors(std::move(*bound), read->program, 1);
    if (!tensors)
      return give(tensors.status());
    if (Status filled = fillTensors(*tensors, 1, 1); !filled.ok())
      return give(filled);
    points.emplace_back(workload->points()[p].name, std::move(*tensors));
  }
  if (points.empty())
    return fail(path + ": no point of " + file + " is small enough");
  constexpr uint64_t kOrders = 40;   // of each plan
  constexpr uint32_t kPatience = 50; // refused plans, one after the other
  uint64_t target = std::min(most, executions + count);
  for (uint32_t vain = 0; executions < target && vain < kPatience; ++vain) {
    auto &[name, tensors] = points[below(uint32_t(points.size()))];
    Subject subject;
    subject.name = read->program.name + " point " + name;
    subject.artifact = &*artifact;
    subject.plan = plan(*artifact, tensors.views, subject);
    if (!subject.plan)
      continue;
    vain = 0;
    std::vector<std::vector<uint8_t>> first;
    execute(
        subject, std::min(kOrders, target - executions),
        [&, &tensors = tensors] {
          poisonOutputs(tensors);
          return tensors.views;
        },
        [&, &tensors = tensors]() -> std::string {
          std::vector<std::vector<uint8_t>> now = outputsOf(tensors);
          if (first.empty())
            first = now;
          return first == now ? "" : "other bits than in the first order";
        });
  }
}

int Campaign::finish() const {
  using ull = unsigned long long;
  std::printf("%llu executions of %llu plans, %llu of them with some CTAs "
              "only, %llu plans refused: %llu failed\n",
              ull(executions), ull(plans), ull(partial), ull(refused),
              ull(failures));
  return failures != 0 || executions == 0;
}

} // namespace

int main(int count, char **words) {
  uint64_t executions = 100000, seed = 1;
  std::map<std::string, int64_t> dimensions;
  std::vector<std::string> files;
  for (int i = 1; i < count; ++i) {
    std::string word = words[i];
    uint64_t *value = word == "--executions" ? &executions
                      : word == "--seed"     ? &seed
                                             : nullptr;
    std::string next = i + 1 < count ? words[i + 1] : "";
    size_t equals = next.find('=');
    if (value && i + 1 < count)
      *value = std::strtoull(words[++i], nullptr, 10);
    else if (word == "--set" && equals != std::string::npos && ++i)
      dimensions[next.substr(0, equals)] =
          std::atoll(next.c_str() + equals + 1);
    else
      files.push_back(word);
  }
  if (files.size() % 2) {
    std::fprintf(stderr, "usage: execute-campaign [--executions N] [--seed S] "
                         "[--set NAME=VALUE]... [ARTIFACT WORKLOAD]...\n");
    return 2;
  }
  Campaign campaign(executions, seed);
  for (size_t i = 0; i < files.size(); i += 2)
    campaign.example(files[i], files[i + 1], dimensions,
                     executions / (files.size() / 2));
  while (files.empty() && campaign.done() < executions)
    campaign.testPrograms();
  return campaign.finish();
}
