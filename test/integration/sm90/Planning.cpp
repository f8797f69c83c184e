//===- Planning.cpp - A program planned in a graph ------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Planning.h"

#include "dataflow/Schedule/Program.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>

using namespace dfrt;
using namespace planning_test;

/// draw(out, count of words, round, low, values, step): one CTA; out[i] is
/// drawn by the round and i alone. `advance(round)` begins the next one.
static const char kDraw[] = R"ptx(
.version 8.0
.target sm_90
.address_size 64

.visible .entry draw(.param .u64 p0, .param .u32 p1, .param .u64 p2,
                     .param .u32 p3, .param .u32 p4, .param .u32 p5)
{
  .reg .pred %p;
  .reg .b32 %r<12>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [p0];
  ld.param.u32 %r0, [p1];
  ld.param.u64 %d1, [p2];
  ld.param.u32 %r1, [p3];
  ld.param.u32 %r2, [p4];
  ld.param.u32 %r3, [p5];
  ld.global.u32 %r4, [%d1];
  mov.u32 %r5, %tid.x;
  mov.u32 %r6, %ntid.x;
LOOP:
  setp.ge.u32 %p, %r5, %r0;
  @%p bra DONE;
  mad.lo.u32 %r7, %r4, 2654435761, %r5;
  mad.lo.u32 %r7, %r7, 2246822519, 374761393;
  shr.u32 %r8, %r7, 15;
  xor.b32 %r7, %r7, %r8;
  mul.lo.u32 %r7, %r7, 3266489917;
  shr.u32 %r8, %r7, 16;
  xor.b32 %r7, %r7, %r8;
  rem.u32 %r7, %r7, %r2;
  mad.lo.u32 %r7, %r7, %r3, %r1;
  mul.wide.u32 %d2, %r5, 4;
  add.u64 %d3, %d0, %d2;
  st.global.u32 [%d3], %r7;
  add.u32 %r5, %r5, %r6;
  bra LOOP;
DONE:
  ret;
}

.visible .entry advance(.param .u64 p0)
{
  .reg .b32 %r0;
  .reg .b64 %d0;
  ld.param.u64 %d0, [p0];
  ld.global.u32 %r0, [%d0];
  add.u32 %r0, %r0, 1;
  st.global.u32 [%d0], %r0;
  ret;
}
)ptx";

static uint64_t elementBytesOf(uint32_t element) {
  return elementBytes(ElementType(element));
}

/// Numbers of a small range in any element type that a test has.
static void fillRandom(Tensor &tensor, std::mt19937 &random) {
  for (size_t at = 0; at < tensor.host.size();) {
    uint32_t bits = random();
    switch (tensor.element) {
    case DFRT_F32: {
      float value = float(int32_t(bits)) * 4.6e-10f;
      std::memcpy(&tensor.host[at], &value, 4);
      at += 4;
      break;
    }
    case DFRT_F16:
    case DFRT_BF16: {
      // Sign and mantissa; an exponent from -3 to 0.
      bool half = tensor.element == DFRT_F16;
      uint32_t bias = half ? 12 : 124, shift = half ? 10 : 7;
      uint16_t value =
          uint16_t((bits & 0x8000) | (bias + (bits >> 16) % 4) << shift |
                   (bits & ((1u << shift) - 1)));
      std::memcpy(&tensor.host[at], &value, 2);
      at += 2;
      break;
    }
    default: // 8 bits: e4m3, exponents from -4 to -1
      tensor.host[at++] =
          uint8_t((bits & 0x80) | (3 + (bits >> 16) % 4) << 3 | (bits & 7));
    }
  }
}

static void fillIntegers(Tensor &tensor,
                         const std::function<int64_t(size_t)> &value) {
  size_t bytes = elementBytesOf(tensor.element);
  for (size_t i = 0; i < tensor.host.size() / bytes; ++i) {
    int64_t number = value(i);
    std::memcpy(&tensor.host[i * bytes], &number, bytes); // little endian
  }
}

Status Rig::makeTensor(const dfrt_argument_info &info, const Options &given) {
  std::string text, prefix = std::string(info.name) + "=";
  for (const std::string &word : given.tensors)
    if (word.compare(0, prefix.size(), prefix) == 0)
      text = word.substr(prefix.size());
  if (text.empty())
    return Status(StatusCode::invalidArgument,
                  "argument " + prefix + "SHAPE is missing");
  Tensor tensor;
  tensor.element = info.element;
  tensor.planned = info.plan_use == DFRT_PLAN_USE_VALUES;
  uint64_t bytes = elementBytesOf(info.element);
  const char *at = text.c_str();
  for (char *end;; at = end + 1) {
    tensor.shape.push_back(std::strtoll(at, &end, 10));
    bytes *= uint64_t(tensor.shape.back());
    at = end;
    if (*end != 'x')
      break;
  }
  tensor.host.resize(bytes);
  std::string fill = *at == ':' ? at + 1 : "";
  std::vector<int64_t> numbers;
  size_t comma = fill.find(',');
  std::string kind = fill.substr(0, comma);
  while (comma != std::string::npos) {
    numbers.push_back(std::strtoll(fill.c_str() + comma + 1, nullptr, 10));
    comma = fill.find(',', comma + 1);
  }
  numbers.resize(3);
  std::mt19937 random(uint32_t(tensors.size()) + 1);
  if (kind.empty()) {
    tensor.output = true;
  } else if (kind == "random") {
    fillRandom(tensor, random);
  } else if (kind == "order") {
    std::vector<int64_t> order(size_t(bytes / elementBytesOf(info.element)));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    fillIntegers(tensor, [&](size_t i) { return order[i]; });
  } else if (kind == "steps") {
    fillIntegers(tensor, [&](size_t i) { return int64_t(i) * numbers[0]; });
  } else if (kind == "below") {
    fillIntegers(tensor,
                 [&](size_t) { return int64_t(random() % numbers[0]); });
  } else if (kind == "value") {
    fillIntegers(tensor, [&](size_t) { return numbers[0]; });
  } else if (kind == "draw" && info.element == DFRT_I32 && numbers[1] > 0) {
    tensor.low = numbers[0];
    tensor.count = numbers[1];
    tensor.step = numbers[2];
    // Until the first draw: the bound.
    fillIntegers(tensor, [&](size_t) {
      return tensor.low + (tensor.count - 1) * tensor.step;
    });
  } else {
    return Status(StatusCode::invalidArgument,
                  "the fill of argument " + prefix + text + " does not exist");
  }
  TAKE(buffer, cuda::Buffer::allocate(device, std::max<uint64_t>(bytes, 16),
                                      info.name));
  TRY(buffer.upload(tensor.host.data(), bytes, stream));
  TRY(stream.synchronize());
  tensor.device = buffer;
  tensors.push_back(std::move(tensor));
  bounds.push_back(tensors.back().count ? tensors.back().host
                                        : std::vector<uint8_t>());
  return Status::success();
}

/// Host memory: what was drawn last or, with `most`, the bound.
std::vector<dfrt_tensor> Rig::hostViews(bool most) {
  std::vector<dfrt_tensor> views;
  for (size_t i = 0; i < tensors.size(); ++i)
    views.push_back(tensors[i].view(
        most && tensors[i].count ? bounds[i].data() : tensors[i].host.data()));
  return views;
}

Status Rig::prepare(const Options &options) {
  TAKE(opened, DeviceHandle::open("cuda"));
  handle = std::move(opened);
  TAKE(driver, cuda::Driver::open());
  TAKE(same, cuda::Device::open(driver, 0));
  device = same;
  TAKE(made, cuda::Stream::create(device, "planning"));
  stream = made;
  TAKE(loaded, ArtifactHandle::fromFile(options.artifact));
  artifact = std::move(loaded);
  modules.reset(new cuda::ModuleCache(device));
  cuda::CodeRequirements code;
  code.name = "draw";
  code.architecture = "compute_90";
  code.threads = 256;
  TAKE(module, modules->load(kDraw, std::strlen(kDraw), code));
  TAKE(function, module.function("draw"));
  drawing = function;
  TAKE(advance, module.function("advance"));
  TAKE(number, cuda::Buffer::allocate(device, 16, "round"));
  rounds = number;
  TRY(rounds.fill(0, 0, 16, stream));
  for (uint32_t a = 0; a < dfrt_artifact_argument_count(artifact.get()); ++a) {
    dfrt_argument_info info;
    TRY(lastStatus(dfrt_artifact_argument(artifact.get(), a, &info)));
    TRY(makeTensor(info, options));
  }

  TAKE(chosen, KernelHandle::load(handle, artifact, nullptr));
  kernel = std::move(chosen);
  TAKE(chosenShape, kernel.shape(nullptr));
  shape = chosenShape;
  dfrt_plan_options plan;
  dfrt_plan_options_init(&plan);
  dfrt_shape_plan_options(&shape, &plan);
  std::vector<dfrt_tensor> most = hostViews(true);
  TRY(lastStatus(dfrt_device_planner_create(handle.get(), artifact.get(),
                                            most.data(), uint32_t(most.size()),
                                            &plan, &planner)));
  dfrt_launch_maxima maxima;
  dfrt_launch_maxima_init(&maxima);
  TRY(lastStatus(dfrt_launch_maxima_include_planner(&maxima, planner)));
  bytesOfPlan = maxima.plan_bytes;
  std::vector<dfrt_tensor> views;
  for (const Tensor &tensor : tensors)
    views.push_back(tensor.view(
        reinterpret_cast<void *>(uintptr_t(tensor.device.address()))));
  for (LauncherHandle *launcher : {&planned, &uploaded}) {
    TAKE(one, LauncherHandle::create(kernel, shape, maxima));
    *launcher = std::move(one);
    TRY(launcher->bind(views));
  }
  TRY(device.synchronize());
  TAKE(captured,
       cuda::Graph::capture(stream, cuda::StagingRing(), [&]() -> Status {
         TRY(poison());
         uint64_t counter = rounds.address();
         TRY(cuda::launch(advance, {1, 1, 1, 0, false}, {&counter}, stream));
         TRY(draw());
         TRY(lastStatus(
             dfrt_launcher_plan(planned.get(), planner, stream.handle())));
         return lastStatus(
             dfrt_launcher_launch(planned.get(), stream.handle()));
       }));
  graph = captured;
  return Status::success();
}

Rig::~Rig() { dfrt_device_planner_release(planner); }

Status Rig::draw() {
  for (const Tensor &tensor : tensors) {
    if (!tensor.count)
      continue;
    uint64_t out = tensor.device.address(), counter = rounds.address();
    uint32_t words = uint32_t(tensor.host.size() / 4);
    uint32_t low = uint32_t(tensor.low), values = uint32_t(tensor.count),
             step = uint32_t(tensor.step);
    TRY(cuda::launch(drawing, {1, 256, 1, 0, false},
                     {&out, &words, &counter, &low, &values, &step}, stream));
  }
  return Status::success();
}

Status Rig::poison() {
  for (const Tensor &tensor : tensors)
    if (tensor.output)
      TRY(tensor.device.fill(0xff, 0, tensor.host.size(), stream));
  return Status::success();
}

Status Rig::replay() {
  TRY(graph.replay(stream));
  return stream.synchronize();
}

Expected<std::vector<uint8_t>> Rig::devicePlan() {
  const void *bytes = nullptr;
  uint64_t size = 0;
  TRY(lastStatus(
      dfrt_launcher_read_plan(planned.get(), stream.handle(), &bytes, &size)));
  const uint8_t *first = static_cast<const uint8_t *>(bytes);
  return std::vector<uint8_t>(first, first + size);
}

Status Rig::readDrawn() {
  for (Tensor &tensor : tensors)
    if (tensor.count)
      TRY(tensor.device.download(tensor.host.data(), tensor.host.size(),
                                 stream));
  return stream.synchronize();
}

Expected<PlanHandle> Rig::hostPlan() {
  std::vector<dfrt_tensor> views = hostViews(false);
  dfrt_plan *plan = nullptr;
  TRY(lastStatus(dfrt_device_planner_plan(planner, views.data(),
                                          uint32_t(views.size()), &plan)));
  return PlanHandle(plan);
}

Status Rig::launchHost(const PlanHandle &plan) {
  TRY(poison());
  TRY(uploaded.upload(plan, stream.handle()));
  TRY(uploaded.launch(stream.handle()));
  return lastStatus(dfrt_launcher_wait(uploaded.get(), stream.handle()));
}

Expected<std::vector<uint8_t>> Rig::outputs() {
  std::vector<uint8_t> all;
  for (Tensor &tensor : tensors) {
    if (!tensor.output)
      continue;
    TRY(tensor.device.download(tensor.host.data(), tensor.host.size(), stream));
    TRY(stream.synchronize());
    all.insert(all.end(), tensor.host.begin(), tensor.host.end());
  }
  return all;
}

Status Rig::report(uint64_t &plans, uint64_t &refusals) {
  return lastStatus(
      dfrt_device_planner_report(planner, stream.handle(), &plans, &refusals));
}

Expected<std::string> Rig::refuse() {
  for (Tensor &tensor : tensors)
    if (tensor.count && tensor.planned) {
      int32_t value = int32_t(tensor.low + tensor.count * tensor.step + 1);
      TRY(tensor.device.fillWords(uint32_t(value), tensor.host.size() - 4, 1,
                                  stream));
      break;
    }
  TRY(poison());
  TRY(lastStatus(dfrt_launcher_plan(planned.get(), planner, stream.handle())));
  TRY(lastStatus(dfrt_launcher_launch(planned.get(), stream.handle())));
  TRY(lastStatus(dfrt_launcher_wait(planned.get(), stream.handle())));
  TAKE(untouched, outputs());
  for (uint8_t byte : untouched)
    if (byte != 0xff)
      return Status(StatusCode::verificationFailed,
                    "a plan that was refused computed something");
  uint64_t plans = 0, refusals = 0;
  Status refused = report(plans, refusals);
  if (refused.ok() || refusals != 1)
    return Status(StatusCode::verificationFailed,
                  "a batch beyond the bound was not refused");
  TRY(report(plans, refusals)); // told once
  return refused.message();
}

/// Microseconds of a replay of what is recorded, the best of ten.
Expected<double> Rig::timeOf(const std::function<Status()> &record) {
  TAKE(timed, cuda::Graph::capture(stream, cuda::StagingRing(), record));
  TAKE(begin, cuda::Event::create(device, true));
  TAKE(end, cuda::Event::create(device, true));
  double best = 1e30;
  for (int i = 0; i < 10; ++i) {
    TRY(begin.record(stream));
    TRY(timed.replay(stream));
    TRY(end.record(stream));
    TRY(stream.synchronize());
    TAKE(elapsed, end.microsecondsSince(begin));
    best = std::min(best, double(elapsed));
  }
  return best;
}

Expected<Times> Rig::measure() {
  TRY(draw());
  TRY(stream.synchronize());
  TRY(readDrawn());
  // What the host plans by default for the same lengths.
  dfrt_plan_options options;
  dfrt_plan_options_init(&options);
  dfrt_shape_plan_options(&shape, &options);
  std::vector<dfrt_tensor> views = hostViews(false);
  dfrt_plan *made = nullptr;
  TRY(lastStatus(dfrt_plan_make(artifact.get(), views.data(),
                                uint32_t(views.size()), &options, &made)));
  PlanHandle plan(made);
  auto planOnce = [&] {
    return lastStatus(
        dfrt_launcher_plan(planned.get(), planner, stream.handle()));
  };
  auto launchOnce = [&] {
    return lastStatus(dfrt_launcher_launch(planned.get(), stream.handle()));
  };
  auto repeated = [&](std::function<Status()> first,
                      std::function<Status()> second) -> Expected<double> {
    TAKE(time, timeOf([&]() -> Status {
           for (uint32_t i = 0; i < kRepeats; ++i) {
             if (first)
               TRY(first());
             if (second)
               TRY(second());
           }
           return Status::success();
         }));
    return time / kRepeats;
  };
  TAKE(alone, repeated(planOnce, nullptr));
  TAKE(both, repeated(planOnce, launchOnce));
  TRY(planOnce());
  TAKE(kernelOnly, repeated(nullptr, launchOnce));
  TRY(uploaded.upload(plan, stream.handle()));
  TAKE(streamed, repeated(nullptr, [&] {
         return lastStatus(
             dfrt_launcher_launch(uploaded.get(), stream.handle()));
       }));
  return Times{alone, both, kernelOnly, streamed};
}
