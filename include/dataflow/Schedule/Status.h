//===- Status.h - Result of an operation that can fail ----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The error type of everything that links without LLVM (namespace `dfrt`). A
// library of this project never aborts, prints or throws: a call that can fail
// returns a `Status`, or an `Expected<T>` when it also produces a value.
// Messages are lower case, without a final period, and name the object, the
// limit and the value.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_SCHEDULE_STATUS_H
#define DATAFLOW_SCHEDULE_STATUS_H

#include <cstdint>
#include <string>
#include <utility>

namespace dfrt {

/// What kind of failure a `Status` describes. The numbers are part of the C API
/// (`dfrt_status`) and never change meaning.
enum class StatusCode : int32_t {
  ok = 0,
  invalidArgument = 1, ///< the caller's input is wrong
  invalidFile = 2,     ///< a plan or artifact is corrupt, truncated or foreign
  unsupported = 3,     ///< legal, but nothing here implements it
  resourceExhausted = 4,  ///< a stated limit or the memory is exceeded
  verificationFailed = 5, ///< a schedule or plan is illegal
  deadlock = 6,           ///< execution cannot make progress
  busy = 7,               ///< try again later
  deviceError = 8,        ///< the device or its driver failed
  internalError = 9,      ///< a bug in this library
};

/// Success, or a code and one message. Copyable; owns its message.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message)
      : statusCode(code), text(std::move(message)) {}

  static Status success() { return Status(); }

  bool ok() const { return statusCode == StatusCode::ok; }
  explicit operator bool() const { return ok(); }
  StatusCode code() const { return statusCode; }
  const std::string &message() const { return text; }

private:
  StatusCode statusCode = StatusCode::ok;
  std::string text;
};

/// A value of type `T`, or the reason why there is none. Reading the value of a
/// failed result is a programming error; test with `operator bool` first.
template <typename T>
class [[nodiscard]] Expected {
public:
  Expected(T value) : held(std::move(value)) {}
  Expected(Status failure) : failure(std::move(failure)) {}
  Expected(StatusCode code, std::string message)
      : failure(code, std::move(message)) {}

  explicit operator bool() const { return failure.ok(); }
  const Status &status() const { return failure; }
  T &operator*() { return held; }
  const T &operator*() const { return held; }
  T *operator->() { return &held; }
  const T *operator->() const { return &held; }

private:
  T held{};
  Status failure;
};

} // namespace dfrt

#endif // DATAFLOW_SCHEDULE_STATUS_H
