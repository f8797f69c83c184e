//===- Commands.cpp - df-run --commands -----------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Commands.h.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "Driver.h"
#include "Profile.h"

#include "dfrt/cuda/Device.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace dfrt;

namespace {
constexpr char kOption[] = "--commands";

class CommandRunner {
public:
  ExitCode run(std::vector<std::string> words);
  bool usedGpu() const { return gpu; }

private:
  void keepOpen(const std::string &name);

  std::map<std::string, cuda::Device> devices;
  bool gpu = false; ///< the last command ran on one
};
} // namespace

// A device that cannot be opened is the command's error to report.
void CommandRunner::keepOpen(const std::string &name) {
  if (devices.count(name))
    return;
  Expected<std::shared_ptr<const cuda::Driver>> driver = cuda::Driver::open();
  if (!driver)
    return;
  Expected<cuda::Device> device =
      cuda::Device::open(*driver, cuda::ordinalOf(name));
  if (device)
    devices.emplace(name, *device);
}

ExitCode CommandRunner::run(std::vector<std::string> words) {
  gpu = false;
  std::vector<char *> argv = {const_cast<char *>("df-run")};
  for (std::string &word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  Options options;
  if (std::optional<ExitCode> done =
          parseOptions(int(argv.size()) - 1, argv.data(), options))
    return *done;
  if (std::optional<ExitCode> done = useProfile(options))
    return *done;
  gpu = options.device != "cpu" && !options.planOnly;
  if (options.device != "cpu")
    keepOpen(options.device);
  return runPoints(options);
}

bool dfrt::asksForCommands(int argc, char **argv) {
  return argc > 1 && std::strcmp(argv[1], kOption) == 0;
}

ExitCode dfrt::runCommands(int argc, char **argv) {
  if (argc != 3) {
    fmt::print(stderr,
               "df-run: error: {0} takes one file and nothing else\n"
               "df-run: note: df-run {0} FILE; each line of FILE holds what "
               "may stand behind df-run\n",
               kOption);
    return kExitUsage;
  }
  std::ifstream file(argv[2]);
  if (!file) {
    fmt::print(stderr, "df-run: error: cannot read '{}': {}\n", argv[2],
               std::strerror(errno));
    return kExitUsage;
  }
  CommandRunner runner;
  ExitCode result = kExitSuccess;
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    std::istringstream text(line);
    std::vector<std::string> words;
    for (std::string word; text >> word;)
      words.push_back(std::move(word));
    if (words.empty() || words[0][0] == '#')
      continue;
    ExitCode status = runner.run(std::move(words));
    std::fflush(stderr);
    fmt::print("{{\"line\": {}, \"status\": {}}}\n", number, int(status));
    std::fflush(stdout);
    if (result == kExitSuccess)
      result = status;
    if (status == kExitExecute && runner.usedGpu()) {
      fmt::print(stderr,
                 "df-run: note: line {} of {} is the last that was run: after "
                 "it failed, the GPU may not work for this process\n",
                 number, argv[2]);
      break;
    }
  }
  return result;
}
