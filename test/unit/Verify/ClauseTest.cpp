//===- ClauseTest.cpp - Each clause catches what it says ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each test breaks a legal schedule in one way and expects the clause's label
// and the culprit's index at the head of the message.
//
//===----------------------------------------------------------------------===//

#include "Cases.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace dfrt;
using namespace dfrt::test;

/// Expects that `c` is refused with a message that begins with `head` and
/// contains `detail`.
static void refused(const Case &c, const std::string &head,
                    const std::string &detail = "") {
  Status status = verify(c.problem, c.schedule);
  EXPECT_EQ(status.code(), StatusCode::verificationFailed);
  EXPECT_EQ(status.message().substr(0, head.size()), head) << status.message();
  EXPECT_NE(status.message().find(detail), std::string::npos)
      << status.message();
}

TEST(VerifyClause, V1Indices) {
  Case c = scatterGlobal();
  c.schedule.operands[0].slot = 99;
  refused(c, "V1: instruction 2 ", "reads slot 99 of 7");

  c = scatterGlobal();
  c.schedule.instructions[3].firstOperand = 0xfffffff0;
  refused(c, "V1: instruction 3 ", "of 7");

  c = scatterGlobal();
  c.schedule.transfers[1].instruction = 8;
  refused(c, "V1: transfer 1: instruction 8 of 8");

  c = reuse();
  c.schedule.releases[1].barrier = 7;
  refused(c, "V1: release 1 ", "barrier 7 of 2");

  c = tree();
  c.schedule.instructions[0].task = 1;
  refused(c, "V1: instruction 0 (stage \"part\", task 1)", "task 1 of 1");
}

TEST(VerifyClause, V1Lengths) {
  Case c = collect();
  c.schedule.instructions[0].outputCount = 1;
  refused(c, "V1: instruction 0 ", "has 1 outputs, must have 2");

  c = collect();
  c.schedule.instructions[1].operandCount = 2;
  refused(c, "V1: instruction 1 ", "has 2 operands, must have 3");

  c = tree();
  c.schedule.instructions[5].operandCount = 0;
  refused(c, "V1: instruction 5 ", "has 0 operands, must have 1");
}

TEST(VerifyClause, V2Queues) {
  Case c = tree();
  c.schedule.queues[0].instructions.push_back(0);
  refused(c, "V2: instruction 0 ", "queued twice");

  c = tree();
  c.schedule.queues[2].instructions.pop_back();
  refused(c, "V2: instruction 5 ", "in no queue");

  c = tree();
  c.schedule.queues[1].cta = 0;
  refused(c, "V2: queue 1: CTA 0 has another queue");

  c = tickets();
  c.schedule.queues.emplace_back();
  refused(c, "V2: ", "got 2 queues");

  c = tickets();
  c.schedule.instructions[0].draw = false;
  refused(c, "V2: instruction 0 ", "begins no draw");
}

TEST(VerifyClause, V3Pieces) {
  Case c = tree();
  c.schedule.instructions[1].tileBegin = 1;
  refused(c, "V16: instruction 1 ", "with 3");
  c.schedule.instructions[1].variant = 0;
  refused(c, "V3: instruction 1 ", "covers tiles [1, 4) again");

  c = tree();
  c.schedule.instructions[3].variant = 0;
  c.schedule.instructions[3].tileEnd = 5;
  refused(c, "V3: stage \"part\", task 0", "nobody covers tiles [5, 6)");

  c = tree();
  c.schedule.instructions[3].tileEnd = 7;
  refused(c, "V3: instruction 3 ", "are not in [0, 6)");

  c = scatterGlobal();
  c.schedule.instructions[1].task = 0;
  refused(c, "V3: instruction 1 ", "are none of 5");
}

TEST(VerifyClause, V3Reductions) {
  // A whole reduction that ends halfway.
  Case c = tree();
  c.schedule.instructions[5].operandCount = 1;
  c.schedule.operands[4].slot = 3;
  c.schedule.operands[4].wait = true;
  refused(c, "V4: instruction 5 ", "not the record of task 0");

  // Slices [0, 1) twice, slice 1 by nobody.
  c = scatterCluster();
  c.schedule.slots[6].sliceBegin = 0;
  c.schedule.slots[6].sliceEnd = 1;
  c.schedule.instructions[6].sliceBegin = 0;
  c.schedule.instructions[6].sliceEnd = 1;
  refused(c, "V4: instruction 6 ", "needs slices [0, 1) of slot 2");

  // A part that nobody combines any further.
  c = rekeyTiles();
  Hand h;
  h.schedule = c.schedule;
  uint32_t extra = h.slot(2, Space::shared, 0, 256);
  uint32_t i = h.call(0, 2, 0, {{0}, {1}}, {extra});
  c.schedule = h.finish(c.problem);
  refused(c, "V3: instruction " + std::to_string(i) + " ",
          "combines [0, 2) of [0, 3), and nobody combines it further");

  // The identity where there are records.
  c = rekeyRows();
  c.schedule.instructions[5].operandCount = 0;
  refused(c, "V4: instruction 5 ", "combines no parts, there are 2");
}

TEST(VerifyClause, V4Operands) {
  // Swapped parts.
  Case c = tree();
  std::swap(c.schedule.operands[0], c.schedule.operands[1]);
  refused(c, "V4: instruction 2 ", "expected is the part from 4");

  // Swapped tiles.
  c = collect();
  std::swap(c.schedule.operands[0], c.schedule.operands[1]);
  refused(c, "V4: instruction 1 ", "not the record of task 0, tile 0");

  // Wrong row, and no row.
  c = rekeyRows();
  c.schedule.operands[0].row = 0;
  refused(c, "V4: instruction 1 ", "is not the record of task 0");
  c.schedule.operands[0].row = kNone;
  refused(c, "V4: instruction 1 ", "is not the record of task 0");

  // Slices that are not there.
  c = scatterGlobal();
  c.schedule.operands[1] = {2, kNone, true};
  refused(c, "V4: instruction 2 ", "covers [0, 3)");

  // A reduce that states bounds which its parts do not have.
  c = tree();
  c.schedule.instructions[2].tileEnd = 3;
  refused(c, "V4: instruction 2 ", "its parts cover [0, 4)");
}

TEST(VerifyClause, V5Writers) {
  Case c = tree();
  c.schedule.outputs[1] = c.schedule.outputs[0];
  refused(c, "V5: slot 0 ", "again by instruction 1");

  c = tree();
  c.schedule.slots[1].cta = 2;
  refused(c, "V5: slot 1 ", "owned by CTA 2 but written by instruction 1");

  c = tree();
  c.schedule.slots.push_back(c.schedule.slots[1]);
  refused(c, "V5: slot 5 ", "never written");

  c = scatterGlobal();
  c.schedule.destinations[1] = 2;
  refused(c, "V5: slot 2 ", "again by transfer 1");

  c = scatterGlobal();
  c.schedule.transfers[0].source = 1;
  refused(c, "V5: transfer 0 ", "which that instruction does not write");

  c = scatterCluster();
  std::swap(c.schedule.outputs[0], c.schedule.outputs[2]);
  refused(c, "V5: instruction 0 ", "made for slices [0, 1)");
}

TEST(VerifyClause, V6Reads) {
  Case c = tree();
  c.schedule.operands[0].wait = false;
  refused(c, "V6: instruction 2 ", "written by instruction 0");

  c = reuse();
  c.schedule.operands[1].wait = false;
  refused(c, "V6: instruction 3 ", "without a wait for transfer 1");

  c = tickets();
  c.schedule.operands[2].wait = false;
  refused(c, "V6: instruction 4 ", "of another draw, without a wait");

  c = tree();
  c.schedule.operands[1].wait = true;
  refused(c, "V6: instruction 2 ", "neither barrier nor flag");

  // Read before it is written in the same queue.
  c = tree();
  std::swap(c.schedule.queues[2].instructions[1],
            c.schedule.queues[2].instructions[2]);
  refused(c, "V6: instruction 5 ", "later in its queue");
}

TEST(VerifyClause, V7Cycles) {
  Case c = scatterGlobal();
  // Each CTA waits for the other before it sends.
  std::vector<uint32_t> &a = c.schedule.queues[0].instructions;
  std::vector<uint32_t> &b = c.schedule.queues[1].instructions;
  std::swap(a[0], a[2]);
  std::swap(b[0], b[1]);
  refused(c, "V7: instruction ", "can never start: it waits for instruction");

  // A release to an instruction that runs before the reader.
  c = reuse();
  c.schedule.releases[0].from = 3;
  c.schedule.releases[0].slot = 3;
  refused(c, "V7: instruction 2 ", "waits for itself");

  // The consumer's draw comes first.
  c = tickets();
  std::vector<uint32_t> &list = c.schedule.queues[0].instructions;
  std::rotate(list.begin(), list.begin() + 4, list.end());
  refused(c, "V7: instruction 4 ", "at 0 of the list waits for instruction 0");
}

TEST(VerifyClause, V8Memory) {
  // The output over an operand of the same call.
  Case c = tree();
  c.schedule.slots[4].space = Space::global;
  c.schedule.slots[4].offset = 48;
  refused(c, "V8: slot 4 (stage \"merge\", task 0)",
          "memory of slot 2 (stage \"part\", task 0)");

  // Without the release, the next record may overwrite the last one.
  c = reuse();
  c.schedule.releases.pop_back();
  refused(c, "V8: slot 4 ", "memory of slot 2");

  // The source is read until the consumer has it: reuse on the producer's side
  // needs the way back, although the queue runs in order.
  c = reuse();
  c.schedule.releases.clear();
  for (uint32_t t = 0; t < 3; ++t)
    c.schedule.slots[2 * t + 1].offset = 48 * t;
  c.schedule.sharedBytes = 144;
  c.schedule.barriers[1].arrivals = 1;
  refused(c, "V8: slot 2 ",
          "memory of slot 0 (stage \"make\", task 0): the transfer of it");

  // A transfer into memory that a peer still reads.
  c = scatterCluster();
  c.schedule.slots[3].offset = 0;
  refused(c, "V8: slot 3 ", "takes over the memory of slot 0");

  // Two global slots of different draws.
  c = tickets();
  c.schedule.slots[1].offset = 16;
  refused(c, "V8: slot 1 ", "memory of slot 0");
}

TEST(VerifyClause, V9Places) {
  Case c = reuse();
  c.schedule.slots[2].space = Space::unplaced;
  refused(c, "V9: slot 2 ", "not finished");

  c = reuse();
  c.schedule.slots[2].offset = 16;
  refused(c, "V9: slot 2", "48 bytes at 16 leave the shared arena of 48");

  c = reuse();
  c.schedule.slots[2].offset = UINT64_MAX - 15;
  refused(c, "V9: slot 2");

  c = reuse();
  c.schedule.sharedBytes = 1000;
  c.schedule.slots[2].offset = 8;
  refused(c, "V9: slot 2", "not a multiple of 16");

  c = reuse();
  c.schedule.sharedBytes = c.problem.topology.slotBytes() + 16;
  refused(c, "V9: the shared slot arena");
}

TEST(VerifyClause, V10Transports) {
  Case c = scatterCluster();
  c.problem.topology.clusterSize = 1;
  refused(c, "V10: transfer 0 ", "not in the cluster of CTA 0");

  c = scatterGlobal();
  c.schedule.transfers[0].transport = Transport::clusterShared;
  refused(c, "V10: transfer 0 ", "not in shared memory");

  c = scatterCluster();
  c.schedule.transfers[0].transport = Transport::automatic;
  refused(c, "V10: transfer 0 ", "transport 0");

  c = multicast();
  c.schedule.slots[2].offset = 0;
  refused(c, "V10: transfer 0 ", "offset 0");

  c = multicast();
  c.schedule.slots[0].space = Space::shared;
  refused(c, "V10: transfer 0 ", "not in global memory");

  // Reading a peer's shared memory in place.
  c = tree();
  c.schedule.slots[3].space = Space::shared;
  c.schedule.slots[3].flag = kNone;
  c.schedule.sharedBytes = 144;
  c.schedule.transfers[1].transport = Transport::local;
  refused(c, "V10: instruction 4 ", "in the shared memory of CTA 1");

  // A shared slot that leaves its draw.
  c = tickets();
  c.schedule.instructions[3].draw = true;
  refused(c, "V10: instruction 3 ", "in another draw");
}

TEST(VerifyClause, V11Arrivals) {
  Case c = scatterCluster();
  c.schedule.barriers[0].arrivals = 2;
  refused(c, "V11: barrier 0 phase 0", "gets 1 arrivals, the barrier takes 2");

  c = reuse();
  c.schedule.slots[3].phase = 2;
  refused(c, "V11: barrier 0 phase 2", "expected phase 1");

  c = scatterCluster();
  c.schedule.slots[3].barrier = 1;
  refused(c, "V11: slot 3 ", "barrier 1 of CTA 1");

  c = scatterCluster();
  c.schedule.slots[2].barrier = kNone;
  refused(c, "V11: transfer 0 ", "arrives on no barrier");
}

TEST(VerifyClause, V11PhaseOrder) {
  // Without releases nothing keeps the second record from arriving before the
  // wait for the first, even when it has memory of its own.
  Case c = reuse();
  c.schedule.releases.clear();
  for (uint32_t s = 0; s < 6; ++s)
    c.schedule.slots[s].offset = 48 * (s / 2);
  c.schedule.sharedBytes = 144;
  refused(c, "V11: barrier 0: the wait for phase 0 by instruction 1 ",
          "phase 1 from instruction 2");

  // Phases in the wrong order: the first record announces the second phase.
  c = reuse();
  std::swap(c.schedule.slots[1].phase, c.schedule.slots[3].phase);
  refused(c, "V11: barrier 0");
}

TEST(VerifyClause, V12Flags) {
  Case c = scatterGlobal();
  c.schedule.slots[3].flag = 0;
  refused(c, "V12: flag 0 of slot 3 ", "by transfer 1");

  c = scatterGlobal();
  c.schedule.slots[3].flag = kNone;
  refused(c, "V12: transfer 1 ", "sets no flag");

  c = scatterGlobal();
  c.schedule.flags = 3;
  refused(c, "V12: flag 2 of 3 ");

  c = scatterGlobal();
  c.schedule.flags = 4;
  c.schedule.slots[4].flag = 3;
  refused(c, "V12: flag 3 of slot 4 ", "set by no transfer");
}

TEST(VerifyClause, V13Residency) {
  Case c = tree();
  c.schedule.queues[2].cta = 3;
  refused(c, "V13: queue 2 ", "only 3 are resident");

  c = tree();
  c.problem.topology.ctas = 2;
  for (Slot &slot : c.schedule.slots)
    slot.cta = 0;
  refused(c, "V13: queue 2 ", "only 2 are resident");
}

TEST(VerifyClause, V14Exit) {
  Case c = scatterCluster();
  c.schedule.exitBarrier = false;
  refused(c, "V14: transfer 0 ", "without a cluster barrier");

  c = multicast();
  c.schedule.exitBarrier = false;
  refused(c, "V14: transfer 0 ", "shared memory of CTA 2");

  // A record that arrives when nobody is left to wait for it.
  c = scatterCluster();
  Hand h;
  h.schedule = c.schedule;
  uint32_t extra = h.slot(0, Space::shared, 1, 320, 0, 2);
  h.arrive(extra, h.barrier(1));
  uint32_t t = h.send(Transport::clusterShared, 0, 0, {extra});
  c.schedule = h.finish(c.problem);
  refused(c, "V14: transfer " + std::to_string(t), "nobody waits for it");
}

TEST(VerifyClause, V15Outputs) {
  Case c = scatterGlobal();
  c.schedule.instructions[7].sliceBegin = 0;
  c.schedule.instructions[7].sliceEnd = 1;
  refused(c, "V15: instruction 7 ", "computes slice 0 again");

  c = reuse();
  c.schedule.instructions[5].task = 1;
  refused(c, "V15: instruction 5 ", "again, after instruction 3");

  c = collect();
  c.schedule.queues[1].instructions.pop_back();
  c.schedule.instructions.pop_back();
  refused(c, "V15: stage \"walk\", task 0: nobody covers tiles [2, 3)");

  c = collect();
  c.schedule.instructions[3].task = 0;
  refused(c, "V15: instruction 3 ", "again, after instruction 1");
}

TEST(VerifyClause, V16Variants) {
  Case c = tree();
  c.schedule.instructions[4].variant = 1;
  refused(c, "V1: instruction 4 ", "variant 1 of 1");

  c = tree();
  c.problem.program.stages[0].variants[1].value = 3;
  refused(c, "V16: instruction 0 ", "exactly 3 tiles");

  // The last tile has one element, the variant takes four.
  c = collect();
  c.problem.ranges[0].lengths[0] = 9;
  c.schedule.instructions[4].variant = 1;
  refused(c, "V16: instruction 4 ", "exactly 4 range elements");

  c = scatterGlobal();
  c.schedule.instructions[6].variant = 0;
  refused(c, "V16: instruction 6 ", "computes the whole record");
}

TEST(VerifyClause, V17Releases) {
  Case c = reuse();
  c.schedule.releases[0].slot = 4;
  refused(c, "V17: release 0 ", "reads neither");

  // To an instruction of the right CTA that has nothing to do with the memory.
  c = reuse();
  c.schedule.slots[0].offset = 48;
  c.schedule.slots[1].offset = 48;
  c.schedule.sharedBytes = 96;
  refused(c, "V17: release 0 ", "neither writes the slot's memory nor exits");

  c = reuse();
  c.schedule.releases[1].barrier = 0;
  refused(c, "V17: release 1 ", "is of CTA 1, not of CTA 0");

  c = reuse();
  c.problem.topology.clusterSize = 1;
  for (uint32_t s = 0; s < 6; ++s)
    c.schedule.slots[s].space = Space::global;
  for (uint32_t t = 0; t < 3; ++t) {
    c.schedule.transfers[t].transport = Transport::global;
    c.schedule.slots[2 * t + 1].offset = 48;
    c.schedule.slots[2 * t + 1].cta = 0;
    c.schedule.slots[2 * t + 1].flag = t;
    c.schedule.slots[2 * t + 1].barrier = kNone;
  }
  c.schedule.flags = 3;
  c.schedule.globalBytes = 96;
  refused(c, "V17: release 0 ", "not in the cluster of CTA 1");
}
