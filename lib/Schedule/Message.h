//===- Message.h - Putting error messages together --------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `invalidArgument("stage '", name, "' has ", count, " inputs")` and friends:
// messages from strings and integers without streams.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_SCHEDULE_MESSAGE_H
#define DATAFLOW_LIB_SCHEDULE_MESSAGE_H

#include "dataflow/Schedule/Status.h"

#include <string>
#include <type_traits>

namespace dfrt {
namespace detail {

inline void append(std::string &text, const std::string &part) { text += part; }
inline void append(std::string &text, const char *part) { text += part; }
template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
void append(std::string &text, T part) {
  text += std::to_string(part);
}

/// The parts, one behind the other.
template <typename... Ts>
std::string concat(const Ts &...parts) {
  std::string text;
  (append(text, parts), ...);
  return text;
}

template <typename... Ts>
Status invalidArgument(const Ts &...parts) {
  return Status(StatusCode::invalidArgument, concat(parts...));
}

} // namespace detail
} // namespace dfrt

#endif // DATAFLOW_LIB_SCHEDULE_MESSAGE_H
