//===- ArtifactCacheTest.cpp - Artifacts on disk --------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/ArtifactCache.h"

#include "ScratchFolder.h"
#include "dfrt/Artifact.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Config/llvm-config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <fstream>
#include <thread>

using namespace mlir;
using namespace mlir::df;
using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;

namespace {
std::vector<uint8_t> artifactBytes(const std::string &name,
                                   size_t codeBytes = 0) {
  dfrt::Artifact artifact;
  artifact.program.name = name;
  dfrt::CodeBlob blob;
  blob.kind = dfrt::CodeBlob::Kind::ptx;
  blob.bytes.resize(codeBytes, 'x');
  artifact.code.push_back(blob);
  return *dfrt::writeArtifact(artifact);
}

class ArtifactCache : public testing::Test {
protected:
  ArtifactCache() { options.folder = (scratch.path() / "cache").string(); }

  /// What findOrCompile gives when compiling gives `compiled`.
  std::vector<uint8_t> find(const std::string &key,
                            const std::vector<uint8_t> &compiled) {
    MLIRContext context;
    diagnostics.clear();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      diagnostics.push_back(diagnostic.str());
      severities.push_back(diagnostic.getSeverity());
    });
    severities.clear();
    compiles = 0;
    FailureOr<std::vector<uint8_t>> bytes =
        findOrCompile(key, options, UnknownLoc::get(&context),
                      [&]() -> FailureOr<std::vector<uint8_t>> {
                        ++compiles;
                        return compiled;
                      });
    EXPECT_TRUE(succeeded(bytes));
    return bytes.value_or(std::vector<uint8_t>());
  }

  fs::path file(const std::string &key) {
    return fs::path(options.folder) / (key + ".dfart");
  }

  ScratchFolder scratch;
  ArtifactCacheOptions options;
  std::vector<std::string> diagnostics;
  std::vector<DiagnosticSeverity> severities;
  int compiles = 0;
};

std::string keyOf(StringRef text, ArrayRef<std::string> decisions = {},
                  StringRef compiler = "compiler") {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  return artifactKey(*module, decisions, compiler);
}
} // namespace

TEST_F(ArtifactCache, AHitCompilesNothing) {
  std::vector<uint8_t> made = artifactBytes("made");
  EXPECT_EQ(find("k", made), made);
  EXPECT_EQ(compiles, 1);
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_EQ(find("k", artifactBytes("other")), made);
  EXPECT_EQ(compiles, 0);
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0], "artifact cache: hit k");
  EXPECT_EQ(severities[0], DiagnosticSeverity::Remark);
}

TEST_F(ArtifactCache, AMissIsSaidOnlyIfAskedFor) {
  options.verbose = true;
  find("k", artifactBytes("made"));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0], "artifact cache: miss k");
}

TEST_F(ArtifactCache, WithoutFolderOrKeyNothingIsKept) {
  std::string folder = options.folder;
  options.folder.clear();
  for (int i = 0; i < 2; ++i) {
    find("k", artifactBytes("made"));
    EXPECT_EQ(compiles, 1);
  }
  options.folder = folder;
  for (int i = 0; i < 2; ++i) {
    find("", artifactBytes("made"));
    EXPECT_EQ(compiles, 1);
  }
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(ArtifactCache, DamageIsReportedAndRepaired) {
  std::vector<uint8_t> made = artifactBytes("made");
  find("k", made);
  std::ifstream in(file("k"), std::ios::binary);
  std::string good((std::istreambuf_iterator<char>(in)), {});
  for (size_t at = 0; at < good.size(); at += 7) {
    std::string bad = good;
    bad[at] ^= 1;
    std::ofstream(file("k"), std::ios::binary | std::ios::trunc) << bad;
    EXPECT_EQ(find("k", made), made);
    EXPECT_EQ(compiles, 1) << at;
    ASSERT_EQ(diagnostics.size(), 1u);
    EXPECT_EQ(severities[0], DiagnosticSeverity::Warning);
    EXPECT_THAT(diagnostics[0], HasSubstr("is damaged and compiled anew"));
    find("k", made);
    EXPECT_EQ(compiles, 0) << "not repaired at " << at;
  }
  std::ofstream(file("k"), std::ios::binary | std::ios::trunc) << "";
  find("k", made);
  EXPECT_EQ(compiles, 1);
}

// Well stored, but no artifact.
TEST_F(ArtifactCache, WhatCannotBeReadIsCompiledAnew) {
  find("k", {'n', 'o', 'n', 'e'});
  std::vector<uint8_t> made = artifactBytes("made");
  EXPECT_EQ(find("k", made), made);
  EXPECT_EQ(compiles, 1);
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_THAT(diagnostics[0], HasSubstr("is damaged"));
}

TEST_F(ArtifactCache, AFolderThatCannotBeWrittenIsAWarning) {
  std::ofstream(options.folder) << "a file";
  std::vector<uint8_t> made = artifactBytes("made");
  EXPECT_EQ(find("k", made), made);
  EXPECT_EQ(compiles, 1);
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(severities[0], DiagnosticSeverity::Warning);
  EXPECT_THAT(diagnostics[0], StartsWith("artifact cache: '"));
  EXPECT_THAT(diagnostics[0], HasSubstr("' cannot be written: "));
}

TEST_F(ArtifactCache, AFailureIsNotKept) {
  MLIRContext context;
  auto fails = [&]() -> FailureOr<std::vector<uint8_t>> { return failure(); };
  EXPECT_TRUE(
      failed(findOrCompile("k", options, UnknownLoc::get(&context), fails)));
  find("k", artifactBytes("made"));
  EXPECT_EQ(compiles, 1);
}

TEST_F(ArtifactCache, TheOldestGoesFirst) {
  options.bytes = 3500;
  std::vector<uint8_t> made = artifactBytes("made", 1000);
  ASSERT_LT(made.size(), 1700u);
  auto age = [&](const char *key, int minutes) {
    fs::last_write_time(file(key), fs::file_time_type::clock::now() -
                                       std::chrono::minutes(minutes));
  };
  find("a", made);
  find("b", made);
  age("a", 30);
  age("b", 20);
  find("a", made); // used now
  EXPECT_EQ(compiles, 0);
  find("c", made);
  EXPECT_TRUE(fs::exists(file("a")));
  EXPECT_FALSE(fs::exists(file("b")));
  EXPECT_TRUE(fs::exists(file("c")));
}

TEST_F(ArtifactCache, ProcessesMayShareAFolder) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      MLIRContext context;
      ScopedDiagnosticHandler handler(&context, [](Diagnostic &diagnostic) {
        EXPECT_EQ(diagnostic.getSeverity(), DiagnosticSeverity::Remark)
            << diagnostic.str();
      });
      for (int i = 0; i < 50; ++i) {
        std::string key = "k" + std::to_string(i);
        auto bytes = findOrCompile(key, options, UnknownLoc::get(&context),
                                   [&]() -> FailureOr<std::vector<uint8_t>> {
                                     return artifactBytes(key, size_t(100 * t));
                                   });
        EXPECT_TRUE(succeeded(bytes));
        auto read = dfrt::readArtifact(bytes->data(), bytes->size());
        ASSERT_TRUE(bool(read)) << read.status().message();
        EXPECT_EQ(read->program.name, key);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  size_t files = 0;
  for ([[maybe_unused]] auto &file : fs::directory_iterator(options.folder))
    ++files;
  EXPECT_EQ(files, 50u);
}

TEST(ArtifactKey, SpellingAndLocationsDoNotMatter) {
  std::string key = keyOf("module @m { module @f {} }");
  EXPECT_EQ(keyOf("// A comment.\nmodule   @m {\n\n  module @f {}\n}"), key);
  EXPECT_EQ(keyOf("module @m { module @f {} loc(\"x\":1:2) }"), key);
  EXPECT_EQ(keyOf("\"builtin.module\"() <{sym_name = \"m\"}> ({ "
                  "module @f {} }) : () -> ()"),
            key);
}

TEST(ArtifactKey, EveryPartMatters) {
  std::string key = keyOf("module @m {}", {"sm_90a", "+ptx86"}, "one");
  EXPECT_EQ(keyOf("module @m {}", {"sm_90a", "+ptx86"}, "one"), key);
  EXPECT_NE(keyOf("module @n {}", {"sm_90a", "+ptx86"}, "one"), key);
  EXPECT_NE(keyOf("module @m attributes {test.parameter = 1 : index} {}",
                  {"sm_90a", "+ptx86"}, "one"),
            key);
  EXPECT_NE(keyOf("module @m {}", {"sm_100a", "+ptx86"}, "one"), key);
  EXPECT_NE(keyOf("module @m {}", {"sm_90a", "+ptx87"}, "one"), key);
  EXPECT_NE(keyOf("module @m {}", {"sm_90a+ptx86"}, "one"), key);
  EXPECT_NE(keyOf("module @m {}", {"sm_90a"}, "one"), key);
  EXPECT_NE(keyOf("module @m {}", {"sm_90a", "+ptx86"}, "two"), key);
  EXPECT_EQ(key.size(), 64u);
}

TEST(ArtifactKey, TheCompilerNamesItsVersions) {
  std::string identity = compilerIdentity();
  EXPECT_THAT(identity, StartsWith("dataflow "));
  EXPECT_THAT(identity, HasSubstr(" LLVM " LLVM_VERSION_STRING " "));
  // And the file that it is in.
  EXPECT_THAT(identity, testing::ContainsRegex(" [0-9]+ [0-9]+$"));
  EXPECT_EQ(compilerIdentity(), identity);
}
