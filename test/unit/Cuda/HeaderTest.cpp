//===- HeaderTest.cpp - Our declarations against cuda.h -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Built only where a cuda.h is installed. All of it is checked by the compiler;
// the one test says that it was.
//
//===----------------------------------------------------------------------===//

#include "cuda/DriverTypes.h"

#include <cuda.h>
#include <gtest/gtest.h>

namespace api = dfrt::cuda::api;

namespace {
#define SAME(ours, theirs)                                                     \
  static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
using api::DeviceAttribute;
using api::FunctionAttribute;
using api::Result;
SAME(Result::success, CUDA_SUCCESS);
SAME(Result::invalidValue, CUDA_ERROR_INVALID_VALUE);
SAME(Result::outOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(Result::notInitialized, CUDA_ERROR_NOT_INITIALIZED);
SAME(Result::deinitialized, CUDA_ERROR_DEINITIALIZED);
SAME(Result::stubLibrary, CUDA_ERROR_STUB_LIBRARY);
SAME(Result::deviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
SAME(Result::noDevice, CUDA_ERROR_NO_DEVICE);
SAME(Result::invalidDevice, CUDA_ERROR_INVALID_DEVICE);
SAME(Result::invalidImage, CUDA_ERROR_INVALID_IMAGE);
SAME(Result::invalidContext, CUDA_ERROR_INVALID_CONTEXT);
SAME(Result::noBinaryForGPU, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(Result::eccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
SAME(Result::invalidPTX, CUDA_ERROR_INVALID_PTX);
SAME(Result::nvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
SAME(Result::jitCompilerNotFound, CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
SAME(Result::unsupportedPTXVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME(Result::invalidSource, CUDA_ERROR_INVALID_SOURCE);
SAME(Result::operatingSystem, CUDA_ERROR_OPERATING_SYSTEM);
SAME(Result::invalidHandle, CUDA_ERROR_INVALID_HANDLE);
SAME(Result::notFound, CUDA_ERROR_NOT_FOUND);
SAME(Result::notReady, CUDA_ERROR_NOT_READY);
SAME(Result::illegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(Result::launchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME(Result::launchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
SAME(Result::contextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME(Result::assertFailed, CUDA_ERROR_ASSERT);
SAME(Result::hardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
SAME(Result::illegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
SAME(Result::misalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
SAME(Result::invalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE);
SAME(Result::invalidPC, CUDA_ERROR_INVALID_PC);
SAME(Result::launchFailed, CUDA_ERROR_LAUNCH_FAILED);
SAME(Result::cooperativeLaunchTooLarge,
     CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
SAME(Result::notPermitted, CUDA_ERROR_NOT_PERMITTED);
SAME(Result::notSupported, CUDA_ERROR_NOT_SUPPORTED);
SAME(Result::systemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SAME(Result::compatNotSupported, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
SAME(Result::captureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
SAME(Result::captureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
SAME(Result::graphUpdateFailure, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
SAME(Result::invalidClusterSize, CUDA_ERROR_INVALID_CLUSTER_SIZE);
SAME(Result::unknown, CUDA_ERROR_UNKNOWN);

SAME(DeviceAttribute::maxThreadsPerBlock,
     CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(DeviceAttribute::maxSharedPerBlock,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
SAME(DeviceAttribute::clockKilohertz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME(DeviceAttribute::multiprocessorCount,
     CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(DeviceAttribute::l2Bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME(DeviceAttribute::capabilityMajor,
     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(DeviceAttribute::capabilityMinor,
     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(DeviceAttribute::maxSharedPerMultiprocessor,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME(DeviceAttribute::cooperativeLaunch,
     CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
SAME(DeviceAttribute::maxSharedPerBlockOptin,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(DeviceAttribute::reservedSharedPerBlock,
     CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
SAME(DeviceAttribute::clusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
SAME(DeviceAttribute::tensorMapAccess,
     CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED);
SAME(DeviceAttribute::mpsEnabled, CU_DEVICE_ATTRIBUTE_MPS_ENABLED);

SAME(FunctionAttribute::maxThreadsPerBlock,
     CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(FunctionAttribute::staticSharedBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(FunctionAttribute::localBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(FunctionAttribute::registers, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME(FunctionAttribute::ptxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION);
SAME(FunctionAttribute::binaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
SAME(FunctionAttribute::maxDynamicSharedBytes,
     CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(FunctionAttribute::clusterSizeMustBeSet,
     CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
SAME(FunctionAttribute::requiredClusterWidth,
     CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
SAME(FunctionAttribute::nonPortableClusterSizeAllowed,
     CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);

SAME(api::LaunchAttributeId::cooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME(api::LaunchAttributeId::clusterDimension,
     CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME(api::JitOption::errorLog, CU_JIT_ERROR_LOG_BUFFER);
SAME(api::JitOption::errorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(api::MemoryType::host, CU_MEMORYTYPE_HOST);
SAME(api::MemoryType::device, CU_MEMORYTYPE_DEVICE);
SAME(api::MemoryType::unified, CU_MEMORYTYPE_UNIFIED);
SAME(api::GraphNodeType::kernel, CU_GRAPH_NODE_TYPE_KERNEL);
SAME(api::GraphNodeType::copy, CU_GRAPH_NODE_TYPE_MEMCPY);
SAME(api::CaptureStatus::none, CU_STREAM_CAPTURE_STATUS_NONE);
SAME(api::CaptureStatus::active, CU_STREAM_CAPTURE_STATUS_ACTIVE);
SAME(api::CaptureStatus::invalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
SAME(api::CaptureMode::threadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME(api::CaptureMode::relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(api::kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME(api::kEventDefault, CU_EVENT_DEFAULT);
SAME(api::kEventDisableTiming, CU_EVENT_DISABLE_TIMING);
SAME(api::kHostPortable, CU_MEMHOSTALLOC_PORTABLE);
SAME(api::kHostDeviceMap, CU_MEMHOSTALLOC_DEVICEMAP);

#define MEMBER(ours, ourMember, theirs, theirMember)                           \
  static_assert(offsetof(ours, ourMember) == offsetof(theirs, theirMember) &&  \
                sizeof(ours::ourMember) == sizeof(theirs::theirMember))
static_assert(sizeof(api::LaunchConfig) == sizeof(CUlaunchConfig));
MEMBER(api::LaunchConfig, gridX, CUlaunchConfig, gridDimX);
MEMBER(api::LaunchConfig, blockX, CUlaunchConfig, blockDimX);
MEMBER(api::LaunchConfig, sharedBytes, CUlaunchConfig, sharedMemBytes);
MEMBER(api::LaunchConfig, stream, CUlaunchConfig, hStream);
MEMBER(api::LaunchConfig, attributes, CUlaunchConfig, attrs);
MEMBER(api::LaunchConfig, attributeCount, CUlaunchConfig, numAttrs);
static_assert(sizeof(api::LaunchAttribute) == sizeof(CUlaunchAttribute));
MEMBER(api::LaunchAttribute, id, CUlaunchAttribute, id);
MEMBER(api::LaunchAttribute, value, CUlaunchAttribute, value);
static_assert(offsetof(api::LaunchAttribute, value.cluster.y) ==
              offsetof(CUlaunchAttribute, value.clusterDim.y));
static_assert(offsetof(api::LaunchAttribute, value.cooperative) ==
              offsetof(CUlaunchAttribute, value.cooperative));
static_assert(sizeof(api::CopyParameters) == sizeof(CUDA_MEMCPY3D));
MEMBER(api::CopyParameters, sourceX, CUDA_MEMCPY3D, srcXInBytes);
MEMBER(api::CopyParameters, sourceType, CUDA_MEMCPY3D, srcMemoryType);
MEMBER(api::CopyParameters, sourceHost, CUDA_MEMCPY3D, srcHost);
MEMBER(api::CopyParameters, sourceDevice, CUDA_MEMCPY3D, srcDevice);
MEMBER(api::CopyParameters, sourceArray, CUDA_MEMCPY3D, srcArray);
MEMBER(api::CopyParameters, sourcePitch, CUDA_MEMCPY3D, srcPitch);
MEMBER(api::CopyParameters, sourceHeight, CUDA_MEMCPY3D, srcHeight);
MEMBER(api::CopyParameters, targetX, CUDA_MEMCPY3D, dstXInBytes);
MEMBER(api::CopyParameters, targetType, CUDA_MEMCPY3D, dstMemoryType);
MEMBER(api::CopyParameters, targetHost, CUDA_MEMCPY3D, dstHost);
MEMBER(api::CopyParameters, targetDevice, CUDA_MEMCPY3D, dstDevice);
MEMBER(api::CopyParameters, targetPitch, CUDA_MEMCPY3D, dstPitch);
MEMBER(api::CopyParameters, widthBytes, CUDA_MEMCPY3D, WidthInBytes);
MEMBER(api::CopyParameters, height, CUDA_MEMCPY3D, Height);
MEMBER(api::CopyParameters, depth, CUDA_MEMCPY3D, Depth);
static_assert(sizeof(api::KernelNodeParameters) ==
              sizeof(CUDA_KERNEL_NODE_PARAMS_v2));
MEMBER(api::KernelNodeParameters, gridX, CUDA_KERNEL_NODE_PARAMS_v2, gridDimX);
MEMBER(api::KernelNodeParameters, blockX, CUDA_KERNEL_NODE_PARAMS_v2,
       blockDimX);
MEMBER(api::KernelNodeParameters, sharedBytes, CUDA_KERNEL_NODE_PARAMS_v2,
       sharedMemBytes);
MEMBER(api::KernelNodeParameters, arguments, CUDA_KERNEL_NODE_PARAMS_v2,
       kernelParams);
MEMBER(api::KernelNodeParameters, context, CUDA_KERNEL_NODE_PARAMS_v2, ctx);
static_assert(sizeof(api::TensorMapBytes) == sizeof(CUtensorMap));

/// Two signatures with as many parameters, of the same sizes.
template <typename Ours, typename Theirs>
struct SameShape : std::false_type {};
template <typename R1, typename... A1, typename R2, typename... A2>
struct SameShape<R1 (*)(A1...), R2 (*)(A2...)>
    : std::bool_constant<sizeof(R1) == sizeof(R2) &&
                         sizeof...(A1) == sizeof...(A2)> {
  static constexpr bool sizes() {
    if constexpr (sizeof...(A1) == sizeof...(A2))
      return ((sizeof(A1) == sizeof(A2) &&
               std::is_pointer_v<A1> == std::is_pointer_v<A2>) &&
              ...);
    else
      return false;
  }
};
#define SIGNATURE(symbol, parameters)                                          \
  static_assert(SameShape<api::Result(*) parameters, decltype(&::symbol)>());  \
  static_assert(                                                               \
      SameShape<api::Result(*) parameters, decltype(&::symbol)>::sizes());
using namespace dfrt::cuda;
DFRT_CUDA_FUNCTIONS(SIGNATURE)

TEST(HeaderTest, DeclarationsAreThoseOfCudaHeader) {
  EXPECT_GE(CUDA_VERSION, 12000);
}
} // namespace
