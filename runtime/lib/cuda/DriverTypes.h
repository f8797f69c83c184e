//===- DriverTypes.h - The part of the CUDA driver API we use ---*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime builds where there is no CUDA, so the few types, numbers and
// functions of the driver that it needs are declared here, under names of our
// own. The source of truth is cuda.h of CUDA 12.0 to 13.0 (the driver's binary
// interface, which does not change); each group names the type there. Where a
// cuda.h is installed, a unit test compares every number, size, offset and
// signature below with it.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CUDA_DRIVERTYPES_H
#define DFRT_LIB_CUDA_DRIVERTYPES_H

#include <cstddef>
#include <cstdint>

namespace dfrt::cuda::api {

/// CUresult: those that the runtime tells apart, and all that it has advice
/// for.
enum class Result : int {
  success = 0,
  invalidValue = 1,
  outOfMemory = 2,
  notInitialized = 3,
  deinitialized = 4,
  stubLibrary = 34,
  deviceUnavailable = 46,
  noDevice = 100,
  invalidDevice = 101,
  invalidImage = 200,
  invalidContext = 201,
  noBinaryForGPU = 209,
  eccUncorrectable = 214,
  invalidPTX = 218,
  nvlinkUncorrectable = 220,
  jitCompilerNotFound = 221,
  unsupportedPTXVersion = 222,
  invalidSource = 300,
  operatingSystem = 304,
  invalidHandle = 400,
  notFound = 500,
  notReady = 600,
  illegalAddress = 700,
  launchOutOfResources = 701,
  launchTimeout = 702,
  contextIsDestroyed = 709,
  assertFailed = 710,
  hardwareStackError = 714,
  illegalInstruction = 715,
  misalignedAddress = 716,
  invalidAddressSpace = 717,
  invalidPC = 718,
  launchFailed = 719,
  cooperativeLaunchTooLarge = 720,
  notPermitted = 800,
  notSupported = 801,
  systemDriverMismatch = 803,
  compatNotSupported = 804,
  captureUnsupported = 900,
  captureInvalidated = 901,
  graphUpdateFailure = 910,
  invalidClusterSize = 912,
  unknown = 999,
};

/// CUdevice_attribute.
enum class DeviceAttribute : int {
  maxThreadsPerBlock = 1,
  maxSharedPerBlock = 8,
  clockKilohertz = 13,
  multiprocessorCount = 16,
  l2Bytes = 38,
  capabilityMajor = 75,
  capabilityMinor = 76,
  maxSharedPerMultiprocessor = 81,
  cooperativeLaunch = 95,
  maxSharedPerBlockOptin = 97,
  reservedSharedPerBlock = 111,
  clusterLaunch = 120,
  tensorMapAccess = 127,
  mpsEnabled = 133,
};

/// CUfunction_attribute.
enum class FunctionAttribute : int {
  maxThreadsPerBlock = 0,
  staticSharedBytes = 1,
  localBytes = 3,
  registers = 4,
  ptxVersion = 5,
  binaryVersion = 6,
  maxDynamicSharedBytes = 8,
  clusterSizeMustBeSet = 10,
  requiredClusterWidth = 11,
  nonPortableClusterSizeAllowed = 14,
};

/// CUlaunchAttributeID.
enum class LaunchAttributeId : int { cooperative = 2, clusterDimension = 4 };

/// CUjit_option.
enum class JitOption : int { errorLog = 5, errorLogBytes = 6 };

/// CUmemorytype.
enum class MemoryType : int { host = 1, device = 2, unified = 4 };

/// CUgraphNodeType.
enum class GraphNodeType : int { kernel = 0, copy = 1 };

/// CUstreamCaptureStatus and CUstreamCaptureMode.
enum class CaptureStatus : int { none = 0, active = 1, invalidated = 2 };
enum class CaptureMode : int { global = 0, threadLocal = 1, relaxed = 2 };

/// Flags of cuStreamCreate, cuEventCreate and cuMemHostAlloc.
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDefault = 0;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kHostPortable = 1;
inline constexpr unsigned kHostDeviceMap = 2;

/// CUdevice, CUdeviceptr and the opaque handles.
using DeviceId = int;
using DevicePointer = unsigned long long;
using ContextHandle = struct OpaqueContext *;
using ModuleHandle = struct OpaqueModule *;
using FunctionHandle = struct OpaqueFunction *;
using StreamHandle = struct OpaqueStream *;
using EventHandle = struct OpaqueEvent *;
using GraphHandle = struct OpaqueGraph *;
using GraphExecHandle = struct OpaqueGraphExec *;
using GraphNodeHandle = struct OpaqueGraphNode *;

/// CUlaunchAttribute.
struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[4];
  union {
    char bytes[64];
    int cooperative;
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);
static_assert(offsetof(LaunchAttribute, value) == 8);

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedBytes;
  StreamHandle stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchConfig) == 56);
static_assert(offsetof(LaunchConfig, stream) == 32);
static_assert(offsetof(LaunchConfig, attributeCount) == 48);

/// CUDA_MEMCPY3D (version 2): the parameters of a copy node.
struct CopyParameters {
  size_t sourceX, sourceY, sourceZ, sourceLod;
  MemoryType sourceType;
  const void *sourceHost;
  DevicePointer sourceDevice;
  void *sourceArray;
  void *reserved0;
  size_t sourcePitch, sourceHeight;
  size_t targetX, targetY, targetZ, targetLod;
  MemoryType targetType;
  void *targetHost;
  DevicePointer targetDevice;
  void *targetArray;
  void *reserved1;
  size_t targetPitch, targetHeight;
  size_t widthBytes, height, depth;
};
static_assert(sizeof(CopyParameters) == 200);
static_assert(offsetof(CopyParameters, sourceHost) == 40);
static_assert(offsetof(CopyParameters, targetDevice) == 136);
static_assert(offsetof(CopyParameters, widthBytes) == 176);

/// CUDA_KERNEL_NODE_PARAMS (version 2).
struct KernelNodeParameters {
  FunctionHandle function;
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedBytes;
  void **arguments;
  void **extra;
  void *kernel;
  ContextHandle context;
};
static_assert(sizeof(KernelNodeParameters) == 72);
static_assert(offsetof(KernelNodeParameters, arguments) == 40);

/// CUtensorMap.
struct alignas(64) TensorMapBytes {
  uint64_t words[16];
};
static_assert(sizeof(TensorMapBytes) == 128);

// clang-format off
/// Every entry point: X(symbol, parameters). The symbol carries the version of
/// the interface (`_v2`), so the signature cannot change under us.
#define DFRT_CUDA_FUNCTIONS(X)                                                                      \
  X(cuInit, (unsigned))                                                                             \
  X(cuDriverGetVersion, (int *))                                                                    \
  X(cuGetErrorName, (api::Result, const char **))                                                   \
  X(cuGetErrorString, (api::Result, const char **))                                                 \
  X(cuDeviceGetCount, (int *))                                                                      \
  X(cuDeviceGet, (api::DeviceId *, int))                                                            \
  X(cuDeviceGetName, (char *, int, api::DeviceId))                                                  \
  X(cuDeviceGetAttribute, (int *, api::DeviceAttribute, api::DeviceId))                             \
  X(cuDeviceTotalMem_v2, (size_t *, api::DeviceId))                                                 \
  X(cuDevicePrimaryCtxGetState, (api::DeviceId, unsigned *, int *))                                 \
  X(cuDevicePrimaryCtxRetain, (api::ContextHandle *, api::DeviceId))                                \
  X(cuDevicePrimaryCtxRelease_v2, (api::DeviceId))                                                  \
  X(cuDevicePrimaryCtxReset_v2, (api::DeviceId))                                                    \
  X(cuCtxGetCurrent, (api::ContextHandle *))                                                        \
  X(cuCtxPushCurrent_v2, (api::ContextHandle))                                                      \
  X(cuCtxPopCurrent_v2, (api::ContextHandle *))                                                     \
  X(cuCtxSynchronize, ())                                                                           \
  X(cuModuleLoadDataEx, (api::ModuleHandle *, const void *, unsigned, api::JitOption *, void **))   \
  X(cuModuleUnload, (api::ModuleHandle))                                                            \
  X(cuModuleGetFunction, (api::FunctionHandle *, api::ModuleHandle, const char *))                  \
  X(cuFuncGetAttribute, (int *, api::FunctionAttribute, api::FunctionHandle))                       \
  X(cuFuncSetAttribute, (api::FunctionHandle, api::FunctionAttribute, int))                         \
  X(cuMemGetInfo_v2, (size_t *, size_t *))                                                          \
  X(cuMemAlloc_v2, (api::DevicePointer *, size_t))                                                  \
  X(cuMemFree_v2, (api::DevicePointer))                                                             \
  X(cuMemHostAlloc, (void **, size_t, unsigned))                                                    \
  X(cuMemFreeHost, (void *))                                                                        \
  X(cuMemHostGetDevicePointer_v2, (api::DevicePointer *, void *, unsigned))                         \
  X(cuMemcpyHtoDAsync_v2, (api::DevicePointer, const void *, size_t, api::StreamHandle))            \
  X(cuMemcpyDtoHAsync_v2, (void *, api::DevicePointer, size_t, api::StreamHandle))                  \
  X(cuMemsetD8Async, (api::DevicePointer, unsigned char, size_t, api::StreamHandle))                \
  X(cuMemsetD32Async, (api::DevicePointer, unsigned, size_t, api::StreamHandle))                    \
  X(cuStreamCreate, (api::StreamHandle *, unsigned))                                                \
  X(cuStreamDestroy_v2, (api::StreamHandle))                                                        \
  X(cuStreamSynchronize, (api::StreamHandle))                                                       \
  X(cuStreamQuery, (api::StreamHandle))                                                             \
  X(cuStreamWaitEvent, (api::StreamHandle, api::EventHandle, unsigned))                             \
  X(cuStreamIsCapturing, (api::StreamHandle, api::CaptureStatus *))                                 \
  X(cuStreamBeginCapture_v2, (api::StreamHandle, api::CaptureMode))                                 \
  X(cuStreamEndCapture, (api::StreamHandle, api::GraphHandle *))                                    \
  X(cuThreadExchangeStreamCaptureMode, (api::CaptureMode *))                                        \
  X(cuEventCreate, (api::EventHandle *, unsigned))                                                  \
  X(cuEventDestroy_v2, (api::EventHandle))                                                          \
  X(cuEventRecord, (api::EventHandle, api::StreamHandle))                                           \
  X(cuEventQuery, (api::EventHandle))                                                               \
  X(cuEventSynchronize, (api::EventHandle))                                                         \
  X(cuEventElapsedTime, (float *, api::EventHandle, api::EventHandle))                              \
  X(cuGraphInstantiateWithFlags, (api::GraphExecHandle *, api::GraphHandle, unsigned long long))    \
  X(cuGraphDestroy, (api::GraphHandle))                                                             \
  X(cuGraphExecDestroy, (api::GraphExecHandle))                                                     \
  X(cuGraphLaunch, (api::GraphExecHandle, api::StreamHandle))                                       \
  X(cuGraphGetNodes, (api::GraphHandle, api::GraphNodeHandle *, size_t *))                          \
  X(cuGraphNodeGetType, (api::GraphNodeHandle, api::GraphNodeType *))                               \
  X(cuGraphMemcpyNodeGetParams, (api::GraphNodeHandle, api::CopyParameters *))                      \
  X(cuGraphExecMemcpyNodeSetParams, (api::GraphExecHandle, api::GraphNodeHandle,                    \
                                     const api::CopyParameters *, api::ContextHandle))              \
  X(cuGraphKernelNodeGetParams_v2, (api::GraphNodeHandle, api::KernelNodeParameters *))             \
  X(cuLaunchKernelEx, (const api::LaunchConfig *, api::FunctionHandle, void **, void **))           \
  X(cuOccupancyMaxActiveClusters, (int *, api::FunctionHandle, const api::LaunchConfig *))          \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, api::FunctionHandle, int, size_t))         \
  X(cuTensorMapEncodeTiled, (api::TensorMapBytes *, int, unsigned, void *, const uint64_t *,        \
                             const uint64_t *, const unsigned *, const unsigned *, int, int, int, int))
// clang-format on

} // namespace dfrt::cuda::api

#endif // DFRT_LIB_CUDA_DRIVERTYPES_H
