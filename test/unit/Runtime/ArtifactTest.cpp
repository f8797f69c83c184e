//===- ArtifactTest.cpp - Writing and reading artifacts -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CRC32.h"
#include "TestPrograms.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>

using namespace dfrt;
using namespace dfrt::test;

namespace {
using Bytes = std::vector<uint8_t>;

/// A case whose blobs are small, so that flips often hit the tables.
Artifact smallArtifact() {
  Artifact artifact = routeCase(3, {0, 1, 2, 0}).artifact;
  for (CodeBlob &blob : artifact.code)
    blob.bytes = {0x7f, 'E', 'L', 'F', 1, 2, 3};
  return artifact;
}

Bytes write(const Artifact &artifact) {
  Expected<Bytes> bytes = writeArtifact(artifact);
  EXPECT_TRUE(bool(bytes)) << bytes.status().message();
  return *bytes;
}

std::string refusal(const Artifact &artifact) {
  Bytes bytes = write(artifact);
  Expected<Artifact> read = readArtifact(bytes.data(), bytes.size());
  EXPECT_FALSE(bool(read));
  EXPECT_EQ(read.status().code(), StatusCode::invalidFile);
  return read.status().message();
}
} // namespace

TEST(Artifact, RoundTripKeepsEverything) {
  for (const Artifact &artifact :
       {raggedCase({5, 0, 9}).artifact, boundedCase({5}).artifact,
        spreadCase({3}).artifact, routeCase(2, {0, 1, -1, 0}).artifact}) {
    Bytes bytes = write(artifact);
    EXPECT_EQ(std::string(bytes.begin() + 4, bytes.begin() + 8), "DFAR");
    EXPECT_EQ(write(artifact), bytes);
    Expected<Artifact> read = readArtifact(bytes.data(), bytes.size());
    ASSERT_TRUE(bool(read)) << read.status().message();
    EXPECT_EQ(read->program.fingerprint(), artifact.program.fingerprint());
    EXPECT_EQ(read->producer, "test");
    ASSERT_EQ(read->code.size(), 2u);
    EXPECT_EQ(read->code[1].kind, CodeBlob::Kind::cpuReference);
    EXPECT_EQ(read->code[0].bytes, artifact.code[0].bytes);
    EXPECT_EQ(read->code[0].functions[3].scratchBytes, 72u);
    EXPECT_EQ(read->program.stages[0].variants[0].symbol,
              artifact.program.stages[0].variants[0].symbol);
    // Writing again gives the same bytes, so nothing was lost.
    EXPECT_EQ(write(*read), bytes);
  }
}

TEST(Artifact, UnalignedBytesAreRead) {
  Bytes bytes = write(smallArtifact());
  bytes.insert(bytes.begin(), 0);
  EXPECT_TRUE(bool(readArtifact(bytes.data() + 1, bytes.size() - 1)));
}

TEST(Artifact, WrongFieldsAreNamed) {
  Artifact artifact = smallArtifact();
  artifact.program.stages[0].record.headBytes += 16;
  EXPECT_EQ(refusal(artifact), "artifact: stages[0].record.head_bytes is 112, "
                               "expected 96");
  artifact = smallArtifact();
  artifact.program.arguments[1].element = ElementType(11);
  EXPECT_EQ(refusal(artifact),
            "artifact: arguments[1].element is 11, but must be at most 10");
  artifact = smallArtifact();
  artifact.program.stages[2].kind = StageKind(9);
  EXPECT_EQ(refusal(artifact),
            "artifact: stages[2].kind is 9, but must be at most 3");
  artifact = smallArtifact();
  artifact.program.stages[3].variants[0].symbol = "missing";
  EXPECT_EQ(refusal(artifact),
            "artifact: code[0].functions lacks 'missing' of stage 'put'");
  artifact = smallArtifact();
  artifact.program.stages[0].variants[0].kind = Variant::Kind(5);
  EXPECT_EQ(refusal(artifact),
            "artifact: stages[0].variants[0].kind is 5, but must be at most 4");
  artifact = smallArtifact();
  artifact.program.stages[1].rekey.argument = 7;
  EXPECT_NE(refusal(artifact).find("artifact: program: "), std::string::npos);
}

// Version 1 had neither kernels nor LLVM IR; its files keep being read. This
// one was written by that version and is never written again.
TEST(Artifact, FixtureOfVersion1KeepsLoading) {
  std::ifstream file(DATAFLOW_TEST_FIXTURES "/artifact-v1.dfart",
                     std::ios::binary);
  Bytes bytes(std::istreambuf_iterator<char>(file), {});
  Expected<Artifact> read = readArtifact(bytes.data(), bytes.size());
  ASSERT_TRUE(bool(read)) << read.status().message();
  Artifact expected = smallArtifact();
  EXPECT_EQ(read->program.fingerprint(), expected.program.fingerprint());
  ASSERT_EQ(read->code.size(), 2u);
  EXPECT_EQ(read->code[1].bytes, expected.code[1].bytes);
  EXPECT_TRUE(read->kernels.empty());
}

TEST(Artifact, ForeignAndTruncatedFilesAreRefused) {
  Bytes bytes = write(smallArtifact());
  for (size_t size = 0; size < bytes.size(); ++size) {
    Bytes cut(bytes.begin(), bytes.begin() + ptrdiff_t(size));
    Expected<Artifact> read = readArtifact(cut.data(), cut.size());
    ASSERT_FALSE(bool(read)) << size;
    ASSERT_EQ(read.status().code(), StatusCode::invalidFile);
  }
  Bytes foreign(1000, 'x');
  EXPECT_EQ(readArtifact(foreign.data(), foreign.size()).status().message(),
            "artifact: file identifier is not 'DFAR'");
}

TEST(Artifact, FlippedBytesNeverCrash) {
  Bytes bytes = write(smallArtifact());
  // Where the checksum lies: the one place that holds the CRC of the rest.
  uint64_t hole = 0;
  for (uint64_t at = 0; at + 4 <= bytes.size() && !hole; at += 4) {
    uint32_t told;
    std::memcpy(&told, &bytes[at], 4);
    if (told == crc32WithHole(bytes.data(), bytes.size(), at))
      hole = at;
  }
  ASSERT_NE(hole, 0u);
  std::mt19937 random(2);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    Bytes flipped = bytes;
    for (int n = 1 + int(random() % 3); n > 0; --n)
      flipped[random() % bytes.size()] ^= uint8_t(1 + random() % 255);
    if (flipped == bytes)
      continue;
    ASSERT_FALSE(bool(readArtifact(flipped.data(), flipped.size())));
    // With a checksum that fits, whatever is accepted can be used.
    uint32_t fitting = crc32WithHole(flipped.data(), flipped.size(), hole);
    std::memcpy(&flipped[hole], &fitting, 4);
    dfrt_artifact *artifact = nullptr;
    if (dfrt_artifact_load_memory(flipped.data(), flipped.size(), &artifact) !=
        DFRT_OK)
      continue;
    ++accepted;
    const char *json = nullptr;
    ASSERT_EQ(dfrt_artifact_describe(artifact, &json), DFRT_OK);
    dfrt_artifact_release(artifact);
  }
  EXPECT_GT(accepted, 0); // names, costs and code may be anything
}

TEST(Artifact, ReferenceRecordsAreF64InOneSlice) {
  Record record;
  record.fields = {{"a", ElementType::bf16, {4}, -1, 0},
                   {"b", ElementType::f32, {2, 8}, 1, 0},
                   {"c", ElementType::i32, {}, -1, 0}};
  record.slices = 4;
  ASSERT_TRUE(layoutRecord(record).ok());
  Expected<Record> reference = referenceRecord(record);
  ASSERT_TRUE(bool(reference));
  EXPECT_EQ(reference->slices, 1u);
  EXPECT_EQ(reference->headBytes, 48u); // 4 f64, 1 i32
  EXPECT_EQ(reference->sliceBytes, 128u);
  EXPECT_EQ(reference->fields[0].element, ElementType::f64);
  EXPECT_EQ(reference->fields[2].element, ElementType::i32);
}
