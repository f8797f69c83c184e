//===- TextTest.cpp - What is in a PTX text -------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTXText.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::df;

TEST(Text, FunctionsAndWhatIsInThem) {
  std::vector<PTXFunction> functions = scanPTX(
      ".version 8.6\n.target sm_90a\n// .entry comment() { trap; }\n"
      ".extern .func  (.param .b32 func_retval0) __nv_expf\n"
      "(\n .param .b32 __nv_expf_param_0\n)\n;\n"
      ".extern .shared .align 128 .b8 tile[8192];\n"
      ".global .align 4 .u32 table[2] = {1, 2};\n"
      ".visible .func (.param .b32 r) helper(.param .b32 x) { ret; }\n"
      ".visible .entry first(\n .param .u64 .ptr .global first_param_0)\n"
      ".reqntid 128, 1, 1\n{\n { .reg .b32 t; }\n"
      " setmaxnreg.inc.sync.aligned.u32 232;\n trapdoor:\n /* trap; */ "
      "ret;\n}\n"
      ".entry second()\n{\n @%p1 trap;\n exit;\n}\n"
      ".visible .entry entrapment()\n{\n // trap\n ret;\n}\n");
  ASSERT_EQ(functions.size(), 5u);
  EXPECT_EQ(functions[0].name, "__nv_expf");
  EXPECT_TRUE(functions[0].external);
  EXPECT_EQ(functions[1].name, "helper");
  EXPECT_FALSE(functions[1].external);
  EXPECT_FALSE(functions[1].kernel);
  EXPECT_EQ(functions[2].name, "first");
  EXPECT_TRUE(functions[2].kernel);
  EXPECT_TRUE(functions[2].usesSetmaxnreg);
  EXPECT_FALSE(functions[2].traps);
  EXPECT_EQ(functions[3].name, "second");
  EXPECT_TRUE(functions[3].traps);
  EXPECT_FALSE(functions[3].usesSetmaxnreg);
  EXPECT_FALSE(functions[4].traps);
}

TEST(Text, Incomplete) {
  EXPECT_TRUE(scanPTX("").empty());
  EXPECT_TRUE(scanPTX("} } ) ( .entry").empty());
  EXPECT_EQ(scanPTX(".entry k() { trap").size(), 1u);
  EXPECT_TRUE(scanPTX("/* .entry k()").empty());
}
