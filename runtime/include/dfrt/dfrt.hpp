//===- dfrt.hpp - C++ face of the runtime's C API ---------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Header-only: handles that release themselves, and Status and Expected in
// place of status codes and result pointers. dfrt.h says what each call does.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_DFRT_HPP
#define DFRT_DFRT_HPP

#include "dataflow/Schedule/Status.h"
#include "dfrt/dfrt.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dfrt {

/// The calling thread's last error as a Status.
inline Status lastStatus(dfrt_status status) {
  if (status == DFRT_OK)
    return Status::success();
  return Status(static_cast<StatusCode>(status), dfrt_last_error());
}

namespace detail {
/// Owner of a C handle. Movable; empty after a move.
template <typename T, void (*Release)(T *)>
class Handle {
public:
  Handle() = default;
  explicit Handle(T *pointer) : owned(pointer) {}
  T *get() const { return owned.get(); }
  explicit operator bool() const { return owned != nullptr; }

private:
  struct Releaser {
    void operator()(T *pointer) const { Release(pointer); }
  };
  std::unique_ptr<T, Releaser> owned;
};

/// Reads a string out of a C handle.
template <typename T>
Expected<std::string> readText(dfrt_status (*read)(const T *, const char **),
                               const T *handle) {
  const char *text = nullptr;
  if (Status status = lastStatus(read(handle, &text)); !status.ok())
    return status;
  return std::string(text);
}
} // namespace detail

/// A loaded artifact.
class ArtifactHandle
    : public detail::Handle<dfrt_artifact, &dfrt_artifact_release> {
public:
  using Handle::Handle;

  static Expected<ArtifactHandle> fromFile(const std::string &path) {
    dfrt_artifact *artifact = nullptr;
    Status status =
        lastStatus(dfrt_artifact_load_file(path.c_str(), &artifact));
    if (!status.ok())
      return status;
    return ArtifactHandle(artifact);
  }
  static Expected<ArtifactHandle> fromMemory(const void *bytes, uint64_t size) {
    dfrt_artifact *artifact = nullptr;
    Status status =
        lastStatus(dfrt_artifact_load_memory(bytes, size, &artifact));
    if (!status.ok())
      return status;
    return ArtifactHandle(artifact);
  }
  Expected<std::string> describe() const {
    return detail::readText(&dfrt_artifact_describe, get());
  }
  /// Evaluates the reference code; outputs in f64.
  Status reference(const std::vector<dfrt_tensor> &arguments,
                   uint32_t threads = 0) const {
    return lastStatus(dfrt_reference(get(), arguments.data(),
                                     static_cast<uint32_t>(arguments.size()),
                                     threads));
  }
};

class DeviceHandle;

/// What was measured on a device; see dfrt_plan_options::profile.
class ProfileHandle
    : public detail::Handle<dfrt_profile, &dfrt_profile_release> {
public:
  using Handle::Handle;

  static Expected<ProfileHandle> fromFile(const std::string &path) {
    dfrt_profile *profile = nullptr;
    Status status = lastStatus(dfrt_profile_load_file(path.c_str(), &profile));
    if (!status.ok())
      return status;
    return ProfileHandle(profile);
  }
  Status planOptions(uint32_t clusterSize, dfrt_plan_options &options) const {
    return lastStatus(dfrt_profile_plan_options(get(), clusterSize, &options));
  }
};

/// A plan of an artifact for one batch.
class PlanHandle : public detail::Handle<dfrt_plan, &dfrt_plan_release> {
public:
  using Handle::Handle;

  static Expected<PlanHandle> make(const ArtifactHandle &artifact,
                                   const std::vector<dfrt_tensor> &arguments,
                                   const dfrt_plan_options *options = nullptr) {
    dfrt_plan *plan = nullptr;
    Status status = lastStatus(dfrt_plan_make(
        artifact.get(), arguments.data(),
        static_cast<uint32_t>(arguments.size()), options, &plan));
    if (!status.ok())
      return status;
    return PlanHandle(plan);
  }
  static Expected<PlanHandle> load(const ArtifactHandle &artifact,
                                   const void *bytes, uint64_t size) {
    dfrt_plan *plan = nullptr;
    Status status =
        lastStatus(dfrt_plan_load(artifact.get(), bytes, size, &plan));
    if (!status.ok())
      return status;
    return PlanHandle(plan);
  }
  /// A copy of the plan's bytes; empty for an empty handle.
  std::vector<uint8_t> bytes() const {
    const void *first = nullptr;
    uint64_t size = 0;
    if (dfrt_plan_bytes(get(), &first, &size) != DFRT_OK)
      return {};
    const uint8_t *begin = static_cast<const uint8_t *>(first);
    return std::vector<uint8_t>(begin, begin + size);
  }
  Status needs(dfrt_capacity &capacity) const {
    return lastStatus(dfrt_plan_needs(get(), &capacity));
  }
  Expected<std::string> summary() const {
    return detail::readText(&dfrt_plan_summary, get());
  }
  Expected<std::string> decisions() const {
    return detail::readText(&dfrt_plan_decisions, get());
  }
  inline Status workspaceBytes(const DeviceHandle &device,
                               uint64_t &bytes) const;
};

/// Plans batch after batch; see dfrt_planner. What `plan` gives belongs to the
/// planner and is valid until the next call.
class PlannerHandle
    : public detail::Handle<dfrt_planner, &dfrt_planner_release> {
public:
  using Handle::Handle;

  static Expected<PlannerHandle>
  create(const ArtifactHandle &artifact,
         const dfrt_planner_options *options = nullptr) {
    dfrt_planner *planner = nullptr;
    Status status =
        lastStatus(dfrt_planner_create(artifact.get(), options, &planner));
    if (!status.ok())
      return status;
    return PlannerHandle(planner);
  }
  Expected<const dfrt_plan *> plan(const std::vector<dfrt_tensor> &arguments,
                                   uint32_t *origin = nullptr) const {
    const dfrt_plan *plan = nullptr;
    Status status = lastStatus(dfrt_planner_plan(
        get(), arguments.data(), static_cast<uint32_t>(arguments.size()), &plan,
        origin));
    if (!status.ok())
      return status;
    return plan;
  }
};

/// An open device.
class DeviceHandle : public detail::Handle<dfrt_device, &dfrt_device_release> {
public:
  using Handle::Handle;

  static Expected<DeviceHandle> open(const std::string &name) {
    dfrt_device *device = nullptr;
    Status status = lastStatus(dfrt_device_open(name.c_str(), &device));
    if (!status.ok())
      return status;
    return DeviceHandle(device);
  }
  Expected<std::string> describe() const {
    return detail::readText(&dfrt_device_describe, get());
  }
  Status reopen() const { return lastStatus(dfrt_device_reopen(get())); }
  Status launch(const ArtifactHandle &artifact, const dfrt_plan *plan,
                const std::vector<dfrt_tensor> &arguments,
                const dfrt_launch_options *options = nullptr) const {
    return lastStatus(dfrt_launch(get(), artifact.get(), plan, arguments.data(),
                                  static_cast<uint32_t>(arguments.size()),
                                  options));
  }
  Status launch(const ArtifactHandle &artifact, const PlanHandle &plan,
                const std::vector<dfrt_tensor> &arguments,
                const dfrt_launch_options *options = nullptr) const {
    return launch(artifact, plan.get(), arguments, options);
  }
};

inline Status PlanHandle::workspaceBytes(const DeviceHandle &device,
                                         uint64_t &bytes) const {
  return lastStatus(dfrt_plan_workspace_bytes(device.get(), get(), &bytes));
}

/// A kernel of an artifact, loaded on a CUDA device.
class KernelHandle : public detail::Handle<dfrt_kernel, &dfrt_kernel_release> {
public:
  using Handle::Handle;

  static Expected<KernelHandle>
  load(const DeviceHandle &device, const ArtifactHandle &artifact,
       const dfrt_kernel_options *options = nullptr) {
    dfrt_kernel *kernel = nullptr;
    Status status = lastStatus(
        dfrt_kernel_load(device.get(), artifact.get(), options, &kernel));
    if (!status.ok())
      return status;
    return KernelHandle(kernel);
  }
  Expected<std::string> describe() const {
    return detail::readText(&dfrt_kernel_describe, get());
  }
  Expected<dfrt_launch_shape>
  shape(const dfrt_shape_options *options = nullptr) const {
    dfrt_launch_shape shape;
    Status status =
        lastStatus(dfrt_kernel_shape(get(), options, &shape, nullptr));
    if (!status.ok())
      return status;
    return shape;
  }
};

/// Plans on the device; see dfrt_device_planner.
class DevicePlannerHandle
    : public detail::Handle<dfrt_device_planner, &dfrt_device_planner_release> {
public:
  using Handle::Handle;

  static Expected<DevicePlannerHandle>
  create(const DeviceHandle &device, const ArtifactHandle &artifact,
         const std::vector<dfrt_tensor> &bound,
         const dfrt_plan_options *options = nullptr) {
    dfrt_device_planner *planner = nullptr;
    Status status = lastStatus(dfrt_device_planner_create(
        device.get(), artifact.get(), bound.data(),
        static_cast<uint32_t>(bound.size()), options, &planner));
    if (!status.ok())
      return status;
    return DevicePlannerHandle(planner);
  }
  /// On the host, from the source that the device runs.
  Expected<PlanHandle> plan(const std::vector<dfrt_tensor> &arguments) const {
    dfrt_plan *plan = nullptr;
    Status status = lastStatus(dfrt_device_planner_plan(
        get(), arguments.data(), static_cast<uint32_t>(arguments.size()),
        &plan));
    if (!status.ok())
      return status;
    return PlanHandle(plan);
  }
  Status include(dfrt_launch_maxima &maxima) const {
    return lastStatus(dfrt_launch_maxima_include_planner(&maxima, get()));
  }
  Status report(void *stream = nullptr, uint64_t *plans = nullptr,
                uint64_t *refusals = nullptr) const {
    return lastStatus(
        dfrt_device_planner_report(get(), stream, plans, refusals));
  }
};

/// Launches of a kernel with changing plans. `stream` is a CUstream; null: the
/// device's own.
class LauncherHandle
    : public detail::Handle<dfrt_launcher, &dfrt_launcher_release> {
public:
  using Handle::Handle;

  static Expected<LauncherHandle>
  create(const KernelHandle &kernel, const dfrt_launch_shape &shape,
         const dfrt_launch_maxima &maxima,
         const dfrt_launcher_options *options = nullptr) {
    dfrt_launcher *launcher = nullptr;
    Status status = lastStatus(dfrt_launcher_create(
        kernel.get(), &shape, &maxima, options, &launcher));
    if (!status.ok())
      return status;
    return LauncherHandle(launcher);
  }
  Status bind(const std::vector<dfrt_tensor> &arguments) const {
    return lastStatus(dfrt_launcher_bind(
        get(), arguments.data(), static_cast<uint32_t>(arguments.size())));
  }
  Status upload(const dfrt_plan *plan, void *stream = nullptr) const {
    return lastStatus(dfrt_launcher_upload(get(), plan, stream));
  }
  Status upload(const PlanHandle &plan, void *stream = nullptr) const {
    return upload(plan.get(), stream);
  }
  Status plan(const DevicePlannerHandle &planner,
              void *stream = nullptr) const {
    return lastStatus(dfrt_launcher_plan(get(), planner.get(), stream));
  }
  Expected<std::vector<uint8_t>> readPlan(void *stream = nullptr) const {
    const void *first = nullptr;
    uint64_t size = 0;
    if (Status status =
            lastStatus(dfrt_launcher_read_plan(get(), stream, &first, &size));
        !status.ok())
      return status;
    const uint8_t *begin = static_cast<const uint8_t *>(first);
    return std::vector<uint8_t>(begin, begin + size);
  }
  Status launch(void *stream = nullptr) const {
    return lastStatus(dfrt_launcher_launch(get(), stream));
  }
  Status restage(const PlanHandle &plan) const {
    return lastStatus(dfrt_launcher_restage(get(), plan.get()));
  }
  Status replayed(void *stream = nullptr) const {
    return lastStatus(dfrt_launcher_replayed(get(), stream));
  }
  Status forget() const { return lastStatus(dfrt_launcher_forget(get())); }
  Status wait(void *stream = nullptr) const {
    return lastStatus(dfrt_launcher_wait(get(), stream));
  }
  Status initialise(void *stream = nullptr) const {
    return lastStatus(dfrt_launcher_initialise(get(), stream));
  }
  Expected<std::string> watchdog() const {
    const char *text = nullptr;
    if (Status status = lastStatus(dfrt_launcher_watchdog(get(), &text));
        !status.ok())
      return status;
    return std::string(text);
  }
  Status trace(uint32_t capacity, void *stream = nullptr) const {
    return lastStatus(dfrt_launcher_trace(get(), capacity, stream));
  }
  /// As dfrt_launcher_timeline leaves it.
  Status timeline(const void *&data, uint64_t &bytes,
                  void *stream = nullptr) const {
    return lastStatus(dfrt_launcher_timeline(get(), stream, &data, &bytes));
  }
};

} // namespace dfrt

#endif // DFRT_DFRT_HPP
