//===- Options.h - Option structs of the C API ------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Option structs grow at their end. A caller that was compiled against an older
// header passes a shorter one; what it does not know keeps its default.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_OPTIONS_H
#define DFRT_LIB_OPTIONS_H

#include "dataflow/Schedule/Message.h"

#include <cstring>

namespace dfrt {

/// Overwrites the defaults in `known` with what the caller gave. `given` may be
/// null.
template <typename Options>
Status readOptions(const Options *given, Options &known) {
  if (!given)
    return Status::success();
  uint32_t bytes = given->struct_bytes;
  if (bytes < sizeof(uint32_t) || bytes > sizeof(Options))
    return failure(StatusCode::invalidArgument, "options have struct_bytes ",
                   bytes, ", expected at most ", sizeof(Options),
                   "; use the init function");
  std::memcpy(&known, given, bytes);
  return Status::success();
}

} // namespace dfrt

#endif // DFRT_LIB_OPTIONS_H
