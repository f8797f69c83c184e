//===- BatchInvariantTest.cpp - Bits of a row in many batches -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the CPU device, a row's results do not change when its batch-mates do.
//
//===----------------------------------------------------------------------===//

#include "TestPrograms.h"

#include "dfrt/dfrt.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <random>

using namespace dfrt;
using namespace dfrt::test;

namespace {

using Bits = std::array<uint32_t, 16>;

/// Runs batches of one program.
class Runner {
public:
  Runner() {
    Expected<std::vector<uint8_t>> bytes = writeArtifact(sumsCase({}).artifact);
    EXPECT_TRUE(bool(bytes));
    Expected<ArtifactHandle> loaded =
        ArtifactHandle::fromMemory(bytes->data(), bytes->size());
    EXPECT_TRUE(bool(loaded)) << loaded.status().message();
    artifact = std::move(*loaded);
    Expected<DeviceHandle> opened = DeviceHandle::open("cpu");
    EXPECT_TRUE(bool(opened));
    device = std::move(*opened);
    dfrt_plan_options_init(&options);
    options.ctas = 24;
    options.cluster_size = 4;
  }

  /// The results of every row.
  std::vector<Bits> run(const std::vector<int64_t> &lengths) {
    TestCase batch = sumsCase(lengths);
    std::vector<dfrt_tensor> arguments = batch.arguments();
    Expected<PlanHandle> plan = PlanHandle::make(artifact, arguments, &options);
    std::vector<Bits> result(lengths.size());
    EXPECT_TRUE(bool(plan)) << plan.status().message();
    if (!plan)
      return result;
    Status status = device.launch(artifact, *plan, arguments);
    EXPECT_TRUE(status.ok()) << status.message();
    std::memcpy(result.data(), batch.tensors[3].floats.data(),
                result.size() * sizeof(Bits));
    return result;
  }

  dfrt_plan_options options;

private:
  ArtifactHandle artifact;
  DeviceHandle device;
};

/// How many rows of 500 random batches differ from what they were before.
int changedRows(Runner &runner) {
  static constexpr const char *kSolvers[] = {nullptr, "stream", "longest-first",
                                             "tickets"};
  std::mt19937_64 random(7);
  std::map<int64_t, Bits> known;
  int changed = 0;
  for (int batch = 0; batch < 500; ++batch) {
    // Few lengths, so that most rows are in many batches.
    std::vector<int64_t> lengths(1 + random() % 12);
    for (int64_t &length : lengths)
      length = int64_t(random() % 40 * (random() % 40));
    runner.options.solver = kSolvers[random() % 4];
    runner.options.ctas = 4 * uint32_t(1 + random() % 8);
    std::vector<Bits> rows = runner.run(lengths);
    for (size_t row = 0; row < rows.size(); ++row)
      changed +=
          known.try_emplace(lengths[row], rows[row]).first->second != rows[row];
  }
  return changed;
}

} // namespace

TEST(BatchInvariant, BitsOfARowAreItsOwn) {
  Runner runner;
  runner.options.batch_invariant = 1;
  EXPECT_EQ(changedRows(runner), 0);
}

/// Otherwise they are not: the sums are such that the order shows.
TEST(BatchInvariant, TheFastModeDependsOnTheBatch) {
  Runner runner;
  EXPECT_GT(changedRows(runner), 100);
}
