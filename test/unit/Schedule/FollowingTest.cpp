//===- FollowingTest.cpp - Finalizes that can follow in registers ---------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Following.h: of which stages a finalize may follow, and why not.
//
//===----------------------------------------------------------------------===//

#include "Examples.h"

#include "dataflow/Schedule/Following.h"

#include <gmock/gmock.h>

using namespace dfrt;
using namespace dfrt::test;
using testing::HasSubstr;

static std::string reasonFor(const Program &program, uint32_t stage) {
  std::string reason;
  EXPECT_EQ(findFollowing(program, stage, &reason), kNone);
  return reason;
}

TEST(Following, BehindReduceAndMap) {
  Program p = splitReduce(true);
  EXPECT_EQ(findFollowing(p, 1), 2u);
  // A task with one part has no instruction of the reduce.
  EXPECT_EQ(findFollowing(p, 0), 2u);
  EXPECT_THAT(reasonFor(p, 2), HasSubstr("neither a map nor a reduce"));
}

TEST(Following, LooksThroughMoves) {
  Program p = reshardedReduce();
  uint32_t last = uint32_t(p.stages.size() - 1);
  EXPECT_EQ(findFollowing(p, 0), last);
  EXPECT_EQ(findFollowing(p, 1), last);
  p.stages[3].reshard = ReshardKind::rekey;
  EXPECT_THAT(reasonFor(p, 1), HasSubstr("other tasks"));
}

TEST(Following, OnlyReader) {
  Program p = splitReduce(false);
  p.stages.push_back(p.stages[2]);
  EXPECT_THAT(reasonFor(p, 1), HasSubstr("have 2 readers"));
  // A second reader further on counts as well.
  EXPECT_THAT(reasonFor(p, 0), HasSubstr("'reduce' have 2 readers"));
  p.stages.resize(2);
  EXPECT_THAT(reasonFor(p, 1), HasSubstr("have 0 readers"));
}

TEST(Following, OneRecordATask) {
  Program p = splitReduce(false);
  p.stages[0].arity = Arity::tiles;
  EXPECT_THAT(reasonFor(p, 0), HasSubstr("several records"));
  p = splitReduce(false);
  p.stages[2].inputs.push_back(input(0));
  EXPECT_THAT(reasonFor(p, 1), HasSubstr("reads other records"));
  p = splitReduce(false);
  p.stages[2].range = 0;
  EXPECT_THAT(reasonFor(p, 1), HasSubstr("has a range"));
}

TEST(Following, SameTasks) {
  Program p = splitReduce(false);
  p.domains.push_back(p.domains[0]);
  p.stages[2].domain = 1;
  EXPECT_THAT(reasonFor(p, 1), HasSubstr("other tasks"));
  p = splitReduce(false);
  p.stages[2].kind = StageKind::map;
  EXPECT_THAT(reasonFor(p, 1), HasSubstr("no finalize"));
}
