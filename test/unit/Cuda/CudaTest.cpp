//===- CudaTest.cpp - Fixture over the fake CUDA driver -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"

#include <cstring>
#include <dlfcn.h>

using namespace dfrt;
using namespace dfrt::cuda;

static void *fakeSymbol(const char *name) {
  static void *library =
      dlopen(DATAFLOW_TEST_FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, name) : nullptr;
}

FakeDriver &cuda::fake() {
  return *reinterpret_cast<FakeDriver *(*)()>(fakeSymbol("fakeDriver"))();
}

std::vector<char> cuda::makeCubin(size_t extra) {
  std::vector<char> image(64 + 2 * 64 + extra, 0);
  auto put = [&](size_t offset, auto value) {
    std::memcpy(image.data() + offset, &value, sizeof(value));
  };
  std::memcpy(image.data(),
              "\x7f"
              "ELF\x02\x01\x01",
              7);
  put(16, uint16_t(2));
  put(18, uint16_t(190)); // machine
  put(40, uint64_t(64));  // section headers
  put(58, uint16_t(64));
  put(60, uint16_t(2));
  put(128 + 4, uint32_t(1)); // the second section has bytes
  put(128 + 24, uint64_t(192));
  put(128 + 32, uint64_t(extra));
  return image;
}

CodeRequirements cuda::anyCode(const std::string &name) {
  CodeRequirements code;
  code.name = name;
  code.architecture = "sm_90a";
  code.threads = 128;
  return code;
}

void CudaTest::SetUp() {
  fake().reset();
  driver = take(Driver::open(DATAFLOW_TEST_FAKE_DRIVER));
  device = take(Device::open(driver));
}

void CudaTest::TearDown() {
  device = Device();
  driver.reset();
  if (mayLeak) {
    fake().lose(api::Result::success);
    reinterpret_cast<api::Result (*)(int)>(
        fakeSymbol("cuDevicePrimaryCtxReset_v2"))(0);
  }
  for (const char *kind : {"memory", "host", "module", "stream", "event",
                           "graph", "exec", "context", "depth"})
    EXPECT_EQ(fake().alive(kind), 0) << kind;
}

Function CudaTest::kernel(const std::string &name) {
  ModuleCache cache(device);
  std::vector<char> image = makeCubin();
  Module module = take(cache.load(image.data(), image.size(), anyCode()));
  return take(module.function(name));
}

Stream CudaTest::stream(const std::string &name) {
  return take(Stream::create(device, name));
}
