//===- MutantTest.cpp - Every mutant is refused ---------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include "Mutants.h"

#include <gtest/gtest.h>

using namespace dfrt;
using namespace dfrt::test;

TEST(VerifyMutants, handWrittenSchedules) {
  for (const MutantClass &kind : mutantClasses()) {
    size_t made = 0;
    for (const Case &c : allCases()) {
      std::vector<Mutation> mutations;
      kind.find(c.problem, c.schedule, mutations);
      for (const Mutation &mutation : mutations) {
        Schedule mutant = c.schedule;
        mutation.apply(mutant);
        Status status = verify(c.problem, mutant);
        EXPECT_EQ(status.code(), StatusCode::verificationFailed)
            << c.name << ", " << kind.name << ", " << mutation.what;
        EXPECT_EQ(status.message().substr(0, 1), "V");
        ++made;
      }
    }
    EXPECT_GT(made, 0u) << kind.name << " finds no place in any schedule";
  }
}
