//===- CudaDevice.cpp - A CUDA device of the C API ------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"

#include "dataflow/Schedule/JsonWriter.h"

#include <algorithm>

using namespace dfrt;
using namespace dfrt::cuda;

/// The driver, opened once a library: devices of one driver share a context.
static Expected<std::shared_ptr<const Driver>>
sharedDriver(const std::string &library) {
  static std::mutex mutex;
  static std::shared_ptr<const Driver> known;
  std::lock_guard<std::mutex> lock(mutex);
  if (known && known->library() == library)
    return known;
  Expected<std::shared_ptr<const Driver>> driver = Driver::open(library);
  if (driver)
    known = *driver;
  return driver;
}

Expected<std::shared_ptr<CudaDevice>>
CudaDevice::open(const std::string &library, int ordinal) {
  Expected<std::shared_ptr<const Driver>> driver = sharedDriver(library);
  if (!driver)
    return driver.status();
  Expected<Device> device = Device::open(*driver, ordinal);
  if (!device)
    return device.status();
  Expected<DeviceProbe> probe = probeDevice(*device);
  if (!probe)
    return probe.status();
  Expected<Stream> stream =
      Stream::create(*device, textOf("own of cuda:", ordinal));
  if (!stream)
    return stream.status();
  auto result = std::make_shared<CudaDevice>();
  result->opened = *device;
  result->probed = *probe;
  result->own = *stream;
  result->modules = std::make_unique<ModuleCache>(*device);
  return result;
}

std::string CudaDevice::describe(const std::string &name) const {
  JsonWriter json;
  json.beginObject();
  json.member("device", name);
  json.endObject();
  std::string text = json.take();
  text.pop_back();
  return text + ",\"report\":" + opened.report().json() +
         ",\"probe\":" + probed.json() + "}";
}

Status CudaDevice::reopen() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!opened.lost() && own)
    return Status::success();
  kept.clear();
  modules->clear();
  own = Stream(); // none, should making the next one fail
  if (opened.lost())
    DFRT_TRY(opened.reopen());
  Expected<Stream> stream =
      Stream::create(opened, textOf("own of cuda:", opened.report().ordinal));
  if (!stream)
    return stream.status();
  own = *stream;
  return Status::success();
}

Expected<Stream> CudaDevice::stream(void *handle) const {
  if (!handle)
    return own;
  return Stream::borrow(opened, handle, "the caller's");
}

Expected<LoadedKernel> CudaDevice::load(const Artifact &artifact,
                                        const KernelRequest &request) {
  const std::string &program = artifact.program.name;
  Expected<uint32_t> index =
      chooseKernel(program, artifact.kernels, opened.report(), request);
  if (!index)
    return index.status();
  const Kernel &kernel = artifact.kernels[*index];
  return LoadedKernel::load(opened, *modules, kernel,
                            artifact.code[kernel.blob], program,
                            artifact.program.fingerprint());
}

Expected<PlanningKernel>
CudaDevice::loadPlanning(const DevicePlanner &planner) {
  return PlanningKernel::create(opened, *modules, planner, own);
}

Expected<uint64_t> CudaDevice::workspaceBytes(const Artifact &artifact,
                                              const PlanFacts &facts) const {
  KernelRequest request;
  request.plan = &facts;
  Expected<uint32_t> index = chooseKernel(
      artifact.program.name, artifact.kernels, opened.report(), request);
  if (!index)
    return index.status();
  LaunchShape shape;
  shape.ctas = facts.ctas;
  LaunchMaxima maxima;
  maxima.include(facts);
  return requiredBytes(artifact.kernels[*index], shape, maxima);
}

Expected<CudaDevice::Kept *> CudaDevice::launcherFor(
    const std::shared_ptr<ArtifactState> &artifact, const PlanFacts &facts,
    const dfrt_launch_options &options, const Stream &stream) {
  kept.erase(std::remove_if(
                 kept.begin(), kept.end(),
                 [](const Kept &entry) { return entry.artifact.expired(); }),
             kept.end());
  LaunchMaxima maxima;
  auto found = std::find_if(kept.begin(), kept.end(), [&](const Kept &entry) {
    return entry.artifact.lock() == artifact && entry.ctas == facts.ctas &&
           entry.clusterSize == facts.clusterSize &&
           entry.ticket == facts.ticket && entry.resident == facts.resident &&
           entry.stream == options.stream &&
           entry.memory == options.workspace &&
           entry.launcher.kernel().check(facts).ok();
  });
  if (found != kept.end()) {
    const Launcher &known = found->launcher;
    // The caller's memory may have become less since, at the same address.
    Expected<uint64_t> bytes = requiredBytes(
        known.kernel().record(), known.shape().shape, known.maxima());
    bool room = !options.workspace || options.workspace_bytes >= *bytes;
    if (room && known.maxima().exceededBy(facts).empty())
      return &*found;
    if (!options.workspace)
      maxima = known.maxima();
    kept.erase(found);
  }
  KernelRequest request;
  request.plan = &facts;
  Expected<LoadedKernel> kernel = load(artifact->artifact, request);
  if (!kernel)
    return kernel.status();
  KernelShapeRequest wanted;
  wanted.ctas = facts.ctas;
  wanted.clusterSize = wanted.smallestCluster = facts.clusterSize;
  wanted.resident = facts.resident;
  wanted.cooperation =
      facts.resident ? Cooperation::preferred : Cooperation::no;
  Expected<ChosenShape> shape = chooseKernelShape(*kernel, probed, wanted);
  if (!shape)
    return shape.status();
  maxima.include(facts);
  Launcher::Options how;
  how.name = artifact->artifact.program.name;
  how.memory = reinterpret_cast<uintptr_t>(options.workspace);
  how.memoryBytes = options.workspace_bytes;
  Expected<Launcher> launcher =
      Launcher::create(*kernel, *shape, maxima, stream, how);
  if (!launcher)
    return launcher.status();
  kept.push_back({artifact,
                  facts.ctas,
                  facts.clusterSize,
                  facts.ticket,
                  facts.resident,
                  options.stream,
                  options.workspace,
                  *launcher,
                  {}});
  return &kept.back();
}

KernelArgument cuda::makeArgument(const std::string &name, uint64_t address,
                                  ElementType element,
                                  const std::vector<int64_t> &shape) {
  TensorView view;
  view.element = element;
  view.data = reinterpret_cast<void *>(uintptr_t(address));
  view.shape = shape;
  return {name, address, element, shape, makeDescriptor(view)};
}

Status dfrt::kernelArguments(const Program &program,
                             const dfrt_tensor *arguments, uint32_t count,
                             std::vector<KernelArgument> &result) {
  std::vector<TensorView> views;
  DFRT_TRY(viewTensors(program, arguments, count, /*partial=*/false, views));
  DFRT_TRY(checkTensors(program, views, /*reference=*/false));
  for (size_t i = 0; i < views.size(); ++i)
    result.push_back(makeArgument(program.arguments[i].name,
                                  reinterpret_cast<uintptr_t>(views[i].data),
                                  views[i].element, views[i].shape));
  return Status::success();
}

Status CudaDevice::launch(const std::shared_ptr<ArtifactState> &artifact,
                          const std::shared_ptr<PlanState> &plan,
                          const dfrt_tensor *arguments, uint32_t count,
                          const dfrt_launch_options &options) {
  const Program &program = artifact->artifact.program;
  std::vector<KernelArgument> bound;
  DFRT_TRY(kernelArguments(program, arguments, count, bound));
  PlanFacts facts = planFacts(program, plan->bytes.data());
  Expected<Stream> stream = this->stream(options.stream);
  if (!stream)
    return stream.status();
  // The next launch would find a plan that only a replay brings.
  Expected<bool> capturing = stream->capturing();
  if (!capturing)
    return capturing.status();
  if (*capturing)
    return failure(StatusCode::unsupported, "program '", program.name,
                   "': dfrt_launch cannot be captured; capture "
                   "dfrt_launcher_upload and dfrt_launcher_launch");
  Launcher launcher;
  {
    std::lock_guard<std::mutex> lock(mutex);
    Expected<Kept *> entry = launcherFor(artifact, facts, options, *stream);
    if (!entry)
      return entry.status();
    launcher = (*entry)->launcher;
    DFRT_TRY(launcher.bind(bound));
    // Memory of the caller may have been used for something else since.
    if (options.workspace)
      DFRT_TRY(launcher.initialise(*stream));
    if (options.workspace || (*entry)->plan.lock() != plan) {
      (*entry)->plan.reset();
      DFRT_TRY(launcher.upload(plan->bytes.data(), facts, *stream));
      (*entry)->plan = plan;
    }
    DFRT_TRY(launcher.launch(*stream));
  }
  if (options.stream)
    return Status::success();
  Status done = launcher.wait(*stream);
  if (done.ok())
    return done;
  std::lock_guard<std::mutex> lock(mutex);
  kept.clear();
  return withWatchdog(done, launcher, plan.get());
}

std::string dfrt::watchdogText(const Launcher &launcher,
                               const PlanState *plan) {
  std::vector<WatchdogRecord> records = launcher.records();
  if (!plan)
    return describeWatchdog(records, launcher.shape().shape.ctas);
  Expected<PlanImage> image = readPlan(plan->bytes.data(), plan->bytes.size());
  return describeWatchdog(records, launcher.shape().shape.ctas,
                          image ? &*image : nullptr);
}

Status dfrt::withWatchdog(const Status &failed, const Launcher &launcher,
                          const PlanState *plan) {
  if (failed.ok() || launcher.records().empty())
    return failed;
  std::string text = watchdogText(launcher, plan);
  std::replace(text.begin(), text.end(), '\n', ';');
  return Status(StatusCode::deadlock, failed.message() + "; " + text);
}
