//===- LogTest.cpp - What ptxas -v prints ---------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/Cubin.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::df;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Log, CountsOfSeveralKernels) {
  PtxasReport report = parsePtxasLog(
      "ptxas info    : 12 bytes gmem, 4 bytes cmem[4]\n"
      "ptxas info    : Compiling entry function 'first' for 'sm_90a'\n"
      "ptxas info    : Function properties for first\n"
      "    40 bytes stack frame, 48 bytes spill stores, 52 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 3 barriers, 40 bytes cumulative"
      " stack size, 8200 bytes smem, 536 bytes cmem[0]\n"
      "ptxas info    : Compile time = 229.898 ms\n"
      "ptxas info    : Compiling entry function 'second' for 'sm_90a'\n"
      "ptxas info    : Function properties for second\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 0 barriers\n"
      "ptxas info    : Function properties for helper\n"
      "    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n");
  EXPECT_THAT(report.remarks, IsEmpty());
  ASSERT_EQ(report.functions.size(), 3u);
  const PtxasFunction &first = report.functions[0];
  EXPECT_EQ(first.name, "first");
  EXPECT_TRUE(first.kernel);
  EXPECT_EQ(first.registers, 168u);
  EXPECT_EQ(first.barriers, 3u);
  EXPECT_EQ(first.stackBytes, 40u);
  EXPECT_EQ(first.spillStoreBytes, 48u);
  EXPECT_EQ(first.spillLoadBytes, 52u);
  EXPECT_EQ(first.sharedBytes, 8200u);
  EXPECT_EQ(first.constantBytes, 536u);
  EXPECT_EQ(report.functions[1].registers, 8u);
  EXPECT_EQ(report.functions[1].stackBytes, 0u);
  EXPECT_FALSE(report.functions[2].kernel);
  EXPECT_EQ(report.functions[2].stackBytes, 16u);

  std::vector<StrictFinding> findings = strictFindings(report);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].function, "first");
  EXPECT_THAT(findings[0].text, HasSubstr("48 bytes stored"));
  EXPECT_EQ(findings[1].function, "helper");
  EXPECT_THAT(findings[1].text, HasSubstr("local memory: 16 bytes"));
}

TEST(Log, RemarksNameTheirFunction) {
  PtxasReport report = parsePtxasLog(
      "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async "
      "instructions are serialized due to insufficient register resources for "
      "the wgmma pipeline in the function 'k'\n"
      "ptxas info    : (C7519) warpgroup.arrive is injected in around line 95 "
      "by compiler to allow use of registers in GMMA in function 'k'\n"
      "ptxas fatal   : (C7602) Insufficient registers (128) to compile "
      "instruction at line 33 in function k_2. Try to compile with register "
      "target of 154 or higher.\n"
      "ptxas /tmp/a.ptx, line 12; error   : Argument 0 of 'bar' is wrong\n"
      "ptxas warning : Unresolved extern variable 'x'\n"
      "something else\n");
  ASSERT_EQ(report.remarks.size(), 6u);
  EXPECT_EQ(report.remarks[0].code, "C7511");
  EXPECT_EQ(report.remarks[0].function, "k");
  EXPECT_THAT(report.remarks[0].text, testing::StartsWith("Potential"));
  EXPECT_EQ(report.remarks[2].level, PtxasRemark::Level::fatal);
  EXPECT_EQ(report.remarks[2].function, "k_2");
  EXPECT_EQ(report.remarks[3].level, PtxasRemark::Level::error);
  EXPECT_EQ(report.remarks[3].text, "line 12: Argument 0 of 'bar' is wrong");
  EXPECT_EQ(report.remarks[4].level, PtxasRemark::Level::warning);
  EXPECT_EQ(report.remarks[5].text, "something else");

  std::vector<StrictFinding> findings = strictFindings(report);
  ASSERT_EQ(findings.size(), 2u) << "C7519 costs nothing by itself";
  EXPECT_THAT(findings[0].text, testing::StartsWith("C7511: "));
  EXPECT_EQ(findings[1].function, "k_2");
}

TEST(Log, EveryStrictRemark) {
  for (const char *code : {"C7508", "C7510", "C7511", "C7512", "C7514", "C7515",
                           "C7517", "C7518", "C7520", "C7602"}) {
    PtxasReport report = parsePtxasLog(std::string("ptxas info    : (") + code +
                                       ") lost in function 'k'");
    EXPECT_EQ(strictFindings(report).size(), 1u) << code;
  }
}

TEST(Log, IgnoredSetmaxnregBelongsToTheOnlyKernelWithOne) {
  const char *log = "ptxas info    : (C7508) Potential Performance Loss: "
                    "'setmaxnreg' ignored; unable to determine register count "
                    "at entry.\n";
  EXPECT_EQ(parsePtxasLog(log, {"k"}).remarks[0].function, "k");
  EXPECT_EQ(parsePtxasLog(log, {"k", "l"}).remarks[0].function, "");
  EXPECT_EQ(parsePtxasLog(log).remarks[0].function, "");
}

TEST(Log, NothingAndNonsense) {
  EXPECT_THAT(parsePtxasLog("").functions, IsEmpty());
  EXPECT_THAT(parsePtxasLog("\n\n  \n").remarks, IsEmpty());
  PtxasReport report =
      parsePtxasLog("0 bytes stack frame\nptxas\nptxas info\nptxas info : (C");
  EXPECT_THAT(report.functions, IsEmpty());
  EXPECT_EQ(report.remarks.size(), 4u);
}
