//===- Launcher.cpp - Launches of a kernel with changing plans ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dfrt/cuda/Launcher.h"

#include "StreamState.h"

#include <algorithm>
#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;

static_assert(DFRT_KERNEL_SECTIONS == DFRT_SECTION_COUNT);

namespace dfrt::cuda {
struct LauncherState {
  std::string name;
  LoadedKernel kernel;
  ChosenShape shape;
  LaunchMaxima maxima;
  Buffer memory;
  uint64_t planOffset = 0;
  Workspace workspace;
  Watchdog watchdog;
  StagingRing ring;

  PlanFacts plan;       ///< of the last upload
  std::string captured; ///< staging buffer that a graph reads, if any
  uint64_t capturedSections[DFRT_SECTION_COUNT] = {};
  /// The last upload outside of a capture is what the device has: nothing was
  /// captured or replayed since.
  bool uploaded = false;
  PlanningKernel planning; ///< of the last plan that was made on the device
  /// Those that graphs launch: their memory lives as long as the launcher.
  std::vector<PlanningKernel> capturedPlanning;
  std::vector<KernelArgument> arguments; ///< as they were bound
  bool bound = false;
  uint64_t stamps = 0;
  Timeline timeline;
  std::vector<uint8_t> parameters;

  uint64_t planAddress() const { return memory.address() + planOffset; }
  /// What every parameter block begins with, for the present plan.
  dfrt_kernel_parameters head() const;
  /// Brings the parameter block up to date, if there is one.
  void refresh() {
    if (!bound)
      return;
    dfrt_kernel_parameters begin = head();
    std::memcpy(parameters.data(), &begin, sizeof(begin));
  }
  /// Fails unless the plan can be executed here.
  Status check(const PlanFacts &facts) const;
  /// Whether `stream`, which another plan comes into, is captured; fails if a
  /// captured upload would be overwritten.
  Expected<bool> capturing(const Stream &stream) const;
  /// Writes `plan` into a staging buffer that was acquired.
  Status fill(uint32_t stage, const uint8_t *plan, const PlanFacts &facts,
              bool whole);
};
} // namespace dfrt::cuda

static uint64_t aligned(uint64_t bytes, uint64_t unit = 128) {
  return (bytes + unit - 1) / unit * unit;
}

void LaunchMaxima::include(const PlanFacts &plan) {
  flags = std::max(flags, plan.flags);
  slotBytes = std::max(slotBytes, plan.globalBytes);
  collectedBytes = std::max(collectedBytes, plan.collectedBytes);
  planBytes = std::max(planBytes, plan.planBytes);
}

std::string LaunchMaxima::exceededBy(const PlanFacts &plan) const {
  std::string text;
  auto test = [&](const char *what, uint64_t need, uint64_t room) {
    if (need > room)
      text += textOf(text.empty() ? "" : "; ", "it needs ", need, " ", what,
                     ", there is room for ", room);
  };
  test("flags", plan.flags, flags);
  test("bytes of global slots", plan.globalBytes, slotBytes);
  test("bytes of collected fields", plan.collectedBytes, collectedBytes);
  test("bytes of plan", plan.planBytes, planBytes);
  return text;
}

uint64_t cuda::scratchStride(const Kernel &kernel, const LaunchMaxima &maxima) {
  return aligned(aligned(kernel.scratchBytes) + maxima.collectedBytes);
}

static Expected<WorkspaceMaxima> workspaceMaxima(const Kernel &kernel,
                                                 const LaunchShape &shape,
                                                 const LaunchMaxima &maxima) {
  // Each before it is added to others, so that no sum wraps around.
  constexpr uint64_t kLimit = uint64_t(1) << 40;
  constexpr uint32_t kMostCtas = 1 << 20;
  const std::pair<const char *, uint64_t> sizes[] = {
      {"scratch of the kernel's own", kernel.scratchBytes},
      {"collected fields", maxima.collectedBytes},
      {"global slots", maxima.slotBytes},
      {"plan", maxima.planBytes}};
  for (const auto &[what, bytes] : sizes)
    if (bytes > kLimit)
      return failure(StatusCode::resourceExhausted, "kernel '", kernel.symbol,
                     "': ", bytes, " bytes of ", what, " are more than ",
                     kLimit);
  if (shape.ctas > kMostCtas)
    return failure(StatusCode::resourceExhausted, "kernel '", kernel.symbol,
                   "': memory for ", shape.ctas,
                   " CTAs was asked for, at most for ", kMostCtas, " there is");
  uint64_t stride = scratchStride(kernel, maxima);
  WorkspaceMaxima workspace;
  workspace.counters = DFRT_TICKET_COUNTERS;
  workspace.flags = maxima.flags;
  workspace.scratchBytes = aligned(maxima.slotBytes) + stride * shape.ctas;
  return workspace;
}

Expected<uint64_t> cuda::requiredBytes(const Kernel &kernel,
                                       const LaunchShape &shape,
                                       const LaunchMaxima &maxima) {
  Expected<WorkspaceMaxima> workspace = workspaceMaxima(kernel, shape, maxima);
  if (!workspace)
    return workspace.status();
  Expected<uint64_t> bytes = requiredBytes(*workspace);
  if (!bytes)
    return bytes.status();
  return *bytes + aligned(maxima.planBytes);
}

Expected<Launcher> Launcher::create(const LoadedKernel &kernel,
                                    const ChosenShape &shape,
                                    const LaunchMaxima &maxima,
                                    const Stream &stream,
                                    const Options &options) {
  if (!kernel)
    return failure(StatusCode::invalidArgument, "the kernel handle is empty");
  auto state = std::make_shared<LauncherState>();
  state->name = textOf("launcher '", options.name, "'");
  state->kernel = kernel;
  state->shape = shape;
  state->maxima = maxima;
  const Device &device = kernel.device();
  const Kernel &record = kernel.record();
  if (!maxima.planBytes || !options.staging)
    return failure(StatusCode::invalidArgument, state->name, ": ",
                   maxima.planBytes, " bytes of plan in ", options.staging,
                   " staging buffers hold no plan; state the largest plan");
  Expected<WorkspaceMaxima> arenas =
      workspaceMaxima(record, shape.shape, maxima);
  if (!arenas)
    return arenas.status();
  Expected<uint64_t> bytes = requiredBytes(record, shape.shape, maxima);
  if (!bytes)
    return bytes.status();
  if (options.memory && (options.memory % 256 || options.memoryBytes < *bytes))
    return failure(StatusCode::invalidArgument, state->name,
                   ": the caller's memory has ", options.memoryBytes,
                   " bytes at address ", options.memory, ", but ", *bytes,
                   " bytes at a multiple of 256 are needed");
  Expected<Buffer> memory =
      options.memory
          ? Buffer::borrow(device, options.memory, *bytes, options.name)
          : Buffer::allocate(device, *bytes, options.name);
  if (!memory)
    return memory.status();
  state->memory = *memory;
  state->planOffset = *bytes - aligned(maxima.planBytes);
  Expected<Workspace> workspace =
      Workspace::create(device, *arenas, stream, options.name, state->memory);
  if (!workspace)
    return workspace.status();
  state->workspace = *workspace;
  if (record.watchdog) {
    Expected<Watchdog> watchdog = Watchdog::create(device, shape.shape.ctas);
    if (!watchdog)
      return watchdog.status();
    state->watchdog = *watchdog;
  }
  std::vector<std::string> names;
  for (uint32_t s = 0; s < options.staging; ++s)
    names.push_back(textOf(options.name, " plan ", s));
  Expected<StagingRing> ring =
      StagingRing::create(device, names, maxima.planBytes);
  if (!ring)
    return ring.status();
  state->ring = *ring;
  Launcher launcher;
  launcher.state = std::move(state);
  return launcher;
}

const LoadedKernel &Launcher::kernel() const { return state->kernel; }
const ChosenShape &Launcher::shape() const { return state->shape; }
const LaunchMaxima &Launcher::maxima() const { return state->maxima; }
const Workspace &Launcher::workspace() const { return state->workspace; }
const std::vector<uint8_t> &Launcher::parameters() const {
  return state->parameters;
}

dfrt_kernel_parameters LauncherState::head() const {
  const LaunchState &layout = workspace.layout();
  const Kernel &record = kernel.record();
  uint64_t base = workspace.address();
  dfrt_kernel_parameters head = {};
  head.plan = planAddress();
  head.workspace = base;
  head.flags = base + layout.flags;
  head.counters = base + layout.counters;
  head.slots = base + layout.scratch;
  head.scratch = head.slots + aligned(maxima.slotBytes);
  head.scratch_stride = scratchStride(record, maxima);
  if (watchdog)
    head.watchdog = watchdog.deviceAddress();
  head.stamps = stamps;
  head.timeline = timeline.address();
  head.timeline_capacity = timeline.capacity();
  for (uint32_t s = 0; s < DFRT_SECTION_COUNT; ++s)
    head.sections[s] = head.plan + plan.sections[s];
  return head;
}

Status LauncherState::check(const PlanFacts &facts) const {
  DFRT_TRY(kernel.check(facts));
  const LaunchShape &launched = shape.shape;
  std::string text = maxima.exceededBy(facts);
  auto differs = [&](const auto &...parts) {
    text += text.empty() ? "" : "; ";
    text += textOf(parts...);
  };
  if (facts.ctas != launched.ctas || facts.clusterSize != launched.clusterSize)
    differs("it was made for ", facts.ctas, " CTAs in clusters of ",
            facts.clusterSize, ", the launch shape has ", launched.ctas,
            " in clusters of ", launched.clusterSize);
  if (facts.reservedBytes + facts.sharedBytes > launched.sharedBytes)
    differs("it needs ", facts.reservedBytes, " + ", facts.sharedBytes,
            " bytes of shared memory a CTA, the launch shape has ",
            launched.sharedBytes);
  if (!text.empty())
    return failure(StatusCode::invalidArgument, name,
                   ": the plan does not fit: ", text,
                   "; plan within the maxima and shape of the launcher, or "
                   "make a larger one");
  if (facts.resident && !launched.cooperative &&
      shape.residentCtas < launched.ctas)
    return failure(StatusCode::resourceExhausted, name,
                   ": CTAs of the plan wait for each other, but only ",
                   shape.residentCtas, " of ", launched.ctas,
                   " can be resident at once and the launch is not "
                   "cooperative; plan for fewer CTAs, or with a ticket queue");
  return Status::success();
}

Status Launcher::bind(const std::vector<KernelArgument> &arguments) const {
  DFRT_TRY(requireHandle(state.get(), "launcher"));
  Expected<std::vector<uint8_t>> block = makeParameters(
      state->kernel.device(), state->kernel.record(), state->head(), arguments);
  if (!block)
    return block.status();
  state->parameters = std::move(*block);
  state->arguments = arguments;
  state->bound = true;
  return Status::success();
}

Status LauncherState::fill(uint32_t stage, const uint8_t *bytes,
                           const PlanFacts &facts, bool whole) {
  uint8_t *target = ring.data(stage);
  if (!target)
    return failure(StatusCode::internalError, name,
                   ": a staging buffer has no memory");
  std::memcpy(target, bytes, facts.planBytes);
  uint64_t size = facts.planBytes;
  if (whole) {
    std::memset(target + size, 0, maxima.planBytes - size);
    size = maxima.planBytes;
  }
  return ring.publish(stage, size);
}

Expected<bool> LauncherState::capturing(const Stream &stream) const {
  Expected<bool> result = stream.capturing();
  if (result && *result && !captured.empty())
    return failure(StatusCode::invalidArgument, name,
                   ": an upload was captured already; make one launcher a "
                   "graph, or forget the old one");
  return result;
}

Status Launcher::upload(const uint8_t *plan, const PlanFacts &facts,
                        const Stream &stream) const {
  DFRT_TRY(requireHandle(state.get(), "launcher"));
  DFRT_TRY(state->check(facts));
  Expected<bool> capturing = state->capturing(stream);
  if (!capturing)
    return capturing.status();
  Expected<uint32_t> stage = state->ring.acquire();
  if (!stage)
    return stage.status();
  Status copied = state->fill(*stage, plan, facts, *capturing);
  if (copied.ok())
    copied = state->ring.copy(*stage, state->memory, stream, state->planOffset);
  if (!copied.ok()) {
    // The stage serves the next upload; it refuses where it was read.
    (void)state->ring.abandon(*stage);
    return copied;
  }
  if (*capturing) {
    state->captured = state->ring.name(*stage);
    std::copy(std::begin(facts.sections), std::end(facts.sections),
              state->capturedSections);
  }
  state->plan = facts;
  state->uploaded = !*capturing;
  state->refresh();
  return Status::success();
}

Status Launcher::plan(const PlanningKernel &planning,
                      const Stream &stream) const {
  DFRT_TRY(requireHandle(state.get(), "launcher"));
  if (!planning)
    return failure(StatusCode::invalidArgument, state->name,
                   ": the planning kernel is empty");
  PlanFacts facts = planFacts(planning.planner());
  DFRT_TRY(state->check(facts));
  if (!state->bound)
    return failure(StatusCode::invalidArgument, state->name,
                   ": it has no arguments to plan from; bind them first");
  Expected<bool> capturing = state->capturing(stream);
  if (!capturing)
    return capturing.status();
  std::vector<uint64_t> inputs;
  for (uint32_t index : planning.planner().inputs()) {
    const KernelArgument &argument = state->arguments[index];
    DFRT_TRY(planning.planner().checkShape(inputs.size(), argument.shape));
    inputs.push_back(argument.address);
  }
  for (uint32_t i = 0; i < state->arguments.size(); ++i)
    DFRT_TRY(planning.planner().checkExtents(i, state->arguments[i].shape));
  DFRT_TRY(planning.launch(state->planAddress(), inputs, stream));
  state->planning = planning;
  std::vector<PlanningKernel> &kept = state->capturedPlanning;
  if (*capturing && std::find(kept.begin(), kept.end(), planning) == kept.end())
    kept.push_back(planning);
  state->plan = facts;
  state->uploaded = !*capturing;
  state->refresh();
  return Status::success();
}

Status Launcher::readPlan(const Stream &stream,
                          std::vector<uint8_t> &bytes) const {
  DFRT_TRY(requireHandle(state.get(), "launcher"));
  if (!state->plan.planBytes)
    return failure(StatusCode::invalidArgument, state->name,
                   ": it has no plan");
  bytes.resize(state->plan.planBytes);
  DFRT_TRY(state->memory.download(bytes.data(), bytes.size(), stream,
                                  state->planOffset));
  DFRT_TRY(stream.synchronize());
  return sealPlan(bytes);
}

void Launcher::stamp(uint64_t address) const {
  if (!state)
    return;
  state->stamps = address;
  state->refresh();
}

Status Launcher::trace(const Timeline &memory) const {
  DFRT_TRY(requireHandle(state.get(), "launcher"));
  if (memory && !state->kernel.record().timeline)
    return failure(StatusCode::unsupported, state->name, ": kernel '",
                   state->kernel.record().symbol,
                   "' records no timeline; compile one that does (df-translate "
                   "--dataflow-to-artifact --timeline)");
  if (memory && memory.ctas() != state->shape.shape.ctas)
    return failure(StatusCode::invalidArgument, state->name,
                   ": the timeline has room for ", memory.ctas(),
                   " CTAs, the launch shape has ", state->shape.shape.ctas);
  state->timeline = memory;
  state->refresh();
  return Status::success();
}

Status Launcher::launch(const Stream &stream) const {
  DFRT_TRY(requireHandle(state.get(), "launcher"));
  Expected<bool> capturing = stream.capturing();
  if (!capturing)
    return capturing.status();
  bool captured = !state->captured.empty() || !state->capturedPlanning.empty();
  if (!state->uploaded && !(*capturing && captured))
    return failure(StatusCode::invalidArgument, state->name,
                   captured
                       ? ": its last plan is a graph's; upload one outside "
                         "of the graph first"
                       : ": it has no plan; upload one first");
  if (!state->bound)
    return failure(StatusCode::invalidArgument, state->name,
                   ": it has no arguments; bind them first");
  // An event of a capture says nothing of replays.
  if (!*capturing)
    DFRT_TRY(state->workspace.begin(stream));
  Status launched =
      cuda::launch(state->kernel.function(), state->shape.shape,
                   {static_cast<void *>(state->parameters.data())}, stream);
  if (!launched.ok()) {
    if (state->kernel.device().lost())
      state->workspace.invalidate();
    return launched;
  }
  return *capturing ? Status::success() : state->workspace.end(stream);
}

Status Launcher::restage(const uint8_t *plan, const PlanFacts &facts) const {
  DFRT_TRY(requireHandle(state.get(), "launcher"));
  if (state->captured.empty())
    return failure(StatusCode::invalidArgument, state->name,
                   ": no upload was captured");
  DFRT_TRY(state->check(facts));
  for (uint32_t s = 0; s < DFRT_SECTION_COUNT; ++s)
    if (facts.sections[s] != state->capturedSections[s])
      return failure(StatusCode::invalidArgument, state->name, ": section ", s,
                     " of the plan is at ", facts.sections[s], ", but at ",
                     state->capturedSections[s],
                     " in the captured one; pack both with the same capacity");
  Expected<uint32_t> stage = state->ring.acquire(state->captured);
  if (!stage)
    return stage.status();
  DFRT_TRY(state->fill(*stage, plan, facts, /*whole=*/true));
  state->plan = facts;
  return Status::success();
}

/// The stage with this name.
static uint32_t stageOf(const StagingRing &ring, const std::string &name) {
  uint32_t stage = 0;
  while (stage + 1 < ring.size() && ring.name(stage) != name)
    ++stage;
  return stage;
}

Status Launcher::replayed(const Stream &stream) const {
  DFRT_TRY(requireHandle(state.get(), "launcher"));
  if (state->captured.empty())
    return failure(StatusCode::invalidArgument, state->name,
                   ": no upload was captured");
  state->uploaded = false;
  return state->ring.noteRead(stageOf(state->ring, state->captured), stream);
}

Status Launcher::forget() const {
  DFRT_TRY(requireHandle(state.get(), "launcher"));
  if (state->captured.empty())
    return Status::success();
  uint32_t stage = stageOf(state->ring, state->captured);
  state->captured.clear();
  return state->ring.release(stage);
}

Status Launcher::wait(const Stream &stream) const {
  DFRT_TRY(requireHandle(state.get(), "launcher"));
  Status done = stream.synchronize();
  if (!done.ok())
    state->workspace.invalidate();
  return done;
}

Status Launcher::initialise(const Stream &stream) const {
  DFRT_TRY(requireHandle(state.get(), "launcher"));
  state->watchdog.clear();
  return state->workspace.initialise(stream);
}

void Launcher::invalidate() const {
  if (state)
    state->workspace.invalidate();
}

std::vector<WatchdogRecord> Launcher::records() const {
  return state ? state->watchdog.records() : std::vector<WatchdogRecord>();
}
