//===- APILauncher.cpp - C API: kernels and launchers ---------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LauncherHandles.h"
#include "Options.h"

using namespace dfrt;
using namespace dfrt::cuda;

static_assert(uint32_t(Cooperation::required) == 2);

namespace {
ChosenShape chosenShape(const dfrt_launch_shape &shape) {
  ChosenShape chosen;
  chosen.shape = {shape.ctas, shape.threads, shape.cluster_size,
                  shape.shared_bytes, shape.cooperative != 0};
  chosen.residentCtas = shape.resident_ctas;
  return chosen;
}

PlanFacts factsOf(const PlanState &plan) {
  return planFacts(plan.artifact->artifact.program, plan.bytes.data());
}

Status load(CudaDevice &device, ArtifactState &artifact,
            const dfrt_kernel_options &options, LoadedKernel &loaded) {
  KernelRequest request;
  PlanFacts facts;
  if (options.symbol)
    request.symbol = options.symbol;
  if (options.plan) {
    facts = factsOf(*options.plan->state);
    request.plan = &facts;
  }
  request.disciplines = options.ticket ? 2 : 0;
  request.clusterSize = options.cluster_size;
  request.watchdog = options.watchdog;
  request.timeline = options.timeline;
  Expected<LoadedKernel> kernel = device.load(artifact.artifact, request);
  if (!kernel)
    return kernel.status();
  loaded = *kernel;
  return Status::success();
}

} // namespace

Status dfrt::readMaxima(const dfrt_launch_maxima *given, LaunchMaxima &maxima) {
  DFRT_TRY(require(given, "maxima"));
  dfrt_launch_maxima known;
  dfrt_launch_maxima_init(&known);
  DFRT_TRY(readOptions(given, known));
  maxima = {known.flags, known.slot_bytes, known.collected_bytes,
            known.plan_bytes};
  return Status::success();
}

Status dfrt::includeFacts(const PlanFacts &facts, dfrt_launch_maxima *maxima) {
  LaunchMaxima known;
  DFRT_TRY(readMaxima(maxima, known));
  // All that is written below, which the first version had.
  constexpr uint32_t kBytes =
      offsetof(dfrt_launch_maxima, plan_bytes) + sizeof(maxima->plan_bytes);
  if (maxima->struct_bytes < kBytes)
    return failure(StatusCode::invalidArgument, "maxima have struct_bytes ",
                   maxima->struct_bytes, ", expected at least ", kBytes,
                   "; use the init function");
  known.include(facts);
  maxima->flags = known.flags;
  maxima->slot_bytes = known.slotBytes;
  maxima->collected_bytes = known.collectedBytes;
  maxima->plan_bytes = known.planBytes;
  return Status::success();
}

void dfrt_kernel_options_init_sized(dfrt_kernel_options *options,
                                    uint32_t struct_bytes) {
  dfrt_kernel_options defaults = {};
  defaults.cluster_size = 1;
  writeDefaults(defaults, options, struct_bytes);
}

void dfrt_shape_options_init_sized(dfrt_shape_options *options,
                                   uint32_t struct_bytes) {
  dfrt_shape_options defaults = {};
  defaults.cluster_size = defaults.smallest_cluster = 1;
  defaults.cooperation = 1;
  writeDefaults(defaults, options, struct_bytes);
}

void dfrt_launch_maxima_init_sized(dfrt_launch_maxima *maxima,
                                   uint32_t struct_bytes) {
  dfrt_launch_maxima defaults = {};
  writeDefaults(defaults, maxima, struct_bytes);
}

void dfrt_launcher_options_init_sized(dfrt_launcher_options *options,
                                      uint32_t struct_bytes) {
  dfrt_launcher_options defaults = {};
  defaults.staging = Launcher::Options().staging;
  writeDefaults(defaults, options, struct_bytes);
}

void dfrt_shape_plan_options(const dfrt_launch_shape *shape,
                             dfrt_plan_options *options) {
  if (!shape || !options)
    return;
  options->ctas = shape->ctas;
  options->cluster_size = shape->cluster_size;
  options->shared_bytes = shape->shared_bytes;
  options->reserved_bytes = shape->reserved_bytes;
}

dfrt_status dfrt_kernel_load(const dfrt_device *device,
                             const dfrt_artifact *artifact,
                             const dfrt_kernel_options *options,
                             dfrt_kernel **kernel) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(device, "device"));
    DFRT_TRY(require(artifact, "artifact"));
    DFRT_TRY(require(kernel, "result pointer"));
    if (!device->cuda)
      return failure(StatusCode::invalidArgument, "device '", device->name,
                     "' has no kernels; open a CUDA device");
    dfrt_kernel_options known;
    dfrt_kernel_options_init(&known);
    DFRT_TRY(readOptions(options, known));
    LoadedKernel loaded;
    DFRT_TRY(load(*device->cuda, *artifact->state, known, loaded));
    std::unique_ptr<dfrt_kernel> result(new dfrt_kernel);
    result->device = device->cuda;
    result->artifact = artifact->state;
    result->loaded = loaded;
    result->json = loaded.json();
    *kernel = result.release();
    return Status::success();
  });
}

void dfrt_kernel_release(dfrt_kernel *kernel) { delete kernel; }

dfrt_status dfrt_kernel_describe(const dfrt_kernel *kernel, const char **json) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(kernel, "kernel"));
    DFRT_TRY(require(json, "result pointer"));
    *json = kernel->json.c_str();
    return Status::success();
  });
}

dfrt_status dfrt_kernel_shape(const dfrt_kernel *kernel,
                              const dfrt_shape_options *options,
                              dfrt_launch_shape *shape, const char **refused) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(kernel, "kernel"));
    DFRT_TRY(require(shape, "result pointer"));
    dfrt_shape_options known;
    dfrt_shape_options_init(&known);
    DFRT_TRY(readOptions(options, known));
    if (known.cooperation > 2)
      return failure(StatusCode::invalidArgument, "option cooperation is ",
                     known.cooperation, ", expected 0 to 2");
    KernelShapeRequest request;
    request.ctas = known.ctas;
    request.clusterSize = known.cluster_size;
    request.smallestCluster = known.smallest_cluster;
    request.sharedBytes = known.shared_bytes;
    request.resident = !known.any_residency;
    request.cooperation = Cooperation(known.cooperation);
    Expected<ChosenShape> chosen =
        chooseKernelShape(kernel->loaded, kernel->device->probe(), request);
    if (!chosen)
      return chosen.status();
    *shape = {chosen->shape.ctas,        chosen->shape.threads,
              chosen->shape.clusterSize, chosen->shape.cooperative,
              chosen->shape.sharedBytes, kernel->loaded.record().reservedBytes,
              chosen->residentCtas,      0};
    if (!refused)
      return Status::success();
    std::string text;
    for (const std::string &reason : chosen->refused)
      text += (text.empty() ? "" : "\n") + reason;
    dfrt_kernel &owner = *const_cast<dfrt_kernel *>(kernel);
    std::lock_guard<std::mutex> lock(owner.mutex);
    owner.refused.push_back(std::move(text));
    *refused = owner.refused.back().c_str();
    return Status::success();
  });
}

dfrt_status dfrt_launch_maxima_include(dfrt_launch_maxima *maxima,
                                       const dfrt_plan *plan) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(plan, "plan"));
    return includeFacts(factsOf(*plan->state), maxima);
  });
}

dfrt_status dfrt_launcher_bytes(const dfrt_kernel *kernel,
                                const dfrt_launch_shape *shape,
                                const dfrt_launch_maxima *maxima,
                                uint64_t *bytes) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(kernel, "kernel"));
    DFRT_TRY(require(shape, "launch shape"));
    DFRT_TRY(require(bytes, "result pointer"));
    LaunchMaxima known;
    DFRT_TRY(readMaxima(maxima, known));
    Expected<uint64_t> size = requiredBytes(kernel->loaded.record(),
                                            chosenShape(*shape).shape, known);
    if (!size)
      return size.status();
    *bytes = *size;
    return Status::success();
  });
}

dfrt_status dfrt_launcher_create(const dfrt_kernel *kernel,
                                 const dfrt_launch_shape *shape,
                                 const dfrt_launch_maxima *maxima,
                                 const dfrt_launcher_options *options,
                                 dfrt_launcher **launcher) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(kernel, "kernel"));
    DFRT_TRY(require(shape, "launch shape"));
    DFRT_TRY(require(launcher, "result pointer"));
    LaunchMaxima most;
    DFRT_TRY(readMaxima(maxima, most));
    dfrt_launcher_options known;
    dfrt_launcher_options_init(&known);
    DFRT_TRY(readOptions(options, known));
    Expected<Stream> stream = kernel->device->stream(known.stream);
    if (!stream)
      return stream.status();
    Launcher::Options how;
    how.name = kernel->loaded.program();
    how.staging = known.staging;
    how.memory = reinterpret_cast<uintptr_t>(known.memory);
    how.memoryBytes = known.memory_bytes;
    Expected<Launcher> made = Launcher::create(
        kernel->loaded, chosenShape(*shape), most, *stream, how);
    if (!made)
      return made.status();
    *launcher = new dfrt_launcher{
        kernel->device, kernel->artifact, *made, nullptr, {}, {}, {}};
    return Status::success();
  });
}

void dfrt_launcher_release(dfrt_launcher *launcher) { delete launcher; }

dfrt_status dfrt_launcher_bind(dfrt_launcher *launcher,
                               const dfrt_tensor *arguments, uint32_t count) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(launcher, "launcher"));
    std::vector<KernelArgument> bound;
    DFRT_TRY(kernelArguments(launcher->artifact->artifact.program, arguments,
                             count, bound));
    return launcher->launcher.bind(bound);
  });
}

dfrt_status dfrt_launcher_upload(dfrt_launcher *launcher, const dfrt_plan *plan,
                                 void *stream) {
  return inStream(launcher, stream,
                  [&](const Launcher &target, const Stream &in) {
                    DFRT_TRY(require(plan, "plan"));
                    DFRT_TRY(target.upload(plan->state->bytes.data(),
                                           factsOf(*plan->state), in));
                    launcher->plan = plan->state;
                    return Status::success();
                  });
}

dfrt_status dfrt_launcher_launch(dfrt_launcher *launcher, void *stream) {
  return inStream(launcher, stream,
                  [](const Launcher &target, const Stream &in) {
                    return target.launch(in);
                  });
}

dfrt_status dfrt_launcher_restage(dfrt_launcher *launcher,
                                  const dfrt_plan *plan) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(launcher, "launcher"));
    DFRT_TRY(require(plan, "plan"));
    DFRT_TRY(launcher->launcher.restage(plan->state->bytes.data(),
                                        factsOf(*plan->state)));
    launcher->plan = plan->state;
    return Status::success();
  });
}

dfrt_status dfrt_launcher_replayed(dfrt_launcher *launcher, void *stream) {
  return inStream(launcher, stream,
                  [](const Launcher &target, const Stream &in) {
                    return target.replayed(in);
                  });
}

dfrt_status dfrt_launcher_forget(dfrt_launcher *launcher) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(launcher, "launcher"));
    return launcher->launcher.forget();
  });
}

dfrt_status dfrt_launcher_wait(dfrt_launcher *launcher, void *stream) {
  return inStream(
      launcher, stream, [&](const Launcher &target, const Stream &in) {
        return withWatchdog(target.wait(in), target, launcher->plan.get());
      });
}

dfrt_status dfrt_launcher_initialise(dfrt_launcher *launcher, void *stream) {
  return inStream(launcher, stream,
                  [](const Launcher &target, const Stream &in) {
                    return target.initialise(in);
                  });
}

dfrt_status dfrt_launcher_watchdog(dfrt_launcher *launcher, const char **text) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(launcher, "launcher"));
    DFRT_TRY(require(text, "result pointer"));
    launcher->watchdog = watchdogText(launcher->launcher, launcher->plan.get());
    *text = launcher->watchdog.c_str();
    return Status::success();
  });
}

dfrt_status dfrt_launcher_trace(dfrt_launcher *launcher, uint32_t capacity,
                                void *stream) {
  return inStream(launcher, stream,
                  [&](const Launcher &target, const Stream &in) -> Status {
                    Timeline &timeline = launcher->timeline;
                    if (capacity != timeline.capacity()) {
                      DFRT_TRY(target.trace(Timeline()));
                      timeline = Timeline();
                    }
                    if (!capacity)
                      return Status::success();
                    if (!timeline) {
                      Expected<Timeline> made =
                          Timeline::create(target.kernel().device(),
                                           target.shape().shape.ctas, capacity);
                      if (!made)
                        return made.status();
                      DFRT_TRY(target.trace(*made));
                      timeline = *made;
                    }
                    return timeline.clear(in);
                  });
}

dfrt_status dfrt_launcher_timeline(dfrt_launcher *launcher, void *stream,
                                   const void **timeline, uint64_t *bytes) {
  return inStream(
      launcher, stream,
      [&](const Launcher &target, const Stream &in) -> Status {
        DFRT_TRY(require(timeline, "result pointer"));
        DFRT_TRY(require(bytes, "result pointer"));
        if (!launcher->timeline)
          return failure(StatusCode::invalidArgument, "launcher of '",
                         target.kernel().program(),
                         "': it records no timeline; call dfrt_launcher_trace "
                         "before the launch");
        DFRT_TRY(withWatchdog(target.wait(in), target, launcher->plan.get()));
        DFRT_TRY(launcher->timeline.read(in, launcher->recorded));
        *timeline = launcher->recorded.data();
        *bytes = launcher->recorded.size();
        return Status::success();
      });
}
