//===- Bench.h - Device, kernels and results of the GPU tests ---*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tests of the kernels in runtime/kernels share: an opened device with
// loaded cubins, random data, timing, and a table of results that is printed a
// line a test and written as JSON. A result says whether the data were right
// (that decides the exit code) and, apart from it, whether a time was as
// expected.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_SM90_BENCH_H
#define DATAFLOW_TEST_SM90_BENCH_H

#include "Try.h"

#include "dfrt/cuda/Launch.h"
#include "dfrt/cuda/Memory.h"

#include <map>

namespace bench {

struct Options {
  std::string cubins; ///< folder
  std::string driver = dfrt::cuda::Driver::kDefaultLibrary;
  std::string results; ///< JSON file; empty: none
  int device = 0;
  int samples = 30;
};

/// One line of the table. Numbers that do not exist are negative.
struct Result {
  std::string test;
  uint64_t bytes = 0;
  uint32_t cluster = 1; ///< or size of the ring
  uint32_t ctas = 0;
  enum { passed, failed, refused } state = passed;
  double cycles = -1;    ///< of a hop
  double micros = -1;    ///< of a hop, or of the kernel
  double expected = -1;  ///< in cycles, or in microseconds without `cycles`
  double tolerance = -1; ///< share of `expected`
  double terabytes = -1; ///< per second
  std::string detail;

  /// 1 within the tolerance (faster is within), 0 not, -1 not known.
  int asExpected() const;
};

class Bench {
public:
  explicit Bench(const Options &options) : options(options) {}

  /// Opens the device and loads the cubins. `unsupported` when there is no
  /// device.
  dfrt::Status open(const std::vector<std::string> &cubins);
  dfrt::Expected<dfrt::cuda::Function> kernel(const std::string &cubin,
                                              const std::string &name) const;

  /// Device memory with these bytes, or with random ones.
  dfrt::Expected<dfrt::cuda::Buffer> upload(const std::vector<uint8_t> &bytes,
                                            const std::string &name) const;
  std::vector<uint8_t> random(uint64_t bytes);

  /// Microseconds by events of what `work` puts into the stream: 5 warm-ups,
  /// then the median of the samples. `before` runs ahead of each, untimed.
  template <typename Before, typename Work>
  dfrt::Expected<double> time(Before before, Work work) const {
    TAKE(begin, dfrt::cuda::Event::create(device, /*timing=*/true));
    TAKE(end, dfrt::cuda::Event::create(device, /*timing=*/true));
    std::vector<double> samples;
    for (int i = -5; i < options.samples; ++i) {
      TRY(before());
      TRY(begin.record(stream));
      TRY(work());
      TRY(end.record(stream));
      TRY(end.synchronize());
      TAKE(micros, end.microsecondsSince(begin));
      if (i >= 0)
        samples.push_back(micros);
    }
    return median(std::move(samples));
  }

  /// Prints the line and keeps it.
  void add(Result result);
  void fail(const std::string &test, const dfrt::Status &status);
  int failures() const;
  /// The table as JSON, to the file of the options.
  bool write() const;

  /// Cycles a microsecond: what the device says, or what kernels measured.
  double megahertz() const;
  void measuredClock(double megahertz) { measured = megahertz; }

  Options options;
  dfrt::cuda::Device device;
  dfrt::cuda::Stream stream;

private:
  static double median(std::vector<double> samples);

  std::unique_ptr<dfrt::cuda::ModuleCache> cache;
  std::map<std::string, dfrt::cuda::Module> modules;
  std::vector<Result> results;
  double measured = 0;
  uint64_t state = 0x9e3779b97f4a7c15u;
};

} // namespace bench

#endif // DATAFLOW_TEST_SM90_BENCH_H
