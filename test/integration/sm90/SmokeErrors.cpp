//===- SmokeErrors.cpp - Errors provoked on purpose -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Smoke.h"

using namespace smoke;

Status Smoke::missingDriver(std::string &detail) {
  return expectFailure(Driver::open("libcuda-that-is-missing.so.1").status(),
                       StatusCode::unsupported, detail,
                       {"cuda driver 'libcuda-that-is-missing.so.1'", "dlopen",
                        "install the NVIDIA driver"});
}

Status Smoke::wrongArchitecture(std::string &detail) {
  CodeRequirements code = requirements("foreign");
  code.architecture =
      device.report().capabilityMajor == 10 ? "sm_90a" : "sm_100a";
  return expectFailure(cache
                           ->load(smoke::kForeignKernel,
                                  std::strlen(smoke::kForeignKernel), code)
                           .status(),
                       StatusCode::unsupported, detail,
                       {"code 'foreign'", "it was compiled for",
                        "compile the artifact for this device"});
}

Status Smoke::wrongArchitectureText(std::string &detail) {
  if (device.report().capabilityMajor == 10)
    return Status::success();
  // A lie about the architecture: the driver finds out.
  return expectFailure(
      cache
          ->load(smoke::kForeignKernel, std::strlen(smoke::kForeignKernel),
                 requirements("foreign text"))
          .status(),
      StatusCode::unsupported, detail,
      {"code 'foreign text'", "cuModuleLoadDataEx failed with CUDA_ERROR_",
       "compile the artifact for this device's architecture"});
}

Status Smoke::brokenText(std::string &detail) {
  return expectFailure(cache
                           ->load(smoke::kBrokenKernel,
                                  std::strlen(smoke::kBrokenKernel),
                                  requirements("broken"))
                           .status(),
                       StatusCode::invalidFile, detail,
                       {"code 'broken'",
                        "cuModuleLoadDataEx failed with "
                        "CUDA_ERROR_INVALID_PTX",
                        "build the artifact again"});
}

Status Smoke::sharedMemory(std::string &detail) {
  TAKE(function, kernel("observe"));
  uint64_t most = device.report().sharedPerBlockOptin;
  LaunchShape shape{1, 128, 1, most, false};
  TRY(observe(device, function, shape, stream)); // all of it is legal
  shape.sharedBytes = most + 1;
  uint64_t nothing = 0;
  return expectFailure(launch(function, shape, {&nothing, &nothing}, stream),
                       StatusCode::resourceExhausted, detail,
                       {"kernel 'observe'", "shared memory are more than",
                        "plan with less shared memory"});
}

Status Smoke::outOfMemory(std::string &detail) {
  TRY(expectFailure(
      Buffer::allocate(device, device.report().memoryBytes * 2, "too large")
          .status(),
      StatusCode::resourceExhausted, detail,
      {"buffer 'too large'", "cuMemAlloc failed with CUDA_ERROR_OUT_OF_MEMORY",
       "free device memory"}));
  // The device goes on.
  TAKE(buffer, Buffer::allocate(device, 1 << 20, "small"));
  TRY(buffer.fill(1, 0, 1 << 20, stream));
  return stream.synchronize();
}

Status Smoke::corruptCubin(std::string &detail) {
  // Whole by its headers, which we test, and nonsense inside, which only the
  // driver can find.
  std::vector<uint8_t> image(1024, 0);
  const uint8_t head[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
  std::memcpy(image.data(), head, sizeof(head));
  image[16] = 2;
  image[18] = 190;
  CodeRequirements code = requirements("nonsense");
  code.architecture = "sm_90";
  if (device.report().capabilityMajor != 9)
    code.architecture = device.report().architecture();
  // Ours: a section table that leaves the file.
  image[40] = 64;
  image[58] = 64;
  image[60] = 200;
  std::string message;
  TRY(expectFailure(
      cache->load(image.data(), image.size(), code).status(),
      StatusCode::invalidFile, message,
      {"code 'nonsense'", "the cubin is corrupt", "build the artifact again"}));
  detail = message;
  image[60] = 0;
  image[40] = 0;
  image[58] = 64;
  TRY(expectFailure(cache->load(image.data(), image.size(), code).status(),
                    StatusCode::invalidFile, message,
                    {"code 'nonsense'",
                     "cuModuleLoadDataEx failed with CUDA_ERROR_",
                     "build the artifact again"}));
  detail += "; " + message;
  return Status::success();
}

Status Smoke::illegalAddress(std::string &detail) {
  TAKE(stuck, kernel("stuck"));
  TAKE(watchdog, Watchdog::create(device, 1));
  uint64_t record = watchdog.deviceAddress() +
                    uint64_t(DFRT_ROLE_COMPUTE) * sizeof(WatchdogRecord);
  uint32_t cta = 0;
  TRY(launch(stuck, {1, 1, 1, 0, false}, {&record, &cta}, stream));
  TRY(expectFailure(
      stream.synchronize(), StatusCode::deviceError, detail,
      {"cuStreamSynchronize failed with CUDA_ERROR_ILLEGAL_ADDRESS",
       "stream 'smoke'", "reopen the device, or restart the process"}));
  if (!device.lost())
    return wrong("the device does not count as lost");
  std::vector<WatchdogRecord> records = watchdog.records();
  if (records.size() != 1 || records[0].instruction != 17 ||
      records[0].object != 2)
    return wrong("the watchdog's record is lost");
  std::string text = describeWatchdog(records, 1);
  std::replace(text.begin(), text.end(), '\n', ';');
  detail += " -- " + text;
  return Status::success();
}

Status Smoke::reopen(std::string &detail) {
  TRY(expectFailure(stream.synchronize(), StatusCode::deviceError, detail));
  Status reopened = device.reopen();
  if (!reopened.ok()) {
    detail = "not permitted by this driver: " + reopened.message();
    return Status::success();
  }
  // Old handles say so; new ones work.
  TRY(expectFailure(stream.synchronize(), StatusCode::deviceError, detail));
  TRY(setUp());
  return fillAndCopy(detail);
}
