//===- PlanImageTest.cpp - Packing and reading plans ----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fixture plan-v1.dfplan is the packed hand-made schedule. It was written
// by this test with DATAFLOW_WRITE_FIXTURES=1, and is never written again:
// plans of version 1 must keep loading.
//
//===----------------------------------------------------------------------===//

#include "CRC32.h"
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
    static constexpr uint64_t kSizes[] = {16, 128, 16, 4,  48, 32,
                                          4,  32,  8,  32, 1};
    return sectionOffset(bytes, section) + entry * kSizes[section] + field;
  };
  auto expect = [](const std::string &message, const char *part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(refusal(bytes, 0, 1u), "magic");
  expect(refusal(bytes, 4, 2u), "version is 2");
  expect(refusal(bytes, 8, uint64_t(1)), "total_bytes is 1");
  expect(refusal(bytes, 24, 4u), "flags is 4");
  expect(refusal(bytes, 28, 0u), "topology");
  expect(refusal(bytes, 32, 3u), "topology");
  expect(refusal(bytes, 72, 100000u), "program_name");
  expect(refusal(bytes, 84, 1u), "reserved0");
  expect(refusal(bytes, 300, uint8_t(1)), "reserved1");
  expect(refusal(bytes, 88, uint64_t(64)), "offset of section queues");
  expect(refusal(bytes, 96, 9u), "count of section queues");
  expect(refusal(bytes, at(DFRT_SECTION_QUEUES, 0, 12), 1u),
         "queues[0].reserved");
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
  expect(refusal(bytes, at(DFRT_SECTION_OPERANDS, 1, 8), 2u),
         "operands[1].flags");
  expect(refusal(bytes, at(DFRT_SECTION_SLOTS, 2, 0), uint64_t(1) << 40),
         "slots[2].offset");
  expect(refusal(bytes, at(DFRT_SECTION_SLOTS, 2, 8), uint64_t(64)),
         "slots[2].bytes");
  expect(refusal(bytes, at(DFRT_SECTION_SLOTS, 2, 28), 77u),
         "slots[2].barrier is 77");
  expect(refusal(bytes, at(DFRT_SECTION_TRANSFERS, 0, 4), 9u),
         "transfers[0].transport");
  expect(refusal(bytes, at(DFRT_SECTION_TRANSFERS, 0, 24), uint64_t(1)),
         "transfers[0] byte 24");
  expect(refusal(bytes, at(DFRT_SECTION_BARRIERS, 1, 4), 0u),
         "barriers[1].arrivals");
  expect(refusal(bytes, at(DFRT_SECTION_STAGES, 0, 4), 4u), "stages[0].kind");
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

TEST(PlanImage, FixtureOfVersion1KeepsLoading) {
  std::string path = std::string(DATAFLOW_TEST_FIXTURES) + "/plan-v1.dfplan";
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
