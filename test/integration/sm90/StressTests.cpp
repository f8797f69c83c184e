//===- StressTests.cpp - Command line and list of tests ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StressTests.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace dfrt;
using namespace stress;

void Tests::option(const std::string &name, std::string &value) {
  options.push_back({name, &value, nullptr});
}

void Tests::option(const std::string &name, uint32_t &value) {
  options.push_back({name, nullptr, &value});
}

bool Tests::parse(int count, char **words) {
  option("--only", only);
  option("--device", device);
  for (int i = 1; i < count; ++i) {
    std::string word = words[i];
    auto known = [&](const Option &option) { return option.name == word; };
    auto found = std::find_if(options.begin(), options.end(), known);
    if (found == options.end() && artifact.empty() && word[0] != '-') {
      artifact = word;
      continue;
    }
    bool taken = found != options.end() && i + 1 < count;
    if (taken && found->text)
      *found->text = words[++i];
    else if (taken)
      taken = (*found->number =
                   uint32_t(std::strtoul(words[++i], nullptr, 10))) != 0;
    if (!taken) {
      std::fprintf(stderr, "%s: '%s' is not understood\n", program.c_str(),
                   word.c_str());
      return false;
    }
  }
  if (!artifact.empty())
    return true;
  std::string usage = "usage: " + program + " ARTIFACT";
  for (const Option &option : options)
    usage += " [" + option.name + (option.number ? " N]" : " WORD]");
  std::fprintf(stderr, "%s\n", usage.c_str());
  return false;
}

int Tests::open(Machine &machine) const {
  Status status = machine.open(device);
  if (status.code() == StatusCode::unsupported)
    return giveUp(Status(status.code(), status.message() + ": skipped"), 77);
  return status.ok() ? 0 : giveUp(status);
}

int Tests::giveUp(const Status &status, int exitCode) const {
  std::fprintf(stderr, "%s: %s\n", program.c_str(), status.message().c_str());
  return exitCode;
}

void Tests::run(const std::string &name,
                const std::function<Status(std::string &)> &body) {
  if (!wants(name))
    return;
  std::string detail;
  double begin = now();
  Status status = body(detail);
  failures += !status.ok();
  std::replace(detail.begin(), detail.end(), '\n', ';');
  std::printf("%s %-46s %8.2f s  %s%s\n", status.ok() ? "ok  " : "FAIL",
              name.c_str(), now() - begin, status.message().c_str(),
              status.ok() ? detail.c_str() : "");
  std::fflush(stdout);
}
