//===- Driver.cpp - The CUDA driver, loaded at run time -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DriverTable.h"

#include <dlfcn.h>

using namespace dfrt;
using namespace dfrt::cuda;

Driver::Driver() : entries(new DriverTable) {}
Driver::~Driver() = default;

static std::string versionOf(int version) {
  return textOf(version / 1000, ".", version % 1000 / 10);
}

std::string Driver::versionText() const { return versionOf(driverVersion); }

static Status initialize(const DriverTable &table, const std::string &object) {
  api::Result result = table.cuInit(0);
  if (result == api::Result::success)
    return Status::success();
  Status failed = callFailure(table, "cuInit", result, object);
  return Status(StatusCode::unsupported, failed.message());
}

Expected<std::shared_ptr<const Driver>>
Driver::open(const std::string &library) {
  // The driver cannot be unloaded safely: its threads outlive the handle.
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle) {
    const char *why = dlerror();
    return failure(StatusCode::unsupported, "cuda driver '", library,
                   "': dlopen: ", why ? why : "unknown error",
                   "; install the NVIDIA driver, or use the device 'cpu'");
  }
  std::shared_ptr<Driver> driver(new Driver);
  driver->path = library;
  DriverTable &table = *driver->entries;

  // What tells us the version comes first, so that an old driver is called old
  // rather than incomplete.
  std::string missing;
  auto resolve = [&](const char *symbol, auto &entry) {
    entry =
        reinterpret_cast<std::decay_t<decltype(entry)>>(dlsym(handle, symbol));
    if (!entry && missing.empty())
      missing = symbol;
  };
  std::string object = textOf("cuda driver '", library, "'");
  resolve("cuInit", table.cuInit);
  resolve("cuDriverGetVersion", table.cuDriverGetVersion);
  if (!missing.empty())
    return failure(StatusCode::unsupported, object, " has no ", missing,
                   ": it is not a CUDA driver; give the path of libcuda.so.1");
  api::Result result = table.cuDriverGetVersion(&driver->driverVersion);
  if (result != api::Result::success)
    return callFailure(table, "cuDriverGetVersion", result, object);
  if (driver->driverVersion < kOldestVersion)
    return failure(StatusCode::unsupported, object, " is for CUDA ",
                   driver->versionText(), ", but CUDA ",
                   versionOf(kOldestVersion),
                   " is needed at least; update the NVIDIA driver");
#define DFRT_RESOLVE(symbol, parameters) resolve(#symbol, table.symbol);
  DFRT_CUDA_FUNCTIONS(DFRT_RESOLVE)
#undef DFRT_RESOLVE
  if (!missing.empty())
    return failure(StatusCode::unsupported, object, " (CUDA ",
                   driver->versionText(), ") has no ", missing,
                   "; reinstall the NVIDIA driver, or update it");

  DFRT_TRY(initialize(table, object));
  result = table.cuDeviceGetCount(&driver->devices);
  if (result != api::Result::success)
    return callFailure(table, "cuDeviceGetCount", result, object);
  if (driver->devices <= 0)
    return failure(
        StatusCode::unsupported, object,
        " sees no device; check CUDA_VISIBLE_DEVICES and nvidia-smi");
  return std::shared_ptr<const Driver>(driver);
}
