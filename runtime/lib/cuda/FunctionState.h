//===- FunctionState.h - Objects behind modules and kernels -----*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel keeps its module loaded.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CUDA_FUNCTIONSTATE_H
#define DFRT_LIB_CUDA_FUNCTIONSTATE_H

#include "DeviceState.h"

#include "dfrt/cuda/Module.h"

namespace dfrt::cuda {

struct ModuleState : ContextObject {
  using ContextObject::ContextObject;
  api::ModuleHandle handle = nullptr;
  ~ModuleState();
};

struct FunctionState : ContextObject {
  using ContextObject::ContextObject;
  std::shared_ptr<ModuleState> module;
  api::FunctionHandle handle = nullptr;
  std::string symbol;
  FunctionReport report;
  std::mutex mutex;                ///< of the two below
  uint64_t dynamicSharedBytes = 0; ///< the most that launches may ask for
  bool nonPortableCluster = false;

  /// Allows launches with `sharedBytes` of dynamic shared memory, and with
  /// clusters above the portable size. The context is entered.
  Status prepare(uint64_t sharedBytes, bool nonPortable);
};

/// Largest cluster that every device with clusters takes.
inline constexpr uint32_t kPortableCluster = 8;

/// Fails when the image is not a whole cubin, fat binary or PTX text.
Status checkImage(const void *image, uint64_t bytes, const std::string &object,
                  bool &text);

} // namespace dfrt::cuda

#endif // DFRT_LIB_CUDA_FUNCTIONSTATE_H
