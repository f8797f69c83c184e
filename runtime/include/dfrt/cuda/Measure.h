//===- Measure.h - How long a launch takes ----------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The yardstick: events round the whole of what is measured, 5 warm-ups, 30
// samples, the median. Before each sample the L2 is flushed by reading 512 MB
// of something else (a fill would leave lines that are written back inside the
// timed span). Reading the bytes of a launch and doing nothing with them is the
// floor it is compared with, measured in the same process.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_CUDA_MEASURE_H
#define DFRT_CUDA_MEASURE_H

#include "dfrt/cuda/Memory.h"
#include "dfrt/cuda/Module.h"

#include <functional>
#include <optional>

namespace dfrt::cuda {

/// A kernel of the runtime's own that reads memory and does nothing else.
class Reader {
public:
  /// Compiled by the driver.
  static Expected<Reader> create(const Device &device, ModuleCache &modules);

  explicit operator bool() const { return bool(function); }
  /// Reads whole 16-byte words of [address, address + bytes) with all
  /// multiprocessors. Where `sink` is not 0, the exclusive or of all 32-bit
  /// words read is combined into the word at that address.
  Status read(uint64_t address, uint64_t bytes, const Stream &stream,
              uint64_t sink = 0) const;

private:
  Function function;
  uint32_t multiprocessors = 0;
};

struct MeasureOptions {
  uint32_t warmups = 5;
  uint32_t samples = 30;
  uint64_t flushBytes = 512000000;
};

/// Times work in a stream.
class Meter {
public:
  static Expected<Meter> create(const Device &device, ModuleCache &modules,
                                const MeasureOptions &options = {});

  const Stream &stream() const { return own; }
  /// Median of the microseconds that `work` takes from a cold L2. `work` puts
  /// it into `stream()` and does not wait.
  Expected<double> coldMicroseconds(const std::function<Status()> &work) const;
  /// Microseconds of one of `count` repetitions of `work` in a captured graph,
  /// one after the other: the median over the samples. The L2 is as the
  /// repetition before left it.
  Expected<double> graphMicroseconds(const std::function<Status()> &work,
                                     uint32_t count = 10) const;
  /// Median of the microseconds from the first CTA's begin to the last one's
  /// end, from a cold L2. `work` launches `ctas` CTAs that write dfrt_stamps to
  /// the address it is given. None where one did not.
  Expected<std::optional<double>>
  spanMicroseconds(const std::function<Status(uint64_t stamps)> &work,
                   uint32_t ctas) const;
  /// Microseconds of a cold read of so many bytes.
  Expected<double> readMicroseconds(uint64_t bytes) const;

private:
  Expected<double> sample(const std::function<Status()> &work,
                          bool flush) const;

  Device device;
  MeasureOptions options;
  Reader reader;
  Stream own;
  Buffer flushed;
  Event begin, end;
};

} // namespace dfrt::cuda

#endif // DFRT_CUDA_MEASURE_H
