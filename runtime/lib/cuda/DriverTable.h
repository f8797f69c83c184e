//===- DriverTable.h - Entry points, and text of a failed call --*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The resolved entry points of the driver, and the one place where a failed
// CUDA call becomes a Status.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CUDA_DRIVERTABLE_H
#define DFRT_LIB_CUDA_DRIVERTABLE_H

#include "DriverTypes.h"
#include "dataflow/Schedule/Message.h"

#include "dfrt/cuda/Driver.h"

namespace dfrt::cuda {

struct DriverTable {
#define DFRT_DECLARE(symbol, parameters)                                       \
  api::Result(*symbol) parameters = nullptr;
  DFRT_CUDA_FUNCTIONS(DFRT_DECLARE)
#undef DFRT_DECLARE
};

/// True when `result` means that the context is gone and every further call
/// would fail alike.
bool losesContext(api::Result result);

/// The failure of `call` on `object`: both, the result's name and number, the
/// driver's own words, and the next step (`next`, or what is known of the
/// result). `detail` is put between, e.g. the log of a compilation.
Status callFailure(const DriverTable &table, const char *call,
                   api::Result result, const std::string &object,
                   const std::string &detail = {},
                   const std::string &next = {});

} // namespace dfrt::cuda

#endif // DFRT_LIB_CUDA_DRIVERTABLE_H
