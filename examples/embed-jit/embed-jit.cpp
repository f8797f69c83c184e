//===- embed-jit.cpp - Program text in, results out -------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   embed-jit ragged_sum.mlir CACHE-FOLDER
//
// Builds or retrieves the artifact of a program, plans two batches and runs
// them. The second `buildOrRetrieve` compiles nothing, though the text is spelt
// in another way; a wrong program is an error with its place.
//
//===----------------------------------------------------------------------===//

#include "Jit.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

/// Prints what failed; the exit status of the process.
static int complain(const dfrt::Status &status) {
  std::fprintf(stderr, "embed-jit: %s\n", status.message().c_str());
  return 1;
}

/// Plans and runs rows of these lengths; false if a sum is wrong.
static dfrt::Expected<bool> runBatch(const dfrt::ArtifactHandle &artifact,
                                     std::vector<int32_t> lengths) {
  const int64_t rows = int64_t(lengths.size()), columns = 3000;
  std::vector<float> x(rows * columns, 0.5f), sums(rows, -1);
  const int64_t xShape[] = {rows, columns};
  std::vector<dfrt_tensor> arguments = {{x.data(), xShape, 2, DFRT_F32},
                                        {lengths.data(), &rows, 1, DFRT_I32},
                                        {sums.data(), &rows, 1, DFRT_F32}};
  dfrt::Expected<dfrt::DeviceHandle> device = dfrt::DeviceHandle::open("cpu");
  if (!device)
    return device.status();
  dfrt::Expected<dfrt::PlanHandle> plan =
      dfrt::PlanHandle::make(artifact, arguments);
  if (!plan)
    return plan.status();
  if (dfrt::Status s = device->launch(artifact, *plan, arguments); !s)
    return s;
  for (int64_t row = 0; row < rows; ++row)
    if (sums[row] != 0.5f * lengths[row])
      return false;
  return true;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: embed-jit ragged_sum.mlir CACHE-FOLDER\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  std::stringstream buffer;
  buffer << file.rdbuf();
  std::string text = buffer.str();
  JitOptions options;
  options.cache = argv[2];

  for (int time = 0; time < 2; ++time) {
    bool retrieved = false;
    auto begin = std::chrono::steady_clock::now();
    dfrt::Expected<dfrt::ArtifactHandle> artifact =
        buildOrRetrieve(text, options, retrieved);
    if (!artifact)
      return complain(artifact.status());
    std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - begin;
    std::printf("%s in %.0f ms\n", retrieved ? "retrieved" : "built",
                took.count());
    if (time == 1 && !retrieved)
      return complain(dfrt::Status(dfrt::StatusCode::internalError,
                                   "the program was compiled twice"));
    for (const std::vector<int32_t> &lengths :
         {std::vector<int32_t>{1000, 0, 257, 2048}, {3000, 1}}) {
      dfrt::Expected<bool> right = runBatch(*artifact, lengths);
      if (!right)
        return complain(right.status());
      std::printf("%zu rows: %s\n", lengths.size(), *right ? "right" : "WRONG");
      if (!*right)
        return 1;
    }
    text = "// Another spelling of the same program.\n" + text;
  }

  bool retrieved = false;
  dfrt::Expected<dfrt::ArtifactHandle> wrong = buildOrRetrieve(
      "dataflow.program @p() { dataflow.map }", options, retrieved);
  if (wrong)
    return 1;
  std::printf("a wrong program: %s\n", wrong.status().message().c_str());
  return 0;
}
