//===- MutantTest.cpp - Every mutant is refused ---------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include "Mutants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

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

TEST(VerifyMutants, garbageIsJudgedSafely) {
  // Several random fields at once get random values, small and wild. Nothing is
  // expected of the verdict but that there is one.
  std::mt19937 random(3);
  auto value = [&]() -> uint32_t {
    switch (random() % 4) {
    case 0:
      return random() % 4;
    case 1:
      return random() % 16;
    case 2:
      return 0xffffffffu - random() % 3;
    default:
      return random();
    }
  };
  const std::vector<Case> cases = allCases();
  size_t refused = 0;
  for (unsigned round = 0; round < 20000; ++round) {
    const Case &c = cases[random() % cases.size()];
    Schedule m = c.schedule;
    for (unsigned edits = 1 + random() % 3; edits > 0; --edits) {
      Instruction &i = m.instructions[random() % m.instructions.size()];
      Slot &slot = m.slots[random() % m.slots.size()];
      switch (random() % 24) {
      case 0:
        i.stage = value();
        break;
      case 1:
        i.task = value();
        break;
      case 2:
        i.tileBegin = int32_t(value());
        break;
      case 3:
        i.tileEnd = random() % 2 ? int64_t(value()) << 32 : value();
        break;
      case 4:
        i.sliceBegin = value();
        break;
      case 5:
        i.sliceEnd = value();
        break;
      case 6:
        i.firstOperand = value();
        break;
      case 7:
        i.operandCount = value();
        break;
      case 8:
        i.firstOutput = value();
        break;
      case 9:
        i.outputCount = value();
        break;
      case 10:
        i.draw = !i.draw;
        break;
      case 11:
        slot.stage = value();
        break;
      case 12:
        slot.space = Space(value());
        break;
      case 13:
        slot.cta = value();
        break;
      case 14:
        slot.offset = uint64_t(value()) << (random() % 2 * 32);
        break;
      case 15:
        slot.barrier = value();
        slot.phase = value();
        break;
      case 16:
        slot.flag = value();
        m.flags = value();
        break;
      case 17:
        if (!m.operands.empty())
          m.operands[random() % m.operands.size()] = {value(), value(), true};
        break;
      case 18:
        if (!m.transfers.empty()) {
          Transfer &t = m.transfers[random() % m.transfers.size()];
          t.transport = Transport(value() % 8);
          t.instruction = value();
          t.source = value();
        }
        break;
      case 19:
        if (!m.destinations.empty())
          m.destinations[random() % m.destinations.size()] = value();
        break;
      case 20:
        m.releases.push_back({value(), value(), value(), value(), value()});
        break;
      case 21:
        m.barriers.push_back({value(), value()});
        break;
      case 22: {
        std::vector<uint32_t> &queue =
            m.queues[random() % m.queues.size()].instructions;
        std::shuffle(queue.begin(), queue.end(), random);
        break;
      }
      default:
        m.discipline = Discipline(value() % 3);
        m.queues[0].cta = value();
        break;
      }
    }
    refused += !verify(c.problem, m).ok();
  }
  EXPECT_GT(refused, 10000u);
}
