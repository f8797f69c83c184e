//===- cuda-smoke.cpp - The runtime's CUDA layer on a real device ---------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One line a test, and the exit code 0 when all passed, 1 when one failed, 77
// when there is no CUDA device. Needs a driver and a device of capability 9.0
// or later; no CUDA toolkit, no LLVM, no test framework.
//
//   cuda-smoke [--driver PATH] [--device ORDINAL] [--replays N] [--change M]
//
// The last tests provoke errors, one of which loses the device.
//
//===----------------------------------------------------------------------===//

#include "Smoke.h"

using namespace smoke;

void Smoke::test(const char *name, Test body) {
  std::string detail;
  double begin = now();
  Status status = (this->*body)(detail);
  double milliseconds = (now() - begin) * 1e3;
  if (!status.ok())
    ++failures;
  std::printf("%s %-22s %8.1f ms  %s%s%s\n", status.ok() ? "PASS" : "FAIL",
              name, milliseconds, status.message().c_str(),
              status.ok() || detail.empty() ? "" : " -- ", detail.c_str());
  std::fflush(stdout);
}

Status Smoke::setUp() {
  TAKE(opened, Device::open(driver, options.device));
  device = opened;
  TAKE(made, Stream::create(device, "smoke"));
  stream = made;
  cache.reset(new ModuleCache(device));
  return Status::success();
}

Expected<Function> Smoke::kernel(const char *name) {
  Expected<Module> module = cache->load(
      smoke::kKernels, std::strlen(smoke::kKernels), requirements("smoke"));
  if (!module)
    return module.status();
  return module->function(name);
}

Status Smoke::report(std::string &detail) {
  TAKE(found, probeDevice(device));
  probe = found;
  detail = device.report().json() + " " + probe.json();
  if (!device.report().multiprocessors || !probe.residentClusters[0])
    return wrong("no multiprocessors");
  return Status::success();
}

int Smoke::run() {
  Expected<std::shared_ptr<const Driver>> opened = Driver::open(options.driver);
  if (!opened) {
    std::printf("SKIP %s\n", opened.status().message().c_str());
    return opened.status().code() == StatusCode::unsupported ? 77 : 1;
  }
  driver = *opened;
  Status status = setUp();
  if (!status.ok()) {
    std::printf("FAIL open: %s\n", status.message().c_str());
    return 1;
  }
  const DeviceReport &found = device.report();
  std::printf("cuda-smoke on '%s' (%s), driver for CUDA %s\n",
              found.name.c_str(), found.architecture().c_str(),
              driver->versionText().c_str());
  if (!found.clusterLaunch) {
    std::printf("SKIP the device has no clusters\n");
    return 77;
  }
  test("report", &Smoke::report);
  test("fill-and-copy", &Smoke::fillAndCopy);
  test("cold-read", &Smoke::coldRead);
  test("tensor-map", &Smoke::tensorMap);
  test("clusters", &Smoke::clusters);
  test("cluster-fallback", &Smoke::clusterFallback);
  test("cooperative-clusters", &Smoke::cooperativeClusters);
  test("graph-replays", &Smoke::graphReplays);
  test("graph-rewrites", &Smoke::graphRewrites);
  test("workspace", &Smoke::workspace);
  test("no-leak", &Smoke::noLeak);
  test("missing-driver", &Smoke::missingDriver);
  test("wrong-architecture", &Smoke::wrongArchitecture);
  test("wrong-text", &Smoke::wrongArchitectureText);
  test("broken-text", &Smoke::brokenText);
  test("shared-memory", &Smoke::sharedMemory);
  test("out-of-memory", &Smoke::outOfMemory);
  test("corrupt-cubin", &Smoke::corruptCubin);
  test("illegal-address", &Smoke::illegalAddress);
  test("reopen", &Smoke::reopen);
  std::printf("%d failed\n", failures);
  return failures ? 1 : 0;
}
int main(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    if (i + 1 == argc) {
      std::fprintf(stderr, "usage: cuda-smoke [--driver PATH] [--device "
                           "ORDINAL] [--replays N] [--change M]\n");
      return 2;
    }
    const char *value = argv[++i];
    if (name == "--driver")
      options.driver = value;
    else if (name == "--device")
      options.device = std::atoi(value);
    else if (name == "--replays")
      options.replays = uint32_t(std::max(1, std::atoi(value)));
    else if (name == "--change")
      options.change = uint32_t(std::max(1, std::atoi(value)));
    else {
      std::fprintf(stderr, "cuda-smoke: unknown option '%s'\n", name.c_str());
      return 2;
    }
  }
  return Smoke(options).run();
}
