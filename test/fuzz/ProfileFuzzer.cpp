//===- ProfileFuzzer.cpp - Device profiles out of any text ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is read can be used and written, and reads back the same.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"

#include "dataflow/Schedule/Profile.h"

using namespace dfrt;
using fuzz::expect;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Expected<DeviceProfile> profile =
      readProfile(std::string(reinterpret_cast<const char *>(data), size));
  if (!profile) {
    expect(profile.status().code() == StatusCode::invalidFile &&
               !profile.status().message().empty(),
           "a profile is refused without a reason");
    return 0;
  }
  for (uint32_t cluster : {1u, 2u, 3u, 16u}) {
    costModel(*profile, cluster);
    Expected<Topology> topology = topologyOf(*profile, cluster);
    expect(!topology || check(*topology).ok(),
           "a profile gives a topology that is none");
  }
  std::string text = profileText(*profile);
  Expected<DeviceProfile> again = readProfile(text);
  expect(bool(again), "what was written is refused: " +
                          (again ? "" : again.status().message()));
  expect(profileText(*again) == text, "writing is not stable");
  return 0;
}
