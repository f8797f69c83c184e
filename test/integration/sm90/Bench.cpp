//===- Bench.cpp - Device, kernels and results of the GPU tests -----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>

using namespace dfrt;
using namespace dfrt::cuda;
using namespace bench;

int Result::asExpected() const {
  double value = cycles >= 0 ? cycles : micros;
  if (state != passed || value < 0 || expected < 0 || tolerance < 0)
    return -1;
  return value <= expected * (1 + tolerance);
}

Status Bench::open(const std::vector<std::string> &cubins) {
  TAKE(driver, Driver::open(options.driver));
  TAKE(opened, Device::open(driver, options.device));
  device = opened;
  TAKE(created, Stream::create(device, "tests"));
  stream = created;
  cache = std::make_unique<ModuleCache>(device);
  for (const std::string &name : cubins) {
    std::string path = options.cubins + "/" + name + ".cubin";
    std::ifstream file(path, std::ios::binary);
    std::vector<char> image((std::istreambuf_iterator<char>(file)), {});
    if (image.empty())
      return Status(StatusCode::invalidFile, "cannot read '" + path + "'");
    CodeRequirements code;
    code.name = name;
    code.architecture = "sm_90a";
    TAKE(module, cache->load(image.data(), image.size(), code));
    modules[name] = module;
  }
  return Status::success();
}

Expected<Function> Bench::kernel(const std::string &cubin,
                                 const std::string &name) const {
  return modules.at(cubin).function(name);
}

Expected<Buffer> Bench::upload(const std::vector<uint8_t> &bytes,
                               const std::string &name) const {
  TAKE(buffer, Buffer::allocate(device, bytes.size(), name));
  TRY(buffer.upload(bytes.data(), bytes.size(), stream));
  TRY(stream.synchronize());
  return buffer;
}

std::vector<uint8_t> Bench::random(uint64_t bytes) {
  std::vector<uint8_t> result(bytes);
  for (uint64_t i = 0; i < bytes; i += 8) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    for (uint64_t j = i; j < std::min(bytes, i + 8); ++j)
      result[j] = uint8_t(state >> (8 * (j - i)));
  }
  return result;
}

double Bench::median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples.empty() ? -1 : samples[samples.size() / 2];
}

double Bench::megahertz() const {
  return measured > 0 ? measured : device.report().clockKilohertz / 1000.0;
}

void Bench::add(Result result) {
  static const char *const states[] = {"ok", "FAILED", "refused"};
  std::printf("%-22s %10llu B  cluster %3u  ctas %4u  %-7s",
              result.test.c_str(), (unsigned long long)result.bytes,
              result.cluster, result.ctas, states[result.state]);
  if (result.cycles >= 0)
    std::printf("  %8.0f cycles", result.cycles);
  if (result.micros >= 0)
    std::printf("  %9.3f us", result.micros);
  if (result.terabytes >= 0)
    std::printf("  %6.3f TB/s", result.terabytes);
  if (result.expected >= 0)
    std::printf("  expected %.*f%s", result.cycles >= 0 ? 0 : 1,
                result.expected, result.asExpected() == 0 ? " (slower)" : "");
  std::printf("%s%s\n", result.detail.empty() ? "" : "  ",
              result.detail.c_str());
  std::fflush(stdout);
  results.push_back(std::move(result));
}

void Bench::fail(const std::string &test, const Status &status) {
  Result result;
  result.test = test;
  result.state = Result::failed;
  result.detail = status.message();
  add(std::move(result));
}

int Bench::failures() const {
  return int(std::count_if(results.begin(), results.end(), [](const Result &r) {
    return r.state == Result::failed;
  }));
}

static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (uint8_t(c) >= 0x20)
      result += c;
  }
  return result + "\"";
}

static std::string number(double value) {
  if (value < 0 || !std::isfinite(value))
    return "null";
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

bool Bench::write() const {
  if (options.results.empty())
    return true;
  std::time_t now = std::time(nullptr);
  char date[32] = "";
  std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  const DeviceReport &report = device.report();
  std::string common = ", \"card\": " + quoted(report.name) +
                       ", \"date\": " + quoted(date) +
                       ", \"sm_clock_mhz\": " + number(megahertz()) + "}";
  static const char *const states[] = {"ok", "failed", "refused"};
  std::ofstream file(options.results);
  file << "[\n";
  for (const Result &result : results) {
    int expected = result.asExpected();
    file << " {\"test\": " << quoted(result.test)
         << ", \"bytes\": " << result.bytes
         << ", \"cluster\": " << result.cluster << ", \"ctas\": " << result.ctas
         << ", \"result\": " << quoted(states[result.state])
         << ", \"cycles\": " << number(result.cycles)
         << ", \"us\": " << number(result.micros)
         << ", \"tb_per_s\": " << number(result.terabytes)
         << ", \"expected\": " << number(result.expected)
         << ", \"as_expected\": "
         << (expected < 0 ? "null"
             : expected   ? "true"
                          : "false")
         << ", \"detail\": " << quoted(result.detail) << common
         << (&result == &results.back() ? "\n" : ",\n");
  }
  file << "]\n";
  return bool(file.flush());
}
