//===- CallFailure.cpp - Text of a failed CUDA call -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DriverTable.h"

using namespace dfrt;
using namespace dfrt::cuda;
using api::Result;

bool cuda::losesContext(Result result) {
  switch (result) {
  case Result::eccUncorrectable:
  case Result::nvlinkUncorrectable:
  case Result::illegalAddress:
  case Result::launchTimeout:
  case Result::contextIsDestroyed:
  case Result::assertFailed:
  case Result::hardwareStackError:
  case Result::illegalInstruction:
  case Result::misalignedAddress:
  case Result::invalidAddressSpace:
  case Result::invalidPC:
  case Result::launchFailed:
    return true;
  default:
    return false;
  }
}

static StatusCode codeOf(Result result) {
  switch (result) {
  case Result::outOfMemory:
  case Result::launchOutOfResources:
  case Result::cooperativeLaunchTooLarge:
    return StatusCode::resourceExhausted;
  case Result::notReady:
    return StatusCode::busy;
  case Result::invalidImage:
  case Result::invalidPTX:
  case Result::invalidSource:
  case Result::notFound:
    return StatusCode::invalidFile;
  case Result::noBinaryForGPU:
  case Result::unsupportedPTXVersion:
  case Result::notSupported:
  case Result::invalidClusterSize:
  case Result::noDevice:
  case Result::stubLibrary:
  case Result::systemDriverMismatch:
  case Result::compatNotSupported:
  case Result::jitCompilerNotFound:
    return StatusCode::unsupported;
  case Result::invalidDevice:
    return StatusCode::invalidArgument;
  default:
    return StatusCode::deviceError;
  }
}

/// What to do about a result, whatever the call.
static const char *adviceOf(Result result) {
  if (losesContext(result))
    return "the device context is lost: reopen the device, or restart the "
           "process";
  switch (result) {
  case Result::outOfMemory:
    return "free device memory or lower the stated maxima";
  case Result::stubLibrary:
    return "this is the toolkit's stub: take the driver's libcuda.so.1 off "
           "the machine's library path, not the stubs folder";
  case Result::deviceUnavailable:
    return "another process holds the device exclusively: free it";
  case Result::noDevice:
    return "check CUDA_VISIBLE_DEVICES and nvidia-smi";
  case Result::invalidDevice:
    return "choose an ordinal below the number of devices";
  case Result::invalidImage:
  case Result::invalidPTX:
  case Result::invalidSource:
    return "the code is corrupt: build the artifact again";
  case Result::noBinaryForGPU:
    return "compile the artifact for this device's architecture";
  case Result::unsupportedPTXVersion:
    return "update the NVIDIA driver, or compile for an older PTX version";
  case Result::jitCompilerNotFound:
    return "ship a cubin instead of PTX, or install libnvidia-ptxjitcompiler";
  case Result::notFound:
    return "the artifact lacks this symbol: build it again";
  case Result::launchOutOfResources:
    return "lower the threads, registers or shared memory of the launch";
  case Result::cooperativeLaunchTooLarge:
    return "lower the number of CTAs: all of them have to be resident";
  case Result::invalidClusterSize:
    return "choose a smaller cluster";
  case Result::notReady:
    return "try again later";
  case Result::notPermitted:
  case Result::captureUnsupported:
  case Result::captureInvalidated:
    return "this is not allowed while a stream is captured: do it before";
  case Result::graphUpdateFailure:
    return "the graph's shape changed: capture and instantiate it again";
  case Result::systemDriverMismatch:
  case Result::compatNotSupported:
    return "kernel module and library of the driver differ: reboot, or "
           "reinstall the NVIDIA driver";
  case Result::invalidContext:
  case Result::deinitialized:
  case Result::notInitialized:
    return "the device was closed by somebody else: reopen it";
  default:
    return "see the CUDA driver API's page of this call";
  }
}

Status cuda::callFailure(const DriverTable &table, const char *call,
                         Result result, const std::string &object,
                         const std::string &detail, const std::string &next) {
  const char *name = nullptr;
  const char *words = nullptr;
  if (table.cuGetErrorName)
    table.cuGetErrorName(result, &name);
  if (table.cuGetErrorString)
    table.cuGetErrorString(result, &words);
  // The version of the interface is of no interest to a reader.
  std::string shown = call;
  size_t suffix = shown.rfind("_v");
  if (suffix != std::string::npos && suffix + 3 == shown.size())
    shown.resize(suffix);
  std::string text = textOf(object, ": ", shown, " failed with ",
                            name ? name : "an unknown result", " (",
                            static_cast<int>(result), ")");
  if (words)
    text += textOf(", ", words);
  if (!detail.empty())
    text += textOf(", ", detail);
  text += "; ";
  text += next.empty() ? adviceOf(result) : next;
  return Status(codeOf(result), text);
}
