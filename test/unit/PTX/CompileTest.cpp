//===- CompileTest.cpp - Device modules to PTX, as a library --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/PTX.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <thread>

using namespace mlir;
using namespace mlir::df;
using testing::HasSubstr;

namespace {

struct Outcome {
  std::string text;
  std::string diagnostics;
};

Outcome compile(StringRef source, const PTXOptions &options = {}) {
  DialectRegistry registry;
  registerPTXTargetDialects(registry);
  MLIRContext context(registry);
  Outcome outcome;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    outcome.diagnostics += diagnostic.str() + "\n";
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  if (!module)
    return outcome;
  FailureOr<PTXText> ptx = compileToPTX(&module->getBody()->front(), options);
  if (succeeded(ptx))
    outcome.text = ptx->text;
  return outcome;
}

const char *const kGood = R"(gpu.module @m {
  llvm.func @k(%p: !llvm.ptr<1>, %v: i64) attributes {nvvm.kernel} {
    llvm.store %v, %p : i64, !llvm.ptr<1>
    llvm.return
  }
})";

const char *const kAborts = R"(gpu.module @m {
  llvm.func @k(%p: !llvm.ptr<1>, %v: f32, %m: i32) attributes {nvvm.kernel} {
    %r = nvvm.redux.sync fmax %v, %m : f32 -> f32
    llvm.store %r, %p : f32, !llvm.ptr<1>
    llvm.return
  }
})";

} // namespace

TEST(Compile, AbortLeavesTheProcessUsable) {
  for (int i = 0; i < 3; ++i) {
    Outcome bad = compile(kAborts);
    EXPECT_EQ(bad.text, "");
    EXPECT_THAT(bad.diagnostics, HasSubstr("gave up on 'k'"));
    EXPECT_THAT(bad.diagnostics, HasSubstr("redux"));
    Outcome good = compile(kGood);
    EXPECT_THAT(good.text, HasSubstr("st.global.b64"));
    EXPECT_EQ(good.diagnostics, "");
  }
}

TEST(Compile, SameTextEveryTimeFromManyThreads) {
  const std::string expected = compile(kGood).text;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(compile(kGood).text, expected);
        EXPECT_THAT(compile(kAborts).diagnostics, HasSubstr("gave up"));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Compile, ShortPointersDoNotOutliveTheModule) {
  PTXOptions options;
  std::string before = compile(kGood, options).text;
  options.shortPointers = true;
  EXPECT_NE(compile(kGood, options).text, "");
  options.shortPointers = false;
  EXPECT_EQ(compile(kGood, options).text, before);
}

TEST(Compile, SlowCodeGeneratorIsKilled) {
  PTXOptions options;
  options.timeoutSeconds = 0;
  Outcome outcome = compile(kGood, options);
  EXPECT_EQ(outcome.text, "");
  EXPECT_THAT(outcome.diagnostics, HasSubstr("killed after 0 seconds"));
}

TEST(Compile, OptionsAreChecked) {
  PTXOptions options;
  options.chip = "sm_80";
  EXPECT_THAT(compile(kGood, options).diagnostics,
              HasSubstr("chip is 'sm_80', expected sm_90a or sm_100a"));
  options.chip = "sm_100a";
  options.optLevel = 4;
  EXPECT_THAT(compile(kGood, options).diagnostics,
              HasSubstr("optimisation level is 4"));
  options.optLevel = 0;
  EXPECT_THAT(compile(kGood, options).text, HasSubstr(".target sm_100a"));
}
