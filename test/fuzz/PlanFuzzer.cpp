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

#include <cstring>

using namespace dfrt;
using namespace dfrt::test;
using fuzz::expect;

namespace {

struct Loaded {
  explicit Loaded(TestCase made) : test(std::move(made)) {
    Expected<std::vector<uint8_t>> bytes = writeArtifact(test.artifact);
    expect(bytes && dfrt_artifact_load_memory(bytes->data(), bytes->size(),
                                              &artifact) == DFRT_OK,
           "the artifact does not load");
  }
  TestCase test;
  dfrt_artifact *artifact = nullptr;
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
  static dfrt_device *device = [] {
    dfrt_device *opened = nullptr;
    expect(dfrt_device_open("cpu", &opened) == DFRT_OK, "no CPU device");
    return opened;
  }();
  dfrt_plan *plan = nullptr;
  if (dfrt_plan_load(program.artifact, bytes.data(), bytes.size(), &plan) !=
      DFRT_OK)
    return;
  uint64_t workspace = 0;
  const char *summary = nullptr;
  if (dfrt_plan_workspace_bytes(device, plan, &workspace) == DFRT_OK &&
      workspace < (1 << 24)) {
    dfrt_launch_options options;
    dfrt_launch_options_init(&options);
    options.adversarial = 1;
    options.seed = bytes.size();
    std::vector<dfrt_tensor> arguments = program.test.arguments();
    (void)dfrt_launch(device, program.artifact, plan, arguments.data(),
                      uint32_t(arguments.size()), &options);
  }
  (void)dfrt_plan_summary(plan, &summary);
  dfrt_plan_release(plan);
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
