//===- Kernel.cpp - A kernel of an artifact on a device -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dfrt/cuda/Kernel.h"

#include "FunctionState.h"

#include "dataflow/Schedule/JsonWriter.h"
#include "dataflow/Schedule/Schedulers.h"

using namespace dfrt;
using namespace dfrt::cuda;

namespace dfrt::cuda {
struct LoadedKernelState {
  Device device;
  Kernel record;
  Function function;
  std::string program;
  uint64_t fingerprint = 0;
};
} // namespace dfrt::cuda

namespace {
/// Differences, separated by "; ".
class Differences {
public:
  template <typename... Parts>
  void add(const Parts &...parts) {
    if (!text.empty())
      text += "; ";
    text += textOf(parts...);
  }
  std::string text;
};

CodeRequirements requirementsOf(const Kernel &kernel) {
  CodeRequirements code;
  code.name = kernel.symbol;
  code.architecture = kernel.target;
  code.threads = kernel.threads;
  code.sharedBytes = kernel.reservedBytes;
  code.tensorMaps = !kernel.maps.empty();
  return code;
}

std::string requestDifferences(const Kernel &kernel,
                               const KernelRequest &request) {
  Differences differ;
  if (!request.symbol.empty() && kernel.symbol != request.symbol)
    differ.add("it is not called '", request.symbol, "'");
  if (uint32_t missing = request.disciplines & ~kernel.disciplines)
    differ.add("it takes no ", missing & 1 ? "static" : "ticket", " queues");
  if (request.clusterSize > kernel.maxCluster)
    differ.add("it takes clusters of at most ", kernel.maxCluster, ", not of ",
               request.clusterSize);
  if (request.watchdog && !kernel.watchdog)
    differ.add("it is no watchdog build");
  if (request.timeline && !kernel.timeline)
    differ.add("it records no timeline");
  if (request.plan)
    if (std::string text = planDifferences(kernel, *request.plan);
        !text.empty())
      differ.add(text);
  return differ.text;
}
} // namespace

std::string cuda::planDifferences(const Kernel &kernel, const PlanFacts &plan) {
  Differences differ;
  if (!(kernel.disciplines & (plan.ticket ? 2u : 1u)))
    differ.add("the plan has ",
               plan.ticket ? "a ticket queue" : "static queues",
               ", which the kernel does not take");
  for (uint32_t t = 1; t < 5; ++t)
    if ((plan.transports & ~kernel.transports) >> t & 1)
      differ.add("the plan has ", transportName(Transport(t)),
                 " transfers, which the kernel does not do");
  if (plan.reservedBytes != kernel.reservedBytes)
    differ.add("the plan leaves ", plan.reservedBytes,
               " bytes of shared memory to the kernel, which needs ",
               kernel.reservedBytes);
  if (plan.barriers > kernel.maxBarriers)
    differ.add("a cta of the plan has ", plan.barriers,
               " barriers, the kernel has room for ", kernel.maxBarriers);
  if (plan.clusterSize > kernel.maxCluster)
    differ.add("the plan has clusters of ", plan.clusterSize,
               ", the kernel takes at most ", kernel.maxCluster);
  return differ.text;
}

Expected<uint32_t> cuda::chooseKernel(const std::string &program,
                                      const std::vector<Kernel> &kernels,
                                      const DeviceReport &device,
                                      const KernelRequest &request) {
  std::string reasons;
  uint32_t second = kNone;
  for (uint32_t k = 0; k < kernels.size(); ++k) {
    Differences differ;
    if (std::string text =
            requirementDifferences(device, requirementsOf(kernels[k]));
        !text.empty())
      differ.add(text);
    if (std::string text = requestDifferences(kernels[k], request);
        !text.empty())
      differ.add(text);
    if (differ.text.empty()) {
      bool asked = kernels[k].watchdog == request.watchdog &&
                   kernels[k].timeline == request.timeline;
      if (asked || !request.symbol.empty())
        return k;
      // What nobody asked for costs time, but does no harm.
      if (second == kNone)
        second = k;
      continue;
    }
    reasons += textOf(reasons.empty() ? "" : "; ", "kernel '",
                      kernels[k].symbol, "': ", differ.text);
  }
  if (second != kNone)
    return second;
  if (kernels.empty())
    return failure(StatusCode::unsupported, "program '", program,
                   "' has no kernel: its artifact was compiled without a "
                   "device target; compile it for ",
                   device.architecture());
  return failure(StatusCode::unsupported, "program '", program,
                 "' has no kernel that fits '", device.name, "' (device ",
                 device.ordinal, "): ", reasons,
                 "; compile the artifact for this device, or plan for one of "
                 "its kernels");
}

Expected<LoadedKernel>
LoadedKernel::load(const Device &device, ModuleCache &cache,
                   const Kernel &kernel, const CodeBlob &code,
                   const std::string &program, uint64_t fingerprint) {
  DFRT_TRY(requireHandle(device.shared().get(), "device"));
  CodeRequirements requirements = requirementsOf(kernel);
  requirements.name = textOf(program, "/", kernel.symbol);
  Expected<Module> module =
      cache.load(code.bytes.data(), code.bytes.size(), requirements);
  if (!module)
    return module.status();
  Expected<Function> function = module->function(kernel.symbol);
  if (!function)
    return function.status();
  // What the code needs beyond its record shows only now.
  if (function->report().maxThreads < kernel.threads)
    return failure(StatusCode::unsupported, "kernel '", kernel.symbol,
                   "': the artifact says ", kernel.threads,
                   " threads a CTA, but by its registers the device runs at "
                   "most ",
                   function->report().maxThreads,
                   "; compile it with fewer registers a thread");
  auto state = std::make_shared<LoadedKernelState>();
  state->device = device;
  state->record = kernel;
  state->function = *function;
  state->program = program;
  state->fingerprint = fingerprint;
  LoadedKernel loaded;
  loaded.state = std::move(state);
  return loaded;
}

const Device &LoadedKernel::device() const { return state->device; }
const Kernel &LoadedKernel::record() const { return state->record; }
const Function &LoadedKernel::function() const { return state->function; }
const std::string &LoadedKernel::program() const { return state->program; }
uint64_t LoadedKernel::fingerprint() const { return state->fingerprint; }

Status LoadedKernel::check(const PlanFacts &plan) const {
  DFRT_TRY(requireHandle(state.get(), "kernel"));
  Differences differ;
  if (plan.fingerprint != state->fingerprint)
    differ.add("the plan was made for another program than '", state->program,
               "' (fingerprint ", plan.fingerprint, ", not ",
               state->fingerprint, ")");
  if (std::string text = planDifferences(state->record, plan); !text.empty())
    differ.add(text);
  if (differ.text.empty())
    return Status::success();
  return failure(StatusCode::invalidArgument, "kernel '", state->record.symbol,
                 "' cannot execute this plan: ", differ.text,
                 "; plan with the topology of the kernel's launch shape, or "
                 "choose another kernel");
}

std::string LoadedKernel::json() const {
  const Kernel &kernel = state->record;
  const FunctionReport &report = state->function.report();
  JsonWriter json;
  json.beginObject();
  json.member("program", state->program);
  json.member("symbol", kernel.symbol);
  json.member("target", kernel.target);
  json.member("static_queues", (kernel.disciplines & 1) != 0);
  json.member("ticket_queues", (kernel.disciplines & 2) != 0);
  json.beginArray("transports");
  for (uint32_t t = 1; t < 5; ++t)
    if (kernel.transports >> t & 1)
      json.element(transportName(Transport(t)));
  json.endArray();
  json.member("threads", kernel.threads);
  json.member("reserved_bytes", kernel.reservedBytes);
  json.member("max_barriers", kernel.maxBarriers);
  json.member("scratch_bytes", kernel.scratchBytes);
  json.member("max_cluster", kernel.maxCluster);
  json.member("watchdog", kernel.watchdog);
  json.member("timeline", kernel.timeline);
  json.member("tensor_maps", kernel.maps.size());
  json.member("registers", report.registers);
  json.member("local_bytes", report.localBytes);
  json.member("static_shared_bytes", report.staticSharedBytes);
  json.beginArray("remarks");
  for (const std::string &remark : kernel.remarks)
    json.element(remark);
  json.endArray();
  json.endObject();
  return json.take();
}

Expected<ChosenShape>
cuda::chooseKernelShape(const LoadedKernel &kernel, const DeviceProbe &probe,
                        const KernelShapeRequest &request) {
  if (!kernel)
    return failure(StatusCode::invalidArgument, "the kernel handle is empty");
  const Kernel &record = kernel.record();
  const DeviceReport &device = kernel.device().report();
  if (request.clusterSize > record.maxCluster)
    return failure(StatusCode::invalidArgument, "kernel '", record.symbol,
                   "': clusters of ", request.clusterSize,
                   " were asked for, it takes at most ", record.maxCluster);
  uint64_t limit =
      device.sharedPerBlockOptin - kernel.function().report().staticSharedBytes;
  ShapeRequest asked;
  asked.wanted.threads = record.threads;
  asked.wanted.sharedBytes = request.sharedBytes ? request.sharedBytes : limit;
  if (asked.wanted.sharedBytes < record.reservedBytes ||
      asked.wanted.sharedBytes > limit)
    return failure(StatusCode::invalidArgument, "kernel '", record.symbol,
                   "': ", asked.wanted.sharedBytes,
                   " bytes of shared memory a CTA were asked for, which is "
                   "not ",
                   record.reservedBytes, " (its own) to ", limit,
                   " (the device's)");
  asked.smallestCluster = request.smallestCluster;
  asked.cooperation = request.cooperation;
  asked.resident = request.resident;
  asked.wanted.clusterSize = request.clusterSize;
  if (request.ctas) {
    asked.wanted.ctas = request.ctas;
    return chooseShape(kernel.function(), probe, asked);
  }
  // As many as are resident, which depends on the cluster size.
  std::vector<std::string> refused;
  for (uint32_t cluster = request.clusterSize;
       cluster && cluster >= request.smallestCluster; cluster /= 2) {
    asked.wanted.clusterSize = asked.wanted.ctas = cluster;
    asked.smallestCluster = cluster;
    Expected<ChosenShape> chosen = chooseShape(kernel.function(), probe, asked);
    if (!chosen && chosen.status().code() != StatusCode::resourceExhausted)
      return chosen.status();
    if (chosen) {
      uint32_t wanted = device.multiprocessors / cluster * cluster;
      chosen->shape.ctas = std::min(wanted, chosen->residentCtas);
      chosen->refused = std::move(refused);
      return chosen;
    }
    refused.push_back(
        textOf("clusters of ", cluster, ": ", chosen.status().message()));
  }
  return failure(StatusCode::resourceExhausted, "kernel '", record.symbol,
                 "': no launch shape: ",
                 refused.empty() ? "the smallest cluster is larger than the "
                                   "largest"
                                 : refused.back());
}
