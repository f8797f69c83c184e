//===- StepsTest.cpp - Transports, slots and releases ---------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps behind the solvers.
//
//===----------------------------------------------------------------------===//

#include "Examples.h"
#include "RandomPrograms.h"

#include <gmock/gmock.h>

using namespace dfrt;
using namespace dfrt::test;
using testing::HasSubstr;

namespace {

std::string refusal(const Problem &problem, const ScheduleOptions &options = {},
                    StatusCode code = StatusCode::invalidArgument) {
  Expected<Schedule> schedule = makeSchedule(problem, options);
  EXPECT_FALSE(schedule);
  EXPECT_EQ(schedule.status().code(), code);
  return schedule.status().message();
}

ScheduleOptions travelling(Transport transport) {
  ScheduleOptions options;
  options.transport = transport;
  return options;
}

/// A map whose one record a second map reads on several CTAs: `readers` pieces
/// of 100 tiles each.
Program broadcast() {
  Program p = splitReduce(false);
  p.stages[0].inputs = {input(0)};
  p.stages[1].inputs = {input(1)};
  p.stages[2].inputs = {input(2)};
  Stage head =
      stage("head", StageKind::map, Arity::one, record({field("x", {64})}));
  p.stages.insert(p.stages.begin(), head);
  return p;
}

} // namespace

TEST(Transports, LocalNeedsNoTransfer) {
  Problem p = problemFor(splitReduce(true), {64, 64}, topology(2));
  Schedule s = planned(p);
  EXPECT_TRUE(s.transfers.empty());
  EXPECT_FALSE(s.exitBarrier);
  for (const Operand &o : s.operands)
    EXPECT_FALSE(o.wait);
  for (const Slot &slot : s.slots)
    EXPECT_EQ(slot.space, Space::shared);
}

TEST(Transports, GlobalPublishesOnce) {
  Problem p = problemFor(splitReduce(true), {64 * 32}, topology(4));
  Schedule s = planned(p);
  // Four parts, each read by three other CTAs.
  EXPECT_EQ(s.transfers.size(), 4u);
  EXPECT_EQ(countTransfers(s, Transport::global), 4u);
  EXPECT_EQ(s.flags, 4u);
  EXPECT_FALSE(s.exitBarrier);
  int waits = 0;
  for (const Operand &o : s.operands)
    waits += o.wait;
  EXPECT_EQ(waits, 12);
}

TEST(Transports, PeersGetTheSlicesTheyNeed) {
  Problem p = problemFor(splitReduce(true), {64 * 32}, topology(4, 4));
  Schedule s = planned(p);
  EXPECT_EQ(countTransfers(s, Transport::clusterShared), 12u);
  EXPECT_EQ(s.transfers.size(), 12u);
  EXPECT_TRUE(s.exitBarrier);
  for (const Transfer &t : s.transfers) {
    const Slot &slot = s.slots[s.destinationsOf(t)[0]];
    EXPECT_EQ(slotBytes(p, slot), 64u + 2 * 1024u);
    EXPECT_NE(slot.barrier, kNone);
  }
  // Two clusters: peers inside, global between.
  s = planned(problemFor(splitReduce(true), {64 * 32}, topology(4, 2)));
  EXPECT_EQ(countTransfers(s, Transport::clusterShared), 4u);
  EXPECT_EQ(countTransfers(s, Transport::global), 4u);
}

TEST(Transports, ForcedGlobal) {
  Problem p = problemFor(splitReduce(true), {64 * 32}, topology(4, 4));
  Schedule s = planned(p, travelling(Transport::global));
  EXPECT_EQ(countTransfers(s, Transport::global), 4u);
  EXPECT_EQ(s.transfers.size(), 4u);
}

TEST(Transports, ForcedChoicesAreRefusedByName) {
  Problem p = problemFor(splitReduce(true), {64 * 32}, topology(4, 2));
  EXPECT_THAT(refusal(p, travelling(Transport::clusterShared)),
              HasSubstr("transport cluster_shared is requested, but the CTAs "
                        "are in different clusters"));
  EXPECT_THAT(refusal(p, travelling(Transport::local)),
              HasSubstr("the CTAs differ"));
  EXPECT_THAT(refusal(p, travelling(Transport::multicast)),
              HasSubstr("stage 'map', task 0"));
  ScheduleOptions ticket = travelling(Transport::clusterShared);
  ticket.solver = "tickets";
  EXPECT_THAT(refusal(p, ticket), HasSubstr("global slots only"));
}

TEST(Transports, Multicast) {
  Program program = broadcast();
  program.stages[0].requests.transport = Transport::multicast;
  Problem p = problemFor(program, {64 * 40}, topology(4, 4));
  Schedule s = planned(p);
  ASSERT_EQ(countTransfers(s, Transport::multicast), 1u);
  for (const Transfer &t : s.transfers) {
    if (t.transport != Transport::multicast)
      continue;
    EXPECT_EQ(t.destinationCount, 3u);
    EXPECT_EQ(s.slots[t.source].space, Space::global);
    for (uint32_t d : s.destinationsOf(t))
      EXPECT_EQ(s.slots[d].offset, s.slots[s.destinationsOf(t)[0]].offset);
  }
  // Readers in another cluster cannot be reached.
  p = problemFor(program, {64 * 40}, topology(4, 2));
  EXPECT_THAT(refusal(p), HasSubstr("different clusters"));
}

TEST(Transports, RefusesAScheduleThatHasThem) {
  Problem p = problemFor(splitReduce(true), {64 * 32}, topology(4));
  Schedule s = planned(p);
  EXPECT_THAT(selectTransports(p, {}, s).message(), HasSubstr("already"));
}

TEST(Memory, RequestedGlobal) {
  Program program = splitReduce(true);
  program.stages[0].requests.memory = StageRequests::Memory::global;
  Problem p = problemFor(program, {64 * 32}, topology(4, 4));
  Schedule s = planned(p);
  // Written in place: source and destination are one slot.
  for (const Transfer &t : s.transfers)
    if (s.slots[t.source].stage == 0) {
      EXPECT_EQ(t.transport, Transport::global);
      EXPECT_EQ(s.destinationsOf(t)[0], t.source);
    }
  EXPECT_THAT(refusal(p, travelling(Transport::clusterShared)),
              HasSubstr("requested to be in global memory"));
}

/// A request counts however many reshards lie between it and the stage.
TEST(Memory, RequestedBehindReshards) {
  Program program = reshardedReduce();
  program.stages[3].requests.memory = StageRequests::Memory::global;
  Schedule s = planned(problemFor(program, {64 * 32}, topology(4, 4)));
  unsigned found = 0;
  for (const Slot &slot : s.slots)
    if (slot.stage == 1) {
      EXPECT_EQ(slot.space, Space::global);
      ++found;
    }
  EXPECT_GE(found, 1u);
}

TEST(Slots, ReuseMemoryInProgramOrder) {
  // One CTA, many tasks: a slot lives until the finalize behind it.
  Problem p =
      problemFor(splitReduce(true), std::vector<int64_t>(50, 64), topology(1));
  Schedule s = planned(p);
  EXPECT_EQ(s.slots.size(), 50u);
  EXPECT_EQ(s.sharedBytes, p.program.stages[0].record.bytes());
  EXPECT_TRUE(s.releases.empty());
}

TEST(Slots, OverflowMovesToGlobal) {
  Program program = splitReduce(true);
  uint64_t bytes = program.stages[0].record.bytes();
  Problem p =
      problemFor(program, {64 * 32, 64 * 32}, topology(4, 1, bytes - 1));
  Decisions decisions;
  Schedule s = planned(p, {}, &decisions);
  for (const Slot &slot : s.slots)
    if (slot.stage == 0) {
      EXPECT_EQ(slot.space, Space::global);
    }
  EXPECT_EQ(s.globalBytes % 128, 0u);
  bool explained = false;
  for (const Decision &d : decisions)
    explained |= d.topic == "slots" && d.choice == "global";
  EXPECT_TRUE(explained);
  program.stages[0].requests.memory = StageRequests::Memory::shared;
  p = problemFor(program, {64 * 32, 64 * 32}, topology(4, 1, bytes - 1));
  EXPECT_THAT(refusal(p, {}, StatusCode::resourceExhausted),
              HasSubstr("its stage requests shared memory; live: nothing"));
}

/// A resident record stays in shared memory, or there is no plan.
TEST(Slots, ResidentRecordsDoNotMove) {
  Program program = splitReduce(true);
  uint64_t bytes = program.stages[0].record.bytes();
  program.stages[0].requests.resident = true;
  Problem p = problemFor(program, {64 * 32}, topology(4, 1, bytes - 1));
  EXPECT_THAT(refusal(p, {}, StatusCode::resourceExhausted),
              HasSubstr("its stage requests shared memory"));
}

/// Room for two records, three live: the error names those in the way.
TEST(Slots, OverflowNamesLiveSlots) {
  Program program = splitReduce(false);
  uint64_t bytes = program.stages[0].record.bytes();
  program.stages[0].requests.memory = StageRequests::Memory::shared;
  program.stages[0].requests.maxTiles = 1;
  Problem p = problemFor(program, {64 * 3}, topology(1, 1, 2 * bytes));
  std::string message = refusal(p, {}, StatusCode::resourceExhausted);
  EXPECT_THAT(message, HasSubstr("of stage 'map' needs"));
  EXPECT_THAT(message, HasSubstr("live: slot 0 ('map'"));
  EXPECT_THAT(message, HasSubstr("slot 1 ('map'"));
}

/// Peers that do not fit are served through global memory; a forced route is
/// refused instead.
TEST(Slots, PeersThatDoNotFit) {
  Program program = splitReduce(false);
  uint64_t bytes = program.stages[0].record.bytes();
  Problem p = problemFor(program, {64 * 40}, topology(4, 4, 2 * bytes));
  Schedule s = planned(p);
  EXPECT_GE(countTransfers(s, Transport::global), 1u);
  EXPECT_LE(s.sharedBytes, 2 * bytes);
  EXPECT_THAT(refusal(p, travelling(Transport::clusterShared),
                      StatusCode::resourceExhausted),
              HasSubstr("the requested transport needs more than"));
  program.stages[0].requests.transport = Transport::clusterShared;
  p = problemFor(program, {64 * 40}, topology(4, 4, 2 * bytes));
  EXPECT_THAT(refusal(p, {}, StatusCode::resourceExhausted),
              HasSubstr("transport cluster_shared is requested"));
}

/// Memory that a peer writes or reads is reused in random programs: the
/// releases are well formed, and most plans are refused without them (in the
/// others data happens to flow the same way).
TEST(Releases, OrderReuseBetweenPeers) {
  int with = 0, needed = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomLimits limits;
    limits.size = 5;
    RandomCase c = randomCase(seed, limits);
    c.topology = topology(8, 4, 1024);
    Expected<Problem> problem = instantiate(c.program, c.inputs, c.topology);
    ASSERT_TRUE(problem) << problem.status().message();
    Schedule s = planned(*problem);
    if (s.releases.empty())
      continue;
    ++with;
    EXPECT_TRUE(s.exitBarrier);
    std::vector<uint32_t> arrivals(s.barriers.size(), 0);
    for (const Release &release : s.releases) {
      ASSERT_LT(release.barrier, s.barriers.size());
      ++arrivals[release.barrier];
    }
    for (const Release &release : s.releases)
      EXPECT_EQ(arrivals[release.barrier],
                s.barriers[release.barrier].arrivals);
    s.releases.clear();
    needed += !verify(*problem, s);
  }
  EXPECT_GE(with, 10);
  EXPECT_GE(needed, with / 2);
}

TEST(Releases, NoneWithoutPeers) {
  Problem p =
      problemFor(splitReduce(true), {64 * 100, 64 * 3, 64 * 80}, topology(8));
  Schedule s = planned(p);
  EXPECT_TRUE(s.releases.empty());
  EXPECT_TRUE(s.barriers.empty());
}

TEST(Steps, RefuseBrokenSchedules) {
  Problem p = problemFor(splitReduce(true), {64 * 32}, topology(4));
  Expected<Schedule> made = scheduleStream(p, {});
  ASSERT_TRUE(made);
  Schedule s = *made;
  s.operands[0].slot = 999;
  EXPECT_THAT(selectTransports(p, {}, s).message(), HasSubstr("slot 999"));
  s = *made;
  s.queues[0].instructions.push_back(s.queues[1].instructions[0]);
  EXPECT_THAT(planSlots(p, s).message(), HasSubstr("is queued twice"));
  s = *made;
  std::swap(s.queues[0].instructions.front(), s.queues[0].instructions.back());
  std::swap(s.queues[1].instructions.front(), s.queues[1].instructions.back());
  EXPECT_EQ(selectTransports(p, {}, s).code(), StatusCode::deadlock);
}

TEST(Schedule, Equality) {
  Problem p = problemFor(splitReduce(true), {64 * 32}, topology(4, 2));
  Schedule a = planned(p), b = a;
  EXPECT_TRUE(a == b);
  b.slots.back().flag ^= 1;
  EXPECT_FALSE(a == b);
  b = a;
  b.operands[1].wait = !b.operands[1].wait;
  EXPECT_FALSE(a == b);
  b = a;
  b.queues.back().instructions.pop_back();
  EXPECT_FALSE(a == b);
}
