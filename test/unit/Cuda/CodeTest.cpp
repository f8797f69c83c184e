//===- CodeTest.cpp - Requirements, images, modules and kernels -----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"

#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {
Status check(const Device &device, const std::string &architecture) {
  CodeRequirements code = anyCode();
  code.architecture = architecture;
  return checkRequirements(device.report(), code);
}

TEST_F(CudaTest, Architectures) {
  for (const char *good :
       {"sm_90", "sm_90a", "compute_80", "compute_90", "compute_90a", "sm_90f"})
    EXPECT_OK(check(device, good));
  for (const char *other : {"sm_80", "sm_100a", "sm_100", "compute_100",
                            "sm_91", "compute_80a", "sm_80f"})
    EXPECT_FAILURE(check(device, other), StatusCode::unsupported,
                   AllOf(HasSubstr(other), HasSubstr("sm_90")));
  for (const char *bad : {"", "90", "sm_", "sm_9x", "sm_90ab", "gfx942"})
    EXPECT_FAILURE(check(device, bad), StatusCode::invalidFile,
                   HasSubstr("not of the form"));
}

TEST_F(CudaTest, NewerDeviceOfTheMajor) {
  device = Device();
  fake().capabilityMajor = 10;
  fake().capabilityMinor = 3;
  device = take(Device::open(driver));
  EXPECT_OK(check(device, "sm_100"));
  EXPECT_OK(check(device, "sm_100f"));
  EXPECT_OK(check(device, "compute_90"));
  EXPECT_FALSE(check(device, "sm_100a").ok());
  EXPECT_FALSE(check(device, "compute_90a").ok());
  EXPECT_FALSE(check(device, "sm_90a").ok());
}

TEST_F(CudaTest, EveryDifferenceIsSaid) {
  device = Device();
  fake().clusters = fake().cooperative = fake().tensorMaps = 0;
  fake().sharedOptin = 101376;
  device = take(Device::open(driver));
  CodeRequirements code;
  code.name = "big";
  code.architecture = "sm_100a";
  code.threads = 2048;
  code.sharedBytes = 232448;
  code.clusterSize = 8;
  code.cooperative = code.tensorMaps = true;
  EXPECT_FAILURE(checkRequirements(device.report(), code),
                 StatusCode::unsupported,
                 AllOf(HasSubstr("code 'big'"), HasSubstr("'Fake GPU'"),
                       HasSubstr("sm_100a"), HasSubstr("2048 threads"),
                       HasSubstr("232448 bytes"), HasSubstr("101376"),
                       HasSubstr("clusters of 8"), HasSubstr("cooperative"),
                       HasSubstr("tensor maps")));
}

TEST_F(CudaTest, NothingIsLoadedForAnotherDevice) {
  ModuleCache cache(device);
  std::vector<char> image = makeCubin();
  CodeRequirements code = anyCode("foreign");
  code.architecture = "sm_100a";
  EXPECT_FAILURE(cache.load(image.data(), image.size(), code).status(),
                 StatusCode::unsupported, HasSubstr("code 'foreign'"));
  code = anyCode("greedy");
  code.sharedBytes = 300000;
  EXPECT_FAILURE(cache.load(image.data(), image.size(), code).status(),
                 StatusCode::unsupported,
                 AllOf(HasSubstr("300000"), HasSubstr("232448")));
  EXPECT_EQ(fake().calls("cuModuleLoadDataEx"), 0);
}

TEST_F(CudaTest, CorruptImages) {
  ModuleCache cache(device);
  auto load = [&](const std::vector<char> &image) {
    return cache.load(image.data(), image.size(), anyCode("bad")).status();
  };
  std::vector<char> whole = makeCubin();
  EXPECT_OK(load(whole));
  int before = fake().calls("cuModuleLoadDataEx");
  // Every truncation is found before the driver, which is not told the size,
  // would read behind the end.
  for (size_t size = 0; size < whole.size(); ++size) {
    std::vector<char> part(whole.begin(), whole.begin() + ptrdiff_t(size));
    EXPECT_FAILURE(
        load(part), StatusCode::invalidFile,
        AllOf(HasSubstr("code 'bad'"), HasSubstr("build the artifact again")));
  }
  std::vector<char> wrong = whole;
  wrong[18] = 62; // x86-64
  EXPECT_FAILURE(load(wrong), StatusCode::invalidFile,
                 AllOf(HasSubstr("machine 62"), HasSubstr("give a cubin")));
  wrong = whole;
  wrong[40 + 7] = 0x7f; // section headers beyond any file
  EXPECT_FAILURE(load(wrong), StatusCode::invalidFile, HasSubstr("leave"));
  wrong = whole;
  std::memset(wrong.data() + 128 + 32, 0xff, 8); // a section of 2^64 - 1 bytes
  EXPECT_FAILURE(load(wrong), StatusCode::invalidFile, HasSubstr("section 1"));
  EXPECT_FAILURE(load({'a', 'b', '\1', 'c', 'd'}), StatusCode::invalidFile,
                 HasSubstr("neither a cubin nor PTX"));
  std::vector<char> fat(16, 0);
  uint32_t magic = 0xba55ed50;
  uint16_t header = 16;
  uint64_t size = 100;
  std::memcpy(fat.data(), &magic, 4);
  std::memcpy(fat.data() + 6, &header, 2);
  std::memcpy(fat.data() + 8, &size, 8);
  EXPECT_FAILURE(load(fat), StatusCode::invalidFile, HasSubstr("truncated"));
  EXPECT_EQ(fake().calls("cuModuleLoadDataEx"), before);
}

TEST_F(CudaTest, DriverRefusesCode) {
  ModuleCache cache(device);
  std::vector<char> image = makeCubin();
  auto load = [&] {
    return cache.load(image.data(), image.size(), anyCode()).status();
  };
  fake().fail("cuModuleLoadDataEx", 1, api::Result::invalidImage);
  EXPECT_FAILURE(load(), StatusCode::invalidFile,
                 AllOf(HasSubstr("code 'code': cuModuleLoadDataEx failed with "
                                 "CUDA_ERROR_INVALID_IMAGE (200)"),
                       HasSubstr("build the artifact again")));
  fake().fail("cuModuleLoadDataEx", 1, api::Result::noBinaryForGPU);
  EXPECT_FAILURE(load(), StatusCode::unsupported,
                 AllOf(HasSubstr("(209)"), HasSubstr("sm_90a on sm_90"),
                       HasSubstr("compile the artifact for this device")));
  EXPECT_OK(load()); // a failed load is not kept
  // What the driver's compiler complains of is the code.
  fake().fail("cuModuleLoadDataEx", 1, api::Result::unknown);
  image.back() = 1;
  EXPECT_FAILURE(load(), StatusCode::deviceError, HasSubstr("(999)"));
  std::memset(image.data() + 48, 0xff, 4); // flags of the ELF header
  EXPECT_FAILURE(load(), StatusCode::invalidFile,
                 AllOf(HasSubstr("(999)"), HasSubstr("Unknown arch name"),
                       HasSubstr("build the artifact again")));
}

TEST_F(CudaTest, TextIsCompiledByTheDriver) {
  ModuleCache cache(device);
  std::string text = ".version 7.8\n.target sm_90\n";
  CodeRequirements code = anyCode("text");
  code.architecture = "compute_90";
  EXPECT_TRUE(bool(cache.load(text.data(), text.size(), code)));
  EXPECT_TRUE(fake().lastImageText);
  // Only what was given is compiled, and ends where it ends.
  std::string longer = text + "// more\nsyntax error";
  EXPECT_OK(cache.load(longer.data(), text.size() + 8, code).status());
  text += "syntax error";
  EXPECT_FAILURE(
      cache.load(text.data(), text.size(), code).status(),
      StatusCode::invalidFile,
      AllOf(HasSubstr("ptxas line 3: unknown word"), Not(HasSubstr("\n"))));
  text = ".version 8.6\n.target sm_100a\n";
  EXPECT_FAILURE(
      cache.load(text.data(), text.size(), code).status(),
      StatusCode::unsupported,
      AllOf(HasSubstr("SM version specified by .target"),
            HasSubstr("compile the artifact for this device's architecture")));
}

TEST_F(CudaTest, CacheByContent) {
  ModuleCache cache(device);
  std::vector<char> image = makeCubin();
  std::vector<char> same = image;
  std::vector<char> other = image;
  other.back() = 1;
  take(cache.load(image.data(), image.size(), anyCode()));
  take(cache.load(same.data(), same.size(), anyCode()));
  take(cache.load(other.data(), other.size(), anyCode()));
  EXPECT_EQ(cache.hits(), 1u);
  EXPECT_EQ(cache.misses(), 2u);
  EXPECT_EQ(fake().alive("module"), 2);
  // A kernel keeps its module when the cache lets go.
  Function kept = take(
      take(cache.load(image.data(), image.size(), anyCode())).function("f"));
  cache.clear();
  EXPECT_EQ(fake().alive("module"), 1);
  EXPECT_EQ(kept.report().registers, 64u);
}

TEST_F(CudaTest, CacheForgetsALostContext) {
  ModuleCache cache(device);
  std::vector<char> image = makeCubin();
  take(cache.load(image.data(), image.size(), anyCode()));
  fake().lose(api::Result::illegalAddress);
  EXPECT_FALSE(device.synchronize().ok());
  EXPECT_OK(device.reopen());
  EXPECT_OK(take(cache.load(image.data(), image.size(), anyCode()))
                .function("f")
                .status());
  EXPECT_EQ(cache.misses(), 2u);
}

TEST_F(CudaTest, MissingKernel) {
  ModuleCache cache(device);
  std::vector<char> image = makeCubin();
  Module module = take(cache.load(image.data(), image.size(), anyCode()));
  EXPECT_FAILURE(module.function("missing").status(), StatusCode::invalidFile,
                 AllOf(HasSubstr("kernel 'missing' of code 'code'"),
                       HasSubstr("CUDA_ERROR_NOT_FOUND (500)"),
                       HasSubstr("build it again")));
  fake().fail("cuFuncGetAttribute", 2, api::Result::invalidValue);
  EXPECT_FAILURE(module.function("f").status(), StatusCode::deviceError,
                 HasSubstr("attribute 4"));
}
} // namespace
