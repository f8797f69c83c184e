//===- OptionsTest.cpp - Callers of an older and of a newer header -------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Option structs as a caller has them that was compiled against another version
// of dfrt.h: the library keeps within the caller's size, in both directions.
//
//===----------------------------------------------------------------------===//

#include "TestPrograms.h"

#include "dfrt/dfrt.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

using namespace dfrt;
using namespace dfrt::test;

namespace {

constexpr uint32_t kMore = 24; ///< bytes that another version knows
constexpr uint8_t kForeign = 0xab;

/// Memory of a caller whose struct has `bytes` bytes; what lies behind is
/// somebody else's.
template <typename Options>
struct Caller {
  explicit Caller(uint32_t bytes) : bytes(bytes) {
    std::memset(memory, kForeign, sizeof(memory));
  }
  Options *options() { return reinterpret_cast<Options *>(memory); }
  bool keptWithin() const {
    for (size_t i = bytes; i < sizeof(memory); ++i)
      if (memory[i] != kForeign)
        return false;
    return true;
  }

  uint32_t bytes;
  alignas(Options) uint8_t memory[sizeof(Options) + 2 * kMore];
};

/// Initialises structs of every size that ends at a member of four bytes.
template <typename Options>
void everySize(void (*init)(Options *, uint32_t)) {
  Caller<Options> whole(sizeof(Options));
  init(whole.options(), whole.bytes);
  for (uint32_t bytes = 4; bytes <= sizeof(Options) + kMore; bytes += 4) {
    SCOPED_TRACE(bytes);
    Caller<Options> caller(bytes);
    init(caller.options(), bytes);
    EXPECT_TRUE(caller.keptWithin());
    EXPECT_EQ(caller.options()->struct_bytes, bytes);
    // The defaults that it knows, and 0 for what the library does not.
    for (uint32_t i = 4; i < bytes; ++i)
      EXPECT_EQ(caller.memory[i], i < sizeof(Options) ? whole.memory[i] : 0);
  }
  for (uint32_t none : {0u, 3u, 0xffffffffu}) {
    Caller<Options> caller(0);
    init(caller.options(), none);
    EXPECT_TRUE(caller.keptWithin());
  }
  init(nullptr, sizeof(Options));
}

struct Opened {
  Opened() {
    Expected<std::vector<uint8_t>> bytes = writeArtifact(test.artifact);
    Expected<ArtifactHandle> loaded =
        ArtifactHandle::fromMemory(bytes->data(), bytes->size());
    EXPECT_TRUE(bool(loaded)) << loaded.status().message();
    artifact = std::move(*loaded);
    arguments = test.arguments();
  }
  Expected<PlanHandle> plan(const dfrt_plan_options *options) {
    return PlanHandle::make(artifact, arguments, options);
  }

  TestCase test = raggedCase({37, 0, 200, 1});
  ArtifactHandle artifact;
  std::vector<dfrt_tensor> arguments;
};

} // namespace

TEST(Options, InitKeepsWithinTheCallersStruct) {
  everySize(dfrt_plan_options_init_sized);
  everySize(dfrt_planner_options_init_sized);
  everySize(dfrt_launch_options_init_sized);
  everySize(dfrt_kernel_options_init_sized);
  everySize(dfrt_shape_options_init_sized);
  everySize(dfrt_launcher_options_init_sized);
  everySize(dfrt_launch_maxima_init_sized);
}

TEST(Options, InitGivesTheLibraryTheCallersSize) {
  dfrt_plan_options options;
  std::memset(static_cast<void *>(&options), kForeign, sizeof(options));
  dfrt_plan_options_init(&options);
  EXPECT_EQ(options.struct_bytes, sizeof(options));
  EXPECT_EQ(options.ctas, 132u);
  EXPECT_EQ(options.verify, 1u);
}

TEST(Options, OlderCallersGetDefaultsForTheRest) {
  Opened o;
  Caller<dfrt_plan_options> caller(offsetof(dfrt_plan_options, transport));
  dfrt_plan_options_init_sized(caller.options(), caller.bytes);
  caller.options()->ctas = 8;
  dfrt_plan_options now;
  dfrt_plan_options_init(&now);
  now.ctas = 8;
  Expected<PlanHandle> older = o.plan(caller.options()), newer = o.plan(&now);
  ASSERT_TRUE(bool(older)) << older.status().message();
  ASSERT_TRUE(bool(newer));
  EXPECT_EQ(older->bytes(), newer->bytes());
}

TEST(Options, NewerCallersAreTakenUntilTheySetWhatIsNotKnown) {
  Opened o;
  Caller<dfrt_plan_options> caller(sizeof(dfrt_plan_options) + kMore);
  dfrt_plan_options_init_sized(caller.options(), caller.bytes);
  caller.options()->ctas = 8;
  Expected<PlanHandle> plan = o.plan(caller.options());
  ASSERT_TRUE(bool(plan)) << plan.status().message();
  caller.memory[sizeof(dfrt_plan_options) + 5] = 1;
  plan = o.plan(caller.options());
  ASSERT_FALSE(bool(plan));
  EXPECT_EQ(plan.status().code(), StatusCode::unsupported);
  EXPECT_EQ(plan.status().message(),
            "options set byte " +
                std::to_string(sizeof(dfrt_plan_options) + 5) +
                " of a struct of which this library knows " +
                std::to_string(sizeof(dfrt_plan_options)) +
                "; it is older than the caller's header");
}

TEST(Options, MaximaStayWithinTheCallersStruct) {
  Opened o;
  Expected<PlanHandle> plan = o.plan(nullptr);
  ASSERT_TRUE(bool(plan));
  Caller<dfrt_launch_maxima> shorter(offsetof(dfrt_launch_maxima, plan_bytes));
  dfrt_launch_maxima_init_sized(shorter.options(), shorter.bytes);
  EXPECT_EQ(dfrt_launch_maxima_include(shorter.options(), plan->get()),
            DFRT_INVALID_ARGUMENT);
  EXPECT_TRUE(shorter.keptWithin());
  Caller<dfrt_launch_maxima> caller(sizeof(dfrt_launch_maxima));
  dfrt_launch_maxima_init_sized(caller.options(), caller.bytes);
  ASSERT_EQ(dfrt_launch_maxima_include(caller.options(), plan->get()), DFRT_OK);
  EXPECT_TRUE(caller.keptWithin());
  EXPECT_GE(caller.options()->plan_bytes, plan->bytes().size());
}
