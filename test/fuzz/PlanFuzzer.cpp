//===- PlanFuzzer.cpp - Plans out of any bytes ---------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is read packs to the same plan; what is loaded for a program runs on the
// CPU device under a hostile order, and succeeds or says why not. The checksum
// is put right before, as chance would never find it.
//
//===----------------------------------------------------------------------===//

#include "CRC32.h"
#include "Fuzz.h"
#include "Runtime/TestPrograms.h"

#include "dfrt/dfrt.hpp"

#include <cstring>

using namespace dfrt;
using namespace dfrt::test;
using fuzz::expect;

namespace {

struct Loaded {
  explicit Loaded(TestCase made) : test(std::move(made)) {
    Expected<std::vector<uint8_t>> bytes = writeArtifact(test.artifact);
    expect(bool(bytes), "the artifact cannot be written");
    Expected<ArtifactHandle> loaded =
        ArtifactHandle::fromMemory(bytes->data(), bytes->size());
    expect(bool(loaded), "the artifact does not load");
    artifact = std::move(*loaded);
  }
  TestCase test;
  ArtifactHandle artifact;
};

std::vector<Loaded> &programs() {
  static std::vector<Loaded> list = [] {
    std::vector<Loaded> made;
    made.emplace_back(raggedCase({8, 8}));
    made.emplace_back(spreadCase({9, 0, 5}));
    made.emplace_back(routeCase(3, {0, 1, 2, 0, 1, 0, -1, 2}));
    return made;
  }();
  return list;
}

void launch(Loaded &program, const std::vector<uint8_t> &bytes) {
  static const DeviceHandle device = [] {
    Expected<DeviceHandle> opened = DeviceHandle::open("cpu");
    expect(bool(opened), "no CPU device");
    return std::move(*opened);
  }();
  Expected<PlanHandle> plan =
      PlanHandle::load(program.artifact, bytes.data(), bytes.size());
  if (!plan)
    return;
  uint64_t workspace = 0;
  if (plan->workspaceBytes(device, workspace).ok() && workspace < (1 << 24)) {
    dfrt_launch_options options;
    dfrt_launch_options_init(&options);
    options.adversarial = 1;
    options.seed = bytes.size();
    (void)device.launch(program.artifact, *plan, program.test.arguments(),
                        &options);
  }
  (void)plan->summary();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  constexpr uint64_t hole = offsetof(dfrt_plan_header, checksum);
  if (size >= sizeof(dfrt_plan_header)) {
    uint32_t checksum = crc32WithHole(bytes.data(), size, hole);
    std::memcpy(bytes.data() + hole, &checksum, 4);
  }
  Expected<PlanImage> image = readPlan(bytes.data(), bytes.size());
  if (!image) {
    expect(!image.status().message().empty(), "refused without a reason");
    return 0;
  }
  dfrt_plan_header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  PlanMaxima maxima;
  for (uint32_t s = 0; s < DFRT_SECTION_COUNT; ++s)
    maxima.capacity[s] = header.sections[s].capacity;
  Expected<std::vector<uint8_t>> again = packPlan(*image, maxima);
  expect(bool(again), "what was read cannot be packed: " +
                          (again ? "" : again.status().message()));
  expect(*again == bytes, "packing gives other bytes");
  for (Loaded &program : programs())
    if (program.test.program().fingerprint() == header.fingerprint)
      launch(program, bytes);
  return 0;
}
