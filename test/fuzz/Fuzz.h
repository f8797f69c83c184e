//===- Fuzz.h - What the fuzz targets share ---------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fuzz target is a function from bytes to nothing that must not crash,
// whatever the bytes are. libFuzzer calls it with bytes that it makes up
// (DATAFLOW_FUZZ=ON, scripts/fuzz); Replay.cpp calls it with the files of a
// corpus, as a test.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_FUZZ_FUZZ_H
#define DATAFLOW_TEST_FUZZ_FUZZ_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace dfrt::fuzz {

/// A promise that was broken: the fuzzer keeps the input.
inline void expect(bool condition, const std::string &what) {
  if (condition)
    return;
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

} // namespace dfrt::fuzz

#endif // DATAFLOW_TEST_FUZZ_FUZZ_H
