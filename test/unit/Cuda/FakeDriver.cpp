//===- FakeDriver.cpp - A CUDA driver without a device: device and code ---===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeState.h"

#include <cstring>

using namespace fakecuda;

namespace {
void resetFake() {
  Fake &f = fake();
  FakeDriver &d = f.control;
  f.calls.clear();
  f.failAt.clear();
  f.failWith.clear();
  f.lost = Result::success;
  d.version = 13000;
  d.devices = 1;
  d.capabilityMajor = 9;
  d.capabilityMinor = 0;
  d.multiprocessors = 132;
  d.sharedOptin = 232448;
  d.cooperative = d.clusters = d.tensorMaps = 1;
  d.largestCluster = 16;
  d.cooperativeClusters = 1;
  d.staticShared = 0;
  d.maxThreads = 1024;
  d.requiredCluster = 0;
  d.parameterBytes = d.parameterThreads = 0;
  d.onLaunch = nullptr;
  d.memoryBytes = 1 << 30;
  d.primaryActive = 0;
  d.resetRecovers = 1;
  d.holdStreams = 0;
  d.unifiedCopies = d.foreignNodes = 0;
}
int aliveOf(const char *kind) {
  Fake &f = fake();
  std::string name = kind;
  if (name == "memory")
    return int(f.memory.size());
  if (name == "host")
    return int(f.host.size());
  if (name == "module")
    return int(f.modules.size());
  if (name == "stream")
    return int(f.streams.size());
  if (name == "event")
    return int(f.events.size());
  if (name == "graph")
    return int(f.graphs.size());
  if (name == "exec")
    return int(f.execs.size());
  if (name == "context")
    return f.references;
  if (name == "depth")
    return int(f.stack.size());
  return -1;
}
} // namespace

extern "C" {
FakeDriver *fakeDriver() {
  static bool made = false;
  Fake &f = fake();
  if (made)
    return &f.control;
  made = true;
  std::memset(static_cast<void *>(&f.control), 0, sizeof(f.control));
  f.control.fail = [](const char *function, int nth, Result result) {
    fake().failAt[function] = fake().calls[function] + nth;
    fake().failWith[function] = result;
  };
  f.control.lose = [](Result result) { fake().lost = result; };
  f.control.runStreams = [] { runAll(); };
  f.control.reset = [] { resetFake(); };
  f.control.calls = [](const char *function) { return fake().calls[function]; };
  f.control.alive = [](const char *kind) { return aliveOf(kind); };
  resetFake();
  return &f.control;
}

Result cuInit(unsigned) {
  ENTER(false);
  return Result::success;
}
Result cuDriverGetVersion(int *version) {
  ENTER(false);
  *version = fake().control.version;
  return Result::success;
}
Result cuGetErrorName(Result result, const char **name) {
  switch (result) {
#define NAME(value, text)                                                      \
  case Result::value:                                                          \
    *name = text;                                                              \
    return Result::success;
    NAME(invalidValue, "CUDA_ERROR_INVALID_VALUE")
    NAME(outOfMemory, "CUDA_ERROR_OUT_OF_MEMORY")
    NAME(noDevice, "CUDA_ERROR_NO_DEVICE")
    NAME(invalidImage, "CUDA_ERROR_INVALID_IMAGE")
    NAME(noBinaryForGPU, "CUDA_ERROR_NO_BINARY_FOR_GPU")
    NAME(notFound, "CUDA_ERROR_NOT_FOUND")
    NAME(notReady, "CUDA_ERROR_NOT_READY")
    NAME(illegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS")
    NAME(launchFailed, "CUDA_ERROR_LAUNCH_FAILED")
    NAME(invalidClusterSize, "CUDA_ERROR_INVALID_CLUSTER_SIZE")
    NAME(cooperativeLaunchTooLarge, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE")
#undef NAME
  default:
    return Result::invalidValue;
  }
}
Result cuGetErrorString(Result, const char **text) {
  *text = "words of the fake driver";
  return Result::success;
}
Result cuDeviceGetCount(int *count) {
  ENTER(false);
  *count = fake().control.devices;
  return Result::success;
}
Result cuDeviceGet(DeviceId *device, int ordinal) {
  ENTER(false);
  *device = ordinal;
  return ordinal < fake().control.devices ? Result::success
                                          : Result::invalidDevice;
}
Result cuDeviceGetName(char *name, int length, DeviceId) {
  ENTER(false);
  std::strncpy(name, "Fake GPU", size_t(length));
  return Result::success;
}
Result cuDeviceGetAttribute(int *value, DeviceAttribute attribute, DeviceId) {
  ENTER(false);
  const FakeDriver &d = fake().control;
  switch (attribute) {
  case DeviceAttribute::maxThreadsPerBlock:
    *value = 1024;
    break;
  case DeviceAttribute::maxSharedPerBlock:
    *value = 49152;
    break;
  case DeviceAttribute::clockKilohertz:
    *value = 1980000;
    break;
  case DeviceAttribute::multiprocessorCount:
    *value = d.multiprocessors;
    break;
  case DeviceAttribute::l2Bytes:
    *value = 60 << 20;
    break;
  case DeviceAttribute::capabilityMajor:
    *value = d.capabilityMajor;
    break;
  case DeviceAttribute::capabilityMinor:
    *value = d.capabilityMinor;
    break;
  case DeviceAttribute::maxSharedPerMultiprocessor:
    *value = 233472;
    break;
  case DeviceAttribute::maxSharedPerBlockOptin:
    *value = d.sharedOptin;
    break;
  case DeviceAttribute::reservedSharedPerBlock:
    *value = 1024;
    break;
  case DeviceAttribute::cooperativeLaunch:
    *value = d.cooperative;
    break;
  case DeviceAttribute::clusterLaunch:
    *value = d.clusters;
    break;
  case DeviceAttribute::tensorMapAccess:
    *value = d.tensorMaps;
    break;
  case DeviceAttribute::mpsEnabled:
    return Result::invalidValue; // as a driver that does not know it
  }
  return Result::success;
}
Result cuDeviceTotalMem_v2(size_t *bytes, DeviceId) {
  ENTER(false);
  *bytes = fake().control.memoryBytes;
  return Result::success;
}
Result cuDevicePrimaryCtxGetState(DeviceId, unsigned *flags, int *active) {
  ENTER(false);
  *flags = 0;
  *active = fake().control.primaryActive || fake().references > 0;
  return Result::success;
}
Result cuDevicePrimaryCtxRetain(ContextHandle *context, DeviceId) {
  ENTER(false);
  ++fake().references;
  *context = theContext();
  return Result::success;
}
Result cuDevicePrimaryCtxRelease_v2(DeviceId) {
  ENTER(false);
  --fake().references;
  return Result::success;
}
Result cuDevicePrimaryCtxReset_v2(DeviceId) {
  ENTER(false);
  Fake &f = fake();
  if (f.control.resetRecovers)
    f.lost = Result::success;
  for (auto &[address, bytes] : f.memory)
    delete[] address;
  f.memory.clear();
  f.control.memoryUsed = 0;
  for (void *host : f.host)
    delete[] static_cast<char *>(host);
  f.host.clear();
  destroyAll(f.modules);
  destroyAll(f.streams);
  destroyAll(f.events);
  destroyAll(f.graphs);
  destroyAll(f.execs);
  return Result::success;
}
Result cuCtxGetCurrent(ContextHandle *context) {
  ENTER(false);
  *context = fake().stack.empty() ? nullptr : fake().stack.back();
  return Result::success;
}
Result cuCtxPushCurrent_v2(ContextHandle context) {
  ENTER(false);
  fake().stack.push_back(context);
  return Result::success;
}
Result cuCtxPopCurrent_v2(ContextHandle *context) {
  ENTER(false);
  if (fake().stack.empty())
    return Result::invalidContext;
  *context = fake().stack.back();
  fake().stack.pop_back();
  return Result::success;
}
Result cuCtxSynchronize() {
  ENTER();
  runAll();
  return Result::success;
}

Result cuModuleLoadDataEx(ModuleHandle *module, const void *image,
                          unsigned options, JitOption *names, void **values) {
  ENTER();
  fake().control.lastImageText = std::memcmp(image, "\177ELF", 4) != 0;
  const char *bytes = static_cast<const char *>(image);
  const char *wrong = nullptr;
  Result result = Result::invalidPTX;
  if (!fake().control.lastImageText) {
    // A cubin with flags of no architecture.
    result = Result::unknown;
    if (std::memcmp(bytes + 48, "\377\377\377\377", 4) == 0)
      wrong = "fatal   : Unknown arch name ''\n";
  } else if (std::strstr(bytes, "syntax error")) {
    // Text: its end has to be there, and a wrong word is found.
    wrong = "ptxas line 3: unknown word\n";
  } else if (std::strstr(bytes, ".target sm_100")) {
    wrong = "ptxas fatal   : SM version specified by .target is higher than "
            "default SM version assumed\n";
  }
  if (wrong) {
    for (unsigned i = 0; i < options; ++i)
      if (names[i] == JitOption::errorLog)
        std::strcpy(static_cast<char *>(values[i]), wrong);
    return result;
  }
  FakeModule *made = new FakeModule;
  fake().modules.insert(made);
  *module = reinterpret_cast<ModuleHandle>(made);
  return Result::success;
}
Result cuModuleUnload(ModuleHandle module) {
  ENTER();
  return destroy(fake().modules, module);
}
Result cuModuleGetFunction(FunctionHandle *function, ModuleHandle module,
                           const char *name) {
  ENTER();
  if (std::strstr(name, "missing"))
    return Result::notFound;
  *function = reinterpret_cast<FunctionHandle>(
      &reinterpret_cast<FakeModule *>(module)->functions[name]);
  return Result::success;
}
Result cuFuncGetAttribute(int *value, FunctionAttribute attribute,
                          FunctionHandle) {
  ENTER();
  const FakeDriver &d = fake().control;
  *value = 0;
  if (attribute == FunctionAttribute::maxThreadsPerBlock)
    *value = d.maxThreads;
  if (attribute == FunctionAttribute::staticSharedBytes)
    *value = d.staticShared;
  if (attribute == FunctionAttribute::registers)
    *value = 64;
  if (attribute == FunctionAttribute::binaryVersion)
    *value = 90;
  if (attribute == FunctionAttribute::requiredClusterWidth)
    *value = d.requiredCluster;
  return Result::success;
}
Result cuFuncSetAttribute(FunctionHandle handle, FunctionAttribute attribute,
                          int value) {
  ENTER();
  FakeFunction &function = *reinterpret_cast<FakeFunction *>(handle);
  if (attribute == FunctionAttribute::maxDynamicSharedBytes) {
    if (value + fake().control.staticShared > fake().control.sharedOptin)
      return Result::invalidValue;
    function.dynamicShared = value;
  }
  if (attribute == FunctionAttribute::nonPortableClusterSizeAllowed)
    function.nonPortable = value;
  return Result::success;
}

} // extern "C"
