//===- StressRig.cpp - A kernel, its plans and a foreign kernel ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StressRig.h"

#include <chrono>
#include <cstring>
#include <thread>

using namespace dfrt;
using namespace stress;

namespace {

/// hold(flag, nanoseconds): every CTA stays until *flag is not 0, or the time
/// is over.
constexpr char kHold[] = R"ptx(
.version 8.0
.target sm_90
.address_size 64

.visible .entry hold(.param .u64 p0, .param .u64 p1)
{
  .reg .pred %p;
  .reg .b32 %r0;
  .reg .b64 %d<6>;
  ld.param.u64 %d0, [p0];
  ld.param.u64 %d1, [p1];
  mov.u64 %d2, %globaltimer;
  add.u64 %d2, %d2, %d1;
WAIT:
  ld.relaxed.sys.u32 %r0, [%d0];
  setp.ne.u32 %p, %r0, 0;
  @%p bra DONE;
  nanosleep.u32 1000;
  mov.u64 %d3, %globaltimer;
  setp.lt.u64 %p, %d3, %d2;
  @%p bra WAIT;
DONE:
  ret;
}
)ptx";

} // namespace

double stress::now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status stress::wrong(const std::string &text) {
  return Status(StatusCode::verificationFailed, text);
}

Status stress::wait(const cuda::Stream &stream, double patience) {
  for (double deadline = now() + patience;;) {
    Status status = stream.query();
    if (status.code() != StatusCode::busy)
      return status;
    if (now() > deadline)
      return Status(StatusCode::deadlock,
                    "not done after " + std::to_string(int(patience)) + " s");
  }
}

Status stress::patiently(const std::function<dfrt_status()> &call) {
  double deadline = now() + kPatience;
  for (;;) {
    dfrt_status status = call();
    if (status != DFRT_BUSY || now() > deadline)
      return lastStatus(status);
  }
}

std::string Shape::name() const {
  std::string text = ticket ? "tickets" : "static";
  if (ctas)
    text += ", " + std::to_string(ctas) + " CTAs";
  if (cluster > 1)
    text += ", clusters of " + std::to_string(cluster);
  return text;
}

Status Machine::open(const std::string &name) {
  TAKE(opened, DeviceHandle::open(name));
  handle = std::move(opened);
  // The same primary context, for memory, streams and the foreign kernel.
  TAKE(driver, cuda::Driver::open());
  TAKE(same, cuda::Device::open(driver, 0));
  device = same;
  TAKE(stream, cuda::Stream::create(device, "foreign"));
  foreign = stream;
  cache.reset(new cuda::ModuleCache(device));
  TAKE(word, cuda::PinnedBuffer::allocate(device, 4, "flag"));
  flag = word;
  inputs.assign(kArguments, cuda::Buffer());
  for (Argument argument : {Query, Pages, Table, Lengths}) {
    const Tensor &tensor = batches.tensors[argument];
    TAKE(buffer, cuda::Buffer::allocate(device, tensor.bytes.size(), "tensor"));
    TRY(buffer.upload(tensor.bytes.data(), tensor.bytes.size(), foreign));
    inputs[argument] = buffer;
  }
  return wait(foreign);
}

Status Machine::hold(uint32_t count, double seconds) {
  cuda::CodeRequirements code;
  code.name = "foreign kernel";
  code.architecture = "compute_90";
  code.threads = 32;
  TAKE(module, cache->load(kHold, std::strlen(kHold), code));
  TAKE(function, module.function("hold"));
  uint32_t volatile *word = reinterpret_cast<uint32_t *>(flag.data());
  *word = 0;
  uint64_t address = flag.deviceAddress(), time = uint64_t(seconds * 1e9);
  // So much shared memory that nothing fits beside it.
  cuda::LaunchShape held;
  held.ctas = count;
  held.threads = 32;
  held.sharedBytes = device.report().sharedPerBlockOptin;
  TRY(cuda::launch(function, held, {&address, &time}, foreign));
  // Long enough for it to have started.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return Status::success();
}

Status Machine::letGo() {
  uint32_t volatile *word = reinterpret_cast<uint32_t *>(flag.data());
  *word = 1;
  return wait(foreign);
}

Status Rig::prepare(const Shape &wanted, uint32_t planCount) {
  launcher = LauncherHandle();
  plans.clear();
  if (!stream) {
    TAKE(made, cuda::Stream::create(machine->device, "stress"));
    stream = made;
    for (Argument argument : {Sums, Tiles}) {
      uint64_t bytes = machine->batches.tensors[argument].bytes.size();
      TAKE(buffer, cuda::Buffer::allocate(machine->device, bytes, "output"));
      outputs[argument] = buffer;
    }
    sums.resize(outputs[Sums].bytes());
    tiles.resize(outputs[Tiles].bytes());
  }
  dfrt_kernel_options which;
  dfrt_kernel_options_init(&which);
  which.cluster_size = wanted.cluster;
  which.ticket = wanted.ticket;
  which.watchdog = wanted.watchdog;
  TAKE(loaded, KernelHandle::load(machine->handle, *artifact, &which));
  kernel = std::move(loaded);
  dfrt_shape_options how;
  dfrt_shape_options_init(&how);
  how.ctas = wanted.ctas;
  how.cluster_size = how.smallest_cluster = wanted.cluster;
  how.any_residency = wanted.ticket;
  if (wanted.ticket)
    how.cooperation = 0;
  TAKE(chosen, kernel.shape(&how));
  shape = chosen;

  dfrt_plan_options plan;
  dfrt_plan_options_init(&plan);
  dfrt_shape_plan_options(&shape, &plan);
  plan.solver = wanted.ticket ? "tickets" : "stream";
  dfrt_capacity capacity;
  TRY(machine->batches.plans(*artifact, planCount, plan, capacity, plans));
  dfrt_launch_maxima maxima;
  dfrt_launch_maxima_init(&maxima);
  for (const PlanHandle &one : plans)
    TRY(lastStatus(dfrt_launch_maxima_include(&maxima, one.get())));
  TAKE(made, LauncherHandle::create(kernel, shape, maxima));
  launcher = std::move(made);
  std::vector<dfrt_tensor> views;
  for (size_t i = 0; i < kArguments; ++i) {
    const cuda::Buffer &buffer =
        outputs[i].bytes() ? outputs[i] : machine->inputs[i];
    views.push_back(machine->batches.tensors[i].view(
        reinterpret_cast<void *>(uintptr_t(buffer.address()))));
  }
  TRY(launcher.bind(views));
  // The launcher's memory is initialised in the device's own stream.
  return machine->device.synchronize();
}

Status Rig::poison() const {
  for (Argument output : {Sums, Tiles})
    TRY(outputs[output].fill(0xff, 0, outputs[output].bytes(), stream));
  return Status::success();
}

Status Rig::upload(const PlanHandle &plan) const {
  return patiently([&] {
    return dfrt_launcher_upload(launcher.get(), plan.get(), stream.handle());
  });
}

Status Rig::launch() const { return launcher.launch(stream.handle()); }

Status Rig::start(uint32_t batch) const {
  TRY(poison());
  TRY(upload(plans[batch]));
  return launch();
}

Status Rig::compare(uint32_t batch) {
  // A download to ordinary memory blocks; this gives up.
  TRY(wait(stream));
  TRY(outputs[Sums].download(sums.data(), sums.size(), stream));
  TRY(outputs[Tiles].download(tiles.data(), tiles.size(), stream));
  TRY(wait(stream));
  return machine->batches.compare(batch, sums.data(), tiles.data());
}
