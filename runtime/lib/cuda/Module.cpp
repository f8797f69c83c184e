//===- Module.cpp - Device code, loaded and kept --------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionState.h"

#include <cstring>
#include <vector>

using namespace dfrt;
using namespace dfrt::cuda;
using api::FunctionAttribute;
using api::Result;

ModuleState::~ModuleState() {
  if (!handle || !alive())
    return;
  Entered entered(*device);
  if (entered.status().ok())
    device->table().cuModuleUnload(handle);
}

const std::string &Function::name() const { return state->symbol; }
const FunctionReport &Function::report() const { return state->report; }

Expected<Function> Module::function(const std::string &name) const {
  DFRT_TRY(requireHandle(state.get(), "module"));
  DFRT_TRY(state->usable());
  auto kernel = std::make_shared<FunctionState>(
      state->device, textOf("kernel '", name, "' of ", state->name));
  kernel->module = state;
  kernel->symbol = name;
  DeviceState &device = *state->device;
  DFRT_CUDA_ENTER(device);
  DFRT_CUDA_TRY(device, cuModuleGetFunction,
                (&kernel->handle, state->handle, name.c_str()), kernel->name);
  Status failed;
  auto read = [&](auto &value, FunctionAttribute attribute) {
    int number = 0;
    Result result =
        device.table().cuFuncGetAttribute(&number, attribute, kernel->handle);
    if (result != Result::success && failed.ok())
      failed = device.callFailure(
          "cuFuncGetAttribute", result,
          textOf(kernel->name, ", attribute ", static_cast<int>(attribute)));
    value = static_cast<std::decay_t<decltype(value)>>(number);
  };
  FunctionReport &report = kernel->report;
  read(report.maxThreads, FunctionAttribute::maxThreadsPerBlock);
  read(report.registers, FunctionAttribute::registers);
  read(report.staticSharedBytes, FunctionAttribute::staticSharedBytes);
  read(report.localBytes, FunctionAttribute::localBytes);
  read(report.binaryVersion, FunctionAttribute::binaryVersion);
  read(report.requiredCluster, FunctionAttribute::requiredClusterWidth);
  DFRT_TRY(failed);
  Function result;
  result.state = std::move(kernel);
  return result;
}

Status FunctionState::prepare(uint64_t sharedBytes, bool nonPortable) {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t limit = device->report.sharedPerBlockOptin;
  if (report.staticSharedBytes + sharedBytes > limit)
    return failure(StatusCode::resourceExhausted, name, ": ", sharedBytes,
                   " bytes of dynamic and ", report.staticSharedBytes,
                   " of static shared memory are more than the ", limit,
                   " a CTA can have; plan with less shared memory");
  if (sharedBytes > dynamicSharedBytes) {
    Result result = device->table().cuFuncSetAttribute(
        handle, FunctionAttribute::maxDynamicSharedBytes, int(sharedBytes));
    if (result != Result::success)
      return device->callFailure(
          "cuFuncSetAttribute", result, name,
          textOf("for ", sharedBytes, " bytes of dynamic shared memory with ",
                 report.staticSharedBytes, " of static and a limit of ", limit),
          "plan with less shared memory");
    dynamicSharedBytes = sharedBytes;
  }
  if (nonPortable && !nonPortableCluster) {
    Result result = device->table().cuFuncSetAttribute(
        handle, FunctionAttribute::nonPortableClusterSizeAllowed, 1);
    if (result != Result::success)
      return device->callFailure("cuFuncSetAttribute", result, name,
                                 "for a non-portable cluster size",
                                 "choose clusters of at most 8");
    nonPortableCluster = true;
  }
  return Status::success();
}

ModuleCache::Key ModuleCache::keyOf(const void *image, uint64_t bytes) {
  // FNV-1a, and a second pass over words with another multiplier: 128 bits.
  const uint8_t *data = static_cast<const uint8_t *>(image);
  uint64_t low = 0xcbf29ce484222325u, high = 0x9e3779b97f4a7c15u;
  for (uint64_t i = 0; i < bytes; ++i) {
    low = (low ^ data[i]) * 0x100000001b3u;
    high = (high + data[i] + 1) * 0xff51afd7ed558ccdu;
    high ^= high >> 29;
  }
  return {low, high, bytes};
}

/// The driver's result alone may mislead about what to do: of text for another
/// architecture it says invalid, and of a cubin that is nonsense inside unknown
/// (driver 580). `messages` are its compiler's.
static Status loadFailure(DeviceState &device, Result result,
                          const std::string &object, const std::string &detail,
                          const std::string &messages) {
  bool foreign = result == Result::invalidPTX &&
                 messages.find("SM version") != std::string::npos;
  bool corrupt = result == Result::unknown && !messages.empty();
  std::string next;
  if (foreign)
    next = "compile the artifact for this device's architecture";
  else if (corrupt)
    next = "the code is corrupt: build the artifact again";
  Status failed =
      device.callFailure("cuModuleLoadDataEx", result, object, detail, next);
  if (!foreign && !corrupt)
    return failed;
  return Status(foreign ? StatusCode::unsupported : StatusCode::invalidFile,
                failed.message());
}

Expected<Module> ModuleCache::load(const void *image, uint64_t bytes,
                                   const CodeRequirements &code) {
  const std::shared_ptr<DeviceState> &shared = device.shared();
  DFRT_TRY(requireHandle(shared.get(), "device"));
  std::string object = textOf("code '", code.name, "'");
  DFRT_TRY(checkRequirements(device.report(), code));
  bool text = false;
  DFRT_TRY(checkImage(image, bytes, object, text));

  std::lock_guard<std::mutex> lock(mutex);
  Key key = keyOf(image, bytes);
  auto found = modules.find(key);
  if (found != modules.end()) {
    if (found->second.state->alive()) {
      ++hitCount;
      return found->second;
    }
    modules.erase(found);
  }
  ++missCount;
  std::vector<char> copy;
  if (text) {
    copy.assign(static_cast<const char *>(image),
                static_cast<const char *>(image) + bytes);
    copy.push_back(0);
    image = copy.data();
  }
  auto state = std::make_shared<ModuleState>(shared, object);
  char log[2048] = {};
  api::JitOption options[] = {api::JitOption::errorLog,
                              api::JitOption::errorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  DFRT_CUDA_ENTER(*shared);
  Result result = shared->table().cuModuleLoadDataEx(&state->handle, image, 2,
                                                     options, values);
  if (result != Result::success) {
    state->handle = nullptr;
    std::string detail = textOf("for ", code.architecture, " on ",
                                device.report().architecture());
    std::string messages = log;
    for (char &c : messages)
      if (c == '\n' || c == '\r')
        c = ' ';
    while (!messages.empty() && messages.back() == ' ')
      messages.pop_back();
    if (!messages.empty())
      detail += textOf(", the driver's compiler says: ", messages);
    return loadFailure(*shared, result, object, detail, messages);
  }
  Module module;
  module.state = std::move(state);
  modules.emplace(key, module);
  return module;
}

void ModuleCache::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  modules.clear();
}
