//===- KernelsTest.cpp - Kernels of artifacts -----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPrograms.h"

#include "dfrt/KernelABI.h"

#include <cstring>
#include <functional>
#include <gtest/gtest.h>

using namespace dfrt;
using namespace dfrt::test;

namespace {
using Bytes = std::vector<uint8_t>;

CodeBlob blob(CodeBlob::Kind kind, const char *target, const char *text) {
  CodeBlob result;
  result.kind = kind;
  result.target = target;
  result.bytes.assign(text, text + std::strlen(text));
  return result;
}

/// Blobs 2 to 4 are the cubin, its PTX and LLVM IR; the last argument is a
/// table of f32, [rows, 8, 4].
Artifact kernelArtifact() {
  Artifact artifact = raggedCase({8, 8}).artifact;
  artifact.code.push_back(blob(CodeBlob::Kind::cubin, "sm_90a",
                               "\x7f"
                               "ELF"));
  artifact.code.push_back(blob(CodeBlob::Kind::ptx, "sm_90a", ".version"));
  artifact.code.push_back(blob(CodeBlob::Kind::llvm, "sm_90a", "define"));
  artifact.program.arguments.push_back(
      {"table", ElementType::f32, {-1, 8, 4}, false});
  size_t arguments = artifact.program.arguments.size();
  Kernel kernel;
  kernel.symbol = "ragged";
  kernel.blob = 2;
  kernel.ptxBlob = 3;
  kernel.target = "sm_90a";
  kernel.disciplines = 3;
  kernel.transports = 0x1e;
  kernel.threads = 384;
  kernel.reservedBytes = 4096;
  kernel.reserved = {2048, 512, 1024, 256};
  kernel.maxBarriers = 64;
  kernel.scratchBytes = 100;
  kernel.maxCluster = 16;
  kernel.watchdog = true;
  kernel.timeline = true;
  kernel.argumentAlignment.assign(arguments, 16);
  TensorMapSpec map;
  map.argument = uint32_t(arguments) - 1;
  map.element = ElementType::f32;
  map.dimensions = {{2, 2, 4}, {0, 1, 256}};
  map.swizzle = TensorMapSpec::Swizzle::b32;
  map.promotion = TensorMapSpec::Promotion::b256;
  map.fill = TensorMapSpec::Fill::nan;
  // Eight groups of four elements, of the rows two a step.
  TensorMapSpec split = map;
  split.dimensions = {
      {1, 2, 4, 1, 4}, {0, 0, 2, 1, 2}, {1, 2, 8, 4, 0}, {0, 0, 128, 2, 0}};
  kernel.maps = {split, map};
  kernel.parameterBytes =
      uint32_t(kernelParameterBytes(artifact.program, kernel.maps.size()));
  kernel.remarks = {"part: whole handler", "merge: \"folded\""};
  Kernel second = kernel;
  second.symbol = "ragged$watchdog";
  second.ptxBlob = kNone;
  second.maps.clear();
  second.parameterBytes = uint32_t(kernelParameterBytes(artifact.program, 0));
  artifact.kernels = {kernel, second};
  return artifact;
}

Bytes write(const Artifact &artifact) {
  Expected<Bytes> bytes = writeArtifact(artifact);
  EXPECT_TRUE(bool(bytes)) << bytes.status().message();
  return *bytes;
}

/// The message of reading the artifact with `change` made to its first kernel.
std::string refusal(std::function<void(Kernel &, Artifact &)> change) {
  Artifact artifact = kernelArtifact();
  change(artifact.kernels[0], artifact);
  Bytes bytes = write(artifact);
  Expected<Artifact> read = readArtifact(bytes.data(), bytes.size());
  EXPECT_FALSE(bool(read));
  EXPECT_EQ(read.status().code(), StatusCode::invalidFile);
  return read.status().message();
}
} // namespace

TEST(Kernels, RoundTripKeepsEverything) {
  Artifact artifact = kernelArtifact();
  Bytes bytes = write(artifact);
  Expected<Artifact> read = readArtifact(bytes.data(), bytes.size());
  ASSERT_TRUE(bool(read)) << read.status().message();
  EXPECT_EQ(read->code[4].kind, CodeBlob::Kind::llvm);
  ASSERT_EQ(read->kernels.size(), 2u);
  const Kernel &kernel = read->kernels[0];
  EXPECT_EQ(kernel.symbol, "ragged");
  EXPECT_EQ(kernel.blob, 2u);
  EXPECT_EQ(kernel.ptxBlob, 3u);
  EXPECT_EQ(kernel.target, "sm_90a");
  EXPECT_EQ(kernel.disciplines, 3u);
  EXPECT_EQ(kernel.transports, 0x1eu);
  EXPECT_EQ(kernel.threads, 384u);
  EXPECT_EQ(kernel.reservedBytes, 4096u);
  EXPECT_EQ(kernel.reserved.rings, 2048u);
  EXPECT_EQ(kernel.reserved.barriers, 512u);
  EXPECT_EQ(kernel.reserved.exchange, 1024u);
  EXPECT_EQ(kernel.reserved.scratch, 256u);
  EXPECT_EQ(kernel.maxBarriers, 64u);
  EXPECT_EQ(kernel.scratchBytes, 100u);
  EXPECT_EQ(kernel.maxCluster, 16u);
  EXPECT_TRUE(kernel.watchdog);
  EXPECT_TRUE(kernel.timeline);
  EXPECT_EQ(kernel.parameterBytes, artifact.kernels[0].parameterBytes);
  EXPECT_EQ(kernel.argumentAlignment, artifact.kernels[0].argumentAlignment);
  EXPECT_EQ(kernel.remarks, artifact.kernels[0].remarks);
  ASSERT_EQ(kernel.maps.size(), 2u);
  const TensorMapSpec &map = kernel.maps[1];
  EXPECT_EQ(map.argument, artifact.program.arguments.size() - 1);
  EXPECT_EQ(map.element, ElementType::f32);
  EXPECT_EQ(map.swizzle, TensorMapSpec::Swizzle::b32);
  EXPECT_EQ(map.promotion, TensorMapSpec::Promotion::b256);
  EXPECT_EQ(map.fill, TensorMapSpec::Fill::nan);
  ASSERT_EQ(map.dimensions.size(), 2u);
  EXPECT_EQ(map.dimensions[0].box, 4u);
  EXPECT_EQ(map.dimensions[1].first, 0u);
  EXPECT_EQ(map.dimensions[1].last, 1u);
  EXPECT_EQ(map.dimensions[1].unit, 1u);
  EXPECT_EQ(map.dimensions[1].limit, 0u);
  ASSERT_EQ(kernel.maps[0].dimensions.size(), 4u);
  EXPECT_EQ(kernel.maps[0].dimensions[1].limit, 2u);
  EXPECT_EQ(kernel.maps[0].dimensions[2].unit, 4u);
  EXPECT_EQ(read->kernels[1].ptxBlob, kNone);
  EXPECT_EQ(write(*read), bytes);
}

TEST(Kernels, TheParameterIsLaidOutAsTheDeviceReadsIt) {
  Program program;
  EXPECT_EQ(kernelParameterBytes(program, 0), DFRT_KERNEL_ARGUMENTS);
  program.arguments.resize(2);
  program.arguments[0].shape = {-1, 8};
  // Descriptors of 7 and 3 words.
  EXPECT_EQ(kernelMapsOffset(program), 320u);
  EXPECT_EQ(kernelParameterBytes(program, 3), 320u + 3 * 128u);
}

TEST(Kernels, WrongFieldsAreNamed) {
  using K = Kernel;
  using A = Artifact;
  EXPECT_EQ(refusal([](K &k, A &) { k.symbol.clear(); }),
            "artifact: kernels[0].symbol is empty");
  EXPECT_EQ(refusal([](K &k, A &) { k.blob = 5; }),
            "artifact: kernels[0].blob is 5, but there are 5 blobs");
  EXPECT_EQ(refusal([](K &k, A &) { k.blob = 3; }),
            "artifact: kernels[0].blob is 3, which is ptx, expected cubin");
  EXPECT_EQ(refusal([](K &, A &a) { a.code[2].bytes.clear(); }),
            "artifact: kernels[0].blob is 2, which is empty");
  EXPECT_EQ(refusal([](K &k, A &) { k.ptxBlob = 2; }),
            "artifact: kernels[0].ptx_blob is 2, which is cubin, expected ptx");
  EXPECT_EQ(refusal([](K &k, A &) { k.target = "sm_100a"; }),
            "artifact: kernels[0].target is 'sm_100a', but its cubin is for "
            "'sm_90a'");
  EXPECT_EQ(refusal([](K &k, A &) { k.disciplines = 5; }),
            "artifact: kernels[0].disciplines is 5, of which only 3 is known");
  EXPECT_EQ(refusal([](K &k, A &) { k.disciplines = 0; }),
            "artifact: kernels[0].disciplines is 0: the kernel takes no plan "
            "at all");
  EXPECT_EQ(refusal([](K &k, A &) { k.transports = 33; }),
            "artifact: kernels[0].transports is 33, of which only 30 is known");
  for (uint32_t threads : {0u, 100u, 1056u})
    EXPECT_EQ(refusal([&](K &k, A &) { k.threads = threads; }),
              "artifact: kernels[0].threads is " + std::to_string(threads) +
                  ", but must be a multiple of 32 up to 1024");
  EXPECT_EQ(refusal([](K &k, A &) { k.reservedBytes = 24; }),
            "artifact: kernels[0].reserved_bytes is 24, not a multiple of 16");
  EXPECT_EQ(refusal([](K &k, A &) { k.reservedBytes = 1 << 25; }),
            "artifact: kernels[0].reserved_bytes is 33554432, but must be at "
            "most 16777216");
  EXPECT_EQ(refusal([](K &k, A &) { k.reserved.exchange = 8192; }),
            "artifact: kernels[0].a part of reserved_bytes is 8192, but must "
            "be at most 4096");
  EXPECT_EQ(refusal([](K &k, A &) { k.reserved.scratch = 2048; }),
            "artifact: kernels[0].the sum of the parts of reserved_bytes is "
            "5632, but must be at most 4096");
  EXPECT_EQ(refusal([](K &k, A &) { k.maxBarriers = 65537; }),
            "artifact: kernels[0].max_barriers is 65537, but must be at most "
            "65536");
  EXPECT_EQ(refusal([](K &k, A &) { k.scratchBytes = uint64_t(1) << 41; }),
            "artifact: kernels[0].scratch_bytes is 2199023255552, but must be "
            "at most 1099511627776");
  for (uint32_t cluster : {0u, 3u, 32u})
    EXPECT_EQ(refusal([&](K &k, A &) { k.maxCluster = cluster; }),
              "artifact: kernels[0].max_cluster is " + std::to_string(cluster) +
                  ", but must be a power of two up to 16");
  EXPECT_EQ(refusal([](K &k, A &) {
              k.argumentAlignment.pop_back();
            }).find("artifact: kernels[0].argument_alignment has "),
            0u);
  EXPECT_EQ(refusal([](K &k, A &) { k.argumentAlignment[1] = 24; }),
            "artifact: kernels[0].argument_alignment[1] is 24, but must be a "
            "power of two up to 1048576");
  EXPECT_EQ(refusal([](K &k, A &) {
              k.parameterBytes += 8;
            }).find("artifact: kernels[0].parameter_bytes is "),
            0u);
  EXPECT_NE(refusal([](K &k, A &a) {
              k.maps.assign(300, k.maps[0]);
              k.parameterBytes = uint32_t(kernelParameterBytes(a.program, 300));
            }).find("but must be at most 32764"),
            std::string::npos);
}

TEST(Kernels, WrongMapsAreNamed) {
  auto refused = [](std::function<void(TensorMapSpec &)> change,
                    const std::string &expected) {
    std::string message =
        refusal([&](Kernel &k, Artifact &) { change(k.maps[1]); });
    EXPECT_EQ(message.find("artifact: kernels[0].maps[1]" + expected), 0u)
        << message;
  };
  using M = TensorMapSpec;
  refused([](M &m) { m.argument = 77; }, ".argument is 77, but the program");
  refused([](M &m) { m.element = ElementType(11); },
          ".element is 11, but must be at most 10");
  refused([](M &m) { m.element = ElementType::f64; }, ".element is f64, but");
  refused([](M &m) { m.swizzle = M::Swizzle(4); },
          ".swizzle is 4, but must be at most 3");
  refused([](M &m) { m.promotion = M::Promotion(4); },
          ".promotion is 4, but must be at most 3");
  refused([](M &m) { m.fill = M::Fill(2); },
          ".fill is 2, but must be at most 1");
  refused([](M &m) { m.dimensions.clear(); },
          " has 0 dimensions, which is not 1 to 5");
  refused([](M &m) { m.dimensions.assign(6, {}); },
          " has 6 dimensions, which is not 1 to 5");
  refused([](M &m) { m.dimensions[0].last = 7; },
          ".dimensions[0] is 2 to 7, but 3 dimensions of argument 'table' are "
          "left");
  refused([](M &m) { m.dimensions[1] = {1, 0, 4}; },
          ".dimensions[1] is 1 to 0, but 2 dimensions");
  refused([](M &m) { m.dimensions[1].first = 1; },
          " leaves out 1 dimensions of argument 'table'");
  refused([](M &m) { m.dimensions.pop_back(); },
          " leaves out 2 dimensions of argument 'table'");
  auto divided = [&](std::function<void(TensorMapSpec &)> change,
                     const std::string &expected) {
    std::string message =
        refusal([&](Kernel &k, Artifact &) { change(k.maps[0]); });
    EXPECT_EQ(message, "artifact: kernels[0].maps[0]" + expected);
  };
  divided([](M &m) { std::swap(m.dimensions[0], m.dimensions[1]); },
          ".dimensions[0] is 0 to 0 in steps of 1, but maps[0].dimensions[1] "
          "has neighbouring elements");
  divided([](M &m) { m.dimensions[0].unit = 2; },
          ".dimensions[0].unit is 2, expected 1");
  divided([](M &m) { m.dimensions[2].unit = 8; },
          ".dimensions[2].unit is 8, expected 4");
  divided([](M &m) { m.dimensions[3].limit = 3; },
          ".dimensions[3].limit is 3, but no dimension takes what is behind "
          "it");
  divided([](M &m) { m.dimensions[0].limit = 0; },
          ".dimensions[0].limit is 0, but other dimensions take what is behind "
          "it");
  divided([](M &m) { m.dimensions[1].limit = uint64_t(1) << 32; },
          ".dimensions[1] takes 4294967296 times 1 elements, more than "
          "2147483648");
  divided([](M &m) { m.dimensions[2].first = 2; },
          ".dimensions[0] is 1 to 2, but maps[0].dimensions[2] is 2 to 2");
  refused([](M &m) { m.element = ElementType::i32; },
          ".fill is NaN, but the element is i32");
  refused([](M &m) { m.dimensions[0].box = 0; },
          ".dimensions[0].box is 0, which is not 1 to 256");
  refused([](M &m) { m.dimensions[0].box = 257; },
          ".dimensions[0].box is 257, which is not 1 to 256");
  refused([](M &m) { m.dimensions[0].box = 3; },
          ".dimensions[0].box takes 12 bytes, no multiple of 16");
  refused([](M &m) { m.dimensions[0].box = 16; },
          ".dimensions[0].box takes 64 bytes, more than the swizzle's 32");
}

TEST(Kernels, AreDescribed) {
  Bytes bytes = write(kernelArtifact());
  dfrt_artifact *artifact = nullptr;
  ASSERT_EQ(dfrt_artifact_load_memory(bytes.data(), bytes.size(), &artifact),
            DFRT_OK)
      << dfrt_last_error();
  const char *text = nullptr;
  ASSERT_EQ(dfrt_artifact_describe(artifact, &text), DFRT_OK);
  std::string json = text;
  dfrt_artifact_release(artifact);
  for (const char *part :
       {"\"kind\":\"llvm\"", "\"symbol\":\"ragged\"",
        "\"disciplines\":[\"static\",\"ticket\"]",
        "\"transports\":[\"local\",\"cluster_shared\",\"global\","
        "\"multicast\"]",
        "\"unit\":4,\"limit\":0", "\"swizzle_bytes\":32",
        "\"promotion_bytes\":256", "\"fill\":\"nan\"",
        "\"merge: \\\"folded\\\"\"", "\"max_cluster\":16"})
    EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
}
