//===- Bench.h - What the measurements share --------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device with its kernels loaded, and medians of event times. Each
// measurement is a function that completes a part of the profile.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CUDA_CALIBRATE_BENCH_H
#define DFRT_LIB_CUDA_CALIBRATE_BENCH_H

#include "dataflow/Schedule/Message.h"
#include "dfrt/cuda/Calibrate.h"
#include "dfrt/cuda/Launch.h"
#include "dfrt/cuda/Memory.h"

#include <map>

/// Declares `name` with the value of `expression`, or leaves with its failure.
#define DFRT_TAKE(name, expression)                                            \
  auto name##OrFailure = (expression);                                         \
  if (!name##OrFailure)                                                        \
    return name##OrFailure.status();                                           \
  auto &name = *name##OrFailure

namespace dfrt::cuda::calibration {

/// Modules, each with its kernels; the names of files.
inline constexpr const char *kModules[] = {"handover", "multicast", "place",
                                           "stream"};

double median(std::vector<double> samples);

class Bench {
public:
  Bench(const Device &device, const CalibrationOptions &options)
      : device(device), options(options), cache(device) {}

  Status open();
  Expected<Function> kernel(const char *module, const char *name) const;
  void say(const char *what) const {
    if (options.progress)
      options.progress(what);
  }

  /// Median of the microseconds between two events around what `work` puts into
  /// the stream, after some warm-ups. `before` runs ahead of each, untimed.
  template <typename Before, typename Work>
  Expected<double> time(Before before, Work work) const {
    std::vector<double> samples;
    for (int i = -3; i < int(options.samples); ++i) {
      DFRT_TRY(before());
      DFRT_TRY(begin.record(stream));
      DFRT_TRY(work());
      DFRT_TRY(end.record(stream));
      DFRT_TRY(end.synchronize());
      DFRT_TAKE(micros, end.microsecondsSince(begin));
      if (i >= 0)
        samples.push_back(micros);
    }
    return median(std::move(samples));
  }

  Device device;
  CalibrationOptions options;
  Stream stream;

private:
  Status load(const std::string &name);

  ModuleCache cache;
  std::map<std::string, Module> modules;
  Event begin, end;
};

/// Random bytes of a fixed seed, never all zeros.
std::vector<uint64_t> randomWords(uint64_t count);

Status measureReads(const Bench &bench, DeviceProfile &profile);
Status measureHops(const Bench &bench, DeviceProfile &profile);
Status measureLaunches(const Bench &bench, DeviceProfile &profile);
/// Also the clock.
Status findProcessingClusters(const Bench &bench, DeviceProfile &profile);
Status findL2Sides(const Bench &bench, DeviceProfile &profile);

/// [rows] the half that each row of `cycles` is in, 0 or 1, by which columns
/// are near; empty when two halves do not stand out.
std::vector<int32_t>
splitInHalves(const std::vector<std::vector<double>> &cycles);

/// Groups of `count` things by who was seen together; groups of less than
/// `least` are -1. Numbered in the order of their first member.
std::vector<int32_t>
groupsOf(uint32_t count, const std::vector<std::vector<uint32_t>> &together,
         uint32_t least);

} // namespace dfrt::cuda::calibration

#endif // DFRT_LIB_CUDA_CALIBRATE_BENCH_H
