//===- APIDevice.cpp - C API: devices -------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"

#include "dataflow/Schedule/JsonWriter.h"

#include <cstring>
#include <thread>

using namespace dfrt;

Status dfrt::openDevice(const char *name, const std::string &cudaLibrary,
                        dfrt_device **device) {
  DFRT_TRY(require(name, "device name"));
  DFRT_TRY(require(device, "result pointer"));
  if (!std::strcmp(name, "cpu")) {
    JsonWriter json;
    json.beginObject();
    json.member("device", name);
    json.member("threads", std::thread::hardware_concurrency());
    json.endObject();
    *device = new dfrt_device{name, nullptr, json.take()};
    return Status::success();
  }
  int ordinal = cuda::ordinalOf(name);
  if (ordinal < 0)
    return failure(StatusCode::invalidArgument, "device '", name,
                   "' is unknown, expected 'cpu', 'cuda' or 'cuda:N'");
  Expected<std::shared_ptr<CudaDevice>> opened =
      CudaDevice::open(cudaLibrary, ordinal);
  if (!opened)
    return opened.status();
  *device = new dfrt_device{name, *opened, (*opened)->describe(name)};
  return Status::success();
}

dfrt_status dfrt_device_open(const char *name, dfrt_device **device) {
  return guarded(
      [&] { return openDevice(name, cuda::Driver::kDefaultLibrary, device); });
}

void dfrt_device_release(dfrt_device *device) { delete device; }

dfrt_status dfrt_device_reopen(dfrt_device *device) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(device, "device"));
    return device->cuda ? device->cuda->reopen() : Status::success();
  });
}

dfrt_status dfrt_device_describe(const dfrt_device *device, const char **json) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(device, "device"));
    DFRT_TRY(require(json, "result pointer"));
    *json = device->description.c_str();
    return Status::success();
  });
}
