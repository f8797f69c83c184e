//===- Device.cpp - A CUDA device, opened ---------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceState.h"

#include "dataflow/Schedule/JsonWriter.h"

#include <map>

using namespace dfrt;
using namespace dfrt::cuda;
using api::DeviceAttribute;
using api::Result;

std::string DeviceReport::architecture() const {
  return textOf("sm_", capabilityMajor, capabilityMinor);
}

std::string DeviceReport::json() const {
  JsonWriter json;
  json.beginObject();
  json.member("name", name);
  json.member("ordinal", ordinal);
  json.member("driver_version", driverVersion);
  json.member("architecture", architecture());
  json.member("multiprocessors", multiprocessors);
  json.member("max_threads_per_block", maxThreadsPerBlock);
  json.member("shared_per_block", sharedPerBlock);
  json.member("shared_per_block_optin", sharedPerBlockOptin);
  json.member("shared_per_multiprocessor", sharedPerMultiprocessor);
  json.member("shared_reserved_per_block", sharedReservedPerBlock);
  json.member("l2_bytes", l2Bytes);
  json.member("memory_bytes", memoryBytes);
  json.member("clock_kilohertz", clockKilohertz);
  json.member("cluster_launch", clusterLaunch);
  json.member("cooperative_launch", cooperativeLaunch);
  json.member("tensor_maps", tensorMaps);
  json.member("shared_with_other_processes", sharedWithOtherProcesses);
  json.endObject();
  return json.take();
}

int cuda::ordinalOf(const std::string &name) {
  if (name == "cuda")
    return 0;
  if (name.compare(0, 5, "cuda:") != 0 || name.size() == 5 || name.size() > 9)
    return -1;
  int ordinal = 0;
  for (size_t i = 5; i < name.size(); ++i) {
    if (name[i] < '0' || name[i] > '9')
      return -1;
    ordinal = ordinal * 10 + (name[i] - '0');
  }
  return ordinal;
}

DeviceState::~DeviceState() {
  if (context)
    table().cuDevicePrimaryCtxRelease_v2(id);
}

Status DeviceState::callFailure(const char *call, Result result,
                                const std::string &object,
                                const std::string &detail,
                                const std::string &next) {
  if (losesContext(result))
    lost = true;
  return cuda::callFailure(table(), call, result, object, detail, next);
}

Entered::Entered(DeviceState &device) : device(device) {
  api::ContextHandle current = nullptr;
  if (device.table().cuCtxGetCurrent(&current) == Result::success &&
      current == device.context && current)
    return;
  Result result = device.table().cuCtxPushCurrent_v2(device.context);
  if (result != Result::success)
    entered = device.callFailure("cuCtxPushCurrent", result,
                                 textOf("cuda device ", device.report.ordinal));
  else
    pushed = true;
}

Entered::~Entered() {
  api::ContextHandle ours = nullptr;
  if (pushed)
    device.table().cuCtxPopCurrent_v2(&ours);
}

static Status readReport(DeviceState &device, const std::string &object) {
  DeviceReport &report = device.report;
  const DriverTable &table = device.table();
  char name[256] = {};
  Result result = table.cuDeviceGetName(name, sizeof(name) - 1, device.id);
  if (result != Result::success)
    return callFailure(table, "cuDeviceGetName", result, object);
  report.name = name;
  size_t bytes = 0;
  result = table.cuDeviceTotalMem_v2(&bytes, device.id);
  if (result != Result::success)
    return callFailure(table, "cuDeviceTotalMem", result, object);
  report.memoryBytes = bytes;

  Status failed;
  auto read = [&](auto &value, DeviceAttribute attribute) {
    int number = 0;
    Result result = table.cuDeviceGetAttribute(&number, attribute, device.id);
    // An attribute that an older driver does not know is one that it lacks.
    if (result == Result::invalidValue)
      number = 0;
    else if (result != Result::success && failed.ok())
      failed = callFailure(
          table, "cuDeviceGetAttribute", result,
          textOf(object, ", attribute ", static_cast<int>(attribute)));
    value = static_cast<std::decay_t<decltype(value)>>(number);
  };
  read(report.capabilityMajor, DeviceAttribute::capabilityMajor);
  read(report.capabilityMinor, DeviceAttribute::capabilityMinor);
  read(report.multiprocessors, DeviceAttribute::multiprocessorCount);
  read(report.maxThreadsPerBlock, DeviceAttribute::maxThreadsPerBlock);
  read(report.sharedPerBlock, DeviceAttribute::maxSharedPerBlock);
  read(report.sharedPerBlockOptin, DeviceAttribute::maxSharedPerBlockOptin);
  read(report.sharedPerMultiprocessor,
       DeviceAttribute::maxSharedPerMultiprocessor);
  read(report.sharedReservedPerBlock, DeviceAttribute::reservedSharedPerBlock);
  read(report.l2Bytes, DeviceAttribute::l2Bytes);
  read(report.clockKilohertz, DeviceAttribute::clockKilohertz);
  read(report.clusterLaunch, DeviceAttribute::clusterLaunch);
  read(report.cooperativeLaunch, DeviceAttribute::cooperativeLaunch);
  read(report.tensorMaps, DeviceAttribute::tensorMapAccess);
  read(report.sharedWithOtherProcesses, DeviceAttribute::mpsEnabled);
  return failed;
}

namespace {
/// The open devices of the process, so that two handles of one device share a
/// context, its generation and its loss.
struct OpenDevices {
  std::mutex mutex;
  /// By an entry point of the library and the ordinal: a library that was
  /// opened twice has one primary context, and whoever resets it resets it for
  /// all.
  std::map<std::pair<const void *, int>, std::weak_ptr<DeviceState>> states;
};
OpenDevices &openDevices() {
  static OpenDevices *devices = new OpenDevices; // outlives static handles
  return *devices;
}
} // namespace

Expected<Device> Device::open(std::shared_ptr<const Driver> driver,
                              int ordinal) {
  DFRT_TRY(requireHandle(driver.get(), "driver"));
  if (ordinal < 0 || ordinal >= driver->deviceCount())
    return failure(StatusCode::invalidArgument, "cuda device ", ordinal,
                   ": the driver sees ", driver->deviceCount(),
                   " devices; choose an ordinal below that");
  OpenDevices &open = openDevices();
  std::lock_guard<std::mutex> lock(open.mutex);
  const void *library =
      reinterpret_cast<const void *>(driver->table().cuDevicePrimaryCtxRetain);
  std::weak_ptr<DeviceState> &known = open.states[{library, ordinal}];
  Device device;
  device.state = known.lock();
  if (device)
    return device;
  auto state = std::make_shared<DeviceState>();
  state->driver = std::move(driver);
  state->report.ordinal = ordinal;
  state->report.driverVersion = state->driver->version();
  const DriverTable &table = state->table();
  std::string object = textOf("cuda device ", ordinal);
  auto failed = [&](const char *call, Result result) {
    return callFailure(table, call, result, object);
  };
  if (Result result = table.cuDeviceGet(&state->id, ordinal);
      result != Result::success)
    return failed("cuDeviceGet", result);
  DFRT_TRY(readReport(*state, object));
  unsigned flags = 0;
  int active = 0;
  if (Result result =
          table.cuDevicePrimaryCtxGetState(state->id, &flags, &active);
      result != Result::success)
    return failed("cuDevicePrimaryCtxGetState", result);
  state->alone = !active;
  if (Result result =
          table.cuDevicePrimaryCtxRetain(&state->context, state->id);
      result != Result::success)
    return failed("cuDevicePrimaryCtxRetain", result);
  known = state;
  device.state = std::move(state);
  return device;
}

const DeviceReport &Device::report() const { return state->report; }
bool Device::lost() const { return state && state->lost; }

Expected<MemoryInfo> Device::memory() const {
  DFRT_TRY(requireHandle(state.get(), "device"));
  DFRT_CUDA_ENTER(*state);
  size_t free = 0, total = 0;
  DFRT_CUDA_TRY(*state, cuMemGetInfo_v2, (&free, &total),
                textOf("cuda device ", state->report.ordinal));
  return MemoryInfo{free, total};
}

Status Device::synchronize() const {
  DFRT_TRY(requireHandle(state.get(), "device"));
  DFRT_CUDA_ENTER(*state);
  DFRT_CUDA_TRY(*state, cuCtxSynchronize, (),
                textOf("cuda device ", state->report.ordinal));
  return Status::success();
}

Status Device::reopen() const {
  DFRT_TRY(requireHandle(state.get(), "device"));
  std::lock_guard<std::mutex> lock(state->reopening);
  if (!state->lost)
    return Status::success();
  std::string object = textOf("cuda device ", state->report.ordinal);
  if (!state->alone)
    return failure(StatusCode::deviceError, object,
                   ": its context was in use before this device was opened, so "
                   "it is not ours to reset; restart the process");
  const DriverTable &table = state->table();
  auto failed = [&](const char *call, Result result) {
    return callFailure(table, call, result, object,
                       "this driver does not let the process go on",
                       "restart the process");
  };
  // The reset leaves our reference in place but the context inactive; a new
  // reference activates it again, and the old one goes.
  if (Result result = table.cuDevicePrimaryCtxReset_v2(state->id);
      result != Result::success)
    return failed("cuDevicePrimaryCtxReset", result);
  ++state->generation;
  table.cuDevicePrimaryCtxRelease_v2(state->id);
  state->context = nullptr;
  if (Result result =
          table.cuDevicePrimaryCtxRetain(&state->context, state->id);
      result != Result::success) {
    state->context = nullptr;
    return failed("cuDevicePrimaryCtxRetain", result);
  }
  // Whether the context works shows at the first call that uses it.
  Entered entered(*state);
  DFRT_TRY(entered.status());
  api::DevicePointer probe = 0;
  if (Result result = table.cuMemAlloc_v2(&probe, 256);
      result != Result::success)
    return failed("cuMemAlloc", result);
  table.cuMemFree_v2(probe);
  if (Result result = table.cuCtxSynchronize(); result != Result::success)
    return failed("cuCtxSynchronize", result);
  state->lost = false;
  return Status::success();
}
