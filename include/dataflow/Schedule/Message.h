//===- Message.h - Text of a failure ----------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `failure(code, "stage '", name, "' has ", count, " inputs")` and friends:
// messages from strings and numbers without streams. For the sources of planner
// and runtime; users of the library need only Status.h.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_SCHEDULE_MESSAGE_H
#define DATAFLOW_SCHEDULE_MESSAGE_H

#include "dataflow/Schedule/Status.h"

#include <string>
#include <type_traits>

namespace dfrt {

inline void appendText(std::string &text, const std::string &part) {
  text += part;
}
inline void appendText(std::string &text, const char *part) { text += part; }
template <typename T>
std::enable_if_t<std::is_arithmetic_v<T>> appendText(std::string &text,
                                                     T part) {
  text += std::to_string(part);
}

/// The parts, one after the other.
template <typename... Parts>
std::string textOf(const Parts &...parts) {
  std::string text;
  (appendText(text, parts), ...);
  return text;
}

/// A failure whose message is `parts`.
template <typename... Parts>
Status failure(StatusCode code, const Parts &...parts) {
  return Status(code, textOf(parts...));
}

/// The caller's input is wrong, and `parts` say how.
template <typename... Parts>
Status invalidArgument(const Parts &...parts) {
  return failure(StatusCode::invalidArgument, parts...);
}

/// Leaves the function with the failure of `expression`, if it failed.
#define DFRT_TRY(expression)                                                   \
  do {                                                                         \
    if (::dfrt::Status status_ = (expression); !status_.ok())                  \
      return status_;                                                          \
  } while (false)

} // namespace dfrt

#endif // DATAFLOW_SCHEDULE_MESSAGE_H
