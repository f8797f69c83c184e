//===- Bench.cpp - What the measurements share ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"

#include <algorithm>
#include <fstream>
#include <iterator>

using namespace dfrt;
using namespace dfrt::cuda;
using namespace dfrt::cuda::calibration;

/// Architecture of the cubins, and of the PTX.
static constexpr char kCubinArchitecture[] = "sm_90a";
static constexpr char kTextArchitecture[] = "compute_90a";

static std::string readAll(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), {});
}

Status cuda::findCalibrationKernels(const std::string &folder) {
  for (const char *name : kModules) {
    std::string path = textOf(folder, "/", name);
    if (!std::ifstream(path + ".cubin") && !std::ifstream(path + ".ptx"))
      return failure(StatusCode::invalidFile,
                     "the calibration kernels are missing: neither '", path,
                     ".cubin' nor '", path, ".ptx' can be read");
  }
  return Status::success();
}

double calibration::median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples.empty() ? 0 : samples[samples.size() / 2];
}

std::vector<uint64_t> calibration::randomWords(uint64_t count) {
  std::vector<uint64_t> words(count);
  uint64_t state = 0x9e3779b97f4a7c15u;
  for (uint64_t &word : words) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    word = state;
  }
  return words;
}

Status Bench::load(const std::string &name) {
  CodeRequirements code;
  code.name = textOf("calibration kernels '", name, "'");
  std::string path = textOf(options.kernels, "/", name), image;
  if (device.report().architecture() == "sm_90") {
    image = readAll(path + ".cubin");
    code.architecture = kCubinArchitecture;
  }
  if (image.empty()) {
    image = readAll(path + ".ptx");
    code.architecture = kTextArchitecture;
  }
  if (image.empty())
    return failure(StatusCode::invalidFile, "cannot read '", path, ".ptx'");
  DFRT_TAKE(module, cache.load(image.data(), image.size(), code));
  modules[name] = module;
  return Status::success();
}

Status Bench::open() {
  DFRT_TRY(findCalibrationKernels(options.kernels));
  for (const char *name : kModules)
    DFRT_TRY(load(name));
  DFRT_TAKE(madeStream, Stream::create(device, "calibration"));
  stream = madeStream;
  DFRT_TAKE(first, Event::create(device, /*timing=*/true));
  begin = first;
  DFRT_TAKE(second, Event::create(device, /*timing=*/true));
  end = second;
  return Status::success();
}

Expected<Function> Bench::kernel(const char *module, const char *name) const {
  return modules.at(module).function(name);
}
