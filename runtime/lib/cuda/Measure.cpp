//===- Measure.cpp - How long a launch takes ------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dfrt/cuda/Measure.h"

#include "ReadCode.h"
#include "StreamState.h"

#include "dfrt/KernelABI.h"
#include "dfrt/cuda/Graph.h"
#include "dfrt/cuda/Launch.h"

#include <algorithm>

using namespace dfrt;
using namespace dfrt::cuda;

static double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

Expected<Reader> Reader::create(const Device &device, ModuleCache &modules) {
  DFRT_TRY(requireHandle(device.shared().get(), "device"));
  CodeRequirements code;
  code.name = "reader";
  code.architecture = "compute_90";
  code.threads = kReadThreads;
  Expected<Module> module =
      modules.load(kReadCode, sizeof(kReadCode) - 1, code);
  if (!module)
    return module.status();
  Expected<Function> function = module->function("dataflow_read");
  if (!function)
    return function.status();
  Reader reader;
  reader.function = *function;
  reader.multiprocessors = device.report().multiprocessors;
  return reader;
}

Status Reader::read(uint64_t address, uint64_t bytes, const Stream &stream,
                    uint64_t sink) const {
  DFRT_TRY(requireHandle(function.shared().get(), "reader"));
  uint64_t words = bytes / 16;
  LaunchShape shape;
  shape.ctas = kReadCtas * multiprocessors;
  shape.threads = kReadThreads;
  return launch(function, shape, {&address, &words, &sink}, stream);
}

Expected<Meter> Meter::create(const Device &device, ModuleCache &modules,
                              const MeasureOptions &options) {
  Meter meter;
  meter.device = device;
  meter.options = options;
  if (!options.samples)
    return failure(StatusCode::invalidArgument,
                   "measurement: 0 samples have no median");
  Expected<Reader> reader = Reader::create(device, modules);
  if (!reader)
    return reader.status();
  meter.reader = *reader;
  Expected<Stream> stream = Stream::create(device, "measurement");
  if (!stream)
    return stream.status();
  meter.own = *stream;
  Expected<Buffer> flushed =
      Buffer::allocate(device, options.flushBytes, "bytes that flush the L2");
  if (!flushed)
    return flushed.status();
  meter.flushed = *flushed;
  for (Event *event : {&meter.begin, &meter.end}) {
    Expected<Event> made = Event::create(device, /*timing=*/true, "sample");
    if (!made)
      return made.status();
    *event = *made;
  }
  // Reading memory that was never written may be answered without it.
  DFRT_TRY(meter.flushed.fillWords(0x3f9e3779, 0, options.flushBytes / 4,
                                   meter.own));
  DFRT_TRY(meter.own.synchronize());
  return meter;
}

Expected<double> Meter::sample(const std::function<Status()> &work,
                               bool flush) const {
  if (flush)
    DFRT_TRY(reader.read(flushed.address(), flushed.bytes(), own));
  DFRT_TRY(begin.record(own));
  DFRT_TRY(work());
  DFRT_TRY(end.record(own));
  DFRT_TRY(own.synchronize());
  return end.microsecondsSince(begin);
}

Expected<double>
Meter::coldMicroseconds(const std::function<Status()> &work) const {
  std::vector<double> times;
  for (uint32_t i = 0; i < options.warmups + options.samples; ++i) {
    Expected<double> time = sample(work, /*flush=*/true);
    if (!time)
      return time.status();
    if (i >= options.warmups)
      times.push_back(*time);
  }
  return median(std::move(times));
}

Expected<double> Meter::graphMicroseconds(const std::function<Status()> &work,
                                          uint32_t count) const {
  Expected<Graph> graph = Graph::capture(own, StagingRing(), [&]() -> Status {
    for (uint32_t i = 0; i < count; ++i)
      DFRT_TRY(work());
    return Status::success();
  });
  if (!graph)
    return graph.status();
  std::vector<double> times;
  for (uint32_t i = 0; i < options.warmups + options.samples; ++i) {
    Expected<double> time =
        sample([&] { return graph->replay(own); }, /*flush=*/false);
    if (!time)
      return time.status();
    if (i >= options.warmups)
      times.push_back(*time / count);
  }
  return median(std::move(times));
}

Expected<std::optional<double>>
Meter::spanMicroseconds(const std::function<Status(uint64_t)> &work,
                        uint32_t ctas) const {
  std::vector<dfrt_stamp> stamps(ctas);
  Expected<Buffer> buffer =
      Buffer::allocate(device, ctas * sizeof(dfrt_stamp), "stamps");
  if (!buffer)
    return buffer.status();
  std::vector<double> times;
  for (uint32_t i = 0; i < options.warmups + options.samples; ++i) {
    DFRT_TRY(buffer->fill(0, 0, buffer->bytes(), own));
    Expected<double> time =
        sample([&] { return work(buffer->address()); }, /*flush=*/true);
    if (!time)
      return time.status();
    DFRT_TRY(buffer->download(stamps.data(), buffer->bytes(), own));
    DFRT_TRY(own.synchronize());
    uint64_t begin = UINT64_MAX, end = 0;
    for (const dfrt_stamp &stamp : stamps) {
      begin = std::min(begin, stamp.begin);
      end = std::max(end, stamp.end);
      if (!stamp.begin || stamp.end < stamp.begin)
        return std::optional<double>();
    }
    if (i >= options.warmups)
      times.push_back(double(end - begin) / 1000);
  }
  return std::optional<double>(median(std::move(times)));
}

Expected<double> Meter::readMicroseconds(uint64_t bytes) const {
  uint64_t rounded = (bytes + 15) / 16 * 16;
  Expected<Buffer> buffer =
      Buffer::allocate(device, rounded, "bytes of the read floor");
  if (!buffer)
    return buffer.status();
  DFRT_TRY(buffer->fillWords(0x3f8f1bbc, 0, rounded / 4, own));
  return coldMicroseconds(
      [&] { return reader.read(buffer->address(), rounded, own); });
}
