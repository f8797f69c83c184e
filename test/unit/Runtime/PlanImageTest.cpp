//===- PlanImageTest.cpp - Packing and reading plans ----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fixture plan-v2.dfplan is the packed hand-made schedule. It was written
// by this test with DATAFLOW_WRITE_FIXTURES=1, and is never written again:
// plans of version 2 must keep loading.
//
//===----------------------------------------------------------------------===//

#include "CRC32.h"
#include "CountAllocations.h"
#include "TestPrograms.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>

using namespace dfrt;
using namespace dfrt::test;

namespace {
using Bytes = std::vector<uint8_t>;

bool samePlaces(const PlanImage &a, const PlanImage &b) {
  if (a.places.size() != b.places.size())
    return false;
  for (size_t i = 0; i < a.places.size(); ++i)
    if (a.places[i].coordinates != b.places[i].coordinates ||
        a.places[i].rangeBegin != b.places[i].rangeBegin ||
        a.places[i].rangeEnd != b.places[i].rangeEnd)
      return false;
  return true;
}

bool same(const PlanImage &a, const PlanImage &b) {
  if (a.program != b.program || a.fingerprint != b.fingerprint ||
      a.topology.ctas != b.topology.ctas ||
      a.topology.clusterSize != b.topology.clusterSize ||
      a.topology.sharedBytes != b.topology.sharedBytes ||
      a.topology.reservedBytes != b.topology.reservedBytes ||
      a.stages.size() != b.stages.size())
    return false;
  for (size_t i = 0; i < a.stages.size(); ++i)
    if (a.stages[i].name != b.stages[i].name ||
        a.stages[i].kind != b.stages[i].kind ||
        a.stages[i].headBytes != b.stages[i].headBytes ||
        a.stages[i].sliceBytes != b.stages[i].sliceBytes ||
        a.stages[i].slices != b.stages[i].slices)
      return false;
  return a.schedule == b.schedule && samePlaces(a, b);
}

PlanImage handImage() {
  TestCase test = raggedCase({8, 8});
  return makePlanImage(test.problem(handTopology()), handSchedule(false));
}

Bytes pack(const PlanImage &image) {
  Expected<Bytes> bytes = packPlan(image, exactMaxima(image));
  EXPECT_TRUE(bool(bytes)) << bytes.status().message();
  return *bytes;
}

void fixChecksum(Bytes &bytes) {
  uint64_t hole = offsetof(dfrt_plan_header, checksum);
  if (bytes.size() < hole + 4)
    return;
  uint32_t checksum = crc32WithHole(bytes.data(), bytes.size(), hole);
  std::memcpy(bytes.data() + hole, &checksum, 4);
}

/// The message of reading `bytes` with `change` made to its first T at
/// `offset`.
template <typename T>
std::string refusal(Bytes bytes, uint64_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
  fixChecksum(bytes);
  Expected<PlanImage> image = readPlan(bytes.data(), bytes.size());
  EXPECT_FALSE(bool(image));
  EXPECT_EQ(image.status().code(), StatusCode::invalidFile);
  return image.status().message();
}

uint64_t sectionOffset(const Bytes &bytes, uint32_t section) {
  dfrt_plan_header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return header.sections[section].offset;
}
} // namespace

TEST(CRC32, TreatsTheHoleAsZeros) {
  // The CRC-32 of four zero bytes, and of "12345" with four zeros behind.
  const uint8_t zeros[4] = {};
  EXPECT_EQ(crc32WithHole(zeros, 4, 0), 0x2144df1cu);
  const uint8_t text[] = "12345abcd";
  const uint8_t blank[] = "12345\0\0\0\0";
  EXPECT_EQ(crc32WithHole(text, 9, 5), crc32WithHole(blank, 9, 5));
}

// Against the definition, bit by bit, at every alignment of the hole and for
// lengths on both sides of the block sizes.
TEST(CRC32, LongBuffers) {
  Bytes bytes(700);
  std::mt19937 random(5);
  for (uint8_t &byte : bytes)
    byte = uint8_t(random());
  for (uint64_t size : {4, 63, 64, 65, 67, 127, 128, 132, 255, 320, 697, 700})
    for (uint64_t hole = 0; hole + 4 <= size; hole += 1 + size / 97) {
      uint32_t crc = 0xffffffffu;
      for (uint64_t i = 0; i < size; ++i) {
        crc ^= i >= hole && i < hole + 4 ? 0 : bytes[i];
        for (int bit = 0; bit < 8; ++bit)
          crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
      }
      ASSERT_EQ(crc32WithHole(bytes.data(), size, hole), ~crc)
          << size << " " << hole;
    }
}

TEST(PlanImage, HandMadeScheduleIsLegal) {
  TestCase test = raggedCase({8, 8});
  Problem problem = test.problem(handTopology());
  Status status = verify(problem, handSchedule(false));
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(PlanImage, RoundTripIsLossless) {
  for (const char *solver : {"stream", "longest-first", "tickets"})
    for (uint32_t cluster : {1u, 4u}) {
      TestCase test = raggedCase({3, 0, 100, 17, 1});
      Topology topology;
      topology.ctas = 12;
      topology.clusterSize = cluster;
      Problem problem = test.problem(topology);
      ScheduleOptions options;
      options.solver = solver;
      Expected<Schedule> schedule = makeSchedule(problem, options);
      ASSERT_TRUE(bool(schedule)) << schedule.status().message();
      PlanImage image = makePlanImage(problem, *schedule);
      Bytes bytes = pack(image);
      Expected<PlanImage> read = readPlan(bytes.data(), bytes.size());
      ASSERT_TRUE(bool(read)) << read.status().message();
      EXPECT_TRUE(same(image, *read));
      EXPECT_EQ(pack(*read), bytes);
    }
}

/// The same bytes without an image, into a buffer that held something else, and
/// the second time without touching the heap.
TEST(PlanImage, PackerPacksTheSameBytes) {
  for (const char *solver : {"stream", "longest-first", "tickets"})
    for (uint32_t cluster : {1u, 4u})
      for (bool roomy : {false, true}) {
        TestCase test = raggedCase({3, 0, 100, 17, 1, 900, 40});
        Topology topology;
        topology.ctas = 12;
        topology.clusterSize = cluster;
        Problem problem = test.problem(topology);
        ScheduleOptions options;
        options.solver = solver;
        Expected<Schedule> schedule = makeSchedule(problem, options);
        ASSERT_TRUE(bool(schedule)) << schedule.status().message();
        PlanImage image = makePlanImage(problem, *schedule);
        PlanMaxima maxima = exactMaxima(image);
        for (uint32_t &capacity : maxima.capacity)
          capacity += roomy ? 7 : 0;
        if (roomy)
          maxima.capacity[DFRT_SECTION_INSTRUCTIONS] += 7;
        Expected<Bytes> expected = packPlan(image, maxima);
        ASSERT_TRUE(bool(expected)) << expected.status().message();
        PlanPacker packer(problem.program);
        Bytes bytes;
        ASSERT_TRUE(packer.pack(problem, *schedule, bytes, &maxima));
        std::fill(bytes.begin(), bytes.end(), uint8_t(0xa5));
#ifdef NDEBUG
        uint64_t before = allocationCount();
        Status again = packer.pack(problem, *schedule, bytes, &maxima);
        EXPECT_EQ(allocationCount(), before);
#else
        Status again = packer.pack(problem, *schedule, bytes, &maxima);
#endif
        ASSERT_TRUE(again) << again.message();
        EXPECT_EQ(bytes, *expected);
      }
}

TEST(PlanImage, PackerRefusesWhatDoesNotFit) {
  TestCase test = raggedCase({3, 0, 100});
  Problem problem = test.problem(handTopology());
  Expected<Schedule> schedule = makeSchedule(problem, {});
  ASSERT_TRUE(bool(schedule));
  PlanPacker packer(problem.program);
  Bytes bytes;
  PlanMaxima none;
  EXPECT_EQ(packer.pack(problem, *schedule, bytes, &none).code(),
            StatusCode::resourceExhausted);
  Program broken = problem.program;
  broken.name = std::string("a\0b", 3);
  EXPECT_EQ(PlanPacker(broken).pack(problem, *schedule, bytes).message(),
            "plan: program name contains a zero byte");
}

TEST(PlanImage, CapacityIsFilledWithExits) {
  PlanImage image = handImage();
  PlanMaxima maxima = exactMaxima(image);
  for (uint32_t &capacity : maxima.capacity)
    capacity += 5;
  maxima.capacity[DFRT_SECTION_INSTRUCTIONS] += 5; // heads of the queues
  Expected<Bytes> bytes = packPlan(image, maxima);
  ASSERT_TRUE(bool(bytes)) << bytes.status().message();
  EXPECT_EQ(bytes->size(), requiredBytes(maxima));
  auto record = [&](uint64_t index) {
    dfrt_instruction instruction;
    std::memcpy(&instruction,
                bytes->data() +
                    sectionOffset(*bytes, DFRT_SECTION_INSTRUCTIONS) +
                    index * sizeof(instruction),
                sizeof(instruction));
    return instruction;
  };
  // Two queues of four instructions and an EXIT each, heads first.
  EXPECT_EQ(record(0).opcode, DFRT_CALL);
  EXPECT_EQ(record(0).identity, image.schedule.queues[0].instructions[0]);
  EXPECT_EQ(record(1).identity, image.schedule.queues[1].instructions[0]);
  for (uint64_t head = 2; head < 7; ++head)
    EXPECT_EQ(record(head).opcode, DFRT_EXIT);
  EXPECT_EQ(record(7).identity, image.schedule.queues[0].instructions[1]);
  EXPECT_EQ(record(10).opcode, DFRT_EXIT);
  EXPECT_EQ(record(11).identity, image.schedule.queues[1].instructions[1]);
  EXPECT_EQ(record(14).opcode, DFRT_EXIT);
  Expected<PlanImage> read = readPlan(bytes->data(), bytes->size());
  ASSERT_TRUE(bool(read)) << read.status().message();
  EXPECT_TRUE(same(image, *read));
  Expected<Bytes> again = packPlan(*read, maxima);
  ASSERT_TRUE(bool(again));
  EXPECT_EQ(*again, *bytes);
}

TEST(PlanImage, TooSmallSectionIsNamed) {
  PlanImage image = handImage();
  PlanMaxima maxima = exactMaxima(image);
  maxima.capacity[DFRT_SECTION_SLOTS] = 7;
  Expected<Bytes> bytes = packPlan(image, maxima);
  ASSERT_FALSE(bool(bytes));
  EXPECT_EQ(bytes.status().code(), StatusCode::resourceExhausted);
  EXPECT_EQ(bytes.status().message(),
            "plan: section slots needs 8 entries, but has room for 7");
}

TEST(PlanImage, TheWriterRefusesWhatTheReaderWould) {
  auto refusal = [](auto change) {
    PlanImage image = handImage();
    change(image, image.schedule);
    Expected<Bytes> bytes = packPlan(image, exactMaxima(image));
    EXPECT_FALSE(bool(bytes));
    EXPECT_EQ(bytes.status().code(), StatusCode::invalidArgument);
    return bytes.status().message();
  };
  using I = PlanImage;
  using S = Schedule;
  EXPECT_EQ(refusal([](I &, S &s) { s.slots[3].space = Space::unplaced; }),
            "plan: slots[3].space is 0, but must be shared or global");
  EXPECT_EQ(refusal([](I &, S &s) { s.slots[1].offset = 8; }),
            "plan: slots[1].offset is 8, not a multiple of 16");
  EXPECT_EQ(refusal([](I &, S &s) { s.slots[2].flag = 0; }),
            "plan: slots[2].flag is 0, but must be below 0");
  EXPECT_EQ(refusal([](I &, S &s) { s.flags = 0xffffffff; }),
            "plan: global_flags is 4294967295, but there are only 8 slots to "
            "have one");
  EXPECT_EQ(refusal([](I &, S &s) { s.sharedBytes = 1 << 20; }),
            "plan: shared_bytes is 1048576, but a cta has only 232448");
  EXPECT_EQ(refusal([](I &, S &s) { s.queues[1].cta = 0; }),
            "plan: queues[1].cta is 0, which has another queue");
  EXPECT_EQ(refusal([](I &, S &s) { s.queues[1].instructions.pop_back(); }),
            "plan: instruction 7 is in no queue");
  EXPECT_EQ(refusal([](I &, S &s) { s.queues[1].instructions[0] = 0; }),
            "plan: instruction 0 is in a queue twice");
  EXPECT_EQ(refusal([](I &i, S &) { i.places[2].coordinates[0] = -1; }),
            "plan: instructions[2].coordinates has -1, which is not in 0 to "
            "2^31-1");
  EXPECT_EQ(refusal([](I &i, S &) { i.places.pop_back(); }),
            "plan: places: 7 for 8 instructions");
  EXPECT_EQ(refusal([](I &, S &s) {
              s.transfers[1].transport = Transport::automatic;
            }),
            "plan: transfers[1].transport is 0, but must be 1 to 4");
  EXPECT_EQ(refusal([](I &, S &s) { s.transfers[1].destinationCount = 0; }),
            "plan: transfers[1].destination_count is 0");
  EXPECT_EQ(refusal([](I &, S &s) { s.destinations[0] = 3; }),
            "plan: transfers[0]: slot 3 holds stage 1, but the source holds "
            "stage 0");
  EXPECT_EQ(refusal([](I &, S &s) { s.slots[1].sliceEnd = 2; }),
            "plan: transfers[0]: slot 6 holds slices 0 to 4, the source only "
            "0 to 2");
  EXPECT_EQ(refusal([](I &, S &s) { s.releases.push_back({0, 1, 2, 1, 0}); }),
            "plan: releases[0].barrier is 1 of cta 1, but must be of cta 0");
  EXPECT_EQ(refusal([](I &, S &s) { s.releases.push_back({0, 1, 9}); }),
            "plan: releases[0].to is 9, but must be below 8");
  EXPECT_EQ(refusal([](I &, S &s) { s.barriers[1].arrivals = 0; }),
            "plan: barriers[1].arrivals is 0");
}

TEST(PlanImage, EmptyBatchPacks) {
  TestCase test = raggedCase({});
  Problem problem = test.problem(Topology());
  Expected<Schedule> schedule = makeSchedule(problem, {});
  ASSERT_TRUE(bool(schedule)) << schedule.status().message();
  Bytes bytes = pack(makePlanImage(problem, *schedule));
  Expected<PlanImage> read = readPlan(bytes.data(), bytes.size());
  ASSERT_TRUE(bool(read)) << read.status().message();
  EXPECT_TRUE(read->schedule.instructions.empty());
}

TEST(PlanImage, WrongFieldsAreNamed) {
  Bytes bytes = pack(handImage());
  auto at = [&](uint32_t section, uint64_t entry, uint64_t field) {
    static constexpr uint64_t kSizes[] = {32, 128, 32, 16, 48, 48,
                                          32, 32,  8,  32, 1,  8};
    return sectionOffset(bytes, section) + entry * kSizes[section] + field;
  };
  auto expect = [](const std::string &message, const char *part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(refusal(bytes, 0, 1u), "magic");
  expect(refusal(bytes, 4, 1u), "version is 1, but this library reads 2");
  expect(refusal(bytes, 8, uint64_t(1)), "total_bytes is 1");
  expect(refusal(bytes, 24, 4u), "flags is 4");
  expect(refusal(bytes, 28, 0u), "topology");
  expect(refusal(bytes, 32, 3u), "topology");
  expect(refusal(bytes, 72, 100000u), "program_name");
  expect(refusal(bytes, 84, 1u), "reserved0");
  expect(refusal(bytes, 300, uint8_t(1)), "reserved1");
  expect(refusal(bytes, 88, uint64_t(64)), "offset of section queues");
  expect(refusal(bytes, 96, 9u), "count of section queues");
  expect(refusal(bytes, at(DFRT_SECTION_QUEUES, 0, 20), 1u),
         "queues[0].reserved");
  expect(refusal(bytes, at(DFRT_SECTION_QUEUES, 1, 0), 0u), "queues[1].cta");
  expect(refusal(bytes, at(DFRT_SECTION_QUEUES, 1, 12), 0u),
         "queues[1] has 1 barriers from 0 of 2, expected from 1");
  expect(refusal(bytes, at(DFRT_SECTION_QUEUES, 1, 16), 2u),
         "queues[1] has 2 barriers");
  expect(refusal(bytes, at(DFRT_SECTION_QUEUES, 1, 16), 0u),
         "count of section barriers is 2, but the queues have 1");
  expect(refusal(bytes, at(DFRT_SECTION_QUEUES, 1, 8), 9999u),
         "queues[1].rest");
  expect(refusal(bytes, at(DFRT_SECTION_INSTRUCTIONS, 0, 0), uint16_t(2)),
         "instructions[0].opcode");
  expect(refusal(bytes, at(DFRT_SECTION_INSTRUCTIONS, 0, 2), uint16_t(8)),
         "instructions[0].flags");
  expect(refusal(bytes, at(DFRT_SECTION_INSTRUCTIONS, 0, 4), uint16_t(7)),
         "stage is 7");
  expect(refusal(bytes, at(DFRT_SECTION_INSTRUCTIONS, 0, 68), 1000u),
         "operands covers 1000");
  expect(refusal(bytes, at(DFRT_SECTION_INSTRUCTIONS, 0, 112), 1u),
         "instructions[0].reserved");
  expect(refusal(bytes, at(DFRT_SECTION_INSTRUCTIONS, 0, 84), 3u),
         "instructions[0] byte 84");
  expect(refusal(bytes, at(DFRT_SECTION_OPERANDS, 1, 0), 99u),
         "operands[1].slot is 99");
  expect(refusal(bytes, at(DFRT_SECTION_OPERANDS, 1, 8), uint16_t(2)),
         "operands[1].flags");
  expect(refusal(bytes, at(DFRT_SECTION_OPERANDS, 1, 14), uint16_t(2)),
         "operands[1].reserved");
  expect(refusal(bytes, at(DFRT_SECTION_SLOTS, 2, 0), uint64_t(1) << 40),
         "slots[2].offset");
  expect(refusal(bytes, at(DFRT_SECTION_SLOTS, 2, 8), uint64_t(64)),
         "slots[2].bytes");
  expect(refusal(bytes, at(DFRT_SECTION_SLOTS, 2, 28), 77u),
         "slots[2].barrier is 77, but must be below 1");
  expect(refusal(bytes, at(DFRT_SECTION_TRANSFERS, 0, 4), uint16_t(9)),
         "transfers[0].transport");
  expect(refusal(bytes, at(DFRT_SECTION_TRANSFERS, 0, 44), 1u),
         "transfers[0].reserved");
  expect(refusal(bytes, at(DFRT_SECTION_DESTINATIONS, 1, 28), 1u),
         "destinations[1].reserved");
  expect(refusal(bytes, at(DFRT_SECTION_TRANSFERS, 0, 24), uint64_t(1)),
         "transfers[0] byte 24");
  expect(refusal(bytes, at(DFRT_SECTION_BARRIERS, 1, 0), 0u),
         "barriers[1].arrivals");
  expect(refusal(bytes, at(DFRT_SECTION_BARRIERS, 1, 4), 0u),
         "barriers[1].identity");
  expect(refusal(bytes, at(DFRT_SECTION_STAGES, 0, 4), 4u), "stages[0].kind");
}

// What a device reads instead of the slot is tested against the slot.
TEST(PlanImage, WrongCopiesAreRefused) {
  Bytes bytes = pack(handImage());
  auto expectByte = [&](uint32_t section, uint64_t field) {
    uint64_t offset = sectionOffset(bytes, section) + field;
    std::string message = refusal(bytes, offset, uint8_t(bytes[offset] ^ 16));
    EXPECT_NE(message.find("[0] byte " + std::to_string(field) + " is "),
              std::string::npos)
        << message;
  };
  for (uint64_t field : {10, 12, 16, 24, 28})
    expectByte(DFRT_SECTION_OPERANDS, field);
  for (uint64_t field : {4, 6, 8})
    expectByte(DFRT_SECTION_OUTPUTS, field);
  for (uint64_t field : {6, 32, 40, 42})
    expectByte(DFRT_SECTION_TRANSFERS, field);
  for (uint64_t field : {4, 8, 16, 20, 22})
    expectByte(DFRT_SECTION_DESTINATIONS, field);
}

TEST(PlanImage, CopiesAreThoseOfTheSlot) {
  PlanImage image = handImage();
  Bytes bytes = pack(image);
  auto entry = [&](auto record, uint32_t section, uint64_t index) {
    std::memcpy(&record,
                bytes.data() + sectionOffset(bytes, section) +
                    index * sizeof(record),
                sizeof(record));
    return record;
  };
  // CTA 1's merge reads the slot that arrives from CTA 0 first, then its own.
  const Instruction &merge = image.schedule.instructions[6];
  auto arrived =
      entry(dfrt_operand(), DFRT_SECTION_OPERANDS, merge.firstOperand);
  EXPECT_EQ(arrived.slot, 6u);
  EXPECT_EQ(arrived.flags, DFRT_OPERAND_WAIT);
  EXPECT_EQ(arrived.space, DFRT_SPACE_SHARED);
  EXPECT_EQ(arrived.offset, 2u * 96);
  EXPECT_EQ(arrived.signal, 0u); // of CTA 1, though barrier 1 of the schedule
  auto own =
      entry(dfrt_operand(), DFRT_SECTION_OPERANDS, merge.firstOperand + 1);
  EXPECT_EQ(own.slot, 4u);
  EXPECT_EQ(own.signal, DFRT_NONE);
  auto output = entry(dfrt_output(), DFRT_SECTION_OUTPUTS, merge.firstOutput);
  EXPECT_EQ(output.slot, 7u);
  EXPECT_EQ(output.offset, 3u * 96);
  auto transfer = entry(dfrt_transfer(), DFRT_SECTION_TRANSFERS, 0);
  EXPECT_EQ(transfer.source, 1u);
  EXPECT_EQ(transfer.source_offset, 96u);
  EXPECT_EQ(transfer.cluster_mask, 2u);
  auto destination = entry(dfrt_destination(), DFRT_SECTION_DESTINATIONS, 0);
  EXPECT_EQ(destination.slot, 6u);
  EXPECT_EQ(destination.cta, 1u);
  EXPECT_EQ(destination.offset, 2u * 96);
  EXPECT_EQ(destination.signal, 0u);
}

// Queues are those of the CTAs and barriers lie CTA by CTA, whatever the order
// in the schedule; barriers come back in the order they had.
TEST(PlanImage, QueuesAndBarriersAreSorted) {
  TestCase test = raggedCase({8, 8});
  Topology topology = handTopology();
  topology.ctas *= 2;
  Schedule schedule = handSchedule(false);
  PlanImage plain = makePlanImage(test.problem(topology), schedule);
  std::swap(schedule.queues[0], schedule.queues[1]);
  schedule.barriers = {{1, 1}, {0, 3}, {0, 1}, {2, 5}};
  for (Slot &slot : schedule.slots)
    if (slot.barrier != kNone)
      slot.barrier = slot.cta == 0 ? 2 : 0;
  PlanImage image = makePlanImage(test.problem(topology), schedule);
  Bytes bytes = pack(image);
  auto queue = [&](uint64_t index) {
    dfrt_queue queue;
    std::memcpy(&queue,
                bytes.data() + sizeof(dfrt_plan_header) + index * sizeof(queue),
                sizeof(queue));
    return queue;
  };
  uint32_t ctas = topology.ctas;
  ASSERT_EQ(ctas, 4u);
  const uint32_t expected[][5] = {{0, 4, ctas, 0, 2},
                                  {1, 4, ctas + 4, 2, 1},
                                  {2, 0, ctas + 8, 3, 1},
                                  {3, 0, ctas + 8, 4, 0}};
  for (uint32_t q = 0; q < ctas; ++q) {
    EXPECT_EQ(queue(q).cta, expected[q][0]);
    EXPECT_EQ(queue(q).count, expected[q][1]);
    EXPECT_EQ(queue(q).rest, expected[q][2]);
    EXPECT_EQ(queue(q).first_barrier, expected[q][3]);
    EXPECT_EQ(queue(q).barrier_count, expected[q][4]);
  }
  // CTA 0's barrier 1 is barrier 2 of the schedule.
  dfrt_slot slot;
  std::memcpy(&slot,
              bytes.data() + sectionOffset(bytes, DFRT_SECTION_SLOTS) +
                  2 * sizeof(slot),
              sizeof(slot));
  EXPECT_EQ(slot.barrier, 1u);

  Expected<PlanImage> read = readPlan(bytes.data(), bytes.size());
  ASSERT_TRUE(bool(read)) << read.status().message();
  // Idle CTAs have queues in a plan.
  std::swap(image.schedule.queues[0], image.schedule.queues[1]);
  image.schedule.queues.push_back({2, {}});
  image.schedule.queues.push_back({3, {}});
  EXPECT_TRUE(same(image, *read));
  EXPECT_EQ(pack(*read), bytes);
}

TEST(PlanImage, DrawsLieTogether) {
  TestCase test = raggedCase({40, 0, 100, 17, 1});
  Topology topology;
  topology.ctas = 4;
  Problem problem = test.problem(topology);
  ScheduleOptions options;
  options.solver = "tickets";
  Expected<Schedule> schedule = makeSchedule(problem, options);
  ASSERT_TRUE(bool(schedule)) << schedule.status().message();
  // Let a draw have more than one instruction, whatever the solver does.
  std::vector<uint32_t> &list = schedule->queues[0].instructions;
  ASSERT_GT(list.size(), 3u);
  schedule->instructions[list[1]].draw = false;
  PlanImage image = makePlanImage(problem, *schedule);
  PlanMaxima maxima = exactMaxima(image);
  maxima.capacity[DFRT_SECTION_QUEUES] += 2;
  maxima.capacity[DFRT_SECTION_INSTRUCTIONS] += 2;
  Expected<Bytes> bytes = packPlan(image, maxima);
  ASSERT_TRUE(bool(bytes)) << bytes.status().message();
  dfrt_plan_header header;
  std::memcpy(&header, bytes->data(), sizeof(header));
  auto instruction = [&](uint64_t index) {
    dfrt_instruction record;
    std::memcpy(&record,
                bytes->data() +
                    sectionOffset(*bytes, DFRT_SECTION_INSTRUCTIONS) +
                    index * sizeof(record),
                sizeof(record));
    return record;
  };
  EXPECT_EQ(header.sections[DFRT_SECTION_QUEUES].count, 1u);
  for (uint64_t fixed = 0; fixed < 3; ++fixed)
    EXPECT_EQ(instruction(fixed).opcode, DFRT_EXIT);
  uint32_t draws = header.sections[DFRT_SECTION_DRAWS].count;
  uint32_t next = 3, k = 0;
  for (uint32_t d = 0; d < draws; ++d) {
    dfrt_draw draw;
    std::memcpy(&draw,
                bytes->data() + sectionOffset(*bytes, DFRT_SECTION_DRAWS) +
                    d * sizeof(draw),
                sizeof(draw));
    EXPECT_EQ(draw.first, next);
    next += draw.count;
    for (uint32_t i = 0; i < draw.count; ++i, ++k) {
      EXPECT_EQ(instruction(draw.first + i).identity, list[k]);
      EXPECT_EQ(instruction(draw.first + i).flags,
                i == 0 ? DFRT_INSTRUCTION_DRAW : 0u);
    }
  }
  EXPECT_EQ(k, list.size());
  EXPECT_EQ(instruction(next).opcode, DFRT_EXIT);
  Expected<PlanImage> read = readPlan(bytes->data(), bytes->size());
  ASSERT_TRUE(bool(read)) << read.status().message();
  EXPECT_TRUE(same(image, *read));

  uint64_t first = sectionOffset(*bytes, DFRT_SECTION_DRAWS);
  EXPECT_NE(refusal(*bytes, first + 4, 1u).find("draws[0] byte 4"),
            std::string::npos);
}

TEST(PlanImage, BarriersOfATicketPlanAreRefused) {
  PlanImage image = handImage();
  image.schedule.discipline = Discipline::ticket;
  Expected<Bytes> bytes = packPlan(image, exactMaxima(image));
  ASSERT_FALSE(bool(bytes));
  EXPECT_EQ(bytes.status().message(),
            "plan: barriers: a ticket plan has none, not 2");
}

TEST(PlanImage, EveryTruncationIsRefused) {
  Bytes bytes = pack(handImage());
  for (size_t size = 0; size < bytes.size(); ++size) {
    Bytes cut(bytes.begin(), bytes.begin() + ptrdiff_t(size));
    Expected<PlanImage> image = readPlan(cut.data(), cut.size());
    ASSERT_FALSE(bool(image)) << size;
    ASSERT_EQ(image.status().code(), StatusCode::invalidFile);
    // And with a checksum that fits.
    fixChecksum(cut);
    ASSERT_FALSE(bool(readPlan(cut.data(), cut.size()))) << size;
  }
}

TEST(PlanImage, FlippedBytesAreRefusedOrReadEqual) {
  PlanImage image = handImage();
  Bytes bytes = pack(image);
  std::mt19937 random(1);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    Bytes flipped = bytes;
    for (int n = 1 + int(random() % 3); n > 0; --n)
      flipped[random() % bytes.size()] ^= uint8_t(1 + random() % 255);
    // A flip that the checksum does not know is always caught by it.
    if (flipped != bytes) {
      ASSERT_FALSE(bool(readPlan(flipped.data(), flipped.size())));
    }
    fixChecksum(flipped);
    Expected<PlanImage> read = readPlan(flipped.data(), flipped.size());
    if (!read)
      continue;
    // What is accepted is a plan: it packs to the very same bytes.
    ++accepted;
    dfrt_plan_header header;
    std::memcpy(&header, flipped.data(), sizeof(header));
    PlanMaxima maxima;
    for (uint32_t s = 0; s < DFRT_SECTION_COUNT; ++s)
      maxima.capacity[s] = header.sections[s].capacity;
    Expected<Bytes> again = packPlan(*read, maxima);
    ASSERT_TRUE(bool(again));
    ASSERT_EQ(*again, flipped);
  }
  EXPECT_GT(accepted, 0); // names, lengths and tasks may be anything
}

TEST(PlanImage, FixtureOfVersion2KeepsLoading) {
  std::string path = std::string(DATAFLOW_TEST_FIXTURES) + "/plan-v2.dfplan";
  if (std::getenv("DATAFLOW_WRITE_FIXTURES")) {
    Bytes bytes = pack(handImage());
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()),
               std::streamsize(bytes.size()));
  }
  std::ifstream file(path, std::ios::binary);
  Bytes bytes(std::istreambuf_iterator<char>(file), {});
  Expected<PlanImage> image = readPlan(bytes.data(), bytes.size());
  ASSERT_TRUE(bool(image)) << image.status().message();
  EXPECT_EQ(image->program, "ragged");
  EXPECT_TRUE(image->schedule == handSchedule(false));
  EXPECT_EQ(pack(*image), bytes);
}
