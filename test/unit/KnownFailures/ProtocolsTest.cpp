//===- ProtocolsTest.cpp - What goes wrong elsewhere: protocols ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each test is named after a class of failure in docs/known-failures-
// elsewhere.md: the mistake is made in every place of the hand-written
// schedules, and the verifier has to refuse each.
//
//===----------------------------------------------------------------------===//

#include "Verify/Cases.h"
#include "Verify/Mutants.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace dfrt;
using namespace dfrt::test;

namespace {

/// Mutants of these classes; `clauses` are those that may refuse them.
void expectRefused(std::initializer_list<const char *> classes,
                   std::initializer_list<const char *> clauses) {
  for (const char *name : classes) {
    const std::vector<MutantClass> &all = mutantClasses();
    auto kind = std::find_if(all.begin(), all.end(), [&](const auto &one) {
      return std::string(one.name) == name;
    });
    ASSERT_NE(kind, all.end()) << name;
    size_t made = 0;
    for (const Case &c : allCases()) {
      std::vector<Mutation> mutations;
      kind->find(c.problem, c.schedule, mutations);
      for (const Mutation &mutation : mutations) {
        Schedule mutant = c.schedule;
        mutation.apply(mutant);
        Status status = verify(c.problem, mutant);
        std::string clause =
            status.message().substr(0, status.message().find(':'));
        EXPECT_NE(std::find(clauses.begin(), clauses.end(), clause),
                  clauses.end())
            << c.name << ", " << name << ", " << mutation.what << ": "
            << status.message();
        ++made;
      }
    }
    EXPECT_GT(made, 0u) << name;
  }
}

} // namespace

TEST(KnownFailures, F41_ExitBeforeThePeersLastAccess) {
  expectRefused({"noExitBarrier", "unawaited"}, {"V6", "V11", "V14"});
}

TEST(KnownFailures, F43_MulticastToUnreadyReceivers) {
  expectRefused({"multicastOffset", "dropBarrier"}, {"V8", "V9", "V10", "V11"});
}

TEST(KnownFailures, F45_ArrivalsOfAWholeWarp) {
  expectRefused({"manyArrivals", "changeArrivals"}, {"V1", "V11"});
}

TEST(KnownFailures, F48_ReuseWithoutTheBarrier) {
  expectRefused({"moveOntoLive", "moveOntoSent", "dropRelease"},
                {"V8", "V9", "V11"});
}

TEST(KnownFailures, F40_EachWaitsForTheOther) {
  expectRefused({"crossedQueues"}, {"V6", "V7"});
}

TEST(KnownFailures, F51_MoreSharedMemoryThanThereIs) {
  expectRefused({"growArena"}, {"V9"});
}
