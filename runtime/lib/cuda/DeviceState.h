//===- DeviceState.h - What the handles of a device share -------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The context of an open device, and how a call is made in it: entered for the
// duration of the call, counted by generation (a reset starts a new one, and
// objects of an older one are dead), and a failure that loses the context
// noted.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CUDA_DEVICESTATE_H
#define DFRT_LIB_CUDA_DEVICESTATE_H

#include "DriverTable.h"

#include "dfrt/cuda/Device.h"

#include <atomic>
#include <mutex>

namespace dfrt::cuda {

struct DeviceState {
  std::shared_ptr<const Driver> driver;
  api::DeviceId id = 0;
  api::ContextHandle context = nullptr;
  bool alone = false; ///< nobody had the primary context before us
  std::atomic<bool> lost{false};
  std::atomic<uint64_t> generation{1};
  std::mutex reopening;
  DeviceReport report;

  DeviceState() = default;
  DeviceState(const DeviceState &) = delete;
  DeviceState &operator=(const DeviceState &) = delete;
  ~DeviceState();

  const DriverTable &table() const { return driver->table(); }
  /// As cuda::callFailure; notes a lost context.
  Status callFailure(const char *call, api::Result result,
                     const std::string &object, const std::string &detail = {},
                     const std::string &next = {});
};

/// Makes the device's context current; restores the caller's at the end.
class Entered {
public:
  explicit Entered(DeviceState &device);
  ~Entered();
  Entered(const Entered &) = delete;
  Entered &operator=(const Entered &) = delete;
  const Status &status() const { return entered; }

private:
  DeviceState &device;
  bool pushed = false;
  Status entered;
};

/// Base of what lives in a context.
struct ContextObject {
  std::shared_ptr<DeviceState> device;
  uint64_t generation = 0;
  std::string name; ///< how messages call it

  ContextObject(std::shared_ptr<DeviceState> owner, std::string name)
      : device(std::move(owner)), generation(device->generation),
        name(std::move(name)) {}
  ContextObject(const ContextObject &) = delete;
  ContextObject &operator=(const ContextObject &) = delete;

  /// False once the context it was made in has been reset.
  bool alive() const { return generation == device->generation; }
  /// Fails when it is not alive.
  Status usable() const {
    if (alive())
      return Status::success();
    return failure(StatusCode::deviceError, name,
                   ": was lost when the device was reopened; make it again");
  }
};

/// Fails when a handle is empty.
inline Status requireHandle(const void *state, const char *what) {
  if (state)
    return Status::success();
  return failure(StatusCode::invalidArgument, "the ", what, " handle is empty");
}

/// Calls an entry point in the entered context of `device`; leaves the function
/// with a failure on `object`.
#define DFRT_CUDA_TRY(device, symbol, arguments, object)                       \
  do {                                                                         \
    ::dfrt::cuda::api::Result result_ = (device).table().symbol arguments;     \
    if (result_ != ::dfrt::cuda::api::Result::success)                         \
      return (device).callFailure(#symbol, result_, object);                   \
  } while (false)

/// Enters the context of `device`, or leaves the function.
#define DFRT_CUDA_ENTER(device)                                                \
  ::dfrt::cuda::Entered entered_(device);                                      \
  DFRT_TRY(entered_.status())

} // namespace dfrt::cuda

#endif // DFRT_LIB_CUDA_DEVICESTATE_H
