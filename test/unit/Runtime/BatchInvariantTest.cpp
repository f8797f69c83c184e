//===- BatchInvariantTest.cpp - Bits of a row in many batches -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the CPU device a row's results do not change when its batch-mates, the
// solver or the number of CTAs do.
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

constexpr int kBatches = 500;
using Bits = std::array<uint32_t, 16>;

/// Plans and runs batches of `sumsCase`.
class Runner {
public:
  explicit Runner(bool batchInvariant) {
    Expected<std::vector<uint8_t>> bytes = writeArtifact(sumsCase({}).artifact);
    EXPECT_TRUE(bool(bytes));
    Expected<ArtifactHandle> loaded =
        ArtifactHandle::fromMemory(bytes->data(), bytes->size());
    EXPECT_TRUE(bool(loaded)) << loaded.status().message();
    artifact = std::move(*loaded);
    Expected<DeviceHandle> opened = DeviceHandle::open("cpu");
    EXPECT_TRUE(bool(opened)) << opened.status().message();
    device = std::move(*opened);
    dfrt_plan_options_init(&options);
    options.batch_invariant = batchInvariant;
    options.cluster_size = 4;
  }

  /// The results of every row.
  std::vector<Bits> run(const std::vector<int64_t> &lengths) {
    TestCase batch = sumsCase(lengths);
    std::vector<dfrt_tensor> arguments = batch.arguments();
    std::vector<Bits> rows(lengths.size());
    Expected<PlanHandle> plan = PlanHandle::make(artifact, arguments, &options);
    EXPECT_TRUE(bool(plan)) << plan.status().message();
    if (!plan)
      return rows;
    Status status = device.launch(artifact, *plan, arguments);
    EXPECT_TRUE(status.ok()) << status.message();
    std::memcpy(rows.data(), batch.tensors[3].floats.data(),
                rows.size() * sizeof(Bits));
    return rows;
  }

  dfrt_plan_options options;

private:
  ArtifactHandle artifact;
  DeviceHandle device;
};

struct Count {
  int rows = 0, seenBefore = 0, changed = 0;
};

/// Rows of random batches, those of a length that was there before, and those
/// of them that are not the same bits.
Count countChanges(bool batchInvariant) {
  static constexpr const char *kSolvers[] = {nullptr, "stream", "longest-first",
                                             "tickets"};
  Runner runner(batchInvariant);
  std::mt19937_64 random(7);
  std::map<int64_t, Bits> known;
  Count count;
  for (int batch = 0; batch < kBatches; ++batch) {
    // Few lengths, so that most rows are in many batches.
    std::vector<int64_t> lengths(1 + random() % 12);
    for (int64_t &length : lengths)
      length = int64_t(random() % 30 * (random() % 30));
    runner.options.solver = kSolvers[random() % 4];
    runner.options.ctas = 4 * uint32_t(1 + random() % 8);
    std::vector<Bits> rows = runner.run(lengths);
    for (size_t row = 0; row < rows.size(); ++row) {
      auto [before, added] = known.try_emplace(lengths[row], rows[row]);
      ++count.rows;
      count.seenBefore += !added;
      count.changed += before->second != rows[row];
    }
  }
  return count;
}

} // namespace

TEST(BatchInvariant, BitsOfARowAreItsOwn) {
  Count count = countChanges(true);
  EXPECT_GT(count.seenBefore, 2000);
  EXPECT_EQ(count.changed, 0) << "of " << count.rows << " rows";
}

/// Or the test above would say nothing: the order of additions shows.
TEST(BatchInvariant, TheFastModeDependsOnTheBatch) {
  EXPECT_GT(countChanges(false).changed, 500);
}
