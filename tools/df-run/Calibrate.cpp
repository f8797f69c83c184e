//===- Calibrate.cpp - df-run --calibrate ---------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Calibrate.h; CalibrateTable.cpp has the table.
//
//===----------------------------------------------------------------------===//

#include "Calibrate.h"

#include "Progress.h"

#include "dfrt/cuda/Calibrate.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

using namespace dfrt;

namespace {
struct CalibrateOptions {
  std::string file, kernels;
  std::string device = "cuda";
  std::string driver = cuda::Driver::kDefaultLibrary;
  unsigned samples = 9;
  bool quiet = false;
};

ExitCode fail(ExitCode code, const Status &status, const std::string &next) {
  fmt::print(stderr, "df-run: error: {}\n", status.message());
  if (!next.empty())
    fmt::print(stderr, "df-run: note: {}\n", next);
  return code;
}

/// Where the kernels are installed, seen from this program.
std::string installedKernels(const char *program) {
  std::error_code error;
  std::filesystem::path self =
      std::filesystem::canonical("/proc/self/exe", error);
  if (error)
    self = std::filesystem::absolute(program, error);
  return (self.parent_path().parent_path() / "share/dataflow/calibration")
      .string();
}

std::optional<ExitCode> parse(int argc, char **argv,
                              CalibrateOptions &options) {
  CLI::App app("Measures a GPU and writes the device profile that --profile "
               "reads. The GPU\nshould have nothing else to do. "
               "docs/calibrate.md explains what is measured.",
               "df-run");
  app.add_option("--calibrate", options.file, "profile to write")
      ->type_name("FILE")
      ->required();
  app.add_option("--device", options.device,
                 "GPU: cuda (the first, default) or cuda:N")
      ->type_name("NAME");
  app.add_option("--kernels", options.kernels,
                 "folder of the compiled kernels (default: "
                 "../share/dataflow/calibration, seen from df-run)")
      ->type_name("DIR");
  app.add_option("--driver", options.driver,
                 "library of the CUDA driver (default: libcuda.so.1)")
      ->type_name("FILE");
  app.add_option("--samples", options.samples,
                 "samples of every measurement, of which the median counts "
                 "(default 9)")
      ->type_name("N")
      ->check(CLI::Range(1u, 1000u).description(""));
  app.add_flag("--quiet,-q", options.quiet, "print nothing but errors");
  app.set_help_flag("--help,-h", "print this text");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? kExitSuccess : kExitUsage;
  }
  if (cuda::ordinalOf(options.device) < 0) {
    fmt::print(stderr,
               "df-run: --calibrate measures a GPU: --device {} is not cuda "
               "or cuda:N\n",
               options.device);
    return kExitUsage;
  }
  if (options.kernels.empty())
    options.kernels = installedKernels(argv[0]);
  return std::nullopt;
}

Expected<DeviceProfile> measure(const CalibrateOptions &options) {
  Expected<std::shared_ptr<const cuda::Driver>> driver =
      cuda::Driver::open(options.driver);
  if (!driver)
    return driver.status();
  Expected<cuda::Device> device =
      cuda::Device::open(*driver, cuda::ordinalOf(options.device));
  if (!device)
    return device.status();
  Progress progress(!options.quiet);
  cuda::CalibrationOptions how;
  how.kernels = options.kernels;
  how.samples = options.samples;
  how.progress = [&](const char *what) {
    progress.phase(fmt::format("measuring: {}", what));
  };
  Expected<DeviceProfile> profile = cuda::calibrate(*device, how);
  progress.done();
  return profile;
}
} // namespace

bool dfrt::asksForCalibration(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--calibrate") == 0 ||
        std::strncmp(argv[i], "--calibrate=", 12) == 0)
      return true;
  return false;
}

ExitCode dfrt::runCalibration(int argc, char **argv) {
  CalibrateOptions options;
  if (std::optional<ExitCode> done = parse(argc, argv, options))
    return *done;
  if (Status s = cuda::findCalibrationKernels(options.kernels); !s)
    return fail(kExitFile, s,
                "a build with the compiler makes them; name their folder with "
                "--kernels DIR");
  auto begin = std::chrono::steady_clock::now();
  Expected<DeviceProfile> profile = measure(options);
  if (!profile) {
    StatusCode code = profile.status().code();
    return fail(code == StatusCode::verificationFailed ? kExitWrong
                                                       : kExitExecute,
                profile.status(),
                code == StatusCode::unsupported
                    ? "a calibration needs an NVIDIA GPU and its driver; "
                      "--device cuda:N chooses another one"
                    : "");
  }
  std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - begin;
  if (!options.quiet)
    fmt::print("{}{:.1f} s\n", profileTable(*profile), spent.count());
  std::fflush(stdout);
  std::ofstream file(options.file);
  file << profileText(*profile);
  if (!file.flush())
    return fail(kExitWrite,
                Status(StatusCode::invalidArgument,
                       fmt::format("cannot write '{}': {}", options.file,
                                   std::strerror(errno))),
                "");
  return kExitSuccess;
}
