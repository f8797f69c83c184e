//===- PoolTest.cpp - Several assemblers at once --------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The assembler here is a shell script, so this needs no CUDA.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/Cubin.h"

#include "ScratchFolder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>

using namespace mlir::df;
namespace fs = std::filesystem;

namespace {

/// Copies its input to its output behind the architecture; fails on inputs that
/// say so.
class Pool : public testing::Test {
protected:
  void SetUp() override {
    fs::create_directories(folder / "bin");
    fs::path program = folder / "bin" / "ptxas";
    std::ofstream(program)
        << "#!/bin/sh\n"
           "if [ \"$1\" = --version ]; then echo version 1; exit 0; fi\n"
           "echo run >> "
        << (folder / "runs").string()
        << "\n"
           "echo \"ptxas info    : Compiling entry function 'k' for 'x'\"\n"
           "echo 'ptxas info    : Used 12 registers, used 0 barriers'\n"
           "while [ $# -gt 1 ]; do\n"
           "  case $1 in -arch=*) arch=$1 ;; -o) out=$2 ;; esac; shift\n"
           "done\n"
           "if grep -q slow \"$1\"; then sleep 30; fi\n"
           "if grep -q bad \"$1\"; then echo \"ptxas $1, line 1; error   : "
           "no\"; exit 3; fi\n"
           "{ echo $arch; cat \"$1\"; } > \"$out\"\n";
    fs::permissions(program, fs::perms::owner_all);
    options.toolkits = {folder.string()};
    options.timeoutSeconds = 20;
  }

  size_t runs() {
    std::ifstream in(folder / "runs");
    std::string line;
    size_t count = 0;
    while (std::getline(in, line))
      ++count;
    return count;
  }
  std::vector<CubinResult> assemble(std::vector<PTXText> modules) {
    auto results = assembleToCubin(modules, options);
    if (!results) {
      ADD_FAILURE() << llvm::toString(results.takeError());
      return std::vector<CubinResult>(modules.size());
    }
    return *results;
  }

  ScratchFolder scratch;
  fs::path folder = scratch.path();
  PtxasOptions options;
};

std::string text(const CubinResult &result) {
  return std::string(result.cubin.begin(), result.cubin.end());
}

} // namespace

TEST_F(Pool, ResultsAreInOrderWhateverTheJobs) {
  for (unsigned jobs : {0u, 1u, 3u, 20u}) {
    options.jobs = jobs;
    std::vector<PTXText> modules;
    for (int i = 0; i < 7; ++i)
      modules.push_back(
          {"m", "sm_90a", i == 4 ? "bad" : "text " + std::to_string(i)});
    std::vector<CubinResult> results = assemble(modules);
    ASSERT_EQ(results.size(), 7u);
    for (int i = 0; i < 7; ++i) {
      if (i == 4) {
        EXPECT_THAT(results[i].problem, testing::HasSubstr("status 3"));
        EXPECT_TRUE(results[i].cubin.empty());
        ASSERT_FALSE(results[i].report.remarks.empty());
        EXPECT_EQ(results[i].report.remarks.front().text, "line 1: no");
        continue;
      }
      EXPECT_EQ(results[i].problem, "");
      EXPECT_EQ(text(results[i]), "-arch=sm_90a\ntext " + std::to_string(i));
      ASSERT_FALSE(results[i].report.functions.empty());
      EXPECT_EQ(results[i].report.functions.front().registers, 12u);
    }
  }
}

TEST_F(Pool, CacheIsKeyedByEverything) {
  options.cacheFolder = (folder / "cache").string();
  PTXText module{"m", "sm_90a", "text"};
  EXPECT_FALSE(assemble({module})[0].cached);
  CubinResult hit = assemble({module})[0];
  EXPECT_TRUE(hit.cached);
  EXPECT_EQ(text(hit), "-arch=sm_90a\ntext");
  EXPECT_EQ(hit.report.functions.front().registers, 12u);
  EXPECT_EQ(runs(), 1u);
  module.chip = "sm_100a";
  EXPECT_FALSE(assemble({module})[0].cached);
  options.optLevel = 1;
  EXPECT_FALSE(assemble({module})[0].cached);
  options.flags = {"--flag"};
  EXPECT_FALSE(assemble({module})[0].cached);
  module.text = "other";
  EXPECT_FALSE(assemble({module})[0].cached);
  EXPECT_EQ(runs(), 5u);
}

TEST_F(Pool, FailuresAreNotKept) {
  options.cacheFolder = (folder / "cache").string();
  for (int i = 0; i < 2; ++i)
    EXPECT_FALSE(assemble({{"m", "sm_90a", "bad"}})[0].cached);
  EXPECT_EQ(runs(), 2u);
}

TEST_F(Pool, SlowAssemblerIsKilled) {
  options.timeoutSeconds = 1;
  CubinResult result = assemble({{"m", "sm_90a", "slow"}})[0];
  EXPECT_NE(result.problem, "");
  EXPECT_TRUE(result.cubin.empty());
  EXPECT_THAT(result.report.remarks.back().text,
              testing::HasSubstr("killed after 1 seconds"));
}

TEST_F(Pool, SaysWhereItSearched) {
  options.program = (folder / "nothing").string();
  auto results = assembleToCubin({}, options);
  ASSERT_FALSE(results);
  EXPECT_THAT(llvm::toString(results.takeError()),
              testing::HasSubstr("nothing' is not there"));
}
