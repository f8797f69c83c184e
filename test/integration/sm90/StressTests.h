//===- StressTests.h - Command line and list of tests -----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the programs that put a compiled kernel under load have in common: their
// words, a line for each test, and the exit code: 0 when all passed, 1 when one
// failed, 2 for words that are not understood, 77 when there is no CUDA device.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_SM90_STRESSTESTS_H
#define DATAFLOW_TEST_SM90_STRESSTESTS_H

#include "StressRig.h"

namespace stress {

class Tests {
public:
  explicit Tests(std::string program) : program(std::move(program)) {}

  /// An option of this program, before `parse`. Numbers are at least 1.
  void option(const std::string &name, std::string &value);
  void option(const std::string &name, uint32_t &value);
  /// False, with a message on stderr, for words that are not understood.
  bool parse(int count, char **words);

  /// Opens the device. Prints why there can be no tests, and returns the exit
  /// code, or 0.
  int open(Machine &machine) const;
  int giveUp(const dfrt::Status &status, int exitCode = 1) const;

  /// Whether `--only` asks for it.
  bool wants(const std::string &name) const {
    return name.find(only) != std::string::npos;
  }
  /// Runs `body`, which may describe what it did, and prints a line.
  void run(const std::string &name,
           const std::function<dfrt::Status(std::string &detail)> &body);
  int exitCode() const { return failures != 0; }
  bool onCpu() const { return device == "cpu"; }

  std::string artifact, device = "cuda";

private:
  struct Option {
    std::string name;
    std::string *text;
    uint32_t *number;
  };
  std::string program, only;
  std::vector<Option> options;
  int failures = 0;
};

} // namespace stress

#endif // DATAFLOW_TEST_SM90_STRESSTESTS_H
