//===- Options.h - Option structs of the C API ------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Option structs grow at their end. A caller that was compiled against an older
// header passes a shorter one; what it does not know keeps its default. One of
// a newer header passes a longer one; what this library does not know has to be
// 0. Neither is read or written beyond what the caller says.
//
// A field that is added begins where the struct ended before: structs have no
// padding, in which it would not be seen.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_OPTIONS_H
#define DFRT_LIB_OPTIONS_H

#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace dfrt {

/// Larger than any option struct will ever be: a size beyond it is none.
inline constexpr uint32_t kMostOptionBytes = 4096;

/// Gives the caller, whose struct has `bytes` bytes, the defaults.
template <typename Options>
void writeDefaults(const Options &defaults, Options *given, uint32_t bytes) {
  static_assert(std::has_unique_object_representations_v<Options>,
                "an option struct has padding; name it `reserved`");
  if (!given || bytes < sizeof(given->struct_bytes) || bytes > kMostOptionBytes)
    return;
  std::memset(static_cast<void *>(given), 0, bytes);
  std::memcpy(static_cast<void *>(given), &defaults,
              std::min<size_t>(bytes, sizeof(Options)));
  given->struct_bytes = bytes;
}

/// Overwrites the defaults in `known` with what the caller gave. `given` may be
/// null.
template <typename Options>
Status readOptions(const Options *given, Options &known) {
  if (!given)
    return Status::success();
  uint32_t bytes = given->struct_bytes;
  if (bytes < sizeof(uint32_t) || bytes > kMostOptionBytes)
    return failure(StatusCode::invalidArgument, "options have struct_bytes ",
                   bytes, ", expected ", sizeof(uint32_t), " to ",
                   kMostOptionBytes, "; use the init function");
  const char *first = reinterpret_cast<const char *>(given);
  for (size_t i = sizeof(Options); i < bytes; ++i)
    if (first[i] != 0)
      return failure(StatusCode::unsupported, "options set byte ", i,
                     " of a struct of which this library knows ",
                     sizeof(Options), "; it is older than the caller's header");
  std::memcpy(static_cast<void *>(&known), given,
              std::min<size_t>(bytes, sizeof(Options)));
  known.struct_bytes = sizeof(Options);
  return Status::success();
}

} // namespace dfrt

#endif // DFRT_LIB_OPTIONS_H
